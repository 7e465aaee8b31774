// If, Loop and Scan: a condition, or iterations one after another.
#include <algorithm>

#include "plan/words.h"
#include "tools/onnx_rules.h"
#include "tools/onnx_unfolding.h"

namespace memverify {
namespace {

constexpr std::size_t kMostOnnxNesting = 16;  ///< Conditions within conditions.

/// Elements from one index of each axis to the next; nullopt where a size is a symbol.
std::optional<std::vector<std::int64_t>> element_strides(const OnnxTensor& tensor) {
  std::vector<std::int64_t> out;
  if (!tensor.strides.empty()) {
    for (const OnnxExtent& stride : tensor.strides) out.push_back(*stride.number());
    return out;
  }
  out.assign(tensor.type.rank(), 1);
  for (std::size_t k = tensor.type.rank(); k-- > 1;) {
    const std::optional<std::int64_t> extent = (*tensor.type.shape)[k].number();
    if (!extent || __builtin_mul_overflow(out[k], *extent, &out[k - 1])) return std::nullopt;
  }
  return out;
}

bool is_row_major(const std::vector<std::int64_t>& strides, const OnnxExtents& shape) {
  std::int64_t wanted = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (!shape[k].is(1) && strides[k] != wanted) return false;
    const std::int64_t extent = shape[k].number().value_or(1);
    if (__builtin_mul_overflow(wanted, extent, &wanted)) return false;
  }
  return true;
}

}  // namespace

void OnnxUnfolding::unfold_if(const OnnxScope& scope, const OnnxNode& node, const std::string& id,
                              const std::string& path) {
  const std::size_t branches[] = {node.graph("else_branch"), node.graph("then_branch")};
  for (const std::size_t branch : branches) {
    if (branch == kNoIndex || model_.graphs[branch].outputs.size() != node.outputs.size()) {
      return fail("import.contradiction",
                  memverify::quoted(id) + " has not two branches with as many results as it has",
                  path);
    }
  }
  const auto branch_scope = [&](bool value) {
    OnnxScope inner = scope;
    inner.graph = branches[value ? 1 : 0];
    inner.path = path + (value ? "/then_branch" : "/else_branch");
    inner.prefix = id + (value ? ".then/" : ".else/");
    inner.first_tensor = program_.tensors.size();
    return inner;
  };
  std::optional<bool> known = onnx_condition(model_, node.input(0));
  const bool reads = node.input(0) != kNoIndex;
  const std::size_t tensor = !known && reads ? use(node.inputs[0], scope, path) : kNoIndex;
  if (!known && tensor == kNoIndex) return;
  if (!known) {
    const std::string& before = condition_of_[tensor];
    for (const auto& [condition, value] : scope.when) {
      if (condition == before) known = value;
    }
  }
  if (known) {
    const OnnxScope inner = branch_scope(*known);
    unfold(inner);
    const std::vector<std::size_t>& results = model_.graphs[inner.graph].outputs;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k] == kNoIndex || model_.values[node.outputs[k]].constant) continue;
      tensor_of_[node.outputs[k]] = use(results[k], inner, path);
    }
    return;
  }
  if (scope.when.size() == kMostOnnxNesting) {
    return fail("import.unsupported",
                memverify::quoted(id) + " is nested too deep in other branches", path);
  }
  std::string& condition = condition_of_[tensor];
  if (condition.empty()) {
    condition = id;
    program_.conditions.push_back(id);
  }
  OnnxOp decide = new_op(scope, id, node.op);
  decide.reads = {{.tensor = tensor}};
  program_.ops.push_back(std::move(decide));
  const std::size_t decided_by = program_.ops.size() - 1;
  if (objection_.empty()) objection_ = " (the branches of the If give it others)";
  for (const std::size_t output : node.outputs) {
    if (output != kNoIndex) make_tensor(output, scope, path);
  }
  for (const bool value : {true, false}) {
    OnnxScope inner = branch_scope(value);
    inner.when.emplace_back(condition, value);
    inner.decided_by = decided_by;
    unfold(inner);
    take_results(inner, node, id + (value ? ".then" : ".else"), path);
  }
}

