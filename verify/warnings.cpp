#include "verify/warnings.h"

#include <string>
#include <utility>

#include "plan/describe.h"

namespace memverify {
namespace {

constexpr std::size_t kMaxWarnings = 20;

/// The first event that the op waits for; kNone.
EventId waited_for(const Plan& plan, const Op& op) {
  if (op.kind == OpKind::kWait) return op.event;
  for (const Wait& wait : plan.waits_of(op)) {
    if (wait.kind == WaitKind::kEvent) return wait.event;
  }
  return kNone<EventId>;
}

/// By event: something waits for it.
std::vector<std::uint8_t> events_waited_for(const Plan& plan) {
  std::vector<std::uint8_t> waited(plan.events.size(), 0);
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::kWait) waited[index(op.event)] = 1;
    for (const Wait& wait : plan.waits_of(op)) {
      if (wait.kind == WaitKind::kEvent) waited[index(wait.event)] = 1;
    }
  }
  return waited;
}

}  // namespace

void add_sync_warnings(const Plan& plan, const std::vector<std::uint8_t>& bound,
                       Findings& findings) {
  std::vector<std::pair<OpId, EventId>> looked_at;  // Unbound waits, and (kNone) records.
  std::vector<std::uint8_t> waited;                 // Only if there are records.
  for (const OpId id : ids(plan.ops)) {
    const Op& op = plan.ops[id];
    const bool may_be_unbound = !bound.empty() && bound[index(id)] == 0;
    const EventId unbound = may_be_unbound ? waited_for(plan, op) : kNone<EventId>;
    if (op.kind == OpKind::kRecord && waited.empty()) waited = events_waited_for(plan);
    if (unbound != kNone<EventId> || op.kind == OpKind::kRecord) {
      looked_at.emplace_back(id, unbound);
    }
  }
  std::size_t warnings = 0;
  for (const auto& [id, unbound] : looked_at) {
    const Op& op = plan.ops[id];
    if (unbound != kNone<EventId> && ++warnings <= kMaxWarnings) {
      auto [message, help] = unbound_wait(plan, id, unbound);
      findings.add_warning(id, std::move(message), std::move(help));
    }
    if (op.kind == OpKind::kRecord && !waited[index(op.event)] && ++warnings <= kMaxWarnings) {
      const std::string told = findings.where_to_wait_for(id);
      findings.add_warning(id,
                           "`" + std::string(op.name) + "` records event `" +
                               std::string(plan.events[op.event]) + "`, which nothing waits for.",
                           told.empty() ? "remove the record, or wait for the event" : told);
    }
  }
}

}  // namespace memverify
