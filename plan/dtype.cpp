#include "plan/dtype.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace memverify {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  int bits;
};

// In the order of the enumeration, so that a row's index is its dtype.
constexpr std::array<Row, 20> kRows = {{
    {DType::kNone, "", 8},     {DType::kI8, "i8", 8},       {DType::kU8, "u8", 8},
    {DType::kBool, "bool", 8}, {DType::kF8, "f8", 8},       {DType::kI16, "i16", 16},
    {DType::kU16, "u16", 16},  {DType::kF16, "f16", 16},    {DType::kBf16, "bf16", 16},
    {DType::kI32, "i32", 32},  {DType::kU32, "u32", 32},    {DType::kF32, "f32", 32},
    {DType::kI64, "i64", 64},  {DType::kU64, "u64", 64},    {DType::kF64, "f64", 64},
    {DType::kC64, "c64", 64},  {DType::kC128, "c128", 128}, {DType::kI4, "i4", 4},
    {DType::kU4, "u4", 4},     {DType::kF4, "f4", 4},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].dtype) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  const auto* found = std::ranges::find(kRows, name, &Row::name);
  if (name.empty() || found == kRows.end()) return std::nullopt;
  return found->dtype;
}

int bits(DType dtype) { return row(dtype).bits; }

}  // namespace memverify
