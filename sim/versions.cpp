#include "sim/versions.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

namespace memverify::sim {
namespace {

/// (command, is an accumulate), in program order.
using Writers = std::vector<std::pair<CommandId, bool>>;

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
      for (const Touch& touch : map_.touches_of(c)) {
        if (touch.kind == TouchKind::kRead || touch.kind == TouchKind::kOpaque) continue;
        const bool is_update = touch.kind == TouchKind::kAccumulate;
        for (CellId cell : map_.footprints[touch.footprint]) {
          Writers& writers = writers_[cell];
          if (writers.empty() || writers.back() != std::pair(c, is_update)) {
            writers.emplace_back(c, is_update);
          }
        }
      }
    }
  }

  bool add_field(CellId cell) {
    if (writers_[cell].empty() || out_.field_of_cell[cell] != VersionModel::kNoField) return true;
    const auto id = static_cast<std::uint32_t>(out_.fields.size());
    const auto [known, is_new] = fields_.try_emplace(writers_[cell], id);
    out_.field_of_cell[cell] = known->second;
    if (!is_new) return true;
    VersionField field;
    for (const auto& [command, is_update] : writers_[cell]) {
      (is_update ? field.updates : field.bases).push_back(command);
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
  std::vector<Writers> writers_;  ///< By cell.
  std::map<Writers, std::uint32_t> fields_;
  std::vector<std::size_t> used_;  ///< Bits, by word.
};

}  // namespace

Result<VersionModel> make_versions(const Material& material, const Model& model) {
  return Maker(material, model).make();
}

CommandId found_by(const VersionModel& versions, const VersionCheck& check,
                   std::span<const std::uint64_t> words) {
  const VersionField& field = versions.fields[versions.field_of_cell[check.demand->cell]];
  const std::uint64_t found = words[field.word] >> field.shift;
  for (std::size_t k = field.updates.size(); k-- > 0;) {
    const bool is_there = (found >> (field.base_bits + k) & 1U) != 0;
    if (is_there && !std::ranges::binary_search(check.demand->expected.updates, field.updates[k])) {
      return field.updates[k];
    }
  }
  const std::uint64_t base = found & ((std::uint64_t{1} << field.base_bits) - 1);
  return base == 0 ? kNone<CommandId> : field.bases[base - 1];
}

bool is_opaque(const ByteMap& map, const Model& model, const Demand& demand,
               std::span<const Digit> state) {
  return std::ranges::any_of(map.cells[demand.cell].unknowns, [&](CommandId unknown) {
    const StepId start = model.start_of[unknown];
    return state[model.chain_of_step[start]] > model.digit_of_step(start);
  });
}

}  // namespace memverify::sim
