#include "verify/smt_solver.h"

#include <z3++.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <unordered_map>
#include <utility>

namespace memverify::smt {
namespace {

/// Steps that a check may take: the query's own limit or what is left in all, whichever is less.
std::uint64_t steps_left(const Limits& limits, std::uint64_t spent) {
  std::uint64_t left = limits.query_steps;
  spent += limits.steps_before;
  if (limits.total_steps != 0) {
    const std::uint64_t rest = limits.total_steps > spent ? limits.total_steps - spent : 1;
    left = left == 0 ? rest : std::min(left, rest);
  }
  return std::min<std::uint64_t>(left, 0xFFFFFFFEU);
}

void raise_memory_limit(std::uint32_t megabytes) {
  static std::atomic<std::uint32_t> greatest{0};
  std::uint32_t before = greatest.load();
  while (before < megabytes && !greatest.compare_exchange_weak(before, megabytes)) {
  }
  if (before < megabytes) {
    Z3_global_param_set("memory_max_size", std::to_string(megabytes).c_str());
  }
}

}  // namespace

struct Solver::Z3 {
  z3::context context;
  z3::solver solver;
  z3::expr_vector terms;              ///< Those that some question needed.
  std::vector<std::uint32_t> places;  ///< By id of our terms: in `terms`; kNowhere, kOnTheWay.
  std::size_t required = 0;           ///< Assertions given to Z3.
  std::unordered_map<std::uint32_t, std::uint32_t> proxies;  ///< Assumed formula to its literal.

  Z3() : solver(context, z3::solver::simple()), terms(context) {}

  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFU;
  static constexpr std::uint32_t kOnTheWay = 0xFFFFFFFEU;

  z3::expr of(std::uint32_t id) { return terms[static_cast<int>(places[id])]; }

  /// What `roots` are made of and Z3 has not got yet, the oldest first. `is_late` is asked now and
  /// then; where it is, OutOfTime, and this must not be asked again.
  template <typename IsLate>
  void lower_all_of(const Terms& all, std::span<const Bool> roots, const IsLate& is_late) {
    places.resize(all.terms().size(), kNowhere);
    std::vector<std::uint32_t> missing;
    std::vector<std::uint32_t> open;
    for (const Bool root : roots) open.push_back(root.id);
    while (!open.empty()) {
      const std::uint32_t id = open.back();
      open.pop_back();
      if (places[id] != kNowhere) continue;
      places[id] = kOnTheWay;
      missing.push_back(id);
      open.insert(open.end(), all.terms()[id].args.begin(), all.terms()[id].args.end());
    }
    std::ranges::sort(missing);
    constexpr std::size_t kBetweenLooks = 256;
    for (const std::uint32_t id : missing) {
      if (terms.size() % kBetweenLooks == 0 && is_late()) throw OutOfTime();
      terms.push_back(lower(all.terms()[id], id));
      places[id] = terms.size() - 1;
    }
  }

  z3::expr lower(const Term& term, std::uint32_t id) {
    const auto arg = [&](std::size_t k) { return of(term.args[k]); };
    switch (term.kind) {
      case TermKind::kBoolean:
        return context.bool_const(("b" + std::to_string(id)).c_str());
      case TermKind::kInteger:
        return context.int_const(("i" + std::to_string(id)).c_str());
      case TermKind::kTruth:
        return context.bool_val(term.value != 0);
      case TermKind::kNumber:
        return context.int_val(term.value);
      case TermKind::kNot:
        return !arg(0);
      case TermKind::kAnd:
        return z3::mk_and(arguments(term));
      case TermKind::kOr:
        return z3::mk_or(arguments(term));
      case TermKind::kIff:
      case TermKind::kEqual:
        return arg(0) == arg(1);
      case TermKind::kAtMost:
        return arg(0) <= arg(1);
      case TermKind::kChoose:
        return z3::ite(arg(0), arg(1), arg(2));
      case TermKind::kSum:
        return z3::sum(arguments(term));
      case TermKind::kProduct:
        return arg(0) * arg(1);
      case TermKind::kDivide:
        return arg(0) / arg(1);
      case TermKind::kModulo:
        return z3::mod(arg(0), arg(1));
    }
    return context.bool_val(false);
  }

  z3::expr_vector arguments(const Term& term) {
    z3::expr_vector result(context);
    for (const std::uint32_t id : term.args) result.push_back(of(id));
    return result;
  }

