#include "tools/fuzz_graph.h"

#include <gtest/gtest.h>

#include <set>

#include "plan/writer.h"
#include "planner/apart.h"
#include "tools/fuzz_families.h"
#include "tools/fuzz_target.h"

namespace memverify {
namespace {

constexpr std::uint64_t kGraphs = 300;

Wish some_wish(std::uint64_t k) { return wish_of(mixed(1, k) % kWishes); }

TEST(FuzzGraph, IsSafeWithItsTensorsApart) {
  std::size_t safe = 0;
  for (std::uint64_t k = 0; k < kGraphs; ++k) {
    const RandomGraph graph = random_graph(k, some_wish(k));
    const Result<ApartPlan> apart = place_apart(graph.plan);
    ASSERT_TRUE(apart.ok()) << write_plan(graph.plan);
    const Tried tried = try_plan(apart.value().plan, select_engines("auto"));
    EXPECT_NE(tried.result.outcome, Outcome::kUnsafe)
        << graph.families << "\n"
        << (tried.findings.empty() ? "" : tried.findings.front().message) << "\n"
        << write_plan(graph.plan);
    safe += tried.result.outcome == Outcome::kSafe ? 1 : 0;
  }
  EXPECT_GE(safe, kGraphs * 98 / 100);
}

TEST(FuzzGraph, IsTheSameForTheSameSeed) {
  for (std::uint64_t k = 0; k < 20; ++k) {
    EXPECT_EQ(write_plan(random_graph(k, some_wish(k)).plan),
              write_plan(random_graph(k, some_wish(k)).plan));
  }
}

TEST(FuzzGraph, HasWhatIsWishedFor) {
  // Every combination comes up when it is asked for some times, but for what cannot be.
  Coverage coverage;
  for (std::size_t cell = 0; cell < kWishes; ++cell) {
    for (std::uint64_t k = 0; k < 2; ++k) {
      coverage.add(features_of(random_graph(mixed(cell, k), wish_of(cell)).plan), {});
    }
  }
  EXPECT_GE(coverage.cells_seen(), kWishes * 95 / 100);
}

TEST(FuzzGraph, ComesFromEveryFamily) {
  std::set<std::string> seen;
  for (std::uint64_t k = 0; k < kGraphs; ++k) {
    const std::string families = random_graph(k, some_wish(k)).families + "+";
    for (const GraphFamily& family : graph_families()) {
      if (families.find(std::string(family.name) + "+") != std::string::npos) {
        seen.insert(std::string(family.name));
      }
    }
  }
  EXPECT_EQ(seen.size(), graph_families().size());
}

}  // namespace
}  // namespace memverify
