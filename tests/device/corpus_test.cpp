// The corpus on host threads: what the engines call unsafe fails under directed replay of its run,
// every time; what they call safe stays clean; and whatever a run shows, the engines say too.
// MEMVERIFY_DEVICE_REPLAYS and MEMVERIFY_DEVICE_RUNS ask for more.
#include "device/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cuda_check/check.h"
#include "cuda_check/threads_device.h"
#include "sim/simulate.h"
#include "support/random_plan.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using device::CheckOptions;
using device::CheckResult;
using device::DelayKind;
using device::Job;
using device::Shown;

std::uint64_t asked(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

CheckOptions options_for(std::uint64_t runs, DelayKind delays) {
  return {.runs = runs,
          .delays = delays,
          .longest = device::Microseconds(20),
          .make = [](const Job& job) { return device::make_threads_device(job, 2); }};
}

std::string told(const Plan& plan, const Finding& finding) {
  std::string text(info(finding.rule).id);
  for (const OpId op : finding.ops) text += " " + std::string(plan.ops[op].name);
  for (const TensorId t : finding.tensors) {
    if (t != kNone<TensorId>) text += " " + std::string(plan.tensors[t].name);
  }
  return text + ": " + finding.message;
}

std::string all_shown(const Plan& plan, const CheckResult& result) {
  std::string text;
  for (const Shown& shown : result.shown) {
    text += "\n  " + told(plan, shown.finding) + " [" + shown.seen + "]";
  }
  return text;
}

/// An engine says the same of the same ops; or, of a wrong value, that somebody races there: then
/// it does not ask for values ([S-52]), while this run may not have shown the race.
bool is_known(const Finding& shown, const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    if (shown.rule == Rule::kDeadlock) return finding.rule == Rule::kDeadlock;
    if (finding.rule == Rule::kNotProven) return true;
    const bool is_value = shown.rule == Rule::kWrongVersion || shown.rule == Rule::kBoundary;
    const bool is_of_both = std::ranges::any_of(
        finding.ops, [&](OpId op) { return std::ranges::find(shown.ops, op) != shown.ops.end(); });
    const bool is_there = finding.pool == shown.pool && finding.bytes.begin < shown.bytes.end &&
                          shown.bytes.begin < finding.bytes.end;
    if (is_value && is_race(finding.rule) && (is_there || is_of_both)) return true;
    const bool is_rule = finding.rule == shown.rule ||
                         std::ranges::find(finding.also, shown.rule) != finding.also.end();
    return is_rule && device::is_about_the_same(finding, shown);
  });
}

