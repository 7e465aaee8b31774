// Problem: a fault in a random plan is unreadable. Idea: hierarchical delta debugging on the tree
// of the document: lists lose a half, a quarter, ... of their entries at once, from the top down,
// then every value is tried alone; every step makes the text shorter or a number smaller, so it
// ends. Reference: Misherghi and Su, HDD: Hierarchical Delta Debugging, ICSE 2006. Tested by
// tests/unit/tools/shrink_test.cpp.
#include "tools/shrink.h"

#include <string>
#include <utility>
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

/// `node` with every `id` replaced by `other`.
void rename(PlanJson& node, const PlanJson& id, const PlanJson& other) {
  if (node == id) node = other;
  if (!node.is_structured()) return;
  for (PlanJson& child : node) rename(child, id, other);
}

/// What could stand for the declaration at `at`: the base of a view, another queue.
PlanJson stand_in(const PlanJson& plan, const Pointer& at) {
  const PlanJson& value = plan[at];
  if (value.contains("view_of")) return value["view_of"];
  const Pointer list = at.parent_pointer();
  if (list.empty() || (list.back() != "queues" && list.back() != "pools")) return nullptr;
  for (const PlanJson& other : plan[list]) {
    if (other != value && other.is_object() && other.contains("id")) return other["id"];
  }
  return nullptr;
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
  if (value.is_object() && value.contains("id")) {
    const PlanJson other = stand_in(plan, at);
    if (!other.is_null()) {
      result.push_back(plan);
      erase(result.back(), at);
      rename(result.back(), value["id"], other);
    }
  }
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    for (std::int64_t by = number; by > 0; by /= 2) {
      result.push_back(plan);
      result.back()[at] = number - by;
    }
  }
  return result;
}

/// `plan` without `count` entries of the list at `at`, from `first` on.
PlanJson without_chunk(const PlanJson& plan, const Pointer& at, std::size_t first,
                       std::size_t count) {
  PlanJson result = plan;
  std::vector<PlanJson> gone;
  for (std::size_t k = first; k < first + count; ++k) {
    const PlanJson& entry = plan[at][k];
    if (entry.is_object() && entry.contains("id")) gone.push_back(entry["id"]);
  }
  for (std::size_t k = first + count; k-- > first;) result[at].erase(k);
  for (const PlanJson& id : gone) forget(result, id);
  return result;
}

class Shrinker {
 public:
  Shrinker(PlanJson plan, const std::function<bool(const PlanJson&)>& holds, std::size_t max_calls)
      : plan_(std::move(plan)), holds_(holds), max_calls_(max_calls) {}

  PlanJson run() {
    do {
      progress_ = false;
      for (const char* list : {"ops", "tensors", "storages", "queues", "outputs", "inputs"}) {
        take_chunks(Pointer() / list);
      }
      take_values();
    } while (progress_);
    return std::move(plan_);
  }

 private:
  bool take(PlanJson candidate) {
    if (max_calls_ != 0 && calls_ >= max_calls_) return false;
    ++calls_;
    if (!holds_(candidate)) return false;
    plan_ = std::move(candidate);
    progress_ = true;
    return true;
  }

  void take_chunks(const Pointer& at) {
    if (!plan_.contains(at) || !plan_[at].is_array()) return;
    for (std::size_t size = plan_[at].size() / 2; size > 1; size /= 2) {
      std::size_t first = 0;
      while (plan_.contains(at) && first + size <= plan_[at].size()) {
        if (!take(without_chunk(plan_, at, first, size))) first += size;
      }
    }
  }

  void take_values() {
    for (const Pointer& at : places(plan_)) {
      if (!plan_.contains(at)) continue;
      for (PlanJson& candidate : smaller(plan_, at)) {
        if (take(std::move(candidate))) break;
      }
    }
  }

  PlanJson plan_;
  const std::function<bool(const PlanJson&)>& holds_;
  std::size_t max_calls_;
  std::size_t calls_ = 0;
  bool progress_ = false;
};

}  // namespace

PlanJson shrink(PlanJson plan, const std::function<bool(const PlanJson&)>& holds,
                std::size_t max_calls) {
  return Shrinker(std::move(plan), holds, max_calls).run();
}

}  // namespace memverify
