// One run for all: exact search of models that consume no semaphore.
//
// Problem: which checks can fire at all? Idea: needs are monotone, so that the union of two
// reachable sets of instants is reachable. A check fires in some state iff (a) its step becomes
// possible in the run that does everything it can while the watched chain is held back at the end
// of the range, and (b) the watched chain gets to the beginning of the range in the run that does
// everything it can while the step is held back: the union of the two runs is that state. So every
// order of conflicting commands that the one maximal run could be turned into is found by runs that
// hold one chain back at one digit; holding it at the next digit goes on from there.
// For race-free plans all runs are one Mazurkiewicz class, and this explores it once; an order that
// can be turned round is reported as a race, and then nothing is asked of the bytes in question.
//
// Example: w and u on two queues, no event. With w held back open, u can start; with u held
// back before its start, w can open: so both can be open at once.
// Cost: chains times (steps plus needs). Tested by tests/unit/sim/explore_test.cpp.
#include <algorithm>

#include "sim/search.h"

namespace memverify::sim {
namespace {

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

  void run() {
    while (!ready_.empty()) {
      const ChainId chain = ready_.back();
      ready_.pop_back();
      const Digit before = state_[chain];
      while (state_[chain] < bound_[chain] && can_advance(chain)) ++state_[chain];
      steps_ += static_cast<std::uint64_t>(state_[chain] - before);
      if (state_[chain] == before) continue;
      ready_.insert(ready_.end(), watchers_[chain].begin(), watchers_[chain].end());
      watchers_[chain].clear();
    }
  }

  const State& state() const { return state_; }
  std::uint64_t steps() const { return steps_; }

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
  std::uint64_t steps_ = 0;
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
  ClassSearch(const Model& model, Budget& budget) : model_(model), budget_(budget) {
    for (StepId step = 0; step < model.steps(); ++step) {
      for (const Check& check : model.checks_of(step)) questions_.push_back({step, &check});
    }
  }

  Search run() {
    State end = run_freely();
    finish(end);
    std::vector<std::vector<Question*>> by_watched(model_.chains());
    std::vector<std::vector<Question*>> by_step(model_.chains());
    for (Question& question : questions_) {
      const ChainId own = model_.chain_of_step[question.step];
      const bool reached = end[own] > model_.digit_of_step(question.step);
      const Check& check = *question.check;
      if (check.to == model_.last[check.chain]) {
        question.step_is_possible = reached;
      } else if (reached) {
        by_watched[check.chain].push_back(&question);
      }
      if (check.chain == own || check.from == 0) {
        question.range_is_reached = reached;
      } else if (reached) {
        by_step[own].push_back(&question);
      }
    }
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      if (budget_.is_late()) search_.stopped = "time";
      if (!search_.stopped.empty()) break;
      hold_back(chain, by_watched[chain], by_step[chain]);
    }
    collect();
    return std::move(search_);
  }

 private:
  State run_freely() {
    HeldBack free(model_);
    free.run();
    search_.transitions += free.steps();
    search_.states += free.steps() + 1;
    search_.runs = 1;
    return free.state();
  }

  void finish(const State& end) {
    const CommandId blocked = first_incomplete(model_, end);
    if (blocked == kNone<CommandId>) {
      search_.reaches_end = true;
    } else {
      search_.deadlocks.push_back({end, blocked});
    }
  }

  /// Answers what the runs say that hold back `chain`, at one digit after the other.
  void hold_back(ChainId chain, std::vector<Question*>& watching,
                 std::vector<Question*>& stepping) {
    if (watching.empty() && stepping.empty()) return;
    std::ranges::sort(watching, {}, [](const Question* q) { return q->check->to; });
    std::ranges::sort(stepping, {}, &Question::step);
    HeldBack held(model_);
    auto watched = watching.begin();
    auto stepped = stepping.begin();
    for (Digit digit = 0; watched != watching.end() || stepped != stepping.end(); ++digit) {
      held.hold(chain, digit);
      held.run();
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
    search_.transitions += held.steps();
    search_.states += held.steps() + 1;
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
  std::vector<Question> questions_;
  Search search_;
};

}  // namespace

Search explore_classes(const Model& model, Budget& budget) {
  return ClassSearch(model, budget).run();
}

}  // namespace memverify::sim
