// Formulas as values and as text.
#include <algorithm>
#include <cassert>
#include <numeric>

#include "verify/smt_term.h"

namespace memverify::smt {
namespace {

__extension__ using Wide = __int128;

bool is_free(const Term& term) {
  return term.kind == TermKind::kBoolean || term.kind == TermKind::kInteger;
}

/// nullopt: a division by less than 1.
std::optional<Wide> value_of(const Term& term, const std::vector<std::int64_t>& of) {
  const auto arg = [&](std::size_t k) -> Wide { return of[term.args[k]]; };
  const auto holds = [&](std::uint32_t id) { return of[id] != 0; };
  switch (term.kind) {
    case TermKind::kBoolean:
    case TermKind::kInteger:
    case TermKind::kTruth:
    case TermKind::kNumber:
      return term.value;
    case TermKind::kNot:
      return arg(0) == 0 ? 1 : 0;
    case TermKind::kAnd:
      return std::ranges::all_of(term.args, holds) ? 1 : 0;
    case TermKind::kOr:
      return std::ranges::any_of(term.args, holds) ? 1 : 0;
    case TermKind::kIff:
    case TermKind::kEqual:
      return arg(0) == arg(1) ? 1 : 0;
    case TermKind::kAtMost:
      return arg(0) <= arg(1) ? 1 : 0;
    case TermKind::kChoose:
      return arg(0) != 0 ? arg(1) : arg(2);
    case TermKind::kSum: {
      Wide total = 0;
      for (const std::uint32_t id : term.args) total += of[id];
      return total;
    }
    case TermKind::kProduct:
      return arg(0) * arg(1);
    case TermKind::kDivide:
    case TermKind::kModulo: {
      if (arg(1) <= 0) return std::nullopt;
      Wide rest = arg(0) % arg(1);
      if (rest < 0) rest += arg(1);
      return term.kind == TermKind::kModulo ? rest : (arg(0) - rest) / arg(1);
    }
  }
  return std::nullopt;
}

std::string number_text(std::int64_t value) {
  if (value >= 0) return std::to_string(value);
  return "(- " + std::to_string(value).substr(1) + ")";
}

const char* operator_text(TermKind kind) {
  switch (kind) {
    case TermKind::kNot:
      return "not";
    case TermKind::kAnd:
      return "and";
    case TermKind::kOr:
      return "or";
    case TermKind::kIff:
    case TermKind::kEqual:
      return "=";
    case TermKind::kAtMost:
      return "<=";
    case TermKind::kChoose:
      return "ite";
    case TermKind::kSum:
      return "+";
    case TermKind::kProduct:
      return "*";
    case TermKind::kDivide:
      return "div";
    case TermKind::kModulo:
      return "mod";
    case TermKind::kBoolean:
    case TermKind::kInteger:
    case TermKind::kTruth:
    case TermKind::kNumber:
      break;
  }
  return "";
}

bool is_boolean(TermKind kind) {
  switch (kind) {
    case TermKind::kBoolean:
    case TermKind::kTruth:
    case TermKind::kNot:
    case TermKind::kAnd:
    case TermKind::kOr:
    case TermKind::kIff:
    case TermKind::kAtMost:
    case TermKind::kEqual:
      return true;
    case TermKind::kInteger:
    case TermKind::kNumber:
    case TermKind::kChoose:
    case TermKind::kSum:
    case TermKind::kProduct:
    case TermKind::kDivide:
    case TermKind::kModulo:
      break;
  }
  return false;
}

/// A name that is unique, and a quoted symbol of SMT-LIB whatever the plan calls its things.
std::string symbol_text(std::uint32_t id, const std::string& name) {
  std::string text = "|";
  for (const char c : name) {
    const bool plain = c >= ' ' && c <= '~' && c != '|' && c != '\\';
    text += plain ? c : '_';
  }
  return text + " #" + std::to_string(id) + "|";
}

}  // namespace

std::vector<std::uint8_t> Terms::needed(std::span<const Bool> roots) const {
  std::vector<std::uint8_t> is_needed(terms_.size(), 0);
  for (const Bool root : roots) is_needed[root.id] = 1;
  for (std::size_t id = terms_.size(); id-- > 0;) {
    if (!is_needed[id]) continue;
    for (const std::uint32_t arg : terms_[id].args) is_needed[arg] = 1;
  }
  return is_needed;
}

std::optional<std::vector<std::int64_t>> Terms::evaluate(const Assignment& values,
                                                         std::span<const Bool> roots) const {
  const std::vector<std::uint8_t> is_needed = needed(roots);
  std::vector<std::int64_t> of(terms_.size(), 0);
  for (std::uint32_t id = 0; id < terms_.size(); ++id) {
    if (is_free(terms_[id])) {
      const auto found = values.find(id);
      if (found != values.end()) of[id] = found->second;
      continue;
    }
    const std::optional<Wide> value = value_of(terms_[id], of);
    const auto narrow = static_cast<std::int64_t>(value.value_or(0));
    if (value && Wide{narrow} == *value) {
      of[id] = narrow;
    } else if (is_needed[id]) {
      return std::nullopt;
    }
  }
  return of;
}

std::string Terms::dump(std::span<const Bool> asserted, const std::string& comment) const {
  const std::vector<std::uint8_t> is_needed = needed(asserted);
  std::vector<std::string> text(terms_.size());
  std::vector<std::uint32_t> uses(terms_.size(), 0);
  std::string body;
  bool linear = true;
  for (std::uint32_t id = 0; id < terms_.size(); ++id) {
    if (!is_needed[id]) continue;
    for (const std::uint32_t arg : terms_[id].args) ++uses[arg];
  }
  for (std::uint32_t id = 0; id < terms_.size(); ++id) {
    if (!is_needed[id]) continue;
    const Term& term = terms_[id];
    const std::string sort = is_boolean(term.kind) ? "Bool" : "Int";
    if (is_free(term)) {
      text[id] = symbol_text(id, name(term));
      body += "(declare-fun " + text[id] + " () " + sort + ")\n";
    } else if (term.kind == TermKind::kTruth) {
      text[id] = term.value != 0 ? "true" : "false";
    } else if (term.kind == TermKind::kNumber) {
      text[id] = number_text(term.value);
    } else {
      if (term.kind != TermKind::kSum && term.kind != TermKind::kChoose && !is_boolean(term.kind)) {
        const TermKind by = terms_[term.args[term.kind == TermKind::kProduct ? 0 : 1]].kind;
        linear = linear && by == TermKind::kNumber;
      }
      text[id] = std::string("(") + operator_text(term.kind);
      for (const std::uint32_t arg : term.args) text[id] += " " + text[arg];
      text[id] += ")";
      if (uses[id] > 1 && term.kind != TermKind::kNot) {
        const std::string symbol = "|t" + std::to_string(id) + "|";
        body += "(define-fun " + symbol + " () " + sort + " " + text[id] + ")\n";
        text[id] = symbol;
      }
    }
  }
  std::string file;
  for (std::size_t at = 0; at < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', at), comment.size());
    file += "; " + comment.substr(at, end - at) + "\n";
    at = end + 1;
  }
  file += "(set-info :smt-lib-version 2.6)\n(set-logic ";
  file += linear ? "QF_LIA" : "QF_NIA";
  file += ")\n" + body;
  for (const Bool a : asserted) file += "(assert " + text[a.id] + ")\n";
  return file + "(check-sat)\n(exit)\n";
}

}  // namespace memverify::smt
