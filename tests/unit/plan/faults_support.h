// Small plans and their static faults in one line each, for faults*_test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "plan/builder.h"
#include "plan/faults.h"

namespace memverify {

using Strings = std::vector<std::string>;

inline std::string short_words(const Plan& plan, const Finding& finding) {
  std::string text(info(finding.rule).id);
  for (const OpId op : finding.ops) text += " " + std::string(plan.ops[op].name);
  text += ":";
  for (const TensorId tensor : finding.tensors)
    text += " " + std::string(plan.tensors[tensor].name);
  if (finding.tensors.empty()) {
    for (const StorageId id : finding.storages) text += " " + std::string(plan.storages[id].name);
    if (finding.storages.empty() && finding.pool != kNone<PoolId>) {
      text += " " + std::string(plan.pools[finding.pool].name);
    }
  }
  if (!finding.bytes.empty()) {
    text +=
        " [" + std::to_string(finding.bytes.begin) + "," + std::to_string(finding.bytes.end) + ")";
  }
  for (const std::int64_t iteration : finding.iteration) {
    if (iteration != 0) text += " @" + std::to_string(iteration);
  }
  return text;
}

/// The faults of the plan as "RULE ops: tensors (else storages, else pool) [bytes) @iteration".
inline Strings faults(PlanBuilder builder, std::vector<std::int64_t> symbols = {}) {
  const Result<Plan> plan = std::move(builder).build();
  if (!plan.ok()) return {to_string(plan.errors()[0])};
  const Result<Layout> layout = Layout::make(plan.value(), {.symbols = std::move(symbols)});
  if (!layout.ok()) return {to_string(layout.errors()[0])};
  Strings all;
  for (const Finding& finding : static_faults(plan.value(), layout.value(), 100)) {
    EXPECT_FALSE(finding.message.empty());
    EXPECT_FALSE(finding.help.empty());
    all.push_back(short_words(plan.value(), finding));
  }
  return all;
}

/// Pool `hbm`, queue `q`, storage `s` of 1024 bytes at 0.
inline PlanBuilder base() {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  b.add_queue({.name = "q"});
  b.add_storage({.name = "s", .pool = "hbm", .slots = {0}, .bytes = 1024});
  return b;
}

inline PlanBuilder with(std::vector<TensorSpec> tensors, std::vector<OpSpec> ops) {
  PlanBuilder b = base();
  for (TensorSpec& tensor : tensors) {
    if (tensor.view_of.empty() && tensor.storage.empty()) tensor.storage = "s";
    b.add_tensor(tensor);
  }
  for (OpSpec& op : ops) {
    if (op.kind != "view") op.queue = "q";
    b.add_op(op);
  }
  return b;
}

inline std::vector<ExprSpec> list(std::vector<std::int64_t> values) {
  return {values.begin(), values.end()};
}

}  // namespace memverify
