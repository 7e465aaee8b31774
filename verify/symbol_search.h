// verify/symbol_search.h -- deciding a plan for all values of its symbols.
//
// Problem: symbols have too many values to go through, or no bound at all.
// Idea: decide the plan for the least values; write down for which other values the answer must be
//   the same (verify/symbol_alike.h); ask a solver for the least values outside of all classes so
//   far; decide those; and so on. When there are none left, every value has been decided. Values
//   come in ascending (lexicographic) order, so the first that show a finding are the least that
//   do.
// Cost: one decision of the plan and some log(value) solver queries per class. The classes are at
//   most as many as the comparisons between sizes and offsets have outcomes; usually a few.
// Reference: Clarke, Grumberg, Jha, Lu, Veith, "Counterexample-guided abstraction refinement",
// 2003. Tested by tests/unit/verify/symbol_search_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "plan/finding.h"
#include "plan/plan.h"
#include "verify/smt_solver.h"

namespace memverify {

struct SymbolOptions {
  std::size_t max_findings = 100;            ///< >= 1.
  std::size_t max_classes = 1000;            ///< Values of the symbols that are decided.
  std::uint64_t max_instances = 50'000'000;  ///< Command instances, over all decisions.
  double max_seconds = 0;  ///< Of wall time, looked at between decisions; 0: no limit.
  smt::Limits limits = {.query_steps = 20'000'000, .total_steps = 2'000'000'000};
};

/// Decides a plan whose symbols have one value each.
using DecideOne = std::function<EngineResult(const Plan& plan)>;

/// True iff the symbols that something in the plan depends on have more than `most` values.
bool has_more_values(const Plan& plan, std::uint64_t most);

/// The verdict over all values of the symbols. `decide` is asked for some; where it is exact, so is
/// the result. What cannot be finished is MV201 naming the limit, and the expression if one is to
/// blame. A symbol without `max` ranges over all values for which sizes and addresses stay below
/// 2^62 bytes. All tensors must be placed.
EngineResult verify_all_symbols(const Plan& plan, const SymbolOptions& options,
                                const DecideOne& decide);

}  // namespace memverify