void OnnxUnfolding::take_results(const OnnxScope& branch, const OnnxNode& node,
                                 const std::string& id, const std::string& path) {
  OnnxOp copy = new_op(branch, "", node.op);
  const std::vector<std::size_t>& results = model_.graphs[branch.graph].outputs;
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k] == kNoIndex) continue;
    const std::size_t made = use(results[k], branch, path);
    const std::size_t into = tensor_of_[node.outputs[k]];
    if (made == kNoIndex || into == kNoIndex) continue;
    const bool fits =
        onnx_bytes(program_.tensors[made].type) == onnx_bytes(program_.tensors[into].type);
    if (fits && may_move(made, branch)) {
      program_.tensors[made].same_as = into;
    } else {
      const bool again =
          std::ranges::find(copy.reads, made, &OnnxAccess::tensor) != copy.reads.end();
      if (!again) copy.reads.push_back({.tensor = made});
      copy.writes.push_back({.tensor = into});
    }
  }
  if (copy.writes.empty()) return;
  copy.id = unique(id + ".results", op_ids_);
  copy.flops = 0;
  program_.ops.push_back(std::move(copy));
}

OnnxScope OnnxUnfolding::iteration(const OnnxScope& outer, std::size_t body, const std::string& id,
                                   const std::string& path, std::int64_t index) const {
  OnnxScope inner = outer;
  inner.graph = body;
  inner.path = path + "/body";
  inner.prefix = id + "[" + std::to_string(index) + "]/";
  inner.first_tensor = program_.tensors.size();
  return inner;
}

void OnnxUnfolding::unfold_loop(const OnnxScope& scope, const OnnxNode& node, const std::string& id,
                                const std::string& path) {
  const std::size_t body = node.graph("body");
  const std::size_t states = node.inputs.size() - std::min<std::size_t>(node.inputs.size(), 2);
  if (body == kNoIndex || node.inputs.size() < 2 ||
      model_.graphs[body].inputs.size() != states + 2 || node.outputs.size() < states ||
      model_.graphs[body].outputs.size() != node.outputs.size() + 1) {
    return fail("import.contradiction", memverify::quoted(id) + " does not fit its body", path);
  }
  const OnnxGraph& graph = model_.graphs[body];
  const std::optional<std::int64_t> trips = onnx_trips(model_, node).number();
  if (!trips) {
    return fail(
        "import.unsupported",
        memverify::quoted(id) +
            " is a Loop that runs as often as is decided at run time; say how often with " +
            memverify::quoted(
                "--dim " + (node.name.empty() ? "Loop_" + std::to_string(node.index) : node.name) +
                ".trips=N"),
        path);
  }
  std::vector<std::size_t> carried;
  for (std::size_t k = 0; k < states; ++k) {
    carried.push_back(node.inputs[k + 2] == kNoIndex ? kNoIndex
                                                     : use(node.inputs[k + 2], scope, path));
  }
  for (std::size_t k = states; k < node.outputs.size(); ++k) {
    if (node.outputs[k] != kNoIndex) make_tensor(node.outputs[k], scope, path);
  }
  counters_.insert({graph.inputs[0], graph.inputs[1]});
  for (std::int64_t i = 0; i < *trips && errors_.empty(); ++i) {
    if (!spend(1 + node.outputs.size(), path)) return;
    const OnnxScope inner = iteration(scope, body, id, path, i);
    tensor_of_[graph.inputs[0]] = kNoIndex;
    tensor_of_[graph.inputs[1]] = kNoIndex;
    for (std::size_t k = 0; k < states; ++k) tensor_of_[graph.inputs[k + 2]] = carried[k];
    unfold(inner);
    for (std::size_t k = 0; k < node.outputs.size() && errors_.empty(); ++k) {
      const std::size_t made = use(graph.outputs[k + 1], inner, path);
      if (k < states) {
        carried[k] = made;
      } else if (node.outputs[k] != kNoIndex) {
        put_slice(inner, made, tensor_of_[node.outputs[k]], 0, i, path);
      }
    }
  }
  for (std::size_t k = 0; k < states; ++k) {
    if (node.outputs[k] != kNoIndex) tensor_of_[node.outputs[k]] = carried[k];
  }
}

