#include "sim/witness.h"

#include <algorithm>
#include <set>
#include <utility>

namespace memverify::sim {
namespace {

constexpr std::size_t kMaxSearched = 1'000'000;  ///< States.
constexpr std::size_t kMaxShortened = 2'000;     ///< Steps.

/// Everything that can run without a digit passing `bound`. `state` is where that ends.
std::vector<StepId> greedy_run(const Model& model, const State& bound, State& state) {
  state.assign(model.chains(), 0);
  std::vector<StepId> run;
  while (true) {
    std::optional<StepId> best;
    for (ChainId chain = 0; chain < model.chains(); ++chain) {
      if (state[chain] == bound[chain]) continue;
      const StepId step = model.first_step[chain] + state[chain];
      if (best && model.command_of_step[*best] < model.command_of_step[step]) continue;
      if (is_enabled(model, state, step)) best = step;
    }
    if (!best) return run;
    ++state[model.chain_of_step[*best]];
    run.push_back(*best);
  }
}

/// Depth first among the states below a goal, each visited once.
class RunFinder {
 public:
  RunFinder(const Model& model, const State& goal, const VersionModel* versions,
            std::span<const std::uint64_t> values)
      : model_(model),
        goal_(goal),
        versions_(versions),
        values_(values.begin(), values.end()),
        state_(model.chains(), 0),
        words_(versions == nullptr ? 0 : versions->words, 0) {}

  std::vector<StepId> find() { return search() ? std::move(run_) : std::vector<StepId>(); }

 private:
  bool search() {
    if (state_ == goal_) return words_ == values_;
    if (seen_.size() >= kMaxSearched || !seen_.emplace(state_, words_).second) return false;
    std::vector<StepId> steps;
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      if (state_[chain] == goal_[chain]) continue;
      const StepId step = model_.first_step[chain] + state_[chain];
      if (is_enabled(model_, state_, step)) steps.push_back(step);
    }
    std::ranges::sort(steps, {}, [&](StepId step) { return model_.command_of_step[step]; });
    for (StepId step : steps) {
      const std::vector<std::uint64_t> before = words_;
      take(step);
      if (search()) return true;
      --state_[model_.chain_of_step[step]];
      run_.pop_back();
      words_ = before;
    }
    return false;
  }

  void take(StepId step) {
    ++state_[model_.chain_of_step[step]];
    run_.push_back(step);
    if (versions_ != nullptr) apply(*versions_, step, words_);
  }

  const Model& model_;
  const State& goal_;
  const VersionModel* versions_;
  const std::vector<std::uint64_t> values_;
  State state_;
  std::vector<std::uint64_t> words_;
  std::vector<StepId> run_;
  std::set<std::pair<State, std::vector<std::uint64_t>>> seen_;
};

/// The least digits that let `step` happen with `keep` as it must be; nullopt when a quorum or a
/// semaphore has a say, or when they are not inside `bound`.
std::optional<State> least_box(const Model& model, const State& bound, StepId step,
                               const Check& keep) {
  State box(model.chains(), 0);
  std::vector<StepId> to_do;
  const auto want = [&](ChainId chain, Digit digit) {
    while (box[chain] < digit) to_do.push_back(model.first_step[chain] + box[chain]++);
  };
  want(model.chain_of_step[step], model.digit_of_step(step));
  want(keep.chain, keep.from);
  to_do.push_back(step);
  while (!to_do.empty()) {
    const StepId next = to_do.back();
    to_do.pop_back();
    if (!model.quorums_of(next).empty() || !model.counts_of(next).empty()) return std::nullopt;
    for (const Threshold& threshold : model.thresholds_of(next)) {
      want(threshold.chain, threshold.digit);
    }
  }
  for (ChainId chain = 0; chain < model.chains(); ++chain) {
    if (box[chain] > bound[chain]) return std::nullopt;
  }
  return box;
}

}  // namespace

std::vector<StepId> run_to(const Model& model, const State& state, const VersionModel* versions,
                           std::span<const std::uint64_t> values) {
  if (model.consumes) return RunFinder(model, state, versions, values).find();
  State end;
  return greedy_run(model, state, end);
}

std::optional<std::vector<StepId>> minimal_run(const Model& model, const State& bound, StepId step,
                                               const Check& keep) {
  const ChainId own = model.chain_of_step[step];
  const Digit digit = model.digit_of_step(step);
  if (bound[own] < digit) return std::nullopt;
  State box = bound;
  box[own] = digit;
  State end;
  // Larger boxes reach more, so each side has a least length that will do.
  const auto will_do = [&] {
    greedy_run(model, box, end);
    return end[own] == digit && end[keep.chain] >= keep.from && is_enabled(model, end, step);
  };
  if (const auto least = least_box(model, bound, step, keep)) {
    box = *least;
    if (!will_do()) return std::nullopt;
    std::vector<StepId> run = greedy_run(model, box, end);
    run.push_back(step);
    return run;
  }
  if (!will_do()) return std::nullopt;
  for (ChainId chain = 0; chain < model.chains(); ++chain) {
    box = end;  // What was not reached is not needed.
    if (chain == own) continue;
    Digit low = 0;
    Digit high = box[chain];
    while (low < high) {
      const auto middle = static_cast<Digit>((low + high) / 2);
      box[chain] = middle;
      if (will_do()) {
        high = middle;
      } else {
        low = static_cast<Digit>(middle + 1);
      }
    }
    box[chain] = high;
    will_do();
  }
  std::vector<StepId> run = greedy_run(model, box, end);
  run.push_back(step);
  return run;
}

std::vector<StepId> shortened(
    const Model& model, const VersionModel* versions, std::vector<StepId> run,
    const std::function<bool(const State&, std::span<const std::uint64_t>)>& shows) {
  State state;
  std::vector<std::uint64_t> words;
  const auto still_shows = [&](const std::vector<StepId>& candidate) {
    state.assign(model.chains(), 0);
    words.assign(versions == nullptr ? 0 : versions->words, 0);
    for (StepId step : candidate) {
      const ChainId chain = model.chain_of_step[step];
      if (state[chain] != model.digit_of_step(step) || !is_enabled(model, state, step))
        return false;
      ++state[chain];
      if (versions != nullptr) apply(*versions, step, words);
    }
    return shows(state, words);
  };
  for (bool is_shorter = run.size() <= kMaxShortened; is_shorter;) {
    is_shorter = false;
    for (std::size_t i = run.size(); i-- > 0;) {
      std::vector<StepId> candidate = run;
      candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(i));
      if (!still_shows(candidate)) continue;
      run = std::move(candidate);
      is_shorter = true;
    }
  }
  return run;
}

std::vector<Step> to_steps(const Program& program, const Model& model,
                           std::span<const StepId> run) {
  std::vector<Step> steps;
  for (StepId step : run) {
    const Command& command = program.commands[model.command_of_step[step]];
    steps.push_back({.complete = !model.is_start(step),
                     .op = command.op,
                     .iteration = static_cast<std::int64_t>(command.iteration)});
  }
  return steps;
}

}  // namespace memverify::sim
