// verify/certificate_cases.h -- the cases that a plan must be safe in, enumerated by the checker:
// every value of the symbols that a formula uses, every value of the conditions that a `when` uses
// (one per iteration unless it is per run), and numbers of iterations that show what all show (of a
// plan that is unbounded or runs long; docs/certificate.md says why). Conditions change fastest,
// then symbols; the first of each faster than the last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "verify/certificate_model.h"

namespace memverify::cert {

struct CaseValues {
  Valuation valuation;
  Booleans conditions;
  std::vector<std::int64_t> symbol_values, condition_values;  ///< Of the used ones.
};

class Cases {
 public:
  explicit Cases(const Plan& plan);
  /// "" or why the plan's cases cannot be enumerated; then `count` is 0.
  const std::string& refused() const { return refused_; }
  std::uint64_t count() const { return lengths_.size() * symbol_cases_ * condition_cases_; }
  std::uint64_t condition_cases() const { return condition_cases_; }
  CaseValues at(std::uint64_t k) const;

 private:
  struct Axis {
    SymbolId symbol;
    std::int64_t first, step;
    std::uint64_t count;
  };
  struct Boolean {
    ConditionId condition;
    std::uint32_t iteration;
    bool per_run;  ///< In all iterations.
  };
  void choose_lengths();
  const Plan& plan_;
  std::string refused_;
  std::vector<std::uint32_t> lengths_;  ///< Numbers of iterations.
  Valuation least_;
  std::vector<Axis> axes_;
  std::vector<Boolean> booleans_;
  std::uint64_t symbol_cases_ = 1, condition_cases_ = 1;
};

}  // namespace memverify::cert
