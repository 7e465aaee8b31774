// Field numbers are those of XLA's hlo.proto and xla_data.proto.
#include "tools/hlo_module.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "plan/words.h"
#include "tools/plan_draft.h"
#include "tools/proto_message.h"

namespace memverify {
namespace {

constexpr std::int64_t kPredicateType = 1;
constexpr std::int64_t kTupleType = 13;
constexpr std::int64_t kOpaqueType = 14;
constexpr std::int64_t kTokenType = 17;
constexpr int kDeepestTuple = 32;
constexpr std::int64_t kStepsPerByte = 64;  ///< Bounds the search for elements of wide tuples.

/// Numbers that the file gives to things, and their places in our lists.
using HloIds = std::unordered_map<std::int64_t, std::size_t>;

/// Bits of an element of a PrimitiveType; 0 for what has none or is not known.
int element_bits(std::int64_t type) {
  switch (type) {
    case 1:
    case 2:
    case 6:
    case 19:
    case 20:
    case 23:
    case 24:
    case 25:
    case 28:
    case 29:
    case 33:
      return 8;  // PRED, S8, U8, F8 of several kinds
    case 3:
    case 7:
    case 10:
    case 16:
      return 16;  // S16, U16, F16, BF16
    case 4:
    case 8:
    case 11:
      return 32;  // S32, U32, F32
    case 5:
    case 9:
    case 12:
    case 15:
      return 64;  // S64, U64, F64, C64
    case 18:
      return 128;  // C128
    case 21:
    case 22:
    case 32:
      return 4;  // S4, U4, F4
    default:
      return 0;
  }
}

class HloReader {
 public:
  HloReader(std::string_view text, std::string_view file)
      : text_(text),
        errors_(file),
        steps_(kStepsPerByte * static_cast<std::int64_t>(text.size())) {}

  Result<HloModule> read() {
    const ProtoMessage root(text_, "", errors_);
    if (!errors_.empty()) return errors_.list();
    const ProtoMessage module = root.message(1, "hlo_module");
    const ProtoMessage assignment = root.message(3, "buffer_assignment");
    if (errors_.empty() && (module.text(1).empty() || !root.has(3))) {
      errors_.fail("import.format",
                   module.text(1).empty()
                       ? "not an HloProto: it has no module with a name"
                       : "this HloProto has no buffer assignment: dump it after buffer assignment",
                   "");
    }
    if (!errors_.empty()) return errors_.list();
    module_.name = short_name(module.text(1));
    module_.file_bytes = static_cast<std::int64_t>(text_.size());
    read_module(module);
    if (errors_.empty()) read_assignment(assignment);
    if (!errors_.empty()) return errors_.list();
    return std::move(module_);
  }

 private:
  void read_module(const ProtoMessage& module) {
    const std::vector<ProtoMessage> computations = module.messages(3, "computations");
    for (const ProtoMessage& computation : computations) {
      if (!computation_ids_.try_emplace(computation.number(5), computation_ids_.size()).second) {
        return computation.fail("import.contradiction", "two computations have this id");
      }
    }
    for (const ProtoMessage& computation : computations) {
      module_.computations.emplace_back();
      if (errors_.empty()) read_computation(computation, module_.computations.back());
    }
    if (!errors_.empty()) return;
    const auto entry = computation_ids_.find(module.number(6));
    if (entry == computation_ids_.end()) {
      return module.fail("import.unknown", "there is no entry computation");
    }
    module_.entry = entry->second;
    read_schedule(module.message(7, "schedule"));
    for (const ProtoMessage& alias :
         module.message(8, "input_output_alias").messages(1, "entries")) {
      module_.donated.push_back({.parameter = alias.number(2), .index = alias.numbers(3)});
    }
    for (const ProtoMessage& donor : module.message(18, "buffer_donor").messages(1, "entries")) {
      module_.donated.push_back({.parameter = donor.number(1), .index = donor.numbers(2)});
    }
  }

  void read_computation(const ProtoMessage& from, HloComputation& computation) {
    computation.name = short_name(from.text(1));
    for (const ProtoMessage& one : from.messages(2, "instructions")) {
      if (!errors_.empty()) return;
      if (!instruction_ids_.try_emplace(one.number(35), module_.instructions.size()).second) {
        return one.fail("import.contradiction", "two instructions have this id");
      }
      computation.instructions.push_back(module_.instructions.size());
      module_.instructions.emplace_back();
      read_instruction(one, module_.instructions.back());
    }
    const auto root = instruction_ids_.find(from.number(6));
    if (root == instruction_ids_.end()) {
      return from.fail("import.unknown", "the root of this computation is none of its own");
    }
    computation.root = root->second;
  }

