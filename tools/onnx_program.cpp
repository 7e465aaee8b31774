#include "tools/onnx_program.h"

#include <algorithm>

#include "plan/words.h"
#include "tools/onnx_rules.h"
#include "tools/onnx_unfolding.h"

namespace memverify {
namespace {

constexpr std::size_t kMostOnnxErrors = 8;
constexpr std::size_t kMostUnfolded = 10'000;  ///< Beyond as many as the file has bytes.
constexpr std::size_t kMostViewsDeep = 64;     ///< A view of a view of …
constexpr std::size_t kMostObjection = 300;    ///< Characters.
constexpr std::int64_t kMostOnnxBytes = std::int64_t{1} << 48U;  ///< Of a tensor.

std::vector<std::size_t> distinct(const std::vector<std::size_t>& list) {
  std::vector<std::size_t> out;
  std::unordered_set<std::size_t> seen;
  for (const std::size_t one : list) {
    if (one != kNoIndex && seen.insert(one).second) out.push_back(one);
  }
  return out;
}

bool has_graph(const OnnxNode& node) {
  return std::ranges::any_of(
      node.attributes, [](const OnnxAttribute& attribute) { return attribute.graph != kNoIndex; });
}

}  // namespace

OnnxExtent onnx_bytes(const OnnxType& type) {
  const int bits = onnx_element_bits(type.element);
  const OnnxExtent elements = product(*type.shape);
  return bits >= 8 ? elements * (bits / 8) : floor_div(elements * bits + 7, 8);
}

std::size_t OnnxProgram::resolved(std::size_t tensor) const {
  while (tensors[tensor].same_as != kNoIndex) tensor = tensors[tensor].same_as;
  return tensor;
}

std::size_t OnnxProgram::root(std::size_t tensor) const {
  for (tensor = resolved(tensor); tensors[tensor].base != kNoIndex;) {
    tensor = resolved(tensors[tensor].base);
  }
  return tensor;
}

Result<OnnxProgram> unfold_onnx(const OnnxModel& model, std::string_view file,
                                const ImportOptions& options) {
  return OnnxUnfolding(model, file, options.alias_concat).run();
}

Result<OnnxProgram> OnnxUnfolding::run() {
  program_.notes = model_.notes;
  OnnxScope main{.path = "/graph"};
  for (const std::size_t input : model_.graphs[0].inputs) {
    program_.inputs.push_back(make_tensor(input, main, main.path));
  }
  main.first_tensor = program_.tensors.size();
  unfold(main);
  for (const std::size_t output : distinct(model_.graphs[0].outputs)) {
    program_.outputs.push_back(use(output, main, main.path));
  }
  if (leaves_out_) {
    program_.notes.emplace_back(
        "Results that nothing uses and whose size is not known are left out.");
  }
  if (left_out_ > 0) {
    errors_.back().message +=
        " (" + counted(static_cast<std::int64_t>(left_out_), "more error") + " like these)";
  }
  if (!errors_.empty()) return errors_;
  return std::move(program_);
}

void OnnxUnfolding::fail(std::string_view id, std::string message, const std::string& path) {
  if (errors_.size() == kMostOnnxErrors) {
    ++left_out_;
    return;
  }
  errors_.push_back({.id = std::string(id),
                     .message = std::move(message),
                     .pointer = path,
                     .file = std::string(file_)});
}

bool OnnxUnfolding::spend(std::size_t count, const std::string& path) {
  const std::size_t most = model_.bytes + kMostUnfolded;
  spent_ += count;
  if (spent_ > most && spent_ - count <= most) {
    fail("import.unsupported", "unfolded, the branches and bodies are too large for such a file",
         path);
  }
  return spent_ <= most;
}

std::string OnnxUnfolding::unique(const std::string& wanted,
                                  std::unordered_set<std::string>& used) {
  std::string id = wanted;
  for (std::size_t k = used.size(); !used.insert(id).second; ++k) {
    id = wanted + "#" + std::to_string(k);
  }
  return id;
}

std::string OnnxUnfolding::new_id(const OnnxScope& scope, const OnnxNode& node) {
  const std::string name =
      node.name.empty() ? node.op + "_" + std::to_string(node.index) : node.name;
  return unique(scope.prefix + name, op_ids_);
}

/// What depends on a value that was complained of already is not complained of again.
bool OnnxUnfolding::has_place(std::size_t index, const std::string& path) {
  const OnnxValue& value = model_.values[index];
  if (refused_.contains(index)) return false;
  const auto refuse = [&](std::string_view id, std::string message) {
    refused_.insert(index);
    fail(id, std::move(message), path);
    return false;
  };
  const std::string name = quoted(value.name);
  if (const std::string what = onnx_refused_type(value.type); !what.empty()) {
    return refuse("import.unsupported", name + " is " + what + ", which a plan cannot hold");
  }
  if (!value.type.is_complete()) {
    if (!is_consequence_ || errors_.empty())
      return refuse("import.unsupported", unknown_size(value));
    refused_.insert(index);
    return false;
  }
  const OnnxExtent bytes = onnx_bytes(value.type);
  if (bytes.is_known() && bytes.number().value_or(0) <= kMostOnnxBytes) return true;
  return std::ranges::all_of(*value.type.shape,
                             [](const OnnxExtent& e) { return e.number().has_value(); })
             ? refuse("import.range", name + " has more than 2^48 bytes")
             : refuse("import.unsupported", "the size of " + name + " is too long an expression");
}

std::string OnnxUnfolding::unknown_size(const OnnxValue& value) const {
  const std::string name = quoted(value.name);
  if (value.type.kind == OnnxType::Kind::kUnknown || value.type.element == 0) {
    return "the type of " + name + " is not known" + objection_;
  }
  if (!value.type.shape) return "the rank of " + name + " is not known" + objection_;
  const auto open = std::ranges::find(*value.type.shape, false, &OnnxExtent::is_known);
  const std::string axis = std::to_string(open - value.type.shape->begin());
  return "extent " + axis + " of " + name + " is not known" + objection_ + "; say it with " +
         quoted("--dim " + value.name + "." + axis + "=N");
}

std::size_t OnnxUnfolding::add_tensor(const std::string& wanted, const OnnxType& type) {
  program_.tensors.push_back({.id = unique(wanted, tensor_ids_), .type = type});
  return program_.tensors.size() - 1;
}

std::size_t OnnxUnfolding::make_tensor(std::size_t value, const OnnxScope& scope,
                                       const std::string& path) {
  tensor_of_[value] = kNoIndex;
  if (!has_place(value, path)) return kNoIndex;
  const std::string& name = model_.values[value].name;
  tensor_of_[value] =
      add_tensor(scope.prefix + (name.empty() ? "tensor" : name), model_.values[value].type);
  return tensor_of_[value];
}

std::size_t OnnxUnfolding::use(std::size_t value, const OnnxScope& scope, const std::string& path) {
  if (tensor_of_[value] != kNoIndex) return tensor_of_[value];
  if (!model_.values[value].constant && !counters_.contains(value)) {
    // What should have made it was refused, or is not run.
    const OnnxValue& missing = model_.values[value];
    if (errors_.empty()) {
      fail("import.unsupported",
           missing.type.is_complete() ? "nothing gives " + quoted(missing.name) + " a value"
                                      : unknown_size(missing),
           path);
    }
    return kNoIndex;
  }
  const std::size_t tensor = make_tensor(value, scope, path);
  if (tensor != kNoIndex) program_.tensors[tensor].constant = true;
  return tensor;
}

std::vector<OnnxAccess> OnnxUnfolding::accesses(const std::vector<std::size_t>& values,
                                                const OnnxScope& scope, const std::string& path) {
  std::vector<std::size_t> tensors;
  for (const std::size_t value : values) {
    if (value != kNoIndex) tensors.push_back(use(value, scope, path));
  }
  std::vector<OnnxAccess> out;
  for (const std::size_t tensor : distinct(tensors)) out.push_back({.tensor = tensor});
  return out;
}

bool OnnxUnfolding::may_move(std::size_t tensor, const OnnxScope& scope) const {
  const OnnxTensor& made = program_.tensors[tensor];
  return tensor >= scope.first_tensor && made.base == kNoIndex && made.same_as == kNoIndex &&
         !made.constant;
}

OnnxOp OnnxUnfolding::new_op(const OnnxScope& scope, std::string id,
                             const std::string& label) const {
  return {.id = std::move(id), .label = label, .when = scope.when, .decided_by = scope.decided_by};
}

void OnnxUnfolding::unfold(const OnnxScope& scope) {
  const OnnxGraph& graph = model_.graphs[scope.graph];
  if (!spend(graph.values.size(), scope.path)) return;
  for (const std::size_t value : graph.values) {
    const OnnxValue& stored = model_.values[value];
    if (stored.stored && stored.type.is_complete()) use(value, scope, scope.path);
  }
  for (const OnnxNode& node : graph.nodes) unfold_node(scope, node);
}

void OnnxUnfolding::unfold_node(const OnnxScope& scope, const OnnxNode& node) {
  const std::string path = scope.path + "/node/" + std::to_string(node.index);
  if (node.folded || !spend(1 + node.inputs.size() + node.outputs.size(), path)) return;
  objection_ =
      node.problem.empty()
          ? ""
          : " (the onnx library says: " + printable(node.problem.substr(0, kMostObjection)) + ")";
  is_consequence_ = std::ranges::any_of(node.inputs, [&](std::size_t value) {
    return value != kNoIndex && !model_.values[value].type.is_complete();
  });
  const std::string id = new_id(scope, node);
  if (node.is("If")) return unfold_if(scope, node, id, path);
  if (node.is("Loop")) return unfold_loop(scope, node, id, path);
  if (node.is("Scan")) return unfold_scan(scope, node, id, path);
  if (has_graph(node)) {
    return fail("import.unsupported",
                quoted(id) + ": what " + node.op + " does with its graph is not known", path);
  }
  OnnxOp op = new_op(scope, id, node.op);
  if (!unfold_view(scope, node, op, path) && !unfold_concat(scope, node, op, path)) {
    op.reads = accesses(node.inputs, scope, path);
    for (const std::size_t value : distinct(node.outputs)) {
      if (!model_.values[value].used && !model_.values[value].type.is_complete()) {
        leaves_out_ = true;
        continue;
      }
      op.writes.push_back({.tensor = make_tensor(value, scope, path)});
    }
    op.flops = onnx_flops(model_, node);
    if (errors_.empty()) allow_in_place(node, op);
  }
  program_.ops.push_back(std::move(op));
}

bool OnnxUnfolding::unfold_view(const OnnxScope& scope, const OnnxNode& node, OnnxOp& op,
                                const std::string& path) {
  const auto offsets = onnx_view_offsets(model_, node);
  if (!offsets) return false;
  const std::size_t base = use(node.inputs[0], scope, path);
  if (base == kNoIndex || !program_.tensors[base].strides.empty()) return false;
  op.view = true;
  op.reads = {{.tensor = base}};
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (k >= offsets->size() || node.outputs[k] == kNoIndex) continue;
    const std::size_t made = make_tensor(node.outputs[k], scope, path);
    if (made == kNoIndex) continue;
    OnnxTensor& view = program_.tensors[made];
    const OnnxTensor& of = program_.tensors[base];
    const bool is_deep = of.depth == kMostViewsDeep;
    view.base = is_deep ? of.base : base;
    view.offset = is_deep ? of.offset + (*offsets)[k] : (*offsets)[k];
    view.depth = is_deep ? of.depth : of.depth + 1;
    op.writes.push_back({.tensor = made});
  }
  return true;
}

