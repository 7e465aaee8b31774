#include "verify/certificate_lifetimes.h"

#include <algorithm>

#include "verify/certificate_facts.h"

namespace memverify::cert {

Lifetimes::Lifetimes(const Touches& touches, Demands& demands)
    : touches_(touches), model_(touches.model()), demands_(demands) {
  const Plan& plan = model_.plan();
  const bool any = std::ranges::any_of(
      plan.ops, [](const Op& op) { return op.kind == OpKind::kAlloc || op.kind == OpKind::kFree; });
  if (!any) return;
  for (const Storage& storage : plan.storages) events_.emplace_back(storage.slots.size());
  has_alloc_.assign(plan.storages.size(), 0);
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::kAlloc) has_alloc_[index(op.storage)] = 1;
  }
  list();
  check();
}

Node Lifetimes::last_alloc(StorageId storage, std::uint32_t slot, Node node) const {
  Node last = kNoNode;
  for (Node event : events_[index(storage)][slot]) {
    if (event > node) break;
    if (model_.op(event).kind == OpKind::kAlloc) last = event;
  }
  return last;
}

void Lifetimes::fault(const std::string& what) {
  if (demands_.fault.empty()) demands_.fault = what;
}

void Lifetimes::list() {
  for (Node node = 0; node < model_.size(); ++node) {
    const OpKind kind = model_.op(node).kind;
    if ((kind != OpKind::kAlloc && kind != OpKind::kFree) || model_[node].passed) continue;
    const StorageId storage = model_.op(node).storage;
    const std::uint32_t slot = model_.layout().slot_index(storage, model_[node].iteration);
    auto& events = events_[index(storage)][slot];
    if (is_alive(storage, events) != (kind == OpKind::kFree)) {
      fault(describe(model_, node) + " does not alternate with the alloc or free before");
    }
    if (!events.empty()) demands_.orders.emplace_back(node, events.back());
    events.push_back(node);
  }
}

bool Lifetimes::is_alive(StorageId storage, const std::vector<Node>& events) const {
  return events.empty() ? has_alloc_[index(storage)] == 0
                        : model_.op(events.back()).kind == OpKind::kAlloc;
}

void Lifetimes::check() {
  for (const Touch& touch : touches_.all()) {
    if (touch.tensor == kNone<TensorId> || touch.points.begin == touch.points.end) continue;
    const auto [storage, in_slot] = touches_.slot(touch.tensor, touch.instance);
    const auto& events = events_[index(storage)][in_slot];
    if (touch.node < model_.size()) {
      check_bracket(touch, storage, events);
    } else if (!is_alive(storage, events)) {
      fault(touches_.name(touch) + " is accessed after its free");
    }
  }
}

void Lifetimes::check_bracket(const Touch& touch, StorageId storage,
                              const std::vector<Node>& events) {
  const auto is_alloc = [&](Node node) { return model_.op(node).kind == OpKind::kAlloc; };
  auto event =
      static_cast<std::size_t>(std::ranges::lower_bound(events, touch.node) - events.begin());
  while (event > 0 && !is_alloc(events[event - 1])) --event;
  if (event == 0 && has_alloc_[index(storage)] != 0) {
    fault(touches_.name(touch) + " is an access before the first alloc");
  }
  if (event > 0) demands_.orders.emplace_back(touch.node, events[event - 1]);
  while (event < events.size() && is_alloc(events[event])) ++event;
  if (event < events.size()) demands_.orders.emplace_back(events[event], touch.node);
}

}  // namespace memverify::cert
