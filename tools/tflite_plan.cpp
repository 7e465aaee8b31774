#include "tools/tflite_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/words.h"
#include "tools/json_cursor.h"

namespace memverify {
namespace {

constexpr std::int64_t kArenaAlignment = 16;
constexpr std::string_view kArena = "arena";
constexpr std::string_view kFile = "file";
constexpr std::size_t kMostNested = 16;  ///< IFs within IFs.

using IndexSet = std::unordered_set<std::size_t>;

IndexSet set_of(const std::vector<std::size_t>& list) { return {list.begin(), list.end()}; }

std::vector<std::size_t> without_repeats(const std::vector<std::size_t>& list) {
  std::vector<std::size_t> out;
  IndexSet seen;
  for (const std::size_t one : list) {
    if (seen.insert(one).second) out.push_back(one);
  }
  return out;
}

/// What it takes to unfold a subgraph once.
std::size_t size_of(const TfliteGraph& graph) {
  std::size_t size = graph.tensors.size() + graph.inputs.size() + graph.outputs.size();
  for (const TfliteOperator& op : graph.operators) {
    size += 1 + op.inputs.size() + op.outputs.size();
  }
  return size;
}

std::vector<AccessSpec> accesses_to(const std::vector<std::string>& names,
                                    const std::vector<std::size_t>& list) {
  std::vector<AccessSpec> out;
  for (const std::size_t index : list) out.push_back({.tensor = names[index]});
  return out;
}

bool has_shape(const TfliteTensor& tensor) { return !tensor.dtype.empty() && tensor.dtype != "i4"; }

/// Equal for tensors with as many elements of the same size.
std::pair<std::int64_t, std::int64_t> extent(const TfliteTensor& tensor) {
  std::int64_t elements = 1;
  for (const std::int64_t one : tensor.shape) elements *= one;
  return {tensor.bytes, elements};
}

/// The greatest that all given offsets are multiples of, at most what the runtime aligns to.
std::int64_t arena_alignment(const TfliteGraph& graph) {
  std::int64_t alignment = kArenaAlignment;
  for (const TfliteTensor& tensor : graph.tensors) {
    alignment = std::gcd(alignment, tensor.offset.value_or(0));
  }
  return alignment;
}

}  // namespace

TflitePlan::TflitePlan(const TfliteModel& model, std::string_view cpu_order) : model_(model) {
  builder_.set_name(model.name);
  builder_.add_pool({.name = kFile, .bytes = static_cast<std::int64_t>(model.bytes.size())});
  const std::int64_t alignment = arena_alignment(graph());
  builder_.add_pool({.name = kArena, .alignment = alignment});
  builder_.add_queue({.name = "cpu", .order = cpu_order});
  names_ = add_tensors(graph(), "");
  assume(
      "The operators run one after another, in the order of the file; each reads its inputs "
      "whole and writes its outputs whole.");
  assume("Buffers that kernels ask for at run time are not in the file, and not in the plan.");
  assume("The arena is as large as it needs to be, and tensors start there at multiples of " +
         std::to_string(alignment) + " bytes.");
  add_boundary();
  const auto unread = std::ranges::count(model.graphs, false, &TfliteGraph::read);
  if (unread > 0) {
    assume("Only the first subgraph runs; " + counted(unread, "other") +
           " can be entered elsewhere and shares no tensor with it.");
  }
}

void TflitePlan::assume(std::string sentence) { assumptions_.push_back(std::move(sentence)); }

std::string TflitePlan::unique(std::string name) {
  std::string candidate = name;
  for (std::size_t k = used_.size(); !used_.insert(candidate).second; ++k) {
    candidate = name + "#" + std::to_string(k);
  }
  return candidate;
}

std::vector<std::string> TflitePlan::add_tensors(const TfliteGraph& graph,
                                                 const std::string& prefix) {
  std::vector<std::string> names;
  for (const TfliteTensor& tensor : graph.tensors) {
    const std::string name =
        tensor.name.empty() ? "tensor_" + std::to_string(names.size()) : tensor.name;
    names.push_back(unique(prefix + name));
    add_tensor(tensor, names.back());
  }
  return names;
}

void TflitePlan::add_tensor(const TfliteTensor& tensor, const std::string& name) {
  TensorSpec spec{.name = name};
  if (has_shape(tensor)) {
    spec.dtype = tensor.dtype;
    spec.shape.emplace(tensor.shape.begin(), tensor.shape.end());
  } else {
    spec.bytes = tensor.bytes;
  }
  if (tensor.constant || tensor.offset) {
    const std::int64_t offset = tensor.constant ? tensor.file_offset : *tensor.offset;
    builder_.add_storage({.name = name,
                          .pool = tensor.constant ? kFile : kArena,
                          .slots = {offset},
                          .bytes = tensor.bytes});
    spec.storage = name;
  } else {
    spec.pools = {kArena};
  }
  builder_.add_tensor(spec);
  if (tensor.constant) builder_.add_constant(name);
}

/// A variable is taken over from the run before and handed on to the next.
void TflitePlan::add_boundary() {
  std::vector<std::size_t> inputs = without_repeats(graph().inputs);
  std::vector<std::size_t> outputs = without_repeats(graph().outputs);
  const IndexSet kept = set_of(outputs);
  std::size_t donated = 0;
  for (const std::size_t input : inputs) {
    if (graph().tensors[input].constant || graph().tensors[input].variable ||
        kept.contains(input)) {
      continue;
    }
    builder_.add_donated(names_[input]);
    ++donated;
  }
  std::size_t variables = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!graph().tensors[i].variable || graph().tensors[i].constant) continue;
    inputs.push_back(i);
    outputs.push_back(i);
    ++variables;
  }
  for (const std::size_t input : without_repeats(inputs)) {
    if (!graph().tensors[input].constant) builder_.add_input(names_[input]);
  }
  for (const std::size_t output : without_repeats(outputs)) {
    builder_.add_output({.tensor = names_[output]});
  }
  if (donated > 0) {
    assume(
        "The application fills the inputs before each run and does not need them afterwards "
        "(donated).");
  }
  if (variables > 0) {
    assume(
        "An operator updates every variable tensor among its inputs; variables keep their bytes "
        "from one run to the next.");
  }
}

