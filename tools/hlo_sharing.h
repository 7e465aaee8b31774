// tools/hlo_sharing.h -- whether an HLO instruction may write its result over an operand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/hlo_module.h"

namespace memverify {

/// Knows the instructions that work in place when both are the same bytes: element by element ones
/// that keep the layout,
/// fusions of such, updates of an operand, and what the module itself says
/// (output_operand_aliasing). Of others it does not know; the backend may still allow it.
class HloSharing {
 public:
  /// The module must outlive this.
  explicit HloSharing(const HloModule& module) : module_(module), steps_(64 * module.file_bytes) {}

  /// For a node of the tree of an operand and one of the result. Looks at a fused computation once
  /// for each question, and at no more than 64 instructions a byte of the file altogether.
  bool known(const HloInstruction& one, std::size_t operand, std::size_t node, std::size_t output);

 private:
  /// Element k of the result lies where element k of the other one lies.
  bool same_place(const HloInstruction& one, std::size_t other) const {
    return one.place == module_.instructions[other].place;
  }
  bool fusion_works_in_place(const HloInstruction& one, std::size_t operand, std::size_t output);

  const HloModule& module_;
  std::int64_t steps_;
};

}  // namespace memverify
