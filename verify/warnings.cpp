#include "verify/warnings.h"

#include <string>

namespace memverify {
namespace {

constexpr std::size_t kMaxWarnings = 20;

}  // namespace

void add_sync_warnings(const Plan& plan, const std::vector<std::uint8_t>& bound,
                       Findings& findings) {
  std::vector<std::uint8_t> waited(plan.events.size(), 0);
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::kWait) waited[index(op.event)] = 1;
    for (const Wait& wait : plan.waits_of(op)) {
      if (wait.kind == WaitKind::kEvent) waited[index(wait.event)] = 1;
    }
  }
  std::size_t warnings = 0;
  for (OpId id : ids(plan.ops)) {
    const Op& op = plan.ops[id];
    bool waits = op.kind == OpKind::kWait;
    for (const Wait& wait : plan.waits_of(op)) waits = waits || wait.kind == WaitKind::kEvent;
    if (waits && !bound.empty() && !bound[index(id)] && ++warnings <= kMaxWarnings) {
      findings.add_warning(id,
                           "`" + std::string(op.name) +
                               "` waits for an event that nothing records or signals before it: "
                               "the wait orders nothing.",
                           "record the event before the wait, or remove the wait");
    }
    if (op.kind == OpKind::kRecord && !waited[index(op.event)] && ++warnings <= kMaxWarnings) {
      findings.add_warning(id,
                           "`" + std::string(op.name) + "` records event `" +
                               std::string(plan.events[op.event]) + "`, which nothing waits for.",
                           "remove the record, or wait for the event");
    }
  }
}

}  // namespace memverify
