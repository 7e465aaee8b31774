#include "tools/xla_plan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>

#include "plan/words.h"

namespace memverify {
namespace {

/// Of each node of a tree its index: "{1,0}", "" for the whole.
std::vector<std::string> index_texts(const HloShape& shape) {
  struct Level {
    std::size_t end = 0;
    std::size_t next = 0;  ///< Which element comes next.
  };
  std::vector<std::string> texts;
  std::vector<Level> levels;
  for (std::size_t node = 0; node < shape.size(); ++node) {
    while (!levels.empty() && levels.back().end <= node) levels.pop_back();
    if (!levels.empty()) ++levels.back().next;
    std::string text;
    for (const Level& level : levels) {
      text += (text.empty() ? "{" : ",") + std::to_string(level.next - 1);
    }
    texts.push_back(text.empty() ? text : text + "}");
    levels.push_back({.end = node + shape[node]});
  }
  return texts;
}

}  // namespace

bool XlaPlan::spend(std::size_t steps) {
  left_ -= static_cast<std::int64_t>(steps);
  if (left_ < 0 && errors_.empty()) {
    refuse("import.unsupported", "calls and loops unfold to more than the file has bytes");
  }
  return errors_.empty();
}

void XlaPlan::refuse(std::string_view id, std::string message) {
  errors_.push_back(
      {.id = std::string(id), .message = std::move(message), .file = std::string(file_)});
}

void XlaPlan::name_buffers() {
  names_.resize(module_.buffers.size());
  used_.resize(module_.buffers.size());
  for (const HloInstruction& one : module_.instructions) {
    const std::vector<std::string> indices = index_texts(one.shape);
    for (std::size_t node = 0; node < one.defines.size(); ++node) {
      const auto buffer = one.defines[node];
      if (!buffer || module_.allocations[module_.buffers[*buffer].allocation].thread_local_) {
        continue;
      }
      if (one.is_stated && !names_[*buffer].empty()) continue;
      names_[*buffer] = draft_.unique(one.name + indices[node]);
    }
  }
}

void XlaPlan::submit(const Path& path, OpSpec op) {
  spend(kStepsPerOp);
  for (const auto& [condition, value] : path) {
    op.when.push_back({.condition = condition, .value = value});
  }
  draft_.builder().add_op(op);
}

/// A record of or a wait for an event on the compute queue.
void XlaPlan::signal(std::string_view kind, const std::string& event, const Path& path) {
  const std::string name = draft_.unique(event + "." + std::string(kind));
  submit(path, {.name = name, .kind = kind, .queue = kComputeQueue, .event = event});
}

/// The buffers that an instruction defines; of no node else.
XlaPlan::Tree XlaPlan::defined_by(const HloInstruction& one) const {
  Tree tree;
  for (const auto& buffer : one.defines) {
    const bool named = buffer && !names_[*buffer].empty();
    tree.push_back(named ? *buffer : kNoBuffer);
  }
  return tree;
}

/// Collects the buffers of all operands, each once; returns how many values have none.
std::size_t XlaPlan::read_operands(const HloInstruction& one, std::vector<std::size_t>& reads) {
  std::size_t unknown = 0;
  std::unordered_set<std::size_t> seen;
  for (const std::size_t operand : one.operands) {
    const Tree& tree = trees_[operand];
    if (!spend(tree.size())) break;
    for (std::size_t node = 0; node < tree.size(); ++node) {
      if (!at(operand).has_bytes[node]) continue;
      if (tree[node] == kNoBuffer) {
        ++unknown;
      } else if (module_.buffers[tree[node]].bytes > 0 && seen.insert(tree[node]).second) {
        reads.push_back(tree[node]);
      }
    }
  }
  return unknown;
}

/// The places of what is written, each with its node of the result.
XlaPlan::Places XlaPlan::places_of(const Tree& written) const {
  Places places;
  for (std::size_t node = 0; node < written.size(); ++node) {
    if (written[node] != kNoBuffer) places[place_of(written[node])] = node;
  }
  return places;
}

/// Says which results lie exactly on an operand; returns those of which it is not known that the
/// instruction may write them there.
std::vector<AccessSpec> XlaPlan::share(const HloInstruction& one, const Tree& written, OpSpec& op) {
  std::vector<AccessSpec> unclear;
  const Places places = places_of(written);
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t k = 0; k < one.operands.size(); ++k) {
    const Tree& tree = trees_[one.operands[k]];
    for (std::size_t node = 0; node < tree.size(); ++node) {
      if (tree[node] == kNoBuffer || !at(one.operands[k]).has_bytes[node]) continue;
      const auto found = places.find(place_of(tree[node]));
      if (found == places.end() || module_.buffers[tree[node]].bytes == 0) continue;
      const std::size_t out = written[found->second];
      if (out == tree[node]) continue;
      if (!sharing_.known(one, k, node, found->second)) unclear.push_back(access(out));
      if (pairs.emplace(tree[node], out).second) {
        op.in_place.push_back({.read = names_[tree[node]], .written = names_[out]});
      }
    }
  }
  return unclear;
}

