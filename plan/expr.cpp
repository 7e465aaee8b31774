// Problem: a size or offset is an expression over symbols and is evaluated once per symbol value.
// Idea: recursive descent into postfix code for a small stack machine; an operator whose operands
//   are both constants is applied while parsing, so "4*1024" costs nothing later and a constant
//   that overflows is an error of the text.
// Cost: parse and eval linear in the text; the machine's stack is bounded by the nesting limit.
// Example: "align(n, 8) * 4"  ->  symbol n, push 8, align, push 4, mul.
// Tested by tests/unit/plan/expr_test.cpp, against an evaluator that walks a tree.
#include "plan/expr.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr int kMaxNesting = 200;
// A level holds at most a left summand, a left factor and a first argument.
constexpr std::size_t kStackSize = 3 * (kMaxNesting + 2);

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }

// The remainder that has the sign of the divisor; `b` is not 0.
std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;  // INT64_MIN % -1 traps.
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace

std::optional<std::int64_t> ExprPool::apply(Code code, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (code) {
    case Code::kAdd:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Code::kSub:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Code::kMul:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case Code::kDiv:
      if (b == 0) return std::nullopt;
      if (b == -1) {
        overflow = __builtin_sub_overflow(std::int64_t{0}, a, &result);
      } else {
        result = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
      }
      break;
    case Code::kMod:
      if (b == 0) return std::nullopt;
      result = floor_mod(a, b);
      break;
    case Code::kMin:
      result = std::min(a, b);
      break;
    case Code::kMax:
      result = std::max(a, b);
      break;
    case Code::kAlign:
      if (b <= 0) return std::nullopt;
      overflow = __builtin_add_overflow(a, floor_mod(b - floor_mod(a, b), b), &result);
      break;
    case Code::kPush:
    case Code::kSymbol:
    case Code::kIteration:
    case Code::kNeg:
      assert(false && "not a binary operator");
  }
  if (overflow) return std::nullopt;
  return result;
}

class ExprParser {
 public:
  using Code = ExprPool::Code;
  using SymbolLookup = std::function<std::optional<SymbolId>(std::string_view)>;

  ExprParser(std::string_view text, bool allow_iteration, const SymbolLookup& symbol)
      : text_(text), allow_iteration_(allow_iteration), symbol_(symbol) {}

  // The postfix code; meaningless when `error()` is set.
  std::vector<ExprPool::Instruction> run() {
    sum();
    skip_space();
    if (!error_ && at_ != text_.size()) fail("expected an operator or the end");
    return std::move(code_);
  }
  std::optional<ExprPool::ParseError>& error() { return error_; }

 private:
  void fail(std::string message, std::string_view id = "expr.syntax") {
    if (!error_) error_ = ExprPool::ParseError{id, std::move(message), at_};
  }
  void fail_at(std::size_t at, std::string message, std::string_view id) {
    at_ = at;
    fail(std::move(message), id);
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  // The next character that is not a space, '\0' at the end.
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void expect(char wanted) {
    if (error_) return;
    if (peek() != wanted) return fail(std::string("expected '") + wanted + "'");
    ++at_;
  }

  void sum() {
    product();
    while (!error_ && (peek() == '+' || peek() == '-')) {
      const std::size_t at = at_;
      const Code code = text_[at_++] == '+' ? Code::kAdd : Code::kSub;
      product();
      emit_binary(code, at);
    }
  }

  void product() {
    unary();
    while (!error_ && (peek() == '*' || peek() == '/' || peek() == '%')) {
      const std::size_t at = at_;
      const char c = text_[at_++];
      unary();
      emit_binary(c == '*' ? Code::kMul : c == '/' ? Code::kDiv : Code::kMod, at);
    }
  }

  void unary() {
    if (++nesting_ > kMaxNesting) {
      fail("nested more than " + std::to_string(kMaxNesting) + " levels deep");
    } else if (peek() != '-') {
      atom();
    } else if (at_ + 1 < text_.size() && is_digit(text_[at_ + 1])) {
      integer();
    } else {
      const std::size_t at = at_++;
      unary();
      emit_negation(at);
    }
    --nesting_;
  }

  void atom() {
    const char c = peek();
    if (is_digit(c)) return integer();
    if (is_name_start(c)) return name();
    if (c != '(') return fail("expected a number, a name or '('");
    ++at_;
    sum();
    expect(')');
  }

  // Digits, with a sign that belongs to the literal so that the least integer can be written.
  void integer() {
    const std::size_t begin = at_;
    std::int64_t value = 0;
    const auto [end, status] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) {
      return fail("the number does not fit in 64 bits", "expr.overflow");
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && (is_name(text_[at_]) || text_[at_] == '.')) {
      return fail_at(begin, "not an integer", "expr.syntax");
    }
    code_.push_back({Code::kPush, value});
  }