void OnnxUnfolding::unfold_scan(const OnnxScope& scope, const OnnxNode& node, const std::string& id,
                                const std::string& path) {
  const std::size_t body = node.graph("body");
  const std::optional<OnnxScan> scan = onnx_scan(model_, node);
  if (node.opset < 9) {
    return fail("import.unsupported",
                memverify::quoted(id) + " is a Scan of opset 8, which has a batch", path);
  }
  if (body == kNoIndex || !scan || model_.graphs[body].inputs.size() != node.inputs.size() ||
      node.outputs.size() < scan->states ||
      model_.graphs[body].outputs.size() != node.outputs.size()) {
    return fail("import.contradiction", memverify::quoted(id) + " does not fit its body", path);
  }
  const OnnxGraph& graph = model_.graphs[body];
  const std::optional<std::int64_t> trips = scan->trips.number();
  if (!trips) {
    return fail("import.unsupported",
                memverify::quoted(id) + " is a Scan over an extent without a number" +
                    (scan->trips.is_known()
                         ? ": " + memverify::quoted(scan->trips.text()) + ", which --dim can give"
                         : ""),
                path);
  }
  std::vector<std::size_t> operands;
  for (const std::size_t input : node.inputs) operands.push_back(use(input, scope, path));
  for (std::size_t k = scan->states; k < node.outputs.size(); ++k) {
    if (node.outputs[k] != kNoIndex) make_tensor(node.outputs[k], scope, path);
  }
  const auto at = [&](std::string_view directions, std::size_t which, std::int64_t i) {
    const std::vector<std::int64_t> list = node.numbers(directions);
    return which < list.size() && list[which] == 1 ? *trips - 1 - i : i;
  };
  const std::vector<std::int64_t> output_axes = node.numbers("scan_output_axes");
  for (std::int64_t i = 0; i < *trips && errors_.empty(); ++i) {
    if (!spend(1 + node.inputs.size() + node.outputs.size(), path)) return;
    OnnxScope inner = iteration(scope, body, id, path, i);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const std::size_t value = graph.inputs[k];
      const std::size_t which = k - scan->states;
      tensor_of_[value] = operands[k];
      if (k < scan->states || operands[k] == kNoIndex || !has_place(value, path)) continue;
      tensor_of_[value] =
          slice(operands[k], scan->input_axes[which], at("scan_input_directions", which, i),
                model_.values[value].type, inner.prefix + model_.values[value].name, path);
    }
    inner.first_tensor = program_.tensors.size();
    unfold(inner);
    for (std::size_t k = 0; k < node.outputs.size() && errors_.empty(); ++k) {
      const std::size_t made = use(graph.outputs[k], inner, path);
      if (k < scan->states) {
        operands[k] = made;
        continue;
      }
      if (node.outputs[k] == kNoIndex) continue;
      const std::size_t which = k - scan->states;
      const std::size_t into = tensor_of_[node.outputs[k]];
      const std::int64_t axis = which < output_axes.size() ? output_axes[which] : 0;
      if (into == kNoIndex) return;
      put_slice(inner, made, into, onnx_axis(axis, program_.tensors[into].type.rank()),
                at("scan_output_directions", which, i), path);
    }
  }
  for (std::size_t k = 0; k < scan->states; ++k) {
    if (node.outputs[k] != kNoIndex) tensor_of_[node.outputs[k]] = operands[k];
  }
}

std::size_t OnnxUnfolding::slice(std::size_t of, std::size_t axis, std::int64_t index,
                                 OnnxType type, const std::string& id, const std::string& path) {
  const auto strides = element_strides(program_.tensors[of]);
  const int bits = onnx_element_bits(type.element);
  const bool fits =
      axis != kNoIndex && strides && program_.tensors[of].type.rank() == type.rank() + 1;
  if (!fits || bits < 8) {
    fail("import.unsupported",
         "the part of an iteration in " + memverify::quoted(program_.tensors[of].id) +
             " is not known",
         path);
    return kNoIndex;
  }
  const std::size_t out = add_tensor(id, type);
  OnnxTensor& part = program_.tensors[out];
  part.base = of;
  part.offset = OnnxExtent(index) * (*strides)[axis] * (bits / 8);
  std::vector<std::int64_t> left = *strides;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
  if (!is_row_major(left, *type.shape)) part.strides.assign(left.begin(), left.end());
  return out;
}

void OnnxUnfolding::put_slice(const OnnxScope& scope, std::size_t made, std::size_t into,
                              std::size_t axis, std::int64_t index, const std::string& path) {
  if (made == kNoIndex || into == kNoIndex) return;
  const std::string id = program_.tensors[into].id + "[" + std::to_string(index) + "]";
  const std::size_t part = slice(into, axis, index, program_.tensors[made].type, id, path);
  if (part == kNoIndex) return;
  if (may_move(made, scope) && program_.tensors[part].strides.empty()) {
    program_.tensors[made].same_as = part;
    return;
  }
  OnnxOp copy = new_op(scope, unique(id, op_ids_), "Copy");
  copy.reads = {{.tensor = made}};
  copy.writes = {{.tensor = part}};
  copy.flops = 0;
  program_.ops.push_back(std::move(copy));
}

}  // namespace memverify