/// The buffers that are defined inside the computations that an instruction runs by itself.
std::vector<std::size_t> XlaPlan::inner_buffers(const HloInstruction& one) {
  std::vector<std::size_t> buffers;
  std::unordered_set<std::size_t> seen(one.called.begin(), one.called.end());
  std::vector<std::size_t> computations(seen.begin(), seen.end());
  while (!computations.empty()) {
    const HloComputation& computation = module_.computations[computations.back()];
    computations.pop_back();
    if (!spend(computation.instructions.size())) break;
    for (const std::size_t instruction : computation.instructions) {
      for (const std::size_t buffer : defined_by(at(instruction))) {
        if (buffer != kNoBuffer && module_.buffers[buffer].bytes > 0) buffers.push_back(buffer);
      }
      for (const std::size_t called : at(instruction).called) {
        if (seen.insert(called).second) computations.push_back(called);
      }
    }
  }
  return buffers;
}

bool XlaPlan::overlap(std::size_t a, std::size_t b) const {
  const HloBuffer& one = module_.buffers[a];
  const HloBuffer& other = module_.buffers[b];
  return one.allocation == other.allocation && one.offset < other.offset + other.bytes &&
         other.offset < one.offset + one.bytes;
}

/// Scratch of an instruction; what lies over its operands, results or other scratch is not clear.
void XlaPlan::add_scratch(const HloInstruction& one, std::vector<std::size_t> taken, OpSpec& op,
                          std::vector<AccessSpec>& unclear) {
  for (const std::size_t buffer : inner_buffers(one)) {
    if (std::ranges::find(taken, buffer) != taken.end()) continue;
    if (!spend(taken.size())) return;
    const bool clashes =
        std::ranges::any_of(taken, [&](std::size_t other) { return overlap(buffer, other); });
    (clashes ? unclear : op.clobbers).push_back(use(buffer));
    if (!clashes) taken.push_back(buffer);
  }
}

/// An op that reads the operands of an instruction and writes what it defines.
void XlaPlan::add_op(std::size_t instruction, const Tree& written, const std::string& name,
                     std::string_view queue, const Path& path) {
  const HloInstruction& one = at(instruction);
  std::vector<std::size_t> reads;
  const std::size_t unknown = read_operands(one, reads);
  OpSpec op{.name = name, .label = one.label, .queue = queue};
  for (const std::size_t buffer : reads) op.reads.push_back(use(buffer));
  for (const std::size_t buffer : written) {
    if (buffer != kNoBuffer && module_.buffers[buffer].bytes > 0) op.writes.push_back(use(buffer));
  }
  std::vector<AccessSpec> unclear = share(one, written, op);
  std::vector<std::size_t> taken = reads;
  std::ranges::copy_if(written, std::back_inserter(taken),
                       [](std::size_t buffer) { return buffer != kNoBuffer; });
  add_scratch(one, std::move(taken), op, unclear);
  const std::string go = name + ".start";
  if (queue == kAsyncQueue) {
    signal("record", go, path);
    op.waits.push_back({.target = go});
    op.signals.push_back({.event = name});
  }
  submit(path, op);
  unclear_ += unclear.size();
  if (!unclear.empty()) draft_.drop(name, queue, std::move(unclear));
  if (unknown > 0) draft_.drop(name, queue, {});
}

