#include "verify/smt_verify.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/faults.h"
#include "plan/layout.h"
#include "plan/words.h"
#include "verify/cases.h"
#include "verify/smt_findings.h"
#include "verify/warnings.h"

namespace memverify {
namespace {

using smt::Answer;
using smt::Bool;
using smt::Question;

constexpr std::size_t kMaxRuns = std::size_t{1} << 20;
constexpr std::uint32_t kMaxSampleIterations = 40;
constexpr std::size_t kMaxRacyConditions = 256;  ///< Of one cell, before its versions are given up.

smt::Limits limits_of(const SmtOptions& options) {
  return {.query_steps = options.query_steps,
          .total_steps = options.total_steps,
          .total_seconds = options.max_seconds,
          .memory_mb = options.memory_mb};
}

/// Everything about one value of the symbols.
struct Encoding {
  smt::Solver solver;
  smt::Program program;
  std::optional<smt::Order> order;
  std::optional<smt::Bytes> bytes;  ///< nullopt: too many runs of bytes.
  smt::Questions questions;

  Encoding(const Plan& plan, const Layout& layout, std::uint32_t iterations, bool reaches_end,
           const SmtOptions& options, smt::Shortcuts shortcuts)
      : solver(limits_of(options)),
        program(smt::make_program(plan, layout, iterations, reaches_end, solver.terms())) {
    if (program.bad_value) return;
    order.emplace(program, solver, shortcuts);
    bytes = smt::Bytes::make(program, solver.terms(), kMaxRuns);
    if (bytes) questions = smt::make_questions(program, *order, *bytes, solver.terms());
  }
};

/// Asks all questions of one encoding.
class Asker {
 public:
  Asker(Findings& findings, Encoding& encoding, std::vector<SymbolValue> symbols)
      : findings_(findings),
        encoding_(encoding),
        solver_(encoding.solver),
        case_{encoding.program, *encoding.order, *encoding.bytes, encoding.solver,
              std::move(symbols)},
        racy_(encoding.bytes->cells().size()) {}

  void ask_all() {
    for (const Question& question : encoding_.questions.all) {
      if (findings_.full()) {
        findings_.stop();
        return;
      }
      if (question.kind == Question::Kind::kVersion) {
        ask_version(question);
      } else {
        ask(question);
      }
    }
  }

 private:
  /// What is known of a cell's races: under which conditions there are some.
  struct Racy {
    bool looked = false;
    bool never = false;
    bool given_up = false;
    std::vector<Bool> excluded;  ///< Each false under conditions that let two accesses race.
  };

  void ask(const Question& question) {
    switch (solver_.check(std::vector{question.hazard})) {
      case Answer::kSat:
        smt::add_finding(findings_, case_, question);
        return;
      case Answer::kUnsat:
        return;
      case Answer::kUnknown:
        give_up(question);
        return;
    }
  }

  /// [S-52]: where a pair races, under the same conditions, versions are not asked.
  void ask_version(const Question& question) {
    Racy& racy = racy_[question.cell];
    const std::vector<Bool>& races = encoding_.questions.races_of_cell[question.cell];
    if (!racy.looked) look_for_races(racy, races);
    while (!racy.given_up) {
      std::vector<Bool> assumed = racy.excluded;
      assumed.push_back(question.hazard);
      const Answer answer = solver_.check(assumed);
      if (answer == Answer::kUnsat) return;
      if (answer == Answer::kUnknown) return give_up(question);
      if (!racy.never) {
        std::vector<Bool> here = smt::read_run(encoding_.program, solver_).conditions;
        if (races_under(here, races)) {
          racy.excluded.push_back(solver_.terms().no(solver_.terms().all(here)));
          racy.given_up = racy.excluded.size() > kMaxRacyConditions;
          continue;
        }
        here.push_back(question.hazard);
        if (solver_.check(here) != Answer::kSat) return give_up(question);
      }
      return smt::add_finding(findings_, case_, question);
    }
  }

