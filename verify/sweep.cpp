#include "verify/sweep.h"

#include <algorithm>
#include <bit>
#include <future>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "verify/segment_map.h"

namespace memverify {

void PointMarks::mark(std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end;) {
    const std::size_t stop = std::min(end, (at / 64 + 1) * 64);
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - (stop - at));
    words_[at / 64] |= ones << (at % 64);
    at = stop;
  }
}

void PointMarks::mark(const PointMarks& other) {
  for (std::size_t k = 0; k < words_.size(); ++k) words_[k] |= other.words_[k];
}

std::size_t PointMarks::first(std::size_t begin, std::size_t end, std::uint64_t flip) const {
  for (std::size_t at = begin; at < end; at = (at / 64 + 1) * 64) {
    const std::uint64_t word = (words_[at / 64] ^ flip) >> (at % 64);
    if (word != 0) return std::min(end, at + static_cast<std::size_t>(std::countr_zero(word)));
  }
  return end;
}

namespace {

constexpr std::size_t kMaxSuspects = std::size_t{1} << 20;
constexpr std::uint32_t kNil = 0xFFFFFFFFU;

/// What kind of group holds a byte. Accumulates of number u: kAccumulates + u.
enum : std::uint32_t { kNobody, kWriter, kReaders, kAccumulates };

/// A member of a group; groups are immutable lists, shared by the pieces of a split interval.
struct Member {
  Cmd cmd;
  std::uint32_t next;
  std::uint32_t size;   ///< Of the list from here.
  std::uint32_t limit;  ///< At this size the list is cut down to the last member of each chain.
};

struct Bytes {
  std::uint32_t group = kNil;
  std::uint32_t before = kNil;  ///< The group before that one.
  std::uint32_t kind = kNobody;
  Version version = kInitialVersion;
};

class Sweeper {
 public:
  /// Of the points `[begin, end)`, across whose ends no run lies.
  Sweeper(const Program& program, const Walk& walk, const Order& order,
          const Footprints& footprints, const Expected& expected, Versions& versions,
          std::size_t begin, std::size_t end)
      : begin_(begin),
        end_(end),
        program_(program),
        walk_(walk),
        order_(order),
        footprints_(footprints),
        expected_(expected),
        versions_(versions),
        result_(footprints.points()),
        bytes_(begin, end, Bytes{}) {}

  SweepResult run() {
    members_.reserve(2 * footprints_.accesses().size());  // Costs address space only.
    for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
      if (program_.op(cmd).kind != OpKind::kUnknown || program_.instances[cmd].gate) continue;
      if (!program_.instances[cmd].skipped) unknown_.push_back(cmd);
    }
    for (Cmd cmd : walk_.order) {
      if (program_.instances[cmd].gate || program_.instances[cmd].skipped) continue;
      const OpKind kind = program_.op(cmd).kind;
      if (kind == OpKind::kOp) {
        for (const AccessInstance& a : footprints_.of(cmd)) {
          if (is_mine(a)) access(a);
        }
      } else if (kind == OpKind::kUnknown) {
        touch(cmd);
      }
    }
    if (walk_.all_completed) {
      for (const AccessInstance& a : footprints_.at_end()) {
        check_unknown(a);
        compare_version(a);
      }
    }
    if (!unknown_.empty()) leave_out_unknowns();
    return std::move(result_);
  }

 private:
  void access(const AccessInstance& a) {
    check_unknown(a);
    switch (a.kind) {
      case AccessKind::kRead:
        compare_version(a);
        join_groups(a, kReaders);
        break;
      case AccessKind::kAccumulate:
        join_groups(a, kAccumulates + a.update);
        break;
      case AccessKind::kWrite:
      case AccessKind::kClobber:
        overwrite(a);
        break;
    }
  }

  /// Runs lie wholly on one side.
  bool is_mine(const Run& run) const { return begin_ <= run.begin && run.begin < end_; }
  /// False if no run is.
  bool is_mine(const AccessInstance& a) const {
    const std::span<const Run> runs = footprints_.runs(a);
    return !runs.empty() && runs.front().begin < end_ && begin_ < runs.back().end;
  }

  void join_groups(const AccessInstance& a, std::uint32_t kind) {
    const std::uint32_t id = footprints_.index_of(a);
    for (const Run& run : footprints_.runs(a)) {
      if (!is_mine(run)) continue;
      bytes_.visit(run.begin, run.end, [&](std::size_t begin, std::size_t end, Bytes& bytes) {
        if (bytes.kind != kind) {
          bytes.before = bytes.group;
          bytes.group = kNil;
          bytes.kind = kind;
        }
        check(a.cmd, bytes.before, begin, end);
        if (bytes.group == kNil || members_[bytes.group].cmd != a.cmd) {
          bytes.group = add_member(a.cmd, bytes.group);
        }
        if (kind >= kAccumulates) bytes.version = versions_.accumulated(bytes.version, id);
      });
    }
  }

