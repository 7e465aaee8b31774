// sim/versions.h -- the values of cells as bit fields of a state.
//
// Where semaphores are consumed, the same positions can be reached with different values in the
// bytes, and counts of failing runs always need them. Cells with the same writers share one
// field: which write was last (0: none yet) and which accumulates came since. Fields are changed by
// completions and compared at starts. Cells on which writes overlap are racing; their fields mean
// nothing, and whoever asks about values leaves them out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/model.h"
#include "sim/reads.h"

namespace memverify::sim {

/// At the completion of a command: word = (word & keep) | set.
struct VersionChange {
  std::uint32_t word = 0;
  std::uint64_t keep = ~std::uint64_t{0};
  std::uint64_t set = 0;
};

/// A demand that is met if (word & mask) == wanted; else whoever cares asks meets().
struct VersionCheck {
  std::uint32_t word = 0;
  std::uint64_t mask = 0;
  std::uint64_t wanted = 0;
  const Demand* demand = nullptr;
};

/// The writers behind one field.
struct VersionField {
  std::uint32_t word = 0;
  std::uint32_t shift = 0;  ///< Of the base; updates follow.
  std::uint32_t base_bits = 0;
  bool has_initial = false;            ///< Base 0 is an initial value, not nothing.
  std::vector<CommandId> bases;        ///< Base k + 1 is bases[k].
  std::vector<std::uint8_t> clobbers;  ///< By base: it left nothing of value.
  std::vector<CommandId> updates;      ///< Ascending.
};

struct VersionModel {
  std::size_t words = 0;
  std::vector<VersionField> fields;
  std::vector<std::uint32_t> field_of_cell;  ///< kNoField: nobody reads it or nobody writes it.
  std::vector<std::uint32_t> change_begin;   ///< By step.
  std::vector<VersionChange> changes;
  std::vector<std::uint32_t> check_begin;  ///< By step.
  std::vector<VersionCheck> checks;
  std::vector<VersionCheck> end_checks;
  static constexpr std::uint32_t kNoField = 0xFFFFFFFFU;

  std::span<const VersionChange> changes_of(StepId step) const {
    return Model::slice(changes, change_begin, step);
  }
  std::span<const VersionCheck> checks_of(StepId step) const {
    return Model::slice(checks, check_begin, step);
  }
};

/// `words` after `step`.
inline void apply(const VersionModel& versions, StepId step, std::span<std::uint64_t> words) {
  for (const VersionChange& change : versions.changes_of(step)) {
    words[change.word] = (words[change.word] & change.keep) | change.set;
  }
}

/// Error "model.size" when a cell has more than 64 bits of writers and accumulates.
Result<VersionModel> make_versions(const Material& material, const Model& model);

/// The command whose bytes the demand of `check` finds in a state with these version words (kNone
/// for none) if it is not what the demand asks for; nullopt if it is.
std::optional<CommandId> wrong_author(const Material& material, const VersionModel& versions,
                                      const VersionCheck& check,
                                      std::span<const std::uint64_t> words);

}  // namespace memverify::sim
