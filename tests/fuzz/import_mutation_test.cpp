// The fuzzer's property on some thousand mutated files, the same ones in every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/import_property.h"

namespace memverify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestSeed = 200'000;

/// The files of other tools; of each, only small ones.
std::vector<std::string> import_seeds() {
  std::vector<fs::path> paths;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(MEMVERIFY_CORPUS) / "imports")) {
    const fs::path& path = entry.path();
    if (entry.is_regular_file() && path.extension() != ".md" && entry.file_size() < kLargestSeed) {
      paths.push_back(path);
    }
  }
  std::ranges::sort(paths);
  std::vector<std::string> seeds;
  for (const fs::path& path : paths) {
    std::stringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    seeds.push_back(bytes.str());
  }
  return seeds;
}

/// Changes a word near a place where something stands; most of a model is weights, where a change
/// changes nothing.
void mutate(std::string& bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  constexpr char kValues[] = {'\0', '\1', '\2', '\4', '\x7f', '\x80', '\xff'};
  std::size_t at = below(bytes.size());
  if (below(2) == 0) at = below(std::min<std::size_t>(bytes.size(), 4096));
  switch (below(5)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 1:
      bytes[at] = kValues[below(std::size(kValues))];
      break;
    case 2:
      bytes.replace(at & ~std::size_t{3}, 4,
                    bytes.substr(below(bytes.size()) & ~std::size_t{3}, 4));
      break;
    case 3:
      bytes[at] = static_cast<char>(bytes[at] + (below(2) == 0 ? 4 : -4));
      break;
    default:
      if (below(8) == 0 && at > 8) bytes.resize(at);
      break;
  }
}

TEST(ImportMutation, ThePropertyHoldsForThousandsOfMutatedFiles) {
  constexpr std::uint64_t kSeed = 20261130;
  const std::vector<std::string> seeds = import_seeds();
  ASSERT_GE(seeds.size(), 8U);
  std::mt19937_64 random(kSeed);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    // The smaller a file, the more of a change matters.
    const std::string& seed = seeds[random() % seeds.size()];
    if (seed.size() > 10'000 && round % 8 != 0) continue;
    std::string bytes = seed;
    for (std::size_t k = 1 + random() % 4; k > 0; --k) mutate(bytes, random);
    ASSERT_EQ(check_importers(bytes, accepted), "") << "round " << round << " of seed " << kSeed;
  }
  EXPECT_GT(accepted, 100);  // Not everything was refused.
}

}  // namespace
}  // namespace memverify
