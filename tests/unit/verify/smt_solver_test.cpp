#include "verify/smt_solver.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace memverify::smt {
namespace {

/// `pigeons` in one hole fewer: exponential for resolution, so any limit is reached.
void require_pigeons(Solver& solver, int pigeons) {
  Terms& terms = solver.terms();
  std::vector<std::vector<Bool>> sits;
  for (int p = 0; p < pigeons; ++p) {
    sits.emplace_back();
    for (int h = 0; h + 1 < pigeons; ++h) sits.back().push_back(terms.boolean("sits"));
    solver.require(terms.any(sits.back()));
  }
  for (std::size_t h = 0; h + 1 < sits.size(); ++h) {
    for (std::size_t p = 0; p < sits.size(); ++p) {
      for (std::size_t q = p + 1; q < sits.size(); ++q) {
        solver.require(terms.either(terms.no(sits[p][h]), terms.no(sits[q][h])));
      }
    }
  }
}

TEST(SmtSolver, FindsValuesAndTheAssumptionsThatClash) {
  Solver solver;
  Terms& t = solver.terms();
  const Int a = t.integer("a");
  const Int b = t.integer("b");
  const Bool p = t.boolean("p");
  solver.require(t.implies(p, t.less(a, b)));
  ASSERT_EQ(solver.check(std::vector{p}), Answer::kSat);
  EXPECT_LT(solver.value(a), solver.value(b));
  EXPECT_TRUE(solver.value(p));
  const Bool q = t.less(t.add(b, t.number(5)), a);
  const Bool other = t.boolean("other");
  ASSERT_EQ(solver.check(std::vector{other, p, q}), Answer::kUnsat);
  EXPECT_EQ(solver.core(), (std::vector{p, q}));
  EXPECT_EQ(solver.check(std::vector{q}), Answer::kSat);
}

TEST(SmtSolver, TwoContextsKnowNothingOfEachOther) {
  Solver one;
  Solver two;
  const Bool p = one.terms().boolean("p");
  const Bool same = two.terms().boolean("p");
  one.require(p);
  two.require(two.terms().no(same));
  EXPECT_EQ(one.check(), Answer::kSat);
  EXPECT_EQ(two.check(), Answer::kSat);
  EXPECT_EQ(one.check(std::vector{one.terms().no(p)}), Answer::kUnsat);
  EXPECT_EQ(two.check(), Answer::kSat);
}

TEST(SmtSolver, DividesDownwards) {
  Solver solver;
  Terms& t = solver.terms();
  const Int a = t.integer("a");
  solver.require(t.equal(a, t.number(-7)));
  const Int quotient = t.divide(a, t.number(2));
  const Int rest = t.modulo(a, t.number(2));
  ASSERT_EQ(solver.check(), Answer::kSat);
  solver.require(t.both(t.equal(quotient, t.number(-4)), t.equal(rest, t.number(1))));
  ASSERT_EQ(solver.check(), Answer::kSat);
  EXPECT_EQ(solver.value(quotient), -4);
}

TEST(SmtSolver, CountsWhatHolds) {
  Solver solver;
  Terms& t = solver.terms();
  std::vector<Bool> some;
  for (int k = 0; k < 5; ++k) some.push_back(t.boolean("x"));
  const std::vector<Weighted> weighed{{some[0], 3}, {some[1], 2}, {some[2], 1}};
  solver.require(t.hold_at_most(some, 2));
  ASSERT_EQ(solver.check(std::vector{some[0], some[3]}), Answer::kSat);
  ASSERT_EQ(solver.check(std::vector{some[0], some[3], some[4]}), Answer::kUnsat);
  ASSERT_EQ(solver.check(std::vector{t.weigh_at_least(weighed, 5)}), Answer::kSat);
  EXPECT_TRUE(solver.value(some[0]) && solver.value(some[1]));
  ASSERT_EQ(solver.check(std::vector{t.weigh_at_least(weighed, 6)}), Answer::kUnsat);
}

TEST(SmtSolver, ALimitOfStepsLeavesAQuestionOpenAndTheNextOneAnswered) {
  Solver solver({.query_steps = 20'000});
  require_pigeons(solver, 12);
  ASSERT_EQ(solver.check(), Answer::kUnknown);
  EXPECT_EQ(solver.reason(), "the limit of 20000 solver steps was reached");
  Solver fresh({.query_steps = 20'000});
  require_pigeons(fresh, 3);
  EXPECT_EQ(fresh.check(), Answer::kUnsat);
}

TEST(SmtSolver, ALimitInAllEndsEveryLaterQuestion) {
  Solver solver({.total_steps = 20'000});
  require_pigeons(solver, 12);
  ASSERT_EQ(solver.check(), Answer::kUnknown);
  ASSERT_EQ(solver.check(), Answer::kUnknown);
  EXPECT_EQ(solver.reason(), "the limit of 20000 solver steps in all was reached");
}

TEST(SmtSolver, ALimitOfTimeLeavesAQuestionOpen) {
  Solver solver({.query_ms = 50});
  require_pigeons(solver, 14);
  EXPECT_EQ(solver.check(), Answer::kUnknown);
}

TEST(SmtSolver, AnInterruptFromAnotherThreadEndsAQuestion) {
  Solver solver({.query_ms = 60'000});
  require_pigeons(solver, 14);
  std::jthread other([&](const std::stop_token& done) {
    while (!done.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      solver.interrupt();
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(solver.check(), Answer::kUnknown);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(SmtTerms, FoldsConstantsAndSharesEqualTerms) {
  Terms t;
  const Bool p = t.boolean("p");
  const Int a = t.integer("a");
  EXPECT_EQ(t.all({p, t.truth(true), p}), p);
  EXPECT_TRUE(t.is_true(t.any({p, t.truth(true)})));
  EXPECT_EQ(t.no(t.no(p)), p);
  EXPECT_TRUE(t.is_true(t.at_most(t.number(2), t.add(t.number(1), t.number(1)))));
  EXPECT_EQ(t.add(a, t.number(1)), t.add(a, t.number(1)));
  EXPECT_NE(t.boolean("p"), p);
}

TEST(SmtTerms, WorksOutValuesAndRefusesWhatPasses64Bits) {
  Terms t;
  const Int a = t.integer("a");
  const Bool positive = t.less(t.number(0), t.multiply(a, t.number(4)));
  const auto values = t.evaluate({{a.id, 3}}, std::vector{positive});
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[positive.id], 1);
  EXPECT_FALSE(t.evaluate({{a.id, INT64_MAX}}, std::vector{positive}));
}

TEST(SmtTerms, DumpsAStandardFile) {
  Terms t;
  const Int a = t.integer("a|b");
  const Bool p = t.boolean("p");
  const std::string text = t.dump(std::vector{t.implies(p, t.less(a, t.number(-1)))}, "one\ntwo");
  EXPECT_EQ(text,
            "; one\n; two\n(set-info :smt-lib-version 2.6)\n(set-logic QF_LIA)\n"
            "(declare-fun |a_b #2| () Int)\n(declare-fun |p #3| () Bool)\n"
            "(assert (or (not (<= (- 1) |a_b #2|)) (not |p #3|)))\n(check-sat)\n(exit)\n");
}

}  // namespace
}  // namespace memverify::smt
