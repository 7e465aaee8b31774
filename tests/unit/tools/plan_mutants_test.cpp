#include "tools/plan_mutants.h"

#include <gtest/gtest.h>

#include <set>

#include "plan/reader.h"

namespace memverify {
namespace {

/// A writer, a reader on another queue, and a tensor that gets the bytes of the first.
constexpr const char* kPlan = R"({
  "memverify": 1, "pools": [{"id": "p", "alignment": 8}], "queues": [{"id": "q"}, {"id": "r"}],
  "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 16},
               {"id": "z", "pool": "p", "offset": 0, "bytes": 8},
               {"id": "far", "pool": "p", "offset": 64, "bytes": 8}],
  "tensors": [{"id": "t", "storage": "s", "bytes": 16}, {"id": "u", "storage": "z", "bytes": 8},
              {"id": "v", "storage": "far", "bytes": 8}],
  "ops": [{"id": "a", "queue": "q", "writes": ["t"], "signals": [{"event": "e"}]},
          {"id": "other", "queue": "q", "writes": ["v"]},
          {"id": "b", "queue": "r", "reads": ["t"], "waits": [{"event": "e"}]},
          {"id": "sync", "kind": "barrier", "queues": ["q", "r"]},
          {"id": "c", "queue": "q", "writes": ["u"], "after": ["b"]}]})";

TEST(PlanMutants, EveryKindIsMadeAndEveryFateExplained) {
  const Plan plan = read_plan(kPlan, "").value();
  std::set<MutantKind> kinds;
  std::set<std::string> fates;
  Draw draw(1);
  for (int k = 0; k < 60; ++k) {
    const std::optional<Mutant> mutant = random_mutant(plan, draw);
    ASSERT_TRUE(mutant);
    EXPECT_FALSE(mutant->what.empty());
    kinds.insert(mutant->kind);
    const MutantFate fate = decide_mutant(*mutant);
    EXPECT_TRUE(fate.internal_errors.empty()) << fate.internal_errors.front();
    fates.insert(fate.text);
  }
  EXPECT_EQ(kinds.size(), kMutantKinds);
  for (const char* fate : {"killed MV102", "equivalent: what is left orders the same bytes",
                           "equivalent: nobody else's bytes lie there"}) {
    EXPECT_TRUE(fates.contains(fate)) << fate;
  }
}

TEST(PlanMutants, SayWhatTheSafetyOfAMutantRestsOn) {
  Plan plan = read_plan(kPlan, "").value();
  Mutant mutant{.kind = MutantKind::kRemoveAfter, .what = "`c` does not come after `b`"};
  plan.ops[OpId{4}].after = {};
  mutant.plan = plan;
  const MutantFate fate = decide_mutant(mutant);
  EXPECT_EQ(fate.result.outcome, Outcome::kEquivalent);
  EXPECT_NE(fate.why.find("`sync` is a barrier of queues `q` and `r`"), std::string::npos)
      << fate.why;
}

}  // namespace
}  // namespace memverify
