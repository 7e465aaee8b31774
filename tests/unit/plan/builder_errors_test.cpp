// One test per kind of mistake: what is reported, and where.
#include <gtest/gtest.h>

#include <string>

#include "plan/builder.h"
#include "tests/unit/plan/plan_errors.h"

namespace memverify {
namespace {

// The errors of one more tensor, which is the plan's third.
std::string tensor_errors(TensorSpec spec) {
  spec.name = "t";
  return errors_of([&](PlanBuilder& b) { b.add_tensor(spec); });
}

TEST(BuilderErrors, NoneInAGoodPlan) {
  EXPECT_EQ(errors_of([](PlanBuilder&) {}), "");
}

TEST(BuilderErrors, IdsAreNotEmptyAndUniqueWithinTheirKind) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_pool({.name = "hbm"});
              b.add_pool({.name = ""});
              b.add_condition({.name = "training"});
              b.add_queue({.name = "hbm"});
              b.add_queue({.name = "q"});
              b.add_semaphore({.name = "time"});
              b.add_storage({.name = "s", .pool = "hbm", .slots = {0}});
              b.add_tensor({.name = "x", .storage = "s", .bytes = 4});
              b.add_op({.name = "w", .queue = "q"});
              b.add_symbol({.name = "n"});
            }),
            "id.duplicate /symbols/n\n"
            "id.duplicate /conditions/1/id\n"
            "id.duplicate /pools/1/id\n"
            "id.empty /pools/2/id\n"
            "id.duplicate /queues/2/id\n"
            "id.duplicate /semaphores/2/id\n"
            "id.duplicate /storages/1/id\n"
            "id.duplicate /tensors/2/id\n"
            "id.duplicate /ops/1/id\n");
}

TEST(BuilderErrors, EveryNameMustExist) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_storage({.name = "u", .pool = "?", .slots = {0}});
              b.add_tensor({.name = "t", .storage = "?", .bytes = 4});
              b.add_tensor({.name = "v", .view_of = "?", .bytes = 4});
              b.add_tensor({.name = "one", .bytes = 4, .pools = {"?"}});
              b.add_tensor({.name = "two", .bytes = 4, .pools = {"hbm", "?"}});
              b.add_input("?");
              b.add_constant("?");
              b.add_donated("?");
              b.add_output({.tensor = "?"});
              b.add_output({.tensor = "x", .from = "?"});
              b.set_peak_bytes("a/b", 1);
            }),
            "pool.unknown /storages/1/pool\n"
            "storage.unknown /tensors/2/storage\n"
            "tensor.unknown /tensors/3/view_of\n"
            "pool.unknown /tensors/4/pool\n"
            "pool.unknown /tensors/5/pool/1\n"
            "tensor.unknown /inputs/0\n"
            "tensor.unknown /constants/0\n"
            "tensor.unknown /donated/0\n"
            "tensor.unknown /outputs/0\n"
            "op.unknown /outputs/1/from\n"
            "pool.unknown /peak_bytes/a~1b\n");
  EXPECT_EQ(op_errors({.queue = "?",
                       .reads = {{.tensor = "x"}, {.tensor = "?"}, {.tensor = "x", .from = "?"}},
                       .writes = {{.tensor = "?"}},
                       .accumulates = {{.tensor = "?"}},
                       .clobbers = {{.tensor = "?"}, {.pool = "?"}},
                       .in_place = {{"?", "?"}},
                       .after = {{"w"}, {"?"}},
                       .waits = {{.kind = WaitKind::kEvent, .target = "any"},
                                 {.kind = WaitKind::kSemaphore, .target = "?"},
                                 {.kind = WaitKind::kPending, .target = "?"}},
                       .signals = {{.semaphore = "?"}},
                       .when = {{"?"}}}),
            "queue.unknown /ops/1/queue\n"
            "tensor.unknown /ops/1/reads/1\n"
            "op.unknown /ops/1/reads/2/from\n"
            "tensor.unknown /ops/1/writes/0\n"
            "tensor.unknown /ops/1/accumulates/0\n"
            "tensor.unknown /ops/1/clobbers/0\n"
            "pool.unknown /ops/1/clobbers/1/pool\n"
            "semaphore.unknown /ops/1/waits/1/semaphore\n"
            "queue.unknown /ops/1/waits/2/queue\n"
            "semaphore.unknown /ops/1/signals/0/semaphore\n"
            "op.unknown /ops/1/after/1\n"
            "tensor.unknown /ops/1/in_place/0/0\n"
            "tensor.unknown /ops/1/in_place/0/1\n"
            "condition.unknown /ops/1/when/?\n");
  EXPECT_EQ(op_errors({.kind = "barrier", .queues = {"q", "?"}}),
            "queue.unknown /ops/1/queues/1\n");
  EXPECT_EQ(op_errors({.kind = "free", .queue = "q", .storage = "?"}),
            "storage.unknown /ops/1/storage\n");
  EXPECT_EQ(op_errors({.kind = "host_wait",
                       .wait_for = WaitSpec{.kind = WaitKind::kQueue, .target = "?"}}),
            "queue.unknown /ops/1/for/queue\n");
}