  void overwrite(const AccessInstance& a) {
    const Version version = Versions::written(footprints_.index_of(a));
    for (const Run& run : footprints_.runs(a)) {
      if (!is_mine(run)) continue;
      bytes_.look(run.begin, run.end, [&](std::size_t begin, std::size_t end, const Bytes& bytes) {
        check(a.cmd, bytes.group, begin, end);
      });
      bytes_.assign(run.begin, run.end, {add_member(a.cmd, kNil), kNil, kWriter, version});
    }
  }

  void check(Cmd cmd, std::uint32_t group, std::size_t begin, std::size_t end) {
    for (; group != kNil; group = members_[group].next) {
      const Cmd other = members_[group].cmd;
      if (other == cmd) continue;
      ++result_.pairs_checked;
      if (order_.before(other, cmd)) continue;
      result_.has_race = true;
      result_.racy.mark(begin, end);
    }
  }

  std::uint32_t add_member(Cmd cmd, std::uint32_t group) {
    std::uint32_t size = 1;
    std::uint32_t limit = 16;
    if (group != kNil) {
      if (members_[group].size >= members_[group].limit) group = cut_down(group);
      size = members_[group].size + 1;
      limit = members_[group].limit;
    }
    members_.push_back({cmd, group, size, limit});
    return static_cast<std::uint32_t>(members_.size() - 1);
  }

  /// The list with only the last member of each chain: it completes after the others of the chain.
  std::uint32_t cut_down(std::uint32_t group) {
    ++stamp_;
    kept_.clear();
    for (; group != kNil; group = members_[group].next) {
      const std::uint32_t chain = order_.chain(members_[group].cmd);
      if (chain >= seen_.size()) seen_.resize(chain + 1, 0);
      if (std::exchange(seen_[chain], stamp_) != stamp_) kept_.push_back(members_[group].cmd);
    }
    const auto limit = static_cast<std::uint32_t>(std::max<std::size_t>(16, 2 * kept_.size()));
    std::uint32_t list = kNil;
    for (std::size_t k = kept_.size(); k > 0; --k) {
      members_.push_back(
          {kept_[k - 1], list, static_cast<std::uint32_t>(kept_.size() - k + 1), limit});
      list = static_cast<std::uint32_t>(members_.size() - 1);
    }
    return list;
  }

  void compare_kept(const AccessInstance& a, std::uint32_t id) {
    for (const Run& run : footprints_.runs(a)) {
      if (!is_mine(run)) continue;
      bytes_.look(run.begin, run.end, [&](std::size_t begin, std::size_t end, const Bytes& bytes) {
        if (bytes.version == kInitialVersion) return;
        if (a.or_own && is_own(a, bytes.version, begin, end)) return;
        suspect(id, begin, end, {address(begin), address(end)}, kInitialVersion, bytes.version);
      });
    }
  }

  TensorId root(const AccessInstance& a) const { return program_.plan->tensors[a.tensor].root; }

  /// True iff every command that had a part in `version` wrote there through the family of `a`.
  bool is_own(const AccessInstance& a, Version version, std::size_t begin, std::size_t end) const {
    for (;; version = versions_.before(version)) {
      if (version == kInitialVersion) return true;
      const Cmd author = command(version);
      const bool own = std::ranges::any_of(footprints_.of(author), [&](const AccessInstance& w) {
        return w.kind != AccessKind::kRead && w.tensor != kNone<TensorId> && root(w) == root(a) &&
               std::ranges::any_of(footprints_.runs(w), [&](const Run& run) {
                 return run.begin < end && begin < run.end;
               });
      });
      if (!own) return false;
      if (versions_.before(version) == version) return true;
    }
  }

  /// The command of the last access of a version, which has one.
  Cmd command(Version version) const {
    return footprints_.accesses()[versions_.access(version)].cmd;
  }

  /// True iff two versions hold what the same commands wrote and accumulated, be it by several
  /// accesses.
  bool same_commands(Version a, Version b) const {
    const auto is_sum = [&](Version v) { return versions_.before(v) != v; };
    const auto before_command = [&](Version v) {
      const Cmd last = command(v);
      while (is_sum(v) && command(v) == last) v = versions_.before(v);
      return v;
    };
    while (a != b) {
      if (std::min(a, b) <= kUnwrittenVersion || command(a) != command(b)) return false;
      if (is_sum(a) != is_sum(b)) return false;
      if (!is_sum(a)) return writes(a) && writes(b);
      a = before_command(a);
      b = before_command(b);
    }
    return true;
  }
  bool writes(Version version) const {
    return footprints_.accesses()[versions_.access(version)].kind == AccessKind::kWrite;
  }

