#include "tools/plan_mutants.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include "plan/describe.h"
#include "plan/layout.h"
#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/decide.h"
#include "tools/shrink.h"
#include "tools/verify_file.h"
#include "verify/audit.h"

namespace memverify {
namespace {

constexpr std::int64_t kWord = 4;
constexpr double kMutantSeconds = 20;
constexpr std::size_t kMostSyncsNamed = 3;

/// A mutant as a document.
struct MutantDraft {
  PlanJson plan;
  std::string what;
  std::string storage;
};
using MutantDrafts = std::vector<MutantDraft>;

std::string id_of(const PlanJson& node) { return node.value("id", std::string()); }
std::string named(const PlanJson& node) { return memverify::quoted(id_of(node)); }

/// A draft for each entry of `list` of each op, without it.
MutantDrafts without_entries(const PlanJson& plan, const char* list, std::string_view words) {
  MutantDrafts drafts;
  const PlanJson& ops = plan["ops"];
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (!ops[k].contains(list)) continue;
    for (std::size_t entry = 0; entry < ops[k][list].size(); ++entry) {
      MutantDraft draft{
          .plan = plan,
          .what = named(ops[k]) + " " + std::string(words) + " " + ops[k][list][entry].dump()};
      draft.plan["ops"][k][list].erase(entry);
      drafts.push_back(std::move(draft));
    }
  }
  return drafts;
}

MutantDrafts without_commands(const PlanJson& plan) {
  static const std::set<std::string> kCommands = {"record", "wait", "barrier", "host_wait"};
  MutantDrafts drafts;
  const PlanJson& ops = plan["ops"];
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (!kCommands.contains(ops[k].value("kind", "op"))) continue;
    MutantDraft draft{.plan = plan, .what = named(ops[k]) + " is gone"};
    draft.plan["ops"].erase(k);
    drafts.push_back(std::move(draft));
  }
  return drafts;
}

MutantDrafts with_queues_swapped(const PlanJson& plan) {
  MutantDrafts drafts;
  const PlanJson& ops = plan["ops"];
  for (std::size_t a = 0; a < ops.size(); ++a) {
    for (std::size_t b = a + 1; b < ops.size(); ++b) {
      if (!ops[a].contains("queue") || !ops[b].contains("queue")) continue;
      if (ops[a]["queue"] == ops[b]["queue"]) continue;
      MutantDraft draft{.plan = plan,
                        .what = named(ops[a]) + " and " + named(ops[b]) + " swap queues"};
      std::swap(draft.plan["ops"][a]["queue"], draft.plan["ops"][b]["queue"]);
      drafts.push_back(std::move(draft));
    }
  }
  return drafts;
}

MutantDrafts with_ops_reordered(const PlanJson& plan) {
  MutantDrafts drafts;
  const PlanJson& ops = plan["ops"];
  for (std::size_t k = 0; k + 1 < ops.size(); ++k) {
    MutantDraft draft{.plan = plan, .what = named(ops[k + 1]) + " comes before " + named(ops[k])};
    std::swap(draft.plan["ops"][k], draft.plan["ops"][k + 1]);
    drafts.push_back(std::move(draft));
  }
  return drafts;
}

/// Storages with numbers for offsets: what planners write.
bool can_move(const PlanJson& storage) {
  const PlanJson& offset = storage["offset"];
  if (!storage["bytes"].is_number_integer()) return false;
  if (offset.is_number_integer()) return true;
  return offset.is_array() && !offset.empty() &&
         std::ranges::all_of(offset, [](const PlanJson& o) { return o.is_number_integer(); });
}

/// Moves the storage's first slot to `to`, and says so. False: it is there, or that is below 0.
bool move_storage(MutantDraft& draft, std::size_t storage, std::int64_t to) {
  PlanJson& moved = draft.plan["storages"][storage];
  PlanJson& offset = moved["offset"].is_array() ? moved["offset"][0] : moved["offset"];
  if (to < 0 || offset == to) return false;
  draft.what =
      "storage " + named(moved) + " moves from " + offset.dump() + " to " + std::to_string(to);
  draft.storage = id_of(moved);
  offset = to;
  return true;
}

