#include "verify/sweep.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <optional>
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

std::size_t PointMarks::first(std::size_t begin, std::size_t end, std::uint64_t flip) const {
  for (std::size_t at = begin; at < end; at = (at / 64 + 1) * 64) {
    const std::uint64_t word = (words_[at / 64] ^ flip) >> (at % 64);
    if (word != 0) return std::min(end, at + static_cast<std::size_t>(std::countr_zero(word)));
  }
  return end;
}

namespace {

/// A group: kNil for none, kSingle + cmd for one command, else the place of its last member.
using Group = std::uint32_t;
constexpr Group kNil = 0xFFFFFFFFU;
constexpr Group kSingle = 0x80000000U;
constexpr std::uint32_t kLeastLimit = 16;

/// What kind of group holds a byte. Accumulates of number u: kAccumulates + u.
enum : std::uint32_t { kNobody, kWriter, kReaders, kAccumulates };

/// A member of a group of several; groups are immutable lists, shared by the pieces of a split
/// interval.
struct Member {
  Cmd cmd;
  Group next;
  std::uint32_t size;   ///< Of the list from here.
  std::uint32_t limit;  ///< At this size the list is cut down to the last member of each chain.
};

struct Bytes {
  Group group = kNil;
  Group before = kNil;  ///< The group before that one.
  std::uint32_t kind = kNobody;
};

/// Calls visit(begin, end) for the points that an unknown command may touch: all if it lists none.
template <typename Visit>
void for_each_touched(const Footprints& footprints, Cmd cmd, Visit&& visit) {
  if (footprints.of(cmd).empty()) {
    visit(std::uint32_t{0}, static_cast<std::uint32_t>(footprints.points()));
  }
  for (const AccessInstance& a : footprints.of(cmd)) {
    for (const Run& run : footprints.runs(a)) visit(run.begin, run.end);
  }
}

/// The first other command that touches the same bytes is the best to name.
void note(std::map<Cmd, Cmd>& unknowns, Cmd unknown, Cmd other) {
  const auto [at, is_new] = unknowns.try_emplace(unknown, other);
  if (!is_new && at->second == kEndOfRun) at->second = other;
}

class Sweeper {
 public:
  Sweeper(const Walk& walk, const Order& order, const Footprints& footprints)
      : walk_(walk),
        order_(order),
        footprints_(footprints),
        result_(footprints.points()),
        bytes_(footprints.points(), Bytes{}) {
    assert(footprints.commands() < kSingle);
    members_.reserve(footprints.accesses().size());  // Costs address space only.
  }

  SweepResult run() {
    for (Cmd cmd : walk_.order) {
      const OpKind kind = footprints_.kind(cmd);
      if (kind == OpKind::kOp) {
        for (const AccessInstance& a : footprints_.of(cmd)) access(a);
      } else if (kind == OpKind::kUnknown) {
        touch(cmd);
      }
    }
    if (walk_.all_completed) {
      for (const AccessInstance& a : footprints_.at_end()) check_unknown(a);
    }
    return std::move(result_);
  }