  void compare_version(const AccessInstance& a) {
    const std::uint32_t id = footprints_.index_of(a);
    if (a.keeps_initial) {
      compare_kept(a, id);
      return;
    }
    const auto pieces = expected_.of(id);
    auto piece = pieces.begin();
    for (const Run& run : footprints_.runs(a)) {
      if (is_mine(run)) compare_run(a, id, run, piece);
      while (piece != pieces.end() && piece->end <= run.family_end &&
             piece->begin >= run.family_begin) {
        ++piece;
      }
    }
  }

  /// Within a run, pieces (from `piece` on) and intervals cut the same bytes, each in ascending
  /// order.
  void compare_run(const AccessInstance& a, std::uint32_t id, const Run& run,
                   std::span<const ExpectedPiece>::iterator piece) {
    bytes_.look(run.begin, run.end, [&](std::size_t begin, std::size_t end, const Bytes& bytes) {
      if (begin == run.begin && end == run.end && piece->begin == run.family_begin &&
          piece->end == run.family_end) {
        compare(id, begin, end, {address(begin), address(end)}, piece->version, bytes.version);
        return;
      }
      while (true) {
        const ByteRange range{std::max(address(begin), footprints_.family_address(a, piece->begin)),
                              std::min(address(end), footprints_.family_address(a, piece->end))};
        compare(id, begin, end, range, piece->version, bytes.version);
        if (footprints_.family_address(a, piece->end) >= address(end)) return;
        ++piece;
      }
    });
  }

  std::int64_t address(std::size_t point) const {
    return footprints_.address(static_cast<std::uint32_t>(point));
  }

  void compare(std::uint32_t access, std::size_t begin, std::size_t end, ByteRange range,
               Version expected, Version actual) {
    if (range.empty()) return;
    if (versions_.base(expected) != kUnwrittenVersion && same_commands(expected, actual)) return;
    suspect(access, begin, end, range, expected, actual);
  }

  void suspect(std::uint32_t access, std::size_t begin, std::size_t end, ByteRange range,
               Version expected, Version actual) {
    if (result_.suspects.size() >= kMaxSuspects) return;
    result_.suspects.push_back({access,
                                static_cast<std::uint32_t>(begin),
                                static_cast<std::uint32_t>(end),
                                range,
                                expected,
                                actual,
                                {}});
  }

  // --- unknown commands ---

  template <typename Visit>
  void for_each_touched(Cmd cmd, Visit&& visit) const {
    if (footprints_.of(cmd).empty()) {
      visit(std::uint32_t{0}, static_cast<std::uint32_t>(footprints_.points()));
    }
    for (const AccessInstance& a : footprints_.of(cmd)) {
      for (const Run& run : footprints_.runs(a)) visit(run.begin, run.end);
    }
  }

  void touch(Cmd cmd) {
    if (!touched_) touched_.emplace(0, footprints_.points(), kNoCmd);
    if (reads_amiss(cmd)) note_unknown(cmd, kEndOfRun);
    for_each_touched(cmd, [&](std::uint32_t begin, std::uint32_t end) {
      bytes_.look(begin, end, [&](std::size_t, std::size_t, const Bytes& bytes) {
        check_before_unknown(cmd, bytes.group);
        check_before_unknown(cmd, bytes.before);
      });
      touched_->look(begin, end, [&](std::size_t, std::size_t, Cmd other) {
        if (other != kNoCmd && other != cmd) note_unknown(other, cmd);
      });
      touched_->assign(begin, end, cmd);
    });
  }

  void check_before_unknown(Cmd unknown, std::uint32_t group) {
    for (; group != kNil; group = members_[group].next) {
      ++result_.pairs_checked;
      if (!order_.before(members_[group].cmd, unknown)) note_unknown(unknown, members_[group].cmd);
    }
  }

  /// True if an unknown command, reading all that it may, reads what nobody wrote or a wrong
  /// version.
  bool reads_amiss(Cmd cmd) {
    const std::size_t before = result_.suspects.size();
    for (const AccessInstance& a : footprints_.of(cmd)) {
      if (a.tensor != kNone<TensorId>) compare_version(a);
    }
    const bool amiss = result_.suspects.size() > before;
    result_.suspects.erase(result_.suspects.begin() + static_cast<std::ptrdiff_t>(before),
                           result_.suspects.end());
    return amiss || footprints_.of(cmd).empty();
  }

  void check_unknown(const AccessInstance& a) {
    if (!touched_) return;
    for (const Run& run : footprints_.runs(a)) {
      touched_->look(run.begin, run.end, [&](std::size_t, std::size_t, Cmd unknown) {
        if (unknown != kNoCmd) note_unknown(unknown, a.cmd);
      });
    }
  }

