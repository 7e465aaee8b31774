// Exhaustive search over a bit map of all combinations of digits.
//
// Idea: number the states in mixed radix, chain 0 fastest. Every step adds to one digit, so it
// leads to a greater number: one scan upward over the bit map meets each state after all its
// predecessors, and needs neither a queue nor a visited set nor layers. A word of zeros skips 64
// combinations. The digits (i, j) of the last two chains cut the map into blocks; those with the
// same i + j need nothing of each other, and all cores take their share of such a wave. Steps of
// the last chain but one mark a second map, so that no two blocks ever mark the same word.
//
// Example: six queues of seven independent ops have 15^6 = 11,390,625 states in 225 blocks; a map
// is 1.4 MB. Cost: combinations / 64 plus states x chains. Tested by
// tests/unit/sim/explore_test.cpp.
#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "sim/lanes.h"
#include "sim/parallel.h"
#include "sim/search.h"

namespace memverify::sim {
namespace {

using L = Lanes<8>;
constexpr std::uint64_t kGridChecksClockEvery = 1 << 16;  ///< States.
constexpr std::uint64_t kGridWorthThreads = 1 << 18;      ///< Combinations.

/// Combinations of digits, or 0 when they are more than `limit`.
std::uint64_t combinations(std::span<const Digit> last, std::uint64_t limit) {
  std::uint64_t all = 1;
  for (Digit digit : last) {
    if (all > limit / (digit + std::uint64_t{1})) return 0;
    all *= digit + std::uint64_t{1};
  }
  return all;
}

/// How the combinations lie in the map.
struct Blocks {
  std::size_t inner = 0;      ///< Chains that count inside a block.
  std::uint64_t rows = 1;     ///< Digits of the last chain, if there are three.
  std::uint64_t columns = 1;  ///< Digits of the one before.
  std::uint64_t size = 1;     ///< Combinations in a block.
  std::uint64_t words = 1;    ///< Of the map, for each.

  explicit Blocks(const std::vector<Digit>& last)
      : inner(last.size() > 2 ? last.size() - 2 : last.size()) {
    if (inner < last.size()) {
      columns = last[inner] + std::uint64_t{1};
      rows = last[inner + 1] + std::uint64_t{1};
    }
    size = combinations(std::span(last).first(inner), ~std::uint64_t{0});
    words = (size + 63) / 64;
  }
};

/// What all cores share.
struct Grid {
  const Model& model;
  const PackedNeeds<8> needs;
  const Blocks blocks;
  std::vector<std::uint64_t> map;      ///< One bit per combination; block after block.
  std::vector<std::uint64_t> columns;  ///< Marks of steps of the last chain but one.
  std::vector<std::uint8_t> found;     ///< By suspect: it showed in an earlier wave.
  std::atomic<bool> is_late = false;

  explicit Grid(const Model& what)
      : model(what),
        needs(what),
        blocks(what.last),
        map(blocks.words * blocks.rows * blocks.columns, 0),
        columns(blocks.columns > 1 ? map.size() : 0, 0),
        found(what.suspects.size(), 0) {}
};

/// One core at work. It looks at blocks of one wave in ascending order.
template <std::size_t W>
class Worker {
 public:
  Worker(Grid& grid, const Budget& budget)
      : grid_(grid),
        model_(grid.model),
        budget_(budget),
        state_(model_.chains()),
        checks_(model_.checks) {
    std::uint64_t stride = 1;
    for (std::size_t chain = 0; chain < grid.blocks.inner; ++chain) {
      strides_.push_back(stride);
      stride *= model_.last[chain] + std::uint64_t{1};
    }
    for (StepId step = 0; step < model_.steps(); ++step) {
      check_end_.push_back(model_.check_begin[step + 1]);
    }
  }

