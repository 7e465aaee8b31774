// verify/smt_run.h -- from a model to a run that a finding can show.
//
// Problem: a model says of every command whether it happened and when; most of that has nothing to
//   do with the hazard.
// Idea: the instants in order of time are a run. Then ask again with commands left out, first all
//   that the known order does not need, then one by one, as long as the hazard remains.
// Cost: one question per command that the known order does not need.
#pragma once

#include <vector>

#include "plan/finding.h"
#include "verify/smt_questions.h"

namespace memverify::smt {

/// What a model says of one run.
struct Run {
  std::vector<std::uint8_t> started;  ///< By command.
  std::vector<std::uint8_t> completed;
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> complete;
  std::vector<Bool> conditions;  ///< The literals that hold, as assumptions.
};

/// After Solver::check said kSat.
Run read_run(const Program& program, Solver& solver);

/// The instants in order; of one time, completions come first.
std::vector<Step> steps(const Program& program, const Run& run);

/// A run of the same hazard under the same conditions from which no command can be left out; `run`
/// itself where everything must happen. The limits of the solver may leave more in it.
Run minimal_run(const Program& program, const Order& order, Solver& solver,
                const Question& question, Run run);

/// Whose bytes the reader of `question` finds, and which it expects.
struct Found {
  const AccessInstance* writer = nullptr;  ///< nullptr: the initial value, or nobody's.
  bool expected_initial = false;
  Cmd expected = kNoCmd;
};
Found found_version(const Program& program, const Bytes& bytes, const Solver& solver,
                    const std::vector<Expectation>& expected, const Question& question,
                    const Run& run);

}  // namespace memverify::smt
