// verify/smt_ask.h -- asking all that can go wrong under one value of the symbols.
//
// Problem: most plans are decided in milliseconds, some ask for minutes of two cores; and a solver
//   gets slower with all that it carries and has learnt.
// Idea: one solver begins. What it has not decided after SmtOptions::first_steps is cut into
//   *slices*, each with a solver of its own: parts of the plan (verify/smt_parts.h), and deadlocks,
//   which gain little from what was learnt of pairs. The cut does not depend on the number of
//   threads, and a slice starts from the findings of those some way before it, whoever is done with
//   what: the result is the same for any number.
// Small example: four locks of 20 takers are four slices of 190 pairs and four questions about
//   deadlock.
// Tested by tests/unit/verify/smt_parts_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "verify/findings.h"
#include "verify/smt_bytes.h"
#include "verify/smt_order.h"
#include "verify/smt_questions.h"
#include "verify/smt_solver.h"
#include "verify/smt_verify.h"

namespace memverify::smt {

/// Everything about one value of the symbols.
struct Encoding {
  static constexpr std::size_t kMaxRuns = std::size_t{1} << 20;

  Solver solver;
  Program program;
  std::optional<Order> order;
  std::optional<Bytes> bytes;  ///< nullopt: too many runs of bytes.
  Questions questions;

  /// Throws OutOfTime where SmtOptions::max_seconds do not suffice.
  Encoding(const Plan& plan, const Layout& layout, std::uint32_t iterations, bool reaches_end,
           const SmtOptions& options, Shortcuts shortcuts);
};

/// Asks every question and enters what it shows, or that it was not decided. `encoding` has bytes.
/// Exceptions of threads end up here.
void ask_all(Findings& findings, Encoding& encoding, const std::vector<SymbolValue>& symbols,
             const SmtOptions& options);

}  // namespace memverify::smt
