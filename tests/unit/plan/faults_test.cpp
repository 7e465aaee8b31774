#include <string>
#include <vector>

#include "tests/unit/plan/faults_support.h"

namespace memverify {
namespace {

// --- MV107: reads against writes.

TEST(Faults, ReadOverAWriteNeedsAnInPlacePair) {
  const TensorSpec x{.name = "x", .offset = 0, .bytes = 64};
  EXPECT_EQ(faults(with({x, {.name = "y", .offset = 0, .bytes = 64}},
                        {{.name = "f", .reads = {{"x"}}, .writes = {{"y"}}}})),
            Strings{"MV107 f: x y [0,64)"});
  EXPECT_EQ(faults(with({x, {.name = "y", .offset = 60, .bytes = 64}},
                        {{.name = "f", .reads = {{"x"}}, .clobbers = {{"y"}}}})),
            Strings{"MV107 f: x y [60,64)"});
  EXPECT_EQ(faults(with({x, {.name = "y", .offset = 64, .bytes = 64}},
                        {{.name = "f", .reads = {{"x"}}, .accumulates = {{"y"}}}})),
            Strings{});
  EXPECT_EQ(
      faults(with({x, {.name = "y", .offset = 0, .bytes = 64}},
                  {{.name = "f", .reads = {{"x"}}, .writes = {{"y"}}, .in_place = {{"x", "y"}}}})),
      Strings{});
}

TEST(Faults, ReadModifyWriteIsExactlyTheSameBytesOfOneTensor) {
  const TensorSpec x{.name = "x", .bytes = 64};
  const AccessSpec half{.tensor = "x", .offset = 0, .bytes = 32};
  EXPECT_EQ(faults(with({x}, {{.name = "f", .reads = {{"x"}}, .writes = {{"x"}}}})), Strings{});
  EXPECT_EQ(faults(with({x}, {{.name = "f", .reads = {half}, .writes = {half}}})), Strings{});
  EXPECT_EQ(faults(with({x}, {{.name = "f", .reads = {{"x"}}, .writes = {half}}})),
            Strings{"MV107 f: x x [0,32)"});
  EXPECT_EQ(faults(with({x, {.name = "v", .view_of = "x", .bytes = 64}},
                        {{.name = "f", .reads = {{"x"}}, .writes = {{"v"}}}})),
            Strings{"MV107 f: x v [0,64)"});
}

TEST(Faults, CarriedValueInOneBufferNeedsAnInPlacePair) {
  const AccessSpec before{.tensor = "h", .distance = 1};
  PlanBuilder b =
      with({{.name = "h", .bytes = 64}}, {{.name = "f", .reads = {before}, .writes = {{"h"}}}});
  b.set_iterations(3);
  EXPECT_EQ(faults(std::move(b)), Strings{"MV107 f: h h [0,64)"});
  b = with({{.name = "h", .bytes = 64}},
           {{.name = "f", .reads = {before}, .writes = {{"h"}}, .in_place = {{"h", "h"}}}});
  b.set_iterations(3);
  EXPECT_EQ(faults(std::move(b)), Strings{});
}

TEST(Faults, InPlacePairNeedsEqualElementOrder) {
  const auto pair = [](TensorSpec x, TensorSpec y, bool any = false) {
    x.name = "x";
    y.name = "y";
    return faults(
        with({x, y},
             {{.name = "f", .reads = {{"x"}}, .writes = {{"y"}}, .in_place = {{"x", "y", any}}}}));
  };
  const TensorSpec square{.dtype = "f32", .shape = list({4, 4})};
  const TensorSpec transposed{.dtype = "f32", .shape = list({4, 4}), .strides = list({1, 4})};
  const Strings fault{"MV107 f: x y [0,64)"};
  EXPECT_EQ(pair(square, square), Strings{});
  EXPECT_EQ(pair(square, transposed), fault);
  EXPECT_EQ(pair(square, transposed, true), Strings{});
  EXPECT_EQ(pair(transposed, transposed), Strings{});
  EXPECT_EQ(pair(square, {.dtype = "i32", .shape = list({2, 1, 8})}), Strings{}) << "a reshape";
  EXPECT_EQ(pair(square, {.dtype = "f16", .shape = list({4, 8})}), fault) << "other elements";
  EXPECT_EQ(pair(square, {.bytes = 64}), Strings{}) << "bytes agree with any dense order";
  EXPECT_EQ(pair(transposed, {.bytes = 64}), fault);
  EXPECT_EQ(pair({.bytes = 64}, {.bytes = 65}), fault) << "more bytes";
  EXPECT_EQ(pair({.dtype = "i4", .shape = list({64})}, {.dtype = "f4", .shape = list({8, 8})}),
            (Strings{}));
  EXPECT_EQ(pair({.dtype = "i4", .shape = list({64})}, {.dtype = "u8", .shape = list({32})}),
            Strings{"MV107 f: x y [0,32)"});
  // Strided alike, reversed, and the same columns in another order of dims.
  const TensorSpec columns{.dtype = "f32", .shape = list({8, 2}), .strides = list({8, 1})};
  EXPECT_EQ(pair(columns, columns), Strings{});
  EXPECT_EQ(pair(columns, {.dtype = "f32", .shape = list({8, 1, 2}), .strides = list({8, 99, 1})}),
            Strings{});
  EXPECT_EQ(pair(columns, {.dtype = "f32", .shape = list({2, 8}), .strides = list({1, 8})}),
            Strings{"MV107 f: x y [0,8)"});
  EXPECT_EQ(pair({.dtype = "f32", .shape = list({16})},
                 {.offset = 60, .dtype = "f32", .shape = list({16}), .strides = list({-1})}),
            fault);
}

TEST(Faults, InPlacePairsAreOfTensorsNotOfParts) {
  const AccessSpec half{.tensor = "y", .offset = 0, .bytes = 32};
  const auto write_half_of = [&](std::int64_t offset) {
    return faults(with(
        {{.name = "x", .offset = 0, .bytes = 64}, {.name = "y", .offset = offset, .bytes = 64}},
        {{.name = "f", .reads = {{"x"}}, .writes = {half}, .in_place = {{"x", "y"}}}}));
  };
  EXPECT_EQ(write_half_of(0), Strings{});
  EXPECT_EQ(write_half_of(32), Strings{"MV107 f: x y [32,64)"});
}

TEST(Faults, WiderRowsAtTheSameBaseAreNotInPlace) {
  EXPECT_EQ(faults(with({{.name = "src", .dtype = "f16", .shape = list({4, 8})},
                         {.name = "dst", .dtype = "f16", .shape = list({4, 16})},
                         {.name = "left",
                          .view_of = "dst",
                          .dtype = "f16",
                          .shape = list({4, 8}),
                          .strides = list({16, 1})}},
                        {{.name = "concat",
                          .reads = {{"src"}},
                          .writes = {{"left"}},
                          .in_place = {{"src", "left"}}}})),
            Strings{"MV107 concat: src left [0,16)"});
}

TEST(Faults, InterleavedColumnsDoNotClash) {
  const auto half = [](std::string_view name, std::int64_t offset) {
    return TensorSpec{
        .name = name, .offset = offset, .dtype = "f32", .shape = list({8}), .strides = list({2})};
  };
  EXPECT_EQ(faults(with({half("even", 0), half("odd", 4)},
                        {{.name = "f", .reads = {{"even"}}, .writes = {{"odd"}}}})),
            Strings{});
  EXPECT_EQ(faults(with({half("even", 0), half("odd", 8)},
                        {{.name = "f", .reads = {{"even"}}, .writes = {{"odd"}}}})),
            Strings{"MV107 f: even odd [8,12)"});
}

// --- MV107: writes against writes.

TEST(Faults, WritesAndClobbersOfOneOpMustNotShareBytes) {
  const std::vector<TensorSpec> xy{{.name = "x", .bytes = 64},
                                   {.name = "y", .offset = 32, .bytes = 64}};
  EXPECT_EQ(faults(with(xy, {{.name = "f", .writes = {{"x"}, {"y"}}}})),
            Strings{"MV107 f: x y [32,64)"});
  EXPECT_EQ(faults(with(xy, {{.name = "f", .writes = {{"x"}}, .clobbers = {{"y"}}}})),
            Strings{"MV107 f: x y [32,64)"});
  EXPECT_EQ(faults(with(xy, {{.name = "f",
                              .writes = {{"x"}},
                              .clobbers = {{.pool = "hbm", .offset = 60, .bytes = 100}}}})),
            Strings{"MV107 f: x [60,64)"});
  EXPECT_EQ(faults(with(xy, {{.name = "f", .writes = {{.tensor = "x", .bytes = 32}, {"y"}}}})),
            Strings{});
  EXPECT_EQ(faults(with(xy, {{.name = "f", .writes = {{"x"}}, .accumulates = {{"y"}}}})),
            Strings{"MV107 f: x y [32,64)"});
  EXPECT_EQ(faults(with(xy, {{.name = "f", .accumulates = {{"x"}, {"y"}}}})), Strings{})
      << "accumulates of one kind commute";
  EXPECT_EQ(
      faults(with(xy, {{.name = "f", .accumulates = {{"x"}, {.tensor = "y", .update = "max"}}}})),
      Strings{"MV107 f: x y [32,64)"});
}

TEST(Faults, WrittenTensorsMustNotOverlapThemselves) {
  const TensorSpec broadcast{
      .name = "b", .dtype = "f32", .shape = list({4, 4}), .strides = list({0, 1})};
  const TensorSpec windows{
      .name = "b", .dtype = "f32", .shape = list({4, 4}), .strides = list({1, 1})};
  for (const TensorSpec& tensor : {broadcast, windows}) {
    for (const OpSpec& op :
         {OpSpec{.name = "f", .writes = {{"b"}}}, OpSpec{.name = "f", .accumulates = {{"b"}}},
          OpSpec{.name = "f", .clobbers = {{"b"}}}}) {
      EXPECT_EQ(faults(with({tensor}, {op})).size(), 1U);
    }
    EXPECT_EQ(faults(with({tensor}, {{.name = "f", .reads = {{"b"}}}})), Strings{});
  }
  EXPECT_EQ(faults(with({broadcast}, {{.name = "f", .writes = {{"b"}}}})),
            Strings{"MV107 f: b [0,16)"});
  const TensorSpec apart{
      .name = "b", .dtype = "f32", .shape = list({4, 4}), .strides = list({4, 1})};
  EXPECT_EQ(faults(with({apart}, {{.name = "f", .writes = {{"b"}}}})), Strings{});
}

TEST(Faults, ClashesAreSoughtInEverySlotCombinationThatOccurs) {
  // x has slots 0 and 64, y has 0, 64 and 128 shifted by one: they meet in some iterations only.
  const auto rotating = [](std::int64_t iterations, std::string_view runs,
                           std::vector<ExprSpec> x) {
    PlanBuilder b;
    b.add_pool({.name = "hbm"});
    b.add_queue({.name = "q"});
    b.add_storage(
        {.name = "sx", .pool = "hbm", .slots = std::move(x), .slots_are_array = true, .bytes = 64});
    b.add_storage({.name = "sy",
                   .pool = "hbm",
                   .slots = {256, 320, 64},
                   .slots_are_array = true,
                   .bytes = 64});
    b.add_tensor({.name = "x", .storage = "sx", .bytes = 64});
    b.add_tensor({.name = "y", .storage = "sy", .bytes = 64});
    b.add_op({.name = "f", .queue = "q", .runs = runs, .reads = {{"x"}}, .writes = {{"y"}}});
    if (iterations == 0) b.set_unbounded();
    if (iterations != 0) b.set_iterations(iterations);
    return faults(std::move(b));
  };
  EXPECT_EQ(rotating(5, "", {0, 64}), Strings{}) << "first met in iteration 5";
  EXPECT_EQ(rotating(6, "", {0, 64}), Strings{"MV107 f: x y [64,128) @5"});
  EXPECT_EQ(rotating(0, "", {0, 64}), Strings{"MV107 f: x y [64,128) @5"});
  EXPECT_EQ(rotating(6, "last", {0, 64}), Strings{"MV107 f: x y [64,128) @5"});
  EXPECT_EQ(rotating(7, "last", {0, 64}), Strings{});
  std::vector<ExprSpec> many;  // More combinations than are tried at once.
  for (std::int64_t slot = 0; slot < 64; ++slot)
    many.emplace_back(slot == 62 ? 64 : 1000 + 64 * slot);
  EXPECT_EQ(rotating(62, "", many), Strings{});
  EXPECT_EQ(rotating(63, "", many), Strings{"MV107 f: x y [64,128) @62"});
}

TEST(Faults, OpsWithManyAccessesAreSwept) {
  for (const bool clash : {false, true}) {
    PlanBuilder b = base();
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i) names.push_back("t" + std::to_string(i));
    OpSpec op{.name = "f", .queue = "q"};
    for (std::int64_t i = 0; i < 40; ++i) {
      const std::int64_t offset = 20 * i + (clash && i == 33 ? 1 : 0);
      b.add_tensor({.name = names[static_cast<std::size_t>(i)],
                    .storage = "s",
                    .offset = offset,
                    .bytes = 20});
      (i % 3 == 0 ? op.reads : op.writes).push_back({names[static_cast<std::size_t>(i)]});
    }
    b.add_op(op);
    EXPECT_EQ(faults(std::move(b)), clash ? Strings{"MV107 f: t33 t34 [680,681)"} : Strings{});
  }
}

TEST(Faults, WhatUnknownOpsListMayOverlap) {
  EXPECT_EQ(faults(with({{.name = "x", .bytes = 64}, {.name = "y", .bytes = 64}},
                        {{.name = "f", .kind = "unknown", .reads = {{"x"}}, .writes = {{"y"}}}})),
            Strings{});
}

// --- MV113

TEST(Faults, ViewOpsStayInOneFamily) {
  const std::vector<TensorSpec> tensors{{.name = "x", .bytes = 64},
                                        {.name = "v", .view_of = "x", .bytes = 64},
                                        {.name = "y", .bytes = 64}};
  EXPECT_EQ(
      faults(with(tensors, {{.name = "f", .kind = "view", .reads = {{"x"}}, .writes = {{"v"}}}})),
      Strings{});
  EXPECT_EQ(
      faults(with(tensors, {{.name = "f", .kind = "view", .reads = {{"x"}}, .writes = {{"y"}}}})),
      Strings{"MV113 f: x y"});
}

}  // namespace
}  // namespace memverify
