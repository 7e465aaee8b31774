#include "verify/repair_waits.h"

#include <algorithm>
#include <optional>

#include "plan/describe.h"
#include "plan/words.h"
#include "verify/smt_solver.h"
#include "verify/verify.h"
#include "verify/wait_candidates.h"

namespace memverify {
namespace {

constexpr std::size_t kMostSeeds = 64;  ///< Candidates that findings name, beside those.
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
      const std::uint32_t widest = widest_distance(plan_, first);
      candidates_ = candidates_of(plan_, widest);
      is_cut_ = has_distance_above(plan_, widest);
      if (is_cut_) add_seeds(first);
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
  bool wants_more() const { return !is_spent() && result_.sets.size() < options_.max_offers; }

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

  /// Waits between the ops of the findings, at their distance, and of the findings that those
  /// leave.
  void add_seeds(const EngineResult& first) {
    std::vector<AddedWait> seeds;
    EngineResult now = first;
    while (is_faulty(now) && seeds.size() < kMostSeeds && !is_spent()) {
      const std::size_t before = seeds.size();
      for (const AddedWait& wait : waits_between(plan_, now.findings)) {
        if (std::ranges::count(seeds, wait) == 0) seeds.push_back(wait);
      }
      if (seeds.size() == before) break;
      now = decide(seeds);
    }
    for (const AddedWait& wait : seeds) {
      const auto at = std::ranges::find(candidates_, wait);
      seeds_.push_back(static_cast<std::size_t>(at - candidates_.begin()));
      if (at == candidates_.end()) candidates_.push_back(wait);
    }
  }

  std::string found_none(const EngineResult& first) const {
    const std::string_view what =
        is_cut_ ? "none of the waits that were tried, and no set of them, makes the plan safe; "
                : "no waits make the plan safe without a deadlock; ";
    return std::string(what) + first_error(plan_, first);
  }

  void search(const EngineResult& first) {
    smt::Solver solver;
    std::vector<smt::Bool> taken;
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      taken.push_back(solver.terms().boolean("w" + std::to_string(k)));
    }
    for (const std::size_t k : seeds_) {
      Chosen alone(taken.size(), 0);
      alone[k] = 1;
      if (wants_more()) learn(solver, taken, std::move(alone));
    }
    std::size_t size = 1;
    while (wants_more()) {
      const smt::Bool few = solver.terms().hold_at_most(taken, size);
      const smt::Answer answer = solver.check(std::span(&few, 1));
      if (answer == smt::Answer::kUnknown) return;
      if (answer == smt::Answer::kUnsat) {
        if (!result_.sets.empty()) break;
        if (solver.check() != smt::Answer::kSat) {
          result_.why_not = found_none(first);
          result_.is_exact = !met_unknown_ && !is_cut_;
          return;
        }
        ++size;
        continue;
      }
      Chosen chosen(taken.size(), 0);
      for (std::size_t k = 0; k < taken.size(); ++k) chosen[k] = solver.value(taken[k]) ? 1 : 0;
      learn(solver, taken, std::move(chosen));
    }
    if (result_.sets.empty()) return;
    // With distances left out, a smaller set may be among those; but none is smaller than one wait.
    const bool is_least = !is_cut_ || result_.sets.front().size() == 1;
    result_.is_exact = !met_unknown_ && is_least;
  }

  /// Asks about a proposal; adds a clause that it does not meet.
  void learn(smt::Solver& solver, const std::vector<smt::Bool>& taken, Chosen chosen) {
    const EngineResult result = decide(chosen);
    std::vector<smt::Bool> clause;
    if (result.verdict == Verdict::kSafe) {
      keep(chosen);
    } else if (is_faulty(result)) {
      grow(chosen);
      for (std::size_t k = 0; k < taken.size(); ++k) {
        if (chosen[k] == 0) clause.push_back(taken[k]);
      }
      solver.require(solver.terms().any(clause));
      return;
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
  std::vector<std::size_t> seeds_;  ///< Candidates that the findings name, asked about first.
  const bool takes_ = has_choice(plan_);
  bool met_unknown_ = false;
  bool is_cut_ = false;  ///< Waits of greater distances are no candidates.
  WaitRepair result_;
};

}  // namespace

std::string describe(const Plan& plan, const AddedWait& wait) {
  std::string text =
      quoted(plan.ops[wait.waiter].name) + " waits for " + quoted(plan.ops[wait.on].name);
  if (wait.distance > 0) {
    text += " of " + counted(std::int64_t{wait.distance}, "iteration") + " before";
  } else if (wait.on > wait.waiter) {
    text += ", which is submitted later";
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
    const EngineResult result =
        decide ? decide(changed) : verify_happens_before(changed, {.max_findings = 1});
    if (result.verdict == Verdict::kSafe) return wait;
  }
  return std::nullopt;
}

}  // namespace memverify
