#include "plan/suggest.h"

#include <algorithm>
#include <array>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kLongest = 128;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return limit + 1;
  if (a.size() >= kLongest) return a == b ? 0 : limit + 1;
  // One row of the dynamic program: distances from b's prefix to every prefix of a.
  std::array<std::size_t, kLongest> row;  // NOLINT: written before it is read.
  for (std::size_t i = 0; i <= a.size(); ++i) row[i] = i;
  for (std::size_t j = 1; j <= b.size(); ++j) {
    std::size_t diagonal = row[0];
    row[0] = j;
    std::size_t least = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[i];
      row[i] = std::min({replaced, row[i] + 1, row[i - 1] + 1});
      least = std::min(least, row[i]);
    }
    if (least > limit) return limit + 1;
  }
  return std::min(row[a.size()], limit + 1);
}

Suggester::Suggester(std::string_view word)
    : word_(word), wanted_(std::min<std::size_t>(word.size() / 3 + 1, 4) + 1) {}

void Suggester::consider(std::string_view candidate) {
  if (wanted_ == 0) return;
  const std::size_t distance = edit_distance(word_, candidate, wanted_ - 1);
  // More than half of the shorter word wrong is no typing error, but for one slip or letters that
  // changed places.
  const std::size_t shorter = std::min(word_.size(), candidate.size());
  const bool is_close = 2 * distance <= std::max<std::size_t>(2, shorter);
  if (!is_close && !std::ranges::is_permutation(word_, candidate)) return;
  if (distance >= wanted_ || distance >= std::max(word_.size(), candidate.size())) return;
  best_ = candidate;
  wanted_ = distance;
}

std::string Suggester::hint() const {
  return best_.empty() ? "" : "; did you mean " + quoted(best_) + "?";
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  Suggester suggester(word);
  for (const std::string_view candidate : candidates) suggester.consider(candidate);
  return suggester.hint();
}

}  // namespace memverify
