#include "verify/warnings.h"

#include <string>
#include <utility>

#include "plan/describe.h"

namespace memverify {
namespace {

constexpr std::size_t kMaxWarnings = 20;

}  // namespace

void add_sync_warnings(const Plan& plan, const std::vector<std::uint8_t>& bound,
                       Findings& findings) {
  std::vector<std::uint8_t> waited(plan.events.size(), 0);
  std::vector<std::pair<OpId, EventId>> looked_at;  // Unbound waits, and (kNone) records.
  for (OpId id : ids(plan.ops)) {
    const Op& op = plan.ops[id];
    EventId waited_for = op.kind == OpKind::kWait ? op.event : kNone<EventId>;
    if (waited_for != kNone<EventId>) waited[index(waited_for)] = 1;
    for (const Wait& wait : plan.waits_of(op)) {
      if (wait.kind != WaitKind::kEvent) continue;
      waited[index(wait.event)] = 1;
      if (waited_for == kNone<EventId>) waited_for = wait.event;
    }
    const bool unbound = waited_for != kNone<EventId> && !bound.empty() && !bound[index(id)];
    if (unbound || op.kind == OpKind::kRecord) {
      looked_at.emplace_back(id, unbound ? waited_for : kNone<EventId>);
    }
  }
  std::size_t warnings = 0;
  for (const auto& [id, waited_for] : looked_at) {
    const Op& op = plan.ops[id];
    if (waited_for != kNone<EventId> && ++warnings <= kMaxWarnings) {
      auto [message, help] = unbound_wait(plan, id, waited_for);
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
