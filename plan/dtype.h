// plan/dtype.h -- element types and their sizes (docs/format.md, "Tensors").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memverify {

enum class DType : std::uint8_t {
  kNone,  ///< The tensor is given by its bytes alone.
  kI8, kU8, kBool, kF8, kI16, kU16, kF16, kBf16, kI32, kU32, kF32, kI64, kU64, kF64, kC64, kC128,
  kI4, kU4, kF4,
};

std::string_view name(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);
/// Bits of one element: 4, 8, 16, 32, 64 or 128; 8 for kNone.
int bits(DType dtype);

}  // namespace memverify
