// verify/smt_findings.h -- from an answered question to a finding.
#pragma once

#include "verify/findings.h"
#include "verify/smt_run.h"

namespace memverify::smt {

/// One case: fixed symbols, everything else in the formulas.
struct Case {
  const Program& program;
  const Order& order;
  const Bytes& bytes;
  Solver& solver;
  std::vector<SymbolValue> symbols;
};

/// Enters what a model (the solver has just said kSat) shows of `question`; finds its minimal run
/// by asking on.
void add_finding(Findings& findings, const Case& of, const Question& question);

std::vector<ConditionValue> condition_values(const Program& program, const Run& run);

/// "`a` and `b`": what a question is about, for MV201.
std::string subject(const Program& program, const Bytes& bytes, const Question& question);

}  // namespace memverify::smt