  /// Visits at most `most` states of the block.
  void visit_block(std::uint64_t block, std::uint64_t most) {
    left_ = most;
    block_ = block;
    const Blocks& blocks = grid_.blocks;
    std::uint64_t* words = &grid_.map[block * blocks.words];
    for (std::uint64_t word = 0; word < blocks.words; ++word) {
      if (!grid_.columns.empty()) words[word] |= grid_.columns[block * blocks.words + word];
      if (words[word] == 0) continue;
      jump_to(word * 64);
      std::uint64_t at = 0;
      // Steps of chain 0 set bits of the very word, always above the one at hand.
      for (std::uint64_t rest = words[word]; rest != 0;
           rest = at == 63 ? 0 : words[word] & (~std::uint64_t{0} << (at + 1))) {
        const auto next = static_cast<std::uint64_t>(std::countr_zero(rest));
        for (; at < next; ++at) increment();
        if (!visit(word * 64 + at)) return;
      }
    }
  }

  Search search;  ///< Of this worker; `hits` and `deadlocks` of the wave at hand.

 private:
  void jump_to(std::uint64_t number) {
    key_ = {};
    const auto add = [&](ChainId chain, std::uint64_t digit) {
      key_[chain / L::kPerWord] += digit * L::one(chain);
    };
    for (ChainId chain = 0; chain < grid_.blocks.inner; ++chain) {
      const std::uint64_t radix = model_.last[chain] + std::uint64_t{1};
      add(chain, number % radix);
      number /= radix;
    }
    if (grid_.blocks.inner == model_.chains()) return;
    add(static_cast<ChainId>(grid_.blocks.inner), block_ % grid_.blocks.columns);
    add(static_cast<ChainId>(grid_.blocks.inner + 1), block_ / grid_.blocks.columns);
  }

  void increment() {
    for (ChainId chain = 0; chain < grid_.blocks.inner; ++chain) {
      if (L::get(key_.data(), chain) < model_.last[chain]) {
        key_[chain / L::kPerWord] += L::one(chain);
        return;
      }
      key_[chain / L::kPerWord] -= model_.last[chain] * L::one(chain);
    }
  }

  bool enabled(StepId step) {
    for (std::size_t w = 0; w < W; ++w) {
      if (!L::covers(key_[w], grid_.needs.thresholds[step * W + w])) return false;
    }
    return grid_.needs.has_more[step] == 0 || is_enabled(model_, state_, step);
  }

  bool may_go_on() {
    if (search.states % kGridChecksClockEvery == 0 && budget_.is_late()) grid_.is_late = true;
    if (left_ == 0) search.stopped = "states";
    if (left_ == 0 || grid_.is_late.load(std::memory_order_relaxed)) return false;
    --left_;
    return true;
  }

  /// False at a limit.
  bool visit(std::uint64_t number) {
    if (!may_go_on()) return false;
    ++search.states;
    if (grid_.needs.any_more) L::unpack(key_.data(), state_);
    std::uint32_t taken = 0;
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      const Digit digit = L::get(key_.data(), chain);
      if (digit == model_.last[chain]) continue;
      const StepId step = model_.first_step[chain] + digit;
      if (!enabled(step)) continue;
      ++taken;
      if (model_.check_begin[step] != check_end_[step]) check(step);
      mark(chain, number);
    }
    search.transitions += taken;
    if (taken == 0) end_of_run();
    return true;
  }

  /// The state after a step of `chain`.
  void mark(ChainId chain, std::uint64_t number) {
    const Blocks& blocks = grid_.blocks;
    std::uint64_t* map = &grid_.map[block_ * blocks.words];
    if (chain < blocks.inner) {
      number += strides_[chain];
    } else if (chain == blocks.inner) {
      map = &grid_.columns[(block_ + 1) * blocks.words];
    } else {
      map = &grid_.map[(block_ + blocks.columns) * blocks.words];
    }
    map[number / 64] |= std::uint64_t{1} << (number % 64);
  }

