#include "verify/audit.h"

#include <algorithm>

#include "plan/describe.h"
#include "plan/words.h"
#include "verify/verify.h"

namespace memverify {
namespace {

bool is_sync(OpKind kind) {
  return kind == OpKind::kWait || kind == OpKind::kBarrier || kind == OpKind::kHostWait;
}

/// Takes entry `k` out of a slice of `items`.
template <typename T>
void drop(std::vector<T>& items, Range& range, std::uint32_t k) {
  std::move(items.begin() + range.begin + k + 1, items.begin() + range.end,
            items.begin() + range.begin + k);
  --range.end;
}

/// An event by its name alone: which record it binds to is not what is audited.
std::string wait_text(const Plan& plan, OpId op, const Wait& wait) {
  if (wait.kind == WaitKind::kEvent) return "event " + quoted(plan.events[wait.event]);
  return wait_words(plan, op, wait);
}

std::string command_text(const Plan& plan, OpId at) {
  const Op& op = plan.ops[at];
  const std::string id = quoted(op.name);
  if (op.kind == OpKind::kWait) {
    return id + " makes queue " + quoted(plan.queues[op.queue].name) + " wait for event " +
           quoted(plan.events[op.event]);
  }
  if (op.kind == OpKind::kHostWait) {
    const auto waits = plan.waits_of(op);
    return id + " makes its thread wait" +
           (waits.empty() ? "" : " for " + wait_text(plan, at, waits.front()));
  }
  std::vector<std::string> names;
  for (QueueId queue : plan.queues_of(op)) names.push_back(quoted(plan.queues[queue].name));
  return id + " is a barrier of " + (names.size() == 1 ? "queue " : "queues ") + listed(names);
}

class Auditor {
 public:
  Auditor(const Plan& plan, const AuditOptions& options) : plan_(plan), options_(options) {}

  Audit run() {
    result_.verdict = decide({}).verdict;
    if (result_.verdict != Verdict::kSafe) return std::move(result_);
    for (const Sync& sync : syncs_of(plan_)) result_.syncs.push_back({.sync = sync});
    for (AuditedSync& audited : result_.syncs) {
      if (spent()) break;
      ask(audited);
    }
    std::vector<Sync> gone;
    for (AuditedSync& audited : result_.syncs) {
      if (audited.use != AuditedSync::Use::kRedundant) continue;
      gone.push_back(audited.sync);
      // The first was asked alone already.
      audited.can_go = gone.size() == 1 || (!spent() && decide(gone).verdict == Verdict::kSafe);
      if (!audited.can_go) gone.pop_back();
    }
    return std::move(result_);
  }

 private:
  bool spent() {
    if (result_.verifications < options_.max_verifications) return false;
    result_.complete = false;
    return true;
  }

  EngineResult decide(std::span<const Sync> gone) {
    ++result_.verifications;
    return verify_happens_before(without(plan_, gone), {.max_findings = options_.max_findings});
  }

  void ask(AuditedSync& audited) {
    EngineResult alone = decide(std::span(&audited.sync, 1));
    switch (alone.verdict) {
      case Verdict::kSafe:
        audited.use = AuditedSync::Use::kRedundant;
        return;
      case Verdict::kUnknown:
        audited.use = AuditedSync::Use::kNotDecided;
        return;
      case Verdict::kUnsafe:
        break;
    }
    audited.use = AuditedSync::Use::kNeeded;
    for (Finding& finding : alone.findings) {
      if (info(finding.rule).severity != Severity::kError) continue;
      describe(plan_, finding);
      audited.lost.push_back(std::move(finding));
    }
  }

  const Plan& plan_;
  const AuditOptions& options_;
  Audit result_;
};

}  // namespace

std::string_view name(SyncKind kind) {
  switch (kind) {
    case SyncKind::kWait:
      return "wait";
    case SyncKind::kCommand:
      return "command";
    case SyncKind::kAfter:
      return "after";
    case SyncKind::kDepth:
      return "depth";
  }
  return "";
}

std::vector<Sync> syncs_of(const Plan& plan) {
  std::vector<Sync> syncs;
  for (OpId id : ids(plan.ops)) {
    const Op& op = plan.ops[id];
    if (is_sync(op.kind)) syncs.push_back({.kind = SyncKind::kCommand, .op = id});
    // The one entry of a host wait is the command.
    const std::uint32_t waits = op.kind == OpKind::kHostWait ? 0 : op.waits.size();
    for (std::uint32_t k = 0; k < waits; ++k) {
      syncs.push_back({.kind = SyncKind::kWait, .op = id, .entry = k});
    }
    for (std::uint32_t k = 0; k < op.after.size(); ++k) {
      syncs.push_back({.kind = SyncKind::kAfter, .op = id, .entry = k});
    }
  }
  for (QueueId id : ids(plan.queues)) {
    if (plan.queues[id].depth) syncs.push_back({.kind = SyncKind::kDepth, .queue = id});
  }
  return syncs;
}

Plan without(const Plan& plan, std::span<const Sync> syncs) {
  Plan result = plan;
  std::vector<Sync> later(syncs.begin(), syncs.end());
  // From the last entry of an op on, so that the numbers of the others stay.
  std::ranges::sort(later, std::greater<>(), [](const Sync& s) { return s.entry; });
  for (const Sync& sync : later) {
    switch (sync.kind) {
      case SyncKind::kWait:
        drop(result.waits, result.ops[sync.op].waits, sync.entry);
        break;
      case SyncKind::kAfter:
        drop(result.afters, result.ops[sync.op].after, sync.entry);
        break;
      case SyncKind::kCommand: {
        // A view starts nothing, and what waits for one waits for nothing.
        Op gone{.name = plan.ops[sync.op].name, .kind = OpKind::kView};
        const std::uint32_t location = plan.details_of(plan.ops[sync.op]).location;
        if (location != OpDetails::kAbsent) result.add_details(gone).location = location;
        result.ops[sync.op] = gone;
        break;
      }
      case SyncKind::kDepth:
        result.queues[sync.queue].depth.reset();
        break;
    }
  }
  return result;
}

std::string describe(const Plan& plan, const Sync& sync) {
  if (sync.kind == SyncKind::kDepth) {
    const Queue& queue = plan.queues[sync.queue];
    return "depth " + std::to_string(queue.depth.value_or(0)) + " of queue " + quoted(queue.name);
  }
  const Op& op = plan.ops[sync.op];
  if (sync.kind == SyncKind::kCommand) return command_text(plan, sync.op);
  if (sync.kind == SyncKind::kWait) {
    return quoted(op.name) + " waits for " +
           wait_text(plan, sync.op, plan.waits_of(op)[sync.entry]);
  }
  const After& after = plan.after_of(op)[sync.entry];
  std::string text = quoted(op.name) + " is after " + quoted(plan.ops[after.op].name);
  if (after.distance > 0) {
    text += " of " + counted(std::int64_t{after.distance}, "iteration") + " before";
  }
  return text;
}

Audit audit(const Plan& plan, const AuditOptions& options) { return Auditor(plan, options).run(); }

}  // namespace memverify
