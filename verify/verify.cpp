#include "verify/verify.h"

#include <algorithm>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/beside.h"
#include "plan/faults.h"
#include "plan/layout.h"
#include "plan/words.h"
#include "verify/cases.h"
#include "verify/findings.h"
#include "verify/lifetime.h"
#include "verify/loop.h"
#include "verify/one_semaphore.h"
#include "verify/order.h"
#include "verify/passes.h"
#include "verify/program.h"
#include "verify/races.h"
#include "verify/turn_faults.h"
#include "verify/walk.h"
#include "verify/warnings.h"
#include "verify/witness.h"

namespace memverify {
namespace {

constexpr std::uint64_t kMaxCases = 4096;

class Verifier {
 public:
  Verifier(const Plan& plan, const HbOptions& options, const Layout* least)
      : plan_(plan),
        options_(options),
        least_(least),
        findings_(plan, options.max_findings),
        symbols_(plan) {}

  EngineResult run() {
    choose_iterations();
    choose_conditions();
    for (const Valuation& valuation : choose_symbols()) {
      if (findings_.full()) {
        findings_.stop();
        break;
      }
      decide_layout(valuation);
    }
    for (const auto& [pointer, none] : no_layout_) add_no_layout(pointer, none);
    if (may_warn_) add_sync_warnings(plan_, bound_, findings_);
    EngineResult result = findings_.take();
    result.stats = stats_;
    return result;
  }

 private:
  /// Symbol values under which one size, offset or count makes no sense.
  struct NoLayout {
    std::string message;  ///< For the first of them.
    std::vector<SymbolValue> first;
    std::vector<SymbolValue> last;
    std::uint64_t count = 0;
  };

  void add_no_layout(const std::string& pointer, const NoLayout& none) {
    std::string where;
    for (const SymbolValue& v : none.first) {
      where += (where.empty() ? " for " : ", ") + quoted(plan_.symbols[v.symbol].name) + " = " +
               std::to_string(v.value);
    }
    std::string help = "bound the symbols so that every size makes sense";
    if (none.count > 1) {
      where += none.first.size() == 1 ? " to " + std::to_string(none.last[0].value) : " and others";
      where += " (" + std::to_string(none.count) + " values)";
    }
    if (none.first.size() == 1) {
      const Symbol& symbol = plan_.symbols[none.first[0].symbol];
      const std::int64_t most = none.first[0].value - symbol.multiple_of;
      const bool to_the_end = symbol.max && none.last[0].value + symbol.multiple_of > *symbol.max;
      if (to_the_end && most >= least_value(symbol)) {
        help = "give " + quoted(symbol.name) + " a \"max\" of " + std::to_string(most);
      }
    }
    findings_.add_not_proven(
        "The plan has no layout" + where + ": " + none.message + " (at " + pointer + ").", help);
  }

  /// With conditions that may change from one iteration to the next, iterations are never alike.
  void choose_iterations() {
    if (plan_.iterations == 1) return;
    loops_ = std::ranges::none_of(plan_.ops, [&](const Op& op) {
      return std::ranges::any_of(plan_.when_of(op), [&](const WhenTerm& term) {
        return !plan_.conditions[term.condition].per_run;
      });
    });
    if (loops_) return;
    const ConditionCase none(plan_, 1);
    const Result<Layout> layout = Layout::make(plan_, symbols_.corners().front());
    if (!layout.ok()) return;  // Said where layouts are decided.
    fixed_runs_ = choose_runs(plan_, layout.value(), none, options_);
    fixed_runs_.first = fixed_runs_.last;
    iterations_ = fixed_runs_.last;
  }

  void choose_conditions() {
    conditions_.emplace(plan_, iterations_);
    const std::uint64_t instances = std::max<std::uint64_t>(iterations_ * plan_.ops.size(), 1);
    const std::uint64_t most =
        std::min(kMaxCases, std::max<std::uint64_t>(options_.max_instances / instances, 2));
    const std::uint64_t booleans = conditions_->booleans();
    if (booleans < 63 && (std::uint64_t{1} << booleans) <= most) {
      condition_cases_ = std::uint64_t{1} << booleans;
      return;
    }
    condition_cases_ = 0;
    findings_.add_not_proven(
        std::to_string(booleans) +
            " conditions (counted once per iteration unless \"per\": \"run\") have "
            "more assignments than the " +
            std::to_string(most) + " that are enumerated.",
        "use fewer conditions or iterations, or mark them \"per\": \"run\"");
  }

