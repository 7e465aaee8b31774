#include "tools/hlo_sharing.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace memverify {
namespace {

/// Element k of the result needs nothing but element k of each operand of the result's shape.
constexpr auto kHloElementwise = std::to_array<std::string_view>({
    "abs",
    "add",
    "and",
    "atan2",
    "bitcast-convert",
    "cbrt",
    "ceil",
    "clamp",
    "compare",
    "complex",
    "convert",
    "copy",
    "cosine",
    "count-leading-zeros",
    "divide",
    "erf",
    "exponential",
    "exponential-minus-one",
    "floor",
    "imag",
    "is-finite",
    "log",
    "log-plus-one",
    "logistic",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "or",
    "popcnt",
    "power",
    "real",
    "reduce-precision",
    "remainder",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "select",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "sign",
    "sine",
    "sqrt",
    "stochastic-convert",
    "subtract",
    "tan",
    "tanh",
    "xor",
});

/// Those that change an operand and leave the rest of it as it is; the operand.
struct InPlaceOperand {
  std::string_view opcode;
  std::size_t operand = 0;
};
constexpr auto kUpdates = std::to_array<InPlaceOperand>({
    {"dynamic-update-slice", 0},
    {"scatter", 0},
    {"set-dimension-size", 0},
});

/// Result k may be operand k.
constexpr auto kOneByOne =
    std::to_array<std::string_view>({"all-reduce", "all-reduce-start", "sort"});

bool is_elementwise(const HloInstruction& one) {
  return std::ranges::find(kHloElementwise, one.opcode) != kHloElementwise.end();
}

/// Which element of a tuple a node of its tree is, or 0.
std::size_t element_of(const HloInstruction& one, std::size_t node) {
  return one.shape.size() == 1 || node == 0 ? 0 : node - 1;
}

}  // namespace

bool HloSharing::known(const HloInstruction& one, std::size_t operand, std::size_t node,
                       std::size_t output) {
  steps_ -= static_cast<std::int64_t>(one.aliasing.size());
  if (steps_ < 0) return false;
  const bool stated = std::ranges::any_of(one.aliasing, [&](const HloAliasing& alias) {
    return alias.operand == operand && alias.node == node && alias.output == output;
  });
  if (stated) return true;
  if (is_elementwise(one)) return same_place(one, one.operands[operand]);
  const bool update = std::ranges::any_of(kUpdates, [&](const InPlaceOperand& known) {
    return known.opcode == one.opcode && known.operand == operand;
  });
  if (update) return same_place(one, one.operands[operand]);
  if (std::ranges::find(kOneByOne, one.opcode) != kOneByOne.end()) {
    return element_of(one, output) == operand;
  }
  return one.opcode == "fusion" && node == 0 && fusion_works_in_place(one, operand, output);
}

/// True iff the fused computation is a loop over elements that needs the operand for nothing else
/// than the elements at the same place, or updates it.
bool HloSharing::fusion_works_in_place(const HloInstruction& one, std::size_t operand,
                                       std::size_t output) {
  if (one.called.size() != 1 || one.fusion_kind != "kLoop") return false;
  const HloComputation& fused = module_.computations[one.called.front()];
  steps_ -= static_cast<std::int64_t>(fused.instructions.size());
  if (steps_ < 0) return false;
  std::unordered_set<std::size_t> depends;  // On the operand.
  std::size_t result = fused.root;
  const HloInstruction& root = module_.instructions[fused.root];
  if (root.opcode == "tuple") {
    if (output == 0 || output > root.operands.size()) return false;
    result = root.operands[output - 1];
  }
  for (const std::size_t index : fused.instructions) {
    const HloInstruction& inner = module_.instructions[index];
    if (inner.opcode == "parameter") {
      if (static_cast<std::size_t>(inner.parameter) == operand) depends.insert(index);
      continue;
    }
    const auto uses = std::ranges::count_if(
        inner.operands, [&](std::size_t given) { return depends.contains(given); });
    if (uses == 0 || inner.opcode == "tuple") continue;
    const bool updates = inner.opcode == "dynamic-update-slice" && index == result && uses == 1 &&
                         depends.contains(inner.operands.front());
    if (!updates && !is_elementwise(inner)) return false;
    const bool in_place = std::ranges::all_of(inner.operands, [&](std::size_t given) {
      return !depends.contains(given) || same_place(inner, given);
    });
    if (!in_place) return false;
    depends.insert(index);
  }
  return true;
}

}  // namespace memverify
