#include "verify/end_points.h"

namespace memverify {
namespace {

constexpr std::size_t kFew = 64;  ///< Addresses that are sorted as fast as they are marked.

}  // namespace

void EndPoints::assign(std::vector<std::int64_t>& addresses) {
  bits_.clear();
  if (addresses.size() > kFew) {
    // Unsigned, as the distance may need all 64 bits.
    const auto first = static_cast<std::uint64_t>(addresses.front());
    std::uint64_t differ = 0;
    for (const std::int64_t address : addresses) {
      differ |= static_cast<std::uint64_t>(address) - first;
    }
    const auto [least, greatest] = std::ranges::minmax(addresses);
    least_ = least;
    shift_ = differ == 0 ? 0 : std::countr_zero(differ);
    const std::uint64_t words = place(greatest) / 64 + 1;
    if (words <= 2 * addresses.size()) return mark(addresses, static_cast<std::size_t>(words));
  }
  sorted_.swap(addresses);
  std::ranges::sort(sorted_);
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
}

void EndPoints::mark(const std::vector<std::int64_t>& addresses, std::size_t words) {
  bits_.assign(words, 0);
  for (const std::int64_t address : addresses) {
    const std::uint64_t at = place(address);
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
      const std::uint64_t at = k * 64 + static_cast<std::uint64_t>(std::countr_zero(word));
      sorted_.push_back(
          static_cast<std::int64_t>(static_cast<std::uint64_t>(least_) + (at << shift_)));
    }
  }
}

}  // namespace memverify
