// One run for all: exact search of models in which no step disables one of another chain.
//
// Problem: which checks can fire at all? Idea: needs are monotone, so that the union of two
// reachable sets of instants is reachable. One run that does all it can tells most of it. Where it
// takes the step of a check after the watched chain has come into the range, the check can fire iff
// the step is possible while that chain is held back at the end of the range. Where it takes the
// step before, nothing need be asked: the order the other way round shows in a check on the other
// side (of two that race, each watches the other; likewise an access and its free).
// Whether a step is possible without another one follows from how far each chain must have come
// before it, kept for every step of the run (a vector clock; exact where needs are thresholds).
// Only where a counted need has a say, a second run holds the chain back. For race-free plans all
// runs are one Mazurkiewicz class, and this explores it once, with no run that ends early; an order
// that can be turned round is reported as a race, and then nothing is asked of the bytes in
// question.
//
// Example: w and u on two queues, no event. The run takes w, then u; no step of w is needed before
// u starts: so both can be open at once. Cost: steps times chains; with counted needs, chains times
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
      : model_(model), state_(model.chains(), 0), bound_(model.last), watchers_(model.chains()) {}

  void hold(ChainId chain, Digit digit) { bound_[chain] = digit; }

  /// Takes `step` over from another run that kept the bounds.
  void take_over(StepId step) {
    Digit& digit = state_[model_.chain_of_step[step]];
    digit = std::max(digit, static_cast<Digit>(model_.digit_of_step(step) + 1));
  }

  /// Calls goes_on(step) after each step, and ends where that is false.
  template <typename GoesOn>
  void run(const GoesOn& goes_on) {
    for (auto& watchers : watchers_) watchers.clear();
    ready_.clear();
    for (ChainId chain = 0; chain < model_.chains(); ++chain) ready_.push_back(chain);
    while (!ready_.empty()) {
      const ChainId chain = ready_.back();
      ready_.pop_back();
      const Digit before = state_[chain];
      while (state_[chain] < bound_[chain] && can_advance(chain)) {
        if (!goes_on(model_.first_step[chain] + state_[chain]++)) return;
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

/// A check of a step that the run takes after the watched chain has come into the range.
struct Question {
  StepId step = 0;
  const Check* check = nullptr;
  bool is_possible = false;  ///< The step, with the watched chain held back at the range's end.
};

class ClassSearch {
 public:
  ClassSearch(const Model& model, const Budget& budget)
      : model_(model), budget_(budget), counted_(model.chains()) {}

  Search run() {
    Clocks clocks(model_);
    HeldBack free(model_);
    execute(free, [&](StepId step) {
      order_.push_back(step);
      clocks.take(step);
      for (const Check& check : model_.checks_of(step)) {
        const bool is_own = check.chain == model_.chain_of_step[step];
        if (!is_own && free.state()[check.chain] < check.from) continue;
        const bool is_possible =
            is_own || free.state()[check.chain] <= check.to ||
            (!clocks.is_counted(step) && clocks.before(step, check.chain) <= check.to);
        questions_.push_back({step, &check, is_possible});
      }
      return true;
    });
    search_.runs = 1;
    ++search_.states;
    const CommandId blocked = first_incomplete(model_, free.state());
    search_.reaches_end = blocked == kNone<CommandId>;
    if (!search_.reaches_end) search_.deadlocks.push_back({free.state(), blocked, {}});

    for (Question& question : questions_) {
      if (question.is_possible || !clocks.is_counted(question.step)) continue;
      counted_[question.check->chain].push_back(&question);
    }
    for (ChainId chain = 0; chain < model_.chains() && search_.stopped.empty(); ++chain) {
      if (!counted_[chain].empty()) hold_back(chain);
    }
    collect();
    return std::move(search_);
  }

 private:
  template <typename GoesOn>
  void execute(HeldBack& run, const GoesOn& goes_on) {
    run.run([&](StepId step) {
      ++search_.transitions;
      ++search_.states;
      return goes_on(step);
    });
    if (budget_.is_late()) search_.stopped = "time";
    if (search_.states > budget_.states) search_.stopped = "states";
  }

  /// Answers what runs say that hold back `chain`, at one digit after the other. Each goes on from
  /// where the first run was when it took the chain further, until nothing more is to be asked.
  void hold_back(ChainId chain) {
    std::vector<Question*>& questions = counted_[chain];
    std::ranges::sort(questions, {}, [](const Question* q) { return q->check->to; });
    HeldBack held(model_);
    auto taken_over = order_.begin();
    std::vector<Question*> open;
    for (auto question = questions.begin(); question != questions.end();) {
      const Digit digit = (*question)->check->to;
      held.hold(chain, digit);
      while (*taken_over != model_.first_step[chain] + digit) held.take_over(*taken_over++);
      open.clear();
      for (; question != questions.end() && (*question)->check->to == digit; ++question) {
        const StepId step = (*question)->step;
        const Digit reached = held.state()[model_.chain_of_step[step]];
        (*question)->is_possible = reached > model_.digit_of_step(step);
        if (!(*question)->is_possible) open.push_back(*question);
      }
      if (open.empty()) continue;
      execute(held, [&](StepId step) {
        std::erase_if(open, [&](Question* asked) {
          asked->is_possible |= asked->step == step;
          return asked->step == step;
        });
        return !open.empty();
      });
    }
  }

  void collect() {
    std::ranges::stable_sort(questions_, {}, &Question::step);
    std::vector<std::uint8_t> found(model_.suspects.size(), 0);
    for (const Question& question : questions_) {
      const Check& check = *question.check;
      if (!question.is_possible || found[check.suspect] != 0) continue;
      found[check.suspect] = 1;
      State bound = model_.last;
      bound[check.chain] = check.to;
      bound[model_.chain_of_step[question.step]] = model_.digit_of_step(question.step);
      search_.hits.push_back({check.suspect, std::move(bound), question.step, {}});
    }
  }

  const Model& model_;
  const Budget& budget_;
  std::vector<StepId> order_;  ///< Of the first run.
  std::vector<Question> questions_;
  std::vector<std::vector<Question*>> counted_;  ///< By watched chain: what the clocks do not tell.
  Search search_;
};

}  // namespace

Search explore_classes(const Model& model, Budget& budget) {
  Search search = ClassSearch(model, budget).run();
  budget.states -= std::min(budget.states, search.states);
  return search;
}

}  // namespace memverify::sim