/// A value that comes from several sides, and its buffers there: each that the instruction defines
/// takes over the one it comes from, at the same place.
XlaPlan::Tree XlaPlan::hand_over(const Tree& from, std::size_t to, const std::string& wanted,
                                 const Path& path) {
  Tree tree = defined_by(at(to));
  if (tree.size() != from.size() || !spend(tree.size())) return forget(to);
  const std::string name = draft_.unique(wanted);
  OpSpec op{.name = name, .label = at(to).opcode, .queue = kComputeQueue};
  std::vector<AccessSpec> elsewhere;
  for (std::size_t node = 0; node < tree.size(); ++node) {
    if (tree[node] == kNoBuffer || tree[node] == from[node] || from[node] == kNoBuffer) {
      if (tree[node] == kNoBuffer) tree[node] = from[node];
      continue;
    }
    if (module_.buffers[tree[node]].bytes == 0) continue;
    if (place_of(tree[node]) != place_of(from[node])) elsewhere.push_back(use(tree[node]));
    op.reads.push_back(use(from[node]));
    op.writes.push_back(use(tree[node]));
    op.in_place.push_back({.read = names_[from[node]], .written = names_[tree[node]]});
  }
  if (!op.reads.empty()) submit(path, op);
  handed_over_ = handed_over_ || !op.reads.empty();
  unclear_ += elsewhere.size();
  if (!elsewhere.empty()) draft_.drop(name, kComputeQueue, std::move(elsewhere));
  return tree;
}

/// A value of which nothing is known.
XlaPlan::Tree XlaPlan::forget(std::size_t instruction) const {
  return Tree(at(instruction).shape.size(), kNoBuffer);
}

/// The subtree at `node`, as the value of `instruction`.
XlaPlan::Tree XlaPlan::part(const Tree& tree, std::size_t node, std::size_t instruction) const {
  const std::size_t size = at(instruction).shape.size();
  if (node + size > tree.size()) return forget(instruction);
  return {tree.begin() + static_cast<std::ptrdiff_t>(node),
          tree.begin() + static_cast<std::ptrdiff_t>(node + size)};
}

bool XlaPlan::ready(const HloInstruction& one) const {
  return std::ranges::all_of(one.operands,
                             [&](std::size_t operand) { return trees_.contains(operand); });
}

AccessSpec XlaPlan::use(std::size_t buffer) {
  used_[buffer] = true;
  return access(buffer);
}

/// An op of unknown effect for each instruction that touches a buffer.
void XlaPlan::list_accesses() {
  for (const HloInstruction& one : module_.instructions) {
    std::set<std::size_t> buffers(one.tables.begin(), one.tables.end());
    for (const auto& buffer : one.defines) {
      if (buffer) buffers.insert(*buffer);
    }
    std::vector<AccessSpec> accesses;
    for (const std::size_t buffer : buffers) {
      if (module_.buffers[buffer].bytes > 0) accesses.push_back(use(buffer));
    }
    if (!accesses.empty()) draft_.drop(one.name, kComputeQueue, std::move(accesses));
  }
}