  /// Cuts out of the suspects the points where an unknown command may have put what the reader
  /// finds: what is wrong there is not proven.
  void leave_out_unknowns() {
    std::vector<Suspect> kept;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> holes;
    for (const Suspect& s : result_.suspects) {
      holes.assign(1, {s.end, s.end});
      for (Cmd unknown : unknown_) {
        for_each_touched(unknown, [&](std::uint32_t begin, std::uint32_t end) {
          if (begin >= s.end || s.begin >= end) return;
          holes.emplace_back(std::max(begin, s.begin), end);
          note_unknown(unknown, footprints_.accesses()[s.access].cmd);
        });
      }
      std::ranges::sort(holes);
      std::uint32_t from = s.begin;
      for (const auto& [begin, end] : holes) {
        if (begin > from) {
          kept.push_back(s);
          kept.back().begin = from;
          kept.back().end = begin;
          kept.back().bytes = {std::max(s.bytes.begin, address(from)),
                               std::min(s.bytes.end, address(begin))};
          if (kept.back().bytes.empty()) kept.pop_back();
        }
        from = std::max(from, end);
      }
    }
    result_.suspects = std::move(kept);
  }

  /// The first other command that touches the same bytes is the best to name.
  void note_unknown(Cmd unknown, Cmd other) {
    const auto [at, is_new] = noted_.try_emplace(unknown, result_.unknowns.size());
    if (is_new) {
      result_.unknowns.emplace_back(unknown, other);
    } else if (result_.unknowns[at->second].second == kEndOfRun) {
      result_.unknowns[at->second].second = other;
    }
  }

  const std::size_t begin_;
  const std::size_t end_;
  const Program& program_;
  const Walk& walk_;
  const Order& order_;
  const Footprints& footprints_;
  const Expected& expected_;
  Versions& versions_;
  SweepResult result_;
  SegmentMap<Bytes> bytes_;
  std::vector<Cmd> unknown_;                    ///< Unknown commands.
  std::unordered_map<Cmd, std::size_t> noted_;  ///< Their places in the result.
  std::optional<SegmentMap<Cmd>> touched_;      ///< The last unknown command that may touch a byte.
  std::vector<Member> members_;
  std::vector<std::uint32_t> seen_;  ///< By chain: the stamp of the cut that saw it.
  std::uint32_t stamp_ = 0;
  std::vector<Cmd> kept_;
};

/// What two sweeps of the halves found, as one sweep of all would.
SweepResult merged(SweepResult first, SweepResult second, const Walk& walk,
                   const Footprints& footprints) {
  first.racy.mark(second.racy);
  first.has_race = first.has_race || second.has_race;
  first.pairs_checked += second.pairs_checked;
  if (second.suspects.empty()) return first;
  std::vector<std::uint32_t> place(footprints.accesses().size());  // In the walk, and at its end.
  std::uint32_t next = 0;
  const auto number = [&](std::span<const AccessInstance> accesses) {
    for (const AccessInstance& a : accesses) place[footprints.index_of(a)] = next++;
  };
  for (Cmd cmd : walk.order) number(footprints.of(cmd));
  number(footprints.at_end());
  const std::size_t middle = first.suspects.size();
  first.suspects.insert(first.suspects.end(), std::make_move_iterator(second.suspects.begin()),
                        std::make_move_iterator(second.suspects.end()));
  // Of one access, those of the first half come first.
  std::inplace_merge(
      first.suspects.begin(), first.suspects.begin() + static_cast<std::ptrdiff_t>(middle),
      first.suspects.end(),
      [&](const Suspect& a, const Suspect& b) { return place[a.access] < place[b.access]; });
  if (first.suspects.size() > kMaxSuspects) first.suspects.resize(kMaxSuspects);
  return first;
}

/// True if two threads may share the points: accumulates number versions, and unknown commands are
/// noted, in the order of one walk.
bool can_be_halved(const Program& program, const Footprints& footprints) {
  const auto is_unknown = [](const Op& op) { return op.kind == OpKind::kUnknown; };
  return !footprints.accumulates() && std::ranges::none_of(program.plan->ops, is_unknown);
}

}  // namespace

SweepResult sweep(const Program& program, const Walk& walk, const Order& order,
                  const Footprints& footprints, const Expected& expected, Versions& versions,
                  bool halve) {
  const auto sweep_part = [&](std::size_t begin, std::size_t end) {
    return Sweeper(program, walk, order, footprints, expected, versions, begin, end).run();
  };
  const std::size_t all = footprints.points();
  const std::size_t half = halve && can_be_halved(program, footprints) ? footprints.halfway() : all;
  if (half == all) return sweep_part(0, all);
  auto second = std::async(std::launch::async, [&] { return sweep_part(half, all); });
  SweepResult first = sweep_part(0, half);
  return merged(std::move(first), second.get(), walk, footprints);
}

}  // namespace memverify
