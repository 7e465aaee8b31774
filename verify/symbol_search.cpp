#include "verify/symbol_search.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/cases.h"
#include "verify/symbol_alike.h"
#include "verify/symbol_merge.h"

namespace memverify {
namespace {

using smt::Answer;
using smt::Bool;

/// No question may take longer than there is time for all.
smt::Limits limits_of(const SymbolOptions& options) {
  smt::Limits limits = options.limits;
  const double ms = std::min(options.max_seconds * 1000, 4e9);
  if (limits.query_ms == 0 && ms > 0) limits.query_ms = static_cast<std::uint32_t>(ms);
  return limits;
}

class SymbolSearch {
 public:
  SymbolSearch(const Plan& plan, const SymbolOptions& options, const DecideOne& decide)
      : options_(options),
        decide_(decide),
        plan_(plan),
        solver_(limits_of(options)),
        terms_(solver_.terms()),
        symbolic_(plan, terms_),
        open_(terms_.boolean("not decided")),
        merged_(options.max_findings) {
    for (const Bool formula : symbolic_.domain()) solver_.require(formula);
  }

  EngineResult run() {
    const bool complete = decide_classes();
    if (complete) extend_findings();
    EngineResult result = merged_.take();
    result.stats.ops = instances_;
    return result;
  }

 private:
  /// True once every value is decided; else says why not.
  bool decide_classes() {
    while (true) {
      if (symbolic_.polys().overflowed()) {
        return give_up("Sizes and offsets multiply to formulas with numbers beyond 64 bits.");
      }
      const Answer answer = find_open();
      if (answer == Answer::kUnsat) {
        if (!classes_.empty()) return true;
        return give_up("No value of the symbols keeps all sizes and addresses below 2^62 bytes.");
      }
      if (answer == Answer::kUnknown) {
        return give_up("Whether other values of the symbols make a difference was not found out: " +
                       solver_.reason() + ".");
      }
      if (merged_.full()) {
        merged_.stop();
        return false;
      }
      const std::vector<std::int64_t> least = least_open();
      if (classes_.size() == options_.max_classes || instances_ >= options_.max_instances) {
        return give_up("The symbols have more kinds of values than the " +
                       std::to_string(classes_.size()) + " that were decided; the first left is " +
                       in_words(least) + ".");
      }
      if (options_.max_seconds > 0 && seconds_spent() >= options_.max_seconds) {
        return give_up("The time limit was reached before " + in_words(least) + " was decided.");
      }
      decide(least);
    }
  }

  double seconds_spent() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  /// "b = 1, seq = 385", for numbers of values of the used symbols.
  std::string in_words(const std::vector<std::int64_t>& k) const {
    std::string text;
    for (std::size_t s = 0; s < k.size(); ++s) {
      const SymbolId id = symbolic_.used()[s];
      const Wide value = symbolic_.polys().symbol_value(id, k[s]);
      text += (text.empty() ? "" : ", ") + std::string(plan_.symbols[id].name) + " = " +
              std::to_string(static_cast<std::int64_t>(value));
    }
    return text;
  }

  bool give_up(std::string message) {
    std::string blamed;
    for (const std::string& text : symbolic_.pinned()) {
      blamed += (blamed.empty() ? " One value at a time is decided of `" : ", `") + text + "`";
    }
    if (!blamed.empty()) blamed += ".";
    const std::string product = symbolic_.nonlinear();
    if (blamed.empty() && !product.empty()) blamed = " `" + product + "` multiplies symbols.";
    merged_.add_not_proven(message + blamed,
                           "give the symbols a (lower) \"max\" or a greater \"multiple_of\"");
    return false;
  }

  /// Some values that are not decided. Small ones are asked for first: formulas of them stay small.
  Answer find_open() {
    static constexpr std::array<int, 3> kBits = {12, 24, 40};
    for (const int some : kBits) {
      std::vector<Bool> assumed{open_};
      for (const SymbolId id : symbolic_.used())
        assumed.push_back(up_to(id, std::int64_t{1} << some));
      if (solver_.check(assumed) == Answer::kSat) return Answer::kSat;
    }
    return solver_.check(std::array{open_});
  }

  Bool up_to(SymbolId id, std::int64_t k) {
    return terms_.at_most(symbolic_.polys().variable(id), terms_.number(k));
  }

