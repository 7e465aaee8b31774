#include "sim/clash.h"

#include <algorithm>
#include <tuple>

namespace memverify::sim {
namespace {

Region region_of(const Setting& setting, const Access& access, std::int64_t iteration) {
  return setting.layout.access_region(setting.plan, access,
                                      iteration - std::int64_t{access.distance});
}

}  // namespace

std::optional<Rule> conflict_rule(AccessKind first, AccessKind second, bool commuting) {
  const bool first_writes = first != AccessKind::kRead;
  const bool second_writes = second != AccessKind::kRead;
  if (first == AccessKind::kAccumulate && second == AccessKind::kAccumulate && commuting) {
    return std::nullopt;
  }
  if (first_writes) return second_writes ? Rule::kWaw : Rule::kRaw;
  if (second_writes) return Rule::kWar;
  return std::nullopt;
}

std::vector<Clash> find_clashes(const Setting& setting, CommandId first, CommandId second) {
  const Plan& plan = setting.plan;
  const Command& a = setting.program.commands[first];
  const Command& b = setting.program.commands[second];
  std::vector<Clash> clashes;
  if (a.passed || b.passed) return clashes;
  for (const Access& x : plan.accesses_of(plan.ops[a.op])) {
    for (const Access& y : plan.accesses_of(plan.ops[b.op])) {
      const auto dtype = [&](const Access& access) {
        return access.tensor == kNone<TensorId> ? DType::kNone : plan.tensors[access.tensor].dtype;
      };
      const bool commuting = x.update == y.update && dtype(x) == dtype(y);
      const auto rule = conflict_rule(x.kind, y.kind, commuting);
      if (!rule) continue;
      Clash clash{.rule = *rule,
                  .first_tensor = x.tensor,
                  .second_tensor = y.tensor,
                  .first = region_of(setting, x, a.iteration),
                  .second = region_of(setting, y, b.iteration)};
      if (clash.first.empty() || clash.second.empty() ||
          clash.first.pool() != clash.second.pool()) {
        continue;
      }
      clash.bytes = clash.first.first_overlap(clash.second);
      if (!clash.bytes.empty()) clashes.push_back(std::move(clash));
    }
  }
  std::ranges::stable_sort(clashes, {}, [](const Clash& clash) {
    return std::tuple(clash.rule, clash.first.pool(), clash.bytes.begin, clash.bytes.end);
  });
  return clashes;
}

}  // namespace memverify::sim
