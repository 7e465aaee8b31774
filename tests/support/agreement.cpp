#include "tests/support/agreement.h"

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/describe_result.h"

namespace memverify::testing {
namespace {

using Names = std::set<std::string>;

Names op_names(const Plan& plan, const Finding& finding) {
  Names names;
  for (const OpId op : finding.ops) names.emplace(plan.ops[op].name);
  return names;
}
Names tensor_names(const Plan& plan, const Finding& finding) {
  Names names;
  for (const TensorId tensor : finding.tensors) names.emplace(plan.tensors[tensor].name);
  return names;
}

std::string joined(const std::string& head, const Names& names) {
  std::string text = head;
  for (const std::string& name : names) text.append(" ").append(name);
  return text;
}

/// An access of an op outside alloc…free names both commands; an alloc or free alone, or two of
/// them, are named without the tensor; the rest is an access at the end, of one tensor or several.
std::vector<std::string> lifetime_keys(const Plan& plan, const Finding& finding) {
  const bool access = std::ranges::any_of(finding.ops, [&](OpId op) {
    return plan.ops[op].kind != OpKind::kAlloc && plan.ops[op].kind != OpKind::kFree;
  });
  if (access || finding.tensors.empty()) return {joined("MV112", op_names(plan, finding))};
  std::vector<std::string> texts;
  for (const std::string& tensor : tensor_names(plan, finding)) texts.push_back("MV112 " + tensor);
  return texts;
}

/// What the finding must name, as one or several texts that are equal in agreeing engines. None for
/// rules whose names are compared more loosely or not at all.
std::vector<std::string> keys(const Plan& plan, const Finding& finding) {
  const std::string rule(info(finding.rule).id);
  switch (finding.rule) {
    case Rule::kWar:
    case Rule::kRaw:
    case Rule::kWaw: {
      std::string ops;
      for (const OpId op : finding.ops) ops.append(" ").append(plan.ops[op].name);
      std::vector<std::string> ways{rule + ops};
      for (const Rule way : finding.also) ways.push_back(std::string(info(way).id) + ops);
      return ways;
    }
    case Rule::kUnwritten:
    case Rule::kInPlace:
    case Rule::kIncoherent:
      if (finding.ops.empty()) return {joined(rule, tensor_names(plan, finding))};
      return {joined(rule, op_names(plan, finding))};
    case Rule::kOutOfBounds:
    case Rule::kMisaligned:
    case Rule::kCapacity: {
      if (!finding.ops.empty()) return {joined(rule, op_names(plan, finding))};
      std::vector<std::string> texts;
      for (const std::string& tensor : tensor_names(plan, finding)) {
        texts.push_back(rule + " " + tensor);
      }
      if (!texts.empty()) return texts;
      for (const StorageId storage : finding.storages) {
        texts.push_back(rule + " " + std::string(plan.storages[storage].name));
      }
      return texts;
    }
    case Rule::kDeadlock:
      return {rule};
    case Rule::kLifetime:
      return lifetime_keys(plan, finding);
    case Rule::kWrongVersion:
    case Rule::kBoundary:
    case Rule::kNotProven:
    case Rule::kWarning:
      return {};
  }
  return {};
}

bool meet(const Names& a, const Names& b) {
  return std::ranges::any_of(a, [&](const std::string& name) { return b.contains(name); });
}

/// The findings of `rule` in `a` that have no like in `b`: none that names one of the same things.
std::string without_like(const Plan& plan, Rule rule, const EngineResult& a, const EngineResult& b,
                         const std::string& who) {
  const auto names = [&](const Finding& finding) {
    return rule == Rule::kWrongVersion ? op_names(plan, finding) : tensor_names(plan, finding);
  };
  std::string text;
  for (const Finding& finding : a.findings) {
    if (finding.rule != rule) continue;
    const bool has_like = std::ranges::any_of(b.findings, [&](const Finding& other) {
      return other.rule == rule && meet(names(finding), names(other));
    });
    if (!has_like) text += joined(who + std::string(info(rule).id), names(finding)) + "\n";
  }
  return text;
}

}  // namespace

std::string disagreement(const Plan& plan, const EngineResult& reference,
                         const EngineResult& engine) {
  std::string text;
  if (reference.verdict != engine.verdict) {
    text = "verdict: reference " + std::string(name(reference.verdict)) + ", engine " +
           std::string(name(engine.verdict)) + "\n";
  }
  Names mine;
  Names theirs;
  for (const Finding& finding : reference.findings) {
    for (const std::string& key : keys(plan, finding)) mine.insert(key);
  }
  for (const Finding& finding : engine.findings) {
    for (const std::string& key : keys(plan, finding)) theirs.insert(key);
  }
  for (const std::string& key : mine) {
    if (!theirs.contains(key)) text += "only the reference: " + key + "\n";
  }
  for (const std::string& key : theirs) {
    if (!mine.contains(key)) text += "only the engine: " + key + "\n";
  }
  for (const Rule rule : {Rule::kWrongVersion, Rule::kBoundary}) {
    text += without_like(plan, rule, reference, engine, "only the reference: ");
    text += without_like(plan, rule, engine, reference, "only the engine: ");
  }
  return text;
}

bool undecided(const EngineResult& engine) {
  return std::ranges::any_of(engine.findings, [](const Finding& finding) {
    return finding.rule == Rule::kNotProven && finding.ops.empty();
  });
}

}  // namespace memverify::testing
