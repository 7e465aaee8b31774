#include "plan/layout.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/builder.h"

namespace memverify {
namespace {

constexpr std::int64_t kHuge = INT64_MAX;

// A plan of one pool, one storage "s" with the slots and some tensors.
class LayoutTest : public testing::Test {
 protected:
  LayoutTest() {
    builder_.add_pool({.name = "hbm", .bytes = 4096});
    builder_.add_queue({.name = "q"});
  }
  void storage(std::vector<ExprSpec> slots, ExprSpec bytes) {
    builder_.add_storage(
        {.name = "s", .pool = "hbm", .slots = slots, .slots_are_array = true, .bytes = bytes});
  }
  const Plan& plan() {
    if (!plan_) {
      Result<Plan> built = std::move(builder_).build();
      EXPECT_TRUE(built.ok()) << to_string(built.errors()[0]);
      plan_ = std::move(built).value();
    }
    return *plan_;
  }
  Layout layout(std::vector<std::int64_t> symbols = {}) {
    Result<Layout> made = Layout::make(plan(), {.symbols = std::move(symbols)});
    EXPECT_TRUE(made.ok()) << to_string(made.errors()[0]);
    return std::move(made).value();
  }
  std::string error(std::vector<std::int64_t> symbols = {}) {
    const Result<Layout> made = Layout::make(plan(), {.symbols = std::move(symbols)});
    if (made.ok()) return "no error";
    std::string all;
    for (const Diagnostic& one : made.errors()) all += one.id + " " + one.pointer + "\n";
    return all;
  }
  PlanBuilder builder_;
  std::optional<Plan> plan_;
};

std::vector<ByteRange> bytes(std::initializer_list<ByteRange> ranges) { return ranges; }

TEST_F(LayoutTest, RotatesSlotsAlsoBeforeTheFirstIteration) {
  storage({0, 256, 1024}, 64);
  builder_.add_tensor({.name = "x", .storage = "s", .offset = 16, .bytes = 8});
  const Layout made = layout();
  EXPECT_EQ(made.slot_index(StorageId{0}, 4), 1U);
  EXPECT_EQ(made.slot_index(StorageId{0}, -1), 2U);
  EXPECT_EQ(made.slot_index(StorageId{0}, -3), 0U);
  EXPECT_EQ(made.slot_address(StorageId{0}, -1), 1024);
  EXPECT_EQ(made.tensor_region(plan(), TensorId{0}, -1).hull(), (ByteRange{1040, 1048}));
  EXPECT_EQ(made.tensor(TensorId{0}).hull, (ByteRange{16, 24}));
}

TEST_F(LayoutTest, AccumulatesOffsetsAlongTheChainInAnyOrder) {
  storage({100}, 64);
  builder_.add_tensor({.name = "c", .view_of = "b", .offset = -8, .bytes = 4});
  builder_.add_tensor(
      {.name = "b", .view_of = "a", .offset = "n*4", .dtype = "f32", .shape = {{2}}});
  builder_.add_tensor({.name = "a", .storage = "s", .offset = 4, .bytes = 60});
  builder_.add_symbol({.name = "n"});
  const Layout made = layout({6});
  EXPECT_EQ(made.tensor(TensorId{1}).offset, 28);
  EXPECT_EQ(made.tensor(TensorId{0}).offset, 20);
  EXPECT_EQ(made.tensor_region(plan(), TensorId{0}, 0).hull(), (ByteRange{120, 124}));
  EXPECT_EQ(made.tensor_region(plan(), TensorId{1}, 0).hull(), (ByteRange{128, 136}));
  EXPECT_EQ(made.value(plan().tensors[TensorId{1}].offset), 24);
}

TEST_F(LayoutTest, ResolvesAVeryLongChainOfViews) {
  storage({0}, 64);
  constexpr int kViews = 200'000;
  for (int i = 0; i < kViews; ++i) {
    builder_.add_tensor({.name = std::to_string(i), .view_of = std::to_string(i + 1), .bytes = 1});
  }
  builder_.add_tensor({.name = std::to_string(kViews), .storage = "s", .offset = 3, .bytes = 64});
  const Layout made = layout();
  EXPECT_EQ(made.tensor(TensorId{0}).offset, 3);
  EXPECT_EQ(plan().tensors[TensorId{0}].root, TensorId{kViews});
}

TEST_F(LayoutTest, TakesTheBytesOfTheElementsOnly) {
  storage({0}, 64);
  builder_.add_tensor({.name = "column",
                       .storage = "s",
                       .offset = 2,
                       .dtype = "u8",
                       .shape = {{3}},
                       .strides = {{8}}});
  builder_.add_tensor({.name = "backwards",
                       .storage = "s",
                       .offset = 16,
                       .dtype = "u16",
                       .shape = {{3}},
                       .strides = {{-4}}});
  builder_.add_tensor(
      {.name = "dense", .storage = "s", .dtype = "f32", .shape = {{2, 3}}, .strides = {{3, 1}}});
  builder_.add_tensor({.name = "scalar", .storage = "s", .dtype = "c128", .shape = {{}}});
  const Layout made = layout();
  EXPECT_EQ(made.tensor_region(plan(), TensorId{0}, 0).runs(), bytes({{2, 3}, {10, 11}, {18, 19}}));
  EXPECT_EQ(made.tensor_region(plan(), TensorId{1}, 0).runs(), bytes({{0, 2}, {8, 10}, {16, 18}}));
  EXPECT_TRUE(made.tensor(TensorId{2}).is_contiguous());
  EXPECT_EQ(made.tensor(TensorId{2}).hull, (ByteRange{0, 24}));
  EXPECT_EQ(made.tensor(TensorId{3}).hull, (ByteRange{0, 16}));
}

TEST_F(LayoutTest, PacksTwoFourBitElementsIntoAByte) {
  storage({0}, 64);
  builder_.add_tensor({.name = "odd", .storage = "s", .dtype = "i4", .shape = {{3, 3}}});
  builder_.add_tensor(
      {.name = "given", .storage = "s", .dtype = "f4", .shape = {{1, 4}}, .strides = {{9, 1}}});
  const Layout made = layout();
  EXPECT_EQ(made.tensor(TensorId{0}).hull, (ByteRange{0, 5}));
  EXPECT_EQ(made.tensor(TensorId{1}).hull, (ByteRange{0, 2}));
}

TEST_F(LayoutTest, HasNoBytesWhereThereAreNoElements) {
  storage({0}, 64);
  builder_.add_tensor(
      {.name = "huge", .storage = "s", .dtype = "f32", .shape = {{kHuge, kHuge, 0}}});
  builder_.add_tensor(
      {.name = "strided", .storage = "s", .dtype = "f32", .shape = {{0, 4}}, .strides = {{1, 7}}});
  const Layout made = layout();
  EXPECT_TRUE(made.tensor(TensorId{0}).hull.empty());
  EXPECT_TRUE(made.tensor(TensorId{1}).hull.empty());
}

TEST_F(LayoutTest, ClipsAnAccessToItsPartFromElementZero) {
  storage({1000}, 64);
  builder_.add_tensor({.name = "x", .storage = "s", .offset = 8, .bytes = 32});
  builder_.add_op({.name = "w",
                   .queue = "q",
                   .reads = {{.tensor = "x", .offset = 4, .bytes = 8},
                             {.tensor = "x", .offset = 30},
                             {.tensor = "x", .bytes = 100},
                             {.tensor = "x", .offset = kHuge, .bytes = kHuge},
                             {.tensor = "x"}}});
  const Layout made = layout();
  const auto region = [&](std::size_t i) {
    return made.access_region(plan(), plan().accesses[i], 0);
  };
  EXPECT_EQ(region(0).hull(), (ByteRange{1012, 1020}));
  EXPECT_EQ(region(1).hull(), (ByteRange{1038, 1040}));
  EXPECT_EQ(region(2).hull(), (ByteRange{1008, 1040}));
  EXPECT_TRUE(region(3).empty());
  EXPECT_EQ(region(4).hull(), (ByteRange{1008, 1040}));
}

TEST_F(LayoutTest, GivesTheBytesOfAPoolThatAClobberNames) {
  builder_.add_pool({.name = "endless"});
  builder_.add_op({.name = "w",
                   .queue = "q",
                   .clobbers = {{.pool = "hbm"},
                                {.pool = "hbm", .offset = 4000},
                                {.pool = "hbm", .offset = 8, .bytes = 8},
                                {.pool = "hbm", .offset = 5000},
                                {.pool = "endless", .offset = 8}}});
  const Layout made = layout();
  const auto region = [&](std::size_t i) {
    return made.access_region(plan(), plan().accesses[i], 0);
  };
  EXPECT_EQ(region(0).hull(), (ByteRange{0, 4096}));
  EXPECT_EQ(region(1).hull(), (ByteRange{4000, 4096}));
  EXPECT_EQ(region(2).hull(), (ByteRange{8, 16}));
  EXPECT_TRUE(region(3).empty());
  EXPECT_EQ(region(4).hull(), (ByteRange{8, kHuge}));
  EXPECT_EQ(region(4).pool(), PoolId{1});
}

// --- Errors ---

TEST_F(LayoutTest, RefusesUnplacedTensorsByName) {
  builder_.add_tensor({.name = "a", .bytes = 4});
  builder_.add_tensor({.name = "b", .view_of = "a", .bytes = 4});
  builder_.add_tensor({.name = "c", .bytes = 4});
  const Result<Layout> made = Layout::make(plan(), {});
  ASSERT_FALSE(made.ok());
  ASSERT_EQ(made.errors().size(), 1U);
  EXPECT_EQ(made.errors()[0].id, "tensor.unplaced");
  EXPECT_EQ(made.errors()[0].pointer, "/tensors/0");
  EXPECT_EQ(made.errors()[0].message,
            "tensors `a` and `c` have no storage yet: `memverify plan` places tensors");
}

TEST_F(LayoutTest, RefusesNegativeSizes) {
  builder_.add_symbol({.name = "n", .min = -4});
  builder_.add_pool({.name = "p", .bytes = "n"});
  builder_.set_peak_bytes("p", "n");
  storage({0}, "n");
  builder_.add_tensor({.name = "x", .storage = "s", .bytes = "n"});
  builder_.add_tensor({.name = "y", .storage = "s", .dtype = "f32", .shape = {{2, "n"}}});
  builder_.add_op({.name = "r",
                   .queue = "q",
                   .reads = {{.tensor = "x"}, {.tensor = "x", .offset = "n", .bytes = "n"}}});
  EXPECT_EQ(error({-1}),
            "size.negative /pools/1/bytes\n"
            "size.negative /peak_bytes/p\n"
            "size.negative /storages/0/bytes\n"
            "size.negative /tensors/0/bytes\n"
            "size.negative /tensors/1/shape/1\n"
            "size.negative /ops/0/reads/1/offset\n"
            "size.negative /ops/0/reads/1/bytes\n");
  EXPECT_EQ(error({1}), "no error");
}

TEST_F(LayoutTest, RefusesWhatNeedsMoreThan64Bits) {
  builder_.add_symbol({.name = "n"});
  storage({"n"}, 16);
  builder_.add_tensor({.name = "x", .storage = "s", .offset = "n*2", .bytes = 16});
  builder_.add_tensor({.name = "y", .storage = "s", .dtype = "f32", .shape = {{"n", 2}}});
  builder_.add_tensor(
      {.name = "z", .storage = "s", .dtype = "f64", .shape = {{3}}, .strides = {{"n"}}});
  EXPECT_EQ(error({kHuge}),
            "expr.overflow /storages/0/offset\n"
            "expr.overflow /tensors/0/offset\n"
            "expr.overflow /tensors/1/shape\n"
            "expr.overflow /tensors/2/shape\n");
  EXPECT_EQ(error({1}), "no error");
}

TEST_F(LayoutTest, RefusesAnAddressThatOnlyOneSlotPutsOutOfRange) {
  storage({0, kHuge - 16}, 16);
  builder_.add_tensor({.name = "x", .storage = "s", .bytes = 17});
  EXPECT_EQ(error(), "expr.overflow /tensors/0/offset\n");
}

TEST_F(LayoutTest, RefusesOffsetsThatOverflowAlongTheChain) {
  storage({0}, 16);
  builder_.add_tensor({.name = "a", .storage = "s", .bytes = 16});
  builder_.add_tensor({.name = "b", .view_of = "a", .offset = kHuge, .bytes = 0});
  builder_.add_tensor({.name = "c", .view_of = "b", .offset = 1, .bytes = 0});
  EXPECT_EQ(error(), "expr.overflow /tensors/2/offset\n");
}

TEST_F(LayoutTest, RefusesStridedFourBitElements) {
  builder_.add_symbol({.name = "n"});
  storage({0}, 64);
  builder_.add_tensor(
      {.name = "x", .storage = "s", .dtype = "i4", .shape = {{2, 4}}, .strides = {{"n", 1}}});
  EXPECT_EQ(error({8}), "tensor.four_bit /tensors/0/strides\n");
  EXPECT_EQ(error({4}), "no error");
}

TEST_F(LayoutTest, LooksAtTheValuesOfTheFirstAndLastIteration) {
  builder_.add_symbol({.name = "n"});
  builder_.set_iterations(5);
  builder_.add_semaphore({.name = "c"});
  builder_.add_semaphore({.name = "t", .kind = "timeline"});
  builder_.add_op({.name = "a",
                   .queue = "q",
                   .waits = {{.kind = WaitKind::kSemaphore, .target = "t", .value = "iteration-1"},
                             {.kind = WaitKind::kPending, .target = "q", .value = "n-2"}},
                   .signals = {{.semaphore = "c", .value = "3-iteration"},
                               {.semaphore = "t", .value = "8/iteration"}}});
  EXPECT_EQ(error({1}),
            "value.negative /ops/0/waits/1/pending\n"
            "value.negative /ops/0/signals/0/value\n"
            "expr.overflow /ops/0/signals/1/value\n");
}

TEST(RowMajor, AllowsAnyStrideWhereItDoesNotMatter) {
  const auto check = [](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
    return is_row_major(shape, strides);
  };
  EXPECT_TRUE(check({2, 3}, {3, 1}));
  EXPECT_TRUE(check({2, 1, 3}, {3, 77, 1}));
  EXPECT_TRUE(check({2, 0}, {9, 9}));
  EXPECT_TRUE(check({}, {}));
  EXPECT_FALSE(check({2, 3}, {1, 2}));
  EXPECT_FALSE(check({2, 3}, {4, 1}));
  EXPECT_FALSE(check({3}, {-1}));
}

}  // namespace
}  // namespace memverify