  void look_for_races(Racy& racy, const std::vector<Bool>& races) {
    racy.looked = true;
    racy.never = races.empty() || !races_under({}, races);
    // Without conditions one race decides.
    racy.given_up = !racy.never && encoding_.program.conditions.empty();
  }

  /// Unless proven otherwise: the question about that race says so if it is not decided.
  bool races_under(std::vector<Bool> conditions, const std::vector<Bool>& races) {
    conditions.push_back(solver_.terms().any(races));
    return solver_.check(conditions) != Answer::kUnsat;
  }

  void give_up(const Question& question) {
    const std::string about = smt::subject(encoding_.program, *encoding_.bytes, question);
    findings_.add_not_proven(
        "The solver has not decided the question about " + about + ": " + solver_.reason() + ".",
        "ask another engine, or raise the limit of the solver");
  }

  Findings& findings_;
  Encoding& encoding_;
  smt::Solver& solver_;
  smt::Case case_;
  std::vector<Racy> racy_;  ///< By cell.
};

/// How many iterations are unrolled.
struct Unrolled {
  std::uint32_t iterations = 1;
  bool all = true;      ///< There are no more.
  std::string problem;  ///< Why not, as a sentence; "" if so.
};

Unrolled unroll(const Plan& plan, const SmtOptions& options) {
  const std::uint64_t ops = std::max<std::uint64_t>(plan.ops.size(), 1);
  const std::uint64_t most = std::max<std::uint64_t>(options.max_instances / ops, 1);
  const auto sample = [&] {
    return sample_iterations(
        plan, static_cast<std::uint32_t>(std::min<std::uint64_t>(most, kMaxSampleIterations)));
  };
  if (plan.iterations && static_cast<std::uint64_t>(*plan.iterations) <= most) {
    return {.iterations = static_cast<std::uint32_t>(*plan.iterations)};
  }
  Unrolled result{.iterations = sample(), .all = !plan.iterations};
  const std::string looked = std::to_string(result.iterations) + " were looked at.";
  result.problem =
      plan.iterations ? std::to_string(*plan.iterations) + " iterations of " + std::to_string(ops) +
                            " ops are more than the " + std::to_string(options.max_instances) +
                            " command instances that are unrolled; the first " + looked
                      : "The plan runs an unbounded number of iterations; the first " + looked;
  return result;
}

class SmtVerifier {
 public:
  SmtVerifier(const Plan& plan, const SmtOptions& options)
      : plan_(plan), options_(options), findings_(plan, options.max_findings), symbols_(plan) {}

  EngineResult run() {
    unrolled_ = unroll(plan_, options_);
    if (!unrolled_.problem.empty()) {
      findings_.add_not_proven(
          unrolled_.problem,
          plan_.iterations
              ? "give \"iterations\" a smaller number, or ask --engine hb, which looks at loops as "
                "a whole"
              : "give \"iterations\" a number, or ask --engine hb, which decides unbounded loops");
    }
    bound_.assign(plan_.ops.size(), 0);
    for (const Valuation& valuation : choose_symbols()) {
      if (findings_.full()) {
        findings_.stop();
        break;
      }
      if (options_.max_seconds > 0 && seconds() > options_.max_seconds) {
        findings_.add_not_proven(
            "The time was spent before all values of the symbols were looked at.",
            "give more time, or narrow the symbols");
        break;
      }
      decide(valuation);
    }
    add_sync_warnings(plan_, decided_ ? bound_ : std::vector<std::uint8_t>(), findings_);
    EngineResult result = findings_.take();
    result.stats = stats_;
    return result;
  }

