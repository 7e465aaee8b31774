// Exhaustive search over a bit map of all combinations of digits.
//
// Idea: number the states in mixed radix, chain 0 fastest. Every step adds to one digit, so it
// leads to a greater number: one scan upward over the bit map meets each state after all its
// predecessors, and needs neither a queue nor a visited set nor layers. A word of zeros skips 64
// combinations.
//
// Example: six queues of seven independent ops have 15^6 = 11,390,625 states; the map is 1.4 MB.
// Cost: combinations / 64 plus states x chains. Tested by tests/unit/sim/explore_test.cpp.
#include <algorithm>
#include <bit>

#include "sim/lanes.h"
#include "sim/search.h"

namespace memverify::sim {
namespace {

using L = Lanes<8>;
constexpr std::uint64_t kCheckClockEvery = 1 << 16;  ///< States.

/// Combinations of digits, or 0 when they are more than `limit`.
std::uint64_t combinations(const Model& model, std::uint64_t limit) {
  std::uint64_t all = 1;
  for (Digit last : model.last) {
    if (all > limit / (last + std::uint64_t{1})) return 0;
    all *= last + std::uint64_t{1};
  }
  return all;
}

template <std::size_t W>
class Grid {
 public:
  Grid(const Model& model, Budget& budget)
      : model_(model),
        budget_(budget),
        needs_(model),
        size_(combinations(model, ~std::uint64_t{0})),
        map_(static_cast<std::size_t>((size_ + 63) / 64), 0),
        found_(model.suspects.size(), 0),
        state_(model.chains()) {
    std::uint64_t stride = 1;
    for (Digit last : model.last) {
      strides_.push_back(stride);
      stride *= last + std::uint64_t{1};
    }
    checks_ = model.checks;
    for (StepId step = 0; step < model.steps(); ++step) {
      check_end_.push_back(model.check_begin[step + 1]);
    }
  }

  Search run() {
    map_[0] = 1;
    for (std::size_t word = 0; word < map_.size(); ++word) {
      if (map_[word] == 0) continue;
      jump_to(word * 64);
      std::uint64_t at = 0;
      // Steps of chain 0 set bits of the very word, always above the one at hand.
      for (std::uint64_t rest = map_[word]; rest != 0;
           rest = at == 63 ? 0 : map_[word] & (~std::uint64_t{0} << (at + 1))) {
        const auto next = static_cast<std::uint64_t>(std::countr_zero(rest));
        for (; at < next; ++at) increment();
        visit(word * 64 + at);
        if (!search_.stopped.empty()) return std::move(search_);
      }
    }
    return std::move(search_);
  }

 private:
  void jump_to(std::uint64_t number) {
    key_ = {};
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      const std::uint64_t radix = model_.last[chain] + std::uint64_t{1};
      key_[chain / L::kPerWord] += (number % radix) * L::one(chain);
      number /= radix;
    }
  }

  void increment() {
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      if (L::get(key_.data(), chain) < model_.last[chain]) {
        key_[chain / L::kPerWord] += L::one(chain);
        return;
      }
      key_[chain / L::kPerWord] -= model_.last[chain] * L::one(chain);
    }
  }

  bool enabled(StepId step) {
    for (std::size_t w = 0; w < W; ++w) {
      if (!L::covers(key_[w], needs_.thresholds[step * W + w])) return false;
    }
    return needs_.has_more[step] == 0 || is_enabled(model_, state_, step);
  }

  void visit(std::uint64_t number) {
    if (search_.states % kCheckClockEvery == 0) {
      if (budget_.tick) budget_.tick(search_.states);
      if (budget_.is_late()) {
        search_.stopped = "time";
        return;
      }
    }
    if (budget_.states == 0) {
      search_.stopped = "states";
      return;
    }
    --budget_.states;
    ++search_.states;
    if (needs_.any_more) L::unpack(key_.data(), state_);
    std::uint32_t taken = 0;
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      const Digit digit = L::get(key_.data(), chain);
      if (digit == model_.last[chain]) continue;
      const StepId step = model_.first_step[chain] + digit;
      if (!enabled(step)) continue;
      ++taken;
      if (model_.check_begin[step] != check_end_[step]) check(step);
      const std::uint64_t to = number + strides_[chain];
      map_[to / 64] |= std::uint64_t{1} << (to % 64);
    }
    search_.transitions += taken;
    if (taken == 0) end_of_run();
  }

  /// A suspect that has shown is never looked at again.
  void check(StepId step) {
    for (std::uint32_t i = model_.check_begin[step]; i < check_end_[step];) {
      const Check& check = checks_[i];
      const Digit digit = L::get(key_.data(), check.chain);
      const bool fires_now = digit >= check.from && digit <= check.to;
      if (fires_now && found_[check.suspect] == 0) {
        found_[check.suspect] = 1;
        L::unpack(key_.data(), state_);
        search_.hits.push_back({check.suspect, state_, step});
      }
      if (found_[check.suspect] != 0) {
        checks_[i] = checks_[--check_end_[step]];
      } else {
        ++i;
      }
    }
  }

  void end_of_run() {
    L::unpack(key_.data(), state_);
    const CommandId blocked = first_incomplete(model_, state_);
    if (blocked == kNone<CommandId>) {
      search_.reaches_end = true;
    } else if (std::ranges::find(search_.deadlocks, blocked, &Deadlock::blocked) ==
               search_.deadlocks.end()) {
      search_.deadlocks.push_back({state_, blocked});
    }
  }

  const Model& model_;
  Budget& budget_;
  const PackedNeeds<8> needs_;
  const std::uint64_t size_;
  std::vector<std::uint64_t> map_;  ///< One bit per combination.
  std::vector<std::uint64_t> strides_;
  std::vector<Check> checks_;             ///< Of the model, those of each step in another order.
  std::vector<std::uint32_t> check_end_;  ///< By step: its checks that matter end here.
  std::vector<std::uint8_t> found_;       ///< By suspect.
  std::array<std::uint64_t, W> key_{};    ///< Digits of the state at hand.
  State state_;                           ///< The same, unpacked when someone needs it.
  Search search_;
};

}  // namespace

bool fits_grid(const Model& model, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 34;
  return model.chains() <= 3 * L::kPerWord &&
         std::ranges::all_of(model.last, [](Digit last) { return last <= L::kMaxDigit; }) &&
         combinations(model, std::min(kMost, bytes > kMost / 8 ? kMost : bytes * 8)) != 0;
}

Search explore_grid(const Model& model, Budget& budget) {
  switch (L::words(model.chains())) {
    case 0:
    case 1:
      return Grid<1>(model, budget).run();
    case 2:
      return Grid<2>(model, budget).run();
    default:
      return Grid<3>(model, budget).run();
  }
}

CommandId first_incomplete(const Model& model, const State& state) {
  CommandId first = kNone<CommandId>;
  for (ChainId chain = 0; chain < model.chains(); ++chain) {
    if (state[chain] == model.last[chain]) continue;
    first = std::min(first, model.command_of_step[model.first_step[chain] + state[chain]]);
  }
  return first;
}

}  // namespace memverify::sim
