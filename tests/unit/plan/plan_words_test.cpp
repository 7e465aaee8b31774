// The small vocabulary: dtypes, names of enums, diagnostics, pointers.
#include <gtest/gtest.h>

#include <set>

#include "plan/dtype.h"
#include "plan/plan.h"
#include "plan/pointer.h"
#include "plan/result.h"

namespace memverify {
namespace {

TEST(DType, ParsesEveryNameOfTheFormatToItsSize) {
  const std::pair<std::string_view, int> expected[] = {
      {"i8", 8},    {"u8", 8},     {"bool", 8}, {"f8", 8},   {"i16", 16}, {"u16", 16}, {"f16", 16},
      {"bf16", 16}, {"i32", 32},   {"u32", 32}, {"f32", 32}, {"i64", 64}, {"u64", 64}, {"f64", 64},
      {"c64", 64},  {"c128", 128}, {"i4", 4},   {"u4", 4},   {"f4", 4}};
  std::set<DType> seen;
  for (const auto& [word, size] : expected) {
    const std::optional<DType> dtype = parse_dtype(word);
    ASSERT_TRUE(dtype) << word;
    EXPECT_EQ(bits(*dtype), size) << word;
    EXPECT_EQ(name(*dtype), word);
    seen.insert(*dtype);
  }
  EXPECT_EQ(seen.size(), std::size(expected));
  EXPECT_FALSE(parse_dtype("float32"));
  EXPECT_FALSE(parse_dtype(""));
  EXPECT_EQ(bits(DType::kNone), 8);
}

TEST(Duration, DefaultsByKind) {
  Plan plan;
  plan.durations.push_back({3, 9});
  EXPECT_EQ(duration_of(plan, {.kind = OpKind::kOp}).min, 1);
  EXPECT_EQ(duration_of(plan, {.kind = OpKind::kUnknown}).max, 1);
  EXPECT_EQ(duration_of(plan, {.kind = OpKind::kBarrier}).max, 0);
  Op barrier{.kind = OpKind::kBarrier};
  plan.add_details(barrier).duration = 0;
  EXPECT_EQ(duration_of(plan, barrier).max, 9);
}

TEST(Diagnostic, LeavesOutWhatIsUnknown) {
  Diagnostic error{.id = "tensor.unknown", .message = "no tensor has the id `x`"};
  EXPECT_EQ(to_string(error), "error: no tensor has the id `x` [tensor.unknown]");
  error.file = "p.json";
  EXPECT_EQ(to_string(error), "p.json: error: no tensor has the id `x` [tensor.unknown]");
  error.line = 3;
  error.column = 7;
  error.pointer = "/ops/0/reads/1";
  EXPECT_EQ(to_string(error),
            "p.json:3:7: error: no tensor has the id `x` [tensor.unknown] (at /ops/0/reads/1)");
}

TEST(Pointer, EscapesKeys) {
  EXPECT_EQ(json_pointer({"peak_bytes", std::string_view("a/b~c")}), "/peak_bytes/a~1b~0c");
  EXPECT_EQ(json_pointer({"ops", 12, "reads", 0U}), "/ops/12/reads/0");
  EXPECT_EQ(json_pointer({}), "");
}

}  // namespace
}  // namespace memverify