 private:
  void access(const AccessInstance& a) {
    check_unknown(a);
    switch (a.kind) {
      case AccessKind::kRead:
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

  void join_groups(const AccessInstance& a, std::uint32_t kind) {
    for (const Run& run : footprints_.runs(a)) {
      if (Bytes* const bytes = bytes_.exact(run.begin, run.end); bytes != nullptr) {
        join_group(a.cmd, kind, run.begin, run.end, *bytes);
        continue;
      }
      bytes_.visit(run.begin, run.end, [&](std::size_t begin, std::size_t end, Bytes& bytes) {
        join_group(a.cmd, kind, begin, end, bytes);
      });
    }
  }

  void join_group(Cmd cmd, std::uint32_t kind, std::size_t begin, std::size_t end, Bytes& bytes) {
    if (bytes.kind != kind) {
      bytes.before = bytes.group;
      bytes.group = kNil;
      bytes.kind = kind;
    }
    check(cmd, bytes.before, begin, end);
    bytes.group = with_member(cmd, bytes.group);
  }

  void overwrite(const AccessInstance& a) {
    const Bytes written{kSingle + a.cmd, kNil, kWriter};
    for (const Run& run : footprints_.runs(a)) {
      if (Bytes* const bytes = bytes_.exact(run.begin, run.end); bytes != nullptr) {
        check(a.cmd, bytes->group, run.begin, run.end);
        *bytes = written;
        continue;
      }
      bytes_.look(run.begin, run.end, [&](std::size_t begin, std::size_t end, const Bytes& bytes) {
        check(a.cmd, bytes.group, begin, end);
      });
      bytes_.assign(run.begin, run.end, written);
    }
  }

  /// Calls visit(cmd) for the members of a group, the last one first.
  template <typename Visit>
  void for_each_member(Group group, Visit&& visit) const {
    for (; group < kSingle; group = members_[group].next) visit(members_[group].cmd);
    if (group != kNil) visit(group - kSingle);
  }

  void check(Cmd cmd, Group group, std::size_t begin, std::size_t end) {
    for_each_member(group, [&](Cmd other) {
      if (other == cmd) return;
      ++result_.pairs_checked;
      if (order_.before(other, cmd)) return;
      result_.has_race = true;
      result_.racy.mark(begin, end);
    });
  }

  Group with_member(Cmd cmd, Group group) {
    if (group == kNil || group == kSingle + cmd) return kSingle + cmd;
    std::uint32_t size = 1;
    std::uint32_t limit = kLeastLimit;
    if (group < kSingle) {
      if (members_[group].cmd == cmd) return group;
      if (members_[group].size >= members_[group].limit) group = cut_down(group);
    }
    if (group < kSingle) {
      size = members_[group].size;
      limit = members_[group].limit;
    }
    return add_member({cmd, group, size + 1, limit});
  }

  Group add_member(const Member& member) {
    members_.push_back(member);
    return static_cast<Group>(members_.size() - 1);
  }

  /// The group with only the last member of each chain: it completes after the others of the chain.
  Group cut_down(Group group) {
    ++stamp_;
    kept_.clear();
    for_each_member(group, [&](Cmd cmd) {
      const std::uint32_t chain = order_.chain(cmd);
      if (chain >= seen_.size()) seen_.resize(chain + 1, 0);
      if (std::exchange(seen_[chain], stamp_) != stamp_) kept_.push_back(cmd);
    });
    const auto limit =
        static_cast<std::uint32_t>(std::max<std::size_t>(kLeastLimit, 2 * kept_.size()));
    Group list = kSingle + kept_.back();
    for (std::size_t k = kept_.size() - 1; k > 0; --k) {
      list =
          add_member({kept_[k - 1], list, static_cast<std::uint32_t>(kept_.size() - k + 1), limit});
    }
    return list;
  }

  // --- unknown commands ---

  void touch(Cmd cmd) {
    if (!touched_) touched_.emplace(footprints_.points(), kNoCmd);
    for_each_touched(footprints_, cmd, [&](std::uint32_t begin, std::uint32_t end) {
      bytes_.look(begin, end, [&](std::size_t, std::size_t, const Bytes& bytes) {
        check_before_unknown(cmd, bytes.group);
        check_before_unknown(cmd, bytes.before);
      });
      touched_->look(begin, end, [&](std::size_t, std::size_t, Cmd other) {
        if (other != kNoCmd && other != cmd) note(result_.unknowns, other, cmd);
      });
      touched_->assign(begin, end, cmd);
    });
  }

  void check_before_unknown(Cmd unknown, std::uint32_t group) {
    for_each_member(group, [&](Cmd other) {
      ++result_.pairs_checked;
      if (!order_.before(other, unknown)) note(result_.unknowns, unknown, other);
    });
  }

  void check_unknown(const AccessInstance& a) {
    if (!touched_) return;
    for (const Run& run : footprints_.runs(a)) {
      touched_->look(run.begin, run.end, [&](std::size_t, std::size_t, Cmd unknown) {
        if (unknown != kNoCmd) note(result_.unknowns, unknown, a.cmd);
      });
    }
  }

  const Walk& walk_;
  const Order& order_;
  const Footprints& footprints_;
  SweepResult result_;
  SegmentMap<Bytes> bytes_;
  std::optional<SegmentMap<Cmd>> touched_;  ///< The last unknown command that may touch a byte.
  std::vector<Member> members_;
  std::vector<std::uint32_t> seen_;  ///< By chain: the stamp of the cut that saw it.
  std::uint32_t stamp_ = 0;
  std::vector<Cmd> kept_;
};

std::vector<Cmd> unknown_commands(const Footprints& footprints) {
  std::vector<Cmd> result;
  for (Cmd cmd = 0; cmd < footprints.commands(); ++cmd) {
    if (footprints.kind(cmd) == OpKind::kUnknown) result.push_back(cmd);
  }
  return result;
}

}  // namespace

SweepResult sweep(const Walk& walk, const Order& order, const Footprints& footprints) {
  return Sweeper(walk, order, footprints).run();
}

void leave_out_unknowns(const Footprints& footprints, Reads& reads, SweepResult& swept) {
  for (Cmd unknown : reads.amiss) note(swept.unknowns, unknown, kEndOfRun);
  if (reads.suspects.empty()) return;
  const std::vector<Cmd> unknowns = unknown_commands(footprints);
  if (unknowns.empty()) return;
  std::vector<Suspect> kept;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> holes;
  for (const Suspect& s : reads.suspects) {
    holes.assign(1, {s.end, s.end});
    for (Cmd unknown : unknowns) {
      for_each_touched(footprints, unknown, [&](std::uint32_t begin, std::uint32_t end) {
        if (begin >= s.end || s.begin >= end) return;
        holes.emplace_back(std::max(begin, s.begin), end);
        note(swept.unknowns, unknown, footprints.accesses()[s.access].cmd);
      });
    }
    std::ranges::sort(holes);
    std::uint32_t from = s.begin;
    for (const auto& [begin, end] : holes) {
      if (begin > from) {
        kept.push_back(s);
        kept.back().begin = from;
        kept.back().end = begin;
        kept.back().bytes = {std::max(s.bytes.begin, footprints.address(from)),
                             std::min(s.bytes.end, footprints.address(begin))};
        if (kept.back().bytes.empty()) kept.pop_back();
      }
      from = std::max(from, end);
    }
  }
  reads.suspects = std::move(kept);
}

}  // namespace memverify