TEST(BuilderErrors, WordsMustBeKnown) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_condition({.name = "c", .per = "runs"});
              b.add_queue({.name = "r", .order = "seriel"});
              b.add_semaphore({.name = "m", .kind = "binary"});
              b.add_tensor({.name = "t", .storage = "s", .dtype = "float32", .shape = {{4}}});
              b.add_op({.name = "o", .kind = "veiw"});
              b.add_op({.name = "p", .queue = "q", .skipped = "dropp", .runs = "firts"});
            }),
            "condition.per /conditions/1/per\n"
            "queue.order /queues/1/order\n"
            "semaphore.kind /semaphores/2/kind\n"
            "tensor.dtype /tensors/2/dtype\n"
            "op.kind /ops/1/kind\n"
            "op.skipped /ops/2/skipped\n"
            "op.runs /ops/2/runs\n");
}

TEST(BuilderErrors, NumbersMustBeInRange) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.set_iterations(0);
              b.add_pool({.name = "p", .alignment = 0});
              b.add_queue({.name = "r", .depth = 0, .delay_min = 2, .delay_max = 1});
              b.add_queue({.name = "u", .delay_min = -1});
              b.add_tensor({.name = "t", .storage = "s", .bytes = 4, .alignment = -8});
              b.add_tensor({.name = "v", .bytes = 4, .slots = 0});
              b.add_op({.name = "o",
                        .queue = "q",
                        .reads = {{.tensor = "x", .distance = -1}},
                        .after = {{.op = "w", .distance = 1LL << 32}},
                        .duration = Duration{3, 2}});
            }),
            "iterations.range /iterations\n"
            "alignment.range /pools/1/alignment\n"
            "queue.depth /queues/1/depth\n"
            "queue.delay /queues/1/delay\n"
            "queue.delay /queues/2/delay\n"
            "alignment.range /tensors/2/alignment\n"
            "tensor.slots /tensors/3/slots\n"
            "distance.range /ops/1/reads/0/distance\n"
            "distance.range /ops/1/after/0/distance\n"
            "op.duration /ops/1/duration\n");
}

TEST(BuilderErrors, SymbolsHaveUsableNamesAndValues) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_symbol({.name = "iteration"});
              b.add_symbol({.name = "align"});
              b.add_symbol({.name = "2n"});
              b.add_symbol({.name = "a-b"});
              b.add_symbol({.name = ""});
              b.add_symbol({.name = "low", .min = 5, .max = 4});
              b.add_symbol({.name = "step", .multiple_of = 0});
              b.add_symbol({.name = "gap", .min = 9, .max = 15, .multiple_of = 8});
              b.add_symbol({.name = "below", .min = -7, .max = -1, .multiple_of = 8});
              b.add_symbol({.name = "past", .min = INT64_MAX, .multiple_of = 8});
              b.add_symbol({.name = "least", .min = INT64_MIN, .max = INT64_MIN});
              b.add_symbol({.name = "fits", .min = 9, .max = 16, .multiple_of = 8});
            }),
            "symbol.name /symbols/iteration\n"
            "symbol.name /symbols/align\n"
            "symbol.name /symbols/2n\n"
            "symbol.name /symbols/a-b\n"
            "symbol.name /symbols/\n"
            "symbol.range /symbols/low/max\n"
            "symbol.range /symbols/step/multiple_of\n"
            "symbol.range /symbols/gap/max\n"
            "symbol.range /symbols/below/max\n"
            "symbol.range /symbols/past/min\n");
}

