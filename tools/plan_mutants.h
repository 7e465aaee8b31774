// tools/plan_mutants.h -- plans with one thing changed, and what the engines make of them.
//
// Of a safe plan most changes should be found out. One that is not is either harmless, and there is
// a reason, or a hole in an engine; engines of which one says *safe* and one *unsafe* are one.
// Tested by tests/unit/tools/plan_mutants_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "tools/draw.h"
#include "tools/fuzz_features.h"

namespace memverify {

enum class MutantKind : std::uint8_t {
  kRemoveWait,
  kRemoveSignal,   ///< An entry of `signals`.
  kRemoveCommand,  ///< A record, wait, barrier or host_wait command.
  kRemoveAfter,
  kSwapQueues,  ///< Two ops exchange theirs.
  kShiftByWord,
  kShiftByAlignment,
  kShiftByTensor,
  kMergeStorages,  ///< One moves to where another lies.
  kReorderOps,     ///< Two that follow each other.
};
inline constexpr std::size_t kMutantKinds = 10;
std::string_view name(MutantKind kind);

struct Mutant {
  MutantKind kind = MutantKind::kRemoveWait;
  std::string what;     ///< "`use` does not wait for event `e`".
  std::string storage;  ///< That has moved, if one has.
  Plan plan;
};

/// One change of a drawn kind that makes another well-formed plan; nullopt: none was found. Graphs
/// are welcome: what has no place does not move.
std::optional<Mutant> random_mutant(const Plan& plan, Draw& draw);

struct MutantFate {
  CaseResult result;  ///< kKilled, kEquivalent, kUnknown or, of a plan without sense, kNotPlanned.
  std::string text;   ///< "killed MV101"; "equivalent: " and a kind of reason; "undecided".
  std::string why;    ///< Of an equivalent one, in detail, as the audit has it.
  std::vector<std::string> internal_errors;  ///< Engines that disagree.
};

/// Has all engines decide the mutant of a safe plan. Takes up to 20 s for each engine that
/// searches.
MutantFate decide_mutant(const Mutant& mutant);

}  // namespace memverify
