#include "tools/fuzz_features.h"

#include <algorithm>
#include <bit>

namespace memverify {
namespace {

template <typename Enum>
constexpr std::uint32_t bit_of(Enum value) {
  return std::uint32_t{1} << static_cast<std::uint32_t>(value);
}

std::uint32_t sync_of(const Plan& plan, const Wait& wait) {
  switch (wait.kind) {
    case WaitKind::kEvent:
      return bit_of(SyncWay::kEvent);
    case WaitKind::kSemaphore:
      if (plan.semaphores[wait.semaphore].timeline) return bit_of(SyncWay::kTimeline);
      return bit_of(wait.consume ? SyncWay::kConsuming : SyncWay::kCounting);
    case WaitKind::kPending:
      return bit_of(SyncWay::kPending);
    case WaitKind::kOutstanding:
      return bit_of(SyncWay::kOutstanding);
    case WaitKind::kQueue:
    case WaitKind::kAll:
      return bit_of(SyncWay::kHostWait);
  }
  return 0;
}

std::uint32_t sync_of(OpKind kind) {
  switch (kind) {
    case OpKind::kRecord:
      return bit_of(SyncWay::kRecord);
    case OpKind::kWait:
      return bit_of(SyncWay::kWait);
    case OpKind::kBarrier:
      return bit_of(SyncWay::kBarrier);
    case OpKind::kHostWait:
      return bit_of(SyncWay::kHostWait);
    case OpKind::kOp:
    case OpKind::kView:
    case OpKind::kAlloc:
    case OpKind::kFree:
    case OpKind::kUnknown:
      return 0;
  }
  return 0;
}

std::uint32_t alias_of(const Plan& plan, const Access& access) {
  std::uint32_t found = 0;
  if (access.part != Access::kWhole) found |= bit_of(AliasWay::kPart);
  if (access.distance > 0) found |= bit_of(AliasWay::kEarlier);
  if (access.kind == AccessKind::kAccumulate) found |= bit_of(AliasWay::kAccumulate);
  if (access.tensor == kNone<TensorId>) return found;
  const Tensor& tensor = plan.tensors[access.tensor];
  if (tensor.placement != TensorKind::kView) return found | bit_of(AliasWay::kPlain);
  const Tensor& root = plan.tensors[tensor.root];
  found |= bit_of(tensor.base == tensor.root ? AliasWay::kView : AliasWay::kDeepView);
  if (tensor.has_strides) found |= bit_of(AliasWay::kStrided);
  if (access.kind != AccessKind::kRead) return found | bit_of(AliasWay::kConcat);
  // Of fewer elements than the root, as far as the text tells.
  const auto shape = Plan::slice(plan.exprs, tensor.shape);
  const auto whole = Plan::slice(plan.exprs, root.shape);
  const auto elements = [](std::span<const Expr> sizes) {
    std::int64_t product = 1;
    for (const Expr& size : sizes) product *= size.is_constant() ? size.constant : 1;
    return product;
  };
  if (elements(shape) < elements(whole)) found |= bit_of(AliasWay::kSlice);
  return found;
}

constexpr std::array<std::string_view, kSyncWays> kSyncNames = {
    "queues", "after",    "event",   "record",    "wait",    "counting",
    "taken",  "timeline", "barrier", "host_wait", "pending", "outstanding"};
constexpr std::array<std::string_view, kAliasWays> kAliasNames = {
    "plain",  "view",     "deep view",  "slice", "strided",
    "concat", "in place", "accumulate", "part",  "earlier"};
constexpr std::array<std::string_view, kOutcomes> kOutcomeNames = {
    "safe",      "unsafe",  "unknown", "not planned", "refused",   "crashed",
    "timed out", "garbage", "changed", "killed",      "equivalent"};

std::string left(std::string_view text) {
  std::string padded(text);
  padded.resize(14, ' ');
  return padded;
}

std::string right(const std::string& text) {
  constexpr std::size_t kWidth = 13;
  return std::string(kWidth - std::min(kWidth - 1, text.size()), ' ') + text;
}

}  // namespace

std::string_view name(SyncWay way) { return kSyncNames[static_cast<std::size_t>(way)]; }
std::string_view name(AliasWay way) { return kAliasNames[static_cast<std::size_t>(way)]; }
std::string_view name(Outcome outcome) { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }

Wish wish_of(std::size_t cell) {
  return {.order = static_cast<QueueOrder>(cell / (kSyncWays * kAliasWays)),
          .sync = static_cast<SyncWay>(cell / kAliasWays % kSyncWays),
          .alias = static_cast<AliasWay>(cell % kAliasWays)};
}

Features features_of(const Plan& plan) {
  Features features;
  for (const Op& op : plan.ops) {
    if (op.queue != kNone<QueueId> && !op.accesses.empty()) {
      features.orders |= bit_of(plan.queues[op.queue].order);
    }
    if (!op.after.empty()) features.syncs |= bit_of(SyncWay::kAfter);
    if (!plan.in_place_of(op).empty()) features.aliases |= bit_of(AliasWay::kInPlace);
    features.syncs |= sync_of(op.kind);
    for (const Wait& wait : plan.waits_of(op)) features.syncs |= sync_of(plan, wait);
    for (const Access& access : plan.accesses_of(op)) features.aliases |= alias_of(plan, access);
  }
  if (features.syncs == 0) features.syncs = bit_of(SyncWay::kQueue);
  return features;
}

std::string describe(const CaseResult& result) {
  std::string text(name(result.outcome));
  const bool has_rule = result.outcome == Outcome::kUnsafe || result.outcome == Outcome::kKilled;
  if (has_rule) text += " " + std::string(info(result.rule).id);
  return text;
}

bool is_finding(Outcome outcome) {
  switch (outcome) {
    case Outcome::kUnsafe:
    case Outcome::kRefused:
    case Outcome::kCrashed:
    case Outcome::kTimedOut:
    case Outcome::kGarbage:
    case Outcome::kChanged:
      return true;
    case Outcome::kSafe:
    case Outcome::kUnknown:
    case Outcome::kNotPlanned:
    case Outcome::kKilled:
    case Outcome::kEquivalent:
      return false;
  }
  return false;
}

std::size_t Coverage::index_of(const CaseResult& result) {
  if (result.outcome == Outcome::kUnsafe) return kOutcomes + static_cast<std::size_t>(result.rule);
  return static_cast<std::size_t>(result.outcome);
}

CaseResult Coverage::result_of(std::size_t index) {
  if (index < kOutcomes) return {.outcome = static_cast<Outcome>(index)};
  return {.outcome = Outcome::kUnsafe, .rule = static_cast<Rule>(index - kOutcomes)};
}

void Coverage::add(const Features& features, const CaseResult& result) {
  const std::size_t to = index_of(result);
  for (std::uint32_t orders = features.orders; orders != 0; orders &= orders - 1) {
    const auto order = static_cast<std::size_t>(std::countr_zero(orders));
    for (std::uint32_t syncs = features.syncs; syncs != 0; syncs &= syncs - 1) {
      const auto sync = static_cast<std::size_t>(std::countr_zero(syncs));
      for (std::uint32_t aliases = features.aliases; aliases != 0; aliases &= aliases - 1) {
        const auto alias = static_cast<std::size_t>(std::countr_zero(aliases));
        ++counts_[(order * kSyncWays + sync) * kAliasWays + alias][to];
      }
    }
  }
}

std::uint64_t Coverage::count(std::size_t cell) const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts_[cell]) sum += count;
  return sum;
}

