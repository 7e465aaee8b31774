// plan/suggest.h -- "did you mean …?" for names and words that do not exist.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace memverify {

/// The least number of inserted, removed or replaced bytes between the two, or `limit + 1` when it
/// is more than `limit`. Two different strings of 128 bytes or more are never near. O(|a| * |b|).
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// Finds the candidate nearest to a word, if one is near enough to be a typing error.
class Suggester {
 public:
  explicit Suggester(std::string_view word);
  void consider(std::string_view candidate);
  /// "" when nothing is near; the first of equals.
  std::string_view best() const noexcept { return best_; }
  /// "; did you mean `x`?", or "".
  std::string hint() const;

 private:
  std::string_view word_;
  std::string_view best_;
  std::size_t wanted_;  ///< Only distances below this are of interest.
};

/// `hint` of the nearest of `candidates`.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace memverify
