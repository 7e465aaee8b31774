// What reads mean, found on the way of the walk or kept from a pass of its own: the same.
#include "verify/stale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <vector>

#include "tests/support/random_plan.h"

namespace memverify::testing {
namespace {

/// The write of a version and its accumulates, the last one first. Numbers of sums differ.
std::vector<std::uint32_t> made_by(const Versions& versions, Version version) {
  std::vector<std::uint32_t> accesses{versions.base(version)};
  for (; versions.before(version) != version; version = versions.before(version)) {
    accesses.push_back(versions.access(version));
  }
  return accesses;
}

void expect_same(const Reads& reads, const Reads& expected) {
  EXPECT_EQ(reads.amiss, expected.amiss);
  ASSERT_EQ(reads.suspects.size(), expected.suspects.size());
  for (std::size_t k = 0; k < expected.suspects.size(); ++k) {
    const Suspect& a = reads.suspects[k];
    const Suspect& b = expected.suspects[k];
    EXPECT_EQ(a.access, b.access);
    EXPECT_EQ(a.begin, b.begin);
    EXPECT_EQ(a.end, b.end);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(made_by(reads.versions, a.expected), made_by(expected.versions, b.expected));
    EXPECT_EQ(made_by(reads.versions, a.actual), made_by(expected.versions, b.actual));
  }
}

TEST(StaleReads, AreTheSameWhetherWhatTheyMeanIsKeptOrNot) {
  int in_step = 0;
  int stale = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const std::optional<Plan> plan = plan_of(random_mutated_plan(seed));
    if (!plan || !plan->symbols.empty()) continue;
    const Result<Layout> layout = Layout::make(*plan, {});
    if (!layout.ok()) continue;
    const auto iterations =
        static_cast<std::uint32_t>(std::min<std::int64_t>(plan->iterations.value_or(3), 3));
    const Program program =
        make_program(*plan, layout.value(), ConditionCase(*plan, iterations), iterations);
    if (program.bad_value || !program.contended.empty()) continue;
    const Walk run = walk(program);
    const Footprints footprints = *Footprints::make(program, 1U << 20);
    const Reads reads(program, run, footprints, false);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same(reads, Reads(program, run, footprints, true));
    in_step += reads.expected ? 0 : 1;
    stale += reads.suspects.empty() ? 0 : 1;
  }
  std::cout << in_step << " walks in program order, " << stale << " plans with stale reads\n";
  EXPECT_GT(in_step, 500);
  EXPECT_GT(stale, 100);
}

}  // namespace
}  // namespace memverify::testing
