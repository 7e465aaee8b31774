// tools/hlo_text.h -- what XLA's text dumps of a buffer assignment say, `*-buffer-assignment.txt`.
//
// Such a dump has allocations with the values in them, then perhaps of each value where it occurs,
// who uses it and the instruction that defines it, and perhaps the order of the instructions. It
// has no computations: which instructions a loop, a branch or a fusion runs is not in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"
#include "tools/hlo_module.h"

namespace memverify {

/// A part of the value of an instruction.
struct HloTextPosition {
  std::string_view instruction;
  std::vector<std::int64_t> index;
};

struct HloTextUse {
  std::string_view instruction;
  std::int64_t operand = 0;
  std::vector<std::int64_t> index;  ///< Of the operand's value.
};

struct HloTextAllocation {
  HloAllocation allocation;
  bool is_parameter = false;  ///< Of the entry computation.
  bool may_live_out = false;
};

struct HloTextValue {
  std::int64_t id = 0;
  HloTextPosition defined;
  bool is_phi = false;  ///< It comes from several sides.
  HloBuffer buffer;
  bool is_told = false;  ///< Positions, uses and the source are in the file.
  std::vector<HloTextPosition> positions;
  std::vector<HloTextUse> uses;
  std::string_view source;          ///< "%name = shape opcode(…), …"
  std::size_t line = 0;             ///< Of the source, or of the value's place.
  std::optional<std::int64_t> end;  ///< When it is dead; `HloText::end`: at the module's end.
};

struct HloText {
  std::vector<HloTextAllocation> allocations;
  std::vector<HloTextValue> values;        ///< Those that have a place, in the file's order.
  std::vector<std::string_view> sequence;  ///< Instructions, as they run; empty: not in the file.
  std::int64_t end = 0;                    ///< How many instructions run.
};

/// The parts of a dump; several files of one module may follow each other. They are views into
/// `text`. Errors, with line and column: "import.format" (no buffer assignment, or an empty one),
/// "import.damaged", "import.range", "import.contradiction", "import.unknown". Cost and memory:
/// linear in the text.
Result<HloText> parse_hlo_text(std::string_view text, std::string_view file);

/// What a source says; of a constant no operands.
struct HloTextInstruction {
  HloInstruction instruction;  ///< Without operands and name.
  std::vector<std::string_view> operands;
  std::vector<bool> operand_has_bytes;      ///< True where the source does not say.
  std::vector<std::string> operand_places;  ///< "" where it does not.
  bool calls_async = false;                 ///< What it starts is a computation.
  std::string_view aliasing;                ///< "{1}: (0, {}), …", not read yet
};

/// Reads a source; nullopt if it is none. Tuples may be nested 32 deep. Linear in the source.
std::optional<HloTextInstruction> read_hlo_source(std::string_view source);

/// The module of one scheduled computation that a dump describes. Where the dump does not say
/// enough, `HloModule::unordered` says so. Errors: those of parse_hlo_text. Cost: linear in the
/// text, times the logarithm.
Result<HloModule> read_hlo_text(std::string_view text, std::string_view file);

/// True iff the text may be such a dump: it starts as one.
bool is_hlo_text(std::string_view text);

}  // namespace memverify