  void name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "min") return call(Code::kMin, begin);
    if (word == "max") return call(Code::kMax, begin);
    if (word == "align") return call(Code::kAlign, begin);
    if (word == "iteration") {
      if (!allow_iteration_) {
        return fail_at(begin,
                       "`iteration` may be used only in the value of a semaphore's wait or signal",
                       "expr.symbol");
      }
      return code_.push_back({Code::kIteration, 0});
    }
    const std::optional<SymbolId> symbol = symbol_(word);
    if (!symbol) {
      return fail_at(begin, "unknown symbol " + quoted(word), "expr.symbol");
    }
    code_.push_back({Code::kSymbol, index(*symbol)});
  }

  void call(Code code, std::size_t begin) {
    expect('(');
    sum();
    expect(',');
    sum();
    expect(')');
    emit_binary(code, begin);
  }

  bool ends_in_constant() const { return !code_.empty() && code_.back().code == Code::kPush; }

  // In postfix code two trailing constants are exactly the two operands.
  void emit_binary(Code code, std::size_t at) {
    if (error_) return;
    const bool both_constant =
        ends_in_constant() && code_.size() >= 2 && code_[code_.size() - 2].code == Code::kPush;
    if (!both_constant) return code_.push_back({code, 0});
    const std::int64_t right = code_.back().operand;
    code_.pop_back();
    const std::optional<std::int64_t> value = ExprPool::apply(code, code_.back().operand, right);
    if (!value) return fail_at(at, reason(code, right), "expr.overflow");
    code_.back().operand = *value;
  }

  void emit_negation(std::size_t at) {
    if (error_) return;
    if (!ends_in_constant()) return code_.push_back({Code::kNeg, 0});
    const auto value = ExprPool::apply(Code::kSub, 0, code_.back().operand);
    if (!value) return fail_at(at, reason(Code::kSub, 0), "expr.overflow");
    code_.back().operand = *value;
  }

  static std::string reason(Code code, std::int64_t right) {
    if ((code == Code::kDiv || code == Code::kMod) && right == 0) return "division by zero";
    if (code == Code::kAlign && right <= 0) return "align to a value below 1";
    return "the value does not fit in 64 bits";
  }

  std::string_view text_;
  bool allow_iteration_;
  const SymbolLookup& symbol_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  std::vector<ExprPool::Instruction> code_;
  std::optional<ExprPool::ParseError> error_;
};

Expr ExprPool::parse(std::string_view text, bool allow_iteration,
                     const std::function<std::optional<SymbolId>(std::string_view)>& symbol,
                     std::optional<ParseError>& error) {
  ExprParser parser(text, allow_iteration, symbol);
  const std::vector<Instruction> code = parser.run();
  error = std::move(parser.error());
  if (error) return {};
  if (code.size() == 1 && code.front().code == Code::kPush) return code.front().operand;
  Expr expr;
  expr.formula = static_cast<std::uint32_t>(formulas_.size());
  formulas_.push_back({code_.size(), texts_.size()});
  code_.insert(code_.end(), code.begin(), code.end());
  texts_ += text;
  return expr;
}

std::span<const ExprPool::Instruction> ExprPool::code(Expr expr) const {
  if (expr.is_constant()) return {};
  const std::size_t begin = formulas_[expr.formula].code_begin;
  const bool last = expr.formula + 1 == formulas_.size();
  const std::size_t end = last ? code_.size() : formulas_[expr.formula + 1].code_begin;
  return std::span(code_).subspan(begin, end - begin);
}

std::optional<std::int64_t> ExprPool::eval(Expr expr, const Valuation& valuation) const {
  if (expr.is_constant()) return expr.constant;
  std::array<std::int64_t, kStackSize> stack;  // NOLINT: written before it is read.
  std::size_t depth = 0;
  for (const Instruction& instruction : code(expr)) {
    switch (instruction.code) {
      case Code::kPush:
        stack[depth++] = instruction.operand;
        break;
      case Code::kSymbol:
        stack[depth++] = valuation.symbols[static_cast<std::size_t>(instruction.operand)];
        break;
      case Code::kIteration:
        stack[depth++] = valuation.iteration;
        break;
      case Code::kNeg:
        if (__builtin_sub_overflow(std::int64_t{0}, stack[depth - 1], &stack[depth - 1])) {
          return std::nullopt;
        }
        break;
      case Code::kAdd:
      case Code::kSub:
      case Code::kMul:
      case Code::kDiv:
      case Code::kMod:
      case Code::kMin:
      case Code::kMax:
      case Code::kAlign: {
        --depth;
        const auto value = apply(instruction.code, stack[depth - 1], stack[depth]);
        if (!value) return std::nullopt;
        stack[depth - 1] = *value;
        break;
      }
    }
    assert(depth < kStackSize);
  }
  return stack[0];
}

bool ExprPool::uses_iteration(Expr expr) const {
  return std::ranges::any_of(code(expr), [](const Instruction& instruction) {
    return instruction.code == Code::kIteration;
  });
}

std::vector<SymbolId> ExprPool::symbols(Expr expr) const {
  std::vector<SymbolId> found;
  for (const Instruction& instruction : code(expr)) {
    if (instruction.code != Code::kSymbol) continue;
    found.push_back(static_cast<SymbolId>(instruction.operand));
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<SymbolId> ExprPool::all_symbols() const {
  std::vector<SymbolId> found;
  for (std::uint32_t formula = 0; formula < formulas_.size(); ++formula) {
    Expr expr;
    expr.formula = formula;
    const std::vector<SymbolId> here = symbols(expr);
    found.insert(found.end(), here.begin(), here.end());
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string ExprPool::to_string(Expr expr) const {
  if (expr.is_constant()) return std::to_string(expr.constant);
  const std::size_t begin = formulas_[expr.formula].text_begin;
  const bool last = expr.formula + 1 == formulas_.size();
  const std::size_t end = last ? texts_.size() : formulas_[expr.formula + 1].text_begin;
  return texts_.substr(begin, end - begin);
}

}  // namespace memverify
