// Small plans for the simulator's tests, made by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
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

}  // namespace memverify::sim_test
