#include "verify/repair.h"

#include "plan/words.h"
#include "verify/repair_waits.h"
#include "verify/verify.h"

namespace memverify {

std::string_view name(Repair::Kind kind) {
  switch (kind) {
    case Repair::Kind::kWait:
      return "wait";
    case Repair::Kind::kMove:
      return "move";
    case Repair::Kind::kOrder:
      return "order";
    case Repair::Kind::kCopy:
      return "copy";
  }
  return "";
}

EngineResult decide(const Plan& plan, const RepairOptions& options, std::size_t& verifications) {
  ++verifications;
  return options.decide ? options.decide(plan) : verify_happens_before(plan, {});
}

RepairSearch repair_by_waiting(const Plan& plan, const RepairOptions& options) {
  WaitRepair waits = repair_by_waits(plan, options);
  RepairSearch result{.is_exact = waits.is_exact,
                      .why_not = std::move(waits.why_not),
                      .verifications = waits.verifications};
  for (const std::vector<AddedWait>& set : waits.sets) {
    Repair& repair = result.found.emplace_back();
    repair.kind = Repair::Kind::kWait;
    repair.plan = with_waits(plan, set);
    repair.added_waits = static_cast<std::int64_t>(set.size());
    for (const AddedWait& wait : set) repair.changes.push_back(describe(plan, wait));
  }
  return result;
}

}  // namespace memverify
