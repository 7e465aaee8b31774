// A module of one computation from the text of a dump: the instructions in sequence.
//
// An instruction that defines a value has its source in the dump, and is what that says. One that
// defines none occurs only among positions and uses: it hands on what lies at its positions, may
// read the table of a tuple, and is done with what an async instruction started. Any other use by
// it is of a kind that is not in the dump: a loop, a branch, a call.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "plan/words.h"
#include "tools/hlo_text.h"
#include "tools/hlo_text_cursor.h"
#include "tools/plan_draft.h"

namespace memverify {
namespace {

constexpr auto kHloTextStarts =
    std::to_array<std::string_view>({"all-gather-start", "all-reduce-start",
                                     "collective-permute-start", "copy-start", "recv", "send"});
constexpr auto kHloTextCallers = std::to_array<std::string_view>({"call", "conditional", "while"});

class HloTextModule {
 public:
  HloTextModule(const HloText& dump, std::string_view file, std::size_t bytes)
      : dump_(dump), left_(bytes) {
    module_.name = module_name(file);
    module_.file_bytes = static_cast<std::int64_t>(bytes);
    module_.computations.push_back({.name = "entry"});
    for (const HloTextAllocation& one : dump.allocations) {
      module_.allocations.push_back(one.allocation);
    }
    for (const HloTextValue& value : dump.values) module_.buffers.push_back(value.buffer);
  }

  HloModule make() {
    if (dump_.sequence.empty()) unclear("The file does not say in which order instructions run");
    for (const std::string_view name : dump_.sequence) {
      if (!by_name_.try_emplace(name, by_name_.size()).second) {
        unclear("Two instructions are called " + quoted(short_name(name)));
      }
    }
    for (std::size_t i = 0; i < dump_.values.size(); ++i) list_value(i);
    if (module_.unordered.empty()) add_instructions();
    if (module_.unordered.empty()) add_result();
    if (!module_.unordered.empty()) list_accesses();
    return std::move(module_);
  }

 private:
  /// What an instruction has to do with values: places in `dump_.values`, with an index.
  struct Role {
    std::map<std::vector<std::int64_t>, std::size_t> positions;
    std::vector<std::pair<std::size_t, const HloTextUse*>> uses;
    const HloTextValue* source = nullptr;
    std::optional<HloTextInstruction> read;
  };

  /// "dump/module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt" without both ends.
  static std::string module_name(std::string_view file) {
    file.remove_prefix(std::min(file.size(), file.find_last_of('/') + 1));
    for (const std::string_view end : {".gz", ".txt", "-buffer-assignment"}) {
      if (file.ends_with(end)) file.remove_suffix(end.size());
    }
    return short_name(file);
  }

  void unclear(std::string why) {
    if (module_.unordered.empty()) module_.unordered = std::move(why);
  }

  bool is_local(const HloTextValue& value) const {
    return dump_.allocations[value.buffer.allocation].allocation.thread_local_;
  }

  void list_value(std::size_t i) {
    const HloTextValue& value = dump_.values[i];
    if (is_local(value)) return;
    const std::string name = quoted(short_name(value.defined.instruction));
    Role& definer = roles_[value.defined.instruction];
    definer.positions.emplace(value.defined.index, i);
    if (!value.is_told) return unclear("The file does not say who uses the value of " + name);
    if (value.is_phi) return unclear(name + " comes from several sides, of a loop or a branch");
    definer.source = &value;
    for (const HloTextPosition& at : value.positions) {
      roles_[at.instruction].positions.emplace(at.index, i);
      if (!by_name_.contains(at.instruction)) not_in_sequence(at.instruction);
    }
    for (const HloTextUse& use : value.uses) {
      roles_[use.instruction].uses.emplace_back(i, &use);
      if (!by_name_.contains(use.instruction)) not_in_sequence(use.instruction);
    }
    if (!by_name_.contains(value.defined.instruction)) not_in_sequence(value.defined.instruction);
  }

  void not_in_sequence(std::string_view instruction) {
    unclear(quoted(short_name(instruction)) + " is not in the sequence of instructions");
  }

  void add_instructions() {
    for (const std::string_view name : dump_.sequence) {
      if (Role& role = roles_[name]; role.source != nullptr) {
        role.read = read_hlo_source(role.source->source);
        if (!role.read)
          return unclear("The source of " + quoted(short_name(name)) + " is not known");
        for (std::size_t k = 0; k < role.read->operands.size(); ++k) {
          if (!role.read->operand_has_bytes[k]) silent_.insert(role.read->operands[k]);
          places_.emplace(role.read->operands[k], role.read->operand_places[k]);
        }
      }
    }
    for (const std::string_view name : dump_.sequence) {
      Role& role = roles_[name];
      HloInstruction one = role.read ? from_source(name, role) : handing_on(name, role);
      one.name = short_name(name);
      schedule(std::move(one));
      if (!module_.unordered.empty()) return;
    }
  }

