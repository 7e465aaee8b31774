// verify/expected.h -- the version that every read means.
//
// Problem: the expected writer of a byte read is the last op before the reader *in program order*
//   that wrote that byte of that instance of the family (docs/semantics.md, [S-42]).
// Idea: one pass in program order over a segment map whose points are those of the families'
//   instances, so that other families at the same addresses do not matter.
// Cost: O(1) amortised an interval visited; reads with `from` look at the accumulates of their
//   family.
// Tested by tests/unit/verify/verify_test.cpp, tests/agreement.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "verify/footprint.h"
#include "verify/segment_map.h"
#include "verify/version.h"

namespace memverify {

/// Expected content of the family points `[begin, end)` (counted from family_base of the access).
struct ExpectedPiece {
  std::uint32_t begin = 0, end = 0;
  Version version = kUnwrittenVersion;
};

/// The pass itself: gets the commands and their accesses in program order, and says of a read what
/// it means before it is told of what comes after.
class ExpectedPass {
 public:
  /// Enters accumulates into `versions`.
  ExpectedPass(const Footprints& footprints, const Program& program, Versions& versions);

  /// Comes to an alloc.
  void alloc(Cmd cmd);
  /// What a read means: pieces, ascending, that cover all its runs. Valid until the next call.
  std::span<const ExpectedPiece> expect(const AccessInstance& read);
  /// The same of one of its runs, if that is one version and easily found.
  std::optional<Version> expect_one(const AccessInstance& read, const Run& run) const {
    if (read.has_from) return std::nullopt;
    const std::uint32_t base = footprints_.family_base(read);
    const Version* const version = state_.whole(base + run.family_begin, base + run.family_end);
    if (version == nullptr) return std::nullopt;
    return after_alloc(*version, last_alloc(read));
  }
  /// Goes past a write, accumulate or clobber.
  void pass(const AccessInstance& access);

 private:
  /// What `from` names: the initial value, or the writes of one command.
  struct Source {
    bool named = false;
    Cmd writer = kNoCmd;  ///< kNoCmd: the initial value.
  };

  Source source_of(const AccessInstance& read) const;
  void expect_named(const AccessInstance& read, const Run& run, const Source& source);
  void expect_last(const AccessInstance& read, std::size_t begin, std::size_t end);
  void piece(std::size_t begin, std::size_t end, Version version);
  Cmd last_alloc(const AccessInstance& read) const;
  Version after_alloc(Version version, Cmd alloc) const;
  const SegmentMap<Version>& initial();

  const Footprints& footprints_;
  const Program& program_;
  const Plan& plan_;
  Versions& versions_;
  SegmentMap<Version> state_;
  std::optional<SegmentMap<Version>> initial_;  ///< Made when a read asks for it.
  std::vector<Cmd> last_alloc_;                 ///< By slot; empty before the first.
  std::uint32_t base_ = 0;                      ///< Of the read at hand: its family_base,
  std::vector<ExpectedPiece> pieces_;           ///< and what it means.
};

/// What all reads mean.
class Expected {
 public:
  Expected(const Footprints& footprints, const Program& program, Versions& versions);

  /// Pieces of a read (index of its AccessInstance), ascending, covering all its runs.
  std::span<const ExpectedPiece> of(std::uint32_t access) const {
    return std::span(pieces_).subspan(first_[access].begin,
                                      first_[access].end - first_[access].begin);
  }

 private:
  void add(std::uint32_t access, std::span<const ExpectedPiece> pieces);
  std::vector<Items> first_;  ///< By access.
  std::vector<ExpectedPiece> pieces_;
};

}  // namespace memverify
