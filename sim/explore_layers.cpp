// Exhaustive search, one layer of states at a time.
//
// Idea: every step adds one to one digit, so that all runs to a state have the same length: states
// form layers, a layer's successors lie in the next one, and no older state can come back. Two hash
// sets of packed states are all the memory. The first layer that shows something shows it in the
// fewest steps. Cost: states times chains. Tested by tests/unit/sim/explore_test.cpp.
#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "sim/keyset.h"
#include "sim/lanes.h"
#include "sim/search.h"

namespace memverify::sim {
namespace {

constexpr std::uint64_t kCheckClockEvery = 1 << 14;  ///< States.

template <unsigned Bits, std::size_t K>
class LayerSearch {
 public:
  LayerSearch(const Model& model, const LayerOptions& options, const Material& material,
              Budget& budget)
      : model_(model),
        versions_(options.versions),
        independence_(options.independence),
        material_(material),
        budget_(budget),
        needs_(model),
        words_(needs_.words + (versions_ == nullptr ? 0 : versions_->words)),
        found_(model.suspects.size(), 0),
        state_(model.chains()),
        next_key_(words_) {}

  Search run() {
    const std::size_t data = independence_ == nullptr ? 0 : 1;  // The sleep set.
    KeySet<K> layer(words_, data);
    KeySet<K> next(words_, data);
    const std::vector<std::uint64_t> initial(words_ + 1, 0);
    visit(initial.data(), next);
    while (next.size() > 0 && search_.stopped.empty()) {
      std::swap(layer, next);
      next.clear();
      for (std::size_t place = 0; place < layer.capacity(); ++place) {
        const std::uint64_t* key = layer.at(place);
        if (key == nullptr) continue;
        visit(key, next);
        if (layer.bytes() + next.bytes_if_grown() > budget_.bytes) search_.stopped = "memory";
        if (!search_.stopped.empty()) break;
      }
    }
    return std::move(search_);
  }

 private:
  using L = Lanes<Bits>;

  bool enabled(const std::uint64_t* key, StepId step) const {
    const std::uint64_t* thresholds = &needs_.thresholds[step * needs_.words];
    for (std::size_t w = 0; w < (K == 1 ? 1 : needs_.words); ++w) {
      if (!L::covers(key[w], thresholds[w])) return false;
    }
    return needs_.has_more[step] == 0 || is_enabled(model_, state_, step);
  }

  void visit(const std::uint64_t* key, KeySet<K>& next) {
    if (search_.states % kCheckClockEvery == 0) {
      if (budget_.tick) budget_.tick(search_.states);
      if (budget_.is_late()) {
        search_.stopped = "time";
        return;
      }
    }
    if (budget_.states == 0) {
      search_.stopped = "states";
      return;
    }
    --budget_.states;
    ++search_.states;
    if (independence_ != nullptr) {
      visit_reduced(key, next);
      return;
    }
    if (needs_.any_more) L::unpack(key, state_);
    std::uint32_t taken = 0;
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      const Digit digit = L::get(key, chain);
      if (digit == model_.last[chain]) continue;
      const StepId step = model_.first_step[chain] + digit;
      if (!enabled(key, step)) continue;
      ++taken;
      look(key, step);
      take(key, step);
      next.insert(next_key_.data());
    }
    search_.transitions += taken;
    if (taken == 0) end_of_run(key);
  }

  /// The same, of a persistent set of chains that do not sleep. All ways to a state have come
  /// together when it is visited: what sleeps on every one of them sleeps.
  void visit_reduced(const std::uint64_t* key, KeySet<K>& next) {
    L::unpack(key, state_);
    ChainSet enabled_chains = 0;
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      if (state_[chain] != model_.last[chain] &&
          enabled(key, model_.first_step[chain] + state_[chain])) {
        enabled_chains |= ChainSet{1} << chain;
      }
    }
    if (enabled_chains == 0) {
      end_of_run(key);
      return;
    }
    const State state = state_;
    ChainSet asleep = key[words_];
    ChainSet to_take = persistent_set(model_, *independence_, state, enabled_chains) & ~asleep;
    for (; to_take != 0; to_take &= to_take - 1) {
      const auto chain = static_cast<ChainId>(std::countr_zero(to_take));
      const StepId step = model_.first_step[chain] + state[chain];
      ++search_.transitions;
      look(key, step);
      take(key, step);
      const ChainSet awake = dependent_next(model_, *independence_, state, step);
      const auto place = next.insert(next_key_.data());
      place.key[words_] = (place.is_new ? ~ChainSet{0} : place.key[words_]) & asleep & ~awake;
      asleep |= ChainSet{1} << chain;
    }
  }

