// tools/onnx_nesting.h -- why protobuf does not read an ONNX file: its graphs may lie too deep.
#pragma once

#include <string_view>

namespace memverify {

/// True iff graphs lie in nodes of graphs deeper than protobuf reads messages, before anything that
/// is damaged. `text` has at most 2^31 - 1 bytes. O(bytes), without recursion.
bool is_onnx_nested_too_deep(std::string_view text);

}  // namespace memverify
