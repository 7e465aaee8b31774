// One test per kind of mistake in an op.
#include <gtest/gtest.h>

#include <string>

#include "plan/builder.h"
#include "tests/unit/plan/plan_errors.h"

namespace memverify {
namespace {

TEST(BuilderOpErrors, EveryKindOfOpHasItsFields) {
  EXPECT_EQ(op_errors({}), "field.missing /ops/1\n");
  EXPECT_EQ(op_errors({.kind = "record"}), "field.missing /ops/1\nfield.missing /ops/1\n");
  EXPECT_EQ(op_errors({.kind = "wait", .queue = "q"}), "field.missing /ops/1\n");
  EXPECT_EQ(op_errors({.kind = "barrier"}), "field.missing /ops/1\n");
  EXPECT_EQ(op_errors({.kind = "host_wait"}), "field.missing /ops/1\n");
  EXPECT_EQ(op_errors({.kind = "alloc", .queue = "q"}), "field.missing /ops/1\n");
  EXPECT_EQ(op_errors({.kind = "free", .queue = "q"}), "field.missing /ops/1\n");
  EXPECT_EQ(op_errors({.kind = "unknown"}), "field.missing /ops/1\n");
}

TEST(BuilderOpErrors, EveryKindOfOpHasOnlyItsFields) {
  const WaitSpec event{.kind = WaitKind::kEvent, .target = "e"};
  EXPECT_EQ(
      op_errors({.queue = "q", .event = "e", .storage = "s", .wait_for = event, .queues = {"q"}}),
      "field.unexpected /ops/1/event\n"
      "field.unexpected /ops/1/storage\n"
      "field.unexpected /ops/1/for\n"
      "field.unexpected /ops/1/queues\n");
  EXPECT_EQ(op_errors({.kind = "view",
                       .queue = "q",
                       .reads = {{.tensor = "x"}},
                       .writes = {{.tensor = "x"}},
                       .accumulates = {{.tensor = "x"}},
                       .clobbers = {{.tensor = "x"}},
                       .after = {{"w"}},
                       .waits = {event},
                       .signals = {{.event = "e"}}}),
            "field.unexpected /ops/1/queue\n"
            "field.unexpected /ops/1/accumulates\n"
            "field.unexpected /ops/1/clobbers\n"
            "field.unexpected /ops/1/after\n"
            "field.unexpected /ops/1/signals\n"
            "field.unexpected /ops/1/waits\n");
  EXPECT_EQ(op_errors({.kind = "record",
                       .queue = "q",
                       .event = "e",
                       .reads = {{.tensor = "x"}},
                       .writes = {{.tensor = "x"}},
                       .in_place = {{"x", "x"}},
                       .after = {{"w"}},
                       .waits = {event},
                       .signals = {{.event = "f"}}}),
            "field.unexpected /ops/1/reads\n"
            "field.unexpected /ops/1/writes\n"
            "field.unexpected /ops/1/in_place\n");
  EXPECT_EQ(op_errors({.kind = "barrier", .queue = "q", .queues = {"q"}}),
            "field.unexpected /ops/1/queue\n");
  EXPECT_EQ(op_errors({.kind = "host_wait", .queue = "q", .waits = {event}, .wait_for = event}),
            "field.unexpected /ops/1/queue\nfield.unexpected /ops/1/waits\n");
}

TEST(BuilderOpErrors, AnAccessNamesOneThingAndFitsItsList) {
  EXPECT_EQ(
      op_errors({.queue = "q",
                 .reads = {{}, {.pool = "hbm"}, {.tensor = "x", .update = "add"}},
                 .writes = {{.tensor = "x", .from = "w"}},
                 .accumulates = {{.tensor = "x", .from = "initial"}},
                 .clobbers = {{}, {.tensor = "x", .pool = "hbm"}, {.pool = "hbm", .distance = 1}}}),
      "access.target /ops/1/reads/0\n"
      "field.unexpected /ops/1/reads/1/pool\n"
      "field.unexpected /ops/1/reads/2/op\n"
      "field.unexpected /ops/1/writes/0/from\n"
      "field.unexpected /ops/1/accumulates/0/from\n"
      "access.target /ops/1/clobbers/0\n"
      "access.target /ops/1/clobbers/1/pool\n"
      "field.unexpected /ops/1/clobbers/2/distance\n");
}

TEST(BuilderOpErrors, WaitsAndSignalsAreWellFormed) {
  EXPECT_EQ(
      op_errors({.queue = "q",
                 .waits = {{.kind = WaitKind::kAll},
                           {.kind = WaitKind::kQueue, .target = "q"},
                           {.kind = WaitKind::kEvent},
                           {.kind = WaitKind::kEvent, .target = "e", .consume = true},
                           {.kind = WaitKind::kSemaphore, .target = "time", .consume = true},
                           {.kind = WaitKind::kSemaphore, .target = "count", .consume = true}},
                 .signals = {{}, {.event = "e", .semaphore = "count"}}}),
      "wait.form /ops/1/waits/0\n"
      "wait.form /ops/1/waits/1\n"
      "wait.form /ops/1/waits/2\n"
      "wait.consume /ops/1/waits/3/consume\n"
      "signal.form /ops/1/signals/0\n"
      "signal.form /ops/1/signals/1\n"
      "wait.consume /ops/1/waits/4/consume\n");
}

TEST(BuilderOpErrors, CountsAreNotNegative) {
  EXPECT_EQ(
      op_errors(
          {.queue = "q",
           .waits =
               {{.kind = WaitKind::kPending, .target = "q", .value = -1},
                {.kind = WaitKind::kOutstanding, .target = "q", .value = -1},
                {.kind = WaitKind::kSemaphore, .target = "count", .value = -1, .consume = true},
                {.kind = WaitKind::kSemaphore, .target = "time", .value = -1}},
           .signals = {{.semaphore = "count", .value = -1}, {.semaphore = "time", .value = -1}}}),
      "value.negative /ops/1/waits/0/pending\n"
      "value.negative /ops/1/waits/1/outstanding\n"
      "value.negative /ops/1/waits/2/value\n"
      "value.negative /ops/1/signals/0/value\n");
}

TEST(BuilderOpErrors, NothingComesAfterAView) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_op({.name = "o", .queue = "q", .after = {{"w"}, {"v"}}});
              b.add_op({.name = "v", .kind = "view", .reads = {{.tensor = "x"}}});
            }),
            "after.view /ops/1/after/1\n");
}

