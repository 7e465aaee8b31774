// verify/cases.h -- the cases a plan is decided in: values of its symbols and of its conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"
#include "verify/program.h"

namespace memverify {

/// All valuations of the symbols that some formula uses (the others have their least value).
class SymbolCases {
 public:
  explicit SymbolCases(const Plan& plan);
  /// Number of valuations; nullopt if some symbol has no bound or there are more than 2^40.
  std::optional<std::uint64_t> count() const;
  /// A used symbol without `max`, if any.
  SymbolId unbounded() const;
  Valuation at(std::uint64_t k) const;
  /// The valuations to look at when there are too many: least and greatest values of every symbol.
  std::vector<Valuation> corners() const;
  /// The values of the used symbols, for findings.
  std::vector<SymbolValue> values(const Valuation& valuation) const;

 private:
  struct Axis {
    SymbolId symbol = kNone<SymbolId>;
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::optional<std::uint64_t> count;  ///< At least 1; nullopt: no bound.
    /// Value number `k`; unsigned, for the way from the least to the greatest may be 2^64 - 1 long.
    std::int64_t value(std::uint64_t k) const {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                       static_cast<std::uint64_t>(step) * k);
    }
  };
  Valuation least_;
  std::vector<Axis> axes_;
};

/// All assignments of the conditions that some `when` uses.
class ConditionCases {
 public:
  ConditionCases(const Plan& plan, std::uint32_t iterations);
  /// Independent booleans: one per condition, per iteration unless it is per run.
  std::uint64_t booleans() const { return booleans_.size(); }
  /// The assignment whose bits are `k`; booleans from 64 on are false.
  ConditionCase at(std::uint64_t k) const;
  std::vector<ConditionValue> values(const ConditionCase& c) const;

 private:
  struct Boolean {
    ConditionId condition;
    std::int64_t iteration;  ///< -1: of all.
  };
  const Plan& plan_;
  std::uint32_t iterations_;
  std::vector<Boolean> booleans_;
};

/// Iterations after which an unbounded plan has shown every way its iterations meet, as far as
/// rotating storages and distances go: a fault within them is a fault of the plan. At most `limit`.
std::uint32_t sample_iterations(const Plan& plan, std::uint32_t limit);

}  // namespace memverify