  /// next_key_ becomes the state after `step` of `key`.
  void take(const std::uint64_t* key, StepId step) {
    const ChainId chain = model_.chain_of_step[step];
    std::copy(key, key + words_, next_key_.begin());
    next_key_[chain / L::kPerWord] += L::one(chain);
    if (versions_ == nullptr) return;
    for (const VersionChange& change : versions_->changes_of(step)) {
      std::uint64_t& word = next_key_[needs_.words + change.word];
      word = (word & change.keep) | change.set;
    }
  }

  /// What shows when `step` is taken.
  void look(const std::uint64_t* key, StepId step) {
    for (const Check& check : model_.checks_of(step)) {
      const Digit digit = L::get(key, check.chain);
      if (digit < check.from || digit > check.to || found_[check.suspect] != 0) continue;
      found_[check.suspect] = 1;
      L::unpack(key, state_);
      search_.hits.push_back({check.suspect, state_, step});
    }
    if (versions_ == nullptr) return;
    for (const VersionCheck& check : versions_->checks_of(step)) compare(key, check, step);
  }

  void compare(const std::uint64_t* key, const VersionCheck& check, StepId step) {
    const std::span versions(key + needs_.words, versions_->words);
    const auto found = wrong_author(material_, *versions_, check, versions);
    if (!found || !seen_wrong_.emplace(check.demand, *found).second) return;
    L::unpack(key, state_);
    search_.wrong.push_back(
        {{check.demand, *found}, state_, step, {versions.begin(), versions.end()}});
  }

  void end_of_run(const std::uint64_t* key) {
    L::unpack(key, state_);
    const CommandId blocked = first_incomplete(model_, state_);
    if (blocked == kNone<CommandId>) {
      search_.reaches_end = true;
      if (versions_ == nullptr) return;
      const auto no_step = static_cast<StepId>(model_.steps());
      for (const VersionCheck& check : versions_->end_checks) compare(key, check, no_step);
    } else if (std::ranges::find(search_.deadlocks, blocked, &Deadlock::blocked) ==
               search_.deadlocks.end()) {
      search_.deadlocks.push_back({state_, blocked});
    }
  }

  const Model& model_;
  const VersionModel* versions_;
  const Independence* independence_;
  const Material& material_;
  Budget& budget_;
  const PackedNeeds<Bits> needs_;
  const std::size_t words_;          ///< Of a key: digits, then versions.
  std::vector<std::uint8_t> found_;  ///< By suspect.
  std::set<std::pair<const Demand*, CommandId>> seen_wrong_;
  State state_;  ///< Digits of the state at hand, when someone needs them.
  std::vector<std::uint64_t> next_key_;
  Search search_;
};

template <unsigned Bits>
Search explore(const Model& model, const LayerOptions& options, const Material& material,
               Budget& budget) {
  const bool is_one_word = Lanes<Bits>::words(model.chains()) == 1 && options.versions == nullptr &&
                           options.independence == nullptr;
  return is_one_word ? LayerSearch<Bits, 1>(model, options, material, budget).run()
                     : LayerSearch<Bits, 0>(model, options, material, budget).run();
}

}  // namespace

Search explore_layers(const Model& model, const LayerOptions& options, const Material& material,
                      Budget& budget) {
  const bool is_small =
      std::ranges::all_of(model.last, [](Digit last) { return last <= Lanes<8>::kMaxDigit; });
  return is_small ? explore<8>(model, options, material, budget)
                  : explore<16>(model, options, material, budget);
}

}  // namespace memverify::sim
