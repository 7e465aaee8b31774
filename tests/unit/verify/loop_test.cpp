// Plans that loop: what is proven of any number of iterations holds for each, what is refuted is
// refuted by one, and many iterations cost what few do.
#include "verify/loop.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "plan/reader.h"
#include "sim/replay.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using PlanJson = nlohmann::json;

Plan plan_of(const PlanJson& json) {
  Result<Plan> plan = read_plan(json.dump(), "test.json");
  if (!plan.ok()) ADD_FAILURE() << to_string(plan.errors().front());
  return std::move(plan).value();
}

PlanJson empty_plan() {
  return {{"memverify", 1},
          {"iterations", "unbounded"},
          {"pools", {{{"id", "hbm"}}}},
          {"queues", PlanJson::array()},
          {"storages", PlanJson::array()},
          {"tensors", PlanJson::array()},
          {"ops", PlanJson::array()}};
}

/// A ring of `slots` that `fetch` fills and `mma` reads; `fetch` waits for `mma` of `guard` before.
void add_ring(PlanJson& plan, const std::string& name, int slots, int guard, int begin = 0) {
  PlanJson offsets = PlanJson::array();
  for (int k = 0; k < slots; ++k) offsets.push_back(begin + 64 * k);
  plan["storages"].push_back(
      {{"id", "s" + name}, {"pool", "hbm"}, {"offset", offsets}, {"bytes", 64}});
  plan["tensors"].push_back({{"id", "t" + name}, {"storage", "s" + name}, {"bytes", 64}});
  plan["queues"].push_back({{"id", "load" + name}});
  plan["queues"].push_back({{"id", "math" + name}});
  plan["ops"].push_back({{"id", "fetch" + name},
                         {"queue", "load" + name},
                         {"writes", {"t" + name}},
                         {"after", {{{"op", "mma" + name}, {"distance", guard}}}}});
  plan["ops"].push_back({{"id", "mma" + name},
                         {"queue", "math" + name},
                         {"reads", {"t" + name}},
                         {"after", {"fetch" + name}}});
}

PlanJson ring(int slots, int guard) {
  PlanJson plan = empty_plan();
  add_ring(plan, "", slots, guard);
  return plan;
}

/// `fetch` and `mma` in step by two semaphores: `filled` counts tiles, `fetch` waits for `credit`.
PlanJson counted(const PlanJson& freed, const PlanJson& credit_wait, int initial, int slots = 2) {
  PlanJson plan = empty_plan();
  add_ring(plan, "", slots, 1);
  plan["semaphores"] = {{{"id", "filled"}, {"kind", "timeline"}},
                        {{"id", "credit"}, {"initial", initial}}};
  PlanJson& fetch = plan["ops"][0];
  PlanJson& mma = plan["ops"][1];
  fetch.erase("after");
  mma.erase("after");
  fetch["signals"] = {{{"semaphore", "filled"}, {"value", "iteration + 1"}}};
  mma["waits"] = {{{"semaphore", "filled"}, {"value", "iteration + 1"}}};
  mma["signals"] = {{{"semaphore", "credit"}, {"value", freed}}};
  fetch["waits"] = {{{"semaphore", "credit"}, {"value", credit_wait}}};
  return plan;
}

EngineResult verify(const Plan& plan) { return verify_happens_before(plan, {}); }

std::string told(const Plan& plan, const EngineResult& result) {
  std::string text;
  for (const Finding& finding : result.findings) {
    text += (text.empty() ? "" : "; ") + std::string(info(finding.rule).id);
    for (std::size_t k = 0; k < finding.ops.size(); ++k) {
      text += " " + std::string(plan.ops[finding.ops[k]].name) + "@" +
              std::to_string(finding.iteration[k]);
    }
  }
  return text;
}

std::string told(const PlanJson& json) {
  const Plan plan = plan_of(json);
  const EngineResult result = verify(plan);
  for (const Finding& finding : result.findings) {
    if (finding.witness.empty()) continue;
    const ReplayResult replayed = replay(plan, finding);
    EXPECT_TRUE(replayed.confirmed) << replayed.reason;
  }
  return told(plan, result);
}

std::string verdict(const PlanJson& json) {
  return std::string(name(verify(plan_of(json)).verdict));
}

TEST(Loop, ARingIsProvenForAnyNumberOfIterations) {
  for (int slots = 2; slots <= 64; ++slots) {
    EXPECT_EQ(verdict(ring(slots, slots)), "safe") << slots << " slots";
    EXPECT_EQ(verdict(ring(slots, slots - 1)), "safe") << slots << " slots";
  }
}

TEST(Loop, ARingWithTooLongAnEdgeIsRefutedWhereItFirstFails) {
  for (int slots = 2; slots <= 64; ++slots) {
    const std::string at = std::to_string(slots);
    EXPECT_EQ(told(ring(slots, slots + 1)), "MV101 mma@0 fetch@" + at);
  }
}

