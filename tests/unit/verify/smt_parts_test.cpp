// Questions divided among solvers and threads: what the parts of a plan are, that the result does
// not depend on the threads, and that errors come through.
#include "verify/smt_parts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "sim/replay.h"
#include "tests/support/describe_result.h"
#include "tests/support/random_plan.h"
#include "verify/cases.h"
#include "verify/in_turn.h"
#include "verify/smt_ask.h"
#include "verify/smt_term.h"
#include "verify/smt_verify.h"

namespace memverify {
namespace {

/// Writers of tensor `X<lock>`, each while it holds `lock`, of which there are `permits`.
struct Lock {
  std::string name;
  int takers = 0;
  int permits = 1;
  std::string when;
};

Plan plan_with(const std::vector<Lock>& locks, const std::string& more_ops = "",
               const std::string& rest = "") {
  std::ostringstream storages;
  std::ostringstream tensors;
  std::ostringstream semaphores;
  std::ostringstream ops;
  const char* comma = "";
  std::size_t offset = 0;
  for (const Lock& lock : locks) {
    storages << comma << R"({"id": "s)" << lock.name
             << R"(", "pool": "hbm", "bytes": 64, "offset": )" << offset << "}";
    tensors << comma << R"({"id": "X)" << lock.name << R"(", "storage": "s)" << lock.name
            << R"(", "bytes": 64})";
    semaphores << comma << R"({"id": "n)" << lock.name << R"(", "initial": )" << lock.permits
               << "}";
    for (int k = 0; k < lock.takers; ++k) {
      ops << comma << R"({"id": "w)" << lock.name << k << R"(", "queue": "pool", "writes": ["X)"
          << lock.name << R"("], "waits": [{"semaphore": "n)" << lock.name
          << R"(", "consume": true}], "signals": [{"semaphore": "n)" << lock.name << R"("}])"
          << lock.when << "}";
      comma = ", ";
    }
    offset += 64;
  }
  const std::string text =
      R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "q"}, {"id": "r"},
          {"id": "pool", "order": "none"}], "conditions": ["c"], "storages": [)" +
      storages.str() + R"(], "tensors": [)" + tensors.str() + R"(], "semaphores": [)" +
      semaphores.str() + R"(], "ops": [)" + ops.str() + more_ops + "]" + rest + "}";
  Result<Plan> plan = read_plan(text, "test.json");
  if (!plan.ok()) ADD_FAILURE() << plan.errors().front().message << "\n" << text;
  return std::move(plan).value();
}

/// By part: how many questions, and whether it is asked about a deadlock.
std::string parts_of(const Plan& plan) {
  const Result<Layout> layout = Layout::make(plan, SymbolCases(plan).corners().front());
  smt::Encoding encoding(plan, layout.value(), 1, true, {}, smt::Shortcuts::kKnownOrder);
  std::string text;
  for (const smt::Part& part :
       smt::split(encoding.program, *encoding.order, *encoding.bytes, encoding.solver.terms(),
                  encoding.solver.required(), encoding.questions, 0)) {
    const std::uint32_t last = part.questions.back().number;
    const bool deadlock = encoding.questions.all[last].kind == smt::Question::Kind::kDeadlock;
    text += (text.empty() ? "" : ", ") + std::to_string(part.commands.size()) + " ops " +
            std::to_string(part.questions.size()) + (deadlock ? " with deadlock" : "");
  }
  return text;
}

TEST(SmtParts, EachLockIsOneThoughConditionsAreShared) {
  const std::string when = R"(, "when": {"c": true})";
  EXPECT_EQ(parts_of(plan_with({{"a", 3, 1, when}, {"b", 4, 1, when}})),
            "3 ops 4 with deadlock, 4 ops 7 with deadlock");
}

TEST(SmtParts, AnOrderBetweenTwoMakesThemOne) {
  EXPECT_EQ(parts_of(plan_with({{"a", 3}, {"b", 4}},
                               R"(, {"id": "j", "queue": "q", "after": ["wa0", "wb0"]})")),
            "8 ops 10 with deadlock");
}

TEST(SmtParts, BytesThatTwoTouchWithoutAnOrderMakeThemOne) {
  EXPECT_EQ(parts_of(plan_with({{"a", 2}, {"b", 2}},
                               R"(, {"id": "u", "queue": "pool", "writes": ["Xa"],
                                     "waits": [{"semaphore": "nb", "consume": true}]})")),
            "5 ops 5 with deadlock");
}