EngineResult engine_says(const Plan& plan) {
  EngineResult result = verify_happens_before(plan, {});
  const bool open = std::ranges::any_of(
      result.findings, [](const Finding& f) { return f.rule == Rule::kNotProven; });
  if (!open || !plan.iterations) return result;
  SimStats stats;
  return simulate(plan, {.reduction = Reduction::kClasses, .max_states = 100'000}, stats);
}

/// Runs which `finding` was seen in.
std::uint64_t runs_that_show(const CheckResult& result, const Finding& finding) {
  std::uint64_t runs = 0;
  for (const Shown& one : result.shown) {
    CheckResult alone;
    alone.shown.push_back(one);
    if (device::shows(alone, finding)) runs = std::max(runs, one.runs);
  }
  return runs;
}

/// Follows the run of every finding; how many there were.
std::size_t replay_all(const Plan& plan, std::uint64_t replays) {
  std::size_t followed = 0;
  const EngineResult engine = engine_says(plan);
  for (const Finding& finding : engine.findings) {
    if (finding.witness.empty()) continue;
    const auto result =
        device::check_witness(plan, finding, options_for(replays, DelayKind::kUniform));
    if (!result.ok()) {
      ADD_FAILURE() << told(plan, finding) << "\n" << to_string(result.errors().front());
      continue;
    }
    ++followed;
    EXPECT_EQ(result.value().steps_done, result.value().steps) << told(plan, finding);
    EXPECT_EQ(runs_that_show(result.value(), finding), replays)
        << told(plan, finding) << all_shown(plan, result.value());
    for (const Shown& other : result.value().shown) {
      EXPECT_TRUE(is_known(other.finding, engine.findings))
          << "unknown to the engine: " << told(plan, other.finding) << " [" << other.seen << "]";
    }
  }
  return followed;
}

TEST(Corpus, EveryRunOfAFindingShowsItEveryTime) {
  std::size_t followed = 0;
  for (const auto& [name, plan] : device_test::corpus(".unsafe.json")) {
    SCOPED_TRACE(name);
    followed += replay_all(plan, asked("MEMVERIFY_DEVICE_REPLAYS", 3));
  }
  EXPECT_GT(followed, 150U);
}

TEST(RandomPlans, ShowOnTheDeviceWhatTheEnginesSay) {
  std::size_t followed = 0;
  std::size_t clean = 0;
  const std::uint64_t seeds = asked("MEMVERIFY_DEVICE_SEEDS", 400);
  std::vector<std::uint64_t> all(seeds);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  all.insert(all.end(), {662, 1086});  // An update of bytes without a value; a constant as output.
  for (const std::uint64_t seed : all) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto json = memverify::testing::random_mutated_plan(seed);
    const std::optional<Plan> plan = testing::plan_of(json);
    if (!plan || !plan->iterations) continue;
    followed += replay_all(*plan, 2);
    if (engine_says(*plan).verdict == Verdict::kSafe) {
      const auto result = device::check(*plan, options_for(3, DelayKind::kAdversarial));
      ASSERT_TRUE(result.ok()) << to_string(result.errors().front());
      EXPECT_EQ(result.value().clean, 3U) << all_shown(*plan, result.value());
      ++clean;
    }
    if (HasFailure()) {
      std::cerr << json.dump() << "\n";
      return;
    }
  }
  EXPECT_GT(followed, seeds / 4);
  EXPECT_GT(clean, seeds / 8);
}

TEST(Corpus, SafePlansStayClean) {
  const std::uint64_t runs = asked("MEMVERIFY_DEVICE_RUNS", 20);
  std::size_t plans = 0;
  for (const auto& [name, plan] : device_test::corpus(".safe.json")) {
    SCOPED_TRACE(name);
    const DelayKind kinds[] = {DelayKind::kUniform, DelayKind::kPerQueue, DelayKind::kAdversarial};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint64_t share = runs / 3 + (k < runs % 3 ? 1 : 0);
      const auto result = device::check(plan, options_for(share, kinds[k]));
      if (!result.ok()) {
        ADD_FAILURE() << to_string(result.errors().front());
        continue;
      }
      EXPECT_EQ(result.value().clean, share) << all_shown(plan, result.value());
    }
    ++plans;
  }
  EXPECT_GT(plans, 150U);
}

TEST(Corpus, WhatARunShowsTheEnginesSayToo) {
  std::size_t caught = 0;
  for (const auto& [name, plan] : device_test::corpus(".unsafe.json")) {
    SCOPED_TRACE(name);
    const EngineResult engine = engine_says(plan);
    const auto result = device::check(plan, options_for(6, DelayKind::kAdversarial));
    if (!result.ok()) continue;
    caught += result.value().shown.empty() ? 0 : 1;
    for (const Shown& shown : result.value().shown) {
      EXPECT_TRUE(is_known(shown.finding, engine.findings))
          << told(plan, shown.finding) << " [" << shown.seen << "]";
    }
  }
  EXPECT_GT(caught, 80U);
}

/// How much of what directed replay shows every time is seen by chance. Prints the table of
/// docs/device.md.
TEST(Corpus, ChanceFindsLessThanDirection) {
  const std::uint64_t runs = asked("MEMVERIFY_DEVICE_TABLE", 8);
  std::cout << "| delays | plans found, of all | share of runs |\n| --- | --- | --- |\n";
  for (const DelayKind kind :
       {DelayKind::kUniform, DelayKind::kPerQueue, DelayKind::kAdversarial}) {
    std::size_t plans = 0;
    std::size_t found = 0;
    std::uint64_t failing = 0;
    for (const auto& [name, plan] : device_test::corpus(".unsafe.json")) {
      const EngineResult engine = engine_says(plan);
      const bool is_racy = std::ranges::any_of(
          engine.findings, [](const Finding& finding) { return is_race(finding.rule); });
      if (!is_racy) continue;
      const auto result = device::check(plan, options_for(runs, kind));
      ASSERT_TRUE(result.ok()) << name;
      ++plans;
      found += result.value().shown.empty() ? 0 : 1;
      failing += result.value().runs - result.value().clean;
    }
    std::cout << "| " << device::name(kind) << " | " << found << " of " << plans << " | "
              << 100 * failing / (plans * runs) << " % |\n";
    EXPECT_GT(plans, 100U);
    EXPECT_GT(found, plans / 2);
    EXPECT_LT(failing, plans * runs);
  }
}

}  // namespace
}  // namespace memverify
