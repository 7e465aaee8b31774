#include "verify/loop.h"

#include <algorithm>

#include "verify/cases.h"
#include "verify/horizon.h"
#include "verify/walk.h"

namespace memverify {
namespace {

constexpr std::uint32_t kMaxSample = 200;
constexpr std::uint32_t kMaxSampleRuns = 16;

/// True iff each of the first iterations completes without later ones and without what runs last.
/// From `steady` on they are all alike.
bool go_forward(const Plan& plan, const Layout& layout, const ConditionCase& conditions,
                std::uint32_t steady) {
  for (std::uint32_t n = 1; n <= steady + 1; ++n) {
    if (!walk(make_program(plan, layout, conditions, n, false)).all_completed) return false;
  }
  return true;
}

class RunChooser {
 public:
  RunChooser(const Plan& plan, const Layout& layout, const ConditionCase& conditions,
             const HbOptions& options)
      : plan_(plan),
        layout_(layout),
        conditions_(conditions),
        ops_(std::max<std::uint64_t>(plan.ops.size(), 1)),
        most_(std::max<std::uint64_t>(options.max_instances / ops_, 1)),
        fold_(options.fold_loops) {}

  LoopRuns choose() {
    if (plan_.iterations == 1) return {};
    horizon_ = find_horizon(plan_, layout_, conditions_);
    return plan_.iterations ? some(static_cast<std::uint64_t>(*plan_.iterations)) : any();
  }

 private:
  /// Runs of 1, 2, ... `n` iterations together.
  static std::uint64_t sum(std::uint64_t n) { return n * (n + 1) / 2; }

  LoopRuns any() {
    std::string& obstacle = horizon_.obstacle;
    if (obstacle.empty() && sum(horizon_.shows) > most_) {
      obstacle = "it takes runs of up to " + std::to_string(horizon_.shows) +
                 " iterations to show everything, which are more than the limit";
    }
    if (obstacle.empty() && !go_forward(plan_, layout_, conditions_, horizon_.steady)) {
      obstacle = "an iteration waits for what only a later one, or an op that runs last, does";
    }
    if (obstacle.empty()) return {.last = horizon_.shows, .must_fail = horizon_.runs_dry};
    LoopRuns runs = sample();
    runs.not_proven =
        "The plan runs an unbounded number of iterations; the first " + std::to_string(runs.last) +
        " were looked at, and of those that follow nothing is known: " + obstacle + ".";
    runs.help = "give \"iterations\" a number to prove that many";
    return runs;
  }

  LoopRuns some(std::uint64_t n) {
    if (fold_ && horizon_.obstacle.empty() && n > horizon_.shows &&
        n - horizon_.shows > horizon_.phases && sum(horizon_.steady + 1) <= most_) {
      const std::uint64_t stand_in = horizon_.shows + (n - horizon_.shows) % horizon_.phases;
      const bool fits = !horizon_.runs_dry && stand_in <= most_;
      if (fits && go_forward(plan_, layout_, conditions_, horizon_.steady)) {
        const auto last = static_cast<std::uint32_t>(stand_in);
        return {.first = last, .last = last, .stands_in = true, .shows = horizon_.shows};
      }
    }
    if (n <= most_) {
      const auto all = static_cast<std::uint32_t>(n);
      return {.first = all, .last = all};
    }
    LoopRuns runs = sample();
    runs.first = runs.last;
    runs.reaches_end = false;
    runs.not_proven = std::to_string(n) + " iterations of " + std::to_string(plan_.ops.size()) +
                      " ops are more than the " + std::to_string(most_ * ops_) +
                      " command instances that are unrolled; the first " +
                      std::to_string(runs.last) +
                      " iterations were looked at, and nothing that shows only at the end";
    if (!horizon_.obstacle.empty())
      runs.not_proven += ". They are not cut short, for " + horizon_.obstacle;
    runs.not_proven += ".";
    runs.help = "lower \"iterations\"";
    return runs;
  }

  LoopRuns sample() const {
    const auto limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(most_, kMaxSample));
    const std::uint32_t last = sample_iterations(plan_, limit);
    return {.first = last <= kMaxSampleRuns && sum(last) <= most_ ? 1 : last, .last = last};
  }

  const Plan& plan_;
  const Layout& layout_;
  const ConditionCase& conditions_;
  std::uint64_t ops_;
  std::uint64_t most_;  ///< Iterations that are run in all.
  bool fold_;
  Horizon horizon_;
};

}  // namespace

LoopRuns choose_runs(const Plan& plan, const Layout& layout, const ConditionCase& conditions,
                     const HbOptions& options) {
  return RunChooser(plan, layout, conditions, options).choose();
}

}  // namespace memverify
