// tools/fuzz_features.h -- what a graph or plan makes a planner think about, and what was tried.
//
// Coverage counts cases by (queue order × sync kind × alias kind × outcome): a case counts for each
// combination of what it has. The generator is asked for what was seen least.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// How a plan orders commands of different queues.
enum class SyncWay : std::uint8_t {
  kQueue,  ///< Only the queues themselves.
  kAfter,
  kEvent,      ///< An event, signalled by an op and waited for by one.
  kRecord,     ///< A record command.
  kWait,       ///< A wait command.
  kCounting,   ///< Counts that nobody takes.
  kConsuming,  ///< Counts that are taken.
  kTimeline,
  kBarrier,
  kHostWait,
  kPending,
  kOutstanding,
};
inline constexpr std::size_t kSyncWays = 12;
std::string_view name(SyncWay way);

/// How ops and tensors share bytes by design.
enum class AliasWay : std::uint8_t {
  kPlain,     ///< Roots, whole.
  kView,      ///< A view of a root.
  kDeepView,  ///< A view of a view.
  kSlice,     ///< A read through a view of some of the bytes.
  kStrided,   ///< A view with strides.
  kConcat,    ///< A write through a view.
  kInPlace,
  kAccumulate,
  kPart,     ///< An access to a part of a tensor.
  kEarlier,  ///< An access to the tensor of an iteration before.
};
inline constexpr std::size_t kAliasWays = 10;
std::string_view name(AliasWay way);

inline constexpr std::size_t kQueueOrders = 4;

/// A combination that a generator can be asked for.
struct Wish {
  QueueOrder order = QueueOrder::kSerial;
  SyncWay sync = SyncWay::kQueue;
  AliasWay alias = AliasWay::kPlain;
};
inline constexpr std::size_t kWishes = kQueueOrders * kSyncWays * kAliasWays;
Wish wish_of(std::size_t cell);  ///< cell < kWishes.

/// Sets, a bit for each enumerator.
struct Features {
  std::uint32_t orders = 0;
  std::uint32_t syncs = 0;
  std::uint32_t aliases = 0;
};
/// Cost: linear in the plan.
Features features_of(const Plan& plan);

/// What became of a case; the bytes of the database, so append only.
enum class Outcome : std::uint8_t {
  kSafe,
  kUnsafe,      ///< The plan has an error.
  kUnknown,     ///< No engine decides the plan.
  kNotPlanned,  ///< The graph is not safe wherever its tensors lie: no planner was asked.
  kRefused,
  kCrashed,
  kTimedOut,
  kGarbage,  ///< What came back is no plan.
  kChanged,  ///< What came back is a plan of another graph.
  kKilled,   ///< A mutant that is unsafe.
  kEquivalent,
};
inline constexpr std::size_t kOutcomes = 11;
std::string_view name(Outcome outcome);

/// An outcome, with the rule of the finding where there is one.
struct CaseResult {
  Outcome outcome = Outcome::kSafe;
  Rule rule = Rule::kNotProven;  ///< Of kUnsafe and kKilled alone.
  bool operator==(const CaseResult&) const = default;
};
/// "unsafe MV101".
std::string describe(const CaseResult& result);
/// Something that a planner, or a checker, should not let happen.
bool is_finding(Outcome outcome);

/// How many cases had what, by cell of `wish_of`, then result.
class Coverage {
 public:
  static constexpr std::size_t kResults = kOutcomes + 16;
  static std::size_t index_of(const CaseResult& result);
  static CaseResult result_of(std::size_t index);  ///< The inverse.

  void add(const Features& features, const CaseResult& result);
  void add(std::size_t cell, std::size_t result, std::uint64_t times) {
    counts_[cell][result] += times;
  }
  std::uint64_t count(std::size_t cell, std::size_t result) const { return counts_[cell][result]; }
  std::uint64_t count(std::size_t cell) const;
  std::uint64_t findings(std::size_t cell) const;
  std::size_t cells_seen() const;
  void merge(const Coverage& other);

 private:
  std::array<std::array<std::uint64_t, kResults>, kWishes> counts_{};
};

/// For each queue order a table of sync kinds (rows) and alias kinds: cases, and after a slash
/// those with a finding. Then, for each rule or kind of finding, how many combinations have shown
/// it.
std::string coverage_text(const Coverage& coverage);

}  // namespace memverify
