// Deciding all values of the symbols at once against going through them, on random plans whose
// sizes and offsets are expressions.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "tests/agreement/compare.h"
#include "tests/support/agreement.h"
#include "tests/support/describe_result.h"
#include "tests/support/random_plan.h"
#include "verify/symbol_search.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

/// An expression that comes to `value` for some values of the symbols.
std::string expression(std::int64_t value, Draw& draw, bool two) {
  const std::string v = std::to_string(value);
  const std::string s = two && draw.percent(40) ? "m" : "n";
  switch (draw.below(two ? 13 : 11)) {
    case 0:
      return v + " + " + s;
    case 1:
      return v + " * " + s + " / 2";
    case 2:
      return "max(" + v + ", " + s + " * 3)";
    case 3:
      return "min(" + v + ", " + s + " + 1)";
    case 4:
      return v + " + " + s + " % 3";
    case 5:
      return "align(" + v + " + " + s + ", 4)";
    case 6:
      return "max(0, " + v + " - " + s + ")";
    case 7:
      return v + " + " + s + " / 4";
    case 8:
      return s + " * 2";
    case 9:
      return v + " - " + s + " / 8";
    case 10:
      return v + " / (" + s + " + 1)";
    case 11:
      return "n * m";
    default:
      return v + " + n * (m % 2)";
  }
}

void vary(PlanJson& value, Draw& draw, bool two) {
  if (value.is_array()) {
    for (PlanJson& item : value) vary(item, draw, two);
  } else if (value.is_number_integer() && draw.percent(25)) {
    value = expression(value.get<std::int64_t>(), draw, two);
  }
}

/// Symbols, and numbers replaced by expressions over them.
void add_symbols(PlanJson& plan, Draw& draw) {
  const bool two = draw.percent(30);
  const auto symbol = [&](std::int64_t most) {
    PlanJson range = {{"min", draw.between(0, 2)}, {"max", draw.between(2, most)}};
    if (draw.percent(30)) range["multiple_of"] = draw.between(1, 2);
    return range;
  };
  plan["symbols"]["n"] = symbol(two ? 8 : 20);
  if (two) plan["symbols"]["m"] = symbol(6);
  for (const char* kind : {"pools", "storages", "tensors"}) {
    if (!plan.contains(kind)) continue;
    for (PlanJson& thing : plan[kind]) {
      for (const char* key : {"offset", "bytes", "shape", "strides"}) {
        if (thing.contains(key)) vary(thing[key], draw, two);
      }
    }
  }
  if (plan.contains("peak_bytes")) {
    for (PlanJson& claim : plan["peak_bytes"]) vary(claim, draw, two);
  }
  for (PlanJson& op : plan["ops"]) {
    for (const char* key : {"reads", "writes", "accumulates", "clobbers"}) {
      if (!op.contains(key)) continue;
      for (PlanJson& access : op[key]) {
        for (const char* field : {"offset", "bytes"}) {
          if (access.is_object() && access.contains(field)) vary(access[field], draw, two);
        }
      }
    }
    for (const char* key : {"waits", "signals"}) {
      if (!op.contains(key) || !draw.percent(20)) continue;
      for (PlanJson& entry : op[key]) {
        if (entry.contains("value")) vary(entry["value"], draw, two);
      }
    }
  }
}

EngineResult by_clocks(const Plan& plan) { return verify_happens_before(plan, {}); }

Plan at_value(Plan plan, SymbolId symbol, std::int64_t value) {
  plan.symbols[symbol].min = value;
  plan.symbols[symbol].max = value;
  plan.symbols[symbol].multiple_of = 1;
  return plan;
}

/// True iff some finding is the same as the one wanted ([S-51]).
bool shows(const EngineResult& result, const Finding& wanted) {
  const auto race = [](Rule rule) { return rule <= Rule::kWaw; };
  for (const Finding& f : result.findings) {
    if (f.rule != wanted.rule && !(race(f.rule) && race(wanted.rule))) continue;
    if (f.rule == Rule::kBoundary || wanted.ops.empty()) {
      if (f.ops.empty() != wanted.ops.empty() && f.rule != Rule::kBoundary) continue;
      if (f.tensors.empty() ? f.storages == wanted.storages && f.pool == wanted.pool
                            : !wanted.tensors.empty() && f.tensors[0] == wanted.tensors[0]) {
        return true;
      }
    } else if (f.rule == Rule::kDeadlock ? f.ops[0] == wanted.ops[0] : f.ops == wanted.ops) {
      return true;
    }
  }
  return false;
}

/// What is wrong with where the findings of a plan with one symbol are said to begin and to hold.
std::string wrong_values(const Plan& plan, const EngineResult& result) {
  for (const Finding& f : result.findings) {
    if (f.symbols.size() != 1 || info(f.rule).severity != Severity::kError) continue;
    const Symbol& symbol = plan.symbols[f.symbols[0].symbol];
    for (std::int64_t v = symbol.min; v <= *symbol.max; ++v) {
      if (v % symbol.multiple_of != 0) continue;
      const bool shown = shows(by_clocks(at_value(plan, f.symbols[0].symbol, v)), f);
      if (v < f.symbols[0].value && shown && f.rule > Rule::kWaw) {
        return "shown by less already: " + std::to_string(v);
      }
      if (!f.symbols_at_least.empty() && v >= f.symbols_at_least[0].value && !shown) {
        return "not shown by " + std::to_string(v);
      }
    }
  }
  return "";
}

