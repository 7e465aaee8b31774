// verify/smt_verify.h -- deciding a plan by asking a solver for a run that goes wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plan/finding.h"
#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

struct SmtOptions {
  std::size_t max_findings = 100;             ///< >= 1.
  std::uint32_t query_steps = 20'000'000;     ///< Of the solver, for one question; 0: no limit.
  std::uint64_t total_steps = 1'000'000'000;  ///< For one value of the symbols, about; 0: no limit.
  double max_seconds = 0;                     ///< Of wall time; 0: no limit.
  std::uint32_t memory_mb = 0;                ///< Of the process; 0: no limit.
  std::uint64_t max_instances = 20'000;       ///< Commands of all iterations.
  std::uint64_t max_valuations = 256;         ///< Values of the symbols that are enumerated.
  /// Of one solver; what it has not decided by then is divided among several. 0: all is.
  std::uint32_t first_steps = 500'000;
  std::size_t threads = 0;  ///< Cores for these; 0: all there are. The result is the same.
};

/// Decides `plan` (all tensors placed): *unsat* for every question is the proof. Conditions are
/// free in the formulas, whatever their number. What is beyond a limit is MV201 that names the
/// limit and, for a question, the pair. But for limits of time and memory the result is the same
/// for any number of threads; what a thread throws is thrown here. Cost: exponential at worst;
/// ordered plans are answered without a question.
EngineResult verify_smt(const Plan& plan, const SmtOptions& options);

/// The whole question as a file in SMT-LIB 2.6 (linear arithmetic over integers, no extension): can
/// some run go wrong? unsat: safe; sat: not. It covers everything but what needs no run (MV107 to
/// MV110, MV113) and, for an unknown command, asks what is not proven too. The symbols have their
/// least values. Errors: "smt.limit" when the plan is beyond a limit.
Result<std::string> dump_smt2(const Plan& plan, const SmtOptions& options);

}  // namespace memverify
