#include "verify/stale.h"

#include <algorithm>
#include <span>

#include "verify/segment_map.h"

namespace memverify {
namespace {

constexpr std::size_t kMaxSuspects = std::size_t{1} << 20;

bool is_program_order(const Walk& walk) {
  return walk.all_completed && std::ranges::is_sorted(walk.order);
}

class StaleReads {
 public:
  /// Takes what reads mean from `reads.expected`, or else finds it out on the way.
  StaleReads(const Program& program, const Walk& walk, const Footprints& footprints, Reads& reads)
      : walk_(walk),
        footprints_(footprints),
        reads_(reads),
        versions_(reads.versions),
        bytes_(footprints.points(), kInitialVersion) {
    if (!reads.expected) pass_.emplace(footprints, program, versions_);
  }

  void run() {
    for (Cmd cmd : walk_.order) {
      const OpKind kind = footprints_.kind(cmd);
      if (kind == OpKind::kOp) {
        for (const AccessInstance& a : footprints_.of(cmd)) access(a);
      } else if (kind == OpKind::kUnknown) {
        if (reads_amiss(cmd)) reads_.amiss.push_back(cmd);
      } else if (kind == OpKind::kAlloc && pass_) {
        pass_->alloc(cmd);
      }
    }
    if (!walk_.all_completed) return;
    for (const AccessInstance& a : footprints_.at_end()) compare(a);
  }

 private:
  void access(const AccessInstance& a) {
    const std::uint32_t id = footprints_.index_of(a);
    switch (a.kind) {
      case AccessKind::kRead:
        compare(a);
        return;
      case AccessKind::kAccumulate:
        for (const Run& run : footprints_.runs(a)) {
          bytes_.visit(run.begin, run.end, [&](std::size_t, std::size_t, Version& version) {
            version = versions_.accumulated(version, id);
          });
        }
        break;
      case AccessKind::kWrite:
      case AccessKind::kClobber:
        for (const Run& run : footprints_.runs(a)) {
          bytes_.assign(run.begin, run.end, Versions::written(id));
        }
        break;
    }
    if (pass_) pass_->pass(a);
  }

  std::span<const ExpectedPiece> expected(const AccessInstance& read) {
    return pass_ ? pass_->expect(read) : reads_.expected->of(footprints_.index_of(read));
  }

  void compare(const AccessInstance& a) {
    const std::uint32_t id = footprints_.index_of(a);
    if (a.keeps_initial) return compare_kept(a, id);
    const std::span<const Run> runs = footprints_.runs(a);
    if (pass_ && runs.size() == 1 && is_one_and_meant(a, runs.front())) return;
    const auto pieces = expected(a);
    auto piece = pieces.begin();
    for (const Run& run : runs) {
      compare_run(a, id, run, piece);
      while (piece != pieces.end() && piece->end <= run.family_end &&
             piece->begin >= run.family_begin) {
        ++piece;
      }
    }
  }

  /// As nearly all are.
  bool is_one_and_meant(const AccessInstance& a, const Run& run) const {
    const std::optional<Version> expected = pass_->expect_one(a, run);
    const Version* const actual = bytes_.whole(run.begin, run.end);
    return expected && actual != nullptr && is_meant(*expected, *actual);
  }

  /// Within a run, pieces (from `piece` on) and intervals cut the same bytes, each in ascending
  /// order.
  void compare_run(const AccessInstance& a, std::uint32_t id, const Run& run,
                   std::span<const ExpectedPiece>::iterator piece) {
    bytes_.look(run.begin, run.end, [&](std::size_t begin, std::size_t end, Version actual) {
      for (;; ++piece) {
        const std::int64_t piece_end = footprints_.family_address(a, piece->end);
        const ByteRange range{std::max(address(begin), footprints_.family_address(a, piece->begin)),
                              std::min(address(end), piece_end)};
        if (!range.empty() && !is_meant(piece->version, actual))
          suspect(id, begin, end, range, piece->version, actual);
        if (piece_end >= address(end)) return;
      }
    });
  }

  void compare_kept(const AccessInstance& a, std::uint32_t id) {
    for (const Run& run : footprints_.runs(a)) {
      bytes_.look(run.begin, run.end, [&](std::size_t begin, std::size_t end, Version actual) {
        if (actual == kInitialVersion) return;
        if (a.or_own && is_own(a, actual, begin, end)) return;
        suspect(id, begin, end, {address(begin), address(end)}, kInitialVersion, actual);
      });
    }
  }

  /// True iff every command that had a part in `version` wrote there through the family of `a`.
  bool is_own(const AccessInstance& a, Version version, std::size_t begin, std::size_t end) const {
    for (;; version = versions_.before(version)) {
      if (version == kInitialVersion) return true;
      const Cmd author = command(version);
      const bool own = std::ranges::any_of(footprints_.of(author), [&](const AccessInstance& w) {
        return w.kind != AccessKind::kRead && w.root == a.root &&
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

  bool is_meant(Version expected, Version actual) const {
    if (versions_.base(expected) == kUnwrittenVersion) return false;
    return expected == actual || same_commands(expected, actual);
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

  std::int64_t address(std::size_t point) const {
    return footprints_.address(static_cast<std::uint32_t>(point));
  }

  void suspect(std::uint32_t access, std::size_t begin, std::size_t end, ByteRange bytes,
               Version expected, Version actual) {
    if (reads_.suspects.size() >= kMaxSuspects) return;
    reads_.suspects.push_back({access,
                               static_cast<std::uint32_t>(begin),
                               static_cast<std::uint32_t>(end),
                               bytes,
                               expected,
                               actual,
                               {}});
  }

  bool reads_amiss(Cmd cmd) {
    const std::size_t before = reads_.suspects.size();
    for (const AccessInstance& a : footprints_.of(cmd)) {
      if (a.tensor != kNone<TensorId>) compare(a);
    }
    const bool amiss = reads_.suspects.size() > before;
    reads_.suspects.resize(before);
    return amiss || footprints_.of(cmd).empty();
  }

  const Walk& walk_;
  const Footprints& footprints_;
  Reads& reads_;
  Versions& versions_;
  std::optional<ExpectedPass> pass_;
  SegmentMap<Version> bytes_;  ///< What they hold.
};

}  // namespace

Reads::Reads(const Program& program, const Walk& walk, const Footprints& footprints, bool keep)
    : versions(footprints.accesses().size()) {
  if (keep || !is_program_order(walk)) expected.emplace(footprints, program, versions);
  StaleReads(program, walk, footprints, *this).run();
}

}  // namespace memverify