void TflitePlan::submit(const Instance& instance, OpSpec op) {
  for (const auto& [condition, value] : instance.when) {
    op.when.push_back({.condition = condition, .value = value});
  }
  op.queue = "cpu";
  builder_.add_op(op);
}

void TflitePlan::add_operator(std::size_t index) {
  add_op({.graph = graph(), .names = names_, .prefix = "", .when = {}}, index);
}

void TflitePlan::add_op(const Instance& instance, std::size_t index) {
  const TfliteOperator& op = instance.graph.operators[index];
  const std::string id = instance.prefix + printable(op.label) + "_" + std::to_string(index);
  if (op.builtin == kTfliteIf) {
    builder_.add_condition({.name = id});
    for (const bool value : {true, false}) add_branch(instance, index, id, value);
    return;
  }
  const std::vector<TfliteTensor>& tensors = instance.graph.tensors;
  const std::vector<std::size_t> inputs = without_repeats(op.inputs);
  const std::vector<std::size_t> outputs = without_repeats(op.outputs);
  OpSpec spec{.name = id, .label = op.label};
  spec.reads = accesses_to(instance.names, inputs);
  spec.writes = accesses_to(instance.names, outputs);
  const IndexSet written = set_of(outputs);
  const bool elementwise =
      op.builtin != kTfliteCustom && tflite_is_elementwise(op.builtin) && outputs.size() == 1;
  for (const std::size_t in : inputs) {
    if (written.contains(in)) continue;
    if (tensors[in].variable) {
      spec.writes.push_back({.tensor = instance.names[in]});
    } else if (elementwise && !tensors[in].constant &&
               extent(tensors[in]) == extent(tensors[outputs[0]])) {
      spec.in_place.push_back({.read = instance.names[in], .written = instance.names[outputs[0]]});
    }
  }
  submit(instance, spec);
}

/// What an IF does if its condition has this value: its operands become the inputs of the
/// subgraph, whose ops run, and whose outputs become the results.
void TflitePlan::add_branch(const Instance& outer, std::size_t index, const std::string& condition,
                            bool value) {
  const TfliteOperator& op = outer.graph.operators[index];
  const TfliteGraph& graph = model_.graphs[op.branches[value ? 0 : 1]];
  const auto refuse = [&](std::string_view id, const std::string& message) {
    errors_.push_back({.id = std::string(id), .message = condition + ": " + message});
  };
  unfolded_ += size_of(graph);
  if (!errors_.empty()) return;
  if (outer.when.size() == kMostNested || unfolded_ > model_.bytes.size()) {
    return refuse("import.unsupported", "its subgraphs are nested too deep");
  }
  if (op.inputs.size() != graph.inputs.size() + 1 || op.outputs.size() != graph.outputs.size()) {
    return refuse("import.contradiction", "a subgraph has other inputs or outputs than the IF");
  }
  const bool has_state = std::ranges::any_of(graph.tensors, &TfliteTensor::variable);
  if (has_state) return refuse("import.unsupported", "a subgraph has variable tensors");
  const std::string prefix = condition + (value ? ".then/" : ".else/");
  const std::vector<std::string> names = add_tensors(graph, prefix);
  Instance inner{.graph = graph, .names = names, .prefix = prefix, .when = outer.when};
  inner.when.emplace_back(condition, value);

  const std::string enter_id = condition + (value ? ".then" : ".else");
  OpSpec enter{.name = enter_id, .label = op.label};
  enter.reads = accesses_to(outer.names, without_repeats(op.inputs));
  enter.writes = accesses_to(names, without_repeats(graph.inputs));
  submit(inner, enter);
  for (std::size_t i = 0; i < graph.operators.size(); ++i) add_op(inner, i);
  const std::string leave_id = enter_id + ".results";
  OpSpec leave{.name = leave_id, .label = op.label};
  leave.reads = accesses_to(names, without_repeats(graph.outputs));
  leave.writes = accesses_to(outer.names, without_repeats(op.outputs));
  submit(inner, leave);
}

Result<Imported> TflitePlan::finish() {
  if (!errors_.empty()) return errors_;
  builder_.add_extra("", "x-assumptions", nlohmann::json(assumptions_).dump());
  Result<Plan> plan = std::move(builder_).build();
  if (!plan.ok()) return plan.errors();
  return Imported{.plan = std::move(plan).value(), .assumptions = std::move(assumptions_)};
}

}  // namespace memverify