/// Signals alone: whoever waits for them goes on, whatever the conditions.
TEST(SmtParts, WhereNobodyTakesAndEnoughAlwaysComesThereIsNoDeadlock) {
  const std::string ops = R"({"id": "a", "queue": "q", "signals": [{"semaphore": "n"}]},
      {"id": "b", "queue": "q", "signals": [{"semaphore": "n"}], "when": {"c": true}},
      {"id": "d", "queue": "r", "waits": [{"semaphore": "n", "value": )";
  const std::string semaphore = R"(, "semaphores": [{"id": "n"}])";
  const auto verdict = [&](int value) {
    const std::string text = R"({"memverify": 1, "queues": [{"id": "q"}, {"id": "r"}],
        "conditions": ["c"], "ops": [)" +
                             ops + std::to_string(value) + "}]}]" + semaphore + "}";
    const Result<Plan> plan = read_plan(text, "test.json");
    EXPECT_TRUE(plan.ok()) << plan.errors().front().message;
    const Result<Layout> layout = Layout::make(plan.value(), {});
    smt::Encoding encoding(plan.value(), layout.value(), 1, true, {}, smt::Shortcuts::kKnownOrder);
    return std::to_string(encoding.questions.all.size()) + " asked, " +
           std::string(name(verify_smt(plan.value(), {.first_steps = 0}).verdict));
  };
  EXPECT_EQ(verdict(1), "0 asked, safe");
  EXPECT_EQ(verdict(2), "1 asked, unsafe");  // Without b there is one signal.
}

// ---- threads ------------------------------------------------------------------------------------

/// Everything that `result` says.
std::string all_of(const Plan& plan, const EngineResult& result) {
  std::ostringstream text;
  text << testing::describe(plan, result) << result.stats.ops << " " << result.stats.pairs_checked
       << " " << result.stopped_at_max_findings << "\n";
  for (const Finding& f : result.findings) {
    text << f.message << f.help << f.bytes.begin << ":" << f.bytes.end;
    for (const std::int64_t i : f.iteration) text << " @" << i;
    for (const Step& s : f.witness) text << " " << s.complete << index(s.op) << "." << s.iteration;
    for (const ConditionValue& c : f.when) text << " " << index(c.condition) << c.value;
    for (const SymbolValue& s : f.symbols) text << " " << index(s.symbol) << "=" << s.value;
    text << "\n";
  }
  return text.str();
}

/// The same on one, two and four threads; how it is, on two.
EngineResult on_any_number(const Plan& plan, SmtOptions options = {.first_steps = 0}) {
  options.threads = 2;
  const EngineResult two = verify_smt(plan, options);
  for (const std::size_t threads : {1U, 4U}) {
    options.threads = threads;
    EXPECT_EQ(all_of(plan, verify_smt(plan, options)), all_of(plan, two)) << threads;
  }
  return two;
}

std::string rules(const EngineResult& result) {
  std::string text;
  for (const Finding& finding : result.findings) {
    text += (text.empty() ? "" : " ") + std::string(info(finding.rule).id);
  }
  return text;
}

TEST(SmtThreads, RandomPlansAreDecidedAlike) {
  std::size_t looked_at = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::optional<Plan> plan = testing::plan_of(testing::random_mutated_plan(seed));
    if (!plan) continue;
    SCOPED_TRACE(seed);
    const EngineResult result = on_any_number(*plan);
    EXPECT_EQ(result.verdict, verify_smt(*plan, {}).verdict);
    ++looked_at;
  }
  EXPECT_GT(looked_at, 40U);
}

TEST(SmtThreads, PlansOfTheCorpusAreDecidedAlike) {
  for (const char* file : {"bugs/b32-intermediate-placed-on-a-feed.unsafe.json",
                           "bugs/b56-host-ring-no-wait-on-one-path.unsafe.json",
                           "format/size-of-every-dtype.unsafe.json"}) {
    std::ifstream in(std::filesystem::path(MEMVERIFY_CORPUS) / file);
    std::stringstream text;
    text << in.rdbuf();
    const Result<Plan> plan = read_plan(text.str(), file);
    ASSERT_TRUE(plan.ok()) << file;
    EXPECT_EQ(on_any_number(plan.value()).verdict, Verdict::kUnsafe) << file;
  }
}

/// With two permits each pair can meet.
TEST(SmtThreads, OnePartAndManyFindingsAreTheSame) {
  EXPECT_EQ(on_any_number(plan_with({{"a", 7}})).verdict, Verdict::kSafe);
  const Plan pairs = plan_with({{"a", 5, 2}, {"b", 3, 2}});
  EXPECT_EQ(on_any_number(pairs).findings.size(), 13U);
  const EngineResult some = on_any_number(pairs, {.max_findings = 4, .first_steps = 0});
  EXPECT_EQ(some.findings.size(), 4U);
  EXPECT_TRUE(some.stopped_at_max_findings);
}

/// Limits are heard by every solver, and what they leave open is the same.
TEST(SmtThreads, LimitsHold) {
  const Plan plan = plan_with({{"a", 7}, {"b", 7}});
  const EngineResult few = on_any_number(plan, {.query_steps = 2'000, .first_steps = 0});
  EXPECT_EQ(few.verdict, Verdict::kUnknown);
  EXPECT_NE(few.findings.front().message.find("2000 solver steps was"), std::string::npos);
  const EngineResult all = on_any_number(plan, {.total_steps = 20'000, .first_steps = 0});
  EXPECT_NE(all.findings.back().message.find("20000 solver steps in all"), std::string::npos);
  const EngineResult soon = verify_smt(plan, {.max_seconds = 1e-6, .first_steps = 0, .threads = 2});
  EXPECT_EQ(soon.verdict, Verdict::kUnknown);
}

/// The time is heard while formulas are made, before there is a question.
TEST(SmtThreads, TimeEndsTheMakingOfFormulas) {
  const auto make_many = [](smt::Terms& terms) {
    for (int k = 0; k < 1000; ++k) terms.boolean("b" + std::to_string(k));
  };
  smt::Terms terms;
  terms.set_deadline(std::chrono::steady_clock::now() - std::chrono::seconds(1));
  EXPECT_THROW(make_many(terms), smt::OutOfTime);
  terms.set_deadline(std::nullopt);
  EXPECT_NO_THROW(make_many(terms));
}

/// What shows at the end needs the other parts to come to theirs.
TEST(SmtThreads, FaultsAtTheEndAreShownByRunsOfTheWholePlan) {
  const std::string twice = R"(, {"id": "o0", "queue": "q", "writes": ["Xo"]},
                                 {"id": "o1", "queue": "r", "writes": ["Xo"], "after": ["o0"]})";
  const auto plan = [&](const std::string& ops) {
    return plan_with({{"a", 3}, {"o", 0}}, ops, R"(, "outputs": [{"tensor": "Xo", "from": "o0"}])");
  };
  const Plan finishes = plan(twice);
  const EngineResult result = on_any_number(finishes);
  ASSERT_EQ(rules(result), "MV106");
  EXPECT_EQ(result.findings.front().witness.size(), 10U);
  EXPECT_TRUE(replay(finishes, result.findings.front()).confirmed);
  // It never does: nothing is asked of its end.
  const Plan stuck = plan(twice + R"(, {"id": "z", "queue": "pool", "after": ["z"]})");
  EXPECT_EQ(rules(on_any_number(stuck)), "MV111");
}

TEST(SmtThreads, EachPartThatGetsStuckIsShown) {
  const Plan plan = plan_with({{"a", 3}, {"b", 2, 0}, {"d", 2, 0}});
  const EngineResult result = on_any_number(plan);
  EXPECT_EQ(rules(result), "MV111 MV111 MV111 MV111");
  for (const Finding& finding : result.findings) EXPECT_TRUE(replay(plan, finding).confirmed);
}

// ---- tasks in turn ------------------------------------------------------------------------------

using List = std::vector<int>;

bool append(List& all, List&& result) {
  all.push_back(result.back());
  return all.size() == 8;
}

TEST(InTurn, ATaskKnowsWhatIsFarEnoughBeforeItAndNoMore) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    InTurn<List> turns({}, 20, 3);
    const auto number_of_known = [](std::size_t, List& known) {
      known.push_back(static_cast<int>(known.size()));
    };
    EXPECT_EQ(turns.run(threads, number_of_known, append), (List{0, 0, 0, 1, 2, 3, 4, 5}));
    EXPECT_TRUE(turns.is_over());
  }
}

TEST(InTurn, WhatATaskThrowsReachesTheCaller) {
  for (const std::size_t threads : {1U, 2U, 4U}) {
    InTurn<List> turns({}, 12, 4);
    const auto fail_at_five = [](std::size_t task, List& known) {
      if (task == 5) throw std::runtime_error("the fifth");
      known.push_back(0);
    };
    EXPECT_THROW(turns.run(threads, fail_at_five, append), std::runtime_error);
  }
}

}  // namespace
}  // namespace memverify
