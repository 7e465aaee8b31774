// verify/certificate_groups.h -- along a run, which accesses must be ordered.
//
// Idea: accesses of a byte form groups (reads, accumulates that commute, single writes); every
//   member of a group must be ordered after the group before it. Of an in-order queue the last
//   member of a group stands for all. A group that a node has been checked against counts again
//   without being looked at again.
// Cost: O(log) for each access and each piece of bytes it touches, times the members of a group.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "verify/certificate_demands.h"
#include "verify/certificate_points.h"
#include "verify/certificate_touches.h"

namespace memverify::cert {

class Groups {
 public:
  /// Adds to `demands.orders` and, where other bytes ask for them again, `pairs`.
  Groups(const Touches& touches, Demands& demands);
  void go(std::span<const Node> run);

 private:
  /// A list of nodes, the last that came first: a cell of `members_`, which does not change; 0 is
  /// empty.
  using Group = std::uint32_t;
  struct Member {
    Node node = kNoNode;
    Group others = 0;
  };
  /// Who touched bytes last: a group of one kind, and the group before it.
  struct Last {
    std::uint64_t kind = 0;
    Group group = 0, before = 0;
  };
  /// What check() or with() found last for groups of equal remainder; found again when lost.
  struct Memo {
    Group group = 0;
    Node node = kNoNode;
    std::uint32_t found = 0;
  };

  void step(const Touch& touch);
  void join(const Touch& touch, std::uint64_t kind);
  Group with(Group group, Node node);
  void overwrite(const Touch& touch);
  void check(Node node, Group group);

  const Touches& touches_;
  const Model& model_;
  Demands& demands_;
  PointMap<Last> last_;
  std::vector<Member> members_;
  std::vector<Memo> asked_, joined_;
};

}  // namespace memverify::cert
