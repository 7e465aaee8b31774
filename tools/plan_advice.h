// tools/plan_advice.h -- what to change about a graph that does not fit its pools.
//
// Nothing is guessed: every piece of advice was planned, verified and found to fit.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/json_text.h"
#include "tools/planning.h"

namespace memverify {

/// Time that several attempts share.
class Allowance {
 public:
  explicit Allowance(double seconds)
      : end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(std::min(seconds, 1e9)))) {}
  double left() const {
    return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
  }
  bool is_over() const { return left() <= 0; }
  /// `how`, with a quarter of what is left.
  PlanGraphOptions next(const PlanGraphOptions& how) const;

 private:
  std::chrono::steady_clock::time_point end_;
};

/// One change after which everything fits.
struct Advice {
  enum class Kind : std::uint8_t { kPool, kSlots, kBranches, kSymbol };
  Kind kind = Kind::kPool;
  PoolId pool = kNone<PoolId>;        ///< kPool: to be allowed as well,
  std::vector<TensorId> tensors;      ///< … for these.
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

/// `planned` does not fit. Takes about `how.strategy.max_seconds` once more, besides proofs.
AdviceFound find_advice(const std::string& file, const Plan& graph, const PlanGraphOptions& how,
                        const PlannedGraph& planned);

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
