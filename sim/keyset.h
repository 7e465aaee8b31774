// sim/keyset.h -- a hash set of fixed-length keys of 64-bit words, none of them all zeros.
//
// Open addressing over one flat array: an empty place is a key of zeros, so that a key costs its
// own words and nothing else. At most 5/8 full. A key may carry words of data that do not count
// when keys are compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace memverify::sim {

/// `K` words a key and none of data, or, if 0, as many as the constructor says.
template <std::size_t K>
class KeySet {
 public:
  explicit KeySet(std::size_t words, std::size_t data = 0) : words_(words), stride_(words + data) {
    clear();
  }

  std::size_t size() const { return size_; }
  std::uint64_t bytes() const { return slots_.size() * sizeof(std::uint64_t); }
  /// What `insert` may hold for a moment when it grows.
  std::uint64_t bytes_if_grown() const { return 3 * bytes(); }

  /// Takes every key out; shrinks again to what a smaller set needs.
  void clear() {
    capacity_ = std::size_t{1} << kLeast;
    while (capacity_ * 5 / 8 < size_ / 2) capacity_ *= 2;
    size_ = 0;
    if (slots_.size() > 4 * capacity_ * stride()) std::vector<std::uint64_t>().swap(slots_);
    slots_.assign(capacity_ * stride(), 0);
  }

  /// Which of `shares` parts `key` belongs to, by its hash.
  std::size_t share(const std::uint64_t* key, std::size_t shares) const {
    return (hash(key) >> 40) % shares;
  }

  struct Place {
    std::uint64_t* key = nullptr;  ///< Data words follow; valid until the next insert.
    bool is_new = false;           ///< Then its data are zeros.
  };
  Place insert(const std::uint64_t* key) {
    if (size_ >= capacity_ / 8 * 5) grow();
    std::uint64_t* place = find(key);
    if (!is_empty(place)) return {place, false};
    std::copy(key, key + words(), place);
    ++size_;
    return {place, true};
  }

  std::size_t capacity() const { return capacity_; }
  /// The key at a place, or nullptr if it is empty.
  const std::uint64_t* at(std::size_t place) const {
    const std::uint64_t* key = slots_.data() + place * stride();
    return is_empty(key) ? nullptr : key;
  }

 private:
  static constexpr std::size_t kLeast = 6;
  std::size_t words() const { return K != 0 ? K : words_; }
  std::size_t stride() const { return K != 0 ? K : stride_; }

  bool is_empty(const std::uint64_t* key) const {
    return std::all_of(key, key + words(), [](std::uint64_t word) { return word == 0; });
  }

  std::size_t hash(const std::uint64_t* key) const {
    std::uint64_t h = 0;
    for (std::size_t i = 0; i < words(); ++i) {
      h = (h ^ key[i]) * 0x9E3779B97F4A7C15U;
      h ^= h >> 29;
    }
    h *= 0xBF58476D1CE4E5B9U;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }

  std::uint64_t* find(const std::uint64_t* key) {
    for (std::size_t at = hash(key);; ++at) {
      std::uint64_t* place = slots_.data() + (at & (capacity_ - 1)) * stride();
      if (is_empty(place) || std::equal(key, key + words(), place)) return place;
    }
  }

  void grow() {
    std::vector<std::uint64_t> old(capacity_ * 2 * stride(), 0);
    old.swap(slots_);
    capacity_ *= 2;
    for (std::size_t at = 0; at < old.size(); at += stride()) {
      if (is_empty(&old[at])) continue;
      std::copy(&old[at], &old[at] + stride(), find(&old[at]));
    }
  }

  std::size_t words_;
  std::size_t stride_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> slots_;
};

}  // namespace memverify::sim
