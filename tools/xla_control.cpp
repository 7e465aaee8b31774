// The instructions of a module, one by one: values, calls, loops, branches, async ops.
#include <algorithm>
#include <array>
#include <optional>

#include "plan/words.h"
#include "tools/xla_plan.h"

namespace memverify {
namespace {

constexpr int kUnrolled = 2;   ///< Iterations of a loop.
constexpr int kFreeDepth = 2;  ///< Loops inside each other that run as often as they like.

constexpr std::array<std::string_view, 7> kAsyncStarts = {"all-gather-start",
                                                          "all-reduce-start",
                                                          "async-start",
                                                          "collective-permute-start",
                                                          "copy-start",
                                                          "recv",
                                                          "send"};

bool starts_async(const HloInstruction& one) {
  return std::ranges::find(kAsyncStarts, one.opcode) != kAsyncStarts.end();
}

}  // namespace

void XlaPlan::run(std::size_t computation, const std::vector<Tree>& parameters, const Path& path) {
  for (const std::size_t instruction : module_.computations[computation].schedule) {
    if (!spend(1 + at(instruction).shape.size() + at(instruction).operands.size())) return;
    Tree tree = step(instruction, parameters, path);
    if (tree.size() != at(instruction).shape.size()) {
      tree = forget(instruction);  // It is not as it should be: nothing is known of it.
      draft_.drop(at(instruction).name, kComputeQueue, {});
    }
    trees_[instruction] = std::move(tree);
  }
}

/// Runs a computation that an instruction calls; its result. Of a computation that is called from
/// several places, the parameters have buffers of their own.
XlaPlan::Tree XlaPlan::run_called(std::size_t computation, std::vector<Tree> given,
                                  const std::string& by, const Path& path) {
  const HloComputation& called = module_.computations[computation];
  if (called.schedule.empty()) {
    refuse("import.unsupported",
           "computation " + memverify::quoted(called.name) + " is not scheduled");
    return {};
  }
  if (!running_.insert(computation).second) {
    refuse("import.contradiction",
           "computation " + memverify::quoted(called.name) + " calls itself");
    return {};
  }
  if (!spend(called.instructions.size())) return {};
  for (const std::size_t instruction : called.instructions) {
    const HloInstruction& one = at(instruction);
    const auto number = static_cast<std::uint64_t>(one.parameter);
    if (one.opcode != "parameter" || number >= given.size()) continue;
    given[number] = hand_over(given[number], instruction, by + "." + one.name, path);
  }
  run(computation, given, path);
  running_.erase(computation);
  return trees_[called.root];
}

XlaPlan::Tree XlaPlan::step(std::size_t instruction, const std::vector<Tree>& parameters,
                            const Path& path) {
  const HloInstruction& one = at(instruction);
  if (!ready(one)) {
    refuse("import.contradiction",
           memverify::quoted(one.name) + " is scheduled before its operands");
    return {};
  }
  if (one.is_stated) return stated(instruction, path);
  if (one.opcode == "parameter") return parameter(instruction, parameters);
  if (one.opcode == "constant") return constant(instruction);
  if (one.opcode == "get-tuple-element") return element(instruction, path);
  if (one.opcode == "tuple") return tuple(instruction, path);
  if (one.opcode == "call") {
    std::vector<Tree> given;
    for (const std::size_t operand : one.operands) given.push_back(trees_[operand]);
    return one.called.size() != 1 ? Tree{} : run_called(one.called.front(), given, one.name, path);
  }
  if (one.opcode == "while") return loop(instruction, path);
  if (one.opcode == "conditional") return conditional(instruction, path);
  if (starts_async(one)) return start_async(instruction, path);
  if (one.opcode.ends_with("-done") || one.opcode == "async-update") {
    return finish_async(instruction, path);
  }
  return compute(instruction, path);
}

XlaPlan::Tree XlaPlan::parameter(std::size_t instruction, const std::vector<Tree>& parameters) {
  const auto number = static_cast<std::uint64_t>(at(instruction).parameter);
  if (number < parameters.size()) return parameters[number];
  Tree tree = defined_by(at(instruction));  // Of the entry computation.
  for (const std::size_t buffer : tree) {
    if (buffer != kNoBuffer && module_.buffers[buffer].bytes > 0) inputs_.push_back(buffer);
  }
  return tree;
}

XlaPlan::Tree XlaPlan::constant(std::size_t instruction) {
  Tree tree = defined_by(at(instruction));
  for (const std::size_t buffer : tree) {
    if (buffer == kNoBuffer || module_.buffers[buffer].bytes == 0) continue;
    if (!used_[buffer]) draft_.builder().add_constant(use(buffer).tensor);
  }
  return tree;
}

/// Reads the tuple's table of pointers, if it has one.
XlaPlan::Tree XlaPlan::element(std::size_t instruction, const Path& path) {
  const HloInstruction& one = at(instruction);
  if (one.operands.empty()) return {};
  const Tree& whole = trees_[one.operands.front()];
  if (!spend(static_cast<std::size_t>(
          hlo_node_cost(at(one.operands.front()).shape, {one.tuple_index})))) {
    return {};
  }
  const std::optional<std::size_t> node =
      hlo_node(at(one.operands.front()).shape, {one.tuple_index});
  if (!node) return {};
  if (whole.front() != kNoBuffer) read_only(one.name, one.opcode, whole.front(), path);
  return part(whole, *node, instruction);
}

void XlaPlan::read_only(const std::string& wanted, std::string_view label, std::size_t buffer,
                        const Path& path) {
  if (buffer == kNoBuffer || module_.buffers[buffer].bytes == 0) return;
  const std::string name = draft_.unique(wanted);
  submit(path, {.name = name, .label = label, .queue = kComputeQueue, .reads = {use(buffer)}});
}

/// Reads what a loop or a branch depends on.
void XlaPlan::decide(const HloInstruction& one, std::size_t buffer, const Path& path) {
  if (buffer == kNoBuffer) draft_.drop(one.name, kComputeQueue, {});
  read_only(one.name + ".decide", one.opcode, buffer, path);
}

/// Writes the table of pointers, if there is one.
XlaPlan::Tree XlaPlan::tuple(std::size_t instruction, const Path& path) {
  const HloInstruction& one = at(instruction);
  Tree tree = {defined_by(one).front()};
  if (tree.front() != kNoBuffer && module_.buffers[tree.front()].bytes > 0) {
    const std::string name = draft_.unique(one.name);
    submit(
        path,
        {.name = name, .label = one.opcode, .queue = kComputeQueue, .writes = {use(tree.front())}});
  }
  for (const std::size_t operand : one.operands) {
    if (!spend(trees_[operand].size())) break;
    tree.insert(tree.end(), trees_[operand].begin(), trees_[operand].end());
  }
  return tree;
}

/// Not at all, once and twice: the condition of each further iteration holds only after the last.
/// A deep loop takes the same conditions each time that it is reached, or there would be 183 paths
/// through three loops and 33,673 through four.
XlaPlan::Tree XlaPlan::loop(std::size_t instruction, const Path& path) {
  const HloInstruction& one = at(instruction);
  if (one.called.size() != 2 || one.operands.size() != 1) return {};
  loops_ = true;
  std::size_t body = one.called[0];
  std::size_t condition = one.called[1];
  const auto decides = [&](std::size_t computation) {
    return at(module_.computations[computation].root).is_predicate;
  };
  if (decides(body) && !decides(condition)) std::swap(body, condition);

  const bool is_deep = depth_ >= kFreeDepth;
  deep_loops_ = deep_loops_ || is_deep;
  std::vector<std::string> own;
  std::vector<std::string>& conditions = is_deep ? turns_[instruction] : own;
  ++depth_;
  Path inside = path;
  Tree state = trees_[one.operands.front()];
  Tree result;
  for (int turn = 0; turn <= kUnrolled && errors_.empty(); ++turn) {
    const Tree decision = run_called(condition, {state}, one.name, inside);
    state = argument_of(condition, state);
    if (!decision.empty()) decide(one, decision.front(), inside);
    Path out = inside;
    if (turn < kUnrolled) {
      if (conditions.size() == static_cast<std::size_t>(turn)) {
        conditions.push_back(draft_.unique(one.name + "." + std::to_string(turn + 1)));
        draft_.builder().add_condition({.name = conditions.back()});
      }
      out.emplace_back(conditions[static_cast<std::size_t>(turn)], false);
    }
    const Tree left = hand_over(state, instruction, one.name + ".result", out);
    result = merged(result, left, instruction);
    if (turn == kUnrolled) break;
    inside.emplace_back(conditions[static_cast<std::size_t>(turn)], true);
    state = run_called(body, {state}, one.name, inside);
  }
  --depth_;
  return result;
}

/// The value that a computation of one parameter was run with, in the buffers it had there.
XlaPlan::Tree XlaPlan::argument_of(std::size_t computation, const Tree& given) {
  for (const std::size_t instruction : module_.computations[computation].instructions) {
    if (at(instruction).opcode == "parameter" && trees_.contains(instruction)) {
      return trees_[instruction];
    }
  }
  return given;
}

/// Of values on different paths: what both agree on.
XlaPlan::Tree XlaPlan::merged(const Tree& one, const Tree& other, std::size_t instruction) const {
  if (one.empty()) return other;
  if (one.size() != other.size()) return forget(instruction);
  Tree tree = one;
  for (std::size_t node = 0; node < tree.size(); ++node) {
    if (other[node] != one[node]) tree[node] = kNoBuffer;
  }
  return tree;
}

/// Branch k runs if the conditions before it do not hold and its own does; the last one needs none.
XlaPlan::Tree XlaPlan::conditional(std::size_t instruction, const Path& path) {
  const HloInstruction& one = at(instruction);
  if (one.called.empty() || one.operands.size() != one.called.size() + 1) return {};
  decide(one, trees_[one.operands.front()].front(), path);
  Tree result;
  Path others = path;
  for (std::size_t k = 0; k < one.called.size() && errors_.empty(); ++k) {
    Path branch = others;
    const std::string condition = draft_.unique(one.name + "." + std::to_string(k));
    if (k + 1 < one.called.size()) {
      draft_.builder().add_condition({.name = condition});
      branch.emplace_back(condition, true);
      others.emplace_back(condition, false);
    }
    const std::string name = one.name + "." + std::to_string(k);
    const Tree left = run_called(one.called[k], {trees_[one.operands[k + 1]]}, name, branch);
    result = merged(result, hand_over(left, instruction, name + ".result", branch), instruction);
  }
  return result;
}

XlaPlan::Tree XlaPlan::start_async(std::size_t instruction, const Path& path) {
  const HloInstruction& one = at(instruction);
  Tree tree = defined_by(one);
  if (one.opcode == "async-start" && !one.called.empty() && one.shape.size() > 1) {
    // ((operands), result, …): the result is that of the computation.
    const Tree inner = defined_by(at(module_.computations[one.called.front()].root));
    const std::size_t node = 1 + one.shape[1];
    for (std::size_t k = 0; k < inner.size() && node + k < tree.size(); ++k) {
      if (tree[node + k] == kNoBuffer) tree[node + k] = inner[k];
    }
  }
  const std::string name = draft_.unique(one.name);
  async_ = true;
  add_op(instruction, tree, name, kAsyncQueue, path);
  started_[instruction] = name;
  return tree;
}

XlaPlan::Tree XlaPlan::finish_async(std::size_t instruction, const Path& path) {
  const HloInstruction& one = at(instruction);
  if (one.operands.empty()) return {};
  const std::size_t start = one.operands.front();
  const Tree& tree = trees_[start];
  if (const auto found = started_.find(start); found != started_.end()) {
    if (one.opcode == "async-update") {
      started_[instruction] = std::string(found->second);
    } else {
      signal("wait", found->second, path);
    }
  } else {
    // Started in another iteration, or handed over by another computation: somewhere before.
    async_ = true;
    const std::string name = draft_.unique(one.name);
    submit(path, {.name = name, .kind = "barrier", .queues = {kComputeQueue, kAsyncQueue}});
    draft_.drop(name, kComputeQueue, {});
  }
  if (tree.size() == one.shape.size()) return tree;
  if (one.opcode == "send-done") return forget(instruction);
  if (one.opcode == "copy-done") return part(tree, 1, instruction);
  if (one.opcode == "recv-done") {  // (result, context, token) -> (result, token)
    Tree result = forget(instruction);
    for (std::size_t k = 1; k + 1 < result.size() && k < tree.size(); ++k) result[k] = tree[k];
    return result;
  }
  return tree.size() > 1 ? part(tree, 1 + at(start).shape[1], instruction) : forget(instruction);
}

/// What defines nothing hands on its first operand: bitcasts, barriers.
XlaPlan::Tree XlaPlan::compute(std::size_t instruction, const Path& path) {
  const HloInstruction& one = at(instruction);
  Tree tree = defined_by(one);
  constexpr auto kHandOn = std::to_array<std::string_view>(
      {"add-dependency", "after-all", "bitcast", "domain", "optimization-barrier"});
  if (std::ranges::find(kHandOn, one.opcode) == kHandOn.end()) {
    add_op(instruction, tree, draft_.unique(one.name), kComputeQueue, path);
    for (const HloAliasing& alias : one.aliasing) {
      if (tree[alias.output] != kNoBuffer) continue;
      const Tree& operand = trees_[one.operands[alias.operand]];
      if (alias.node < operand.size()) tree[alias.output] = operand[alias.node];
    }
    return tree;
  }
  if (one.operands.empty()) return tree;
  const Tree& operand = trees_[one.operands.front()];
  for (std::size_t node = 0; node < tree.size() && tree.size() == operand.size(); ++node) {
    if (tree[node] == kNoBuffer) tree[node] = operand[node];
  }
  return tree;
}

/// Its value is known from elsewhere. It waits for what its operands started.
XlaPlan::Tree XlaPlan::stated(std::size_t instruction, const Path& path) {
  const HloInstruction& one = at(instruction);
  for (const std::size_t operand : one.operands) {
    const auto found = started_.find(operand);
    if (found != started_.end()) signal("wait", found->second, path);
  }
  for (const std::size_t table : one.tables) read_only(one.name, one.label, table, path);
  return defined_by(one);
}

}  // namespace memverify
