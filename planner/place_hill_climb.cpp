// Problem: list placements end well above the bound, and changing the order of a list moves nearly
//   everything for each try.
// Idea: aim just below the peak. What ends above the target is taken out. Then the hardest buffer
//   that is out is put back where those in its way are the easiest; these are taken out in turn.
//   Hard is what was out often. Once all are back, the peak is lower, and so is the next target.
//   After many moves in vain what is hard is forgotten and learnt anew from the best placement.
// Cost of a move: O(c log c) for c clashes of the buffer, and what ClashFinder needs to find them.
// Reference: Nagata and Bräysy, guided ejection search for vehicle routes, 2009.
// Tested by tests/unit/planner/strategies_test.cpp.
#include <algorithm>
#include <chrono>
#include <limits>
#include <random>

#include "planner/align.h"
#include "planner/clash_finder.h"
#include "planner/gap_finder.h"
#include "planner/orders.h"
#include "planner/stack.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

class Climber {
 public:
  /// `offsets` are without fault.
  Climber(const Problem& problem, std::vector<std::int64_t> offsets, std::uint64_t seed)
      : problem_(problem),
        neighbors_(problem),
        clashes_(problem, neighbors_),
        offsets_(std::move(offsets)),
        times_out_(problem.buffers.size(), 1),
        is_out_(problem.buffers.size(), 0),
        random_(seed) {}

  /// Takes out what ends above `target`, which each buffer alone can keep.
  void aim(std::int64_t target) {
    target_ = target;
    for (BufferIndex b = 0; b < problem_.buffers.size(); ++b) {
      const std::int64_t bytes = problem_.buffers[b].bytes;
      if (bytes > 0 && offsets_[b] + bytes > target) take_out(b);
    }
  }

  /// Back to `offsets`, which are without fault, with nothing learnt.
  void restart(const std::vector<std::int64_t>& offsets) {
    offsets_ = offsets;
    std::ranges::fill(times_out_, 1);
    std::ranges::fill(is_out_, 0);
    out_.clear();
  }

  bool is_complete() const { return out_.empty(); }
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

  /// Puts one back. False: what is fixed leaves it no place below the target.
  bool move() {
    const BufferIndex b = hardest();
    const std::int64_t offset = cheapest_offset(b);
    if (offset < 0) return false;
    std::erase(out_, b);
    is_out_[b] = 0;
    offsets_[b] = offset;
    clashes_.visit(b, [&](BufferIndex other, ByteRange mine, ByteRange theirs) {
      const std::int64_t at = offsets_[other];
      const bool meet =
          offset + mine.begin < at + theirs.end && at + theirs.begin < offset + mine.end;
      if (meet && is_out_[other] == 0) take_out(other);
    });
    return true;
  }

 private:
  /// While a buffer is at more than `at`, something is in its way; or no longer, if less than 0.
  struct Event {
    std::int64_t at;
    std::int64_t cost;
  };
  static constexpr std::int64_t kFixed = std::int64_t{1} << 40;  ///< More than all others cost.

  void take_out(BufferIndex b) {
    is_out_[b] = 1;
    ++times_out_[b];
    out_.push_back(b);
  }

  BufferIndex hardest() const {
    return *std::ranges::max_element(out_, {}, [&](BufferIndex b) {
      return static_cast<double>(problem_.buffers[b].bytes) * static_cast<double>(times_out_[b]);
    });
  }

