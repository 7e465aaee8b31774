// The fuzzer's property on some thousand mutated plans, the same ones in every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "plan/reader.h"
#include "tests/fuzz/reader_property.h"

namespace memverify {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> seeds() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(MEMVERIFY_CORPUS) / "format")) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    // Without most of the white space, where a mutation changes nothing.
    std::string dense;
    for (const char c : text.str()) {
      if (c != '\n' && !(c == ' ' && dense.ends_with(' '))) dense += c;
    }
    texts.push_back(dense);
  }
  return texts;
}

constexpr std::string_view kTokens[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "true",
    "-1",
    "0",
    "1.5",
    "1e9",
    "9223372036854775808",
    "\"id\":",
    "\"x-a\":",
    "\"\"",
    "\"unk\"",
    "\"bytes\":",
    "\"A\"",
    "\\u0041",
    "\\ud800",
    "\xFF",
    "é",
    "\"all\"",
    "\"when\":",
    "[0,64]",
    "{\"event\":\"e\"}",
    "\"n*8\"",
    "\"pool\":",
    "\n",
    "\"shape\":[2,2]",
    "\"distance\":1",
    "\"thread\":\"t\"",
};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound);
  }

  void mutate(std::string& text, const std::string& other) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(1 + below(64)), text.size() - at);
    switch (below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 3:
        text.insert(at, kTokens[below(std::size(kTokens))]);
        break;
      case 4:
        text.replace(at, length, other, below(other.size()), below(64));
        break;
      case 5: {
        // One quoted word for another: stays JSON, names and keys change places.
        const std::string word = quoted_word(text);
        const std::string wanted = quoted_word(below(2) == 0 ? text : other);
        if (const std::size_t found = text.find(word, at); found != std::string::npos) {
          text.replace(found, word.size(), wanted);
        }
        break;
      }
      default:
        if (below(8) == 0) text.resize(at);
        break;
    }
  }

 private:
  std::string quoted_word(const std::string& text) {
    const std::size_t begin = text.find('"', below(text.size() + 1));
    if (begin == std::string::npos) return "\"\"";
    const std::size_t end = text.find('"', begin + 1);
    return end == std::string::npos ? "\"\"" : text.substr(begin, end + 1 - begin);
  }

  std::mt19937_64 random_;
};

TEST(ReaderMutation, ThePropertyHoldsForThousandsOfMutatedPlans) {
  constexpr std::uint64_t kSeed = 20240607;
  const std::vector<std::string> texts = seeds();
  ASSERT_GT(texts.size(), 20U);
  Mutator mutator(kSeed);
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = texts[mutator.below(texts.size())];
    const std::size_t mutations = 1 + mutator.below(4);
    for (std::size_t k = 0; k < mutations; ++k) {
      mutator.mutate(text, texts[mutator.below(texts.size())]);
    }
    ASSERT_EQ(check_reader(text), "") << "round " << round << " of seed " << kSeed << ":\n" << text;
    if (read_plan(text, "").ok()) ++accepted;
  }
  EXPECT_GT(accepted, 100);  // Not everything was refused.
}

TEST(ReaderMutation, OddItemsBehindPlainOnesAreReadAsWithoutThem) {
  const std::string storage = R"({"id": "s", "pool": "p", "offset": 0, "bytes": 64})";
  const std::string tensor = R"({"id": "t", "storage": "s", "bytes": 64})";
  const std::string op = R"({"id": "a", "queue": "q", "reads": ["t"]})";
  const auto renamed = [](std::string item) { return item.insert(8, "other_"); };
  const auto plan = [&](const std::string& s, const std::string& t, const std::string& o) {
    return R"({"memverify": 1, "conditions": ["c", "d", "e", "f", "g"], "pools": [{"id": "p"}], )"
           R"("queues": [{"id": "q"}], "storages": [)" +
           storage + ", " + renamed(storage) + ", " + s + "], \"tensors\": [" + tensor + ", " +
           renamed(tensor) + ", " + t + "], \"ops\": [" + op + ", " + renamed(op) + ", " + o +
           "]}" + std::string(80, ' ');  // Items at the very end of a text are never plain.
  };
  for (const char* offset : {"[]",
                             "[0]",
                             "[0, 64]",
                             "[0, \"a\"]",
                             "01",
                             "-0",
                             "-1",
                             "1.0",
                             "1e2",
                             "-",
                             "9223372036854775807",
                             "9223372036854775808",
                             "null",
                             "true",
                             "\"\"",
                             "\"8*8\"",
                             "{}",
                             "[[]]",
                             "00",
                             "0 1",
                             ""}) {
    EXPECT_EQ(check_reader(plan(
                  R"({"id": "r", "pool": "p", "bytes": 64, "offset": )" + std::string(offset) + "}",
                  tensor, op)),
              "")
        << offset;
  }
  for (const char* rest : {R"(, "duration": [1])",
                           R"(, "duration": [1, 2])",
                           R"(, "duration": [1, 2, 3])",
                           R"(, "when": {"c": true, "d": false})",
                           R"(, "when": {"c": true, "c": false})",
                           R"(, "when": {"c": true, "d": true, "e": true, "f": true, "g": true})",
                           R"(, "when": {"": true})",
                           R"(, "when": {"c": 1})",
                           R"(, "when": {"c": truex})",
                           R"(, "kind": "host_wait", "for": "all")",
                           R"(, "for": "some")",
                           R"(, "for": {"queue": "q"})",
                           R"(, "waits": [{"event": "e", "semaphore": "s"}])",
                           R"(, "waits": [{}])",
                           R"(, "queue": "q")",
                           R"(, "queu": "q")",
                           R"(, "x-a": [1, {"b": null}])",
                           R"(, "label": "")",
                           R"(, "label": "\u00e4")",
                           "\xc3\xa4",
                           ", \"label\": \"\xc3\xa4\"",
                           ", \"label\": \"\xff\"",
                           ", \"label\": \"\t\"",
                           R"(, "thread": "")",
                           ",",
                           R"(, "reads")",
                           R"(, "writes": ["t",])",
                           R"(, "loc": {"file": "f", "line": 3})",
                           R"(, "loc": {"line": 3})",
                           " ",
                           "\n\t\r",
                           "\f"}) {
    EXPECT_EQ(check_reader(plan(R"({"id": "r", "pool": "p", "offset": 64, "bytes": 64})",
                                R"({"id": "u", "view_of": "t", "shape": [4, 2], "dtype": "f64"})",
                                R"({"id": "b", "queue": "q")" + std::string(rest) + "}")),
              "")
        << rest;
  }
  EXPECT_EQ(check_reader(plan(storage, R"({"id": "u", "storage": "s", "shape": [2, "n"]})", "7")),
            "");
  const std::string whole = plan(storage, tensor, op);
  for (std::size_t size = whole.size() - 240; size < whole.size(); ++size) {
    EXPECT_EQ(check_reader(std::string_view(whole).substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace memverify