  void schedule(HloInstruction one) {
    HloComputation& entry = module_.computations.front();
    entry.root = module_.instructions.size();
    entry.instructions.push_back(entry.root);
    entry.schedule.push_back(entry.root);
    module_.instructions.push_back(std::move(one));
  }

  HloInstruction from_source(std::string_view name, const Role& role) {
    const HloTextInstruction& read = *role.read;
    HloInstruction one = read.instruction;
    const bool is_caller = std::ranges::find(kHloTextCallers, one.opcode) != kHloTextCallers.end();
    const bool is_async =
        one.opcode.ends_with("-start") || one.opcode == "send" || one.opcode == "recv";
    if (is_caller || one.opcode == "async-update" || one.opcode.ends_with("-done") ||
        (is_async && (read.calls_async || !starts_known(one.opcode)))) {
      unclear(quoted(short_name(name)) + " runs instructions of another computation, or is done " +
              "with them");
    }
    for (const auto& [index, value] : role.positions) {
      if (dump_.values[value].defined.instruction != name) continue;  // It hands it on.
      const std::optional<std::size_t> node = hlo_node(one.shape, index);
      if (!node || !spend(static_cast<std::size_t>(hlo_node_cost(one.shape, index)))) {
        unclear(quoted(short_name(name)) + " has no such part as the file says");
        return {};
      }
      one.defines[*node] = value;
      if (one.opcode == "parameter") check_parameter(name, value, one.parameter, index);
    }
    for (std::size_t k = 0; k < read.operands.size(); ++k) {
      const auto found = by_name_.find(read.operands[k]);
      if (found != by_name_.end()) {
        one.operands.push_back(found->second);
      } else {
        unclear("Operand " + std::to_string(k) + " of " + quoted(short_name(name)) +
                " is not in the sequence of instructions");
      }
    }
    read_text_aliasing(one, read.aliasing);
    return one;
  }

  static bool starts_known(std::string_view opcode) {
    return std::ranges::find(kHloTextStarts, opcode) != kHloTextStarts.end();
  }

  /// One of another computation would lie where its caller's value lies.
  void check_parameter(std::string_view name, std::size_t value, std::int64_t number,
                       const std::vector<std::int64_t>& index) {
    const HloTextAllocation& allocation = dump_.allocations[dump_.values[value].buffer.allocation];
    if (!allocation.is_parameter) {
      unclear(quoted(short_name(name)) + " is a parameter of a computation that is called");
    } else if (allocation.may_live_out) {
      module_.donated.push_back({.parameter = number, .index = index});
    }
  }

  /// "{{1}: (0, {}), {2}: (1, {0})}"; the nodes of operands that define nothing are not known.
  void read_text_aliasing(HloInstruction& to, std::string_view list) {
    HloTextCursor text(list);
    if (!text.accept("{")) return;
    do {
      text.accept(" ");
      const std::optional<std::vector<std::int64_t>> output = text.index();
      const std::optional<std::int64_t> operand =
          output && text.accept(": (") ? text.number() : std::nullopt;
      const auto which = static_cast<std::uint64_t>(operand.value_or(-1));
      text.accept(", ");
      const std::optional<std::vector<std::int64_t>> index = text.index();
      if (!index || which >= to.operands.size() ||
          to.operands[which] >= module_.instructions.size()) {
        return;
      }
      const HloShape& shape = module_.instructions[to.operands[which]].shape;
      if (!spend(static_cast<std::size_t>(hlo_node_cost(to.shape, *output) +
                                          hlo_node_cost(shape, *index)))) {
        return;
      }
      const std::optional<std::size_t> to_node = hlo_node(to.shape, *output);
      const std::optional<std::size_t> from_node = hlo_node(shape, *index);
      if (!to_node || !from_node) return;
      to.aliasing.push_back({.output = *to_node, .operand = which, .node = *from_node});
    } while (text.skip_past("),"));
  }

  HloInstruction handing_on(std::string_view name, const Role& role) {
    HloInstruction one{.opcode = "bitcast", .label = "bitcast", .is_stated = true};
    const std::string_view start = started_by(role);
    if (!start.empty()) one.operands.push_back(by_name_.at(start));
    for (const auto& [value, use] : role.uses) {
      const HloTextValue& used = dump_.values[value];
      const Role& definer = roles_[used.defined.instruction];
      if (!start.empty() && use->operand == 0 && lies_at(roles_[start], use->index, value))
        continue;
      if (use->index.empty() && is_table(used, definer)) {
        one.label = "get-tuple-element";
        one.tables.push_back(value);
      } else if (!lies_at(role, use->index, value)) {
        unclear("It is not known how " + quoted(short_name(name)) + " uses its operand");
      }
    }
    auto next = role.positions.begin();
    add_node(one, next, role.positions.end(), 0);
    if (next != role.positions.end()) {
      unclear("The parts of " + quoted(short_name(name)) + " are not known");
    }
    if (role.positions.empty()) one.has_bytes.front() = !silent_.contains(name);
    if (const auto known = places_.find(name); known != places_.end()) one.place = known->second;
    return one;
  }