/// Rows, columns and blocks of a matrix with symbolic rows, written and read by a few ops.
PlanJson matrix_plan(Draw& draw) {
  const std::vector<std::string> rows = {"n", "n + 1", "2 * n", "max(n, 3)", "n + n % 2"};
  const std::int64_t width = draw.between(3, 6);
  const std::string wide =
      draw.percent(70) ? std::to_string(width) : "n + " + std::to_string(width);
  const std::string high = draw.of(rows);
  PlanJson plan = {
      {"memverify", 1}, {"pools", {{{"id", "p"}}}}, {"queues", {{{"id", "q"}}, {{"id", "r"}}}}};
  plan["symbols"]["n"] = {{"min", 1}, {"max", draw.between(3, 20)}};
  plan["storages"] = {
      {{"id", "s"}, {"pool", "p"}, {"offset", 0}, {"bytes", "(" + high + ") * (" + wide + ")"}},
      {{"id", "t"},
       {"pool", "p"},
       {"offset", draw.percent(50) ? PlanJson("(" + high + ") * (" + wide + ")")
                                   : PlanJson(draw.between(4, 40))},
       {"bytes", 4}}};
  plan["tensors"] = {{{"id", "M"}, {"storage", "s"}, {"dtype", "u8"}, {"shape", {high, wide}}},
                     {{"id", "T"}, {"storage", "t"}, {"bytes", 4}}};
  std::vector<std::string> names = {"M", "T"};
  for (int k = 0; k < 4; ++k) {
    const std::int64_t column = draw.between(0, width - 1);
    const std::int64_t columns = draw.between(1, width - column);
    const std::int64_t row = draw.percent(60) ? 0 : draw.between(0, 1);
    const std::string here = draw.percent(60)   ? high
                             : draw.percent(40) ? "min(" + high + ", 4)"
                             : draw.percent(50) ? "n"
                                                : "max(1, n - 1)";
    const std::string offset =
        std::to_string(row) + " * (" + wide + ") + " + std::to_string(column);
    PlanJson view = {
        {"id", "v" + std::to_string(k)}, {"view_of", "M"}, {"offset", offset}, {"dtype", "u8"}};
    if (draw.percent(15)) {
      view["shape"] = {columns, here};
      view["strides"] = {1, wide};
    } else {
      view["shape"] = {here, columns};
      view["strides"] = {draw.percent(85) ? wide : "2 * (" + wide + ")", 1};
    }
    names.push_back(view["id"]);
    plan["tensors"].push_back(std::move(view));
  }
  plan["ops"] = PlanJson::array();
  for (int k = 0; k < 5; ++k) {
    PlanJson op = {{"id", "o" + std::to_string(k)}, {"queue", draw.percent(85) ? "q" : "r"}};
    if (draw.percent(k < 3 ? 80 : 30)) op["writes"] = {draw.of(names)};
    if (draw.percent(k < 2 ? 0 : 60) || !op.contains("writes")) op["reads"] = {draw.of(names)};
    if (k > 0 && draw.percent(60)) op["after"] = {"o" + std::to_string(k - 1)};
    plan["ops"].push_back(std::move(op));
  }
  return plan;
}

struct Tally {
  std::size_t compared = 0, safe = 0, unsafe = 0, decisions = 0;
  int differences = 0;
};

/// Counts the plan and says, as test failures, where the two ways to decide it differ.
void compare(const PlanJson& json, std::uint64_t seed, Tally& tally) {
  const std::optional<Plan> plan = plan_of(json);
  if (!plan) return;
  const EngineResult at_once = verify_all_symbols(*plan, {}, [&](const Plan& one) {
    ++tally.decisions;
    return by_clocks(one);
  });
  const EngineResult each = by_clocks(*plan);
  const std::string difference = disagreement(*plan, each, at_once) + wrong_values(*plan, at_once);
  ++tally.compared;
  tally.safe += each.verdict == Verdict::kSafe ? 1 : 0;
  tally.unsafe += each.verdict == Verdict::kUnsafe ? 1 : 0;
  tally.differences += difference.empty() ? 0 : 1;
  EXPECT_EQ(difference, "") << "seed " << seed << "\n"
                            << json.dump() << "\n"
                            << describe(*plan, each) << "\n"
                            << describe(*plan, at_once);
}

template <typename Make>
void compare_all(std::uint64_t seeds, Make make) {
  const std::uint64_t first = setting("MEMVERIFY_AGREEMENT_FIRST", 1);
  seeds = setting("MEMVERIFY_AGREEMENT_SEEDS", seeds);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + seeds && tally.differences < 3; ++seed) {
    Draw draw(seed * 7919);
    compare(make(seed, draw), seed, tally);
  }
  std::cout << tally.compared << " plans compared, " << tally.safe << " safe, " << tally.unsafe
            << " unsafe; " << tally.decisions << " values decided\n";
  EXPECT_GT(tally.compared, seeds / 4);
}

TEST(SymbolAgreement, EveryValueAtOnceIsEachValueByItself) {
  compare_all(100, [](std::uint64_t seed, Draw& draw) {
    PlanJson plan = random_mutated_plan(seed);
    add_symbols(plan, draw);
    return plan;
  });
}

TEST(SymbolAgreement, BlocksOfAMatrixOfAnyHeight) {
  compare_all(150, [](std::uint64_t, Draw& draw) { return matrix_plan(draw); });
}

}  // namespace
}  // namespace memverify::testing