  /// A literal that stands for the formula as an assumption.
  template <typename IsLate>
  z3::expr assumption(const Terms& all, Bool formula, const IsLate& is_late) {
    lower_all_of(all, std::span(&formula, 1), is_late);
    const Term& term = all.terms()[formula.id];
    const TermKind kind = term.kind == TermKind::kNot ? all.terms()[term.args[0]].kind : term.kind;
    if (kind == TermKind::kBoolean) return of(formula.id);
    const auto [entry, fresh] = proxies.try_emplace(formula.id, formula.id);
    const z3::expr literal = context.bool_const(("a" + std::to_string(entry->second)).c_str());
    if (fresh) solver.add(z3::implies(literal, of(formula.id)));
    return literal;
  }
};

Solver::Solver(const Limits& limits, Terms terms) : limits_(limits), terms_(std::move(terms)) {
  try {
    if (limits.memory_mb != 0) raise_memory_limit(limits.memory_mb);
    z3_ = std::make_unique<Z3>();
  } catch (const z3::exception& error) {
    reason_ = std::string("Z3 does not start: ") + error.msg();
  }
}

Solver::~Solver() = default;

void Solver::require(Bool formula) {
  if (!terms_.is_true(formula)) required_.push_back(formula);
}

Answer Solver::unknown(std::string reason) {
  reason_ = std::move(reason);
  return Answer::kUnknown;
}

Answer Solver::check(std::span<const Bool> assumptions) {
  if (z3_ == nullptr) return Answer::kUnknown;
  core_.clear();
  ++queries_;
  if (limits_.total_steps != 0 && limits_.steps_before + steps_ >= limits_.total_steps) {
    return unknown("the limit of " + std::to_string(limits_.total_steps) +
                   " solver steps in all was reached");
  }
  try {
    return ask(assumptions);
  } catch (const z3::exception& error) {
    return unknown(std::string("Z3 gave up: ") + error.msg());
  } catch (const OutOfTime&) {
    return unknown("the time is spent");
  } catch (const std::bad_alloc&) {
    return unknown("there was no memory left");
  }
}

std::optional<std::uint32_t> Solver::time_left() const {
  if (limits_.total_seconds <= 0) return limits_.query_ms;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  const double left = (limits_.total_seconds - passed.count()) * 1000;
  if (left < 1) return std::nullopt;
  const double most = limits_.query_ms != 0 ? limits_.query_ms : 4e9;
  return static_cast<std::uint32_t>(std::min(left, most));
}

Answer Solver::ask(std::span<const Bool> assumptions) {
  const auto is_late = [this] { return !time_left(); };
  if (is_late()) throw OutOfTime();
  z3_->lower_all_of(terms_, std::span(required_).subspan(z3_->required), is_late);
  for (; z3_->required < required_.size(); ++z3_->required) {
    z3_->solver.add(z3_->of(required_[z3_->required].id));
  }
  z3::expr_vector assumed(z3_->context);
  for (const Bool a : assumptions) assumed.push_back(z3_->assumption(terms_, a, is_late));
  const std::uint64_t left = steps_left(limits_, steps_);
  const std::optional<std::uint32_t> time = time_left();
  if (!time) throw OutOfTime();
  z3::params params(z3_->context);
  params.set("ctrl_c", false);  // Its handler is one for all threads; the signal ends the process.
  if (left != 0) params.set("rlimit", static_cast<unsigned>(left));
  if (*time != 0) params.set("timeout", static_cast<unsigned>(*time));
  z3_->solver.set(params);
  const z3::check_result answer = z3_->solver.check(assumed);
  const std::uint64_t before = steps_;
  const z3::stats statistics = z3_->solver.statistics();
  for (unsigned k = 0; k < statistics.size(); ++k) {
    if (statistics.key(k) == "rlimit count" && statistics.is_uint(k)) {
      steps_ = statistics.uint_value(k);
    }
  }
  switch (answer) {
    case z3::sat:
      return read_model(assumptions) ? Answer::kSat : Answer::kUnknown;
    case z3::unsat: {
      const z3::expr_vector core = z3_->solver.unsat_core();
      for (std::size_t k = 0; k < assumptions.size(); ++k) {
        for (unsigned c = 0; c < core.size(); ++c) {
          if (z3::eq(core[static_cast<int>(c)], assumed[static_cast<int>(k)])) {
            core_.push_back(assumptions[k]);
            break;
          }
        }
      }
      return Answer::kUnsat;
    }
    case z3::unknown:
      break;
  }
  const std::string said = z3_->solver.reason_unknown();
  if (left != 0 && steps_ - before >= left) {
    return unknown("the limit of " + std::to_string(left) + " solver steps was reached");
  }
  if (*time != 0 && (said == "canceled" || said == "timeout")) {
    return unknown("the time or an interrupt ended the question");
  }
  return unknown("the solver says: " + said);
}

bool Solver::read_model(std::span<const Bool> assumptions) {
  const z3::model model = z3_->solver.get_model();
  Assignment values;
  for (unsigned k = 0; k < model.num_consts(); ++k) {
    const z3::func_decl constant = model.get_const_decl(k);
    const std::string name = constant.name().str();
    const z3::expr value = model.get_const_interp(constant);
    std::int64_t number = value.is_true() ? 1 : 0;
    if (value.is_int() && !value.is_numeral_i64(number)) {
      reason_ = "a value passes 64 bits";
      return false;
    }
    if (name[0] == 'b' || name[0] == 'i') {
      values[static_cast<std::uint32_t>(std::stoul(name.substr(1)))] = number;
    }
  }
  std::vector<Bool> claimed = required_;
  claimed.insert(claimed.end(), assumptions.begin(), assumptions.end());
  auto worked_out = terms_.evaluate(values, claimed);
  if (!worked_out ||
      !std::ranges::all_of(claimed, [&](Bool a) { return (*worked_out)[a.id] != 0; })) {
    reason_ = "the model that Z3 found does not satisfy the formula";
    return false;
  }
  model_ = std::move(*worked_out);
  return true;
}

void Solver::interrupt() noexcept {
  if (z3_ == nullptr) return;
  try {
    z3_->context.interrupt();
  } catch (const z3::exception&) {
    // Nothing was running.
  }
}

}  // namespace memverify::smt
