// Tested by tests/unit/tools/import_onnx_test.cpp.
#include "tools/onnx_nesting.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <vector>

namespace memverify {

bool is_onnx_nested_too_deep(std::string_view text) {
  using google::protobuf::internal::WireFormatLite;
  using google::protobuf::io::CodedInputStream;
  const auto lies_on_the_way = [](std::size_t depth, int field) {
    if (depth == 0) return field == onnx::ModelProto::kGraphFieldNumber;
    if (depth % 3 == 1) return field == onnx::GraphProto::kNodeFieldNumber;
    if (depth % 3 == 2) return field == onnx::NodeProto::kAttributeFieldNumber;
    return field == onnx::AttributeProto::kGFieldNumber ||
           field == onnx::AttributeProto::kGraphsFieldNumber;
  };
  const auto most = static_cast<std::size_t>(CodedInputStream::GetDefaultRecursionLimit());
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(text.data()),
                      static_cast<int>(text.size()));
  std::vector<CodedInputStream::Limit> around;  // The ends of the messages that it is in.
  while (around.size() <= most) {
    const std::uint32_t tag = in.ReadTag();
    if (tag == 0) {
      if (around.empty() || in.BytesUntilLimit() != 0) return false;
      in.PopLimit(around.back());
      around.pop_back();
    } else if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED &&
               lies_on_the_way(around.size(), WireFormatLite::GetTagFieldNumber(tag))) {
      around.push_back(in.ReadLengthAndPushLimit());
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      return false;
    }
  }
  return true;
}

}  // namespace memverify
