// verify/certificate_touches.h -- who touches which bytes: every access of a run, and what inputs,
// constants and outputs do at its beginning and end.
//
// Cost: linear in accesses, but for numbering their bytes (certificate_regions.h).
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "verify/certificate_model.h"
#include "verify/certificate_points.h"
#include "verify/certificate_regions.h"

namespace memverify::cert {

/// What a byte holds: a write and the accumulates since. Equal numbers, equal contents.
using Version = std::uint32_t;
inline constexpr Version kInitial = 0, kUnwritten = 1;

struct Content {
  Version before;  ///< Of an accumulate; its own number for a write.
  Node node;
  TensorId root;  ///< Family it was written through.
};

struct Touch {
  Node node = kNoNode;       ///< The number of nodes for the end.
  std::uint32_t access = 0;  ///< In Plan::accesses; of the end in Plan::outputs.
  AccessKind kind = AccessKind::kRead;
  bool keeps = false, or_own = false;  ///< The end: an input or constant must be as it was.
  bool in_lists = false;               ///< Of class Versions: a read that expects several.
  TensorId tensor = kNone<TensorId>;
  /// That a write leaves. Of class Versions: that a read expects, or the number of its list.
  Version version = kUnwritten;
  std::int64_t instance = 0;
  PointRange points;  ///< As in Regions.
};

/// What an input or constant holds from the start.
struct Initial {
  TensorId tensor;
  std::vector<PointRange> points;  ///< By slot.
};

/// The first way in which two nodes clash (MV101 + way), the first in program order first.
struct Clash {
  int way = 0;
  PoolId pool = kNone<PoolId>;
  std::int64_t byte = 0;
  auto operator<=>(const Clash&) const = default;
};

class Touches {
 public:
  explicit Touches(const Model& model);

  const Model& model() const { return model_; }
  std::size_t size() const { return touches_.size(); }
  std::span<const Touch> all() const { return touches_; }
  Touch& operator[](std::uint32_t k) { return touches_[k]; }
  /// Those of a node: reads, accumulates, writes, clobbers; or of the end.
  std::span<const Touch> of(Node node) const {
    return all().subspan(first_[node], first_[node + 1] - first_[node]);
  }
  std::span<const PointRange> ranges(const PointRange& points) const {
    return regions_.ranges(points);
  }
  std::span<const PointRange> ranges(const Touch& touch) const { return ranges(touch.points); }
  /// One more than the greatest point.
  Point points() const { return regions_.size(); }

  TensorId root(const Touch& touch) const { return plan_.tensors[touch.tensor].root; }
  std::pair<StorageId, std::uint32_t> slot(TensorId tensor, std::int64_t instance) const;
  /// Only ops that run first write it, in storage that does not rotate ([S-30]).
  bool has_one_instance(TensorId root) const { return one_instance_[index(root)] != 0; }
  std::span<const Initial> initial(TensorId root) const { return initial_[index(root)]; }
  /// Accumulates with equal numbers commute.
  std::uint64_t update(const Touch& touch) const;

  /// By version: of writes. Once.
  std::vector<Content> take_contents() { return std::move(contents_); }

  std::optional<Clash> clash(Node first, Node second) const;
  /// The node of read number `k` along a run; the end for an output.
  Node reader(std::span<const Node> run, std::size_t k) const;
  /// "`op` on `tensor`", for messages.
  std::string name(const Touch& touch) const;

 private:
  void describe_families();
  void list();
  void list_end();
  void touch(Node node, std::uint32_t access);
  void touch_at_end(Touch touch);
  void keep(TensorId tensor, bool or_own);
  Regions::Id region_of(const Touch& touch, const Access& access);
  void list_initial();
  void number_points();
  std::int64_t instance_of(TensorId tensor, std::int64_t iteration) const;
  PoolId pool_of(const Touch& touch) const;

  const Model& model_;
  const Plan& plan_;
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_;  ///< By node, the end, and one more, in `touches_`.
  std::vector<Content> contents_;
  Regions regions_;
  std::vector<std::uint8_t> one_instance_;     ///< By root.
  std::vector<std::vector<Initial>> initial_;  ///< By root.
  std::vector<Regions::Id> whole_;             ///< By tensor, if known: all bytes of its only slot.
};

}  // namespace memverify::cert
