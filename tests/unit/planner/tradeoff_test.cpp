// Bytes against added waits: the example in which one wait saves a third, and who is refused.
#include "planner/tradeoff.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "plan/reader.h"

namespace memverify {
namespace {

Plan graph_of(const std::string& text) { return read_plan(text, "graph.json").value(); }

Plan example() {
  std::ostringstream text;
  text << std::ifstream(std::string(MEMVERIFY_CORPUS) + "/graphs/fixed-offsets-cost.json").rdbuf();
  return graph_of(text.str());
}

TEST(Tradeoff, OneWaitBringsThreeTensorsToTwo) {
  const Plan graph = example();
  const Tradeoff tradeoff = find_tradeoff(graph, {.max_waits = 3}).value();
  ASSERT_GE(tradeoff.curve.size(), 3U);
  EXPECT_EQ(tradeoff.curve[0].bytes, 3 * 64);
  EXPECT_EQ(tradeoff.curve[0].makespan, 3);
  EXPECT_EQ(tradeoff.curve[1].bytes, 2 * 64);
  EXPECT_EQ(tradeoff.curve[1].waits.size(), 1U);
  EXPECT_EQ(tradeoff.curve[1].makespan, 3) << "the wait costs no time";
  EXPECT_EQ(tradeoff.curve[2].bytes, 64);
  ASSERT_GE(tradeoff.barriers.size(), 1U);
  ASSERT_TRUE(tradeoff.barriers[0]);
  EXPECT_LE(tradeoff.barriers[0]->bytes, 2 * 64);
  EXPECT_GE(tradeoff.barriers[0]->makespan, tradeoff.curve[1].makespan);
}

TEST(Tradeoff, RefusesWhatItCannotDoExactly) {
  const Plan graph = example();
  EXPECT_EQ(find_tradeoff(graph, {.max_waits = 3, .max_orders = 3}).errors().front().id,
            "tradeoff.too_large");
  Plan twice = example();
  twice.iterations = 2;
  EXPECT_EQ(find_tradeoff(twice, {}).errors().front().id, "tradeoff.cases");
  Plan racy = example();
  racy.ops[OpId{1}].after = {};
  EXPECT_EQ(find_tradeoff(racy, {}).errors().front().id, "tradeoff.unsafe");
}

}  // namespace
}  // namespace memverify
