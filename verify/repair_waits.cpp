#include "verify/repair_waits.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "plan/describe.h"
#include "plan/layout.h"
#include "plan/words.h"
#include "verify/cases.h"
#include "verify/order.h"
#include "verify/program.h"
#include "verify/smt_solver.h"
#include "verify/walk.h"

namespace memverify {
namespace {

constexpr std::uint32_t kMostDistance = 4;
constexpr std::size_t kMostHints = 16;
constexpr std::size_t kMostOpsToSearch = 200;  ///< Of which all pairs are looked at.

bool is_about_order(Rule rule) {
  return rule != Rule::kInPlace && rule != Rule::kOutOfBounds && rule != Rule::kMisaligned &&
         rule != Rule::kCapacity && rule != Rule::kIncoherent;
}

bool is_error(const Finding& finding) { return info(finding.rule).severity == Severity::kError; }

bool blocks(const EngineResult& result) {
  return std::ranges::any_of(result.findings,
                             [](const Finding& f) { return f.rule == Rule::kDeadlock; });
}

/// Has a fault that is there with fewer waits, too: a race, or another one of runs that end.
bool is_faulty(const EngineResult& result) {
  const bool may_end = !blocks(result);
  return std::ranges::any_of(result.findings, [&](const Finding& f) {
    return is_error(f) && f.rule != Rule::kDeadlock && (is_race(f.rule) || may_end);
  });
}

std::string first_error(const Plan& plan, const EngineResult& result) {
  for (Finding finding : result.findings) {
    if (!is_error(finding)) continue;
    describe(plan, finding);
    return std::string(info(finding.rule).id) + ": " + headline(plan, finding);
  }
  return "it is not proven safe";
}

std::uint32_t widest_distance(const Plan& plan, const EngineResult& found) {
  if (plan.iterations == 1) return 0;
  std::int64_t widest = 1;
  for (const Finding& finding : found.findings) {
    if (finding.iteration.size() != 2) continue;
    widest = std::max(widest, std::abs(finding.iteration[1] - finding.iteration[0]));
  }
  return static_cast<std::uint32_t>(std::min<std::int64_t>(widest, kMostDistance));
}

/// What a wait between two commands of a plan that runs once would add: nothing where they are
/// ordered, a deadlock where they are ordered the other way round.
class KnownOrder {
 public:
  explicit KnownOrder(const Plan& plan) {
    if (plan.iterations != 1 || !plan.when_terms.empty() || !plan.symbols.empty()) return;
    const Valuation none;
    Result<Layout> layout = Layout::make(plan, none);
    if (!layout.ok()) return;
    layout_ = std::move(layout).value();
    program_ = make_program(plan, *layout_, ConditionCase(plan, 1), 1);
    if (!program_.contended.empty()) return;
    walk_ = walk(program_);
    order_.emplace(program_, walk_);
    if (!order_->is_known()) order_.reset();
  }

  bool makes_pointless(const AddedWait& wait) const {
    return order_ && (before(wait.on, wait.waiter) || before(wait.waiter, wait.on));
  }

 private:
  bool before(OpId a, OpId b) const {
    const Cmd first = program_.find(a, 0);
    const Cmd second = program_.find(b, 0);
    if (first == kNoCmd || second == kNoCmd) return false;
    if (walk_.completed[first] == 0 || walk_.completed[second] == 0) return false;
    return order_->chain(first) != kNoChain && order_->before(first, second);
  }

