// What is said of any number of iterations against each number of them, and of many against all of
// them unrolled, on random plans. MEMVERIFY_LOOP_FIRST and MEMVERIFY_LOOP_SEEDS choose the seeds.
#include "verify/loop.h"

#include <gtest/gtest.h>

#include <iostream>
#include <optional>

#include "sim/replay.h"
#include "tests/agreement/compare.h"
#include "tests/support/agreement.h"
#include "tests/support/random_plan.h"
#include "verify/certificate_write.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

/// Plans whose loops are decided, out of the random ones: by seed.
template <typename Visit>
void for_each_looping_plan(std::uint64_t seeds, Visit&& visit) {
  const std::uint64_t first = setting("MEMVERIFY_LOOP_FIRST", 1);
  for (std::uint64_t seed = first; seed < first + setting("MEMVERIFY_LOOP_SEEDS", seeds); ++seed) {
    PlanJson json = random_mutated_plan(seed);
    if (json.value("iterations", PlanJson(1)) == 1) continue;
    visit(seed, json);
  }
}

TEST(LoopAgreement, AnyNumberOfIterationsIsEveryNumber) {
  int proven = 0;
  int refuted = 0;
  int unknown = 0;
  for_each_looping_plan(500, [&](std::uint64_t seed, PlanJson& json) {
    json["iterations"] = "unbounded";
    const std::optional<Plan> plan = plan_of(json);
    if (!plan) return;
    const EngineResult any = verify_happens_before(*plan, {});
    if (any.verdict == Verdict::kUnknown) ++unknown;
    if (any.verdict == Verdict::kUnknown) return;
    bool unsafe = false;
    for (int n = 1; n <= 14 && !unsafe; ++n) {
      json["iterations"] = n;
      const std::optional<Plan> some = plan_of(json);
      if (!some) return;
      const EngineResult result = verify_happens_before(*some, {.fold_loops = false});
      if (result.verdict == Verdict::kUnknown) return;
      unsafe = result.verdict == Verdict::kUnsafe;
    }
    (unsafe ? refuted : proven)++;
    EXPECT_EQ(any.verdict == Verdict::kUnsafe, unsafe) << "seed " << seed << "\n" << json.dump(1);
    for (const Finding& finding : any.findings) {
      if (finding.witness.empty()) continue;
      const ReplayResult replayed = replay(*plan, finding);
      EXPECT_TRUE(replayed.confirmed) << "seed " << seed << ": " << replayed.reason;
    }
  });
  std::cout << proven << " proven, " << refuted << " refuted, " << unknown << " unknown\n";
  EXPECT_GT(proven, 50);
  EXPECT_GT(refuted, 50);
}

TEST(LoopAgreement, FoldingChangesNoFinding) {
  int folded = 0;
  for_each_looping_plan(500, [&](std::uint64_t seed, PlanJson& json) {
    json["iterations"] = 14 + static_cast<int>(seed % 3);
    const std::optional<Plan> plan = plan_of(json);
    if (!plan) return;
    const EngineResult few = verify_happens_before(*plan, {});
    const EngineResult all = verify_happens_before(*plan, {.fold_loops = false});
    folded += few.stats.ops < all.stats.ops ? 1 : 0;
    EXPECT_EQ(disagreement(*plan, all, few), "") << "seed " << seed << "\n" << json.dump(1);
  });
  EXPECT_GT(folded, 50);
}

/// The certificate's own account of loops, asked for a proof whatever the engine has said.
TEST(LoopAgreement, CertificatesProveTheSafePlansAndNoOther) {
  int proven = 0;
  int shown = 0;
  for_each_looping_plan(500, [&](std::uint64_t seed, PlanJson& json) {
    const bool any = seed % 2 == 0;
    if (any) json["iterations"] = "unbounded";
    if (!any) json["iterations"] = 20 + static_cast<int>(seed % 3);
    const std::optional<Plan> plan = plan_of(json);
    if (!plan) return;
    const EngineResult result = verify_happens_before(*plan, {.fold_loops = any});
    const bool proves = certify(*plan, {.verdict = Verdict::kSafe}).refused.empty();
    if (proves) {
      EXPECT_EQ(result.verdict, Verdict::kSafe) << "seed " << seed << "\n" << json.dump(1);
    }
    proven += proves ? 1 : 0;
    if (result.verdict != Verdict::kUnsafe) return;
    shown += certify(*plan, result).refused.empty() ? 1 : 0;
  });
  std::cout << proven << " proven, " << shown << " shown to be unsafe\n";
  EXPECT_GT(proven, 50);
  EXPECT_GT(shown, 10);
}

}  // namespace
}  // namespace memverify::testing
