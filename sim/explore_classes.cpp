// One run for all: exact search of models that consume no semaphore.
//
// Problem: which checks can fire at all? Idea: needs are monotone, so that the union of two
// reachable sets of instants is reachable. A check fires in some state iff (a) its step is possible
// while the watched chain is held back at the end of the range, and (b) the watched chain gets to
// the beginning of the range while the step is held back: the union of the two runs is that state.
// One run tells most of it. It keeps for every step how far each chain must have come before (a
// vector clock; exact where needs are thresholds): (a) and (b) compare two digits of it. Only where
// a counted need has a say, a second run holds the chain back.
// For race-free plans all runs are one Mazurkiewicz class, and this explores it once, with no run
// that ends early; an order that can be turned round is reported as a race, and then nothing is
// asked of the bytes in question.
//
// Example: w and u on two queues, no event. No step of w is before u starts, nor the other way
// round: so both can be open at once. Cost: steps times chains; with counted needs, chains times
// (steps plus needs). Clocks: Mattern, Virtual Time and Global States of Distributed Systems
// (1989). Tested by tests/unit/sim/explore_test.cpp.
#include <algorithm>

#include "sim/search.h"

namespace memverify::sim {
namespace {

constexpr std::size_t kMostClockDigits = std::size_t{1} << 27;  ///< 256 MB of them.

/// A run that does everything it can without a digit passing its bound.
class HeldBack {
 public:
  explicit HeldBack(const Model& model)
      : model_(model), state_(model.chains(), 0), bound_(model.last), watchers_(model.chains()) {
    for (ChainId chain = 0; chain < model.chains(); ++chain) ready_.push_back(chain);
  }

  void hold(ChainId chain, Digit digit) {
    bound_[chain] = digit;
    ready_.push_back(chain);
  }

  /// Calls took(step) after each step.
  template <typename Took>
  void run(const Took& took) {
    while (!ready_.empty()) {
      const ChainId chain = ready_.back();
      ready_.pop_back();
      const Digit before = state_[chain];
      while (state_[chain] < bound_[chain] && can_advance(chain)) {
        took(model_.first_step[chain] + state_[chain]++);
      }
      if (state_[chain] == before) continue;
      ready_.insert(ready_.end(), watchers_[chain].begin(), watchers_[chain].end());
      watchers_[chain].clear();
    }
  }

  const State& state() const { return state_; }

 private:
  /// Otherwise whatever could change that is asked to wake the chain up.
  bool can_advance(ChainId chain) {
    const StepId step = model_.first_step[chain] + state_[chain];
    for (const Threshold& threshold : model_.thresholds_of(step)) {
      if (state_[threshold.chain] >= threshold.digit) continue;
      watchers_[threshold.chain].push_back(chain);
      return false;
    }
    if (is_enabled(model_, state_, step)) return true;
    for (std::uint32_t q : model_.quorums_of(step)) {
      for (const Threshold& threshold : model_.quorums[q].of) {
        watchers_[threshold.chain].push_back(chain);
      }
    }
    for (const CountNeed& need : model_.counts_of(step)) {
      for (ChainId other : model_.affecting[need.semaphore]) watchers_[other].push_back(chain);
    }
    return false;
  }

  const Model& model_;
  State state_;
  State bound_;
  std::vector<std::vector<ChainId>> watchers_;  ///< By chain: whom its progress may wake up.
  std::vector<ChainId> ready_;
};

/// How far each chain must have come before each step of a run.
class Clocks {
 public:
  explicit Clocks(const Model& model) : model_(model), counted_(model.steps(), 1) {
    is_kept_ = model.steps() * model.chains() <= kMostClockDigits;
    if (is_kept_) digits_.resize(model.steps() * model.chains(), 0);
  }

  /// `step` is taken; what it needs has been.
  void take(StepId step) {
    if (!is_kept_) return;
    counted_[step] = model_.quorums_of(step).empty() && model_.counts_of(step).empty() ? 0 : 1;
    const ChainId own = model_.chain_of_step[step];
    if (const Digit digit = model_.digit_of_step(step); digit > 0) join({own, digit}, step);
    for (const Threshold& threshold : model_.thresholds_of(step)) join(threshold, step);
  }

  /// True iff counted needs have a say in when `step` is possible, or nothing is known.
  bool is_counted(StepId step) const { return counted_[step] != 0; }
  Digit before(StepId step, ChainId chain) const { return *at(step, chain); }

 private:
  const Digit* at(StepId step, ChainId chain) const {
    return &digits_[step * model_.chains() + chain];
  }

  void join(const Threshold& threshold, StepId step) {
    if (threshold.digit == 0) return;
    const StepId last = model_.first_step[threshold.chain] + threshold.digit - 1U;
    counted_[step] |= counted_[last];
    Digit* clock = &digits_[step * model_.chains()];
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      clock[chain] = std::max(clock[chain], *at(last, chain));
    }
    clock[threshold.chain] = std::max(clock[threshold.chain], threshold.digit);
  }

