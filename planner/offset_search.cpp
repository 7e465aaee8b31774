#include "planner/offset_search.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

#include "planner/align.h"

namespace memverify {
namespace {

constexpr std::int64_t kNowhere = -1;
constexpr std::int64_t kNoFloor = std::numeric_limits<std::int64_t>::max();

}  // namespace

OffsetSearch::OffsetSearch(const SearchGraph& graph, OffsetSearchSwitches switches)
    : graph_(graph), switches_(switches) {}

void OffsetSearch::reset(std::int64_t target, const OrderKeys& order) {
  const std::size_t count = graph_.nodes.size();
  order_ = order;
  target_ = target;
  offsets_.assign(count, kNowhere);
  lowest_.assign(count, 0);
  rank_.assign(count, 0);
  const std::size_t cliques = graph_.cliques.size();
  floor_.assign(cliques, 0);
  left_.assign(cliques, 0);
  cuts_.assign(cliques, 0);
  mark_.assign(cliques, 0);
  mark_now_ = 0;
  for (std::uint32_t n = 0; n < count; ++n) {
    const auto of = graph_.cliques_of[n];
    for (const std::uint32_t c : of) left_[c] += graph_.nodes[n].bytes;
    if (graph_.is_interval) {
      for (std::size_t i = 0; i + 1 < of.size(); ++i) ++cuts_[of[i]];
    }
  }
  trail_.clear();
  open_.resize(count);
  std::iota(open_.begin(), open_.end(), 0U);
  rank(0, count);
}

double OffsetSearch::key_of(std::uint32_t node, OrderKey key) const {
  const double width = static_cast<double>(graph_.nodes[node].width);
  if (key == OrderKey::kWidth) return width;
  if (key == OrderKey::kArea) return width * static_cast<double>(graph_.nodes[node].bytes);
  std::int64_t crowd = 0;
  for (const std::uint32_t c : graph_.cliques_of[node]) crowd = std::max(crowd, left_[c]);
  return static_cast<double>(crowd);
}

/// Sorts open nodes and remembers their ranks.
void OffsetSearch::rank(std::size_t begin, std::size_t end) {
  std::vector<std::pair<std::array<double, 3>, std::uint32_t>> keyed;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint32_t n = open_[i];
    keyed.push_back({{-key_of(n, order_[0]), -key_of(n, order_[1]), -key_of(n, order_[2])}, n});
  }
  std::ranges::sort(keyed);
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    open_[begin + i] = keyed[i].second;
    set(rank_[keyed[i].second], static_cast<std::int64_t>(i));
  }
}

void OffsetSearch::set(std::int64_t& place, std::int64_t value) {
  trail_.push_back({&place, place});
  place = value;
}

void OffsetSearch::undo(std::size_t trail_size) {
  while (trail_.size() > trail_size) {
    *trail_.back().place = trail_.back().old;
    trail_.pop_back();
  }
}

Fits OffsetSearch::search(std::int64_t target, const OrderKeys& order, std::uint64_t max_nodes,
                          const std::function<bool()>& is_late) {
  reset(target, order);
  most_nodes_ = max_nodes > std::numeric_limits<std::uint64_t>::max() - nodes_
                    ? std::numeric_limits<std::uint64_t>::max()
                    : nodes_ + max_nodes;
  is_late_ = &is_late;
  for (const SearchGraph::Node& node : graph_.nodes) {
    if (std::max<std::int64_t>(node.fixed, 0) + node.bytes > target) return Fits::kNo;
  }
  for (std::uint32_t c = 0; c < floor_.size(); ++c) {
    if (left_[c] > target) return Fits::kNo;
  }
  const Part all = {0, open_.size(), 0, 0, 0, static_cast<std::uint32_t>(left_.size())};
  return switches_.parts && graph_.is_interval ? solve_parts(all) : solve(all);
}

/// Splits the open nodes of `part` where no node reaches from one clique into the next.
Fits OffsetSearch::solve_parts(const Part& part) {
  const std::size_t begin = open_.size();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> keyed;  // (Group, node), by group and rank.
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const std::uint32_t n = open_[i];
    if (offsets_[n] == kNowhere) keyed.emplace_back(graph_.cliques_of[n].front(), n);
  }
  std::vector<std::uint32_t> starts;  // First clique of each group.
  for (const auto& [clique, n] : keyed) starts.push_back(clique);
  std::ranges::sort(starts);
  std::vector<std::uint32_t> group_of;  // By position in `starts`.
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (i > 0) {
      for (std::uint32_t c = starts[i - 1]; c < starts[i]; ++c) {
        if (cuts_[c] == 0) {
          ++group;
          break;
        }
      }
    }
    group_of.push_back(group);
  }
  for (auto& [key, n] : keyed) {
    const auto at = std::ranges::lower_bound(starts, key) - starts.begin();
    key = group_of[static_cast<std::size_t>(at)];
  }
  std::ranges::stable_sort(keyed, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
  const std::size_t trail_size = trail_.size();
  Fits fits = Fits::kYes;
  for (std::size_t i = 0; i < keyed.size() && fits == Fits::kYes;) {
    const std::uint32_t now = keyed[i].first;
    Part one = part;
    one.first_clique = part.end_clique;
    one.end_clique = part.first_clique;
    for (; i < keyed.size() && keyed[i].first == now; ++i) {
      const auto of = graph_.cliques_of[keyed[i].second];
      one.first_clique = std::min(one.first_clique, of.front());
      one.end_clique = std::max(one.end_clique, of.back() + 1);
      open_.push_back(keyed[i].second);
    }
    one.begin = begin;
    one.end = open_.size();
    one.last_rank = 0;  // Others by now.
    rank(begin, one.end);
    fits = solve(one);
    open_.resize(begin);
  }
  if (fits != Fits::kYes) undo(trail_size);
  return fits;
}

