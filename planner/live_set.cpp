#include "planner/live_set.h"

#include <algorithm>
#include <utility>

#include "planner/state_network.h"

namespace memverify {
namespace {

constexpr std::size_t kMostLaggards = 16;

/// Which instants begin and end a value.
struct Life {
  std::uint32_t value = 0;
  std::vector<std::uint32_t> begins;  ///< Alive once one is over; empty: from the beginning.
  std::vector<std::uint32_t> ends;    ///< And until all are; empty: to the end.
  std::size_t choices() const {
    return std::max<std::size_t>(begins.size(), 1) * std::max<std::size_t>(ends.size(), 1);
  }
};

class LiveSetSearch {
 public:
  LiveSetSearch(const Program& program, const Walk& walk, const LiveValues& live,
                std::span<const std::int64_t> weights, const SharingPairs& sharing,
                LiveSetWork& work)
      : program_(program), walk_(walk), live_(live), weights_(weights), work_(work) {
    std::vector<std::vector<Cmd>> taken_over(live.values.size());  // By value: ops that may do it.
    for (const auto& [a, b] : sharing) {
      const auto firsts = live.firsts(live.values[b]);
      taken_over[a].insert(taken_over[a].end(), firsts.begin(), firsts.end());
    }
    for (std::uint32_t v = 0; v < live.values.size(); ++v) {
      if (weights[v] > 0) add_life(v, taken_over[v]);
    }
  }

  LiveSet run() {
    consider(best_of_walk());
    for (const Life& life : lives_) found_.at_most += weights_[life.value];
    if (found_.bytes < found_.at_most && may_cut(1)) {
      const std::optional<StateNetwork> network = StateNetwork::make(program_);
      if (network) cut(*network);
    }
    for (const Life& life : lives_) {
      if (is_alive(life, best_)) found_.members.push_back(life.value);
    }
    return std::move(found_);
  }

 private:
  void cut(const StateNetwork& network) {
    picks_.assign(lives_.size(), 0);
    if (may_cut(count_picks())) {
      do {
        consider(best_for_picks(network));
      } while (next_picks());
      found_.at_most = found_.bytes;
      return;
    }
    climb(network, best_);
    const std::size_t queues = std::min(program_.plan->queues.size(), kMostLaggards);
    for (std::size_t q = 0; q < queues && may_cut(1); ++q) {
      lag_behind(QueueId{static_cast<std::uint32_t>(q)});
      climb(network, best_for_picks(network));
    }
  }

  void consider(const std::vector<std::uint8_t>& state) {
    const std::int64_t bytes = bytes_in(state);
    if (bytes <= found_.bytes && !best_.empty()) return;
    found_.bytes = bytes;
    best_ = state;
  }

  void add_life(std::uint32_t v, const std::vector<Cmd>& taken_over) {
    const LiveValue& value = live_.values[v];
    Life life{.value = v};
    if (!value.from_start) {
      for (const Cmd cmd : live_.firsts(value)) life.begins.push_back(StateNetwork::start(cmd));
      if (life.begins.empty()) return;
    }
    if (!value.to_end) {
      for (const Cmd cmd : live_.lasts(value)) {
        const bool early = std::ranges::find(taken_over, cmd) != taken_over.end();
        life.ends.push_back(early ? StateNetwork::start(cmd) : StateNetwork::completion(cmd));
      }
      if (life.ends.empty()) return;
    }
    lives_.push_back(std::move(life));
  }

  bool is_alive(const Life& life, const std::vector<std::uint8_t>& state) const {
    const auto is_over = [&](std::uint32_t instant) { return state[instant] != 0; };
    return (life.begins.empty() || std::ranges::any_of(life.begins, is_over)) &&
           (life.ends.empty() || !std::ranges::all_of(life.ends, is_over));
  }

  std::int64_t bytes_in(const std::vector<std::uint8_t>& state) const {
    std::int64_t bytes = 0;
    for (const Life& life : lives_) {
      if (is_alive(life, state)) bytes += weights_[life.value];
    }
    return bytes;
  }

  std::uint32_t time_of(std::uint32_t instant) const {
    return instant % 2 == 0 ? walk_.started[instant / 2] : walk_.completed[instant / 2];
  }

