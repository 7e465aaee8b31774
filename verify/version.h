// verify/version.h -- what a byte holds: the write that made it and the accumulates since.
//
// A version is a number. Equal numbers mean equal contents: the accumulates of a version are kept
// sorted by program order and shared (hash consing), so the order in which they arrive does not
// matter. Cost: O(1) a write; an accumulate in program order O(1), out of order O(accumulates since
// the write).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace memverify {

using Version = std::uint32_t;
inline constexpr Version kInitialVersion = 0;    ///< What was there before the program.
inline constexpr Version kUnwrittenVersion = 1;  ///< Nothing that its family knows of.

class Versions {
 public:
  static constexpr std::uint32_t kNoAccess = 0xFFFFFFFFU;

  Versions() : nodes_{{0, kNoAccess}, {1, kNoAccess}} {}

  /// The content that the write or clobber `access` (index of an AccessInstance) leaves.
  Version written(std::uint32_t access) { return add({next(), access}); }
  /// `before` with the accumulate `access` added.
  Version accumulated(Version before, std::uint32_t access);

  /// The write under the accumulates; kInitialVersion and kUnwrittenVersion are their own base.
  Version base(Version version) const {
    while (nodes_[version].before != version) version = nodes_[version].before;
    return version;
  }
  /// The last access of a version, kNoAccess for the initial and the unwritten one.
  std::uint32_t access(Version version) const { return nodes_[version].access; }
  /// What it was before its last accumulate; itself if it is no accumulate.
  Version before(Version version) const { return nodes_[version].before; }
  /// True if `access` is among the accumulates of `version`, or is its write.
  bool contains(Version version, std::uint32_t access) const;

 private:
  struct Node {
    Version before;
    std::uint32_t access;
  };
  Version next() const { return static_cast<Version>(nodes_.size()); }
  Version add(Node node) {
    nodes_.push_back(node);
    return next() - 1;
  }
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, Version> accumulated_;  ///< By (before, access).
  std::vector<std::uint32_t> later_;
};

}  // namespace memverify