  std::vector<Valuation> choose_symbols() {
    const std::uint64_t instances = std::max<std::uint64_t>(iterations_ * plan_.ops.size(), 1);
    const std::uint64_t cases = std::max<std::uint64_t>(condition_cases_, 1);
    const std::uint64_t most =
        std::min(kMaxCases, std::max<std::uint64_t>(options_.max_instances / instances / cases, 1));
    const std::optional<std::uint64_t> count = symbols_.count();
    if (count && *count <= most) {
      std::vector<Valuation> all;
      for (std::uint64_t k = 0; k < *count; ++k) all.push_back(symbols_.at(k));
      return all;
    }
    const SymbolId unbounded = symbols_.unbounded();
    if (unbounded != kNone<SymbolId>) {
      findings_.add_not_proven(
          "Symbol `" + std::string(plan_.symbols[unbounded].name) +
              "` has no \"max\": the plan was looked at for its least values only.",
          "give the symbol a \"max\"");
    } else {
      findings_.add_not_proven(
          "The symbols have more values than the " + std::to_string(most) +
              " that are enumerated; their least and greatest ones were looked at.",
          "narrow the symbols, or raise their \"multiple_of\"");
    }
    return symbols_.corners();
  }

  void decide_layout(const Valuation& valuation) {
    if (least_ != nullptr && least_->valuation().symbols == valuation.symbols) {
      decide_layout(*least_);
      return;
    }
    const Result<Layout> layout = Layout::make(plan_, valuation);
    if (!layout.ok()) {
      const Diagnostic& error = layout.errors().front();
      NoLayout& none = no_layout_[error.pointer];
      if (none.count++ == 0) none.message = error.message;
      if (none.count == 1) none.first = symbols_.values(valuation);
      none.last = symbols_.values(valuation);
      return;
    }
    decide_layout(layout.value());
  }

  void decide_layout(const Layout& layout) {
    const std::vector<SymbolValue> values = symbols_.values(layout.valuation());
    // What holds of every run is looked for beside the runs. One more than are kept, so that a stop
    // is noticed.
    std::future<std::vector<Finding>> in_every_run = std::async(beside(plan_.ops.size()), [&] {
      return static_faults(plan_, layout, options_.max_findings + 1);
    });
    in_every_run_ = &in_every_run;
    if (condition_cases_ == 0) {
      decide_case(layout, conditions_->at(0), values);
      decide_case(layout, conditions_->at(~std::uint64_t{0}), values);
    }
    for (std::uint64_t k = 0; k < condition_cases_ && !findings_.full(); ++k) {
      decide_case(layout, conditions_->at(k), values);
    }
    add_in_every_run(values);
  }

  /// Once a layout, and before what single runs show of the same tensors.
  void add_in_every_run(const std::vector<SymbolValue>& symbols) {
    if (in_every_run_->valid()) findings_.add_static(in_every_run_->get(), symbols);
  }

  void decide_case(const Layout& layout, const ConditionCase& conditions,
                   const std::vector<SymbolValue>& symbols) {
    if (stats_.ops > options_.max_instances) {
      const std::string text = "More than " + std::to_string(options_.max_instances) +
                               " command instances were unrolled; the condition or symbol values "
                               "that are left were not looked at.";
      if (said_.insert(text).second) {
        findings_.add_not_proven(text, "use fewer conditions, symbols or iterations");
      }
      return;
    }
    const LoopRuns runs = loops_ ? choose_runs(plan_, layout, conditions, options_) : fixed_runs_;
    if (!runs.not_proven.empty() && said_.insert(runs.not_proven).second) {
      findings_.add_not_proven(runs.not_proven, runs.help);
    }
    if (runs.stands_in) {
      decide_stand_in(layout, conditions, symbols, runs);
      return;
    }
    for (std::uint32_t n = runs.first; n <= runs.last && !findings_.full(); ++n) {
      const Program program = make_program(plan_, layout, conditions, n, runs.reaches_end);
      decide_run(program, conditions, symbols, findings_);
    }
    if (runs.must_fail && !findings_.has_errors()) {
      findings_.add_not_proven("A semaphore falls behind its waits, yet no run was found to block.",
                               "give \"iterations\" a number");
    }
  }

