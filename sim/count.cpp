#include "sim/count.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "sim/keyset.h"
#include "sim/lanes.h"

namespace memverify::sim {
namespace {

using Big = boost::multiprecision::cpp_int;
__extension__ using Wide = unsigned __int128;

Big to_big(const Big& count) { return count; }
Big to_big(Wide count) {
  return (Big(static_cast<std::uint64_t>(count >> 64)) << 64) + static_cast<std::uint64_t>(count);
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
template <typename Count>
class Summation {
 public:
  Summation(const Material& material, const Model& model, const VersionModel* versions,
            const Budget& budget)
      : material_(material),
        model_(model),
        versions_(versions),
        budget_(budget),
        needs_(model),
        words_(
            std::max<std::size_t>(1, needs_.words + (versions == nullptr ? 0 : versions->words))),
        state_(model.chains()),
        next_key_(words_) {}

  /// Of all maximal runs, or, with versions, of those without a fault; nullopt at a limit.
  std::optional<Big> run() {
    KeySet<0> layer(words_, 1);
    std::vector<Count> counts;
    const std::vector<std::uint64_t> initial(words_, 0);
    visit(initial.data(), Count(1));
    while (next_.size() > 0) {
      if (budget_.is_late()) return std::nullopt;
      std::swap(layer, next_);
      std::swap(counts, next_counts_);
      next_.clear();
      next_counts_.clear();
      for (std::size_t place = 0; place < layer.capacity(); ++place) {
        const std::uint64_t* key = layer.at(place);
        if (key != nullptr) visit(key, counts[key[words_]]);
      }
      const std::size_t bytes = next_.bytes_if_grown() + next_counts_.capacity() * sizeof(Count);
      if (bytes > budget_.bytes || visited_ > budget_.states) return std::nullopt;
    }
    return total_;
  }

 private:
  using L = Lanes<16>;

  void visit(const std::uint64_t* key, const Count& count) {
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
      if (versions_ != nullptr) {
        for (const VersionChange& change : versions_->changes_of(step)) {
          std::uint64_t& word = next_key_[needs_.words + change.word];
          word = (word & change.keep) | change.set;
        }
      }
      add(count);
    }
    if (ended && (versions_ == nullptr || ends_well(key))) total_ += to_big(count);
  }

  bool enabled(const std::uint64_t* key, StepId step) const {
    for (std::size_t w = 0; w < needs_.words; ++w) {
      if (!L::covers(key[w], needs_.thresholds[step * needs_.words + w])) return false;
    }
    return needs_.has_more[step] == 0 || is_enabled(model_, state_, step);
  }

  void add(const Count& count) {
    const auto place = next_.insert(next_key_.data());
    if (place.is_new) {
      place.key[words_] = next_counts_.size();
      next_counts_.push_back(count);
    } else {
      next_counts_[place.key[words_]] += count;
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
  const PackedNeeds<16> needs_;
  const std::size_t words_;  ///< Of a key; one more says where its count is.
  State state_;
  std::vector<std::uint64_t> next_key_;
  KeySet<0> next_{words_, 1};
  std::vector<Count> next_counts_;
  std::uint64_t visited_ = 0;
  Big total_ = 0;
};

template <typename Count>
RunCount count_as(const Material& material, const Model& model, const VersionModel& versions,
                  const Budget& budget) {
  const auto all = Summation<Count>(material, model, nullptr, budget).run();
  if (!all) return {};
  const auto good = Summation<Count>(material, model, &versions, budget).run();
  if (!good) return {};
  return {.complete = true, .interleavings = all->str(), .failing = Big(*all - *good).str()};
}

}  // namespace

RunCount count_runs(const Material& material, const Model& model, const VersionModel& versions,
                    const Budget& budget) {
  return bits_needed(model) < 127 ? count_as<Wide>(material, model, versions, budget)
                                  : count_as<Big>(material, model, versions, budget);
}

std::string add_decimals(const std::string& a, const std::string& b) {
  return Big(Big(a) + Big(b)).str();
}

}  // namespace memverify::sim
