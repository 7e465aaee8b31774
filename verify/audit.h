// verify/audit.h -- which syncs a *safe* rests on, and which could go.
//
// Problem: a sync that protects nothing costs parallelism; one that protects something should say
//   what.
// Idea: take each sync out of a copy of the plan and decide that. A sync whose removal leaves the
//   plan safe is redundant; of these, one after the other is left out as long as the plan stays
//   safe. Less sync only allows more runs, so what could not go then cannot go at the end either:
//   nothing more can be removed.
// Cost: a verification for each sync, and one more for each redundant one; a budget limits them.
// Tested by tests/unit/verify/audit_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

enum class SyncKind : std::uint8_t {
  kWait,     ///< An entry of `waits`.
  kCommand,  ///< A wait, barrier or host_wait command.
  kAfter,    ///< An entry of `after`.
  kDepth,    ///< The depth of a queue.
};
std::string_view name(SyncKind kind);  ///< "wait", "command", "after", "depth".

struct Sync {
  SyncKind kind = SyncKind::kWait;
  OpId op = kNone<OpId>;           ///< All but kDepth.
  std::uint32_t entry = 0;         ///< Of the op's waits or after entries.
  QueueId queue = kNone<QueueId>;  ///< kDepth.
  bool operator==(const Sync&) const = default;
};

/// Every sync of the plan that holds something back: by op, then queues. What only signals is none.
std::vector<Sync> syncs_of(const Plan& plan);

/// The plan without these syncs.
Plan without(const Plan& plan, std::span<const Sync> syncs);

/// "`use` waits for event `loaded`".
std::string describe(const Plan& plan, const Sync& sync);

struct AuditedSync {
  Sync sync;
  enum class Use : std::uint8_t {
    kNeeded,      ///< Without it the plan is unsafe: `lost`.
    kRedundant,   ///< Without it alone the plan is safe.
    kNotDecided,  ///< The engine does not decide the plan without it.
    kNotAsked,    ///< The budget was spent.
  };
  Use use = Use::kNotAsked;
  bool can_go = false;        ///< Part of the set that can go as a whole.
  std::vector<Finding> lost;  ///< Errors that the plan has without it, described.
};

struct AuditOptions {
  std::size_t max_verifications = 2000;
  std::size_t max_findings = 100;  ///< Of one sync.
};

struct Audit {
  Verdict verdict =
      Verdict::kUnknown;  ///< Of the plan; nothing else is filled in unless it is safe.
  std::vector<AuditedSync> syncs;
  std::size_t verifications = 0;
  bool complete = true;  ///< False: the budget was spent; more might be redundant, more might go.
};

/// All tensors must be placed.
Audit audit(const Plan& plan, const AuditOptions& options);

}  // namespace memverify
