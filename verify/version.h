// verify/version.h -- what a byte holds: the write that made it and the accumulates since.
//
// A version is a number, that of a write is known beforehand. Equal numbers mean equal contents:
// the accumulates of a version are kept sorted by program order and shared (hash consing), so the
// order in which they arrive does not matter. Cost: an accumulate in program order O(1), out of
// order O(accumulates since the write).
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

  /// Of so many AccessInstances.
  explicit Versions(std::size_t accesses) : first_sum_(kFirst + static_cast<Version>(accesses)) {}

  /// The content that the write or clobber `access` (index of an AccessInstance) leaves.
  static Version written(std::uint32_t access) { return kFirst + access; }
  /// `before` with the accumulate `access` added.
  Version accumulated(Version before, std::uint32_t access);

  /// The write under the accumulates; kInitialVersion and kUnwrittenVersion are their own base.
  Version base(Version version) const {
    while (version >= first_sum_) version = sum(version).before;
    return version;
  }
  /// The last access of a version, kNoAccess for the initial and the unwritten one.
  std::uint32_t access(Version version) const {
    if (version < first_sum_) return version < kFirst ? kNoAccess : version - kFirst;
    return sum(version).access;
  }
  /// What it was before its last accumulate; itself if it is no accumulate.
  Version before(Version version) const {
    return version < first_sum_ ? version : sum(version).before;
  }
  /// True if `access` is among the accumulates of `version`, or is its write.
  bool contains(Version version, std::uint32_t access) const;

 private:
  static constexpr Version kFirst = 2;
  struct Sum {
    Version before;
    std::uint32_t access;
  };
  const Sum& sum(Version version) const { return sums_[version - first_sum_]; }

  Version first_sum_;
  std::vector<Sum> sums_;
  std::unordered_map<std::uint64_t, Version> accumulated_;  ///< By (before, access).
  std::vector<std::uint32_t> later_;
};

}  // namespace memverify
