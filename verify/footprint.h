// verify/footprint.h -- the accesses of a program as intervals of points.
//
// Problem: bytes are 64-bit addresses in many pools, tensors may be strided, storages rotate; the
//   sweeps want small integers.
// Idea: the ends of all runs of all accessed tensors, sorted, cut each pool into elementary pieces;
//   piece k of the list is point k. The same is done for each alias family, relative to its storage
//   slot: the points of one instance of the family. Tensors are resolved once per slot, not per
//   access.
// Cost: O(runs log runs) for the distinct (tensor, part, slot) triples, O(1) an access.
// Tested by tests/unit/verify/footprint_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/region.h"
#include "verify/program.h"

namespace memverify {

inline constexpr Cmd kEndOfRun = kNoCmd;  ///< The reader of outputs and kept inputs.

/// Points of one run: `[begin, end)` of the pool and of the family (both of equal bytes).
struct Run {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t family_begin = 0, family_end = 0;
};

/// One access of one command instance.
struct AccessInstance {
  Cmd cmd = kNoCmd;
  AccessKind kind = AccessKind::kRead;
  bool keeps_initial = false;  ///< At the end: the initial value, not the last one.
  bool or_own = false;         ///< With that: what its own family wrote is as good.
  bool has_from = false;       ///< A read that names what it means.
  std::uint32_t update = 0;    ///< Accumulates of the same number commute.
  std::uint32_t access = 0;    ///< In Plan::accesses; for kEndOfRun in Plan::outputs.
  TensorId tensor = kNone<TensorId>;
  std::uint32_t footprint = 0;
  TensorId root = kNone<TensorId>;  ///< Names the family.
  std::int32_t instance = 0;        ///< Of the family.
};

class Footprints {
 public:
  /// nullopt if the tensors of the program have more than `max_runs` runs.
  static std::optional<Footprints> make(const Program& program, std::size_t max_runs);

  /// The same if the accesses have fewer than `from` runs in all, or none of many. Else strided
  /// regions are counted once, and points are sets of bytes (verify/gather.h): whether a pass sees
  /// a fault on any of them is the same, and `address` only numbers them.
  static std::optional<Footprints> gather(const Program& program, std::size_t max_runs,
                                          std::uint64_t from);
  bool gathered() const { return gathered_; }

  std::size_t commands() const { return kinds_.size(); }
  /// kOp, too, for gates and commands that are skipped, which access nothing.
  OpKind kind(Cmd cmd) const { return kinds_[cmd]; }

  /// Those of commands in program order (all accesses of a command in the order reads, accumulates,
  /// writes, clobbers), then those of the end of the run.
  std::span<const AccessInstance> accesses() const { return accesses_; }
  std::span<const AccessInstance> of(Cmd cmd) const {
    return std::span(accesses_).subspan(first_[cmd], first_[cmd + 1] - first_[cmd]);
  }
  std::span<const AccessInstance> at_end() const {
    return std::span(accesses_).subspan(first_.back());
  }
  std::uint32_t index_of(const AccessInstance& a) const {
    return static_cast<std::uint32_t>(&a - accesses_.data());
  }
  std::span<const Run> runs(const AccessInstance& a) const {
    const Shape& shape = shapes_[a.footprint];
    return std::span(runs_).subspan(shape.begin, shape.end - shape.begin);
  }

  /// The first maximal range of bytes that both touch; empty if there is none. Not if gathered.
  ByteRange first_overlap(const AccessInstance& a, const AccessInstance& b) const;

  std::size_t points() const { return addresses_.size(); }
  std::size_t family_points() const { return family_points_; }
  /// Calls visit(point) for the first point of each instance of each family.
  template <typename Visit>
  void for_each_family_base(Visit&& visit) const {
    for (const Family& f : families_) {
      if (f.points == 0) continue;
      for (std::uint32_t i = 0; i < f.instances; ++i) visit(std::size_t{f.base} + i * f.points);
    }
  }
  /// The first byte of a point, in its pool.
  std::int64_t address(std::uint32_t point) const { return addresses_[point]; }
  PoolId pool(const AccessInstance& a) const { return shapes_[a.footprint].pool; }
  /// The first point of the instance of the family that a tensor's access is of.
  std::uint32_t family_base(const AccessInstance& a) const {
    const Family& f = families_[index(a.root)];
    const std::int32_t place = f.one_instance ? 0 : a.instance + f.max_distance;
    return f.base + static_cast<std::uint32_t>(place) * f.points;
  }
  /// The byte of the pool at which an interval of the family begins: pool and family points are
  /// compared by bytes. `point` counts from family_base.
  std::int64_t family_address(const AccessInstance& a, std::uint32_t point) const;

  /// True if the family that `tensor` belongs to has an initial value.
  bool has_initial(TensorId tensor) const;
  /// True if that family is one instance for all iterations.
  bool is_one_instance(TensorId tensor) const;
  /// Families as ranges of family points whose state at the start is the initial value.
  std::span<const std::pair<std::uint32_t, std::uint32_t>> initial_points() const {
    return initial_;
  }
  /// Number of the slot, over all storages, that the instance of a tensor lies in.
  std::uint32_t slot(TensorId tensor, std::int32_t instance) const;
  std::uint32_t slot_of_storage(StorageId storage, std::int64_t iteration) const;
  std::size_t slots() const { return slots_; }

 private:
  friend class FootprintMaker;
  friend class FootprintCutter;
  friend class ShapeRanges;
  struct Shape {
    PoolId pool = kNone<PoolId>;
    std::uint32_t begin = 0, end = 0;  ///< In runs_.
  };
  struct Family {
    bool one_instance = true;
    bool initial = false;
    std::int32_t max_distance = 0;
    std::uint32_t instances = 0;
    std::uint32_t base = 0;           ///< First family point of instance -max_distance.
    std::uint32_t points = 0;         ///< Of one instance, but for the last end.
    std::uint32_t first_address = 0;  ///< In family_addresses_, of points + 1 if points > 1.
  };

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  const Program* program_ = nullptr;
  bool gathered_ = false;
  std::vector<AccessInstance> accesses_;
  std::vector<std::uint32_t> first_;  ///< By Cmd, and one more for the end.
  std::vector<OpKind> kinds_;         ///< By Cmd.
  std::vector<Shape> shapes_;
  std::vector<Run> runs_;
  std::vector<std::int64_t> addresses_;
  std::vector<std::int64_t> family_addresses_;  ///< Relative to the slot.
  std::vector<Family> families_;                ///< By root TensorId.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> initial_;
  std::vector<std::uint32_t> first_slot_;  ///< By StorageId.
  std::size_t family_points_ = 0;
  std::size_t slots_ = 0;
};

}  // namespace memverify
