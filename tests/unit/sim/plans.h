// Small plans for the simulator's tests, made by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/builder.h"
#include "plan/finding.h"

namespace memverify::sim_test {

/// The plan, or a test failure with every error.
inline Plan built(PlanBuilder builder) {
  Result<Plan> plan = std::move(builder).build();
  if (!plan.ok()) {
    for (const Diagnostic& error : plan.errors()) ADD_FAILURE() << to_string(error);
    std::abort();
  }
  return std::move(plan).value();
}

/// One pool `hbm`, queues as named, and 64-byte tensors (each with a storage of the same name) at
/// the given offsets.
inline PlanBuilder start_plan(
    std::initializer_list<std::string_view> queues,
    std::initializer_list<std::pair<std::string_view, std::int64_t>> tensors) {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  for (std::string_view queue : queues) b.add_queue({.name = queue});
  for (const auto& [name, offset] : tensors) {
    b.add_storage({.name = name, .pool = "hbm", .slots = {offset}, .bytes = 64});
    b.add_tensor({.name = name, .storage = name, .bytes = 64});
  }
  return b;
}

inline OpId op(const Plan& plan, std::string_view name) {
  for (OpId id : ids(plan.ops)) {
    if (plan.ops[id].name == name) return id;
  }
  ADD_FAILURE() << "no op " << name;
  return kNone<OpId>;
}

/// "+a" starts a, "-a" completes it, "+a@2" does so in iteration 2.
inline std::vector<Step> run(const Plan& plan, std::initializer_list<std::string_view> steps) {
  std::vector<Step> out;
  for (std::string_view step : steps) {
    const std::size_t at = step.find('@');
    const std::string_view name = step.substr(1, at == step.npos ? at : at - 1);
    out.push_back(
        {.complete = step[0] == '-',
         .op = op(plan, name),
         .iteration = at == step.npos ? 0 : std::stoll(std::string(step.substr(at + 1)))});
  }
  return out;
}

inline Finding claim(const Plan& plan, Rule rule, std::initializer_list<std::string_view> ops,
                     std::initializer_list<std::string_view> steps) {
  Finding finding;
  finding.rule = rule;
  for (std::string_view name : ops) {
    const std::size_t at = name.find('@');
    finding.ops.push_back(op(plan, name.substr(0, at)));
    finding.iteration.push_back(at == name.npos ? 0 : std::stoll(std::string(name.substr(at + 1))));
  }
  finding.witness = run(plan, steps);
  return finding;
}

/// A random plan that uses every kind of need, deadlocks included.
inline Plan random_plan(std::uint64_t seed, int least_ops = 4) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  const char* orders[] = {"serial", "issue", "none", "host"};
  const std::string queues[] = {"q0", "q1", "q2"};
  for (const std::string& queue : queues) {
    QueueSpec spec{.name = queue, .order = orders[pick(4)]};
    if (pick(4) == 0) spec.depth = 1 + pick(2);
    b.add_queue(spec);
  }
  b.add_semaphore({.name = "s"});
  const std::string tensors[] = {"t0", "t1", "t2"};
  for (int t = 0; t < 3; ++t) {
    b.add_storage(
        {.name = tensors[t], .pool = "hbm", .slots = {std::int64_t{48} * t}, .bytes = 64});
    b.add_tensor({.name = tensors[t], .storage = tensors[t], .bytes = 64});
    b.add_input(tensors[t]);
  }
  const int ops = least_ops + pick(3);
  for (int n = 0; n < ops; ++n) {
    const std::string name = "op" + std::to_string(n);
    const std::string after = "op" + std::to_string(pick(ops));
    OpSpec op{.name = name, .queue = queues[pick(3)]};
    switch (pick(8)) {
      case 0:
        op.kind = "record";
        op.event = "e";
        break;
      case 1:
        op.kind = "barrier";
        op.queue = {};
        op.queues = {queues[0], queues[pick(2) + 1]};
        break;
      case 2:
        op.kind = "host_wait";
        op.queue = {};
        op.wait_for = pick(2) == 0 ? WaitSpec{.kind = WaitKind::kAll}
                                   : WaitSpec{.kind = WaitKind::kQueue, .target = queues[pick(3)]};
        break;
      default:
        op.reads = {{.tensor = tensors[pick(3)]}};
        if (pick(2) == 0) op.writes = {{.tensor = tensors[pick(3)]}};
        if (pick(3) == 0) op.signals.push_back({.event = "e"});
        if (pick(3) == 0) op.waits.push_back({.target = "e"});
        if (pick(3) == 0) op.signals.push_back({.semaphore = "s"});
        if (pick(4) == 0) {
          op.waits.push_back(
              {.kind = WaitKind::kSemaphore, .target = "s", .consume = pick(2) == 0});
        }
        if (pick(4) == 0) {
          op.waits.push_back({.kind = pick(2) == 0 ? WaitKind::kPending : WaitKind::kOutstanding,
                              .target = queues[pick(3)],
                              .value = std::int64_t{pick(2)}});
        }
    }
    if (pick(5) == 0 && after != name) op.after = {{.op = after}};
    b.add_op(op);
  }
  return built(std::move(b));
}

}  // namespace memverify::sim_test