TEST(BuilderErrors, ExpressionsMustParse) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_pool({.name = "p", .bytes = "n+"});
              b.set_peak_bytes("p", "n+");
              b.add_semaphore({.name = "i", .initial = "iteration"});
              b.add_storage({.name = "one", .pool = "p", .slots = {"k"}, .bytes = "k"});
              b.add_storage({.name = "two",
                             .pool = "p",
                             .slots = {0, "k"},
                             .slots_are_array = true,
                             .bytes = "9223372036854775807+1"});
              b.add_tensor({.name = "t",
                            .storage = "s",
                            .offset = "k",
                            .dtype = "f32",
                            .shape = {{2, "k"}},
                            .strides = {{"k", 1}}});
              b.add_tensor({.name = "u", .storage = "s", .bytes = "k"});
            }),
            "expr.syntax /pools/1/bytes\n"
            "expr.symbol /semaphores/2/initial\n"
            "expr.symbol /storages/1/offset\n"
            "expr.symbol /storages/1/bytes\n"
            "expr.symbol /storages/2/offset/1\n"
            "expr.overflow /storages/2/bytes\n"
            "expr.symbol /tensors/2/offset\n"
            "expr.symbol /tensors/2/shape/1\n"
            "expr.symbol /tensors/2/strides/0\n"
            "expr.symbol /tensors/3/bytes\n"
            "expr.syntax /peak_bytes/p\n");
  EXPECT_EQ(
      op_errors({.queue = "q",
                 .reads = {{.tensor = "x", .offset = "k", .bytes = "k"}},
                 .waits = {{.kind = WaitKind::kSemaphore, .target = "count", .value = "k"},
                           {.kind = WaitKind::kPending, .target = "q", .value = "iteration"},
                           {.kind = WaitKind::kOutstanding, .target = "q", .value = "iteration"}},
                 .signals = {{.semaphore = "time", .value = "iteration"},
                             {.semaphore = "time", .value = "k"}}}),
      "expr.symbol /ops/1/reads/0/offset\n"
      "expr.symbol /ops/1/reads/0/bytes\n"
      "expr.symbol /ops/1/waits/0/value\n"
      "expr.symbol /ops/1/waits/1/pending\n"
      "expr.symbol /ops/1/waits/2/outstanding\n"
      "expr.symbol /ops/1/signals/1/value\n");
}

TEST(BuilderErrors, ATensorHasOnePlaceAndOneForm) {
  EXPECT_EQ(tensor_errors({.storage = "s", .view_of = "x", .bytes = 4}),
            "tensor.place /tensors/2/view_of\n");
  EXPECT_EQ(tensor_errors({.storage = "s"}), "tensor.form /tensors/2\n");
  EXPECT_EQ(tensor_errors({.storage = "s", .dtype = "f32"}), "tensor.form /tensors/2\n");
  EXPECT_EQ(tensor_errors({.storage = "s", .shape = {{4}}}), "tensor.form /tensors/2\n");
  EXPECT_EQ(tensor_errors({.storage = "s", .bytes = 4, .dtype = "f32", .shape = {{1}}}),
            "tensor.form /tensors/2/bytes\n");
  EXPECT_EQ(tensor_errors({.storage = "s", .bytes = 4, .strides = {{1}}}),
            "tensor.form /tensors/2/bytes\n");
  EXPECT_EQ(tensor_errors({.storage = "s", .dtype = "f32", .shape = {{4, 4}}, .strides = {{1}}}),
            "tensor.strides /tensors/2/strides\n");
  EXPECT_EQ(tensor_errors({.storage = "s", .bytes = 4, .pools = {"hbm"}, .slots = 2}),
            "field.unexpected /tensors/2/pool\nfield.unexpected /tensors/2/slots\n");
  EXPECT_EQ(tensor_errors({.offset = 4, .bytes = 4}), "field.unexpected /tensors/2/offset\n");
  EXPECT_EQ(tensor_errors({.bytes = 4, .pools = {"hbm"}, .slots = 2}), "");
}