  /// The state of the walk in which most is alive.
  std::vector<std::uint8_t> best_of_walk() const {
    std::vector<std::pair<std::uint32_t, std::int64_t>> changes;  // (Time, bytes); ends come first.
    for (const Life& life : lives_) {
      std::uint32_t begin = life.begins.empty() ? 0 : 0xFFFFFFFFU;
      for (const std::uint32_t instant : life.begins) begin = std::min(begin, time_of(instant));
      changes.emplace_back(begin, weights_[life.value]);
      std::uint32_t end = 0;
      for (const std::uint32_t instant : life.ends) end = std::max(end, time_of(instant));
      if (!life.ends.empty()) changes.emplace_back(end, -weights_[life.value]);
    }
    std::ranges::sort(changes);
    std::int64_t alive = 0;
    std::int64_t most = 0;
    std::uint32_t at = 0;
    for (const auto& [time, bytes] : changes) {
      alive += bytes;
      if (alive <= most) continue;
      most = alive;
      at = time;
    }
    std::vector<std::uint8_t> state(2 * program_.instances.size());
    for (std::uint32_t i = 0; i < state.size(); ++i) state[i] = time_of(i) <= at ? 1 : 0;
    return state;
  }

  bool may_cut(std::uint64_t times) const { return program_.instances.size() <= work_ / times; }

  /// Or more than may be tried.
  std::uint64_t count_picks() const {
    std::uint64_t count = 1;
    for (const Life& life : lives_) count = std::min(count * life.choices(), work_ + 1);
    return count;
  }

  /// The next picks in mixed radix; false after the last ones.
  bool next_picks() {
    for (std::size_t k = 0; k < picks_.size(); ++k) {
      if (++picks_[k] < lives_[k].choices()) return true;
      picks_[k] = 0;
    }
    return false;
  }

  /// Picks instants that show that a value is alive in `state`, if it is.
  void follow(const std::vector<std::uint8_t>& state) {
    for (std::size_t k = 0; k < lives_.size(); ++k) {
      const Life& life = lives_[k];
      if (life.choices() == 1 || !is_alive(life, state)) continue;
      std::size_t begin = 0;
      while (begin < life.begins.size() && state[life.begins[begin]] == 0) ++begin;
      std::size_t end = 0;
      while (end < life.ends.size() && state[life.ends[end]] != 0) ++end;
      picks_[k] = begin + std::max<std::size_t>(life.begins.size(), 1) * end;
    }
  }

  /// From one state to the best one of those picks that show what is alive in it, and on.
  void climb(const StateNetwork& network, std::vector<std::uint8_t> state) {
    for (bool is_better = true; is_better;) {
      const std::int64_t last = bytes_in(state);
      consider(state);
      if (!may_cut(1)) return;
      follow(state);
      state = best_for_picks(network);
      is_better = bytes_in(state) > last;
    }
  }

  /// Picks the last access on this queue, else the one that the walk comes to last.
  void lag_behind(QueueId queue) {
    for (std::size_t k = 0; k < lives_.size(); ++k) {
      const std::vector<std::uint32_t>& ends = lives_[k].ends;
      const auto lag = [&](std::uint32_t instant) {
        return std::pair(program_.instances[instant / 2].queue == queue, time_of(instant));
      };
      const auto end = std::ranges::max_element(ends, {}, lag) - ends.begin();
      picks_[k] = std::max<std::size_t>(lives_[k].begins.size(), 1) * static_cast<std::size_t>(end);
    }
  }

  std::vector<std::uint8_t> best_for_picks(const StateNetwork& network) {
    work_ -= program_.instances.size();
    std::vector<std::int64_t> profit(2 * program_.instances.size(), 0);
    for (std::size_t k = 0; k < lives_.size(); ++k) {
      const Life& life = lives_[k];
      const std::size_t begins = std::max<std::size_t>(life.begins.size(), 1);
      const std::int64_t bytes = weights_[life.value];
      if (!life.begins.empty()) profit[life.begins[picks_[k] % begins]] += bytes;
      if (!life.ends.empty()) profit[life.ends[picks_[k] / begins]] -= bytes;
    }
    return network.best_state(profit);
  }

  const Program& program_;
  const Walk& walk_;
  const LiveValues& live_;
  std::span<const std::int64_t> weights_;
  LiveSetWork& work_;
  std::vector<Life> lives_;
  std::vector<std::size_t> picks_;  ///< By life: which of its begins, and which of its ends.
  LiveSet found_;
  std::vector<std::uint8_t> best_;  ///< The state in which so much is alive.
};

}  // namespace

LiveSet largest_live_set(const Program& program, const Walk& walk, const LiveValues& live,
                         std::span<const std::int64_t> weights, const SharingPairs& sharing,
                         LiveSetWork& work) {
  return LiveSetSearch(program, walk, live, weights, sharing, work).run();
}

}  // namespace memverify