std::uint64_t Coverage::findings(std::size_t cell) const {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < kResults; ++k) {
    if (is_finding(result_of(k).outcome)) sum += counts_[cell][k];
  }
  return sum;
}

std::size_t Coverage::cells_seen() const {
  std::size_t seen = 0;
  for (std::size_t cell = 0; cell < kWishes; ++cell) seen += count(cell) > 0 ? 1 : 0;
  return seen;
}

void Coverage::merge(const Coverage& other) {
  for (std::size_t cell = 0; cell < kWishes; ++cell) {
    for (std::size_t k = 0; k < kResults; ++k) counts_[cell][k] += other.counts_[cell][k];
  }
}

std::string coverage_text(const Coverage& coverage) {
  std::string text;
  for (std::size_t order = 0; order < kQueueOrders; ++order) {
    text += left(name(static_cast<QueueOrder>(order)));
    for (const std::string_view alias : kAliasNames) text += right(std::string(alias));
    text += "\n";
    for (std::size_t sync = 0; sync < kSyncWays; ++sync) {
      text += left("  " + std::string(kSyncNames[sync]));
      for (std::size_t alias = 0; alias < kAliasWays; ++alias) {
        const std::size_t cell = (order * kSyncWays + sync) * kAliasWays + alias;
        const std::uint64_t bad = coverage.findings(cell);
        text += right(std::to_string(coverage.count(cell)) +
                      (bad > 0 ? "/" + std::to_string(bad) : std::string()));
      }
      text += "\n";
    }
  }
  for (std::size_t k = 0; k < Coverage::kResults; ++k) {
    const CaseResult result = Coverage::result_of(k);
    if (!is_finding(result.outcome)) continue;
    std::size_t cells = 0;
    for (std::size_t cell = 0; cell < kWishes; ++cell) cells += coverage.count(cell, k) > 0 ? 1 : 0;
    if (cells > 0) text += describe(result) + ": in " + std::to_string(cells) + " combinations\n";
  }
  return text;
}

}  // namespace memverify
