// tools/plan_advice.h -- what to change about a graph that does not fit its pools.
//
// Nothing is guessed: every piece of advice was planned, verified and found to fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/json_text.h"
#include "tools/allowance.h"
#include "tools/planning.h"

namespace memverify {

/// One change after which everything fits.
struct Advice {
  enum class Kind : std::uint8_t { kPool, kSlots, kBranches, kSymbol };
  Kind kind = Kind::kPool;
  PoolId pool = kNone<PoolId>;        ///< kPool: to be allowed as well,
  std::vector<TensorId> tensors;      ///< … for these,
  std::vector<PoolId> option;         ///< … by --pool; empty: by what the graph says of them.
  std::int64_t slots = 0;             ///< kSlots: the most that fit.
  SymbolId symbol = kNone<SymbolId>;  ///< kSymbol: may be at most …
  std::int64_t max = 0;               ///< … this, the greatest value found that fits.
  std::vector<std::pair<PoolId, std::int64_t>> peaks;  ///< Of the pools that are then in use.
};

struct AdviceFound {
  std::vector<Advice> fits;
  std::vector<std::string> in_vain;  ///< What was tried and does not help, in words.
  bool stopped = false;              ///< By time; more may fit.
};

/// `planned` does not fit. Takes what is left of the allowance, besides proofs. `may_edit`: the
/// pools that tensors name may be others; false of a graph that an importer made.
AdviceFound find_advice(const std::string& file, const Plan& graph, const PlanGraphOptions& how,
                        const PlannedGraph& planned, const Allowance& allowance, bool may_edit);

/// True iff some pool has a capacity, of the graph or of the options.
bool may_not_fit(const Plan& graph, const PlanGraphOptions& how);

/// The slots that the marked tensors get; 1: none rotates, or they already have no more.
std::int64_t most_slots(const Plan& graph, const PlanGraphOptions& how);

/// The greatest number of slots below that with which everything fits.
struct FewerSlots {
  std::int64_t slots = 0;
  Planning planning;
};
std::optional<FewerSlots> find_fewer_slots(const std::string& file, const Plan& graph,
                                           const PlanGraphOptions& how, const Allowance& allowance);

/// `graph` with `symbol` at most `max`, which it admits.
Plan with_symbol_max(Plan graph, SymbolId symbol, std::int64_t max);

std::string advice_text(const Plan& graph, const AdviceFound& advice);
/// The member `advice` of an object that is open.
void add_advice(JsonText& json, const Plan& graph, const AdviceFound& advice);

}  // namespace memverify