TEST(BuilderOpErrors, InPlacePairsAreAccessedByTheirOp) {
  EXPECT_EQ(op_errors({.queue = "q",
                       .reads = {{.tensor = "x"}},
                       .writes = {{.tensor = "y"}},
                       .in_place = {{"x", "y"}, {"y", "x"}}}),
            "in_place.access /ops/1/in_place/1/0\nin_place.access /ops/1/in_place/1/1\n");
  EXPECT_EQ(op_errors({.queue = "q",
                       .reads = {{.tensor = "x"}},
                       .accumulates = {{.tensor = "y"}},
                       .in_place = {{"x", "y"}}}),
            "");
  // The accesses of another op do not count.
  EXPECT_EQ(op_errors({.queue = "q", .reads = {{.tensor = "x"}}, .in_place = {{"x", "x"}}}),
            "in_place.access /ops/1/in_place/0/1\n");
}

TEST(BuilderOpErrors, AVersionHasAWriter) {
  EXPECT_EQ(errors_of([](PlanBuilder& b) {
              b.add_tensor({.name = "v", .view_of = "x", .bytes = 4});
              b.add_op({.name = "c", .queue = "q", .clobbers = {{.tensor = "x"}}});
              b.add_op({.name = "a", .queue = "q", .accumulates = {{.tensor = "v"}}});
              b.add_op({.name = "any", .kind = "unknown", .queue = "q"});
              b.add_op({.name = "r",
                        .queue = "q",
                        .reads = {{.tensor = "v", .from = "w"},
                                  {.tensor = "y", .from = "w"},
                                  {.tensor = "x", .from = "c"},
                                  {.tensor = "x", .from = "a"},
                                  {.tensor = "y", .from = "any"},
                                  {.tensor = "x", .from = "r"},
                                  {.tensor = "y", .from = "initial"}}});
              b.add_output({.tensor = "x", .from = "w"});
              b.add_output({.tensor = "y", .from = "w"});
              b.add_output({.tensor = "y", .from = "initial"});
            }),
            "from.no_writer /ops/4/reads/1/from\n"
            "from.no_writer /ops/4/reads/2/from\n"
            "from.no_writer /ops/4/reads/3/from\n"
            "from.no_writer /ops/4/reads/5/from\n"
            "from.no_writer /outputs/1/from\n");
}

}  // namespace
}  // namespace memverify