  /// One run for many more iterations. Its faults are looked for again where they happen.
  void decide_stand_in(const Layout& layout, const ConditionCase& conditions,
                       const std::vector<SymbolValue>& symbols, const LoopRuns& runs) {
    Findings found(plan_, options_.max_findings);
    decide_run(make_program(plan_, layout, conditions, runs.last), conditions, symbols, found);
    if (findings_.covers(found)) return;
    decide_run(make_program(plan_, layout, conditions, runs.shows, false), conditions, symbols,
               findings_);
    if (findings_.covers(found)) return;
    const auto all = static_cast<std::uint64_t>(*plan_.iterations);
    if (all * plan_.ops.size() <= options_.max_instances) {
      decide_run(make_program(plan_, layout, conditions, static_cast<std::uint32_t>(all)),
                 conditions, symbols, findings_);
      return;
    }
    const std::string text = "Runs of " + std::to_string(runs.last) +
                             " iterations have a fault at their end, and so have those of " +
                             std::to_string(all) + ", which are too many to unroll and show.";
    if (said_.insert(text).second) {
      findings_.add_not_proven(text, "set \"iterations\" to " + std::to_string(runs.last));
    }
  }

  void decide_run(const Program& program, const ConditionCase& conditions,
                  const std::vector<SymbolValue>& symbols, Findings& findings) {
    stats_.ops += program.instances.size();
    note_syncs(program);
    if (program.bad_value) {
      findings.add_not_proven(
          "A semaphore's value is negative or passes 64 bits in some iteration.",
          "keep the values of signals and waits within range");
      return;
    }
    Passes passes(program, options_.gather_from);
    std::optional<OneSemaphore> semaphore;
    if (!program.contended.empty()) {
      semaphore.emplace(program);
      if (!semaphore->obstacle().empty()) {
        leave_open(program, semaphore->obstacle(), findings);
        return;
      }
    }
    const Walk& run =
        passes.start_reads(semaphore ? semaphore->walk() : walk(program), semaphore.has_value());
    const Order order = semaphore ? semaphore->order() : Order(program, run);
    if (!order.is_known()) {
      findings.add_not_proven(
          "So many commands without an order of their own signal what others count that their "
          "order takes too long to find.",
          "let serial queues signal, or wait for events");
      return;
    }
    if (!passes.finish(order)) {
      findings.add_not_proven("The strided tensors have more than " +
                                  std::to_string(Passes::kMaxRuns) +
                                  " contiguous runs of bytes, the limit.",
                              "describe large strided tensors by contiguous ones");
      return;
    }
    add_in_every_run(symbols);
    const SweepResult& swept = passes.swept();
    stats_.pairs_checked += swept.pairs_checked;

    Witnesses witnesses(program, run, order, semaphore ? &*semaphore : nullptr);
    const CaseView view{program,
                        run,
                        passes.footprints(),
                        passes.reads().versions,
                        witnesses,
                        conditions_->values(conditions),
                        symbols};
    if (semaphore) {
      decide_takes(view, swept, order, passes.reads(), *semaphore, findings);
      return;
    }
    // What waits at a seam may go on in the iterations that follow.
    if (!run.all_completed && program.reaches_end) {
      findings.add_deadlock(view, blocked_commands(program, run), witnesses.everything());
    }
    if (swept.has_race) {
      const RaceList races =
          list_races(program, run, order, view.footprints, swept.racy, options_.max_findings);
      findings.add_races(view, races.pairs);
      if (races.stopped) findings.stop();
    }
    findings.add_suspects(view, passes.reads().suspects, swept.racy);
    findings.add_unknowns(view, swept.unknowns);
    findings.add_lifetimes(
        view, lifetime_faults(program, run, order, view.footprints, stats_.pairs_checked));
  }

