// cuda_check/settled.h -- what a plan leaves open, settled: a device runs one case at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace memverify::device {

/// The values of all conditions; all false at first.
class Conditions {
 public:
  Conditions() = default;
  Conditions(const Plan& plan, std::int64_t iterations);

  bool get(ConditionId condition, std::int64_t iteration) const {
    const std::vector<bool>& values = values_[index(condition)];
    return values[values.size() == 1 ? 0 : static_cast<std::size_t>(iteration)];
  }
  void set(ConditionId condition, std::int64_t iteration, bool value) {
    std::vector<bool>& values = values_[index(condition)];
    values[values.size() == 1 ? 0 : static_cast<std::size_t>(iteration)] = value;
  }
  bool operator==(const Conditions&) const = default;
  auto operator<=>(const Conditions&) const = default;

 private:
  std::vector<std::vector<bool>> values_;  ///< By condition; one for a condition `per` run.
};

/// One way to settle a plan.
struct Settled {
  Valuation symbols;            ///< A value for every symbol.
  std::int64_t iterations = 1;  ///< How often the program runs, >= 1: when `last` ops run.
  std::int64_t unrolled = 1;    ///< Iterations that are submitted: [0, unrolled).
  Conditions conditions;        ///< For `iterations` iterations.
};

/// Command instances that a device takes on.
inline constexpr std::int64_t kMaxCommands = 20'000;

/// The greatest value that `symbol` admits, the least one where it has no `max`.
std::int64_t greatest_value(const Symbol& symbol);

/// How often a plan is run when nobody says: as often as it says itself; an unbounded one four
/// times and twice around its slots; never more than fits in kMaxCommands, and at least once.
std::int64_t default_iterations(const Plan& plan);

/// Every symbol at its greatest value, every condition false.
Settled settle(const Plan& plan, std::int64_t iterations);

/// True iff no such command is submitted in `iteration` ([S-8]).
bool is_dropped(const Plan& plan, const Settled& settled, OpId op, std::int64_t iteration);
/// True iff every term of its `when` holds.
bool holds(const Plan& plan, const Settled& settled, OpId op, std::int64_t iteration);

}  // namespace memverify::device
