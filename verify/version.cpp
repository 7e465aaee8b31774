#include "verify/version.h"

namespace memverify {

Version Versions::accumulated(Version before, std::uint32_t access) {
  later_.clear();
  while (before >= first_sum_ && sum(before).access > access) {
    later_.push_back(sum(before).access);
    before = sum(before).before;
  }
  later_.push_back(access);
  while (!later_.empty()) {
    const Sum next{before, later_.back()};
    later_.pop_back();
    const std::uint64_t key = (std::uint64_t{next.before} << 32) | next.access;
    const Version number = first_sum_ + static_cast<Version>(sums_.size());
    const auto [at, is_new] = accumulated_.try_emplace(key, number);
    if (is_new) sums_.push_back(next);
    before = at->second;
  }
  return before;
}

bool Versions::contains(Version version, std::uint32_t of_access) const {
  for (; version >= first_sum_; version = sum(version).before) {
    if (sum(version).access == of_access) return true;
  }
  return access(version) == of_access;
}

}  // namespace memverify
