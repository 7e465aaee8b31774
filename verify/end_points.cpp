#include "verify/end_points.h"

namespace memverify {
namespace {

constexpr std::size_t kFew = 64;  ///< Addresses that are sorted as fast as they are marked.

}  // namespace

void EndPoints::assign(std::vector<std::int64_t>& addresses) {
  bits_.clear();
  if (addresses.size() > kFew) {
    const auto [least, greatest] = std::ranges::minmax(addresses);
    least_ = least;
    // Unsigned, as the distance may need all 64 bits.
    const std::uint64_t distance =
        static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
    if (distance / 64 < addresses.size()) {
      mark(addresses, static_cast<std::size_t>(distance / 64) + 1);
      return;
    }
  }
  sorted_.swap(addresses);
  std::ranges::sort(sorted_);
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
}

void EndPoints::mark(const std::vector<std::int64_t>& addresses, std::size_t words) {
  bits_.assign(words, 0);
  for (const std::int64_t address : addresses) {
    const auto at = static_cast<std::uint64_t>(address - least_);
    bits_[at / 64] |= std::uint64_t{1} << (at % 64);
  }
  std::uint32_t count = 0;
  counted_.clear();
  counted_.reserve(words);
  for (const std::uint64_t word : bits_) {
    counted_.push_back(count);
    count += static_cast<std::uint32_t>(std::popcount(word));
  }
  sorted_.clear();
  sorted_.reserve(count);
  for (std::size_t k = 0; k < words; ++k) {
    for (std::uint64_t word = bits_[k]; word != 0; word &= word - 1) {
      sorted_.push_back(least_ + static_cast<std::int64_t>(k * 64) + std::countr_zero(word));
    }
  }
}

}  // namespace memverify
