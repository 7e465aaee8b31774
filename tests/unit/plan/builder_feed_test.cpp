#include "plan/builder_feed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "plan/reader.h"
#include "plan/writer.h"

namespace memverify {
namespace {

namespace fs = std::filesystem;

/// The plan as it is written, or its errors: where and what.
std::string outcome(const std::string& text) {
  const Result<Plan> plan = read_plan(text, "p.json");
  if (plan.ok()) return write_plan(plan.value());
  std::string errors;
  for (const Diagnostic& error : plan.errors()) errors += to_string(error) + "\n";
  return errors;
}

/// The same document, long enough that the builder gets a thread.
std::string padded(std::string text) { return text + std::string(std::size_t{1} << 20, ' '); }

TEST(BuilderFeed, LongTextsReadAsShortOnes) {
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(MEMVERIFY_CORPUS)) {
    if (entry.path().extension() != ".json" || entry.file_size() > 100'000) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    EXPECT_EQ(outcome(text.str()), outcome(padded(text.str()))) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 300U);
}

/// `n` storages, tensors and ops, of which some ids are written with escapes, in sections that
/// interrupt each other, with something wrong in every `wrong`-th op.
std::string many(int n, int wrong) {
  const auto id = [](char kind, int k) {
    const std::string number = std::to_string(k);
    return k % 3 == 0 ? std::string("\"\\u00") +
                            (kind == 's'   ? "73"
                             : kind == 't' ? "74"
                                           : "6f") +
                            number + "\""
                      : std::string("\"") + kind + number + "\"";
  };
  std::string text = R"({"memverify":1,"pools":[{"id":"p"}],"queues":[{"id":"q"}],"storages":[)";
  for (int k = 0; k < n; ++k) {
    text += (k == 0 ? "" : ",") + std::string("{\"id\":") + id('s', k) +
            ",\"pool\":\"p\",\"offset\":[" + std::to_string(64 * k) + "],\"bytes\":64}";
  }
  text += "],\"inputs\":[" + id('t', 0) + "],\"ops\":[";
  for (int k = 0; k < n; ++k) {
    text += (k == 0 ? "" : ",") + std::string("{\"id\":") + id('o', k) +
            ",\"queue\":\"q\",\"x-note\":" + std::to_string(k) + ",\"reads\":[" +
            id('t', wrong != 0 && k % wrong == wrong - 1 ? n : k) +
            "],\"signals\":[{\"event\":\"e" + std::to_string(k % 7) + "\"}]}";
  }
  text += "],\"name\":\"\\u0061\",\"tensors\":[";
  for (int k = 0; k < n; ++k) {
    text += (k == 0 ? "" : ",") + std::string("{\"id\":") + id('t', k) +
            ",\"storage\":" + id('s', k) + ",\"dtype\":\"f32\",\"shape\":[" +
            std::to_string(k % 4) + ",4]}";
  }
  return text + "]}";
}

TEST(BuilderFeed, KeepsOrderStringsAndExtras) {
  for (const int n : {1, 255, 256, 257, 3000}) {
    EXPECT_EQ(outcome(many(n, 0)), outcome(padded(many(n, 0)))) << n;
    EXPECT_EQ(outcome(many(n, 60)), outcome(padded(many(n, 60)))) << n;
  }
  EXPECT_NE(outcome(many(3000, 60)).find("`t3000`"), std::string::npos);
  const Result<Plan> plan = read_plan(padded(many(3000, 0)), "p.json");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().ops[OpId{2997}].name, "o2997");
  EXPECT_EQ(plan.value().extras.size(), 3000U);
}

TEST(BuilderFeed, StopsWithTheReader) {
  const std::string text = padded(many(3000, 0));
  const Result<Plan> cut = read_plan(text.substr(0, text.find("\"tensors\"")), "p.json");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.errors()[0].id, "json.syntax");
}

TEST(BuilderFeed, HandsOnInOrder) {
  for (const bool threaded : {false, true}) {
    PlanBuilder builder;
    BuilderFeed feed(builder, threaded);
    feed.builder().add_pool({.name = "p"});
    feed.builder().add_queue({.name = "q"});
    for (int k = 0; k < 2000; ++k) {
      const std::string number = std::to_string(k);
      feed.next<StorageSpec>() = {
          .name = feed.keep("s" + number), .pool = "p", .slots = {0}, .bytes = 8};
      feed.add();
      feed.next<TensorSpec>() = {
          .name = feed.keep("t" + number), .storage = feed.keep("s" + number), .bytes = 8};
      feed.add();
      feed.next<OpSpec>() = {
          .name = feed.keep("o" + number), .queue = "q", .writes = {{feed.keep("t" + number)}}};
      feed.add();
      feed.end_item();
    }
    feed.builder().set_name("all");
    const Result<Plan> plan = std::move(builder).build();
    ASSERT_TRUE(plan.ok());
    ASSERT_EQ(plan.value().ops.size(), 2000U);
    for (std::uint32_t k = 0; k < 2000; ++k) {
      EXPECT_EQ(plan.value().ops[OpId{k}].name, "o" + std::to_string(k));
      EXPECT_EQ(plan.value().accesses[k].tensor, TensorId{k});
    }
  }
}

}  // namespace
}  // namespace memverify
