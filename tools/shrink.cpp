// Problem: a disagreement on a random plan is unreadable. Idea: greedy delta debugging on the tree
// of the document; every step makes the text shorter or a number smaller, so it ends. Tested by
// tests/unit/tools/shrink_test.cpp.
#include "tools/shrink.h"

#include <string>
#include <vector>

namespace memverify {
namespace {

using Pointer = PlanJson::json_pointer;

/// The places of all values in the tree, parents before children.
void places(const PlanJson& node, const Pointer& at, std::vector<Pointer>& found) {
  if (!at.empty()) found.push_back(at);
  if (node.is_object()) {
    for (const auto& [key, child] : node.items()) places(child, at / key, found);
  } else if (node.is_array()) {
    for (std::size_t k = 0; k < node.size(); ++k) places(node[k], at / k, found);
  }
}

std::vector<Pointer> places(const PlanJson& plan) {
  std::vector<Pointer> found;
  places(plan, Pointer(), found);
  return found;
}

void erase(PlanJson& plan, const Pointer& at) {
  PlanJson& parent = plan[at.parent_pointer()];
  if (parent.is_object()) {
    parent.erase(at.back());
  } else {
    parent.erase(static_cast<std::size_t>(std::stoul(at.back())));
  }
}

/// Takes every reference to `id` out of `node`: list entries that are it or have a member that is,
/// keys that are it, members that are it.
void forget(PlanJson& node, const PlanJson& id) {
  if (node.is_array()) {
    for (std::size_t k = node.size(); k-- > 0;) {
      bool names = node[k] == id;
      for (const auto& item : node[k].items()) names = names || item.value() == id;
      if (names) node.erase(k);
    }
  } else if (node.is_object()) {
    node.erase(id.get<std::string>());
  }
  if (!node.is_structured()) return;
  for (PlanJson& child : node) forget(child, id);
}

/// All plans that are one step smaller than `plan` at `at`, the boldest first.
std::vector<PlanJson> smaller(const PlanJson& plan, const Pointer& at) {
  std::vector<PlanJson> result;
  const PlanJson& value = plan[at];
  if (value.is_object() && value.contains("id")) {
    result.push_back(plan);
    forget(result.back(), value["id"]);
  }
  result.push_back(plan);
  erase(result.back(), at);
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    for (const std::int64_t less : {std::int64_t{0}, number / 2, number - 1}) {
      if (less < 0 || less >= number) continue;
      result.push_back(plan);
      result.back()[at] = less;
    }
  }
  return result;
}

}  // namespace

PlanJson shrink(PlanJson plan, const std::function<bool(const PlanJson&)>& holds) {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const Pointer& at : places(plan)) {
      if (!plan.contains(at)) continue;
      for (const PlanJson& candidate : smaller(plan, at)) {
        if (!holds(candidate)) continue;
        plan = candidate;
        progress = true;
        break;
      }
    }
  }
  return plan;
}

}  // namespace memverify
