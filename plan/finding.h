// plan/finding.h -- the vocabulary of results: rule, step, finding, verdict (docs/semantics.md).
//
// Every engine speaks in these words; how they are printed is for tools/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "plan/region.h"

namespace memverify {

enum class Rule : std::uint8_t {
  kWar,            ///< MV101
  kRaw,            ///< MV102
  kWaw,            ///< MV103
  kWrongVersion,   ///< MV104
  kUnwritten,      ///< MV105
  kBoundary,       ///< MV106
  kInPlace,        ///< MV107
  kOutOfBounds,    ///< MV108
  kMisaligned,     ///< MV109
  kCapacity,       ///< MV110
  kDeadlock,       ///< MV111
  kLifetime,       ///< MV112
  kIncoherent,     ///< MV113
  kNotProven,      ///< MV201
  kWarning,        ///< MV301
};

enum class Severity : std::uint8_t { kError, kNotProven, kWarning };
std::string_view name(Severity severity);  ///< "error", "not proven", "warning".

/// What a rule is, for every output format and for `memverify explain`.
struct RuleInfo {
  Rule rule;
  std::string_view id;     ///< "MV101"
  std::string_view title;  ///< "reuse before the last read"
  std::string_view summary;
  Severity severity;
};
const RuleInfo& info(Rule rule);
/// By id ("MV101", any case); nullptr when there is none.
const RuleInfo* find_rule(std::string_view id);
std::vector<Rule> all_rules();

/// One instant of one command instance.
struct Step {
  bool complete = false;  ///< Otherwise the start.
  OpId op = kNone<OpId>;
  std::int64_t iteration = 0;
  bool operator==(const Step&) const = default;
};

/// The value of a condition in a run. `iteration` is -1 when there is one value for all.
struct ConditionValue {
  ConditionId condition = kNone<ConditionId>;
  std::int64_t iteration = -1;
  bool value = false;
  bool operator==(const ConditionValue&) const = default;
};

/// The value of a symbol in a run.
struct SymbolValue {
  SymbolId symbol = kNone<SymbolId>;
  std::int64_t value = 0;
  bool operator==(const SymbolValue&) const = default;
};

/// One fault. Which ids are filled for which rule: docs/semantics.md, "Findings".
struct Finding {
  Rule rule = Rule::kNotProven;
  std::vector<Rule> also;            ///< Other ways in which the same pair clashes, ascending.
  std::vector<OpId> ops;             ///< In program order for pairs.
  std::vector<TensorId> tensors;     ///< What each op accesses, in the order of `ops`.
  std::vector<StorageId> storages;   ///< Of those tensors.
  PoolId pool = kNone<PoolId>;
  ByteRange bytes;                   ///< First clashing range in the pool.
  std::vector<TensorId> alias_chain; ///< From the (first) accessed tensor to its root.
  std::vector<std::int64_t> iteration;  ///< Of each op.
  std::vector<ConditionValue> when;  ///< The condition values of the run; empty: any.
  std::vector<SymbolValue> symbols;
  /// Shown to hold for all symbol values in which each of these has at least this value; empty: not
  /// looked into.
  std::vector<SymbolValue> symbols_at_least;
  std::string message;               ///< One or two sentences that name everything.
  std::string help;                  ///< One line: the cheapest fix.
  std::vector<Step> witness;         ///< A minimal run that shows it; empty where none applies.
  EventId event = kNone<EventId>;          ///< The sync at fault, if any.
  SemaphoreId semaphore = kNone<SemaphoreId>;
  QueueId queue = kNone<QueueId>;
  OpId expected = kNone<OpId>;             ///< MV104, MV106: whose bytes should be found there;
  std::int64_t expected_iteration = 0;     ///< kNone: not known, or
  bool expected_initial = false;           ///< the initial value.
};

enum class Verdict : std::uint8_t { kSafe, kUnsafe, kUnknown };
std::string_view name(Verdict verdict);  ///< "safe", "unsafe", "unknown".

/// How much an engine looked at.
struct VerifyStats {
  std::uint64_t ops = 0;            ///< Runtime command instances looked at.
  std::uint64_t pairs_checked = 0;  ///< Conflicting pairs whose order was looked up.
};

/// What an engine found out. `findings` is sorted by rule, then ops.
struct EngineResult {
  Verdict verdict = Verdict::kUnknown;
  std::vector<Finding> findings;
  bool stopped_at_max_findings = false;
  VerifyStats stats;
};

/// MV101 to MV103.
constexpr bool is_race(Rule rule) {
  return rule == Rule::kWar || rule == Rule::kRaw || rule == Rule::kWaw;
}

/// Unsafe if a finding is an error, else unknown if one is not proven, else safe.
Verdict verdict_of(const std::vector<Finding>& findings);

}  // namespace memverify
