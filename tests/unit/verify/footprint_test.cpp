#include "verify/footprint.h"

#include <gtest/gtest.h>

#include "plan/layout.h"
#include "plan/reader.h"
#include "verify/program.h"

namespace memverify {
namespace {

constexpr const char* kRing = R"({"memverify": 1, "iterations": 3, "pools": [{"id": "hbm"}],
  "queues": [{"id": "q"}],
  "storages": [{"id": "ring", "pool": "hbm", "offset": [0, 64], "bytes": 64}],
  "tensors": [{"id": "T", "storage": "ring", "offset": 0, "dtype": "f32", "shape": [4, 2], "strides": [4, 1]},
              {"id": "row", "view_of": "T", "offset": 16, "bytes": 8}],
  "ops": [{"id": "w", "queue": "q", "writes": ["T"]}, {"id": "r", "queue": "q", "reads": ["row"]}]})";

class FootprintsOfARing : public testing::Test {
 protected:
  FootprintsOfARing()
      : plan(read_plan(kRing, "ring.json").value()),
        layout(Layout::make(plan, {}).value()),
        program(make_program(plan, layout, ConditionCase(plan, 3), 3)) {}

  Plan plan;
  Layout layout;
  Program program;
};

TEST_F(FootprintsOfARing, RotatingStoragesHaveOnePlaceASlotAndOneInstanceAnIteration) {
  const Footprints footprints = *Footprints::make(program, 1000);
  ASSERT_EQ(footprints.accesses().size(), 6U);
  const AccessInstance& first = footprints.of(0)[0];
  const AccessInstance& third = footprints.of(4)[0];
  EXPECT_EQ(first.footprint, third.footprint);  // Iterations 0 and 2 share slot 0
  EXPECT_NE(footprints.family_base(first),
            footprints.family_base(third));      // but are two instances.
  EXPECT_EQ(footprints.runs(first).size(), 4U);  // Four rows with gaps.
  EXPECT_EQ(footprints.address(footprints.runs(first)[0].begin), 0);
  EXPECT_EQ(footprints.address(footprints.runs(footprints.of(2)[0])[0].begin), 64);
}

TEST_F(FootprintsOfARing, AViewLiesInTheFamilyOfItsRoot) {
  const Footprints footprints = *Footprints::make(program, 1000);
  const AccessInstance& write = footprints.of(0)[0];
  const AccessInstance& read = footprints.of(1)[0];
  EXPECT_EQ(footprints.family_base(write), footprints.family_base(read));
  EXPECT_EQ(footprints.runs(write)[1].family_begin, footprints.runs(read)[0].family_begin);
  EXPECT_EQ(footprints.first_overlap(write, read), (ByteRange{16, 24}));
}

TEST_F(FootprintsOfARing, TooManyRunsAreRefused) {
  EXPECT_FALSE(Footprints::make(program, 3).has_value());
}

TEST_F(FootprintsOfARing, GatheredRowsAreOneRunUnlessAnEndOfAnotherCutsThem) {
  const std::uint64_t runs = 3 * 4 + 3 * 1;  // Of all accesses.
  EXPECT_FALSE(Footprints::gather(program, 1000, runs + 1)->gathered());
  const Footprints footprints = *Footprints::gather(program, 1000, runs);
  ASSERT_TRUE(footprints.gathered());
  const auto rows = footprints.runs(footprints.of(0)[0]);
  const auto row = footprints.runs(footprints.of(1)[0]);
  ASSERT_EQ(rows.size(), 3U);  // The row before, the row of the view, those after.
  ASSERT_EQ(row.size(), 1U);
  EXPECT_EQ(rows[1].begin, row[0].begin);
  EXPECT_EQ(rows[1].end, row[0].end);
  EXPECT_EQ(rows[1].family_begin, row[0].family_begin);
  EXPECT_EQ(rows[1].family_end, row[0].family_end);
  // Nothing lies between the first two places of the other slot.
  EXPECT_EQ(footprints.runs(footprints.of(2)[0]).size(), 2U);
  EXPECT_FALSE(Footprints::gather(program, 7, runs).has_value());  // Four runs in either slot.
}

}  // namespace
}  // namespace memverify