  std::optional<Layout> layout_;
  Program program_;
  Walk walk_;
  std::optional<Order> order_;
};

/// True iff which wait gets which signal may be a choice of the run: commands of several queues, or
/// of one that does not start them in order, take from a semaphore. Another wait may then end a
/// deadlock.
bool has_choice(const Plan& plan) {
  std::vector<std::optional<QueueId>> taker(plan.semaphores.size());
  for (const Op& op : plan.ops) {
    for (const Wait& wait : plan.waits_of(op)) {
      if (wait.kind != WaitKind::kSemaphore) continue;
      if (std::ranges::none_of(plan.waits, [&](const Wait& other) {
            return other.kind == WaitKind::kSemaphore && other.semaphore == wait.semaphore &&
                   other.consume;
          })) {
        continue;
      }
      std::optional<QueueId>& queue = taker[index(wait.semaphore)];
      const bool is_ordered =
          op.queue != kNone<QueueId> && plan.queues[op.queue].order != QueueOrder::kNone;
      if (!is_ordered || queue.value_or(op.queue) != op.queue) return true;
      queue = op.queue;
    }
  }
  return false;
}

std::vector<AddedWait> candidates_of(const Plan& plan, std::uint32_t widest) {
  std::vector<AddedWait> candidates;
  const KnownOrder known(plan);
  for (const OpId waiter : ids(plan.ops)) {
    if (plan.ops[waiter].kind == OpKind::kView) continue;
    for (const OpId on : ids(plan.ops)) {
      if (plan.ops[on].kind == OpKind::kView) continue;
      for (std::uint32_t distance = waiter == on ? 1 : 0; distance <= widest; ++distance) {
        const AddedWait wait{waiter, on, distance};
        if (!known.makes_pointless(wait)) candidates.push_back(wait);
      }
    }
  }
  return candidates;
}

/// The waits that would order what the findings are about.
std::vector<AddedWait> waits_between(const Plan& plan, std::span<const Finding> findings) {
  std::vector<AddedWait> waits;
  const auto add = [&](OpId waiter, std::int64_t at, OpId on, std::int64_t on_at) {
    const std::int64_t distance = at - on_at;
    const bool is_possible = distance >= 0 && (distance > 0 || waiter != on) &&
                             distance <= std::numeric_limits<std::uint32_t>::max() &&
                             plan.ops[waiter].kind != OpKind::kView &&
                             plan.ops[on].kind != OpKind::kView;
    const AddedWait wait{waiter, on, static_cast<std::uint32_t>(distance)};
    if (is_possible && std::ranges::count(waits, wait) == 0) waits.push_back(wait);
  };
  for (const Finding& f : findings) {
    if (!is_error(f) || f.ops.empty() || f.rule == Rule::kDeadlock) continue;
    const auto at = [&](std::size_t i) {
      return i < f.iteration.size() ? f.iteration[i] : std::int64_t{0};
    };
    if (f.expected != kNone<OpId>) add(f.ops[0], at(0), f.expected, f.expected_iteration);
    if (f.ops.size() == 2) {
      add(f.ops[1], at(1), f.ops[0], at(0));
      if (f.expected != kNone<OpId>) add(f.ops[1], at(1), f.expected, f.expected_iteration);
    }
  }
  return waits;
}

class WaitSearch {
 public:
  WaitSearch(const Plan& plan, const RepairOptions& options) : plan_(plan), options_(options) {}

  WaitRepair run() {
    const EngineResult first = decide(std::span<const AddedWait>());
    if (first.verdict == Verdict::kSafe) {
      result_.sets.emplace_back();
      result_.is_exact = true;
      return std::move(result_);
    }
    if (!can_help(first)) return std::move(result_);
    if (plan_.ops.size() <= kMostOpsToSearch) {
      candidates_ = candidates_of(plan_, widest_distance(plan_, first));
      result_.candidates = candidates_.size();
      if (candidates_.size() <= options_.max_candidates) search(first);
    }
    if (result_.sets.empty() && result_.why_not.empty()) add_one_by_one(first);
    return std::move(result_);
  }

 private:
  bool can_help(const EngineResult& first) {
    if (first.verdict == Verdict::kUnknown) {
      result_.why_not = "the plan is not proven, and a wait tells nothing more";
    }
    for (const Finding& finding : first.findings) {
      if (is_error(finding) && !is_about_order(finding.rule)) {
        result_.why_not = "no wait mends " + std::string(info(finding.rule).id) + " (" +
                          std::string(info(finding.rule).title) + ")";
      }
    }
    if (result_.why_not.empty() && blocks(first) && !takes_ && !is_faulty(first)) {
      result_.why_not = "one more wait ends no deadlock";
    }
    return result_.why_not.empty();
  }

  bool is_spent() const { return result_.verifications >= options_.max_verifications; }

  EngineResult decide(std::span<const AddedWait> waits) {
    return memverify::decide(with_waits(plan_, waits), options_, result_.verifications);
  }

  using Chosen = std::vector<std::uint8_t>;  ///< By candidate.

  EngineResult decide(const Chosen& chosen) {
    std::vector<AddedWait> waits;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      if (chosen[k] != 0) waits.push_back(candidates_[k]);
    }
    return decide(waits);
  }

  void search(const EngineResult& first) {
    smt::Solver solver;
    std::vector<smt::Bool> taken;
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      taken.push_back(solver.terms().boolean("w" + std::to_string(k)));
    }
    std::size_t size = 1;
    while (!is_spent()) {
      const smt::Bool few = solver.terms().hold_at_most(taken, size);
      const smt::Answer answer = solver.check(std::span(&few, 1));
      if (answer == smt::Answer::kUnknown) return;
      if (answer == smt::Answer::kUnsat) {
        if (!result_.sets.empty()) break;
        if (solver.check() != smt::Answer::kSat) {
          result_.why_not =
              "no waits make the plan safe without a deadlock; " + first_error(plan_, first);
          result_.is_exact = !met_unknown_;
          return;
        }
        ++size;
        continue;
      }
      Chosen chosen(taken.size(), 0);
      for (std::size_t k = 0; k < taken.size(); ++k) chosen[k] = solver.value(taken[k]) ? 1 : 0;
      if (!learn(solver, taken, chosen)) break;
    }
    result_.is_exact = !result_.sets.empty() && !met_unknown_;
  }

