// ONNX models for tests, written byte by byte: by field numbers, without the library that reads
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memverify::testing {

/// A protobuf message as it is built up.
class ProtoBytes {
 public:
  ProtoBytes& number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3U);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  ProtoBytes& text(int field, std::string_view value) {
    varint((static_cast<std::uint64_t>(field) << 3U) | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtoBytes& add(int field, const ProtoBytes& message) { return text(field, message.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7U) bytes_ += static_cast<char>(value | 128U);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

inline constexpr int kOnnxFloat = 1;
inline constexpr int kOnnxInt64 = 7;
inline constexpr int kOnnxBool = 9;

/// "" is an extent that is not known, a number a number, anything else a name.
inline ProtoBytes onnx_type(int element, const std::vector<std::string>& extents) {
  ProtoBytes shape;
  for (const std::string& extent : extents) {
    ProtoBytes dim;
    if (!extent.empty() && extent.find_first_not_of("0123456789") == std::string::npos) {
      dim.number(1, std::stoll(extent));
    } else if (!extent.empty()) {
      dim.text(2, extent);
    }
    shape.add(1, dim);
  }
  return ProtoBytes().add(1, ProtoBytes().number(1, element).add(2, shape));
}

inline ProtoBytes onnx_value(std::string_view name, const ProtoBytes& type) {
  return ProtoBytes().text(1, name).add(2, type);
}

inline ProtoBytes onnx_attribute(std::string_view name, std::int64_t value) {
  return ProtoBytes().text(1, name).number(3, value).number(20, 2);
}
inline ProtoBytes onnx_attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  ProtoBytes out = ProtoBytes().text(1, name);
  for (const std::int64_t value : values) out.number(8, value);
  return out.number(20, 7);
}
inline ProtoBytes onnx_attribute(std::string_view name, const ProtoBytes& graph) {
  return ProtoBytes().text(1, name).add(6, graph).number(20, 5);
}

/// `outputs` and `inputs`: names with blanks between them; "_" is one that is left out.
inline ProtoBytes onnx_node(std::string_view outputs, std::string_view op, std::string_view inputs,
                            const std::vector<ProtoBytes>& attributes = {},
                            std::string_view domain = "") {
  ProtoBytes out;
  const auto names = [&](int field, std::string_view list) {
    while (!list.empty()) {
      const std::string_view name = list.substr(0, list.find(' '));
      out.text(field, name == "_" ? "" : name);
      list.remove_prefix(std::min(name.size() + 1, list.size()));
    }
  };
  names(1, inputs);
  names(2, outputs);
  out.text(4, op);
  for (const ProtoBytes& attribute : attributes) out.add(5, attribute);
  return domain.empty() ? out : out.text(7, domain);
}

/// An initialiser of integers, a list; or of floats, of which only the extents are there.
inline ProtoBytes onnx_integers(std::string_view name, const std::vector<std::int64_t>& values) {
  ProtoBytes out = ProtoBytes().number(1, static_cast<std::int64_t>(values.size()));
  out.number(2, kOnnxInt64);
  for (const std::int64_t value : values) out.number(7, value);
  return out.text(8, name);
}
inline ProtoBytes onnx_integer(std::string_view name, std::int64_t value) {
  return ProtoBytes().number(2, kOnnxInt64).number(7, value).text(8, name);
}
inline ProtoBytes onnx_weights(std::string_view name, const std::vector<std::int64_t>& extents,
                               int element = kOnnxFloat) {
  ProtoBytes out;
  for (const std::int64_t extent : extents) out.number(1, extent);
  return out.number(2, element).text(8, name).number(14, 1);  // EXTERNAL
}

struct OnnxGraphBytes {
  std::vector<ProtoBytes> nodes = {};
  std::vector<ProtoBytes> inputs = {};
  std::vector<ProtoBytes> outputs = {};
  std::vector<ProtoBytes> initialisers = {};
  std::vector<ProtoBytes> values = {};

  ProtoBytes bytes() const {
    ProtoBytes out;
    for (const ProtoBytes& one : nodes) out.add(1, one);
    out.text(2, "g");
    for (const ProtoBytes& one : initialisers) out.add(5, one);
    for (const ProtoBytes& one : inputs) out.add(11, one);
    for (const ProtoBytes& one : outputs) out.add(12, one);
    for (const ProtoBytes& one : values) out.add(13, one);
    return out;
  }
};

inline std::string onnx_model(const OnnxGraphBytes& graph, std::int64_t opset = 17) {
  ProtoBytes out = ProtoBytes().number(1, 8).text(2, "test").add(7, graph.bytes());
  out.add(8, ProtoBytes().text(1, "").number(2, opset));
  out.add(8, ProtoBytes().text(1, "com.microsoft").number(2, 1));
  return out.bytes();
}

}  // namespace memverify::testing
