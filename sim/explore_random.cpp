// Probabilistic concurrency testing: random runs with a bound on what they miss.
//
// Problem: a plan too large to exhaust, of which uniformly random runs see only the middle. Idea: a
// bug of depth d needs d instants in one order. Give each chain a random priority, always take the
// possible step of the highest one, and at d - 1 random instants drop the chain that has just
// moved below all others. With n chains and k steps one run then shows any given bug of depth d
// with probability at least 1 / (n k^(d-1)), whatever the plan. Burckhardt, Kothari, Musuvathi,
// Nagarakatte, A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs (2010). Cost of
// a run: steps times chains.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "sim/search.h"

namespace memverify::sim {
namespace {

class RandomSearch {
 public:
  RandomSearch(const Model& model, const VersionModel* versions, const Material& material,
               const RandomOptions& options, Budget& budget)
      : model_(model),
        versions_(versions),
        material_(material),
        options_(options),
        budget_(budget),
        random_(options.seed),
        found_(model.suspects.size(), 0) {}

  Search run() {
    search_.stopped = "random runs";
    for (std::uint64_t i = 0; i < options_.runs; ++i) {
      if (budget_.tick) budget_.tick(search_.states);
      if (budget_.is_late()) {
        search_.stopped = "time";
        break;
      }
      one_run();
      ++search_.runs;
    }
    return std::move(search_);
  }

 private:
  /// Draws that are the same on every platform; the bias is below 2^-40 for the bounds at hand.
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void one_run() {
    const std::size_t chains = model_.chains();
    state_.assign(chains, 0);
    run_.clear();
    words_.assign(versions_ == nullptr ? 0 : versions_->words, 0);
    failed_ = false;
    std::vector<std::uint64_t> priorities(chains);
    for (std::size_t i = 0; i < chains; ++i) {
      const std::size_t k = below(i + 1);
      priorities[i] = priorities[k];
      priorities[k] = options_.depth + i;
    }
    std::vector<std::uint64_t> changes;
    for (std::uint64_t d = 1; d < options_.depth; ++d) {
      changes.push_back(below(std::max<std::uint64_t>(1, model_.steps())));
    }
    for (std::uint64_t at = 0;; ++at) {
      std::optional<ChainId> best;
      for (ChainId chain = 0; chain < chains; ++chain) {
        if (state_[chain] == model_.last[chain]) continue;
        if (best && priorities[*best] > priorities[chain]) continue;
        if (is_enabled(model_, state_, model_.first_step[chain] + state_[chain])) best = chain;
      }
      ++search_.states;
      if (!best) break;
      take(model_.first_step[*best] + state_[*best]);
      for (std::size_t d = 0; d < changes.size(); ++d) {
        if (changes[d] == at) priorities[*best] = d;
      }
    }
    end_of_run();
    search_.failing_runs += failed_ ? 1 : 0;
  }

  void take(StepId step) {
    for (const Check& check : model_.checks_of(step)) {
      if (!fires(check, state_)) continue;
      failed_ |= model_.suspects[check.suspect].kind != Suspect::Kind::kNotProven;
      if (found_[check.suspect] != 0) continue;
      found_[check.suspect] = 1;
      search_.hits.push_back({check.suspect, state_, step, run_});
    }
    ++search_.transitions;
    if (versions_ != nullptr) {
      for (const VersionCheck& check : versions_->checks_of(step)) compare(check, step);
      apply(*versions_, step, words_);
    }
    ++state_[model_.chain_of_step[step]];
    run_.push_back(step);
  }

  void compare(const VersionCheck& check, StepId step) {
    const auto found = wrong_author(material_, *versions_, check, words_);
    if (!found) return;
    failed_ |= !check.demand->is_open;
    if (!seen_wrong_.emplace(check.demand, *found).second) return;
    search_.wrong.push_back({{check.demand, *found}, state_, step, words_, run_});
  }

  void end_of_run() {
    const CommandId blocked = first_incomplete(model_, state_);
    if (blocked == kNone<CommandId>) {
      search_.reaches_end = true;
      if (versions_ == nullptr) return;
      const auto no_step = static_cast<StepId>(model_.steps());
      for (const VersionCheck& check : versions_->end_checks) compare(check, no_step);
      return;
    }
    failed_ = true;
    if (std::ranges::find(search_.deadlocks, blocked, &Deadlock::blocked) ==
        search_.deadlocks.end()) {
      search_.deadlocks.push_back({state_, blocked, run_});
    }
  }

  const Model& model_;
  const VersionModel* versions_;
  const Material& material_;
  const RandomOptions& options_;
  Budget& budget_;
  std::mt19937_64 random_;
  std::vector<std::uint8_t> found_;  ///< By suspect.
  std::set<std::pair<const Demand*, CommandId>> seen_wrong_;
  State state_;
  std::vector<StepId> run_;  ///< To state_.
  std::vector<std::uint64_t> words_;
  bool failed_ = false;
  Search search_;
};

}  // namespace

double random_bound(const Model& model, const RandomOptions& options) {
  const auto steps = static_cast<double>(std::max<std::size_t>(1, model.steps()));
  const auto chains = static_cast<double>(std::max<std::size_t>(1, model.chains()));
  return 1 / (chains * std::pow(steps, static_cast<double>(options.depth) - 1));
}

Search explore_random(const Model& model, const VersionModel* versions, const Material& material,
                      const RandomOptions& options, Budget& budget) {
  return RandomSearch(model, versions, material, options, budget).run();
}

}  // namespace memverify::sim
