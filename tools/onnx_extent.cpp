// Tested by tests/unit/tools/import_onnx_test.cpp.
#include "tools/onnx_extent.h"

#include <algorithm>

namespace memverify {
namespace {

constexpr std::size_t kMostExtentText = 200;

using CheckedArithmetic = bool (*)(std::int64_t, std::int64_t, std::int64_t*);

bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t* out) {
  return __builtin_add_overflow(a, b, out);
}
bool sub_overflows(std::int64_t a, std::int64_t b, std::int64_t* out) {
  return __builtin_sub_overflow(a, b, out);
}
bool mul_overflows(std::int64_t a, std::int64_t b, std::int64_t* out) {
  return __builtin_mul_overflow(a, b, out);
}

OnnxExtent combined(const OnnxExtent& a, const OnnxExtent& b, CheckedArithmetic apply, char sign) {
  if (!a.is_known() || !b.is_known()) return {};
  if (a.number() && b.number()) {
    std::int64_t out = 0;
    return apply(*a.number(), *b.number(), &out) ? OnnxExtent() : OnnxExtent(out);
  }
  return OnnxExtent::symbol("(" + a.text() + sign + b.text() + ")");
}

OnnxExtent called(const char* function, const OnnxExtent& a, const OnnxExtent& b) {
  if (!a.is_known() || !b.is_known()) return {};
  return OnnxExtent::symbol(std::string(function) + "(" + a.text() + "," + b.text() + ")");
}

}  // namespace

OnnxExtent OnnxExtent::symbol(std::string text) {
  OnnxExtent out;
  if (text.size() <= kMostExtentText) out.text_ = std::move(text);
  return out;
}

OnnxExtent operator+(const OnnxExtent& a, const OnnxExtent& b) {
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  return combined(a, b, add_overflows, '+');
}

OnnxExtent operator-(const OnnxExtent& a, const OnnxExtent& b) {
  if (b.is(0)) return a;
  if (a == b) return 0;
  return combined(a, b, sub_overflows, '-');
}

OnnxExtent operator*(const OnnxExtent& a, const OnnxExtent& b) {
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  if (a.is(0) || b.is(0)) return 0;
  return combined(a, b, mul_overflows, '*');
}

OnnxExtent floor_div(const OnnxExtent& a, const OnnxExtent& b) {
  if (!b.number() || *b.number() <= 0) return a == b && !b.number() ? OnnxExtent(1) : OnnxExtent();
  if (b.is(1) || !a.is_known()) return a;
  if (!a.number()) return OnnxExtent::symbol("(" + a.text() + "/" + b.text() + ")");
  const std::int64_t quotient = *a.number() / *b.number();
  return quotient - (*a.number() % *b.number() < 0 ? 1 : 0);
}

OnnxExtent larger(const OnnxExtent& a, const OnnxExtent& b) {
  if (a.number() && b.number()) return std::max(*a.number(), *b.number());
  return a == b ? a : called("max", a, b);
}

OnnxExtent lesser(const OnnxExtent& a, const OnnxExtent& b) {
  if (a.number() && b.number()) return std::min(*a.number(), *b.number());
  return a == b ? a : called("min", a, b);
}

OnnxExtent product(const OnnxExtents& extents) {
  OnnxExtent out = 1;
  for (const OnnxExtent& extent : extents) out = out * extent;
  return out;
}

OnnxExtent quotient(const OnnxExtents& all, const OnnxExtents& parts) {
  std::int64_t above = 1;
  std::int64_t below = 1;
  OnnxExtents left;  // Symbols of `all`.
  for (const OnnxExtent& extent : all) {
    if (!extent.is_known()) return {};
    if (!extent.number()) {
      left.push_back(extent);
    } else if (mul_overflows(above, *extent.number(), &above)) {
      return {};
    }
  }
  for (const OnnxExtent& extent : parts) {
    if (!extent.is_known()) return {};
    if (extent.number()) {
      if (mul_overflows(below, *extent.number(), &below)) return {};
      continue;
    }
    const auto found = std::ranges::find(left, extent);
    if (found == left.end()) return {};
    left.erase(found);
  }
  if (below == 0) return {};
  if (above % below == 0) return OnnxExtent(above / below) * product(left);
  if (left.empty()) return {};
  return floor_div(OnnxExtent(above) * product(left), below);
}

}  // namespace memverify
