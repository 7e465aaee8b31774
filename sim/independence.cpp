#include "sim/independence.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace memverify::sim {
namespace {

using Pairs = std::vector<std::pair<StepId, StepId>>;

void relate(Pairs& pairs, StepId a, StepId b) {
  pairs.emplace_back(a, b);
  pairs.emplace_back(b, a);
}

/// A check that looks at another command's open phase is made twice, once from each side. That the
/// two overlap is seen from one of the sides whichever starts first: only completions matter.
bool is_mutual(const Suspect& suspect) {
  return suspect.kind == Suspect::Kind::kRace || suspect.kind == Suspect::Kind::kNotProven;
}

void relate_checks(const Model& model, Pairs& pairs) {
  for (StepId step = 0; step < model.steps(); ++step) {
    for (const Check& check : model.checks_of(step)) {
      if (check.chain == model.chain_of_step[step]) continue;
      const StepId first = model.first_step[check.chain];
      if (check.from > 0 && !is_mutual(model.suspects[check.suspect])) {
        relate(pairs, step, first + check.from - 1);
      }
      if (check.to < model.last[check.chain]) relate(pairs, step, first + check.to);
    }
  }
}

/// What takes from a semaphore may disable what needs it.
void relate_consumers(const Model& model, Pairs& pairs) {
  if (!model.consumes) return;
  for (std::uint32_t s = 0; s < model.initial.size(); ++s) {
    const std::vector<std::int64_t>& effects = model.effects[s];
    std::vector<StepId> takers;
    std::vector<StepId> needers;
    for (StepId step = 0; step < model.steps(); ++step) {
      const auto counts = model.counts_of(step);
      if (std::ranges::find(counts, s, &CountNeed::semaphore) != counts.end()) {
        needers.push_back(step);
      }
      const std::size_t at =
          model.first_digit(model.chain_of_step[step]) + model.digit_of_step(step);
      if (!effects.empty() && effects[at + 1] < effects[at]) takers.push_back(step);
    }
    for (StepId taker : takers) {
      for (StepId needer : needers) relate(pairs, taker, needer);
    }
  }
}

/// Adds the chains whose progress a need that is not met may wait for: one of them if all must
/// progress, else all.
ChainSet needed_by(const Model& model, std::span<const Digit> state, StepId step, ChainSet known) {
  ChainSet some = 0;
  for (const Threshold& threshold : model.thresholds_of(step)) {
    if (state[threshold.chain] >= threshold.digit) continue;
    const ChainSet one = ChainSet{1} << threshold.chain;
    if ((known & one) != 0) return 0;
    if (some == 0) some = one;
  }
  if (some != 0) return some;
  for (std::uint32_t q : model.quorums_of(step)) {
    std::uint32_t held = 0;
    for (const Threshold& threshold : model.quorums[q].of) {
      if (state[threshold.chain] >= threshold.digit) {
        ++held;
      } else {
        some |= ChainSet{1} << threshold.chain;
      }
    }
    if (held < model.quorums[q].least) return some;
    some = 0;
  }
  for (const CountNeed& need : model.counts_of(step)) {
    if (count_of(model, state, need.semaphore) >= need.value) continue;
    for (ChainId chain : model.affecting[need.semaphore]) some |= ChainSet{1} << chain;
    return some;
  }
  return 0;
}

}  // namespace

Independence make_independence(const Model& model) {
  Pairs pairs;
  relate_checks(model, pairs);
  relate_consumers(model, pairs);
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  Independence independence;
  std::size_t at = 0;
  for (StepId step = 0; step < model.steps(); ++step) {
    independence.begin.push_back(static_cast<std::uint32_t>(independence.others.size()));
    for (; at < pairs.size() && pairs[at].first == step; ++at) {
      if (model.chain_of_step[pairs[at].second] == model.chain_of_step[step]) continue;
      independence.others.push_back(pairs[at].second);
    }
  }
  independence.begin.push_back(static_cast<std::uint32_t>(independence.others.size()));
  return independence;
}

ChainSet dependent_next(const Model& model, const Independence& independence,
                        std::span<const Digit> state, StepId step) {
  ChainSet dependent = 0;
  for (StepId other : Model::slice(independence.others, independence.begin, step)) {
    const ChainId chain = model.chain_of_step[other];
    if (model.digit_of_step(other) == state[chain]) dependent |= ChainSet{1} << chain;
  }
  return dependent;
}

ChainSet persistent_set(const Model& model, const Independence& independence,
                        std::span<const Digit> state, ChainSet enabled) {
  ChainSet best = enabled;
  for (ChainSet seeds = enabled; seeds != 0; seeds &= seeds - 1) {
    if (std::popcount(best) == 1) break;
    ChainSet set = seeds & (~seeds + 1);
    for (ChainSet to_do = set; to_do != 0;) {
      const auto chain = static_cast<ChainId>(std::countr_zero(to_do));
      to_do &= to_do - 1;
      if (state[chain] == model.last[chain]) continue;
      const StepId step = model.first_step[chain] + state[chain];
      ChainSet more = 0;
      if ((enabled >> chain & 1U) == 0) {
        more = needed_by(model, state, step, set);
      } else {
        for (StepId other : Model::slice(independence.others, independence.begin, step)) {
          const ChainId there = model.chain_of_step[other];
          if (model.digit_of_step(other) >= state[there]) more |= ChainSet{1} << there;
        }
      }
      to_do |= more & ~set;
      set |= more;
    }
    if (std::popcount(set & enabled) < std::popcount(best)) best = set & enabled;
  }
  return best;
}

}  // namespace memverify::sim