/// `--concat alias`: each operand that is made here, for the first such Concat, is made in its part
/// of the result. The others are copied.
bool OnnxUnfolding::unfold_concat(const OnnxScope& scope, const OnnxNode& node, OnnxOp& op,
                                  const std::string& path) {
  if (!alias_concat_ || !node.is("Concat") || node.output(0) == kNoIndex) return false;
  const OnnxType& type = model_.values[node.outputs[0]].type;
  const std::size_t axis = onnx_axis(node.number("axis", 1), type.rank());
  const bool is_possible =
      type.is_complete() && axis != kNoIndex && onnx_element_bits(type.element) >= 8 &&
      std::all_of(type.shape->begin(), type.shape->begin() + static_cast<std::ptrdiff_t>(axis),
                  [](const OnnxExtent& extent) { return extent.is(1); });
  const std::vector<OnnxAccess> parts = accesses(node.inputs, scope, path);
  if (!is_possible || parts.size() != node.inputs.size() || !errors_.empty()) return false;
  const std::size_t whole = make_tensor(node.outputs[0], scope, path);
  if (whole == kNoIndex) return false;
  OnnxExtent offset = 0;
  std::vector<OnnxAccess> copied;
  std::vector<OnnxAccess> aliased;
  for (const OnnxAccess& part : parts) {
    OnnxTensor& tensor = program_.tensors[part.tensor];
    const OnnxExtent bytes = onnx_bytes(tensor.type);
    if (may_move(part.tensor, scope)) {
      tensor.base = whole;
      tensor.offset = offset;
      aliased.push_back(part);
    } else {
      op.reads.push_back(part);
      copied.push_back({.tensor = whole, .part = std::pair(offset, bytes)});
    }
    offset = offset + bytes;
  }
  op.view = copied.empty();
  op.writes = op.view ? std::vector<OnnxAccess>{{.tensor = whole}} : copied;
  if (op.view) op.reads = aliased;
  op.flops = 0;
  return true;
}

void OnnxUnfolding::allow_in_place(const OnnxNode& node, OnnxOp& op) const {
  if (!onnx_is_elementwise(node) || op.writes.size() != 1) return;
  const OnnxTensor& out = program_.tensors[op.writes[0].tensor];
  for (const OnnxAccess& read : op.reads) {
    const OnnxTensor& in = program_.tensors[read.tensor];
    const bool fits = !in.constant && in.strides.empty() && *in.type.shape == *out.type.shape &&
                      onnx_element_bits(in.type.element) == onnx_element_bits(out.type.element);
    if (fits) op.in_place.emplace_back(read.tensor, op.writes[0].tensor);
  }
}

}  // namespace memverify