 private:
  std::vector<Valuation> choose_symbols() {
    const std::optional<std::uint64_t> count = symbols_.count();
    if (count && *count <= options_.max_valuations) {
      std::vector<Valuation> all;
      for (std::uint64_t k = 0; k < *count; ++k) all.push_back(symbols_.at(k));
      return all;
    }
    findings_.add_not_proven(
        "The symbols have more values than the " + std::to_string(options_.max_valuations) +
            " that are enumerated; their least and greatest ones were looked at.",
        "narrow the symbols, or raise their \"multiple_of\"");
    return symbols_.corners();
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  void decide(const Valuation& valuation) {
    const std::vector<SymbolValue> values = symbols_.values(valuation);
    const Result<Layout> layout = Layout::make(plan_, valuation);
    if (!layout.ok()) {
      const Diagnostic& error = layout.errors().front();
      findings_.add_not_proven("The plan has no layout for some values of its symbols: " +
                                   error.message + " (at " + error.pointer + ").",
                               "bound the symbols so that every size makes sense");
      return;
    }
    // One more than are kept, so that a stop is noticed.
    findings_.add_static(static_faults(plan_, layout.value(), options_.max_findings + 1), values);
    SmtOptions left = options_;
    if (left.max_seconds > 0) left.max_seconds = std::max(left.max_seconds - seconds(), 0.001);
    Encoding encoding(plan_, layout.value(), unrolled_.iterations, unrolled_.all, left,
                      smt::Shortcuts::kKnownOrder);
    stats_.ops += encoding.program.commands.size();
    if (encoding.program.bad_value) {
      findings_.add_not_proven(
          "A semaphore's value is negative or passes 64 bits in some iteration.",
          "keep the values of signals and waits within range");
      return;
    }
    if (!encoding.bytes) {
      findings_.add_not_proven("The strided tensors have more than " + std::to_string(kMaxRuns) +
                                   " contiguous runs of bytes, the limit.",
                               "describe large strided tensors by contiguous ones");
      return;
    }
    stats_.pairs_checked += encoding.questions.pairs;
    Asker(findings_, encoding, values).ask_all();
    note_bindings(encoding);
  }

  void note_bindings(Encoding& encoding) {
    decided_ = true;
    for (const smt::EventBinding& binding : encoding.program.bindings) {
      std::uint8_t& bound = bound_[index(binding.op)];
      if (bound || encoding.solver.terms().is_false(binding.binds)) continue;
      bound = encoding.solver.terms().is_true(binding.binds) ||
              encoding.solver.check(std::vector{binding.binds}) != Answer::kUnsat;
    }
  }

  const Plan& plan_;
  const SmtOptions& options_;
  Findings findings_;
  SymbolCases symbols_;
  Unrolled unrolled_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool decided_ = false;             ///< For some value of the symbols.
  std::vector<std::uint8_t> bound_;  ///< By op: some event wait of it finds its event.
  VerifyStats stats_;
};

}  // namespace

EngineResult verify_smt(const Plan& plan, const SmtOptions& options) {
  return SmtVerifier(plan, options).run();
}

Result<std::string> dump_smt2(const Plan& plan, const SmtOptions& options) {
  const auto limit = [](std::string message) {
    return Diagnostic{.id = "smt.limit", .message = std::move(message)};
  };
  const Unrolled unrolled = unroll(plan, options);
  if (!unrolled.problem.empty()) return limit(unrolled.problem);
  const Result<Layout> layout = Layout::make(plan, SymbolCases(plan).corners().front());
  if (!layout.ok()) return layout.errors();
  Encoding encoding(plan, layout.value(), unrolled.iterations, unrolled.all, options,
                    smt::Shortcuts::kNone);
  if (!encoding.bytes) return limit("a semaphore's value, or the number of runs of bytes");
  smt::Terms& terms = encoding.solver.terms();
  std::vector<Bool> asserted = encoding.solver.required();
  std::vector<Bool> hazards;
  for (const Question& question : encoding.questions.all) hazards.push_back(question.hazard);
  asserted.push_back(terms.any(std::move(hazards)));
  return terms.dump(asserted, "memverify: can a run of plan " + quoted(plan.name) +
                                  " go wrong?\nunsat: it is safe, as far as runs go. sat: not.");
}

}  // namespace memverify
