// The clocks against their definition: complete(a) precedes start(b) iff b cannot start in the run
// that does all it can but never completes a.
#include "verify/order.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "plan/builder.h"
#include "plan/layout.h"
#include "plan/writer.h"
#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {
namespace {

class RandomProgram {
 public:
  /// Every sixteenth is long and seldom blocks, so that its clocks have chains in several pieces.
  explicit RandomProgram(unsigned seed) : random_(seed), more_ops_(seed % 16 == 0 ? 40 : 0) {}

  Plan make() {
    builder_.set_iterations(pick(3) == 0 ? 2 : 1);
    const int queues = 2 + pick(3);
    static constexpr const char* kOrders[] = {"serial", "issue", "none", "host", "serial", "issue"};
    for (int q = 0; q < queues; ++q) {
      queue_names_.push_back("q" + std::to_string(q));
      QueueSpec queue{.name = queue_names_.back(), .order = kOrders[pick(6)]};
      if (pick(5) == 0) queue.depth = 1 + pick(3);
      if (pick(5) == 0) queue.thread = "t1";
      builder_.add_queue(queue);
    }
    builder_.add_semaphore({.name = "count", .initial = std::int64_t{pick(2)}});
    builder_.add_semaphore({.name = "time", .kind = "timeline"});
    const int ops = 4 + pick(9) + more_ops_;
    for (int k = 0; k < ops; ++k) op_names_.push_back("op" + std::to_string(k));
    for (int k = 0; k < ops; ++k) add_op(k, ops);
    Result<Plan> plan = std::move(builder_).build();
    for (const auto& error : plan.ok() ? std::vector<Diagnostic>() : plan.errors()) {
      ADD_FAILURE() << to_string(error);
    }
    return std::move(plan).value();
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  const std::string& queue() {
    return queue_names_[static_cast<std::size_t>(pick(static_cast<int>(queue_names_.size())))];
  }

  WaitSpec wait() {
    switch (pick(5)) {
      case 0:
        return {.kind = WaitKind::kEvent, .target = "e"};
      case 1:
        return {
            .kind = WaitKind::kSemaphore, .target = "count", .value = std::int64_t{1 + pick(4)}};
      case 2:
        return {.kind = WaitKind::kSemaphore, .target = "time", .value = std::int64_t{1 + pick(4)}};
      case 3:
        return {.kind = WaitKind::kPending, .target = queue(), .value = std::int64_t{pick(3)}};
      default:
        return {.kind = WaitKind::kOutstanding, .target = queue(), .value = std::int64_t{pick(3)}};
    }
  }

  void add_op(int k, int ops) {
    OpSpec op{.name = op_names_[static_cast<std::size_t>(k)]};
    switch (pick(12)) {
      case 0:
        op.kind = "record";
        op.event = "e";
        op.queue = queue();
        break;
      case 1:
        op.kind = "wait";
        op.event = "e";
        op.queue = queue();
        break;
      case 2:
        op.kind = "barrier";
        op.queues = {queue_names_[0], queue_names_[1]};
        break;
      case 3:
        op.kind = "host_wait";
        op.wait_for = pick(2) == 0   ? WaitSpec{.kind = WaitKind::kQueue, .target = queue()}
                      : pick(2) == 0 ? WaitSpec{.kind = WaitKind::kAll}
                                     : wait();
        if (pick(3) == 0) op.thread = "t1";
        break;
      default:
        op.queue = queue();
    }
    if (op.kind != "host_wait" && pick(3 + more_ops_) == 0) op.waits.push_back(wait());
    if (pick(3) == 0)
      op.signals.push_back({.semaphore = "count", .value = std::int64_t{1 + pick(2)}});
    if (pick(3) == 0)
      op.signals.push_back({.semaphore = "time", .value = std::int64_t{1 + pick(4)}});
    if (pick(6) == 0) op.signals.push_back({.event = "e"});
    for (int times = more_ops_ == 0 ? 1 : 4; times > 0; --times) {
      if (pick(4) != 0) continue;
      const int other = more_ops_ == 0 && pick(3) == 0 ? pick(ops) : pick(k + 1);
      if (other != k)
        op.after.push_back(
            {.op = op_names_[static_cast<std::size_t>(other)], .distance = pick(5) == 0});
    }
    builder_.add_op(op);
  }

  std::mt19937 random_;
  int more_ops_;
  PlanBuilder builder_;
  std::vector<std::string> queue_names_, op_names_;
};

/// True where a completion of the instance may be asked for.
bool tracked(const Program& program, Cmd cmd) {
  const Instance& instance = program.instances[cmd];
  return !instance.gate && instance.queue != kNone<QueueId> && program.op(cmd).kind == OpKind::kOp;
}

TEST(Order, TheMostOfAllChainsIsThatOfEachChain) {
  std::size_t chains_seen = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Plan plan = RandomProgram(seed).make();
    const Result<Layout> layout = Layout::make(plan, {});
    const auto iterations = static_cast<std::uint32_t>(*plan.iterations);
    const Program program =
        make_program(plan, layout.value(), ConditionCase(plan, iterations), iterations);
    const Walk run = walk(program);
    const Order order(program, run);
    std::vector<Cmd> cmds;
    for (const Cmd cmd : run.order) {
      if (tracked(program, cmd) && (cmds.empty() || seed % 3 != 0)) cmds.push_back(cmd);
    }
    const std::vector<std::uint32_t> most = order.most_completed(cmds);
    for (std::uint32_t chain = 0; chain < most.size(); ++chain) {
      std::uint32_t greatest = 0;
      for (const Cmd cmd : cmds) greatest = std::max(greatest, order.completed(cmd, chain));
      ASSERT_EQ(most[chain], greatest) << "seed " << seed << ", chain " << chain;
      ++chains_seen;
    }
  }
  EXPECT_GT(chains_seen, 1000U);
}

TEST(Order, AgreesWithItsDefinitionOnRandomPrograms) {
  std::size_t ordered = 0;
  std::size_t unordered = 0;
  std::size_t with_thresholds = 0;
  std::size_t beyond_two_pieces = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const Plan plan = RandomProgram(seed).make();
    const Result<Layout> layout = Layout::make(plan, {});
    ASSERT_TRUE(layout.ok());
    const auto iterations = static_cast<std::uint32_t>(*plan.iterations);
    const Program program =
        make_program(plan, layout.value(), ConditionCase(plan, iterations), iterations);
    with_thresholds += program.thresholds.empty() ? 0 : 1;
    const Walk run = walk(program);
    const Order order(program, run);
    for (Cmd a : run.order) {
      if (!tracked(program, a)) continue;
      const Walk without = walk(program, {&a, 1});
      beyond_two_pieces += order.chain(a) >= 2 * Clocks::kChunk ? 1 : 0;
      for (Cmd b : run.order) {
        if (!tracked(program, b) || a == b) continue;
        const bool before = without.started[b] == 0;
        ASSERT_EQ(order.before(a, b), before)
            << "seed " << seed << ": " << program.op(a).name << " ("
            << program.instances[a].iteration << ") before " << program.op(b).name << " ("
            << program.instances[b].iteration << ")\n"
            << write_plan(plan);
        ++(before ? ordered : unordered);
      }
    }
  }
  EXPECT_GT(ordered, 1000U);
  EXPECT_GT(unordered, 1000U);
  EXPECT_GT(with_thresholds, 500U);
  EXPECT_GT(beyond_two_pieces, 100U);
}

}  // namespace
}  // namespace memverify
