#include "plan/pointer.h"

#include <array>

namespace memverify {

std::string json_pointer(std::initializer_list<PointerStep> steps) {
  std::string text;
  for (const PointerStep& step : steps) {
    text += '/';
    if (step.is_number) text += std::to_string(step.number);
    for (const char c : step.key) {
      if (c == '~') {
        text += "~0";
      } else if (c == '/') {
        text += "~1";
      } else {
        text += c;
      }
    }
  }
  return text;
}

std::string access_pointer(const Plan& plan, OpId op, std::uint32_t access) {
  constexpr std::array<std::string_view, 4> kLists = {"reads", "writes", "accumulates", "clobbers"};
  const AccessKind kind = plan.accesses[access].kind;
  std::uint32_t first = access;  // Of its list: an op's accesses are ordered by kind.
  while (first > plan.ops[op].accesses.begin && plan.accesses[first - 1].kind == kind) --first;
  return json_pointer({"ops", index(op), kLists[static_cast<std::size_t>(kind)], access - first});
}

std::string wait_pointer(const Plan& plan, OpId op, std::uint32_t wait) {
  if (plan.ops[op].kind == OpKind::kHostWait) return json_pointer({"ops", index(op), "for"});
  return json_pointer({"ops", index(op), "waits", wait - plan.ops[op].waits.begin});
}

std::string_view value_key(WaitKind kind) {
  if (kind == WaitKind::kPending) return "pending";
  return kind == WaitKind::kOutstanding ? "outstanding" : "value";
}

}  // namespace memverify
