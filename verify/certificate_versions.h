// verify/certificate_versions.h -- what each read expects to find, and what it finds.
//
// Idea: in program order, per instance of a family, who wrote each byte last: what reads expect
//   ([S-42]). Then along a run, who has written each byte last: what they find. Both are numbers of
//   contents, a write and the accumulates since.
// Cost: O(log) for each access and each piece of bytes it touches.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "verify/certificate_demands.h"
#include "verify/certificate_lifetimes.h"
#include "verify/certificate_points.h"
#include "verify/certificate_touches.h"

namespace memverify::cert {

class Versions {
 public:
  /// Adds to `demands.writers`, sets `fault`; changes the versions of reads, which are its own.
  Versions(Touches& touches, const Lifetimes& lifetimes, Demands& demands);
  void expect();
  void find(std::span<const Node> run);

 private:
  struct Piece {
    Point begin, end;  ///< With what lies between the ranges of its touch.
    Version version;
  };

  // What is expected, by a family.
  void start_family(TensorId root, std::int64_t instance);
  bool expect_as_one(TensorId root, std::span<const std::uint32_t> family);
  void expect_step(std::uint32_t number);
  void expect_read(Touch& touch);
  void expect_last(const Touch& touch, PointRange range);
  void expect_named(const Touch& touch, PointRange range, Node writer);
  void add_piece(Piece piece);
  void include(PointRange range);
  void set(PointRange range, Version version);
  bool names_writer(const Touch& touch) const;
  Node named_writer(const Touch& touch, bool& named) const;
  Version after_alloc(const Touch& touch, Version version) const;
  Version base(Version version) const;
  Version accumulated(Version version, Node node, TensorId root);
  std::span<const Piece> expected(const Touch& touch, Piece& one) const;
  // What is found, along the run.
  void find_step(const Touch& touch);
  void find_read(const Touch& touch);
  void find_kept(const Touch& touch);
  void tell_writers(const Touch& touch);
  void fault(const Touch& touch, const std::string& what);

  Touches& touches_;
  const Model& model_;
  const Plan& plan_;
  const Lifetimes& lifetimes_;
  Demands& demands_;
  std::vector<Content> contents_;  ///< By version.
  std::unordered_map<std::uint64_t, Version> accumulated_;
  std::vector<Piece> pieces_;
  std::vector<Range> lists_;                       ///< In `pieces_`.
  std::size_t first_piece_ = 0;                    ///< Of the read that is looked at.
  PointMap<Version> last_, named_;                 ///< Of the family; of one read.
  PointRange hull_;                                ///< Where `last_` may hold something.
  std::vector<std::uint32_t> family_accumulates_;  ///< Touches of the family.
};

}  // namespace memverify::cert
