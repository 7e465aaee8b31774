// verify/certificate_bytes.h -- which accesses a safe plan must order, and which writer each read
// must find: the checker's own count, so that a certificate cannot leave one out.
//
// Idea: in program order, per instance of a family, who wrote each byte last: what reads expect.
//   Then along a run, per pool, who touched each byte last: accesses form groups (reads,
//   accumulates that commute, single writes); every member of a group must be ordered after the
//   group before it, and what a read finds there must be what it expects. Of an in-order queue the
//   last member of a group stands for all. Bytes are points (certificate_regions.h), and a group
//   that an access has been checked against counts again without being looked at again.
// Cost: O(log) for each access and each piece of bytes it touches, times the members of a group.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "verify/certificate.h"
#include "verify/certificate_model.h"
#include "verify/certificate_points.h"
#include "verify/certificate_regions.h"

namespace memverify::cert {

/// What a proof must show.
struct Demands {
  std::vector<std::pair<Node, Node>> orders;  ///< (node, what must be done when it starts).
  std::int64_t pairs = 0;                     ///< Those, and as often as other bytes ask again.
  /// One row for each read in the order of the run, then for each output: the distances back to the
  /// writers it expects, in order of points; 0 is the start.
  Rows writers;
  std::string fault;  ///< "" or why the plan is not safe.
};

class BytePass {
 public:
  /// Lists the accesses.
  explicit BytePass(const Model& model);
  /// `run` holds every node, in an order in which they can happen. Once.
  Demands go(std::span<const Node> run);
  /// The node of read number `k` along a run; the end for an output.
  Node reader(std::span<const Node> run, std::size_t k) const;

  /// The first way in which two nodes clash (MV101 + way), the first in program order first.
  struct Clash {
    int way = 0;
    PoolId pool = kNone<PoolId>;
    std::int64_t byte = 0;
    auto operator<=>(const Clash&) const = default;
  };
  std::optional<Clash> clash(Node first, Node second);

 private:
  /// What a byte holds: a write and the accumulates since. Equal numbers, equal contents.
  using Version = std::uint32_t;
  static constexpr Version kInitial = 0, kUnwritten = 1;
  struct Content {
    Version before;  ///< Of an accumulate; its own number for a write.
    Node node;
    TensorId root;  ///< Family it was written through.
    bool clobber;
  };
  struct Touch {
    Node node = kNoNode;
    std::uint32_t access = 0;  ///< In Plan::accesses; of the end in Plan::outputs.
    AccessKind kind = AccessKind::kRead;
    bool keeps = false, or_own = false;  ///< The end: an input or constant must be as it was.
    bool in_pieces = false;              ///< A read that expects several versions.
    TensorId tensor = kNone<TensorId>;
    Version version = kUnwritten;  ///< That a write leaves or a read expects; or its `lists_`.
    std::int64_t instance = 0;
    PointRange points;  ///< As in Regions; while listing `begin` is the id.
  };
  struct Piece {
    Point begin, end;  ///< With what lies between the ranges of its touch.
    Version version;
  };
  /// A list of nodes, the last that came first: a cell of `members_`, which does not change; 0 is
  /// empty.
  using Group = std::uint32_t;
  struct Member {
    Node node = kNoNode;
    Group others = 0;
  };
  /// What check() or with() found last for groups of equal remainder; found again when lost.
  struct Memo {
    Group group = 0;
    Node node = kNoNode;
    std::uint32_t found = 0;
  };
  /// Who touched bytes last: a group of one kind, and the group before it.
  struct Touched {
    std::uint32_t kind = 0;
    Group group = 0, before = 0;
  };
  struct Initial {
    TensorId tensor;
    std::vector<PointRange> points;  ///< By slot; as in Touch.
  };

  // Listing.
  void describe_families();
  void list();
  void touch(Node node, std::uint32_t access);
  void list_end();
  void keep(TensorId tensor, bool or_own);
  Regions::Id region_of(const Touch& touch, const Access& access);
  void list_initial();
  void number_points();
  std::int64_t instance_of(TensorId tensor, std::int64_t iteration) const;
  std::uint32_t update_of(const Touch& touch);
  PoolId pool_of(const Touch& touch) const;
  // What is expected.
  void expect_all();
  void start_family(TensorId root, std::int64_t instance);
  bool expect_as_one(TensorId root, std::span<const std::uint32_t> family);
  bool names_writer(const Touch& touch) const;
  void expect_step(std::uint32_t id);
  void expect(Touch& touch);
  void expect_last(const Touch& touch, PointRange range);
  void expect_named(const Touch& touch, PointRange range, Node writer);
  void add_piece(Piece piece);
  std::span<const Piece> expected(const Touch& touch, Piece& one) const;
  void include(PointRange range);
  void set(PointRange range, Version version);
  Node named_writer(const Touch& touch, bool& named) const;
  std::pair<StorageId, std::uint32_t> slot(TensorId tensor, std::int64_t instance) const;
  Version after_alloc(const Touch& touch, Version version) const;
  Version base(Version version) const;
  Version accumulated(Version version, Node node, TensorId root);
  // What is found, along the run.
  void find_all(std::span<const Node> run);
  void find_step(const Touch& touch);
  void find(const Touch& touch);
  void find_kept(const Touch& touch);
  void tell_writers(const Touch& touch);
  // Who must be ordered, along the run.
  void order_all(std::span<const Node> run);
  void order_step(const Touch& touch);
  void join(const Touch& touch, std::uint32_t kind);
  Group with(Group group, Node node);
  void overwrite(const Touch& touch);
  void check(Node node, Group group);
  // alloc and free.
  void list_events();
  void check_lifetimes();
  void check_bracket(const Touch& touch, StorageId storage, const std::vector<Node>& events);
  bool is_alive(StorageId storage, const std::vector<Node>& events) const;

  std::span<const PointRange> ranges(const Touch& t) const { return regions_.ranges(t.points); }
  void fault(const Touch& touch, const std::string& what);

  const Model& model_;
  const Plan& plan_;
  Demands demands_;
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_;  ///< By node and one more, in `touches_`.
  Regions regions_;
  std::vector<Piece> pieces_;
  std::vector<Range> lists_;  ///< In `pieces_`: of reads that expect several versions.
  std::vector<Content> contents_;
  std::unordered_map<std::uint64_t, Version> accumulated_;
  std::vector<std::uint8_t> one_instance_;     ///< By root.
  std::vector<std::vector<Initial>> initial_;  ///< By root: inputs and constants.
  std::map<std::pair<UpdateId, DType>, std::uint32_t> updates_;
  std::optional<PointMap<Touched>> touched_;
  std::optional<PointMap<Version>> found_, family_, named_;
  PointRange family_hull_;                         ///< Where `family_` may hold something.
  std::vector<std::uint32_t> family_accumulates_;  ///< Touches of the family.
  std::size_t first_piece_ = 0;                    ///< Of the read that is looked at.
  std::vector<Member> members_;
  std::vector<Memo> asked_, joined_;
  std::vector<Regions::Id> whole_;  ///< By tensor, if known: all bytes of its only slot.
  std::vector<std::vector<std::vector<Node>>> events_;  ///< By storage and slot: allocs and frees.
  std::vector<std::uint8_t> has_alloc_;                 ///< By storage.
  bool any_alloc_ = false;
};

}  // namespace memverify::cert