std::int64_t first_slot(const PlanJson& storage) {
  const PlanJson& offset = storage["offset"];
  return (offset.is_array() ? offset[0] : offset).get<std::int64_t>();
}

MutantDrafts with_storages_shifted(const PlanJson& plan,
                                   const std::function<std::int64_t(const PlanJson&)>& by) {
  MutantDrafts drafts;
  const PlanJson storages = plan.value("storages", PlanJson::array());
  for (std::size_t k = 0; k < storages.size(); ++k) {
    if (!can_move(storages[k])) continue;
    for (const std::int64_t sign : {-1, 1}) {
      MutantDraft draft{.plan = plan};
      const std::int64_t to = first_slot(storages[k]) + sign * by(storages[k]);
      if (move_storage(draft, k, to)) drafts.push_back(std::move(draft));
    }
  }
  return drafts;
}

MutantDrafts with_storages_merged(const PlanJson& plan) {
  MutantDrafts drafts;
  const PlanJson storages = plan.value("storages", PlanJson::array());
  for (std::size_t a = 0; a < storages.size(); ++a) {
    for (std::size_t b = 0; b < storages.size(); ++b) {
      if (a == b || storages[a]["pool"] != storages[b]["pool"]) continue;
      if (!can_move(storages[a]) || !can_move(storages[b])) continue;
      MutantDraft draft{.plan = plan};
      if (move_storage(draft, a, first_slot(storages[b]))) drafts.push_back(std::move(draft));
    }
  }
  return drafts;
}

std::int64_t alignment_of(const PlanJson& plan, const PlanJson& storage) {
  for (const PlanJson& pool : plan["pools"]) {
    if (pool["id"] == storage["pool"]) return pool.value("alignment", std::int64_t{1});
  }
  return 1;
}

MutantDrafts drafts_of(const PlanJson& plan, MutantKind kind) {
  switch (kind) {
    case MutantKind::kRemoveWait:
      return without_entries(plan, "waits", "does not wait for");
    case MutantKind::kRemoveSignal:
      return without_entries(plan, "signals", "does not signal");
    case MutantKind::kRemoveCommand:
      return without_commands(plan);
    case MutantKind::kRemoveAfter:
      return without_entries(plan, "after", "does not come after");
    case MutantKind::kSwapQueues:
      return with_queues_swapped(plan);
    case MutantKind::kShiftByWord:
      return with_storages_shifted(plan, [](const PlanJson&) { return kWord; });
    case MutantKind::kShiftByAlignment:
      return with_storages_shifted(plan, [&](const PlanJson& s) { return alignment_of(plan, s); });
    case MutantKind::kShiftByTensor:
      return with_storages_shifted(
          plan, [](const PlanJson& s) { return s["bytes"].get<std::int64_t>(); });
    case MutantKind::kMergeStorages:
      return with_storages_merged(plan);
    case MutantKind::kReorderOps:
      return with_ops_reordered(plan);
  }
  return {};
}

constexpr std::array<std::string_view, kMutantKinds> kMutantNames = {
    "remove wait",   "remove signal",      "remove command",  "remove after",   "swap queues",
    "shift by word", "shift by alignment", "shift by tensor", "merge storages", "reorder ops"};

// ---- why a mutant is safe
// ------------------------------------------------------------------------

/// Storages with a byte where `moved` lies, other than it.
std::vector<std::string> met_by(const Plan& plan, std::string_view moved) {
  Valuation least;
  for (const Symbol& symbol : plan.symbols) least.symbols.push_back(least_value(symbol));
  const Result<Layout> layout = Layout::make(plan, least);
  std::vector<std::string> met;
  if (!layout.ok()) return met;
  const auto ranges = [&](StorageId id) {
    std::vector<ByteRange> found;
    for (std::int64_t k = 0; k < plan.storages[id].slots.size(); ++k) {
      const std::int64_t at = layout.value().slot_address(id, k);
      found.push_back({at, at + layout.value().storage(id).bytes});
    }
    return found;
  };
  for (const StorageId mine : ids(plan.storages)) {
    if (plan.storages[mine].name != moved) continue;
    for (const StorageId other : ids(plan.storages)) {
      if (other == mine || plan.storages[other].pool != plan.storages[mine].pool) continue;
      bool meets = false;
      for (const ByteRange& a : ranges(mine)) {
        for (const ByteRange& b : ranges(other)) {
          meets = meets || (a.begin < b.end && b.begin < a.end);
        }
      }
      if (meets) met.push_back(memverify::quoted(plan.storages[other].name));
    }
  }
  return met;
}

