// The source of one instruction: "%add.1 = f32[16]{0} add(f32[16]{0} %p, f32[16]{0} %q), …".
#include <string>

#include "tools/hlo_text.h"
#include "tools/hlo_text_cursor.h"
#include "tools/plan_draft.h"

namespace memverify {
namespace {

constexpr int kDeepestHloTextTuple = 32;

/// "/*index=5*/" stands before each fifth element.
void skip_comment(HloTextCursor& text) {
  text.accept(" ");
  if (text.accept("/*")) text.skip_past("*/");
  text.accept(" ");
}

/// An array, "f32[2,16]{1,0:T(8,128)}", "token[]", or a tuple, "(f32[], (s32[], pred[4]{0}))".
bool read_text_shape(HloTextCursor& text, HloInstruction& to, int depth) {
  const std::size_t node = to.shape.size();
  to.shape.push_back(1);
  to.has_bytes.push_back(false);
  if (text.accept("(")) {
    if (depth == kDeepestHloTextTuple) return false;
    while (!text.accept(")")) {
      if (to.shape.size() > node + 1 && !text.accept(",")) return false;
      skip_comment(text);
      if (!read_text_shape(text, to, depth + 1)) return false;
    }
    to.shape[node] = static_cast<std::uint32_t>(to.shape.size() - node);
    return true;
  }
  const std::string_view type = text.until("[(){} ,");
  if (type.empty() || !text.rest().starts_with("[")) return false;
  const std::string_view extents = text.group();
  if (extents.empty()) return false;
  const std::string_view layout = text.rest().starts_with("{") ? text.group() : "{}";
  if (layout.empty()) return false;
  const bool is_empty =
      ("," + std::string(extents.substr(1, extents.size() - 2)) + ",").find(",0,") !=
      std::string::npos;
  to.has_bytes[node] = type != "token" && type != "opaque" && !is_empty;
  if (node == 0) {
    to.is_predicate = type == "pred";
    const std::size_t digits = std::min(type.find_first_of("0123456789"), type.size());
    const std::string_view bits =
        type.substr(digits, type.find_first_not_of("0123456789", digits) - digits);
    const bool has_order = extents.find(',') != std::string_view::npos;
    to.place = std::string(type == "pred" ? "8" : bits) + std::string(extents) +
               std::string(has_order ? layout : "");
  }
  return true;
}

/// "f32[16]{0} %p.1", "%p.1", "p.1"; before it perhaps a comment.
void read_text_operand(std::string_view one, HloTextInstruction& to) {
  HloTextCursor text(one);
  skip_comment(text);
  HloInstruction shape;
  bool has_bytes = true;
  HloTextCursor behind = text;
  if (read_text_shape(behind, shape, 0) && behind.accept(" ")) {
    has_bytes = shape.shape.size() > 1 || shape.has_bytes.front();
    text = behind;
  }
  text.accept("%");
  to.operands.push_back(text.rest());
  to.operand_has_bytes.push_back(has_bytes);
  to.operand_places.push_back(shape.shape.size() == 1 ? shape.place : "");
}

void read_text_operands(std::string_view list, HloTextInstruction& to) {
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i == list.size() ? ',' : list[i];
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (c != ',' || (depth != 0 && i < list.size())) continue;
    if (i > start) read_text_operand(list.substr(start, i - start), to);
    start = i + 1;
  }
}

/// The value of ", name=" among attributes; "" when there is none.
HloTextCursor text_attribute(std::string_view attributes, std::string_view name) {
  HloTextCursor text(attributes);
  text.skip_past(", " + std::string(name) + "=") || text.skip_past(attributes);
  return text;
}

}  // namespace

std::optional<HloTextInstruction> read_hlo_source(std::string_view source) {
  HloTextInstruction made;
  HloInstruction& one = made.instruction;
  HloTextCursor text(source);
  if (!text.skip_past(" = ") || !read_text_shape(text, one, 0) || !text.accept(" ")) {
    return std::nullopt;
  }
  one.opcode = short_name(text.until("("));
  one.defines.resize(one.shape.size());
  one.label = one.opcode;
  if (one.opcode == "constant") return made;  // Its literal may go on in further lines.
  const std::string_view group = text.group();
  if (group.empty()) return std::nullopt;
  const std::string_view list = group.substr(1, group.size() - 2);
  if (one.opcode == "parameter") {
    const std::optional<std::int64_t> number = HloTextCursor(list).number();
    if (!number) return std::nullopt;
    one.parameter = *number;
    return made;
  }
  read_text_operands(list, made);
  // What the user wrote stands behind these.
  std::string_view attributes = text.rest().substr(0, text.rest().find(", metadata="));
  if (one.opcode == "custom-call") {
    HloTextCursor target = text_attribute(attributes, "custom_call_target");
    if (target.accept("\"")) one.label = short_name(target.until("\""));
  }
  attributes = attributes.substr(0, attributes.find(", backend_config="));
  one.fusion_kind = short_name(text_attribute(attributes, "kind").until(", "));
  made.calls_async = !text_attribute(attributes, "calls").at_end() && one.opcode != "fusion";
  made.aliasing = text_attribute(attributes, "output_to_operand_aliasing").group();
  return made;
}

}  // namespace memverify
