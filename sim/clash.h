// sim/clash.h -- in which ways two commands conflict, access by access ([S-40]).
#pragma once

#include <optional>
#include <vector>

#include "plan/finding.h"
#include "sim/bytes.h"

namespace memverify::sim {

/// Two accesses of different commands that share a byte and do not commute.
struct Clash {
  Rule rule = Rule::kWaw;                   ///< MV101-103, by the roles in program order.
  TensorId first_tensor = kNone<TensorId>;  ///< kNone for a pool's bytes.
  TensorId second_tensor = kNone<TensorId>;
  Region first;
  Region second;
  ByteRange bytes;  ///< First range of bytes that lie in both.
};

/// All of them, by rule, then by pool and bytes. `first` is before `second` in program order;
/// neither is an unknown command. Cost: the product of their accesses.
std::vector<Clash> find_clashes(const Setting& setting, CommandId first, CommandId second);

/// The rule by which an access of kind `first` conflicts with a later one (in program order) of
/// kind `second` on bytes they share; nullopt when they do not. Two accumulates conflict unless
/// `commuting`.
std::optional<Rule> conflict_rule(AccessKind first, AccessKind second, bool commuting);

}  // namespace memverify::sim