  const Model& model_;
  bool is_kept_ = false;
  std::vector<Digit> digits_;          ///< By step, by chain.
  std::vector<std::uint8_t> counted_;  ///< By step.
};

/// A check, and where it belongs.
struct Question {
  StepId step = 0;
  const Check* check = nullptr;
  bool step_is_possible = false;  ///< (a)
  bool range_is_reached = false;  ///< (b)
};

class ClassSearch {
 public:
  ClassSearch(const Model& model, Budget& budget) : model_(model), budget_(budget) {}

  Search run() {
    Clocks clocks(model_);
    HeldBack free(model_);
    execute(free, [&](StepId step) { clocks.take(step); });
    search_.runs = 1;
    ++search_.states;
    end_ = free.state();
    const CommandId blocked = first_incomplete(model_, end_);
    search_.reaches_end = blocked == kNone<CommandId>;
    if (!search_.reaches_end) search_.deadlocks.push_back({end_, blocked});

    by_watched_.resize(model_.chains());
    by_step_.resize(model_.chains());
    ask(clocks);
    for (ChainId chain = 0; chain < model_.chains() && search_.stopped.empty(); ++chain) {
      hold_back(chain);
    }
    collect();
    return std::move(search_);
  }

 private:
  template <typename Took>
  void execute(HeldBack& run, const Took& took) {
    run.run([&](StepId step) {
      took(step);
      ++search_.transitions;
      ++search_.states;
    });
    if (budget_.is_late()) search_.stopped = "time";
    if (search_.states > budget_.states) search_.stopped = "states";
  }

  /// Answers from the clocks; what they do not tell is left for runs that hold a chain back.
  void ask(const Clocks& clocks) {
    for (StepId step = 0; step < model_.steps(); ++step) {
      const ChainId own = model_.chain_of_step[step];
      const Digit digit = model_.digit_of_step(step);
      if (end_[own] <= digit) continue;
      for (const Check& check : model_.checks_of(step)) {
        if (end_[check.chain] < check.from) continue;
        questions_.push_back({step, &check});
        Question& question = questions_.back();
        if (check.chain == own || check.to == model_.last[check.chain]) {
          question.step_is_possible = true;
        } else if (!clocks.is_counted(step)) {
          question.step_is_possible = clocks.before(step, check.chain) <= check.to;
        }
        if (check.chain == own || check.from == 0) {
          question.range_is_reached = true;
        } else if (const StepId last = model_.first_step[check.chain] + check.from - 1U;
                   !clocks.is_counted(last)) {
          question.range_is_reached = clocks.before(last, own) <= digit;
        }
      }
    }
    for (Question& question : questions_) {
      const Check& check = *question.check;
      const ChainId own = model_.chain_of_step[question.step];
      if (!question.step_is_possible && clocks.is_counted(question.step)) {
        by_watched_[check.chain].push_back(&question);
      }
      if (!question.range_is_reached &&
          clocks.is_counted(model_.first_step[check.chain] + check.from - 1U)) {
        by_step_[own].push_back(&question);
      }
    }
  }

  /// Answers what the runs say that hold back `chain`, at one digit after the other.
  void hold_back(ChainId chain) {
    std::vector<Question*>& watching = by_watched_[chain];
    std::vector<Question*>& stepping = by_step_[chain];
    if (watching.empty() && stepping.empty()) return;
    std::ranges::sort(watching, {}, [](const Question* q) { return q->check->to; });
    std::ranges::sort(stepping, {}, &Question::step);
    HeldBack held(model_);
    auto watched = watching.begin();
    auto stepped = stepping.begin();
    for (Digit digit = 0; watched != watching.end() || stepped != stepping.end(); ++digit) {
      held.hold(chain, digit);
      execute(held, [](StepId) {});
      for (; watched != watching.end() && (*watched)->check->to == digit; ++watched) {
        const StepId step = (*watched)->step;
        const Digit reached = held.state()[model_.chain_of_step[step]];
        (*watched)->step_is_possible = reached > model_.digit_of_step(step);
      }
      for (; stepped != stepping.end() && model_.digit_of_step((*stepped)->step) == digit;
           ++stepped) {
        const Check& check = *(*stepped)->check;
        (*stepped)->range_is_reached = held.state()[check.chain] >= check.from;
      }
    }
  }

  void collect() {
    std::vector<std::uint8_t> found(model_.suspects.size(), 0);
    for (const Question& question : questions_) {
      const Check& check = *question.check;
      if (!question.step_is_possible || !question.range_is_reached) continue;
      if (found[check.suspect] != 0) continue;
      found[check.suspect] = 1;
      State bound = model_.last;
      bound[check.chain] = check.to;
      bound[model_.chain_of_step[question.step]] = model_.digit_of_step(question.step);
      search_.hits.push_back({check.suspect, std::move(bound), question.step});
    }
  }

  const Model& model_;
  Budget& budget_;
  State end_;  ///< Of the run that does everything it can.
  std::vector<Question> questions_;
  std::vector<std::vector<Question*>> by_watched_;  ///< By chain: (a) is open.
  std::vector<std::vector<Question*>> by_step_;     ///< By chain: (b) is open.
  Search search_;
};

}  // namespace

Search explore_classes(const Model& model, Budget& budget) {
  Search search = ClassSearch(model, budget).run();
  budget.states -= std::min(budget.states, search.states);
  return search;
}

}  // namespace memverify::sim
