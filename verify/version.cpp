#include "verify/version.h"

namespace memverify {

Version Versions::accumulated(Version before, std::uint32_t access) {
  later_.clear();
  while (nodes_[before].before != before && nodes_[before].access > access) {
    later_.push_back(nodes_[before].access);
    before = nodes_[before].before;
  }
  later_.push_back(access);
  while (!later_.empty()) {
    const std::uint32_t next_access = later_.back();
    later_.pop_back();
    const std::uint64_t key = (std::uint64_t{before} << 32) | next_access;
    const auto [at, is_new] = accumulated_.try_emplace(key, next());
    if (is_new) add({before, next_access});
    before = at->second;
  }
  return before;
}

bool Versions::contains(Version version, std::uint32_t access) const {
  for (;; version = nodes_[version].before) {
    if (nodes_[version].access == access) return true;
    if (nodes_[version].before == version) return false;
  }
}

}  // namespace memverify
