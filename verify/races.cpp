#include "verify/races.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <vector>

namespace memverify {
namespace {

constexpr std::size_t kMaxListed = std::size_t{1} << 26;  // Accesses held at a time.
constexpr std::uint64_t kMaxInstancePairs = 10'000'000;   // Racing instance pairs looked at.

bool writes(AccessKind kind) { return kind != AccessKind::kRead; }

class RaceLister {
 public:
  RaceLister(const Program& program, const Walk& walk, const Order& order,
             const Footprints& footprints, const PointMarks& racy, std::size_t limit,
             const BothOpen& both_open)
      : program_(program),
        walk_(walk),
        order_(order),
        footprints_(footprints),
        racy_(racy),
        limit_(limit),
        both_open_(both_open) {}

  RaceList run() {
    select();
    const std::size_t points = footprints_.points();
    for (std::size_t begin = racy_.first(0, points); begin < points && !result_.stopped;) {
      // As many racy points at a time as fit into memory.
      std::size_t end = begin;
      std::size_t listed = 0;
      while (end < points && (listed == 0 || listed + load_[end] <= kMaxListed))
        listed += load_[end++];
      list(begin, end);
      begin = racy_.first(end, points);
    }
    return std::move(result_);
  }

 private:
  /// The accesses, in order of the walk, that touch racy points; and how many touch each.
  void select() {
    load_.assign(footprints_.points(), 0);
    for (Cmd cmd : walk_.order) {
      if (program_.instances[cmd].gate || program_.op(cmd).kind != OpKind::kOp) continue;
      for (const AccessInstance& a : footprints_.of(cmd)) {
        bool touches = false;
        for_each_racy(a, 0, footprints_.points(), [&](std::size_t point) {
          ++load_[point];
          touches = true;
        });
        if (touches) selected_.push_back(footprints_.index_of(a));
      }
    }
  }

  template <typename Visit>
  void for_each_racy(const AccessInstance& a, std::size_t low, std::size_t high,
                     Visit&& visit) const {
    for (const Run& run : footprints_.runs(a)) {
      const std::size_t end = std::min<std::size_t>(run.end, high);
      for (std::size_t point = racy_.first(std::max<std::size_t>(run.begin, low), end); point < end;
           point = racy_.first(point + 1, end)) {
        visit(point);
      }
    }
  }

  void list(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> first(end - begin + 1, 0);
    for (std::size_t point = begin; point < end; ++point) {
      first[point - begin + 1] = first[point - begin] + load_[point];
    }
    std::vector<std::uint32_t> listed(first.back());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t id : selected_) {
      for_each_racy(footprints_.accesses()[id], begin, end,
                    [&](std::size_t point) { listed[next[point - begin]++] = id; });
    }
    std::size_t last = 0;
    std::size_t last_size = 0;
    for (std::size_t point = begin; point < end && !result_.stopped; ++point) {
      const std::size_t from = first[point - begin];
      const std::size_t size = first[point - begin + 1] - from;
      if (size == 0) continue;
      const bool same =
          size == last_size && std::equal(listed.begin() + static_cast<std::ptrdiff_t>(from),
                                          listed.begin() + static_cast<std::ptrdiff_t>(from + size),
                                          listed.begin() + static_cast<std::ptrdiff_t>(last));
      last = from;
      last_size = size;
      if (!same) {
        has_turn_ = has_race_ = false;
        at_point(listed.data() + from, size);
      }
      if (has_turn_ && !has_race_)
        note_turn(static_cast<std::uint32_t>(point), &listed[from], size);
    }
  }

  /// Accesses of one chain and class so far.
  struct Line {
    std::uint32_t chain = 0;
    std::uint32_t kind = 0;               ///< 0 reads, 1 writes and clobbers, 2 + u accumulates.
    std::vector<std::uint32_t> accesses;  ///< Positions in the chain do not descend.
  };

  static std::uint32_t class_of(const AccessInstance& a) {
    if (a.kind == AccessKind::kRead) return 0;
    return a.kind == AccessKind::kAccumulate ? 2U + a.update : 1U;
  }

