#include <optional>
#include <string>
#include <vector>

#include "tests/unit/plan/faults_support.h"

namespace memverify {
namespace {

const OpSpec kWrite{.name = "w", .writes = {{"x"}}};

// --- MV108

TEST(Faults, PartsStayInTheirTensor) {
  const auto part = [](AccessSpec access, TensorSpec x = {.name = "x", .offset = 16, .bytes = 64}) {
    access.tensor = "x";
    return faults(with({x}, {{.name = "w", .writes = {access}}}));
  };
  EXPECT_EQ(part({.offset = 0, .bytes = 64}), Strings{});
  EXPECT_EQ(part({.offset = 60, .bytes = 4}), Strings{});
  EXPECT_EQ(part({.offset = 60, .bytes = 5}), Strings{"MV108 w: x [80,81)"});
  EXPECT_EQ(part({.offset = 100, .bytes = 4}), Strings{"MV108 w: x [116,120)"});
  EXPECT_EQ(part({.offset = 64}), Strings{}) << "nothing is left, and nothing is outside";
  EXPECT_EQ(part({.offset = 65}), Strings{"MV108 w: x"});
  EXPECT_EQ(part({.offset = 100, .bytes = 0}), Strings{"MV108 w: x"});
  EXPECT_EQ(part({.offset = 100, .bytes = 4}, {.name = "x", .bytes = 0}), Strings{});
  EXPECT_EQ(part({.offset = 9'000'000'000'000'000'000, .bytes = 9'000'000'000'000'000'000}).size(),
            1U);
}

TEST(Faults, PartsCountFromElement0) {
  // Reversed: element 0 is the last one, so only its own four bytes are in reach of a part.
  const TensorSpec x{
      .name = "x", .offset = 60, .dtype = "f32", .shape = list({16}), .strides = list({-1})};
  EXPECT_EQ(
      faults(with({x}, {{.name = "w", .writes = {{.tensor = "x", .offset = 0, .bytes = 4}}}})),
      Strings{});
  EXPECT_EQ(
      faults(with({x}, {{.name = "w", .writes = {{.tensor = "x", .offset = 0, .bytes = 8}}}})),
      Strings{"MV108 w: x [64,68)"});
  // Strided: the gap behind the last element is outside.
  const TensorSpec y{.name = "y", .dtype = "f32", .shape = list({8}), .strides = list({2})};
  EXPECT_EQ(faults(with({y}, {{.name = "w", .writes = {{.tensor = "y", .bytes = 60}}}})),
            Strings{});
  EXPECT_EQ(faults(with({y}, {{.name = "w", .writes = {{.tensor = "y", .bytes = 61}}}})),
            Strings{"MV108 w: y [60,61)"});
}

TEST(Faults, AccessesStayInTheirStorage) {
  EXPECT_EQ(faults(with({{.name = "x", .offset = 512, .bytes = 512}}, {kWrite})), Strings{});
  EXPECT_EQ(faults(with({{.name = "x", .offset = 512, .bytes = 516}}, {kWrite})),
            Strings{"MV108 w: x [1024,1028)"});
  EXPECT_EQ(faults(with({{.name = "x", .offset = -8, .bytes = 16}}, {kWrite})),
            Strings{"MV108 w: x [-8,0)"});
  EXPECT_EQ(
      faults(with(
          {{.name = "x", .offset = 8, .dtype = "f32", .shape = list({4}), .strides = list({-1})}},
          {kWrite})),
      Strings{"MV108 w: x [-4,0)"});
  EXPECT_EQ(faults(with({{.name = "x", .offset = 5000, .bytes = 0}}, {kWrite})), Strings{});
  EXPECT_EQ(faults(with({{.name = "r", .bytes = 2000},
                         {.name = "x", .view_of = "r", .offset = 1000, .bytes = 100}},
                        {kWrite})),
            Strings{"MV108 w: x [1024,1100)"})
      << "inside its root, outside the storage";
  EXPECT_EQ(faults(with({{.name = "r", .bytes = 2000},
                         {.name = "x", .view_of = "r", .offset = 0, .bytes = 1024}},
                        {kWrite})),
            Strings{})
      << "nothing accesses what lies outside";
  EXPECT_EQ(faults(with({{.name = "x", .offset = 1000, .bytes = 50},
                         {.name = "y", .offset = 2000, .bytes = 8}},
                        {{.name = "w", .reads = {{"y"}}, .writes = {{"x"}}},
                         {.name = "v", .writes = {{.tensor = "x", .bytes = 24}}}})),
            Strings{"MV108 w: y x [2000,2008)"})
      << "one finding an op, for what it accesses";
}

TEST(Faults, ViewsStayInTheirRoot) {
  const std::vector<OpSpec> read{{.name = "u", .reads = {{"v"}}}};
  const auto view = [&](TensorSpec v) {
    v.name = "v";
    v.view_of = "b";
    return faults(with({{.name = "r", .offset = 64, .bytes = 64},
                        {.name = "b", .view_of = "r", .offset = 16, .bytes = 16},
                        v},
                       read));
  };
  EXPECT_EQ(view({.offset = -16, .bytes = 64}), Strings{}) << "outside its base, inside its root";
  EXPECT_EQ(view({.offset = -17, .bytes = 8}), Strings{"MV108: v [63,64)"});
  EXPECT_EQ(view({.offset = 40, .bytes = 16}), Strings{"MV108: v [128,136)"});
  EXPECT_EQ(view({.offset = 0, .dtype = "f32", .shape = list({2}), .strides = list({-5})}),
            Strings{"MV108: v [60,64)"});
  EXPECT_EQ(view({.offset = 400, .bytes = 0}), Strings{});
}

TEST(Faults, SymbolsDecidePerValuation) {
  const auto at = [](std::int64_t batch) {
    PlanBuilder b = with({{.name = "x", .dtype = "f32", .shape = {{"batch", 16}}}}, {kWrite});
    b.add_symbol({.name = "batch", .min = 2, .max = 32});
    return faults(std::move(b), {batch});
  };
  EXPECT_EQ(at(16), Strings{});
  EXPECT_EQ(at(17), Strings{"MV108 w: x [1024,1088)"});
}

/// One storage, or several slots of it, in a pool; one tensor over all of it.
Strings placed(PoolSpec pool, std::vector<ExprSpec> slots, TensorSpec x = {.bytes = 64},
               std::optional<std::int64_t> peak = {}, std::int64_t bytes = 64) {
  PlanBuilder b;
  pool.name = "hbm";
  b.add_pool(pool);
  b.add_queue({.name = "q"});
  b.add_storage(
      {.name = "s", .pool = "hbm", .slots = slots, .slots_are_array = true, .bytes = bytes});
  x.name = "x";
  x.storage = "s";
  b.add_tensor(x);
  b.add_op({.name = "w", .queue = "q", .writes = {{"x"}}});
  if (peak) b.set_peak_bytes("hbm", *peak);
  return faults(std::move(b));
}

TEST(Faults, AddressesAreNotNegative) {
  EXPECT_EQ(placed({}, {-64}), Strings{"MV108 w: x [-64,0)"});
  EXPECT_EQ(placed({}, {64, -8, 128}), Strings{"MV108: s [-8,0)"}) << "no access, but an address";
  EXPECT_EQ(placed({}, {64, 0}), Strings{});
}

TEST(Faults, ClobberedPoolBytesLieInThePool) {
  const auto clobber = [](AccessSpec access) {
    PlanBuilder b;
    b.add_pool({.name = "hbm", .bytes = 256});
    b.add_queue({.name = "q"});
    access.pool = "hbm";
    b.add_op({.name = "f", .queue = "q", .clobbers = {access}});
    return faults(std::move(b));
  };
  EXPECT_EQ(clobber({.offset = 0, .bytes = 256}), Strings{});
  EXPECT_EQ(clobber({.offset = 128}), Strings{});
  EXPECT_EQ(clobber({.offset = 128, .bytes = 129}), Strings{"MV108 f: hbm [256,257)"});
}

// --- MV109

TEST(Faults, SlotsAndRootsKeepThePoolsAlignment) {
  EXPECT_EQ(placed({.alignment = 32}, {0, 64, 96}), Strings{});
  EXPECT_EQ(placed({.alignment = 32}, {0, 65, 96}),
            (Strings{"MV109: s [65,129)", "MV109: x [65,129)"}));
  EXPECT_EQ(placed({.alignment = 32}, {0}, {.offset = 8, .bytes = 16}), Strings{"MV109: x [8,24)"});
  EXPECT_EQ(placed({.alignment = 32}, {0}, {.offset = 8, .bytes = 16, .alignment = 8}), Strings{});
  EXPECT_EQ(placed({.alignment = 32}, {32}, {.offset = 0, .bytes = 16, .alignment = 64}),
            Strings{"MV109: x [32,48)"});
  EXPECT_EQ(placed({.alignment = 32}, {0}, {.offset = 8, .bytes = 0}), Strings{"MV109: x"});
}

TEST(Faults, ViewsKeepOnlyTheirOwnAlignment) {
  const auto view = [](std::optional<std::int64_t> alignment) {
    PlanBuilder b;
    b.add_pool({.name = "hbm", .alignment = 64});
    b.add_queue({.name = "q"});
    b.add_storage({.name = "s", .pool = "hbm", .slots = {0}, .bytes = 64});
    b.add_tensor({.name = "r", .storage = "s", .bytes = 64});
    b.add_tensor({.name = "x", .view_of = "r", .offset = 12, .bytes = 8, .alignment = alignment});
    b.add_op({.name = "w", .queue = "q", .writes = {{"x"}}});
    return faults(std::move(b));
  };
  EXPECT_EQ(view({}), Strings{});
  EXPECT_EQ(view(4), Strings{});
  EXPECT_EQ(view(8), Strings{"MV109: x [12,20)"});
}

// --- MV110, and a claim that is too high

TEST(Faults, StoragesEndInsideTheirPool) {
  EXPECT_EQ(placed({.bytes = 128}, {64}), Strings{});
  EXPECT_EQ(placed({.bytes = 127}, {64}), (Strings{"MV108 w: x [127,128)", "MV110: s [127,128)"}));
  EXPECT_EQ(placed({.bytes = 128}, {0, 64, 65}), Strings{"MV110: s [128,129)"});
}

TEST(Faults, PeakBytesAreTheHighestEnd) {
  EXPECT_EQ(placed({}, {0, 64}, {.bytes = 64}, 128), Strings{});
  EXPECT_EQ(placed({}, {0, 64}, {.bytes = 64}, 127), Strings{"MV110: hbm"});
  EXPECT_EQ(placed({}, {0, 64}, {.bytes = 64}, 129), Strings{"MV301: hbm"});
}

TEST(Faults, MessagesNameTheNumbers) {
  PlanBuilder b = with({{.name = "x", .offset = 1000, .bytes = 64}}, {kWrite});
  const Result<Plan> plan = std::move(b).build();
  ASSERT_TRUE(plan.ok());
  const Result<Layout> layout = Layout::make(plan.value(), {});
  ASSERT_TRUE(layout.ok());
  const std::vector<Finding> found = static_faults(plan.value(), layout.value(), 100);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].message,
      "`w` (queue `q`) accesses `x` at bytes [1000, 1064) of storage `s`, which has 1024 bytes.");
  EXPECT_TRUE(static_faults(plan.value(), layout.value(), 0).empty());
}

}  // namespace
}  // namespace memverify
