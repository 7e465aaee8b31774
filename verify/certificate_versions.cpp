#include "verify/certificate_versions.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace memverify::cert {

Versions::Versions(Touches& touches, const Lifetimes& lifetimes, Demands& demands)
    : touches_(touches),
      model_(touches.model()),
      plan_(model_.plan()),
      lifetimes_(lifetimes),
      demands_(demands),
      contents_(touches.take_contents()),
      last_(touches.points(), kUnwritten),
      named_(touches.points(), kUnwritten) {}

// --- what is expected ---

/// One instance of a family after the other, each in program order.
void Versions::expect() {
  std::vector<std::uint32_t> begin(plan_.tensors.size() + 1, 0);  // By root.
  const auto for_each = [&](auto&& use) {
    for (std::uint32_t k = 0; k < touches_.size(); ++k) {
      const Touch& touch = touches_[k];
      if (touch.keeps || touch.tensor == kNone<TensorId>) continue;
      if (touch.kind != AccessKind::kClobber) use(k, index(touches_.root(touch)));
    }
  };
  for_each([&](std::uint32_t, std::uint32_t root) { ++begin[root + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> by_root(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for_each([&](std::uint32_t k, std::uint32_t root) { by_root[next[root]++] = k; });
  const auto instance = [&](std::uint32_t k) { return touches_[k].instance; };
  for (std::size_t root = 0; root + 1 < begin.size(); ++root) {
    std::span<std::uint32_t> left(by_root.data() + begin[root], begin[root + 1] - begin[root]);
    const bool is_one = touches_.has_one_instance(static_cast<TensorId>(root));
    if (!is_one && !std::ranges::is_sorted(left, {}, instance)) {
      std::ranges::stable_sort(left, {}, instance);
    }
    while (!left.empty()) {
      const auto end = is_one
                           ? left.end()
                           : std::ranges::upper_bound(left, instance(left.front()), {}, instance);
      const auto family = left.first(static_cast<std::size_t>(end - left.begin()));
      if (!expect_as_one(static_cast<TensorId>(root), family)) {
        start_family(static_cast<TensorId>(root), instance(left.front()));
        for (std::uint32_t k : family) expect_step(k);
      }
      left = left.subspan(family.size());
    }
  }
}

/// Where all touch the same bytes and no read names its writer, bytes need not be told apart.
bool Versions::expect_as_one(TensorId root, std::span<const std::uint32_t> family) {
  const Touch& first = touches_[family.front()];
  if (first.points.begin == first.points.end) return false;
  for (std::uint32_t k : family) {
    if (touches_[k].points != first.points || names_writer(touches_[k])) return false;
  }
  for (const Initial& initial : touches_.initial(root)) {
    if (initial.points[touches_.slot(initial.tensor, first.instance).second] != first.points)
      return false;
  }
  Version version = touches_.initial(root).empty() ? kUnwritten : kInitial;
  for (std::uint32_t k : family) {
    Touch& touch = touches_[k];
    if (touch.kind == AccessKind::kWrite) {
      version = touch.version;
    } else if (touch.kind == AccessKind::kAccumulate) {
      version = accumulated(version, touch.node, root);
    } else {
      touch.version = after_alloc(touch, version);
    }
  }
  return true;
}

void Versions::expect_step(std::uint32_t id) {
  Touch& touch = touches_[id];
  const TensorId root = touches_.root(touch);
  if (touch.kind == AccessKind::kRead) return expect_read(touch);
  if (touch.kind == AccessKind::kAccumulate) family_accumulates_.push_back(id);
  for (const PointRange& range : touches_.ranges(touch)) {
    if (touch.kind == AccessKind::kWrite) {
      set(range, touch.version);
      continue;
    }
    include(range);
    last_.visit(range, [&](Point, Point, Version& version) {
      version = accumulated(version, touch.node, root);
    });
  }
}

void Versions::include(PointRange range) {
  if (hull_.begin == hull_.end) hull_ = range;
  hull_.begin = std::min(hull_.begin, range.begin);
  hull_.end = std::max(hull_.end, range.end);
}

void Versions::set(PointRange range, Version version) {
  include(range);
  last_.assign(range, version);
}

/// Forgets the family before.
void Versions::start_family(TensorId root, std::int64_t instance) {
  last_.assign(hull_, kUnwritten);
  hull_ = {};
  family_accumulates_.clear();
  for (const Initial& initial : touches_.initial(root)) {
    const std::uint32_t in_slot = touches_.slot(initial.tensor, instance).second;
    for (const PointRange& range : touches_.ranges(initial.points[in_slot])) set(range, kInitial);
  }
}

void Versions::expect_read(Touch& touch) {
  first_piece_ = pieces_.size();
  bool named = false;
  const Node writer = named_writer(touch, named);
  for (const PointRange& range : touches_.ranges(touch)) {
    if (named) {
      expect_named(touch, range, writer);
    } else {
      expect_last(touch, range);
    }
  }
  if (pieces_.size() == first_piece_ + 1) {
    touch.version = pieces_.back().version;
    return pieces_.pop_back();
  }
  touch.in_lists = true;
  touch.version = static_cast<std::uint32_t>(lists_.size());
  lists_.push_back(
      {static_cast<std::uint32_t>(first_piece_), static_cast<std::uint32_t>(pieces_.size())});
}

std::span<const Versions::Piece> Versions::expected(const Touch& touch, Piece& one) const {
  if (touch.in_lists) return Plan::slice(pieces_, lists_[touch.version]);
  one = {0, touches_.points(), touch.version};
  return {&one, 1};
}

void Versions::expect_last(const Touch& touch, PointRange range) {
  last_.look(range, [&](Point begin, Point end, Version version) {
    add_piece({begin, end, after_alloc(touch, version)});
  });
}

/// Neighbours of one version are one piece.
void Versions::add_piece(Piece piece) {
  if (pieces_.size() > first_piece_ && pieces_.back().version == piece.version) {
    pieces_.back().end = piece.end;
  } else {
    pieces_.push_back(piece);
  }
}

/// Nothing from before the last alloc of the slot counts.
Version Versions::after_alloc(const Touch& touch, Version version) const {
  if (!lifetimes_.any() || version == kUnwritten) return version;
  const auto [storage, slot] = touches_.slot(touch.tensor, touch.instance);
  const Node last = lifetimes_.last_alloc(storage, slot, touch.node);
  if (last == kNoNode) return version;
  const Node writer = contents_[base(version)].node;
  return writer != kNoNode && writer > last ? version : kUnwritten;
}

bool Versions::names_writer(const Touch& touch) const {
  if (touch.kind != AccessKind::kRead) return false;
  if (touch.node == model_.size()) {
    const Output& output = plan_.outputs[touch.access];
    return output.from_initial || output.from != kNone<OpId>;
  }
  const Access& access = plan_.accesses[touch.access];
  return access.from_initial || access.from != kNone<OpId>;
}

/// The command that `from` names; `named` is false where program order decides ([S-43]).
Node Versions::named_writer(const Touch& touch, bool& named) const {
  const bool at_end = touch.node == model_.size();
  const OpId from = at_end ? plan_.outputs[touch.access].from : plan_.accesses[touch.access].from;
  named =
      at_end ? plan_.outputs[touch.access].from_initial : plan_.accesses[touch.access].from_initial;
  if (named || from == kNone<OpId>) return kNoNode;
  const TensorId root = touches_.root(touch);
  for (const Access& access : plan_.accesses_of(plan_.ops[from])) {
    if (access.kind == AccessKind::kRead || access.tensor == kNone<TensorId>) continue;
    if (plan_.tensors[access.tensor].root != root) continue;
    std::int64_t iteration = touch.instance + access.distance;
    if (touches_.has_one_instance(root)) {
      iteration = at_end ? std::int64_t{model_.iterations()} - 1 : model_[touch.node].iteration;
      if (plan_.ops[from].runs == Runs::kFirst) iteration = 0;
    }
    const Node writer = model_.find(from, iteration);
    named = writer != kNoNode;
    return writer;
  }
  return kNoNode;
}

void Versions::expect_named(const Touch& touch, PointRange range, Node writer) {
  named_.assign(range, kUnwritten);
  const auto clip = [&](const PointRange& points, auto&& use) {
    for (const PointRange& r : touches_.ranges(points)) {
      const PointRange both{std::max(r.begin, range.begin), std::min(r.end, range.end)};
      if (both.begin < both.end) use(both);
    }
  };
  const TensorId root = touches_.root(touch);
  if (writer == kNoNode) {
    for (const Initial& initial : touches_.initial(root)) {
      const std::uint32_t in_slot = touches_.slot(initial.tensor, touch.instance).second;
      clip(initial.points[in_slot], [&](PointRange both) { named_.assign(both, kInitial); });
    }
  } else {
    for (const Touch& w : touches_.of(writer)) {
      if (w.kind != AccessKind::kWrite || touches_.root(w) != root) continue;
      if (w.instance != touch.instance) continue;
      clip(w.points, [&](PointRange both) { named_.assign(both, w.version); });
    }
  }
  for (std::uint32_t k : family_accumulates_) {
    const Touch& other = touches_[k];
    if (other.node == touch.node || (writer != kNoNode && other.node <= writer)) continue;
    clip(other.points, [&](PointRange both) {
      named_.visit(both, [&](Point, Point, Version& version) {
        version = accumulated(version, other.node, root);
      });
    });
  }
  named_.look(range, [&](Point begin, Point end, Version version) {
    if (base(version) == kUnwritten && writer != kNoNode) {
      expect_last(touch, {begin, end});
    } else {
      add_piece({begin, end, version});
    }
  });
}

Version Versions::base(Version version) const {
  while (contents_[version].before != version) version = contents_[version].before;
  return version;
}

/// Accumulates commute: they are kept in program order, so that equal sets are equal numbers.
Version Versions::accumulated(Version version, Node node, TensorId root) {
  std::vector<std::pair<Node, TensorId>> later;  // From the last on.
  while (contents_[version].before != version && contents_[version].node > node) {
    later.emplace_back(contents_[version].node, contents_[version].root);
    version = contents_[version].before;
  }
  const bool is_there = contents_[version].before != version && contents_[version].node == node;
  if (!is_there) later.emplace_back(node, root);
  for (; !later.empty(); later.pop_back()) {
    const auto [next, family] = later.back();
    const std::uint64_t key = (std::uint64_t{version} << 32) | next;
    const auto [at, is_new] = accumulated_.try_emplace(key, static_cast<Version>(contents_.size()));
    if (is_new) contents_.push_back({version, next, family});
    version = at->second;
  }
  return version;
}

// --- what is found ---

void Versions::find(std::span<const Node> run) {
  last_ = PointMap<Version>(touches_.points(), kInitial);
  for (Node node : run) {
    for (const Touch& touch : touches_.of(node)) find_step(touch);
  }
  for (const Touch& touch : touches_.of(model_.size())) find_read(touch);
}

void Versions::find_step(const Touch& touch) {
  if (touch.kind == AccessKind::kRead) return find_read(touch);
  for (const PointRange& range : touches_.ranges(touch)) {
    if (touch.kind != AccessKind::kAccumulate) {
      last_.assign(range, touch.version);
      continue;
    }
    last_.visit(range, [&](Point, Point, Version& version) {
      version = accumulated(version, touch.node, touches_.root(touch));
    });
  }
}

void Versions::find_read(const Touch& touch) {
  if (touch.keeps) return find_kept(touch);
  tell_writers(touch);
  Piece one;
  const std::span<const Piece> pieces = expected(touch, one);
  std::size_t piece = 0;
  for (const PointRange& range : touches_.ranges(touch)) {
    last_.look(range, [&](Point begin, Point end, Version version) {
      while (piece < pieces.size() && pieces[piece].end <= begin) ++piece;
      for (std::size_t k = piece; k < pieces.size() && pieces[k].begin < end; ++k) {
        if (base(pieces[k].version) == kUnwritten) {
          fault(touch, "reads bytes that nothing has written");
        } else if (pieces[k].version != version) {
          fault(touch, "finds another version than it expects");
        }
      }
    });
  }
}

void Versions::find_kept(const Touch& touch) {
  const TensorId root = touches_.root(touch);
  for (const PointRange& range : touches_.ranges(touch)) {
    last_.look(range, [&](Point, Point, Version version) {
      for (Version v = version; v != kInitial; v = contents_[v].before) {
        if (!touch.or_own || contents_[v].root != root) {
          return fault(touch, "finds an input or constant that has been overwritten");
        }
        if (contents_[v].before == v) return;
      }
    });
  }
}

void Versions::tell_writers(const Touch& touch) {
  Rows& rows = demands_.writers;
  Piece one;
  std::optional<Node> last;
  for (const Piece& piece : expected(touch, one)) {
    const Node writer = contents_[base(piece.version)].node;
    if (std::exchange(last, writer) == writer) continue;
    rows.numbers.push_back(writer == kNoNode ? 0 : std::int64_t{touch.node} - std::int64_t{writer});
  }
  rows.ends.push_back(rows.numbers.size());
}

void Versions::fault(const Touch& touch, const std::string& what) {
  if (demands_.fault.empty()) demands_.fault = touches_.name(touch) + " " + what;
}

}  // namespace memverify::cert
