#include "verify/smt_term.h"

#include <algorithm>
#include <functional>

namespace memverify::smt {
namespace {

std::size_t hash_of(const Term& term) {
  std::size_t hash = static_cast<std::size_t>(term.kind);
  const auto mix = [&](std::size_t part) { hash = (hash ^ part) * 0x9E3779B97F4A7C15U; };
  mix(static_cast<std::size_t>(term.value));
  for (const std::uint32_t arg : term.args) mix(arg);
  return hash;
}

}  // namespace

Terms::Terms() {
  terms_.push_back({.kind = TermKind::kTruth, .value = 0});
  terms_.push_back({.kind = TermKind::kTruth, .value = 1});
}

std::uint32_t Terms::add_term(Term term) {
  const std::size_t hash = hash_of(term);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (terms_[at->second] == term) return at->second;
  }
  const auto id = static_cast<std::uint32_t>(terms_.size());
  constexpr std::uint32_t kBetweenLooks = 256;
  if (id % kBetweenLooks == 0 && deadline_ && std::chrono::steady_clock::now() > *deadline_) {
    throw OutOfTime();
  }
  terms_.push_back(std::move(term));
  known_.emplace(hash, id);
  return id;
}

Bool Terms::make(TermKind kind, std::vector<std::uint32_t> args) {
  return Bool{add_term({.kind = kind, .args = std::move(args)})};
}
Int Terms::make_int(TermKind kind, std::vector<std::uint32_t> args) {
  return Int{add_term({.kind = kind, .args = std::move(args)})};
}

Bool Terms::boolean(std::string name) {
  names_.push_back(std::move(name));
  return Bool{add_term({TermKind::kBoolean, static_cast<std::int64_t>(names_.size()) - 1, {}})};
}

Int Terms::integer(std::string name) {
  names_.push_back(std::move(name));
  return Int{add_term({TermKind::kInteger, static_cast<std::int64_t>(names_.size()) - 1, {}})};
}

Int Terms::number(std::int64_t value) { return Int{add_term({TermKind::kNumber, value, {}})}; }

std::optional<std::int64_t> Terms::constant(Int a) const {
  const Term& term = terms_[a.id];
  if (term.kind != TermKind::kNumber) return std::nullopt;
  return term.value;
}

Bool Terms::no(Bool a) {
  if (a.id <= 1) return truth(a.id == 0);
  if (terms_[a.id].kind == TermKind::kNot) return Bool{terms_[a.id].args[0]};
  return make(TermKind::kNot, {a.id});
}

Bool Terms::all(std::vector<Bool> of) {
  std::vector<std::uint32_t> args;
  for (const Bool a : of) {
    if (is_false(a)) return a;
    if (!is_true(a)) args.push_back(a.id);
  }
  std::ranges::sort(args);
  args.erase(std::unique(args.begin(), args.end()), args.end());
  if (args.empty()) return truth(true);
  if (args.size() == 1) return Bool{args[0]};
  return make(TermKind::kAnd, std::move(args));
}

Bool Terms::any(std::vector<Bool> of) {
  std::vector<std::uint32_t> args;
  for (const Bool a : of) {
    if (is_true(a)) return a;
    if (!is_false(a)) args.push_back(a.id);
  }
  std::ranges::sort(args);
  args.erase(std::unique(args.begin(), args.end()), args.end());
  if (args.empty()) return truth(false);
  if (args.size() == 1) return Bool{args[0]};
  return make(TermKind::kOr, std::move(args));
}

Bool Terms::iff(Bool a, Bool b) {
  if (a == b) return truth(true);
  if (a.id <= 1) return is_true(a) ? b : no(b);
  if (b.id <= 1) return is_true(b) ? a : no(a);
  return make(TermKind::kIff, {std::min(a.id, b.id), std::max(a.id, b.id)});
}

Bool Terms::at_most(Int a, Int b) {
  if (a == b) return truth(true);
  if (constant(a) && constant(b)) return truth(*constant(a) <= *constant(b));
  return make(TermKind::kAtMost, {a.id, b.id});
}

Bool Terms::equal(Int a, Int b) {
  if (a == b) return truth(true);
  if (constant(a) && constant(b)) return truth(false);  // Equal numbers are one term.
  return make(TermKind::kEqual, {std::min(a.id, b.id), std::max(a.id, b.id)});
}

Int Terms::choose(Bool condition, Int then, Int otherwise) {
  if (condition.id <= 1) return is_true(condition) ? then : otherwise;
  if (then == otherwise) return then;
  return make_int(TermKind::kChoose, {condition.id, then.id, otherwise.id});
}

Int Terms::sum(std::vector<Int> of) {
  std::vector<std::uint32_t> args;
  std::int64_t known = 0;
  for (const Int a : of) {
    const auto value = constant(a);
    std::int64_t next = 0;
    if (value && !__builtin_add_overflow(known, *value, &next)) {
      known = next;
    } else {
      args.push_back(a.id);
    }
  }
  if (known != 0 || args.empty()) args.push_back(number(known).id);
  if (args.size() == 1) return Int{args[0]};
  return make_int(TermKind::kSum, std::move(args));
}

Int Terms::multiply(Int a, Int b) {
  if (constant(b)) std::swap(a, b);
  const auto factor = constant(a);
  if (factor == 0) return a;
  if (factor == 1) return b;
  std::int64_t product = 0;
  if (factor && constant(b) && !__builtin_mul_overflow(*factor, *constant(b), &product)) {
    return number(product);
  }
  return make_int(TermKind::kProduct, {a.id, b.id});
}

Int Terms::divide(Int a, Int b) {
  if (constant(b) == 1) return a;
  return make_int(TermKind::kDivide, {a.id, b.id});
}

Int Terms::modulo(Int a, Int b) {
  if (constant(b) == 1) return number(0);
  return make_int(TermKind::kModulo, {a.id, b.id});
}

Bool Terms::weigh_at_least(std::span<const Weighted> of, std::int64_t bound) {
  std::vector<Int> parts;
  for (const Weighted& w : of) {
    parts.push_back(choose(w.holds, number(w.weight), number(0)));
  }
  return at_most(number(bound), sum(std::move(parts)));
}

Bool Terms::hold_at_most(std::span<const Bool> of, std::size_t most) {
  if (of.size() <= most) return truth(true);
  // more[k]: more than k of those seen so far hold.
  std::vector<Bool> more(most + 1, truth(false));
  for (const Bool a : of) {
    for (std::size_t k = most + 1; k-- > 0;) {
      const Bool before = k == 0 ? truth(true) : more[k - 1];
      more[k] = either(more[k], both(before, a));
    }
  }
  return no(more[most]);
}

}  // namespace memverify::smt