  void at_point(const std::uint32_t* accesses, std::size_t count) {
    lines_.clear();
    line_of_.clear();
    for (std::size_t k = 0; k < count && !result_.stopped; ++k) {
      const AccessInstance& a = footprints_.accesses()[accesses[k]];
      const std::uint32_t kind = class_of(a);
      for (const Line& line : lines_) {
        if (line.kind == kind && kind != 1) continue;
        meet(a, line);
      }
      const std::uint64_t key = (std::uint64_t{order_.chain(a.cmd)} << 32) | kind;
      const auto [at, is_new] = line_of_.try_emplace(key, lines_.size());
      if (is_new) lines_.push_back({order_.chain(a.cmd), kind, {}});
      lines_[at->second].accesses.push_back(accesses[k]);
    }
  }

  /// The accesses of the line that are not ordered before `a` are its tail.
  void meet(const AccessInstance& a, const Line& line) {
    const std::uint32_t completed = order_.completed(a.cmd, line.chain);
    for (auto at = line.accesses.rbegin(); at != line.accesses.rend() && !result_.stopped; ++at) {
      const AccessInstance& other = footprints_.accesses()[*at];
      if (order_.position(other.cmd) < completed) break;
      if (other.cmd != a.cmd) note(other, a);
    }
  }

  void note_turn(std::uint32_t point, const std::uint32_t* accesses, std::size_t size) {
    const bool is_next =
        !result_.turns.empty() && result_.turns.back().end == point &&
        std::equal(accesses, accesses + size, result_.turns.back().accesses.begin(),
                   result_.turns.back().accesses.end());
    if (is_next) {
      ++result_.turns.back().end;
    } else {
      result_.turns.push_back({point, point + 1, {accesses, accesses + size}});
    }
  }

  void note(const AccessInstance& x, const AccessInstance& y) {
    if (both_open_ && !both_open_(x.cmd, y.cmd)) {
      has_turn_ = true;
      return;
    }
    has_race_ = true;
    const AccessInstance& earlier = x.cmd < y.cmd ? x : y;
    const AccessInstance& later = x.cmd < y.cmd ? y : x;
    const Clashes clash = !writes(earlier.kind) ? 1 : !writes(later.kind) ? 2 : 4;
    const auto key =
        std::pair(program_.instances[earlier.cmd].op, program_.instances[later.cmd].op);
    auto at = result_.pairs.find(key);
    if (at == result_.pairs.end()) {
      if (result_.pairs.size() >= limit_) {
        result_.stopped = true;
        return;
      }
      at = result_.pairs.emplace(key, RacingPair{}).first;
    }
    RacingPair& pair = at->second;
    const auto lowest = static_cast<Clashes>(pair.clashes & -pair.clashes);
    const bool better =
        pair.clashes == 0 || clash < lowest ||
        (clash == lowest && std::pair(earlier.cmd, later.cmd) < std::pair(pair.first, pair.second));
    if (better) {
      pair.first = earlier.cmd;
      pair.second = later.cmd;
    }
    pair.clashes = static_cast<Clashes>(pair.clashes | clash);
    if (++instance_pairs_ >= kMaxInstancePairs) result_.stopped = true;
  }

  const Program& program_;
  const Walk& walk_;
  const Order& order_;
  const Footprints& footprints_;
  const PointMarks& racy_;
  std::size_t limit_;
  const BothOpen& both_open_;
  bool has_turn_ = false, has_race_ = false;  ///< At the point at hand.
  RaceList result_;
  std::vector<std::uint32_t> load_;      ///< By point: accesses, 0 unless racy.
  std::vector<std::uint32_t> selected_;  ///< AccessInstances.
  std::vector<Line> lines_;
  std::unordered_map<std::uint64_t, std::size_t> line_of_;
  std::uint64_t instance_pairs_ = 0;
};

}  // namespace

RaceList list_races(const Program& program, const Walk& walk, const Order& order,
                    const Footprints& footprints, const PointMarks& racy, std::size_t limit,
                    const BothOpen& both_open) {
  return RaceLister(program, walk, order, footprints, racy, limit, both_open).run();
}

}  // namespace memverify