/// On kYes the nodes of the part are placed; otherwise all is as before.
Fits OffsetSearch::solve(const Part& part) {
  std::int64_t least_top = kNoFloor;
  const std::size_t begin = open_.size();
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const std::uint32_t n = open_[i];
    if (offsets_[n] != kNowhere) continue;
    const SearchGraph::Node& node = graph_.nodes[n];
    open_.push_back(n);
    const std::int64_t top = node.fixed >= 0 ? node.fixed + 1 : lowest_[n] + node.bytes;
    least_top = std::min(least_top, top);
  }
  const std::size_t end = open_.size();
  if (begin == end) return Fits::kYes;
  std::vector<Candidate> candidates;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint32_t n = open_[i];
    const std::int64_t fixed = graph_.nodes[n].fixed;
    const std::int64_t offset = fixed >= 0 ? fixed : lowest_[n];
    if (switches_.dominance && offset >= least_top) continue;
    if (switches_.ascending &&
        (offset < part.last_offset || (offset == part.last_offset && rank_[n] < part.last_rank))) {
      continue;
    }
    candidates.push_back({offset, rank_[n], n});
  }
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank;
  });
  const std::size_t trail_size = trail_.size();
  Fits fits = Fits::kNo;
  for (const Candidate& candidate : candidates) {
    if (++nodes_ > most_nodes_ || (nodes_ % 1024 == 0 && (*is_late_)())) {
      fits = Fits::kGaveUp;
      break;
    }
    bool has_hat = false;
    if (place(candidate.node, candidate.offset, has_hat) && leaves_room(part, candidate.offset)) {
      fits = solve_after(
          {begin, end, candidate.offset, candidate.rank, part.first_clique, part.end_clique},
          candidate.node);
      if (fits != Fits::kNo) break;
    }
    undo(trail_size);
    if (switches_.hats && !has_hat) break;
  }
  if (fits != Fits::kYes) undo(trail_size);
  open_.resize(begin);
  return fits;
}

Fits OffsetSearch::solve_after(const Part& part, std::uint32_t placed) {
  if (!graph_.is_interval || !switches_.parts) return solve(part);
  bool is_cut = false;
  const auto of = graph_.cliques_of[placed];
  for (std::size_t i = 0; i + 1 < of.size(); ++i) {
    set(cuts_[of[i]], cuts_[of[i]] - 1);
    is_cut = is_cut || cuts_[of[i]] == 0;
  }
  return is_cut ? solve_parts(part) : solve(part);
}

/// False if that leaves no room for another one. `has_hat`: whether one that is not placed yet
/// clashes with it.
bool OffsetSearch::place(std::uint32_t node, std::int64_t offset, bool& has_hat) {
  const std::int64_t top = offset + graph_.nodes[node].bytes;
  if (offset < lowest_[node] || top > target_) return false;
  set(offsets_[node], offset);
  ++mark_now_;
  touched_.clear();
  const auto touch = [&](std::uint32_t clique) {
    if (mark_[clique] == mark_now_) return;
    mark_[clique] = mark_now_;
    touched_.push_back(clique);
  };
  for (const std::uint32_t c : graph_.cliques_of[node]) {
    set(left_[c], left_[c] - graph_.nodes[node].bytes);
    touch(c);
  }
  bool is_good = true;
  for (const std::uint32_t other : graph_.neighbors[node]) {
    if (offsets_[other] != kNowhere) continue;
    has_hat = true;
    if (lowest_[other] >= top) continue;
    const SearchGraph::Node& raised = graph_.nodes[other];
    const std::int64_t before = lowest_[other];
    set(lowest_[other], aligned_up(top, raised.alignment));
    is_good = is_good && lowest_[other] + raised.bytes <= target_ &&
              (raised.fixed < 0 || lowest_[other] <= raised.fixed);
    if (!is_good) continue;  // `has_hat` is known; the rest is undone.
    for (const std::uint32_t c : graph_.cliques_of[other]) {
      if (floor_[c] == before) touch(c);
    }
  }
  if (!is_good) return false;
  if (!switches_.left) return true;
  return std::ranges::all_of(touched_, [&](std::uint32_t c) { return update_clique(c); });
}

bool OffsetSearch::update_clique(std::uint32_t clique) {
  std::int64_t floor = kNoFloor;
  for (const std::uint32_t n : graph_.cliques[clique]) {
    if (offsets_[n] == kNowhere) floor = std::min(floor, lowest_[n]);
  }
  if (floor == kNoFloor) floor = 0;  // Nothing is left.
  if (floor != floor_[clique]) set(floor_[clique], floor);
  return floor + left_[clique] <= target_;
}

/// In ascending order nothing of the part can come below `offset` any more.
bool OffsetSearch::leaves_room(const Part& part, std::int64_t offset) const {
  if (!switches_.left || !switches_.ascending) return true;
  for (std::uint32_t c = part.first_clique; c < part.end_clique; ++c) {
    if (left_[c] > 0 && offset + left_[c] > target_) return false;
  }
  return true;
}

}  // namespace memverify