  void read_instruction(const ProtoMessage& from, HloInstruction& to) {
    to.name = short_name(from.text(1));
    to.opcode = short_name(from.text(2));
    to.label = to.opcode == "custom-call" ? short_name(from.text(28)) : to.opcode;
    to.parameter = from.number(9);
    to.tuple_index = from.number(13);
    to.fusion_kind = short_name(from.text(11));
    read_shape(from.message(3, "shape"), to, 0);
    to.place = place_of(from.message(3, "shape"));
    to.is_predicate = from.message(3, "shape").number(2) == kPredicateType;
    to.defines.resize(to.shape.size());
    for (const std::int64_t id : from.numbers(36)) {
      const auto operand = instruction_ids_.find(id);
      if (operand == instruction_ids_.end() || &module_.instructions[operand->second] == &to) {
        return from.fail("import.unknown",
                         "operand " + std::to_string(id) + " is no instruction before this one");
      }
      to.operands.push_back(operand->second);
    }
    for (const std::int64_t id : from.numbers(38)) {
      const auto called = computation_ids_.find(id);
      if (called == computation_ids_.end()) {
        return from.fail("import.unknown", "there is no computation " + std::to_string(id));
      }
      to.called.push_back(called->second);
    }
    for (const ProtoMessage& one : from.messages(74, "output_operand_aliasing")) {
      read_aliasing(one, to);
    }
  }

  void read_aliasing(const ProtoMessage& from, HloInstruction& to) {
    const auto operand = static_cast<std::uint64_t>(from.number(2));
    if (operand >= to.operands.size()) {
      return from.fail("import.unknown", "there is no such operand");
    }
    const HloShape& shape = module_.instructions[to.operands[operand]].shape;
    const std::optional<std::size_t> output = node_at(to.shape, from.numbers(1));
    const std::optional<std::size_t> node = node_at(shape, from.numbers(3));
    if (!output || !node) return from.fail("import.unknown", "there is no such part");
    to.aliasing.push_back({.output = *output, .operand = operand, .node = *node});
  }

  std::optional<std::size_t> node_at(const HloShape& shape,
                                     const std::vector<std::int64_t>& index) {
    steps_ -= hlo_node_cost(shape, index);
    if (steps_ >= 0) return hlo_node(shape, index);
    errors_.fail("import.unsupported", "the tuples are too wide for so small a file", "");
    return std::nullopt;
  }

  static std::string place_of(const ProtoMessage& shape) {
    std::string place = std::to_string(element_bits(shape.number(2))) + "[";
    const std::vector<std::int64_t> extents = shape.numbers(3);
    for (const std::int64_t extent : extents) place += std::to_string(extent) + ",";
    if (extents.size() > 1) {
      for (const std::int64_t dimension : shape.message(5, "layout").numbers(1)) {
        place += "]" + std::to_string(dimension);
      }
    }
    return place;
  }

  void read_shape(const ProtoMessage& from, HloInstruction& to, int depth) {
    const std::size_t node = to.shape.size();
    const std::int64_t type = from.number(2);
    const std::vector<std::int64_t> extents = from.numbers(3);
    to.shape.push_back(1);
    to.has_bytes.push_back(type != kTupleType && type != kOpaqueType && type != kTokenType &&
                           std::ranges::find(extents, 0) == extents.end());
    if (type != kTupleType) return;
    if (depth == kDeepestTuple) {
      return from.fail("import.unsupported", "tuples are nested more than 32 deep");
    }
    for (const ProtoMessage& element : from.messages(4, "tuple_shapes")) {
      read_shape(element, to, depth + 1);
    }
    to.shape[node] = static_cast<std::uint32_t>(to.shape.size() - node);
  }

  void read_schedule(const ProtoMessage& from) {
    for (const ProtoMessage& entry : from.messages(1, "sequences")) {
      const auto computation = computation_ids_.find(entry.number(1));
      if (computation == computation_ids_.end()) {
        return entry.fail("import.unknown", "there is no such computation");
      }
      std::vector<std::size_t>& schedule = module_.computations[computation->second].schedule;
      const ProtoMessage sequence = entry.message(2, "value");
      for (const std::int64_t id : sequence.numbers(1)) {
        const auto instruction = instruction_ids_.find(id);
        if (instruction == instruction_ids_.end()) {
          return sequence.fail("import.unknown", "there is no instruction " + std::to_string(id));
        }
        schedule.push_back(instruction->second);
      }
    }
  }