  /// What is in the way of a buffer where, and where it may lie against something.
  void look_around(BufferIndex b) {
    const std::int64_t alignment = problem_.buffers[b].alignment;
    const std::int64_t most = target_ - problem_.buffers[b].bytes;
    begins_.clear();
    ends_.clear();
    clashes_.visit(b, [&](BufferIndex other, ByteRange mine, ByteRange theirs) {
      if (is_out_[other] != 0) return;
      const std::int64_t below = offsets_[other] + theirs.begin - mine.end;
      const std::int64_t above = offsets_[other] + theirs.end - mine.begin;
      if (below >= most || above <= 0) return;
      const std::int64_t cost = problem_.buffers[other].offset ? kFixed : times_out_[other];
      begins_.push_back({below, cost});
      ends_.push_back({above, cost});
    });
    std::ranges::sort(begins_, {}, &Event::at);
    std::ranges::sort(ends_, {}, &Event::at);
    candidates_ = {0};
    for (const Event& under : begins_) {
      if (under.at > 0) candidates_.push_back(under.at / alignment * alignment);
    }
    candidates_.push_back(most / alignment * alignment);
    const auto middle = static_cast<std::ptrdiff_t>(candidates_.size());
    for (const Event& over : ends_) {
      const std::int64_t offset = aligned_up(over.at, alignment);
      if (offset <= most) candidates_.push_back(offset);
    }
    std::inplace_merge(candidates_.begin(), candidates_.begin() + middle, candidates_.end());
  }

  /// The lowest where nothing is in the way, else one of those where that was out least; -1: only
  /// where a fixed one is.
  std::int64_t cheapest_offset(BufferIndex b) {
    look_around(b);
    std::int64_t best = -1;
    std::int64_t least = kFixed;
    std::int64_t cost = 0;
    std::uint64_t equals = 0;
    auto begin = begins_.begin();
    auto end = ends_.begin();
    for (const std::int64_t offset : candidates_) {
      for (; begin != begins_.end() && begin->at < offset; ++begin) cost += begin->cost;
      for (; end != ends_.end() && end->at <= offset; ++end) cost -= end->cost;
      if (cost == 0) return offset;
      if (cost > least || cost >= kFixed) continue;
      equals = cost < least ? 1 : equals + 1;
      if (random_() % equals == 0) best = offset;
      least = cost;
    }
    return best;
  }

  const Problem& problem_;
  const Neighbors neighbors_;
  ClashFinder clashes_;
  std::int64_t target_ = 0;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> times_out_;  ///< By buffer, from 1.
  std::vector<char> is_out_;             ///< By buffer.
  std::vector<BufferIndex> out_;
  std::vector<Event> begins_, ends_;  ///< Of what is in the way.
  std::vector<std::int64_t> candidates_;
  std::mt19937_64 random_;
};

constexpr std::int64_t kSteps = 128;      ///< From the peak to the bound; each at least the grain.
constexpr std::uint64_t kPatience = 100;  ///< Moves for each buffer, until a restart.

/// The highest top of one buffer alone.
std::int64_t least_peak(const Problem& problem) {
  std::int64_t peak = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.bytes > 0) peak = std::max(peak, buffer.offset.value_or(0) + buffer.bytes);
  }
  return peak;
}

}  // namespace

Placement place_hill_climb(const Problem& problem, const StrategyOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Placement best =
      place_in_order(problem, Neighbors(problem), order_by_size(problem), Fit::kSmallestGap);
  const std::int64_t bound = std::max(problem.lower_bound, least_peak(problem));
  const std::int64_t grain = grain_of(problem);
  const auto next_target = [&] {
    const std::int64_t step = (best.peak - bound) / kSteps / grain * grain;
    return std::max(best.peak - std::max(step, grain), bound);
  };
  const auto is_done = [&] {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    return best.peak <= bound || taken.count() > options.max_seconds ||
           problem.is_enough(best.peak) ||
           (options.max_nodes != 0 && best.nodes >= options.max_nodes);
  };
  Climber climber(problem, best.offsets, options.seed);
  climber.aim(next_target());
  std::uint64_t in_vain = 0;
  for (; !is_done(); ++best.nodes) {
    if (!climber.move()) break;
    if (climber.is_complete()) {
      best.offsets = climber.offsets();
      best.peak = peak_of(problem, best.offsets);
    } else if (++in_vain < kPatience * problem.buffers.size()) {
      continue;
    } else {
      climber.restart(best.offsets);
    }
    in_vain = 0;
    climber.aim(next_target());
  }
  best.is_optimal = best.peak <= bound;
  return best;
}

}  // namespace memverify
