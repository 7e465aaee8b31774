#include "plan/describe.h"

#include <gtest/gtest.h>

#include "plan/reader.h"

namespace memverify {
namespace {

/// Ops 0 `load` (dma), 1 `use` (compute), 2 `store` (dma), 3 `rec` (compute, event e), 4 `late`
/// (dma).
Plan sample(const std::string& last_op_fields = "", const std::string& head = "") {
  Result<Plan> plan = read_plan(R"({"memverify": 1, )" + head + R"("pools": [{"id": "hbm"}],
    "queues": [{"id": "compute"}, {"id": "dma"}],
    "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64},
                 {"id": "t", "pool": "hbm", "offset": 0, "bytes": 64}],
    "tensors": [{"id": "A", "storage": "s", "offset": 0, "bytes": 64},
                {"id": "B", "view_of": "A", "offset": 0, "bytes": 64},
                {"id": "C", "view_of": "B", "offset": 0, "bytes": 32},
                {"id": "E", "storage": "t", "offset": 0, "bytes": 64}],
    "ops": [{"id": "load", "queue": "dma", "writes": ["A"]},
            {"id": "use", "label": "MatMul", "queue": "compute", "reads": ["C"]},
            {"id": "store", "queue": "dma", "writes": ["E"]},
            {"id": "rec", "kind": "record", "queue": "compute", "event": "e"},
            {"id": "late", "queue": "dma", "writes": ["E"])" +
                                    last_op_fields + "}]}",
                                "sample");
  EXPECT_TRUE(plan.ok());
  return std::move(plan).value();
}

constexpr OpId kLoad{0};
constexpr OpId kUse{1};
constexpr OpId kStore{2};
constexpr OpId kLate{4};

Finding war(OpId writer) {
  return {.rule = Rule::kWar,
          .ops = {kUse, writer},
          .tensors = {TensorId{2}, TensorId{3}},
          .storages = {StorageId{0}, StorageId{1}},
          .pool = PoolId{0},
          .bytes = {0, 32},
          .iteration = {0, 0}};
}

TEST(Describe, RaceNamesOpsQueuesAliasChainStoragesBytesAndTheMissingOrder) {
  Finding finding = war(kStore);
  describe(sample(), finding);
  EXPECT_EQ(finding.message,
            "`store` (queue `dma`) may write `E` while `use` (MatMul, queue `compute`) still reads "
            "`C` (a view: `C` -> `B` -> `A`): bytes [0, 32) of pool `hbm` (storages `s` and `t`). "
            "Nothing makes `store` wait for `use` to complete.");
  EXPECT_EQ(finding.help,
            "record a new event after `use` on queue `compute` and wait for it in `store`; or add "
            "\"after\": [\"use\"] to `store`; or give `E` bytes that `C` does not use");
}

TEST(Describe, RaceUsesAnEventThatIsRecordedAlready) {
  Finding finding = war(kLate);
  describe(sample(), finding);
  EXPECT_EQ(finding.help,
            "make `late` wait for event `e`, which `rec` records after `use`; or give `E` bytes "
            "that `C` does not use");
}

TEST(Describe, RaceSaysWhenTheEventIsRecordedTooEarly) {
  Result<Plan> plan = read_plan(R"({"memverify": 1, "pools": [{"id": "hbm"}],
    "queues": [{"id": "compute"}, {"id": "dma"}],
    "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}],
    "tensors": [{"id": "A", "storage": "s", "offset": 0, "bytes": 64}],
    "ops": [{"id": "rec", "kind": "record", "queue": "compute", "event": "e"},
            {"id": "make", "queue": "compute", "writes": ["A"]},
            {"id": "send", "queue": "dma", "reads": ["A"], "waits": [{"event": "e"}]}]})",
                                "early");
  Finding finding{.rule = Rule::kRaw,
                  .ops = {OpId{1}, OpId{2}},
                  .tensors = {TensorId{0}, TensorId{0}},
                  .iteration = {0, 0}};
  describe(plan.value(), finding);
  EXPECT_EQ(finding.help,
            "event `e` is recorded (`rec`) before `make`: record it after `make`; or add "
            "\"after\": [\"make\"] to `send`");
}