  static bool lies_at(const Role& role, const std::vector<std::int64_t>& index, std::size_t value) {
    const auto found = role.positions.find(index);
    return found != role.positions.end() && found->second == value;
  }

  /// The async instruction that one is done with; "" if it is of another kind.
  std::string_view started_by(const Role& role) {
    for (const auto& [value, use] : role.uses) {
      const std::string_view definer = dump_.values[value].defined.instruction;
      const Role& from = roles_[definer];
      if (from.read && starts_known(from.read->instruction.opcode)) return definer;
    }
    return {};
  }

  static bool is_table(const HloTextValue& value, const Role& definer) {
    if (!definer.read) return false;
    const HloShape& shape = definer.read->instruction.shape;
    const std::optional<std::size_t> node = hlo_node(shape, value.defined.index);
    return node &&
           (shape[*node] > 1 || (shape.size() == 1 && !definer.read->instruction.has_bytes[0]));
  }

  using Positions = std::map<std::vector<std::int64_t>, std::size_t>::const_iterator;

  /// The tree below the first position, which is `depth` deep, from their order.
  void add_node(HloInstruction& one, Positions& next, const Positions& end, std::size_t depth) {
    constexpr std::size_t kDeepest = 32;
    const std::size_t node = one.shape.size();
    one.shape.push_back(1);
    one.has_bytes.push_back(true);
    one.defines.emplace_back();
    if (!spend(1) || next == end) return;
    if (next->first.size() == depth) {
      one.defines[node] = next->second;
      ++next;
    }
    if (depth == kDeepest || next == end) return;
    for (std::int64_t child = 0; next != end && is_inside(next->first) && spend(1); ++child) {
      one.has_bytes[node] = false;
      path_.push_back(child);
      if (next->first[depth] == child) {
        add_node(one, next, end, depth + 1);
      } else {  // Nothing with a place.
        one.shape.push_back(1);
        one.has_bytes.push_back(true);
        one.defines.emplace_back();
      }
      path_.pop_back();
    }
    one.shape[node] = static_cast<std::uint32_t>(one.shape.size() - node);
  }

  /// True iff an index lies below the node that is being added.
  bool is_inside(const std::vector<std::int64_t>& index) const {
    return index.size() > path_.size() && std::equal(path_.begin(), path_.end(), index.begin());
  }

  bool spend(std::size_t steps) {
    if (steps > left_) {
      unclear("The tuples are too wide for so small a file");
      return false;
    }
    left_ -= steps;
    return true;
  }

  /// The outputs: what lies where results may lie, to the end.
  void add_result() {
    HloInstruction one{
        .name = "result", .opcode = "bitcast", .label = "bitcast", .is_stated = true};
    one.shape = {1};
    one.has_bytes = {false};
    one.defines.resize(1);
    for (std::size_t i = 0; i < dump_.values.size(); ++i) {
      const HloTextValue& value = dump_.values[i];
      if (!dump_.allocations[value.buffer.allocation].may_live_out) continue;
      if (!value.end) {
        return unclear("The file does not say whether " +
                       quoted(short_name(value.defined.instruction)) + " is a result");
      }
      if (*value.end < dump_.end) continue;
      one.shape.push_back(1);
      one.has_bytes.push_back(true);
      one.defines.emplace_back(i);
    }
    one.shape.front() = static_cast<std::uint32_t>(one.shape.size());
    schedule(std::move(one));
  }

  /// Without an order: who touches what, as far as the file says.
  void list_accesses() {
    module_.instructions.clear();
    module_.computations.front() = {.name = "entry"};
    std::map<std::string_view, HloInstruction> list;
    for (std::size_t i = 0; i < dump_.values.size(); ++i) {
      const HloTextValue& value = dump_.values[i];
      if (is_local(value)) continue;
      list[value.defined.instruction].defines.emplace_back(i);
      for (const HloTextUse& use : value.uses) list[use.instruction].tables.push_back(i);
    }
    for (auto& [name, one] : list) {
      one.name = short_name(name);
      one.is_stated = true;
      one.shape.assign(one.defines.size(), 1);
      schedule(std::move(one));
    }
  }

  const HloText& dump_;
  std::size_t left_;  ///< Steps that may still be made.
  HloModule module_;
  std::unordered_map<std::string_view, std::size_t> by_name_;  ///< Places in the sequence.
  std::unordered_map<std::string_view, Role> roles_;
  std::unordered_set<std::string_view> silent_;               ///< Operands without bytes: tokens.
  std::unordered_map<std::string_view, std::string> places_;  ///< Of operands, as users write them.
  std::vector<std::int64_t> path_;                            ///< To the node that is being added.
};

}  // namespace

Result<HloModule> read_hlo_text(std::string_view text, std::string_view file) {
  const Result<HloText> dump = parse_hlo_text(text, file);
  if (!dump.ok()) return dump.errors();
  return HloTextModule(dump.value(), file, text.size()).make();
}

}  // namespace memverify
