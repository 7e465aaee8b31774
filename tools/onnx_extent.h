// tools/onnx_extent.h -- the integers of an ONNX model: extents of tensors, and elements of the
// small tensors that say them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace memverify {

/// A number, an expression over symbols in the grammar of plan/expr.h, or not known.
/// What does not fit in 64 bits, or would take a text of more than 200 characters, is not known.
class OnnxExtent {
 public:
  OnnxExtent() = default;
  OnnxExtent(std::int64_t number) : number_(number), text_(std::to_string(number)) {}
  /// A symbol, or an expression that binds as one.
  static OnnxExtent symbol(std::string text);

  bool is_known() const { return !text_.empty(); }
  std::optional<std::int64_t> number() const { return number_; }
  bool is(std::int64_t number) const { return number_ == number; }
  const std::string& text() const { return text_; }  ///< "" iff it is not known.
  bool operator==(const OnnxExtent& other) const { return is_known() && text_ == other.text_; }

 private:
  std::optional<std::int64_t> number_;
  std::string text_;
};

using OnnxExtents = std::vector<OnnxExtent>;

OnnxExtent operator+(const OnnxExtent& a, const OnnxExtent& b);
OnnxExtent operator-(const OnnxExtent& a, const OnnxExtent& b);
OnnxExtent operator*(const OnnxExtent& a, const OnnxExtent& b);
/// Rounded down. Not known if b is 0 or may be.
OnnxExtent floor_div(const OnnxExtent& a, const OnnxExtent& b);
OnnxExtent larger(const OnnxExtent& a, const OnnxExtent& b);
OnnxExtent lesser(const OnnxExtent& a, const OnnxExtent& b);

/// 1 for none.
OnnxExtent product(const OnnxExtents& extents);
/// product(all) / product(parts), without what stands in both; not known if that leaves a
/// remainder.
OnnxExtent quotient(const OnnxExtents& all, const OnnxExtents& parts);

}  // namespace memverify
