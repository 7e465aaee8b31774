#include "sim/count.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "sim/keyset.h"
#include "sim/lanes.h"

namespace memverify::sim {
namespace {

__extension__ using Wide = unsigned __int128;
using Word = std::uint64_t;
using Number = std::vector<Word>;  ///< Least word first; all of a summation have the same length.

/// `to += from`, of `words` words each. It fits.
void add(Word* to, const Word* from, std::size_t words) {
  bool carry = false;
  for (std::size_t i = 0; i < words; ++i) {
    const Wide sum = Wide{to[i]} + from[i] + (carry ? 1 : 0);
    to[i] = static_cast<Word>(sum);
    carry = (sum >> 64) != 0;
  }
}

/// `from - what`, which is not negative.
Number difference(const Number& from, const Number& what) {
  Number rest(from.size());
  bool borrow = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Wide all = Wide{what[i]} + (borrow ? 1 : 0);
    rest[i] = static_cast<Word>(from[i] - all);
    borrow = all > from[i];
  }
  return rest;
}

std::string decimal(Number number) {
  std::string digits;
  while (!number.empty()) {
    Wide rest = 0;
    for (std::size_t i = number.size(); i-- > 0;) {
      rest = (rest << 64) + number[i];
      number[i] = static_cast<Word>(rest / 10);
      rest %= 10;
    }
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest)));
    while (!number.empty() && number.back() == 0) number.pop_back();
  }
  return digits;
}

/// log2 of the number of runs if no chain ever waited for another.
double bits_needed(const Model& model) {
  double steps = 0;
  double bits = 0;
  for (Digit last : model.last) {
    steps += last;
    bits -= std::lgamma(last + 1.0);
  }
  return (bits + std::lgamma(steps + 1.0)) / std::log(2.0);
}

/// Sums runs layer by layer, all of them or only those without a fault.
class Summation {
 public:
  Summation(const Material& material, const Model& model, const VersionModel* versions,
            std::size_t count_words, const Budget& budget)
      : material_(material),
        model_(model),
        versions_(versions),
        budget_(budget),
        count_words_(count_words),
        needs_(model),
        words_(
            std::max<std::size_t>(1, needs_.words + (versions == nullptr ? 0 : versions->words))),
        state_(model.chains()),
        next_key_(words_),
        total_(count_words, 0) {}

  /// Of all maximal runs, or, with versions, of those without a fault; nullopt at a limit.
  std::optional<Number> run() {
    KeySet<0> layer(words_, 1);
    std::vector<Word> counts;
    const std::vector<std::uint64_t> initial(words_, 0);
    Number one(count_words_, 0);
    one[0] = 1;
    visit(initial.data(), one.data());
    while (next_.size() > 0) {
      if (budget_.is_late()) return std::nullopt;
      std::swap(layer, next_);
      std::swap(counts, next_counts_);
      next_.clear();
      next_counts_.clear();
      for (std::size_t place = 0; place < layer.capacity(); ++place) {
        const std::uint64_t* key = layer.at(place);
        if (key != nullptr) visit(key, &counts[key[words_] * count_words_]);
      }
      const std::size_t bytes = next_.bytes_if_grown() + next_counts_.capacity() * sizeof(Word);
      if (bytes > budget_.bytes || visited_ > budget_.states) return std::nullopt;
    }
    return total_;
  }

 private:
  using L = Lanes<16>;

  void visit(const std::uint64_t* key, const Word* count) {
    ++visited_;
    L::unpack(key, state_);
    bool ended = true;
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      if (state_[chain] == model_.last[chain]) continue;
      const StepId step = model_.first_step[chain] + state_[chain];
      if (!enabled(key, step)) continue;
      ended = false;
      if (versions_ != nullptr && fails(key, step)) continue;
      std::copy(key, key + words_, next_key_.begin());
      next_key_[chain / L::kPerWord] += L::one(chain);
      if (versions_ != nullptr) apply(*versions_, step, std::span(next_key_).subspan(needs_.words));
      enter(count);
    }
    if (ended && (versions_ == nullptr || ends_well(key))) {
      add(total_.data(), count, count_words_);
    }
  }

  bool enabled(const std::uint64_t* key, StepId step) const {
    for (std::size_t w = 0; w < needs_.words; ++w) {
      if (!L::covers(key[w], needs_.thresholds[step * needs_.words + w])) return false;
    }
    return needs_.has_more[step] == 0 || is_enabled(model_, state_, step);
  }

  void enter(const Word* count) {
    const auto place = next_.insert(next_key_.data());
    if (place.is_new) {
      place.key[words_] = next_counts_.size() / count_words_;
      next_counts_.insert(next_counts_.end(), count, count + count_words_);
    } else {
      add(&next_counts_[place.key[words_] * count_words_], count, count_words_);
    }
  }

  bool fails(const std::uint64_t* key, StepId step) const {
    for (const Check& check : model_.checks_of(step)) {
      if (model_.suspects[check.suspect].kind != Suspect::Kind::kNotProven &&
          fires(check, state_)) {
        return true;
      }
    }
    return std::ranges::any_of(versions_->checks_of(step),
                               [&](const VersionCheck& check) { return is_wrong(key, check); });
  }

  bool is_wrong(const std::uint64_t* key, const VersionCheck& check) const {
    const std::span words(key + needs_.words, versions_->words);
    return !check.demand->is_open && wrong_author(material_, *versions_, check, words);
  }

  bool ends_well(const std::uint64_t* key) const {
    if (state_ != model_.last || !material_.lifetimes.dead_at_end.empty()) return false;
    for (const Demand& demand : material_.reads.at_end) {
      if (demand.expected.base == Expected::Base::kNothing && !demand.is_open) return false;
    }
    return std::ranges::none_of(versions_->end_checks,
                                [&](const VersionCheck& check) { return is_wrong(key, check); });
  }

  const Material& material_;
  const Model& model_;
  const VersionModel* versions_;
  const Budget& budget_;
  const std::size_t count_words_;
  const PackedNeeds<16> needs_;
  const std::size_t words_;  ///< Of a key; one more says where its count is.
  State state_;
  std::vector<std::uint64_t> next_key_;
  KeySet<0> next_{words_, 1};
  std::vector<Word> next_counts_;
  std::uint64_t visited_ = 0;
  Number total_;
};

}  // namespace

RunCount count_runs(const Material& material, const Model& model, const VersionModel& versions,
                    const Budget& budget) {
  const auto words = static_cast<std::size_t>((bits_needed(model) + 1) / 64) + 1;
  const auto all = Summation(material, model, nullptr, words, budget).run();
  if (!all) return {};
  const auto good = Summation(material, model, &versions, words, budget).run();
  if (!good) return {};
  return {.complete = true,
          .interleavings = decimal(*all),
          .failing = decimal(difference(*all, *good))};
}

std::string add_decimals(std::string a, std::string b) {
  if (a.size() < b.size()) std::swap(a, b);
  int carry = 0;
  for (std::size_t i = 0; i < a.size() && (carry != 0 || i < b.size()); ++i) {
    char& digit = a[a.size() - 1 - i];
    const int sum = digit - '0' + carry + (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    digit = static_cast<char>('0' + sum % 10);
    carry = sum / 10;
  }
  return carry != 0 ? "1" + a : a;
}

}  // namespace memverify::sim