TEST(Loop, RingsOfSevenAndElevenSlots) {
  PlanJson plan = empty_plan();
  add_ring(plan, "A", 7, 7);
  add_ring(plan, "B", 11, 11, 4096);
  EXPECT_EQ(verdict(plan), "safe");
  plan["ops"][2]["after"][0]["distance"] = 12;
  EXPECT_EQ(told(plan), "MV101 mmaB@0 fetchB@11");
}

TEST(Loop, RingsThatMeetAfterATurnOfBoth) {
  // The last slot of one ring is the last of the other: iteration 76 is the first to use both.
  PlanJson plan = empty_plan();
  add_ring(plan, "A", 7, 1);
  add_ring(plan, "B", 11, 1, 7 * 64 - 11 * 64 + 4096);
  plan["storages"][1]["offset"][10] = 6 * 64;
  plan["ops"][2]["after"].push_back("mmaA");
  plan["ops"][0]["after"].push_back({{"op", "mmaB"}, {"distance", 1}});
  EXPECT_EQ(verdict(plan), "safe");
  plan["ops"][2]["after"].back() = {{"op", "mmaA"}, {"distance", 1}};
  EXPECT_EQ(told(plan),
            "MV101 mmaA@76 fetchB@76; MV102 fetchA@76 mmaB@76; MV103 fetchA@76 fetchB@76");
}

TEST(Loop, SemaphoresInStep) {
  EXPECT_EQ(verdict(counted(1, "iteration + 1", 2)), "safe");
  EXPECT_EQ(verdict(counted(1, "max(iteration - 1, 0)", 0)), "safe");
  EXPECT_EQ(told(counted(1, "iteration + 1", 3)), "MV101 mma@0 fetch@2");
}

TEST(Loop, ACountThatLeaksBlocksAtLast) {
  EXPECT_EQ(told(counted(1, "2 * iteration", 50, 50)).substr(0, 14), "MV111 fetch@51");
}

TEST(Loop, ACountThatGrowsFasterThanItsWaitsGivesWayAtLast) {
  // Iteration i wants 4 * i + 1 and finds 5 for each before it: with more to spare the guard is one
  // of two iterations.
  EXPECT_EQ(verdict(counted(5, "4 * iteration + 1", 1)), "unsafe");
  PlanJson plan = counted(5, "4 * iteration + 1", 1);
  plan["iterations"] = 3;
  EXPECT_EQ(verdict(plan), "safe");
}

TEST(Loop, CreditsThatOneQueueTakes) {
  const auto ring = [](int credits, int taken) {
    PlanJson plan = counted(1, taken, credits);
    plan["ops"][0]["waits"][0]["consume"] = true;
    return plan;
  };
  EXPECT_EQ(verdict(ring(2, 1)), "safe");
  EXPECT_EQ(told(ring(3, 1)), "MV101 mma@0 fetch@2");
  EXPECT_EQ(told(ring(2, 2)).substr(0, 13), "MV111 fetch@1");
}

TEST(Loop, WhatRunsLastEndsEveryNumberOfIterations) {
  PlanJson plan = ring(3, 3);
  plan["ops"].push_back({{"id", "drain"},
                         {"queue", "load"},
                         {"runs", "last"},
                         {"writes", {"t"}},
                         {"after", {"mma"}}});
  EXPECT_EQ(verdict(plan), "safe");
  plan["ops"][2].erase("after");
  EXPECT_EQ(told(plan), "MV101 mma@0 drain@0");
  plan["ops"][2]["after"] = {{{"op", "mma"}, {"distance", 0}}};
  plan["tensors"].push_back({{"id", "all"}, {"storage", "s"}, {"bytes", 64}});
  plan["iterations"] = 1'000'000;
  EXPECT_EQ(verdict(plan), "safe");
}

TEST(Loop, AnIterationThatNeedsALaterOneIsNotProven) {
  PlanJson plan = ring(2, 2);
  plan["semaphores"] = {{{"id", "n"}}};
  plan["ops"][0]["signals"] = {{{"semaphore", "n"}}};
  plan["ops"][1]["waits"] = {{{"semaphore", "n"}, {"value", "iteration + 2"}}};
  EXPECT_EQ(verdict(plan), "unsafe");
  plan["ops"].push_back(
      {{"id", "more"}, {"queue", "load"}, {"runs", "last"}, {"signals", {{{"semaphore", "n"}}}}});
  EXPECT_EQ(verdict(plan), "unknown");
}

TEST(Loop, AMillionIterationsCostWhatAHundredDo) {
  for (int slots : {1, 2, 3, 8, 32, 64}) {
    std::uint64_t ops[2];
    for (int k = 0; k < 2; ++k) {
      PlanJson plan = ring(slots, slots);
      plan["outputs"] = {"t"};
      plan["iterations"] = k == 0 ? 100 : 1'000'000;
      const EngineResult result = verify(plan_of(plan));
      EXPECT_EQ(result.verdict, Verdict::kSafe);
      ops[k] = result.stats.ops;
    }
    EXPECT_LE(ops[1], 2 * ops[0]) << slots << " slots";
  }
}

}  // namespace
}  // namespace memverify