  /// Asks about a proposal; adds a clause that it does not meet. False: enough sets are known.
  bool learn(smt::Solver& solver, const std::vector<smt::Bool>& taken, Chosen chosen) {
    const EngineResult result = decide(chosen);
    std::vector<smt::Bool> clause;
    if (result.verdict == Verdict::kSafe) {
      keep(chosen);
      if (result_.sets.size() >= options_.max_offers) return false;
    } else if (is_faulty(result)) {
      grow(chosen);
      for (std::size_t k = 0; k < taken.size(); ++k) {
        if (chosen[k] == 0) clause.push_back(taken[k]);
      }
      solver.require(solver.terms().any(clause));
      return true;
    } else if (blocks(result) && !takes_) {
      shrink(chosen);
    } else {
      met_unknown_ = met_unknown_ || result.verdict == Verdict::kUnknown;
      for (std::size_t k = 0; k < taken.size(); ++k) {  // Of this set alone nothing more is known.
        if (chosen[k] == 0) clause.push_back(taken[k]);
      }
    }
    for (std::size_t k = 0; k < taken.size(); ++k) {
      if (chosen[k] != 0) clause.push_back(solver.terms().no(taken[k]));
    }
    solver.require(solver.terms().any(clause));
    return true;
  }

  void keep(const Chosen& chosen) {
    std::vector<AddedWait>& set = result_.sets.emplace_back();
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      if (chosen[k] != 0) set.push_back(candidates_[k]);
    }
  }

  /// Adds candidates as long as the fault stays, forward ones first: those block nothing.
  void grow(Chosen& chosen) {
    std::vector<std::size_t> others;
    for (const bool forward : {true, false}) {
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        const AddedWait& wait = candidates_[k];
        const bool is_forward = wait.distance > 0 || wait.on < wait.waiter;
        if (chosen[k] == 0 && is_forward == forward) others.push_back(k);
      }
      grow(chosen, others);
      others.clear();
    }
  }

  void grow(Chosen& chosen, std::span<const std::size_t> others) {
    if (others.empty() || is_spent()) return;
    Chosen more = chosen;
    for (const std::size_t k : others) more[k] = 1;
    if (is_faulty(decide(more))) {
      chosen = std::move(more);
    } else if (others.size() > 1) {
      grow(chosen, others.first(others.size() / 2));
      grow(chosen, others.subspan(others.size() / 2));
    }
  }

  void shrink(Chosen& chosen) {
    for (std::uint8_t& taken : chosen) {
      if (taken == 0 || is_spent()) continue;
      taken = 0;
      if (!blocks(decide(chosen))) taken = 1;
    }
  }

  /// For plans that are too large for the search.
  void add_one_by_one(const EngineResult& first) {
    std::vector<AddedWait> waits;
    EngineResult now = first;
    while (now.verdict == Verdict::kUnsafe && !is_spent()) {
      const std::size_t before = waits.size();
      for (const AddedWait& wait : waits_between(plan_, now.findings)) {
        if (std::ranges::count(waits, wait) == 0) waits.push_back(wait);
      }
      if (waits.size() == before) break;
      now = decide(waits);
    }
    if (now.verdict != Verdict::kSafe) {
      result_.why_not = "waits between the ops of each finding do not make the plan safe; " +
                        first_error(plan_, now);
      return;
    }
    for (std::size_t k = waits.size(); k-- > 0;) {
      std::vector<AddedWait> fewer = waits;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
      if (!is_spent() && decide(fewer).verdict == Verdict::kSafe) waits = std::move(fewer);
    }
    result_.sets.push_back(std::move(waits));
  }

  const Plan& plan_;
  const RepairOptions& options_;
  std::vector<AddedWait> candidates_;
  const bool takes_ = has_choice(plan_);
  bool met_unknown_ = false;
  WaitRepair result_;
};

}  // namespace

std::string describe(const Plan& plan, const AddedWait& wait) {
  std::string text =
      quoted(plan.ops[wait.waiter].name) + " waits for " + quoted(plan.ops[wait.on].name);
  if (wait.distance > 0) {
    text += " of " + counted(std::int64_t{wait.distance}, "iteration") + " before";
  }
  return text;
}

std::vector<AddedWait> useful_waits(const Plan& plan) {
  if (plan.ops.size() > kMostOpsToSearch) return {};
  return candidates_of(plan, plan.iterations == 1 ? 0 : 1);
}

WaitRepair repair_by_waits(const Plan& plan, const RepairOptions& options) {
  return WaitSearch(plan, options).run();
}

std::optional<AddedWait> one_wait_for(const Plan& plan, std::span<const Finding> findings,
                                      const Decide& decide) {
  const bool is_possible = std::ranges::all_of(findings, [](const Finding& finding) {
    return !is_error(finding) || (is_about_order(finding.rule) && finding.rule != Rule::kDeadlock);
  });
  if (!is_possible) return std::nullopt;
  std::size_t asked = 0;
  for (const AddedWait& wait : waits_between(plan, findings)) {
    if (++asked > kMostHints) break;
    const Plan changed = with_waits(plan, std::span(&wait, 1));
    std::size_t counted_here = 0;
    const EngineResult result = memverify::decide(changed, {.decide = decide}, counted_here);
    if (result.verdict == Verdict::kSafe) return wait;
  }
  return std::nullopt;
}

}  // namespace memverify