  /// A suspect that has shown is never looked at again.
  void check(StepId step) {
    for (std::uint32_t i = model_.check_begin[step]; i < check_end_[step];) {
      const Check& check = checks_[i];
      const Digit digit = L::get(key_.data(), check.chain);
      const bool fires_now = digit >= check.from && digit <= check.to;
      bool is_found = grid_.found[check.suspect] != 0;
      if (fires_now && !is_found) {
        L::unpack(key_.data(), state_);
        search.add(Hit{check.suspect, state_, step});
        is_found = true;
      }
      if (is_found) {
        checks_[i] = checks_[--check_end_[step]];
      } else {
        ++i;
      }
    }
  }

  void end_of_run() {
    L::unpack(key_.data(), state_);
    const CommandId blocked = first_incomplete(model_, state_);
    search.reaches_end |= blocked == kNone<CommandId>;
    if (blocked != kNone<CommandId>) search.add(Deadlock{state_, blocked});
  }

  Grid& grid_;
  const Model& model_;
  const Budget& budget_;
  std::uint64_t left_ = 0;   ///< States that may still be visited.
  std::uint64_t block_ = 0;  ///< Row * columns + column.
  std::vector<std::uint64_t> strides_;
  std::array<std::uint64_t, W> key_{};    ///< Digits of the state at hand.
  State state_;                           ///< The same, unpacked when someone needs it.
  std::vector<Check> checks_;             ///< Of the model, those of each step in another order.
  std::vector<std::uint32_t> check_end_;  ///< By step: its checks that matter end here.
};

template <std::size_t W>
class WaveSearch {
 public:
  WaveSearch(const Model& model, Budget& budget) : grid_(model), budget_(budget) {
    const bool is_large = grid_.map.size() * 64 >= kGridWorthThreads;
    const std::size_t cores = is_large ? budget.threads : 1;
    while (workers_.size() < cores) workers_.emplace_back(grid_, budget);
    grid_.map[0] = 1;
  }

  Search run() {
    const Blocks& blocks = grid_.blocks;
    for (std::uint64_t wave = 0; wave + 1 < blocks.rows + blocks.columns; ++wave) {
      if (budget_.tick) budget_.tick(search_.states);
      std::vector<std::uint64_t> turn;
      for (std::uint64_t row = 0; row < blocks.rows && row <= wave; ++row) {
        if (wave - row < blocks.columns) turn.push_back(row * blocks.columns + wave - row);
      }
      visit_wave(turn);
      if (!search_.stopped.empty()) break;
    }
    return std::move(search_);
  }

 private:
  void visit_wave(const std::vector<std::uint64_t>& turn) {
    // With less left than the wave may hold, one core goes on alone and stops at the very state.
    const bool is_plenty = budget_.states / turn.size() > grid_.blocks.size;
    const std::size_t cores = is_plenty ? workers_.size() : 1;
    in_parallel(cores, [&](std::size_t core) {
      for (std::size_t k = core; k < turn.size(); k += cores) {
        workers_[core].visit_block(turn[k], budget_.states - workers_[core].search.states);
      }
    });
    for (Worker<W>& worker : workers_) {
      budget_.states -= worker.search.states;
      search_.take(std::exchange(worker.search, {}));
    }
    for (const Hit& hit : search_.hits) grid_.found[hit.suspect] = 1;
    if (grid_.is_late) search_.stopped = "time";
  }

  Grid grid_;
  Budget& budget_;
  std::vector<Worker<W>> workers_;
  Search search_;
};

}  // namespace

bool fits_grid(const Model& model, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  const std::uint64_t most = std::min(kMost, bytes > kMost / 4 ? kMost : bytes * 4);  // Two maps.
  return model.chains() <= 3 * L::kPerWord &&
         std::ranges::all_of(model.last, [](Digit last) { return last <= L::kMaxDigit; }) &&
         combinations(model.last, most) != 0;
}

Search explore_grid(const Model& model, Budget& budget) {
  switch (L::words(model.chains())) {
    case 0:
    case 1:
      return WaveSearch<1>(model, budget).run();
    case 2:
      return WaveSearch<2>(model, budget).run();
    default:
      return WaveSearch<3>(model, budget).run();
  }
}

}  // namespace memverify::sim