  /// Where several queues take from a semaphore.
  void decide_takes(const CaseView& view, const SweepResult& swept, const Order& order,
                    Reads& reads, OneSemaphore& semaphore, Findings& findings) {
    const Program& program = view.program;
    if (semaphore.gave_up()) return leave_open(program, "they are too many", findings);
    if (program.reaches_end) {
      bool is_unknown = false;
      if (const auto stuck = semaphore.deadlock(is_unknown)) {
        findings.add_deadlock(view, stuck->blocked, stuck->steps);
      }
      if (is_unknown) leave_open(program, "they take different amounts and may block", findings);
    }
    if (swept.has_race) {
      const RaceList races =
          list_races(program, view.walk, order, view.footprints, swept.racy, options_.max_findings,
                     [&](Cmd a, Cmd b) { return semaphore.both_open(a, b); });
      findings.add_races(view, races.pairs);
      if (races.stopped) findings.stop();
      TurnFaults faults = turn_faults(program, view.walk, order, view.footprints, *reads.expected,
                                      view.versions, races.turns, semaphore);
      if (!faults.not_known.empty()) leave_open(program, faults.not_known, findings);
      reads.suspects.insert(reads.suspects.end(), faults.suspects.begin(), faults.suspects.end());
    }
    findings.add_suspects(view, reads.suspects, swept.racy);
    std::vector<LifetimeFault> lifetimes =
        lifetime_faults(program, view.walk, order, view.footprints, stats_.pairs_checked);
    const auto in_turn = std::erase_if(lifetimes, [&](const LifetimeFault& fault) {
      return fault.first != kNoCmd && fault.second != kNoCmd && !fault.at_end &&
             !order.before(fault.first, fault.second) && !order.before(fault.second, fault.first) &&
             !semaphore.both_open(fault.first, fault.second);
    });
    if (in_turn > 0) leave_open(program, "allocs and frees come in turns", findings);
    findings.add_lifetimes(view, lifetimes);
    if (semaphore.gave_up()) leave_open(program, "they are too many", findings);
  }

  void leave_open(const Program& program, const std::string& why, Findings& findings) {
    const std::string text =
        "Waits of several queues take from semaphore " +
        quoted(plan_.semaphores[program.contended.front()].name) +
        " (\"consume\"): which wait gets which signal is a choice of the run, and clocks do not "
        "decide that here: " +
        why + ".";
    if (!said_.insert(text).second) return;
    findings.add_not_proven(
        text, "ask `--engine sim`, which executes every run, or use a timeline semaphore");
  }

  /// Which waits for events ever found what they wait for, and whether all did.
  void note_syncs(const Program& program) {
    const bool may_warn = program.some_unbound || program.some_dropped || program.some_unheard;
    if (bound_.empty()) {
      bound_ = program.is_bound;
      may_warn_ = may_warn;
      return;
    }
    std::ranges::transform(bound_, program.is_bound, bound_.begin(), std::bit_or());
    may_warn_ = may_warn_ || may_warn;
  }

  const Plan& plan_;
  const HbOptions& options_;
  const Layout* least_;  ///< nullptr: not made yet.
  Findings findings_;
  SymbolCases symbols_;
  bool loops_ = true;             ///< Each case has runs of its own.
  LoopRuns fixed_runs_;           ///< Else these are of all.
  std::uint32_t iterations_ = 1;  ///< That a value of a condition may differ in.
  std::future<std::vector<Finding>>* in_every_run_ = nullptr;  ///< Of the layout, to be added.
  std::map<std::string, NoLayout> no_layout_;                  ///< By the place of the value.
  std::set<std::string> said_;                                 ///< Why not all is proven.
  std::optional<ConditionCases> conditions_;
  std::uint64_t condition_cases_ = 1;  ///< 0: too many, two were looked at.
  std::vector<std::uint8_t> bound_;    ///< By op: some instance's event wait found its event.
  bool may_warn_ = true;               ///< Some sync may be in vain.
  VerifyStats stats_;
};

}  // namespace

EngineResult verify_happens_before(const Plan& plan, const HbOptions& options,
                                   const Layout* least) {
  return Verifier(plan, options, least).run();
}

}  // namespace memverify