  /// After `find_open`: the least of the open values, by the first symbol, then the second...
  std::vector<std::int64_t> least_open() {
    std::vector<std::int64_t> k;
    for (const SymbolId id : symbolic_.used())
      k.push_back(solver_.value(symbolic_.polys().variable(id)));
    std::vector<Bool> assumed{open_};
    for (std::size_t s = 0; s < k.size(); ++s) {
      const SymbolId id = symbolic_.used()[s];
      for (std::int64_t low = 0; low < k[s];) {
        const std::int64_t middle = low + (k[s] - low) / 2;
        assumed.push_back(up_to(id, middle));
        if (solver_.check(assumed) == Answer::kSat) {
          for (std::size_t t = s; t < k.size(); ++t) {
            k[t] = solver_.value(symbolic_.polys().variable(symbolic_.used()[t]));
          }
        } else {
          low = middle + 1;
        }
        assumed.pop_back();
      }
      assumed.push_back(terms_.equal(symbolic_.polys().variable(id), terms_.number(k[s])));
    }
    return k;
  }

  /// Decides the plan for the values with these numbers, and so for all that are alike.
  void decide(const std::vector<std::int64_t>& k) {
    Plan one = plan_;
    std::vector<std::int64_t> values;
    for (const SymbolId id : ids(plan_.symbols)) {
      const auto at = std::ranges::find(symbolic_.used(), id) - symbolic_.used().begin();
      const bool used = static_cast<std::size_t>(at) < k.size();
      const Wide value =
          symbolic_.polys().symbol_value(id, used ? k[static_cast<std::size_t>(at)] : 0);
      values.push_back(static_cast<std::int64_t>(value));
      Symbol& symbol = one.symbols[id];
      symbol.min = values.back();
      symbol.max = values.back();
      symbol.multiple_of = 1;
    }
    EngineResult result = decide_(one);
    instances_ += std::max<std::uint64_t>(result.stats.ops, 1);
    Alike alike = symbolic_.alike(values);
    const bool proven = std::ranges::none_of(
        result.findings, [](const Finding& f) { return f.rule == Rule::kNotProven; });
    // A layout that exists, though our conditions say that it does not: believed for itself alone.
    if (!alike.has_layout && proven) alike.formulas = symbolic_.exactly(values);
    const Bool of_class = terms_.all(alike.formulas);
    merged_.add(std::move(result), classes_.size());
    classes_.push_back(of_class);
    solver_.require(terms_.implies(open_, terms_.no(of_class)));
  }

  /// Shows of findings that they hold from their values on.
  void extend_findings() {
    std::map<std::pair<std::vector<std::size_t>, std::vector<std::int64_t>>,
             std::vector<SymbolValue>>
        known;
    merged_.for_each([&](MergedFindings::Kept& kept) {
      if (info(kept.finding.rule).severity != Severity::kError) return;
      std::vector<std::int64_t> from;
      for (const SymbolValue& v : kept.finding.symbols) from.push_back(v.value);
      const auto [at, is_new] = known.try_emplace({kept.results, from});
      if (is_new) at->second = holds_from(kept);
      kept.finding.symbols_at_least = at->second;
    });
  }

  std::vector<SymbolValue> holds_from(const MergedFindings::Kept& kept) {
    std::vector<Bool> without;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      if (!std::ranges::binary_search(kept.results, c)) without.push_back(classes_[c]);
    }
    const Bool elsewhere = terms_.any(std::move(without));
    for (const SymbolValue& from : kept.finding.symbols) {
      const Bool below = terms_.is_false(elsewhere)
                             ? elsewhere
                             : terms_.both(elsewhere, at_least(from.symbol, from.value));
      if (terms_.is_false(below) || solver_.check(std::array{below}) == Answer::kUnsat)
        return {from};
    }
    return {};
  }

  Bool at_least(SymbolId id, std::int64_t value) {
    Polys& polys = symbolic_.polys();
    return polys.at_most_zero(polys.subtract(Polys::number(value), polys.symbol(id)));
  }

  const SymbolOptions& options_;
  const DecideOne& decide_;
  const Plan& plan_;
  smt::Solver solver_;
  smt::Terms& terms_;
  SymbolicPlan symbolic_;
  Bool open_;  ///< The values lie in no class.
  MergedFindings merged_;
  std::vector<Bool> classes_;
  std::uint64_t instances_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

bool has_more_values(const Plan& plan, std::uint64_t most) {
  const std::optional<std::uint64_t> count = SymbolCases(plan).count();
  return !count || *count > most;
}

EngineResult verify_all_symbols(const Plan& plan, const SymbolOptions& options,
                                const DecideOne& decide) {
  if (plan.formulas.all_symbols().empty()) return decide(plan);
  return SymbolSearch(plan, options, decide).run();
}

}  // namespace memverify
