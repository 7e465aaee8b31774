#include "sim/versions.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

namespace memverify::sim {
namespace {

/// Who leaves what in a cell, in program order.
using Writers = std::vector<std::pair<CommandId, TouchKind>>;

class Maker {
 public:
  Maker(const Material& material, const Model& model)
      : program_(material.setting.program),
        map_(material.map),
        reads_(material.reads),
        model_(model) {}

  Result<VersionModel> make() {
    collect_writers();
    out_.field_of_cell.assign(map_.cells.size(), VersionModel::kNoField);
    for (const auto* demands : {&reads_.during, &reads_.at_end}) {
      for (const Demand& demand : *demands) {
        if (!add_field(demand.cell)) {
          return Diagnostic{.id = "model.size",
                            .message = "some bytes have too many writers to track their values"};
        }
      }
    }
    out_.words = used_.size();
    add_changes();
    add_checks();
    return std::move(out_);
  }

 private:
  void collect_writers() {
    writers_.resize(map_.cells.size());
    for (CommandId c : ids(program_.commands)) {
      for (const Effect& effect : map_.effects_of(c)) {
        if (effect.kind != TouchKind::kOpaque) writers_[effect.cell].emplace_back(c, effect.kind);
      }
    }
  }

  bool add_field(CellId cell) {
    if (writers_[cell].empty() || out_.field_of_cell[cell] != VersionModel::kNoField) return true;
    const auto id = static_cast<std::uint32_t>(out_.fields.size());
    const bool has_initial = !map_.cells[cell].initial.empty();
    const auto [known, is_new] = fields_.try_emplace({has_initial, writers_[cell]}, id);
    out_.field_of_cell[cell] = known->second;
    if (!is_new) return true;
    VersionField field;
    field.has_initial = has_initial;
    for (const auto& [command, kind] : writers_[cell]) {
      if (kind == TouchKind::kAccumulate) {
        field.updates.push_back(command);
      } else {
        field.bases.push_back(command);
        field.clobbers.push_back(kind == TouchKind::kClobber ? 1 : 0);
      }
    }
    field.base_bits = static_cast<std::uint32_t>(std::bit_width(field.bases.size()));
    const std::size_t bits = field.base_bits + field.updates.size();
    if (bits > 64) return false;
    auto word = std::ranges::find_if(used_, [&](std::size_t used) { return used + bits <= 64; });
    if (word == used_.end()) word = used_.insert(word, 0);
    field.word = static_cast<std::uint32_t>(word - used_.begin());
    field.shift = static_cast<std::uint32_t>(*word);
    *word += bits;
    out_.fields.push_back(std::move(field));
    return true;
  }

  static std::uint64_t ones(std::size_t count, std::size_t shift) {
    const std::uint64_t mask = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    return shift == 64 ? 0 : mask << shift;
  }
  static std::uint64_t mask_of(const VersionField& field) {
    return ones(field.base_bits + field.updates.size(), field.shift);
  }
  static std::uint64_t base(const VersionField& field, CommandId c) {
    const auto at = std::ranges::find(field.bases, c) - field.bases.begin();
    return static_cast<std::uint64_t>(at + 1) << field.shift;
  }
  static bool is_clobbered(const VersionField& field, CommandId c) {
    const auto at = std::ranges::find(field.bases, c) - field.bases.begin();
    return field.clobbers[static_cast<std::size_t>(at)] != 0;
  }
  static std::uint64_t update(const VersionField& field, CommandId c) {
    const auto at = std::ranges::lower_bound(field.updates, c) - field.updates.begin();
    return std::uint64_t{1} << (field.shift + field.base_bits + static_cast<std::uint32_t>(at));
  }