  void read_assignment(const ProtoMessage& from) {
    for (const ProtoMessage& one : from.messages(3, "buffer_allocations")) {
      if (!errors_.empty()) return;
      read_allocation(one);
    }
    for (const ProtoMessage& one : from.messages(1, "logical_buffers")) {
      const auto buffer = buffer_ids_.find(one.number(1));
      if (buffer == buffer_ids_.end()) continue;  // No bytes are assigned to it.
      const ProtoMessage at = one.message(3, "defined_at");
      HloInstruction* const definer = instruction_at(at);
      if (definer == nullptr) return at.fail("import.unknown", "there is no such instruction");
      const std::optional<std::size_t> node = node_at(definer->shape, at.numbers(3));
      if (!node) return at.fail("import.unknown", "the instruction has no such part");
      definer->defines[*node] = buffer->second;
    }
  }

  /// By id, or in older files by name.
  HloInstruction* instruction_at(const ProtoMessage& location) {
    if (!location.text(2).empty() && !location.has(4)) {
      if (names_.empty()) {
        for (HloInstruction& one : module_.instructions) names_.try_emplace(one.name, &one);
      }
      const auto found = names_.find(short_name(location.text(2)));
      return found == names_.end() ? nullptr : found->second;
    }
    const auto found = instruction_ids_.find(location.number(4));
    return found == instruction_ids_.end() ? nullptr : &module_.instructions[found->second];
  }

  void read_allocation(const ProtoMessage& from) {
    const HloAllocation allocation{
        .index = from.number(1), .bytes = from.number(2), .thread_local_ = from.number(3) != 0};
    for (const ProtoMessage& assigned : from.messages(9, "assigned")) {
      const HloBuffer buffer{.id = assigned.number(1),
                             .bytes = assigned.number(3),
                             .allocation = module_.allocations.size(),
                             .offset = assigned.number(2)};
      if (buffer.bytes < 0 || buffer.offset < 0 ||
          buffer.offset > std::numeric_limits<std::int64_t>::max() - buffer.bytes) {
        return assigned.fail("import.range", "this place is negative, or ends beyond 2^63 - 1");
      }
      if (!buffer_ids_.try_emplace(buffer.id, module_.buffers.size()).second) {
        return assigned.fail("import.contradiction",
                             "buffer " + std::to_string(buffer.id) + " has two places");
      }
      module_.buffers.push_back(buffer);
    }
    if (allocation.bytes < 0) return from.fail("import.range", "a size below 0");
    module_.allocations.push_back(allocation);
  }

  std::string_view text_;
  ProtoErrors errors_;
  HloModule module_;
  std::int64_t steps_;
  HloIds computation_ids_;
  HloIds instruction_ids_;
  HloIds buffer_ids_;
  std::unordered_map<std::string, HloInstruction*> names_;
};

}  // namespace

std::int64_t hlo_node_cost(const HloShape& shape, const std::vector<std::int64_t>& index) {
  std::int64_t cost = 1;
  for (const std::int64_t which : index) {
    cost += std::clamp<std::int64_t>(which, 1, static_cast<std::int64_t>(shape.size()));
  }
  return cost;
}

std::optional<std::size_t> hlo_node(const HloShape& shape, const std::vector<std::int64_t>& index) {
  std::size_t node = 0;
  for (const std::int64_t which : index) {
    const std::size_t end = node + shape[node];
    std::size_t child = node + 1;
    for (std::int64_t k = 0; k < which && child < end; ++k) child += shape[child];
    if (which < 0 || child >= end) return std::nullopt;
    node = child;
  }
  return node;
}

bool is_hlo_proto(std::string_view text) {
  // Field 1 is the module; its field 1 is its name, and its field 2 that of the entry.
  constexpr char kFirstText = '\x0A';
  constexpr char kSecondText = '\x12';
  if (!text.starts_with(kFirstText)) return false;
  std::size_t at = 1;
  while (at < text.size() && (text[at] & '\x80') != 0) ++at;  // The length of the module.
  if (at > 10 || at + 3 > text.size() || text[at + 1] != kFirstText) return false;
  const auto length = static_cast<unsigned char>(text[at + 2]);
  const std::string_view name = text.substr(at + 3, length);
  return length > 0 && length < 128 && at + 3 + length < text.size() &&
         text[at + 3 + length] == kSecondText &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

Result<HloModule> read_hlo(std::string_view text, std::string_view file) {
  return HloReader(text, file).read();
}

}  // namespace memverify