void XlaPlan::add_memory() {
  PlanBuilder& builder = draft_.builder();
  std::set<std::size_t> allocations;
  for (std::size_t i = 0; i < module_.buffers.size(); ++i) {
    if (!used_[i]) continue;
    const HloBuffer& buffer = module_.buffers[i];
    const std::string pool = allocation_name(buffer.allocation);
    allocations.insert(buffer.allocation);
    builder.add_storage(
        {.name = names_[i], .pool = pool, .slots = {buffer.offset}, .bytes = buffer.bytes});
    builder.add_tensor({.name = names_[i], .storage = names_[i], .bytes = buffer.bytes});
  }
  for (const std::size_t allocation : allocations) {
    builder.add_pool(
        {.name = allocation_name(allocation), .bytes = module_.allocations[allocation].bytes});
  }
  builder.add_queue({.name = kComputeQueue});
  if (async_) builder.add_queue({.name = kAsyncQueue, .order = "issue"});
}

std::string XlaPlan::allocation_name(std::size_t allocation) const {
  return "allocation_" + std::to_string(module_.allocations[allocation].index);
}

void XlaPlan::add_boundary(const Tree& result) {
  std::unordered_map<std::int64_t, std::size_t> parameters;  // By number: instructions.
  for (const std::size_t instruction : module_.computations[module_.entry].instructions) {
    if (at(instruction).opcode == "parameter") {
      parameters.emplace(at(instruction).parameter, instruction);
    }
  }
  std::unordered_set<std::size_t> donated;
  for (const HloParameterNode& node : module_.donated) {
    const auto found = parameters.find(node.parameter);
    if (found == parameters.end()) continue;
    const HloInstruction& one = at(found->second);
    if (!spend(static_cast<std::size_t>(hlo_node_cost(one.shape, node.index)))) return;
    const std::optional<std::size_t> which = hlo_node(one.shape, node.index);
    if (which && one.defines[*which]) donated.insert(*one.defines[*which]);
  }
  std::unordered_set<std::size_t> kept;
  for (const std::size_t buffer : result) {
    if (buffer == kNoBuffer || module_.buffers[buffer].bytes == 0) continue;
    if (kept.insert(buffer).second) draft_.builder().add_output({.tensor = use(buffer).tensor});
  }
  std::unordered_set<std::size_t> seen;
  for (const std::size_t input : inputs_) {
    if (!seen.insert(input).second) continue;
    draft_.builder().add_input(use(input).tensor);
    if (donated.contains(input) && !kept.contains(input)) {
      draft_.builder().add_donated(names_[input]);
    }
  }
}

void XlaPlan::add_assumptions() {
  draft_.assume(
      "The instructions run one after another, in the order of the schedule; each reads its "
      "operands whole and writes its results whole.");
  draft_.assume("Each allocation is memory of its own, and as large as the file says.");
  draft_.assume("Scratch memory that is no buffer of the assignment is not in the plan.");
  if (async_) {
    draft_.assume(
        "What an async instruction starts may run at any time from there to the instruction that "
        "is done with it, beside everything else.");
  }
  if (loops_) {
    draft_.assume("A loop runs not at all, once or twice; more often is like twice.");
  }
  if (deep_loops_) {
    draft_.assume("A loop inside two others runs equally often each time that it is reached.");
  }
  if (handed_over_) {
    draft_.assume(
        "Where values of several computations meet, an op that stands for no code hands the bytes "
        "over in place.");
  }
  if (unclear_ > 0) {
    draft_.assume("Not known: whether the instruction may write over its operand; " +
                  counted(static_cast<std::int64_t>(unclear_), "result") + " of this kind.");
  }
}

Result<Imported> XlaPlan::make() {
  draft_.builder().set_name(module_.name);
  name_buffers();
  if (!module_.unordered.empty()) {
    list_accesses();
    add_memory();
    draft_.assume(module_.unordered + ": nothing is proven.");
    return draft_.finish();
  }
  const HloComputation& entry = module_.computations[module_.entry];
  const Tree result = run_called(module_.entry, {}, "", {});
  if (!errors_.empty()) return errors_;
  if (result.size() != at(entry.root).shape.size()) {
    refuse("import.contradiction", "the root of the entry computation is not scheduled");
    return errors_;
  }
  add_boundary(result);
  if (!errors_.empty()) return errors_;
  add_memory();
  add_assumptions();
  return draft_.finish();
}

}  // namespace memverify