  void add_changes() {
    std::multimap<StepId, VersionChange> by_step;
    for (const VersionField& field : out_.fields) {
      for (CommandId c : field.bases) {
        by_step.emplace(model_.start_of[c] + 1,
                        VersionChange{field.word, ~mask_of(field), base(field, c)});
      }
      for (CommandId c : field.updates) {
        by_step.emplace(model_.start_of[c] + 1,
                        VersionChange{field.word, ~std::uint64_t{0}, update(field, c)});
      }
    }
    for (StepId step = 0; step < model_.steps(); ++step) {
      out_.change_begin.push_back(static_cast<std::uint32_t>(out_.changes.size()));
      const auto [begin, end] = by_step.equal_range(step);
      for (auto it = begin; it != end; ++it) out_.changes.push_back(it->second);
    }
    out_.change_begin.push_back(static_cast<std::uint32_t>(out_.changes.size()));
  }

  /// nullopt when the demand cannot fail, or fails whatever is found (a Suspect of the model).
  std::optional<VersionCheck> check_of(const Demand& demand) const {
    const std::uint32_t id = out_.field_of_cell[demand.cell];
    if (id == VersionModel::kNoField) return std::nullopt;
    const VersionField& field = out_.fields[id];
    VersionCheck check{.word = field.word, .mask = mask_of(field), .demand = &demand};
    switch (demand.expected.base) {
      case Expected::Base::kNothing:
      case Expected::Base::kOpaque:
        return std::nullopt;
      case Expected::Base::kInitial:
        break;
      case Expected::Base::kCommand:
        check.wanted = base(field, demand.expected.command);
        if (is_clobbered(field, demand.expected.command)) check.mask = 0;  // Never met.
        break;
    }
    for (CommandId c : demand.expected.updates) check.wanted |= update(field, c);
    return check;
  }

  void add_checks() {
    std::multimap<StepId, VersionCheck> by_step;
    for (const Demand& demand : reads_.during) {
      if (const auto check = check_of(demand)) {
        by_step.emplace(model_.start_of[demand.reader], *check);
      }
    }
    for (StepId step = 0; step < model_.steps(); ++step) {
      out_.check_begin.push_back(static_cast<std::uint32_t>(out_.checks.size()));
      const auto [begin, end] = by_step.equal_range(step);
      for (auto it = begin; it != end; ++it) out_.checks.push_back(it->second);
    }
    out_.check_begin.push_back(static_cast<std::uint32_t>(out_.checks.size()));
    for (const Demand& demand : reads_.at_end) {
      if (const auto check = check_of(demand)) out_.end_checks.push_back(*check);
    }
  }

  const Program& program_;
  const ByteMap& map_;
  const Reads& reads_;
  const Model& model_;
  VersionModel out_;
  std::vector<Writers> writers_;                              ///< By cell.
  std::map<std::pair<bool, Writers>, std::uint32_t> fields_;  ///< By initial value and writers.
  std::vector<std::size_t> used_;                             ///< Bits, by word.
};

Value value_of(const VersionField& field, std::uint64_t word) {
  const std::uint64_t found = word >> field.shift;
  Value value;
  const std::uint64_t base = found & ((std::uint64_t{1} << field.base_bits) - 1);
  if (base != 0) {
    value = {.base = Value::Base::kCommand,
             .command = field.bases[base - 1],
             .clobbered = field.clobbers[base - 1] != 0};
  } else if (field.has_initial) {
    value.base = Value::Base::kInitial;
  }
  for (std::size_t k = 0; k < field.updates.size(); ++k) {
    if ((found >> (field.base_bits + k) & 1U) != 0) value.updates.push_back(field.updates[k]);
  }
  return value;
}

}  // namespace

Result<VersionModel> make_versions(const Material& material, const Model& model) {
  return Maker(material, model).make();
}

std::optional<CommandId> wrong_author(const Material& material, const VersionModel& versions,
                                      const VersionCheck& check,
                                      std::span<const std::uint64_t> words) {
  if ((words[check.word] & check.mask) == check.wanted) return std::nullopt;
  const Demand& demand = *check.demand;
  const Value found =
      value_of(versions.fields[versions.field_of_cell[demand.cell]], words[check.word]);
  if (meets(material.setting, material.map, found, demand)) return std::nullopt;
  return culprit(found, demand.expected);
}

}  // namespace memverify::sim
