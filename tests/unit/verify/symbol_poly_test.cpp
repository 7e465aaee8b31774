#include "verify/symbol_poly.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "plan/reader.h"

namespace memverify {
namespace {

Plan plan_with_symbols() {
  Result<Plan> plan = read_plan(R"({"memverify": 1,
    "symbols": {"n": {"min": 1, "max": 9}, "m": {"min": -7, "max": 12, "multiple_of": 3}, "s": {}},
    "pools": [{"id": "p"}], "queues": [{"id": "q"}], "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}], "ops": [{"id": "o", "queue": "q", "writes": ["t"]}]})",
                                "test.json");
  return std::move(plan).value();
}

constexpr SymbolId kN{0}, kM{1}, kS{2};

TEST(Polys, SumsOfTheSameSizesCancel) {
  const Plan plan = plan_with_symbols();
  smt::Terms terms;
  Polys p(plan, terms);
  const Poly n = p.symbol(kN);
  const Poly s = p.symbol(kS);
  const Poly product = p.multiply(n, s);
  EXPECT_TRUE(p.subtract(p.add(product, n), p.add(n, p.multiply(s, n))).empty());
  EXPECT_TRUE(terms.is_true(p.at_most_zero(p.subtract(product, p.add(product, s)))));
  EXPECT_TRUE(terms.is_false(p.at_most_zero(n)));
  EXPECT_TRUE(terms.is_true(p.at_most_zero(p.subtract(n, Polys::number(9)))));
}

TEST(Polys, AlignedIsNotBelowWhatItAligns) {
  const Plan plan = plan_with_symbols();
  smt::Terms terms;
  Polys p(plan, terms);
  const Poly s = p.multiply(p.symbol(kS), Polys::number(24));
  const Poly gap = p.modulo(p.subtract({}, s), Polys::number(64));
  EXPECT_TRUE(terms.is_true(p.at_most_zero(p.subtract(s, p.add(s, gap)))));
  EXPECT_EQ(Polys::constant(p.modulo(p.add(s, gap), Polys::number(32))), Wide{0});
  EXPECT_EQ(Polys::constant(p.modulo(s, Polys::number(8))), Wide{0});
  EXPECT_EQ(p.divide(s, Polys::number(8)), p.multiply(p.symbol(kS), Polys::number(3)));
  EXPECT_EQ(Polys::constant(p.modulo(p.symbol(kM), Polys::number(3))), Wide{0});
}

Wide floor_div(Wide a, Wide b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

TEST(Polys, ValuesAndBoundsAreThoseOfTheExpression) {
  const Plan plan = plan_with_symbols();
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    smt::Terms terms;
    Polys p(plan, terms);
    const std::vector<std::int64_t> symbols{1 + static_cast<std::int64_t>(random() % 9),
                                            -6 + 3 * static_cast<std::int64_t>(random() % 7),
                                            static_cast<std::int64_t>(random() % 50)};
    ASSERT_TRUE(p.assign(symbols));
    std::vector<std::pair<Poly, Wide>> known{{p.symbol(kN), symbols[0]},
                                             {p.symbol(kM), symbols[1]},
                                             {p.symbol(kS), symbols[2]},
                                             {Polys::number(5), 5},
                                             {Polys::number(-3), -3}};
    for (int step = 0; step < 8; ++step) {
      const auto [a, x] = known[random() % known.size()];
      const auto [b, y] = known[random() % known.size()];
      switch (random() % 7) {
        case 0:
          known.emplace_back(p.add(a, b), x + y);
          break;
        case 1:
          known.emplace_back(p.subtract(a, b), x - y);
          break;
        case 2:
          if (step < 4) known.emplace_back(p.multiply(a, b), x * y);
          break;
        case 3:
          if (y != 0) known.emplace_back(p.divide(a, b), floor_div(x, y));
          break;
        case 4:
          if (y != 0) known.emplace_back(p.modulo(a, b), x - y * floor_div(x, y));
          break;
        case 5:
          known.emplace_back(p.least(a, b), std::min(x, y));
          break;
        default:
          known.emplace_back(p.greatest(a, b), std::max(x, y));
          break;
      }
      const auto& [poly, value] = known.back();
      ASSERT_EQ(p.value(poly), value);
      const Bounds bounds = p.bounds(poly);
      EXPECT_LE(bounds.low.value_or(value), value);
      EXPECT_GE(bounds.high.value_or(value), value);
      const std::vector<smt::Bool> roots{p.at_most_zero(poly), p.is_zero(poly)};
      const auto last = [&](SymbolId id) {
        return static_cast<std::int64_t>((symbols[index(id)] - p.symbol_value(id, 0)) /
                                         (id == kM ? 3 : 1));
      };
      const smt::Assignment assigned{{p.variable(kN).id, last(kN)},
                                     {p.variable(kM).id, last(kM)},
                                     {p.variable(kS).id, last(kS)}};
      const auto values = terms.evaluate(assigned, roots);
      ASSERT_TRUE(values);
      EXPECT_EQ((*values)[roots[0].id] != 0, value <= 0);
      EXPECT_EQ((*values)[roots[1].id] != 0, value == 0);
    }
  }
}

}  // namespace
}  // namespace memverify
