// verify/clock_threshold.cpp -- what a wait for "at least so much of these" orders.
//
// Problem: a wait starts once signals of total weight `need` have completed; which completions must
//   come before it, whichever signals those are?
// Idea: component by component. That the first k commands of a chain have completed is needed iff
//   the signals whose clocks stay below k do not reach `need`; so the component is the smallest
//   value at which the signals, taken in order of that component, reach it. On a serial queue later
//   signals need more of everything, so only the shortest sufficient prefix counts (timeline: the
//   first that reaches the value).
// Cost: O(signals log signals) a queue, and for chains that in the entries of the signals' clocks;
//   see join_outstanding for queues.
// Tested by tests/unit/verify/order_test.cpp against the definition.
#include <algorithm>
#include <limits>

#include "verify/clock_builder.h"

namespace memverify {
namespace {

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void ClockBuilder::group_signals() {
  signal_groups_.resize(plan_.semaphores.size());
  for (std::size_t s = 0; s < signal_groups_.size(); ++s) {
    std::vector<std::size_t> group_of(width_, width_);
    auto& groups = signal_groups_[s];
    groups.emplace_back();  // Group 0: everything that does not complete in order.
    for (const SignalInstance& signal : program_.signals[s]) {
      if (!walk_.completed[signal.cmd] || signal.value == 0) continue;
      const QueueId queue = program_.instances[signal.cmd].queue;
      if (queue == kNone<QueueId> || !completes_in_order(plan_.queues[queue].order)) {
        groups[0].signals.push_back(signal);
        continue;
      }
      std::size_t& group = group_of[index(queue)];
      if (group == width_) {
        group = groups.size();
        groups.push_back({true, {}});
      }
      groups[group].signals.push_back(signal);
    }
  }
}

bool ClockBuilder::counts(Cmd signal, Use use) const {
  return use == Use::kAll ? walk_.completed[signal] != 0 : pass_of_[signal] == pass_;
}

void ClockBuilder::join_threshold(const Threshold& threshold, Use use) {
  if (threshold.semaphore != kNone<SemaphoreId>) {
    join_semaphore(threshold, use);
  } else {
    join_outstanding(threshold, use);
  }
}

void ClockBuilder::join_semaphore(const Threshold& threshold, Use use) {
  const bool timeline = plan_.semaphores[threshold.semaphore].timeline;
  std::vector<Weighted> items;
  for (const SignalGroup& group : signal_groups_[index(threshold.semaphore)]) {
    std::int64_t sum = 0;
    for (const SignalInstance& signal : group.signals) {
      if (!counts(signal.cmd, use)) continue;
      if (timeline && signal.value < threshold.need) continue;
      items.push_back({stamp_of(signal.cmd), timeline ? 1 : signal.value});
      sum += signal.value;
      if (group.in_order && (timeline || sum >= threshold.need)) break;
    }
  }
  join_order_statistic(items, timeline ? 1 : threshold.need);
}

std::uint32_t ClockBuilder::value(const Stamp& stamp, std::size_t queue) const {
  const std::uint32_t joined = stamp.clocks->at(stamp.row, queue);
  return stamp.chain == queue ? std::max(joined, stamp.length) : joined;
}

std::uint32_t ClockBuilder::chain_value(const Stamp& stamp, std::uint32_t chain) const {
  const std::size_t queue = index(order_.chains_.queue(chain));
  const std::uint32_t joined =
      std::max(stamp.clocks->length(stamp.row, chain),
               order_.chains_.covered(chain, stamp.clocks->at(stamp.row, queue)));
  return stamp.chain == chain ? std::max(joined, stamp.length) : joined;
}

std::vector<std::uint32_t> ClockBuilder::chains_in(std::span<const Weighted> items) const {
  std::vector<std::uint32_t> chains;
  for (const Weighted& item : items) {
    item.stamp.clocks->for_each_length(
        item.stamp.row, [&](std::uint32_t chain, std::uint32_t) { chains.push_back(chain); });
    if (item.stamp.chain != kNoChain && !order_.chains_.is_queue(item.stamp.chain)) {
      chains.push_back(item.stamp.chain);
    }
  }
  std::ranges::sort(chains);
  chains.erase(std::unique(chains.begin(), chains.end()), chains.end());
  return chains;
}

void ClockBuilder::join_order_statistic(std::span<const Weighted> items, std::int64_t need) {
  if (items.size() == 1) {
    join(items.front().stamp);
    return;
  }
  std::vector<std::pair<std::uint32_t, std::int64_t>> values;
  const auto statistic = [&](auto&& value_of) {
    work_ += items.size();
    values.clear();
    for (const Weighted& item : items) values.emplace_back(value_of(item.stamp), item.weight);
    std::ranges::sort(values);
    std::int64_t sum = 0;
    for (const auto& [value, weight] : values) {
      sum += weight;
      if (sum >= need) return value;
    }
    return std::uint32_t{0};  // Not reached: the walk saw `need` satisfied.
  };
  thaw();
  for (std::size_t q = 0; q < width_; ++q) {
    dense_[q] = std::max(dense_[q], statistic([&](const Stamp& s) { return value(s, q); }));
  }
  // Few items say anything of a chain, unless they have joined prefixes of its queue.
  std::vector<std::uint8_t> joined(width_, 0);
  for (std::size_t q = 0; q < width_; ++q) {
    joined[q] = std::ranges::any_of(
        items, [&](const Weighted& item) { return item.stamp.clocks->at(item.stamp.row, q) != 0; });
  }
  std::vector<Voice> voices = voices_of(items);
  work_ += voices.size();
  std::int64_t total = 0;
  for (const Weighted& item : items) total += item.weight;
  for (auto voice = voices.begin(); voice != voices.end();) {
    const std::uint32_t chain = voice->chain;
    const auto end =
        std::find_if(voice, voices.end(), [&](const Voice& other) { return other.chain != chain; });
    if (joined[index(order_.chains_.queue(chain))] != 0) {
      raise(chain, statistic([&](const Stamp& s) { return chain_value(s, chain); }));
    } else {
      std::int64_t sum = total;  // Of the items that do not need the chain, to begin with.
      for (auto each = voice; each != end; ++each) sum -= each->weight;
      std::uint32_t length = 0;
      for (auto each = voice; each != end && sum < need; ++each) {
        sum += each->weight;
        length = each->length;
      }
      raise(chain, length);
    }
    voice = end;
  }
}

/// What the items' own lists say of chains, by chain and length.
std::vector<ClockBuilder::Voice> ClockBuilder::voices_of(std::span<const Weighted> items) const {
  std::vector<Voice> voices;
  for (const Weighted& item : items) {
    const Stamp& stamp = item.stamp;
    stamp.clocks->for_each_length(stamp.row, [&](std::uint32_t chain, std::uint32_t length) {
      if (chain != stamp.chain) voices.push_back({chain, length, item.weight});
    });
    if (stamp.chain != kNoChain && !order_.chains_.is_queue(stamp.chain)) {
      voices.push_back({stamp.chain, chain_value(stamp, stamp.chain), item.weight});
    }
  }
  std::ranges::sort(voices, {}, [](const Voice& v) { return std::pair(v.chain, v.length); });
  return voices;
}

// At most `missing` of the first `ops` ops of an issue or none queue are incomplete. The k-th
// command of a chain must have completed iff more than `missing` ops need that. On an issue queue
// what a start needs grows with program order, so for every other chain the last missing + 1 ops
// decide. For the chains of the queue itself an earlier op also "needs" its own completion: one
// voice more.
void ClockBuilder::join_outstanding(const Threshold& threshold, Use use) {
  const auto& ops = program_.ops_of(threshold.queue);
  const std::size_t own = index(threshold.queue);
  std::vector<Weighted> items;
  if (plan_.queues[threshold.queue].order == QueueOrder::kNone) {
    for (std::uint32_t k = 0; k < threshold.ops; ++k) {
      if (counts(ops[k], use)) items.push_back({stamp_of(ops[k]), 1});
    }
    join_order_statistic(items, threshold.need);
    return;
  }
  // Those that this pass may not count on never complete, so they need everything.
  const auto first = static_cast<std::uint32_t>(threshold.need - 1);
  for (std::uint32_t k = first; k < threshold.ops; ++k) {
    if (counts(ops[k], use)) items.push_back({stamp_of(ops[k]), 1});
  }
  const auto lowest_two = [&](auto&& value_of) {
    std::uint32_t low = kNever;
    std::uint32_t second = kNever;
    for (const Weighted& item : items) {
      const std::uint32_t value = value_of(item.stamp);
      second = std::min(second, std::max(low, value));
      low = std::min(low, value);
    }
    return std::pair(low, second);
  };
  thaw();
  for (std::size_t q = 0; q < width_; ++q) {
    const auto [low, second] = lowest_two([&](const Stamp& s) { return value(s, q); });
    const std::uint32_t needed = q == own ? std::max(low, std::min(second, first)) : low;
    dense_[q] = std::max(dense_[q], needed);
  }
  for (std::uint32_t chain : chains_in(items)) {
    const auto [low, second] = lowest_two([&](const Stamp& s) { return chain_value(s, chain); });
    const bool is_own = index(order_.chains_.queue(chain)) == own;
    const std::uint32_t earlier = is_own ? order_.chains_.covered(chain, first) : 0;
    raise(chain, std::max(low, std::min(second, earlier)));
  }
}

}  // namespace memverify
