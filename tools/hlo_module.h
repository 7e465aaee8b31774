// tools/hlo_module.h -- what an HloProto of XLA says, as far as memory goes: the scheduled
// instructions, and the buffers that they define. Text dumps say a part of it (hlo_text.h).
//
// Values of instructions are trees, for tuples. Such a tree is a list of its nodes in preorder:
// first the value itself, then those of each element of a tuple.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"

namespace memverify {

/// Of a tree in preorder: how many nodes the subtree of each node has. A leaf has 1.
using HloShape = std::vector<std::uint32_t>;

/// The part of a tree below `index`: its first node; nullopt when there is none.
std::optional<std::size_t> hlo_node(const HloShape& shape, const std::vector<std::int64_t>& index);

/// About how many steps that takes.
std::int64_t hlo_node_cost(const HloShape& shape, const std::vector<std::int64_t>& index);

struct HloBuffer {
  std::int64_t id = 0;
  std::int64_t bytes = 0;
  std::size_t allocation = 0;
  std::int64_t offset = 0;
};

struct HloAllocation {
  std::int64_t index = 0;
  std::int64_t bytes = 0;
  bool thread_local_ = false;  ///< Of a computation that ops apply to elements.
};

/// An output that is an operand, at the same place.
struct HloAliasing {
  std::size_t output = 0;   ///< A node of the instruction's tree.
  std::size_t operand = 0;  ///< Which operand,
  std::size_t node = 0;     ///< and a node of its tree.
};

struct HloInstruction {
  std::string name;
  std::string opcode;
  std::string label;  ///< The opcode, of a custom call its target.
  HloShape shape;
  std::vector<bool> has_bytes;  ///< By node: an array that is not empty. No tuple, no token.
  bool is_predicate = false;    ///< The value is of PRED elements.
  std::string place;  ///< Of an array its extents, layout and bits an element: where elements lie.
  std::vector<std::size_t> operands;  ///< Instructions.
  std::vector<std::size_t> called;    ///< Computations.
  std::int64_t parameter = 0;         ///< Its number.
  std::int64_t tuple_index = 0;
  std::string fusion_kind;
  std::vector<HloAliasing> aliasing;
  std::vector<std::optional<std::size_t>> defines;  ///< A buffer, by node of the tree.
  /// Not what it does is known, but its effect: `defines` is its whole value, which others wrote,
  /// and it reads nothing else than the buffers in `tables`.
  bool is_stated = false;
  std::vector<std::size_t> tables;
};

struct HloComputation {
  std::string name;
  std::vector<std::size_t> instructions;  ///< Each after its operands.
  std::vector<std::size_t> schedule;      ///< In the order in which they run; empty: none.
  std::size_t root = 0;                   ///< An instruction.
};

/// A node of the tree of an entry parameter.
struct HloParameterNode {
  std::int64_t parameter = 0;
  std::vector<std::int64_t> index;
};

struct HloModule {
  std::string name;
  std::int64_t file_bytes = 0;
  std::vector<HloInstruction> instructions;
  std::vector<HloComputation> computations;
  std::vector<HloAllocation> allocations;
  std::vector<HloBuffer> buffers;
  std::size_t entry = 0;
  std::vector<HloParameterNode> donated;  ///< Their bytes may be those of an output.
  std::string unordered;                  ///< Why it isn't known what runs when; "" if it is.
};

/// Reads an HloProto. Errors, with the path to what is at fault: "import.format" (no module, or no
/// buffer assignment), "import.damaged", "import.unknown" (an id that nothing has), "import.range",
/// "import.contradiction". Cost and memory: linear in the file, times the logarithm.
Result<HloModule> read_hlo(std::string_view text, std::string_view file);

/// True iff the text may be an HloProto: it starts with a module that has a name.
bool is_hlo_proto(std::string_view text);

}  // namespace memverify