TEST(BuilderErrors, FourBitElementsAreContiguous) {
  const auto errors = [](std::vector<ExprSpec> strides) {
    return tensor_errors({.storage = "s", .dtype = "i4", .shape = {{2, 4}}, .strides = strides});
  };
  EXPECT_EQ(errors({1, 2}), "tensor.four_bit /tensors/2/strides\n");
  EXPECT_EQ(errors({4, 1}), "");
  EXPECT_EQ(errors({"n", 1}), "");  // Layout will tell.
}

TEST(BuilderErrors, AStorageHasAPoolAndAnOffset) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) { b.add_storage({.name = "t"}); }),
            "field.missing /storages/1\nfield.missing /storages/1\n");
}

TEST(BuilderErrors, ViewsHaveNoCycles) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_tensor({.name = "hang", .view_of = "c", .bytes = 4});
              b.add_tensor({.name = "a", .view_of = "b", .bytes = 4});
              b.add_tensor({.name = "b", .view_of = "c", .bytes = 4});
              b.add_tensor({.name = "c", .view_of = "a", .bytes = 4});
              b.add_tensor({.name = "self", .view_of = "self", .bytes = 4});
            }),
            "view.cycle /tensors/3/view_of\nview.cycle /tensors/6/view_of\n");
}

TEST(BuilderErrors, BoundaryListsAreCoherent) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_input("x");
              b.add_input("x");
              b.add_constant("x");
              b.add_constant("y");
              b.add_donated("y");
              b.add_donated("x");
              b.add_output({.tensor = "y"});
              b.add_output({.tensor = "y"});
              b.set_peak_bytes("hbm", 1);
              b.set_peak_bytes("hbm", 2);
            }),
            "boundary.duplicate /inputs/1\n"
            "boundary.duplicate /constants/0\n"
            "donated.not_input /donated/0\n"
            "id.duplicate /peak_bytes/hbm\n");
}

TEST(BuilderErrors, HintsAtTheNearestName) {
  PlanBuilder b;
  b.add_symbol({.name = "seq"});
  b.add_pool({.name = "hbm", .bytes = "seqq * 2"});
  b.add_queue({.name = "q", .order = "seriel"});
  b.add_storage({.name = "weights", .pool = "hmb", .slots = {0}});
  b.add_tensor({.name = "t", .storage = "hbm", .bytes = 4});
  const Result<Plan> result = std::move(b).build();
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(result.errors().size(), 4U);
  EXPECT_EQ(result.errors()[0].message,
            "unknown symbol `seqq`; did you mean `seq`? (byte 0 of `seqq * 2`)");
  EXPECT_EQ(result.errors()[1].message, "unknown order `seriel`; did you mean `serial`?");
  EXPECT_EQ(result.errors()[2].message, "no pool has the id `hmb`; did you mean `hbm`?");
  EXPECT_EQ(result.errors()[3].message, "no storage has the id `hbm`; it is the id of a pool");
}

TEST(BuilderErrors, WhatCouldNotBeReadBackIsRefused) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_queue({.name = "q\xFF"});
              b.add_extra("", "x-good", R"({"a": [1e5, "b"]})");
              b.add_extra("/pools/0", "id", "1");
              b.add_extra("/pools/0", "x-a", "1, \"id\": 2");
              b.add_extra("", "x-b", "");
              b.add_extra("", "x-c", "\"\xFF\"");
              b.add_extra("", "x-\xFF", "0");
            }),
            "json.key /pools/0/id\n"
            "json.syntax /pools/0/x-a\n"
            "json.encoding /queues/1/id\n"
            "json.syntax /x-b\n"
            "json.encoding /x-c\n"
            "json.encoding /x-\xFF\n");
}

TEST(BuilderErrors, ManyErrorsAreCutOff) {
  PlanBuilder b;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = "op_" + std::to_string(i);
    b.add_queue({.name = name});
    b.add_op({.name = name, .queue = "op_x" + std::to_string(i)});
  }
  const Result<Plan> result = std::move(b).build();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.errors().size(), 1000U);
  EXPECT_EQ(result.errors().front().pointer, "/ops/0/queue");
}

}  // namespace
}  // namespace memverify
