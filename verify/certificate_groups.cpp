#include "verify/certificate_groups.h"

namespace memverify::cert {
namespace {

enum : std::uint64_t { kNobody, kWriter, kReaders, kAccumulates };

constexpr std::size_t kMemos = 1024;

}  // namespace

Groups::Groups(const Touches& touches, Demands& demands)
    : touches_(touches),
      model_(touches.model()),
      demands_(demands),
      last_(touches.points(), Last{}),
      members_(1),
      asked_(kMemos),
      joined_(kMemos) {}

void Groups::go(std::span<const Node> run) {
  demands_.orders.reserve(demands_.orders.size() + touches_.size());
  for (Node node : run) {
    for (const Touch& touch : touches_.of(node)) step(touch);
  }
}

void Groups::step(const Touch& touch) {
  switch (touch.kind) {
    case AccessKind::kRead:
      return join(touch, kReaders);
    case AccessKind::kAccumulate:
      return join(touch, kAccumulates + touches_.update(touch));
    case AccessKind::kWrite:
    case AccessKind::kClobber:
      return overwrite(touch);
  }
}

void Groups::join(const Touch& touch, std::uint64_t kind) {
  for (const PointRange& range : touches_.ranges(touch)) {
    last_.visit(range, [&](Point, Point, Last& last) {
      if (last.kind != kind) last = {.kind = kind, .before = last.group};
      check(touch.node, last.before);
      last.group = with(last.group, touch.node);
    });
  }
}

/// The group and `node`, which stands for what its in-order queue did before.
Groups::Group Groups::with(Group group, Node node) {
  Memo& memo = joined_[group % kMemos];
  if (memo.group == group && memo.node == node) return memo.found;
  const Model::Place chain = model_.chain(node);
  const auto follows = [&](Group member) {
    return model_.chain(members_[member].node).line == chain.line;
  };
  Group others = group;
  if (model_.is_queue(chain.line)) {
    Group found = group;
    while (found != 0 && !follows(found)) found = members_[found].others;
    if (found != 0) {
      others = members_[found].others;
      for (Group member = group; member != found; member = members_[member].others) {
        members_.push_back({.node = members_[member].node, .others = others});
        others = static_cast<Group>(members_.size() - 1);
      }
    }
  } else if (group != 0 && members_[group].node == node) {
    return group;  // What a node touches comes in a row.
  }
  members_.push_back({.node = node, .others = others});
  memo = {group, node, static_cast<Group>(members_.size() - 1)};
  return memo.found;
}

void Groups::overwrite(const Touch& touch) {
  for (const PointRange& range : touches_.ranges(touch)) {
    last_.look(range, [&](Point, Point, const Last& last) { check(touch.node, last.group); });
    last_.assign(range, {.kind = kWriter, .group = with(0, touch.node)});
  }
}

/// For a group that the node has been checked against the orders are only counted.
void Groups::check(Node node, Group group) {
  if (group == 0) return;
  Memo& memo = asked_[group % kMemos];
  if (memo.group == group && memo.node == node) {
    demands_.pairs += memo.found;
    return;
  }
  std::uint32_t asked = 0;
  for (Group member = group; member != 0; member = members_[member].others) {
    if (members_[member].node == node) continue;
    demands_.orders.emplace_back(node, members_[member].node);
    ++asked;
  }
  memo = {group, node, asked};
}

}  // namespace memverify::cert
