#include "sim/count.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sim/simulate.h"
#include "sim/state.h"
#include "tests/unit/sim/plans.h"

namespace memverify {
namespace {

using sim_test::built;
using sim_test::random_plan;
using sim_test::start_plan;

SimStats counted(const Plan& plan) {
  SimOptions options;
  options.count = true;
  SimStats stats;
  simulate(plan, options, stats);
  return stats;
}

TEST(Count, IndependentOpsHaveAMultinomialOfInterleavings) {
  PlanBuilder b = start_plan({"q", "r", "s"}, {{"X", 0}, {"Y", 64}, {"Z", 128}});
  b.add_op({.name = "x", .queue = "q", .writes = {{.tensor = "X"}}});
  b.add_op({.name = "y", .queue = "r", .writes = {{.tensor = "Y"}}});
  b.add_op({.name = "z", .queue = "s", .writes = {{.tensor = "Z"}}});
  const SimStats stats = counted(built(std::move(b)));
  EXPECT_EQ(stats.interleavings, "90");  // 6! / (2! 2! 2!)
  EXPECT_EQ(stats.failing, "0");
}

TEST(Count, ARaceFailsInAllButTheTwoOrdersWithoutOverlap) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}});
  b.add_op({.name = "a", .queue = "q", .writes = {{.tensor = "X"}}});
  b.add_op({.name = "b", .queue = "r", .writes = {{.tensor = "X"}}});
  const SimStats stats = counted(built(std::move(b)));
  EXPECT_EQ(stats.interleavings, "6");
  EXPECT_EQ(stats.failing, "4");
}

TEST(Count, AWrongOrderWithoutOverlapFailsToo) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}});
  b.add_op({.name = "a", .queue = "q", .writes = {{.tensor = "X"}}});
  b.add_op({.name = "b", .queue = "r", .writes = {{.tensor = "X"}}});
  b.add_output({.tensor = "X"});
  EXPECT_EQ(counted(built(std::move(b))).failing, "5") << "b before a leaves a's bytes";
}

TEST(Count, ALockThatIsTakenInTwoOrdersDeadlocksInSome) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}});
  b.add_semaphore({.name = "A", .initial = std::int64_t{1}});
  b.add_semaphore({.name = "B", .initial = std::int64_t{1}});
  const auto take = [](std::string_view name) {
    return WaitSpec{
        .kind = WaitKind::kSemaphore, .target = name, .value = std::int64_t{1}, .consume = true};
  };
  b.add_op({.name = "a1", .queue = "q", .waits = {take("A")}});
  b.add_op({.name = "a2",
            .queue = "q",
            .writes = {{.tensor = "X"}},
            .waits = {take("B")},
            .signals = {{.semaphore = "A"}, {.semaphore = "B"}}});
  b.add_op({.name = "b1", .queue = "r", .waits = {take("B")}});
  b.add_op({.name = "b2",
            .queue = "r",
            .writes = {{.tensor = "X"}},
            .waits = {take("A")},
            .signals = {{.semaphore = "A"}, {.semaphore = "B"}}});
  const SimStats stats = counted(built(std::move(b)));
  // q then r, r then q; and the deadlock, in the C(4, 2) orders of a1 and b1.
  EXPECT_EQ(stats.interleavings, "8");
  EXPECT_EQ(stats.failing, "6");
}

TEST(Count, HoldsNumbersOfAnyLength) {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  for (int q = 0; q < 3; ++q) {
    const std::string queue = "q" + std::to_string(q);
    b.add_queue({.name = queue});
    b.add_storage({.name = queue, .pool = "hbm", .slots = {std::int64_t{64} * q}, .bytes = 64});
    b.add_tensor({.name = queue, .storage = queue, .bytes = 64});
    for (int n = 0; n < 15; ++n) {
      const std::string op = queue + "_" + std::to_string(n);
      b.add_op({.name = op, .queue = queue, .writes = {{.tensor = queue}}});
    }
  }
  // 90! / (30!)^3
  EXPECT_EQ(counted(built(std::move(b))).interleavings,
            "79607789567531236214574346454361782651136");
}

TEST(Count, ConditionsAreCountedApart) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}, {"Y", 64}});
  b.add_condition({.name = "c"});
  b.add_op({.name = "x", .queue = "q", .writes = {{.tensor = "X"}}});
  b.add_op({.name = "y",
            .queue = "r",
            .writes = {{.tensor = "Y"}},
            .when = {{.condition = "c", .value = true}}});
  const SimStats stats = counted(built(std::move(b)));
  ASSERT_EQ(stats.counted.size(), 2U);
  EXPECT_EQ(stats.counted[0].interleavings, "1");
  EXPECT_EQ(stats.counted[1].interleavings, "6");
  EXPECT_EQ(stats.interleavings, "7");
}

/// Lists every interleaving.
class Naive {
 public:
  explicit Naive(const Plan& plan)
      : layout_(Layout::make(plan, {}).value()),
        program_(sim::make_program(plan, {.symbols = {}, .conditions = {plan, 1}}).value()),
        setting_{plan, layout_, program_},
        map_(sim::map_bytes(setting_, std::nullopt, 1'000'000).value()),
        reads_(sim::collect_reads(setting_, map_)) {}

  void count() { extend(sim::Execution(program_), sim::Memory(map_), false); }

  std::uint64_t runs = 0;
  std::uint64_t failing = 0;

 private:
  void extend(const sim::Execution& execution, const sim::Memory& memory, bool failed) {
    bool ended = true;
    for (sim::CommandId c : ids(program_.commands)) {
      sim::Execution next = execution;
      const bool starts = next.can_start(c);
      if (!starts && !next.can_finish(c)) continue;
      ended = false;
      sim::Memory after = memory;
      bool fails = failed;
      if (starts) {
        fails |= races(execution, c) || reads_wrong(memory, c);
        next.start(c);
        after.start(c);
      } else {
        next.finish(c);
        after.finish(c);
      }
      extend(next, after, fails);
    }
    if (!ended) return;
    ++runs;
    const bool complete = execution.done() == program_.commands.size();
    failing += failed || !complete || reads_wrong(memory, kNone<sim::CommandId>) ? 1 : 0;
  }

  bool races(const sim::Execution& execution, sim::CommandId c) const {
    for (sim::CommandId other : ids(program_.commands)) {
      if (execution.phase(other) != sim::Phase::kOpen) continue;
      for (const sim::Touch& a : map_.touches_of(c)) {
        for (const sim::Touch& b : map_.touches_of(other)) {
          if (!sim::conflict(a, b)) continue;
          for (sim::CellId cell : map_.footprints[a.footprint]) {
            if (std::ranges::binary_search(map_.footprints[b.footprint], cell)) return true;
          }
        }
      }
    }
    return false;
  }

  bool reads_wrong(const sim::Memory& memory, sim::CommandId reader) const {
    for (const auto* demands : {&reads_.during, &reads_.at_end}) {
      for (const sim::Demand& demand : *demands) {
        if (demand.reader == reader && !sim::matches(memory.value(demand.cell), demand.expected)) {
          return true;
        }
      }
    }
    return false;
  }

  Layout layout_;
  sim::Program program_;
  sim::Setting setting_;
  sim::ByteMap map_;
  sim::Reads reads_;
};

TEST(Count, AgreesWithListingEveryInterleaving) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Plan plan = random_plan(seed, 2);
    Naive naive(plan);
    naive.count();
    const SimStats stats = counted(plan);
    EXPECT_EQ(stats.interleavings, std::to_string(naive.runs)) << "seed " << seed;
    EXPECT_EQ(stats.failing, std::to_string(naive.failing)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace memverify
