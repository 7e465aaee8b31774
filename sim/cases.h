// sim/cases.h -- the ways to settle what a plan leaves open, one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/program.h"
#include "sim/simulate.h"

namespace memverify::sim {

/// All combinations of symbol values and condition values, symbols in the outer loop. When they are
/// more than the options allow, or a symbol has no bound, only the corners: every symbol least and
/// greatest (or the first few), all conditions false or all true; none at all of a plan with more
/// than 10^6 iterations.
class Cases {
 public:
  Cases(const Plan& plan, const SimOptions& options);

  /// Numbers of symbol valuations, and of condition assignments for each.
  std::uint64_t valuations() const { return valuations_; }
  std::uint64_t assignments() const { return assignments_; }
  Valuation valuation(std::uint64_t number) const;
  Case settled(std::uint64_t valuation, std::uint64_t assignment) const;

  /// "" when nothing is left out; else what is, as a sentence's end: "symbol `n` has no `max`".
  const std::string& left_out() const { return left_out_; }

 private:
  void list_symbols(const SimOptions& options);
  void list_conditions(const SimOptions& options);
  void bound(std::uint64_t max_cases);

  const Plan& plan_;
  std::int64_t iterations_ = 1;
  std::vector<std::vector<std::int64_t>> values_;  ///< By symbol: what it takes.
  ConditionValues given_;
  std::vector<std::pair<ConditionId, std::int64_t>> open_;  ///< (condition, iteration)
  bool together_ = false;  ///< All open conditions have the same value.
  std::uint64_t valuations_ = 1;
  std::uint64_t assignments_ = 1;
  std::string left_out_;
};

/// The values of a case in the words of a Finding.
std::vector<ConditionValue> conditions_of(const Plan& plan, const Case& settled);
std::vector<SymbolValue> symbols_of(const Plan& plan, const Case& settled);

}  // namespace memverify::sim