TEST(Describe, RaceAcrossIterationsNamesThemAndTheDistance) {
  Finding finding = war(kStore);
  finding.iteration = {0, 2};
  describe(sample("", "\"iterations\": 3, "), finding);
  EXPECT_NE(finding.message.find("`store` of iteration 2 (queue `dma`)"), std::string::npos);
  EXPECT_NE(finding.message.find("wait for `use` of iteration 0 to complete"), std::string::npos);
  EXPECT_NE(finding.help.find(R"("after": [{"op": "use", "distance": 2}])"), std::string::npos);
}

TEST(Describe, WrongVersionTellsOverwrittenFromStale) {
  Finding finding{.rule = Rule::kWrongVersion,
                  .ops = {kUse, kStore},
                  .tensors = {TensorId{2}, TensorId{3}},
                  .iteration = {0, 0},
                  .witness = {{false, kUse, 0}},
                  .expected = kLoad};
  Finding overwritten = finding;
  describe(sample(), overwritten);
  EXPECT_EQ(overwritten.message,
            "`use` (MatMul, queue `compute`) reads `C` (a view: `C` -> `B` -> `A`) but finds the "
            "bytes that `store` (queue `dma`) wrote to `E`, not what `load` wrote.");
  finding.expected = kLate;
  describe(sample(), finding);
  EXPECT_NE(finding.message.find("`late` has not run by then"), std::string::npos);
  EXPECT_EQ(finding.help, "make `use` wait for `late`: add \"after\": [\"late\"] to `use`");
}

TEST(Describe, KeepsWhatAnEngineSaidItself) {
  Finding finding = war(kStore);
  finding.message = "Because.";
  finding.help = "do";
  describe(sample(), finding);
  EXPECT_EQ(finding.message, "Because.");
  EXPECT_EQ(finding.help, "do");
  EXPECT_EQ(headline(sample(), finding), "Because");
}

TEST(Describe, CopesWithEmptyFindings) {
  const Plan plan = sample();
  for (const Rule rule : all_rules()) {
    Finding bare{.rule = rule};
    describe(plan, bare);
    EXPECT_FALSE(bare.message.empty()) << info(rule).id;
    for (const OpId op : {kLoad, kUse}) {
      Finding one{.rule = rule, .ops = {op}};
      describe(plan, one);
      EXPECT_FALSE(one.message.empty()) << info(rule).id;
      Finding two{.rule = rule, .ops = {op, kStore}};
      describe(plan, two);
      EXPECT_FALSE(headline(plan, two).empty()) << info(rule).id;
    }
  }
}

TEST(Headline, IsTheMessageWithoutTheDetails) {
  Finding finding = war(kStore);
  describe(sample(), finding);
  EXPECT_EQ(headline(sample(), finding), "`store` may write `E` while `use` still reads `C`");
  const Plan repeated = sample("", "\"iterations\": 3, ");
  Finding later = war(kStore);
  later.iteration = {1, 1};
  describe(repeated, later);
  EXPECT_EQ(headline(repeated, later),
            "`store` may write `E` while `use` still reads `C` (iteration 1)");
}

TEST(WhatHoldsBack, NamesQueueEventAndAfter) {
  EXPECT_EQ(what_holds_back(sample(), kLoad, 0), "");
  EXPECT_EQ(what_holds_back(sample(), kStore, 0), "`load` before it on queue `dma`");
  EXPECT_EQ(what_holds_back(sample(R"(, "after": ["use"], "waits": [{"event": "e"}])"), kLate, 0),
            "`use`; event `e`, recorded by `rec`; `store` before it on queue `dma`");
}

TEST(WhatHoldsBack, LooksIntoTheIterationBefore) {
  const Plan plan = sample(R"(, "after": [{"op": "use", "distance": 2}])", "\"iterations\": 3, ");
  EXPECT_EQ(what_holds_back(plan, kLoad, 0), "");
  EXPECT_EQ(what_holds_back(plan, kLoad, 1), "`late` of the iteration before on queue `dma`");
  EXPECT_EQ(what_holds_back(plan, kLate, 1),
            "`use` of 2 iterations before (there is none yet); `store` before it on queue `dma`");
}

}  // namespace
}  // namespace memverify
