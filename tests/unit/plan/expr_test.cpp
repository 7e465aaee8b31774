#include "plan/expr.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>
#include <string>
#include <tuple>

namespace memverify {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::optional<SymbolId> symbol(std::string_view name) {
  if (name == "n") return SymbolId{0};
  if (name == "m") return SymbolId{1};
  return std::nullopt;
}

const Valuation kValues{.symbols = {13, -3}, .iteration = 5};

std::optional<std::int64_t> value_of(std::string_view text) {
  ExprPool pool;
  std::optional<ExprPool::ParseError> error;
  const Expr expr = pool.parse(text, true, symbol, error);
  EXPECT_FALSE(error) << text << ": " << error->message;
  return pool.eval(expr, kValues);
}

ExprPool::ParseError error_of(std::string_view text, bool allow_iteration = false) {
  ExprPool pool;
  std::optional<ExprPool::ParseError> error;
  const Expr expr = pool.parse(text, allow_iteration, symbol, error);
  EXPECT_TRUE(error) << text;
  EXPECT_TRUE(expr.is_constant());
  EXPECT_EQ(expr.constant, 0);
  return error.value_or(ExprPool::ParseError{});
}

TEST(Expr, FollowsTheUsualPrecedence) {
  EXPECT_EQ(value_of("2+3*4"), 14);
  EXPECT_EQ(value_of("(2+3)*4"), 20);
  EXPECT_EQ(value_of("20-3-4"), 13);
  EXPECT_EQ(value_of("100/7/2"), 7);
  EXPECT_EQ(value_of("-n*2"), -26);
  EXPECT_EQ(value_of("- - n"), 13);
  EXPECT_EQ(value_of(" n\t*\n iteration "), 65);
}

TEST(Expr, DividesTowardsMinusInfinity) {
  EXPECT_EQ(value_of("(0-7)/2"), -4);
  EXPECT_EQ(value_of("7/(0-2)"), -4);
  EXPECT_EQ(value_of("(0-7)%2"), 1);
  EXPECT_EQ(value_of("7%(0-2)"), -1);
  EXPECT_EQ(value_of("n/m"), -5);
  EXPECT_EQ(value_of("n%m"), -2);
  EXPECT_EQ(value_of("-9223372036854775808 % (m + 2)"), 0);
}

TEST(Expr, AlignsUpwards) {
  EXPECT_EQ(value_of("align(n, 8)"), 16);
  EXPECT_EQ(value_of("align(16, 8)"), 16);
  EXPECT_EQ(value_of("align(m, 8)"), 0);
  EXPECT_EQ(value_of("align(0-8, 8)"), -8);
  EXPECT_EQ(value_of("min(n, m) + max(n, m)"), 10);
}

TEST(Expr, FoldsConstants) {
  ExprPool pool;
  std::optional<ExprPool::ParseError> error;
  for (const std::string_view text : {"4096", "4*1024", "align(4090, 2*4)", "--4096"}) {
    const Expr expr = pool.parse(text, false, symbol, error);
    ASSERT_FALSE(error) << text;
    EXPECT_TRUE(expr.is_constant()) << text;
    EXPECT_EQ(expr.constant, 4096) << text;
  }
  EXPECT_EQ(pool.size(), 0U);
}

TEST(Expr, HoldsEveryInteger) {
  EXPECT_EQ(value_of("9223372036854775807"), kMax);
  EXPECT_EQ(value_of("-9223372036854775808"), kMin);
  EXPECT_EQ(ExprPool().to_string(kMin), "-9223372036854775808");
  EXPECT_EQ(error_of("9223372036854775808").id, "expr.overflow");
}

TEST(Expr, SaysWhatIsWrongAndWhere) {
  const auto expect = [](std::string_view text, std::string_view id, std::size_t offset) {
    const ExprPool::ParseError error = error_of(text);
    EXPECT_EQ(error.id, id) << text;
    EXPECT_EQ(error.offset, offset) << text << ": " << error.message;
    EXPECT_FALSE(error.message.empty()) << text;
  };
  expect("", "expr.syntax", 0);
  expect("n +", "expr.syntax", 3);
  expect("n n", "expr.syntax", 2);
  expect("(n", "expr.syntax", 2);
  expect("min(n)", "expr.syntax", 5);
  expect("min", "expr.syntax", 3);
  expect("12k", "expr.syntax", 0);
  expect("1.5", "expr.syntax", 0);
  expect("n*q", "expr.symbol", 2);
  expect("n + iteration", "expr.symbol", 4);
  expect("n * (1/0)", "expr.overflow", 6);
  expect("1%0", "expr.overflow", 1);
  expect("align(3, 0)", "expr.overflow", 0);
  expect("4611686018427387904*2", "expr.overflow", 19);
  expect("-(0-9223372036854775807-1)", "expr.overflow", 0);
}

TEST(Expr, LimitsItsNesting) {
  EXPECT_EQ(value_of(std::string(190, '(') + "n" + std::string(190, ')')), 13);
  EXPECT_EQ(error_of(std::string(100'000, '(')).id, "expr.syntax");
  EXPECT_EQ(error_of(std::string(100'000, '-')).id, "expr.syntax");
}

TEST(Expr, HasStackForTheDeepestNesting) {
  std::string text;
  for (int i = 0; i < 199; ++i) text += "n + 2 * min(n, ";
  EXPECT_EQ(value_of(text + "m" + std::string(199, ')')), 39);
}

TEST(Expr, EvaluatesToNothingWhenTheValueDoesNotFit) {
  EXPECT_EQ(value_of("n*9223372036854775807"), std::nullopt);
  EXPECT_EQ(value_of("n/(m+3)"), std::nullopt);
  EXPECT_EQ(value_of("n%(m+3)"), std::nullopt);
  EXPECT_EQ(value_of("align(n, m)"), std::nullopt);
  EXPECT_EQ(value_of("-(m - 9223372036854775805)"), std::nullopt);
  EXPECT_EQ(value_of("(m - 9223372036854775805)/(m+2)"), std::nullopt);
}

TEST(Expr, KnowsWhatItMentions) {
  ExprPool pool;
  std::optional<ExprPool::ParseError> error;
  const Expr first = pool.parse("m*n + m", true, symbol, error);
  const Expr second = pool.parse("iteration % 2", true, symbol, error);
  EXPECT_EQ(pool.symbols(first), (std::vector<SymbolId>{SymbolId{0}, SymbolId{1}}));
  EXPECT_TRUE(pool.symbols(second).empty());
  EXPECT_TRUE(pool.symbols(7).empty());
  EXPECT_FALSE(pool.uses_iteration(first));
  EXPECT_TRUE(pool.uses_iteration(second));
  EXPECT_EQ(pool.to_string(first), "m*n + m");
  EXPECT_EQ(pool.to_string(second), "iteration % 2");
}

// --- Against an evaluator that walks a tree with 128-bit intermediate values ---

__extension__ using Wide = __int128;

struct Tree {
  std::string op;  // "" for a leaf.
  std::string leaf;
  std::int64_t leaf_value = 0;
  std::unique_ptr<Tree> left, right;
};

std::unique_ptr<Tree> random_tree(std::mt19937& random, int depth) {
  auto tree = std::make_unique<Tree>();
  const auto pick = [&](std::uint32_t count) { return random() % count; };
  if (depth == 0 || pick(4) == 0) {
    const std::int64_t constants[] = {0, 1, 2, 7, 64, 4096, std::int64_t{1} << 31, kMax};
    if (pick(2) == 0) {
      tree->leaf_value = constants[pick(8)];
      tree->leaf = std::to_string(tree->leaf_value);
    } else {
      const int which = static_cast<int>(pick(3));
      tree->leaf = which == 0 ? "n" : which == 1 ? "m" : "iteration";
      tree->leaf_value =
          which == 2 ? kValues.iteration : kValues.symbols[static_cast<size_t>(which)];
    }
    return tree;
  }
  const char* ops[] = {"+", "-", "*", "/", "%", "min", "max", "align", "neg"};
  tree->op = ops[pick(9)];
  tree->left = random_tree(random, depth - 1);
  if (tree->op != "neg") tree->right = random_tree(random, depth - 1);
  return tree;
}

std::string text_of(const Tree& tree) {
  if (tree.op.empty()) return tree.leaf;
  const std::string left = text_of(*tree.left);
  if (tree.op == "neg") return "(-(" + left + "))";
  const std::string right = text_of(*tree.right);
  if (tree.op.size() > 1) return tree.op + "(" + left + "," + right + ")";
  return "(" + left + tree.op + right + ")";
}

Wide floor_div(Wide a, Wide b) {
  Wide quotient = a / b;
  while (quotient * b != a && (quotient * b > a) == (b > 0)) quotient -= 1;
  return quotient;
}

std::optional<std::int64_t> walk(const Tree& tree) {
  if (tree.op.empty()) return tree.leaf_value;
  const auto left = walk(*tree.left);
  const auto right = tree.right ? walk(*tree.right) : std::optional<std::int64_t>(0);
  if (!left || !right) return std::nullopt;
  const Wide a = *left;
  const Wide b = *right;
  Wide result = 0;
  if (tree.op == "+") result = a + b;
  if (tree.op == "-") result = a - b;
  if (tree.op == "*") result = a * b;
  if (tree.op == "neg") result = -a;
  if (tree.op == "min") result = a < b ? a : b;
  if (tree.op == "max") result = a > b ? a : b;
  if (tree.op == "/" || tree.op == "%") {
    if (b == 0) return std::nullopt;
    result = tree.op == "/" ? floor_div(a, b) : a - floor_div(a, b) * b;
  }
  if (tree.op == "align") {
    if (b <= 0) return std::nullopt;
    result = -floor_div(-a, b) * b;
  }
  if (result > kMax || result < kMin) return std::nullopt;
  return static_cast<std::int64_t>(result);
}

TEST(Expr, AgreesWithATreeWalk) {
  std::mt19937 random(20240611);
  int defined = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::unique_ptr<Tree> tree = random_tree(random, 4);
    const std::string text = text_of(*tree);
    const std::optional<std::int64_t> expected = walk(*tree);
    ExprPool pool;
    std::optional<ExprPool::ParseError> error;
    const Expr expr = pool.parse(text, true, symbol, error);
    if (error) {
      // Only a constant part without a value may be refused.
      ASSERT_EQ(error->id, "expr.overflow") << text;
      ASSERT_EQ(expected, std::nullopt) << text;
      continue;
    }
    ASSERT_EQ(pool.eval(expr, kValues), expected) << text;
    ASSERT_TRUE(expr.is_constant() || pool.to_string(expr) == text) << text;
    defined += expected ? 1 : 0;
  }
  EXPECT_GT(defined, 5'000);
}

std::optional<Trend> trend_of(std::string_view text) {
  ExprPool pool;
  std::optional<ExprPool::ParseError> error;
  const Expr expr = pool.parse(text, true, symbol, error);
  EXPECT_FALSE(error) << text;
  return pool.trend(expr, kValues);
}

TEST(Expr, ATrendIsTheLineThatAValueFollowsInTheEnd) {
  const auto expect = [](std::string_view text, const Trend& line) {
    const std::optional<Trend> found = trend_of(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(std::tuple(found->value, found->slope, found->from),
              std::tuple(line.value, line.slope, line.from))
        << text;
  };
  expect("7", {7, 0, 0});
  expect("2 * iteration + n", {13, 2, 0});
  expect("max(iteration - 2, 0)", {-2, 1, 2});
  expect("min(iteration, 5) / 2", {2, 0, 5});
  expect("max(3 * iteration, iteration + 7)", {0, 3, 4});
  EXPECT_FALSE(trend_of("iteration % 3"));
  EXPECT_FALSE(trend_of("iteration * iteration"));
  EXPECT_FALSE(trend_of("iteration * 4611686018427387904 * 4"));
}

TEST(Expr, AValueKeepsToItsTrend) {
  std::mt19937 random(20240612);
  int lines = 0;
  for (int k = 0; k < 5'000; ++k) {
    const std::string text = text_of(*random_tree(random, 4));
    ExprPool pool;
    std::optional<ExprPool::ParseError> error;
    const Expr expr = pool.parse(text, true, symbol, error);
    if (error) continue;
    const std::optional<Trend> line = pool.trend(expr, kValues);
    if (!line || line->from > 1'000'000) continue;
    lines += line->slope != 0 ? 1 : 0;
    Valuation there = kValues;
    for (std::int64_t i = line->from; i < line->from + 20; ++i) {
      there.iteration = i;
      const std::optional<std::int64_t> value = pool.eval(expr, there);
      if (!value) continue;
      ASSERT_EQ(*value, line->value + line->slope * i) << text << " at " << i;
    }
  }
  EXPECT_GT(lines, 200);
}

}  // namespace
}  // namespace memverify
