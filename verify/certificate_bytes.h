// verify/certificate_bytes.h -- which accesses a safe plan must order, and which writer each read
// must find: the checker's own count, so that a certificate cannot leave one out.
//
// Idea: in program order, per instance of a family, who wrote each byte last: what reads expect.
//   Then along a run, per pool, who touched each byte last: accesses form groups (reads,
//   accumulates that commute, single writes); every member of a group must be ordered after the
//   group before it, and what a read finds there must be what it expects. Of an in-order queue the
//   last member of a group stands for all.
// Cost: O(log) for each access and each piece of bytes it touches, times the members of a group.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/region.h"
#include "verify/certificate_model.h"

namespace memverify::cert {

/// States of all addresses, constant on ranges.
template <typename State>
class ByteMap {
 public:
  explicit ByteMap(State initial) {
    from_.emplace(std::numeric_limits<std::int64_t>::min(), std::move(initial));
  }
  /// visit(begin, end, State&) for the ranges that make up [begin, end).
  template <typename Visit>
  void visit(std::int64_t begin, std::int64_t end, Visit&& visit) {
    if (begin >= end) return;
    auto at = split(begin);
    for (const auto stop = split(end); at != stop; ++at) {
      visit(at->first, std::next(at)->first, at->second);
    }
  }
  template <typename Visit>
  void look(std::int64_t begin, std::int64_t end, Visit&& visit) const {
    if (begin >= end) return;
    for (auto at = std::prev(from_.upper_bound(begin)); at != from_.end() && at->first < end;) {
      const auto next = std::next(at);
      visit(std::max(begin, at->first), next == from_.end() ? end : std::min(end, next->first),
            at->second);
      at = next;
    }
  }
  void assign(std::int64_t begin, std::int64_t end, State state) {
    if (begin >= end) return;
    const auto at = split(begin);
    const auto stop = split(end);
    at->second = std::move(state);
    from_.erase(std::next(at), stop);
  }

 private:
  typename std::map<std::int64_t, State>::iterator split(std::int64_t address) {
    const auto after = from_.upper_bound(address);
    const auto at = std::prev(after);
    if (at->first == address) return at;
    return from_.emplace_hint(after, address, at->second);
  }
  std::map<std::int64_t, State> from_;
};

/// What the pass over the bytes finds out.
class ByteVisitor {
 public:
  virtual ~ByteVisitor() = default;
  /// `before` must be done when `node` starts.
  virtual void order(Node node, Node before) = 0;
  /// The writers that a read (or, with kNoNode, the end) expects, in order of address.
  virtual void read(Node node, std::span<const Node> writers) = 0;
  /// The plan is not safe.
  virtual void fault(const std::string& what) = 0;
};

/// `run` holds every node, in an order in which they can happen.
class BytePass {
 public:
  BytePass(const Model& model, ByteVisitor& visitor);
  void go(std::span<const Node> run);

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
    TensorId tensor = kNone<TensorId>;
    std::int64_t instance = 0;
    Range runs;     ///< In `ranges_`.
    Range expects;  ///< In `pieces_`.
    Version leaves = kUnwritten;
    PoolId pool = kNone<PoolId>;
  };
  struct Piece {
    std::int64_t begin, end;
    Version version;
  };
  struct Family {
    ByteMap<Version> bytes{kUnwritten};
    std::vector<std::uint32_t> accumulates;  ///< Touches.
  };
  struct Bytes {
    std::uint32_t kind = 0;
    Version version = kInitial;
    std::vector<Node> group, before;
  };

  // Listing.
  void describe_families();
  void list();
  void touch(Node node, std::uint32_t access);
  void list_end();
  void keep(TensorId tensor, bool or_own);
  void add(Touch touch, const Region& region);
  std::int64_t instance_of(TensorId tensor, std::int64_t iteration) const;
  std::uint32_t update_of(const Touch& touch);
  // What is expected.
  void expect_all();
  Family new_family(TensorId root, std::int64_t instance) const;
  void expect_step(std::uint32_t id, Family& known);
  void expect(Touch& touch, Family& known);
  void expect_last(const Touch& touch, Family& family, ByteRange range);
  void expect_named(const Touch& touch, Family& family, ByteRange range, Node writer);
  Node named_writer(const Touch& touch, bool& named) const;
  std::pair<StorageId, std::uint32_t> slot(TensorId tensor, std::int64_t instance) const;
  Version after_alloc(const Touch& touch, Version version) const;
  Version base(Version version) const;
  Version accumulated(Version version, Node node, TensorId root);
  void tell_writers(const Touch& touch);
  // Along the run.
  void step(Touch& touch);
  void join(const Touch& touch, std::uint32_t kind);
  void overwrite(const Touch& touch);
  void find(const Touch& touch);
  void find_kept(const Touch& touch);
  void check(Node node, const std::vector<Node>& group);
  // alloc and free.
  void list_events();
  void check_lifetimes();
  void check_bracket(const Touch& touch, StorageId storage, const std::vector<Node>& events);
  bool is_alive(StorageId storage, const std::vector<Node>& events) const;

  std::span<const ByteRange> ranges(const Touch& t) const {
    return std::span(ranges_).subspan(t.runs.begin, t.runs.size());
  }
  void fault(const Touch& touch, const std::string& what);

  const Model& model_;
  const Plan& plan_;
  ByteVisitor& visitor_;
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_;  ///< By node and one more, in `touches_`.
  std::vector<ByteRange> ranges_;
  std::vector<Piece> pieces_;
  std::vector<Content> contents_;
  std::vector<Node> told_;
  std::unordered_map<std::uint64_t, Version> accumulated_;
  std::vector<std::uint8_t> one_instance_;      ///< By root.
  std::vector<std::vector<TensorId>> initial_;  ///< By root: inputs and constants.
  std::map<std::pair<UpdateId, DType>, std::uint32_t> updates_;
  std::vector<ByteMap<Bytes>> pools_;
  std::vector<std::vector<std::vector<Node>>> events_;  ///< By storage and slot: allocs and frees.
  std::vector<std::uint8_t> has_alloc_;                 ///< By storage.
  bool any_alloc_ = false;
};

}  // namespace memverify::cert
