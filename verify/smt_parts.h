// verify/smt_parts.h -- what of a program has nothing to do with the rest of it.
//
// Problem: a solver that carries all of a plan gets slower with what a question is not about: four
//   locks in one solver take many times what they take in four.
// Idea: formulas that have no free term in common but conditions are about runs that do not touch
//   each other. Each part can do nothing at all, under any conditions, so a run of one part is a
//   run of the plan. Only what is asked of the end of a run is asked of all parts: where it is
//   impossible in one part alone, it is impossible.
// Cost: linear in the size of the formulas.
// Tested by tests/unit/verify/smt_parts_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/smt_questions.h"

namespace memverify::smt {

/// A question as it is put to the solver of its part.
struct PartQuestion {
  std::uint32_t number = 0;  ///< In Questions::all.
  Bool hazard;               ///< Of the commands of the part alone.
  /// Not decided by `hazard` if that is possible: the rest of the plan must come to its end, too.
  bool of_all = false;
};

/// Formulas, commands and questions that only conditions tie to those of other parts.
struct Part {
  std::vector<Cmd> commands;
  std::vector<Bool> required;
  std::vector<PartQuestion> questions;  ///< In the order of Questions::all.
};

/// The parts of what `questions` ask from number `from` on, by their first question; those that
/// nothing is asked of are left out. One part: nothing can be split off. `terms`, of which
/// everything is made, gets what is asked of the end of each part.
std::vector<Part> split(const Program& program, Order& order, const Bytes& bytes, Terms& terms,
                        const std::vector<Bool>& required, const Questions& questions,
                        std::uint32_t from);

}  // namespace memverify::smt
