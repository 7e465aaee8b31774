// Deciding all values of the symbols at once against going through them, on random plans whose
// sizes and offsets are expressions.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/support/agreement.h"
#include "tests/support/describe_result.h"
#include "tests/support/random_plan.h"
#include "verify/symbol_search.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

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

TEST(SymbolAgreement, EveryValueAtOnceIsEachValueByItself) {
  const std::uint64_t first = setting("MEMVERIFY_AGREEMENT_FIRST", 1);
  const std::uint64_t seeds = setting("MEMVERIFY_AGREEMENT_SEEDS", 150);
  std::size_t compared = 0, unsafe = 0, safe = 0, decisions = 0, values = 0;
  int shown = 0;
  for (std::uint64_t seed = first; seed < first + seeds && shown < 3; ++seed) {
    PlanJson json = random_mutated_plan(seed);
    Draw draw(seed * 7919);
    add_symbols(json, draw);
    const std::optional<Plan> plan = plan_of(json);
    if (!plan) continue;
    std::size_t here = 0;
    const EngineResult at_once = verify_all_symbols(*plan, {}, [&](const Plan& one) {
      ++here;
      return by_clocks(one);
    });
    const EngineResult each = by_clocks(*plan);
    const std::string difference =
        disagreement(*plan, each, at_once) + wrong_values(*plan, at_once);
    ++compared;
    decisions += here;
    for (const SymbolId id : ids(plan->symbols)) {
      values += static_cast<std::size_t>((*plan->symbols[id].max - plan->symbols[id].min) /
                                         plan->symbols[id].multiple_of);
    }
    (each.verdict == Verdict::kSafe ? safe : unsafe) += each.verdict != Verdict::kUnknown ? 1 : 0;
    EXPECT_EQ(difference, "") << "seed " << seed << "\n"
                              << json.dump() << "\n"
                              << describe(*plan, each) << "\n"
                              << describe(*plan, at_once);
    shown += difference.empty() ? 0 : 1;
  }
  std::cout << compared << " plans compared, " << safe << " safe, " << unsafe << " unsafe; "
            << decisions << " values decided\n";
  EXPECT_GT(compared, seeds / 4);
}

}  // namespace
}  // namespace memverify::testing
