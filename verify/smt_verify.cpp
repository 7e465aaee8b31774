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
#include "verify/smt_ask.h"
#include "verify/warnings.h"

namespace memverify {
namespace {

using smt::Answer;
using smt::Bool;
using smt::Encoding;
using smt::Question;

constexpr std::uint32_t kMaxSampleIterations = 40;

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
    std::optional<Encoding> made;
    try {
      made.emplace(plan_, layout.value(), unrolled_.iterations, unrolled_.all, left,
                   smt::Shortcuts::kKnownOrder);
    } catch (const smt::OutOfTime&) {
      findings_.add_not_proven("The time was spent before the solver had its formulas.",
                               "give more time, or ask another engine");
      return;
    }
    Encoding& encoding = *made;
    stats_.ops += encoding.program.commands.size();
    if (encoding.program.bad_value) {
      findings_.add_not_proven(
          "A semaphore's value is negative or passes 64 bits in some iteration.",
          "keep the values of signals and waits within range");
      return;
    }
    if (!encoding.bytes) {
      findings_.add_not_proven("The strided tensors have more than " +
                                   std::to_string(Encoding::kMaxRuns) +
                                   " contiguous runs of bytes, the limit.",
                               "describe large strided tensors by contiguous ones");
      return;
    }
    stats_.pairs_checked += encoding.questions.pairs;
    smt::ask_all(findings_, encoding, values, left);
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
  SmtOptions untimed = options;
  untimed.max_seconds = 0;
  Encoding encoding(plan, layout.value(), unrolled.iterations, unrolled.all, untimed,
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
