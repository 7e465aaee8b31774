// tools/library/check.h -- what the command does, as functions: verify, simulate, place.
//
//   memverify::Result<memverify::Verification> result = memverify::verify(plan);
//   if (result.ok() && result.value().verdict() == memverify::Verdict::kUnsafe) {
//     log(result.value().text());
//   }
//
// Nothing here prints, exits, or keeps state between calls; plans may be decided in several threads
// at once. Bad input comes back as diagnostics. The one exception that leaves a function is
// std::bad_alloc; a broken invariant, which is a bug of memverify, aborts by assert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"
#include "plan/result.h"
#include "sim/simulate.h"

namespace memverify {

struct Report;
struct Planning;

/// Whom to ask, and how long.
struct VerifyOptions {
  std::string engine = "auto";     ///< "auto", "all", "hb", "smt" or "sim".
  std::size_t max_findings = 100;  ///< >= 1.
  double max_seconds = 60;         ///< Of wall time, for each engine that searches; 0: no limit.
  std::string file = "";           ///< What reports call the plan.
};

/// A verdict with all that goes with it. Cheap to copy; copies share what they hold.
class Verification {
 public:
  /// For `verify` and `simulate`.
  explicit Verification(Report report);

  /// Of the engine that decided.
  Verdict verdict() const;
  /// The plan that was decided. The ids of findings are its.
  const Plan& plan() const;
  /// By rule, then ops; with message and help. Runs were replayed.
  const std::vector<Finding>& findings() const;
  /// The engines that were asked, in that order, with their verdicts.
  const std::vector<std::pair<std::string_view, Verdict>>& engines() const;
  /// The engine that the verdict and the findings are from.
  std::string_view decided_by() const;
  /// There may be more findings.
  bool stopped_at_max_findings() const;
  /// How much that engine looked at.
  const VerifyStats& stats() const;
  /// Bugs of memverify that were met on the way, a sentence each; then the verdict is not to be
  /// trusted.
  const std::vector<std::string>& internal_errors() const;
  /// What the command would exit with: 0 safe, 1 unsafe, 3 not proven, 4 an internal error.
  int exit_code() const;

  /// The report of the command, without colours.
  std::string text() const;
  /// The same as one JSON object and a newline (docs/format.md).
  std::string json() const;
  /// One finding for people. It must be one of `findings()`.
  std::string text(const Finding& finding) const;

 private:
  std::shared_ptr<const Report> report_;
};

/// Decides `plan`, which comes from a PlanBuilder or a reader. Errors: "tensor.unplaced" and
/// "plan.empty", sizes that make no sense for the least values of the symbols, "option.engine",
/// "option.max_findings", "option.max_seconds". Cost: that of the engines, and a copy of the plan
/// unless it is moved in.
Result<Verification> verify(Plan plan, const VerifyOptions& options = {});

/// Executes every order that `plan` allows. Errors: those of `verify` about plans. `file`: what
/// reports call the plan.
Result<Verification> simulate(Plan plan, const SimOptions& options, const std::string& file = "");

/// How to place, and how long to look.
struct PlaceOptions {
  std::string strategy = "auto";         ///< One of the safe ones (`memverify plan --help`).
  double max_seconds = 10;               ///< Of wall time, besides proofs; > 0.
  std::uint64_t max_nodes = 0;           ///< Of searches; 0: no limit.
  std::optional<std::int64_t> capacity;  ///< Of every pool, if less than its own; bytes, >= 0.
  std::optional<std::int64_t> slots;     ///< For tensors that ask for more than one; >= 1.
  std::string file = "";                 ///< What reports call the graph.
};

/// A graph with its tensors placed, or why it could not be.
class PlacedGraph {
 public:
  /// For `place`.
  PlacedGraph(Plan graph, std::string strategy, Planning planning);

  /// Safe, and within its pools: then there is a `plan`.
  bool is_placed() const;
  /// With every tensor placed and `peak_bytes` claimed. Only if `is_placed()`.
  const Plan& plan() const;
  /// Of the plan; else of the graph with its tensors apart, where that is not safe; else unsafe,
  /// for it does not fit.
  Verdict verdict() const;
  /// As the command exits: 0 placed, 1 unsafe or too large, 3 not proven, 4 an internal error.
  int exit_code() const;
  /// Peaks, bounds and the tensors that prove them; or what is wrong with the graph; or how many
  /// bytes are missing where.
  std::string text() const;
  /// The same as one JSON object and a newline.
  std::string json() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Places every tensor of `graph` that has no storage, and verifies the plan. Errors: "pool.none",
/// "graph.unbounded", "graph.too_large", "graph.placed" if no tensor needs a place,
/// "option.strategy", "option.max_seconds", "option.capacity", "option.slots".
Result<PlacedGraph> place(Plan graph, const PlaceOptions& options = {});

}  // namespace memverify
