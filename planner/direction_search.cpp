#include "planner/direction_search.h"

#include <algorithm>
#include <limits>

#include "planner/align.h"

namespace memverify {
namespace {

/// Alignments may raise a ring of buffers many times before they agree.
constexpr std::size_t kMostRaises = 64;  // For each buffer.

}  // namespace

DirectionSearch::DirectionSearch(const Problem& problem) : problem_(problem) {}

Fits DirectionSearch::search(std::int64_t target, std::uint64_t max_nodes,
                             const std::function<bool()>& is_late) {
  const std::size_t count = problem_.buffers.size();
  target_ = target;
  most_nodes_ = max_nodes > std::numeric_limits<std::uint64_t>::max() - nodes_
                    ? std::numeric_limits<std::uint64_t>::max()
                    : nodes_ + max_nodes;
  gave_up_ = false;
  is_late_ = &is_late;
  lowest_.clear();
  tail_.clear();
  trail_.clear();
  above_.assign(count, {});
  below_.assign(count, {});
  for (const Buffer& buffer : problem_.buffers) {
    lowest_.push_back(buffer.offset.value_or(0));
    tail_.push_back(buffer.bytes);
    if (buffer.bytes > 0 && lowest_.back() + buffer.bytes > target) return Fits::kNo;
  }
  const Fits fits = solve();
  return fits == Fits::kNo && gave_up_ ? Fits::kGaveUp : fits;
}

bool DirectionSearch::is_violated(const Clash& clash) const {
  const std::int64_t first = lowest_[clash.first];
  const std::int64_t second = lowest_[clash.second];
  return first + clash.of_first.begin < second + clash.of_second.end &&
         second + clash.of_second.begin < first + clash.of_first.end;
}

/// Of the violated clashes one with fewest ways to decide it, then the one that raises most however
/// it is decided; `clash` is past the last if none is violated.
DirectionSearch::Choice DirectionSearch::choose() const {
  Choice best{.clash = problem_.clashes.size()};
  std::int64_t best_raise = -1;
  for (std::size_t i = 0; i < problem_.clashes.size(); ++i) {
    const Clash& clash = problem_.clashes[i];
    if (!is_violated(clash)) continue;
    const auto [first, second] = std::pair(clash.first, clash.second);
    const std::int64_t second_to = lowest_[first] + clash.of_first.end - clash.of_second.begin;
    const std::int64_t first_to = lowest_[second] + clash.of_second.end - clash.of_first.begin;
    const Choice choice = {
        .clash = i,
        .raise_second = second_to - lowest_[second],
        .raise_first = first_to - lowest_[first],
        .may_raise_second =
            !problem_.buffers[second].offset && second_to + tail_[second] <= target_,
        .may_raise_first = !problem_.buffers[first].offset && first_to + tail_[first] <= target_};
    const std::int64_t raise = std::min(choice.raise_second, choice.raise_first);
    const bool is_better = best_raise < 0 || choice.ways() < best.ways() ||
                           (choice.ways() == best.ways() && raise > best_raise);
    if (!is_better) continue;
    best = choice;
    best_raise = raise;
    if (choice.ways() == 0) break;
  }
  return best;
}

Fits DirectionSearch::solve() {
  const Choice choice = choose();
  if (choice.clash == problem_.clashes.size()) return Fits::kYes;
  const Clash& clash = problem_.clashes[choice.clash];
  const bool second_first = choice.raise_second <= choice.raise_first;
  for (const bool raises_second : {second_first, !second_first}) {
    if (!(raises_second ? choice.may_raise_second : choice.may_raise_first)) continue;
    const Fits fits =
        raises_second
            ? decide(clash.first, clash.second, clash.of_first.end - clash.of_second.begin)
            : decide(clash.second, clash.first, clash.of_second.end - clash.of_first.begin);
    if (fits != Fits::kNo) return fits;
  }
  return Fits::kNo;
}

/// Goes on with `above` at least `gap` bytes over `below`. On kNo all is as before.
Fits DirectionSearch::decide(BufferIndex below, BufferIndex above, std::int64_t gap) {
  if (++nodes_ > most_nodes_ || (nodes_ % 1024 == 0 && (*is_late_)())) return Fits::kGaveUp;
  const std::size_t trail_size = trail_.size();
  above_[below].push_back({above, gap});
  below_[above].push_back({below, gap});
  Fits fits = Fits::kNo;
  if (raise_tails(below, above) && raise_offsets(below)) fits = solve();
  if (fits == Fits::kNo) undo(trail_size);
  above_[below].pop_back();
  below_[above].pop_back();
  return fits;
}

/// From `from` on downwards. False: nothing fits, or `until` is its own ground: a ring of decisions
/// that no offsets satisfy.
bool DirectionSearch::raise_tails(BufferIndex from, BufferIndex until) {
  waiting_ = {from};
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const BufferIndex b = waiting_[i];
    std::int64_t tail = tail_[b];
    for (const Arc& arc : above_[b]) tail = std::max(tail, arc.gap + tail_[arc.other]);
    if (tail == tail_[b]) continue;
    if (b == until || lowest_[b] + tail > target_) return false;
    set(tail_[b], tail);
    for (const Arc& arc : below_[b]) waiting_.push_back(arc.other);
  }
  return true;
}

/// What is above `from` and must go up with it.
bool DirectionSearch::raise_offsets(BufferIndex from) {
  waiting_ = {from};
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (i > kMostRaises * problem_.buffers.size()) {
      gave_up_ = true;
      return false;
    }
    const BufferIndex b = waiting_[i];
    for (const Arc& arc : above_[b]) {
      const Buffer& buffer = problem_.buffers[arc.other];
      if (lowest_[b] + arc.gap <= lowest_[arc.other]) continue;
      if (buffer.offset) return false;
      set(lowest_[arc.other], aligned_up(lowest_[b] + arc.gap, buffer.alignment));
      if (lowest_[arc.other] + tail_[arc.other] > target_) return false;
      waiting_.push_back(arc.other);
    }
  }
  return true;
}

void DirectionSearch::set(std::int64_t& place, std::int64_t value) {
  trail_.push_back({&place, place});
  place = value;
}

void DirectionSearch::undo(std::size_t trail_size) {
  while (trail_.size() > trail_size) {
    *trail_.back().place = trail_.back().old;
    trail_.pop_back();
  }
}

}  // namespace memverify