/// What the audit says that the mutant's safety rests on.
std::string rests_on(const Plan& plan) {
  const Audit audited = audit(plan, {.max_verifications = 200, .max_findings = 1});
  std::vector<std::string> needed;
  std::size_t more = 0;
  for (const AuditedSync& sync : audited.syncs) {
    if (sync.use != AuditedSync::Use::kNeeded) continue;
    if (needed.size() < kMostSyncsNamed) {
      needed.push_back(describe(plan, sync.sync));
    } else {
      ++more;
    }
  }
  if (audited.verdict != Verdict::kSafe) return "the audit does not decide it";
  if (needed.empty()) return "the order of queues is enough";
  return "it rests on: " + listed(needed) +
         (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

void explain_equivalent(const Mutant& mutant, MutantFate& fate) {
  switch (mutant.kind) {
    case MutantKind::kRemoveWait:
    case MutantKind::kRemoveSignal:
    case MutantKind::kRemoveCommand:
    case MutantKind::kRemoveAfter:
      fate.text = "equivalent: what is left orders the same bytes";
      fate.why = rests_on(mutant.plan);
      return;
    case MutantKind::kShiftByWord:
    case MutantKind::kShiftByAlignment:
    case MutantKind::kShiftByTensor:
    case MutantKind::kMergeStorages: {
      const std::vector<std::string> met = met_by(mutant.plan, mutant.storage);
      fate.text = met.empty() ? "equivalent: nobody else's bytes lie there"
                              : "equivalent: its bytes are used in turn";
      fate.why = met.empty() ? "" : "with " + listed(met) + "; " + rests_on(mutant.plan);
      return;
    }
    case MutantKind::kSwapQueues:
    case MutantKind::kReorderOps:
      fate.text = "equivalent: what conflicts is in order";
      fate.why = rests_on(mutant.plan);
      return;
  }
}

}  // namespace

std::string_view name(MutantKind kind) { return kMutantNames[static_cast<std::size_t>(kind)]; }

std::optional<Mutant> random_mutant(const Plan& plan, Draw& draw) {
  const PlanJson json = PlanJson::parse(write_plan(plan));
  const std::size_t first = draw.below(kMutantKinds);
  for (std::size_t k = 0; k < kMutantKinds; ++k) {
    const auto kind = static_cast<MutantKind>((first + k) % kMutantKinds);
    MutantDrafts drafts = drafts_of(json, kind);
    if (drafts.empty()) continue;
    MutantDraft& draft = drafts[draw.below(drafts.size())];
    Result<Plan> mutated = read_plan(draft.plan.dump(), "");
    if (!mutated.ok()) continue;
    return Mutant{.kind = kind,
                  .what = std::move(draft.what),
                  .storage = std::move(draft.storage),
                  .plan = std::move(mutated).value()};
  }
  return std::nullopt;
}

MutantFate decide_mutant(const Mutant& mutant) {
  MutantFate fate;
  if (!cannot_be_verified(mutant.plan).empty()) {
    fate.result.outcome = Outcome::kNotPlanned;
    fate.text = "no plan";
    return fate;
  }
  Report report;
  report.plan = mutant.plan;
  decide(report, select_engines("all"), {.max_seconds = kMutantSeconds});
  confirm_findings(report);
  fate.internal_errors = report.internal_errors;
  switch (report.verdict) {
    case Verdict::kUnsafe:
      fate.result = {.outcome = Outcome::kKilled, .rule = report.findings.front().rule};
      fate.text = "killed " + std::string(info(report.findings.front().rule).id);
      return fate;
    case Verdict::kUnknown:
      fate.result.outcome = Outcome::kUnknown;
      fate.text = "undecided";
      return fate;
    case Verdict::kSafe:
      fate.result.outcome = Outcome::kEquivalent;
      explain_equivalent(mutant, fate);
      return fate;
  }
  return fate;
}

}  // namespace memverify
