#include "tools/onnx_shapes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/isolated.h"
#include "tools/onnx_rules.h"

namespace memverify {
namespace {

/// Extents that the user gives, by value and axis.
using GivenExtents = std::map<std::pair<std::size_t, std::size_t>, OnnxExtent>;

constexpr std::int32_t kInt64 = 7;
constexpr std::int32_t kBoolean = 9;

/// What `first` leaves open filled in from `second`.
OnnxType filled(OnnxType first, const OnnxType& second) {
  if (first.kind == OnnxType::Kind::kUnknown) return second;
  if (first.kind != second.kind) return first;
  if (first.element == 0) first.element = second.element;
  if (!first.shape) first.shape = second.shape;
  if (!first.shape || !second.shape || first.rank() != second.rank()) return first;
  for (std::size_t k = 0; k < first.rank(); ++k) {
    if (!(*first.shape)[k].is_known()) (*first.shape)[k] = (*second.shape)[k];
  }
  return first;
}

/// What holds of both: an extent on which they differ is not known.
OnnxType common(OnnxType a, const OnnxType& b) {
  if (a.kind != b.kind || a.element != b.element) return {};
  if (!a.shape || !b.shape || a.rank() != b.rank()) {
    a.shape.reset();
    return a;
  }
  for (std::size_t k = 0; k < a.rank(); ++k) {
    if (!((*a.shape)[k] == (*b.shape)[k])) (*a.shape)[k] = OnnxExtent();
  }
  return a;
}

/// Room for either: of two extents the larger.
OnnxType wider(OnnxType a, const OnnxType& b) {
  if (a.kind != b.kind || a.element != b.element || a.rank() != b.rank()) return common(a, b);
  for (std::size_t k = 0; k < a.rank(); ++k) {
    (*a.shape)[k] = larger((*a.shape)[k], (*b.shape)[k]);
  }
  return a;
}

OnnxType tensor_type(std::int32_t element, OnnxExtents shape) {
  return {.kind = OnnxType::Kind::kTensor, .element = element, .shape = std::move(shape)};
}

class OnnxWalk {
 public:
  OnnxWalk(OnnxFile& file, const GivenExtents& given, bool uses_library)
      : file_(file), model_(file.model()), given_(given), uses_library_(uses_library) {}

  void walk(std::size_t graph) {
    for (OnnxNode& node : model_.graphs[graph].nodes) {
      if (node.is("If")) {
        walk_if(node);
      } else if (node.is("Loop")) {
        walk_loop(node);
      } else if (node.is("Scan")) {
        walk_scan(node);
      } else {
        walk_node(node);
      }
    }
  }

 private:
  OnnxValue* value(std::size_t index) {
    return index == kNoIndex ? nullptr : &model_.values[index];
  }

  /// Settles a result from what was inferred, what is declared and what the user says.
  void settle(std::size_t index, const OnnxType& inferred) {
    OnnxValue* made = value(index);
    if (made == nullptr) return;
    made->type = filled(inferred, made->type);
    if (!made->type.shape) return;
    for (std::size_t k = 0; k < made->type.rank(); ++k) {
      OnnxExtent& extent = (*made->type.shape)[k];
      if (extent.number().value_or(0) < 0) extent = OnnxExtent();
      const auto found = given_.find({index, k});
      if (found != given_.end()) extent = found->second;
    }
  }

  void walk_node(OnnxNode& node) {
    std::vector<OnnxType> types(node.outputs.size());
    if (uses_library_ && file_.library_knows(node)) types = file_.infer(node, node.problem);
    const bool is_complete = std::ranges::all_of(types, &OnnxType::is_complete);
    if (!is_complete) {
      const std::vector<OnnxType> own = onnx_types(model_, node);
      for (std::size_t k = 0; k < types.size(); ++k) types[k] = filled(types[k], own[k]);
    }
    for (std::size_t k = 0; k < types.size(); ++k) settle(node.outputs[k], types[k]);
    if (OnnxValue* first = value(node.output(0)); first != nullptr) {
      first->data = onnx_data(model_, node);
    }
    const bool has_graph = std::ranges::any_of(node.attributes, [](const OnnxAttribute& attribute) {
      return attribute.graph != kNoIndex;
    });
    node.folded = !has_graph && !onnx_is_random(node) && !node.outputs.empty() &&
                  std::ranges::all_of(node.inputs, [&](std::size_t index) {
                    return index == kNoIndex || model_.values[index].constant;
                  });
    for (const std::size_t index : node.outputs) {
      if (node.folded && index != kNoIndex) model_.values[index].constant = true;
    }
  }

  void walk_if(OnnxNode& node) {
    const std::size_t then_graph = node.graph("then_branch");
    const std::size_t else_graph = node.graph("else_branch");
    if (then_graph == kNoIndex || else_graph == kNoIndex) return;
    const std::optional<bool> taken = onnx_condition(model_, node.input(0));
    if (taken.value_or(true)) walk(then_graph);
    if (!taken.value_or(false)) walk(else_graph);
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const std::size_t then_value = output_of(then_graph, k);
      const std::size_t else_value = output_of(else_graph, k);
      if (then_value == kNoIndex || else_value == kNoIndex) continue;
      const OnnxValue& one = model_.values[then_value];
      const OnnxValue& other = model_.values[else_value];
      if (!taken) {
        settle(node.outputs[k], wider(one.type, other.type));
        continue;
      }
      const OnnxValue& sure = *taken ? one : other;
      settle(node.outputs[k], sure.type);
      if (OnnxValue* made = value(node.outputs[k]); made != nullptr) {
        made->data = sure.data;
        made->constant = sure.constant;
      }
    }
  }

  std::size_t output_of(std::size_t graph, std::size_t k) const {
    const std::vector<std::size_t>& outputs = model_.graphs[graph].outputs;
    return k < outputs.size() ? outputs[k] : kNoIndex;
  }

  void set_input(std::size_t graph, std::size_t k, const OnnxType& type) {
    const std::vector<std::size_t>& inputs = model_.graphs[graph].inputs;
    if (k < inputs.size()) settle(inputs[k], type);
  }

  /// The body is walked once: what it carries over must keep its shape.
  void walk_loop(OnnxNode& node) {
    const std::size_t body = node.graph("body");
    if (body == kNoIndex || node.inputs.size() < 2) return;
    const std::size_t states = node.inputs.size() - 2;
    set_input(body, 0, tensor_type(kInt64, {}));
    set_input(body, 1, tensor_type(kBoolean, {}));
    if (onnx_condition(model_, node.inputs[1]).value_or(node.inputs[1] == kNoIndex) &&
        model_.graphs[body].inputs.size() > 1) {
      model_.values[model_.graphs[body].inputs[1]].data = OnnxExtents{1};
    }
    for (std::size_t k = 0; k < states; ++k) carry_in(node, body, k + 2, k + 2);
    walk(body);
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const std::size_t from = output_of(body, k + 1);
      if (from == kNoIndex) continue;
      if (k < states) {
        carry_out(node, k, from, node.inputs[k + 2]);
      } else {
        settle(node.outputs[k], stacked(from, 0, onnx_trips(model_, node)));
      }
    }
  }

  void carry_in(const OnnxNode& node, std::size_t body, std::size_t input, std::size_t parameter) {
    const OnnxValue* from = value(node.input(input));
    if (from != nullptr) set_input(body, parameter, from->type);
  }

  void carry_out(const OnnxNode& node, std::size_t output, std::size_t from, std::size_t initial) {
    const OnnxValue* before = value(initial);
    if (before != nullptr) {
      settle(node.outputs[output], common(model_.values[from].type, before->type));
    }
  }

  /// Results of iterations, side by side along a new axis.
  OnnxType stacked(std::size_t from, std::int64_t axis, const OnnxExtent& trips) {
    OnnxType type = model_.values[from].type;
    if (!type.shape) return type;
    const std::size_t place = onnx_axis(axis, type.rank() + 1);
    if (place == kNoIndex) return {};
    type.shape->insert(type.shape->begin() + static_cast<std::ptrdiff_t>(place), trips);
    return type;
  }

  void walk_scan(OnnxNode& node) {
    const std::size_t body = node.graph("body");
    const std::optional<OnnxScan> scan = onnx_scan(model_, node);
    if (body == kNoIndex || !scan) return;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const OnnxValue* from = value(node.inputs[k]);
      if (from == nullptr) continue;
      OnnxType type = from->type;
      if (k >= scan->states && type.shape) {
        const std::size_t axis = scan->input_axes[k - scan->states];
        type.shape->erase(type.shape->begin() + static_cast<std::ptrdiff_t>(axis));
      }
      set_input(body, k, type);
    }
    walk(body);
    const std::vector<std::int64_t> axes = node.numbers("scan_output_axes");
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const std::size_t from = output_of(body, k);
      if (from == kNoIndex) continue;
      if (k < scan->states) {
        carry_out(node, k, from, node.inputs[k]);
      } else {
        const std::size_t which = k - scan->states;
        settle(node.outputs[k], stacked(from, which < axes.size() ? axes[which] : 0, scan->trips));
      }
    }
  }

  OnnxFile& file_;
  OnnxModel& model_;
  const GivenExtents& given_;
  bool uses_library_;
};

// What the other process sends back: words, a value or a node a line.

void put_extents(std::string& out, const std::optional<OnnxExtents>& extents) {
  if (!extents) {
    out += " -";
    return;
  }
  out += " " + std::to_string(extents->size());
  for (const OnnxExtent& extent : *extents) {
    out += extent.number() ? " =" + extent.text() : " ?" + extent.text();
  }
}

std::string facts_of(const OnnxModel& model) {
  std::string out;
  for (const OnnxValue& value : model.values) {
    out += std::to_string(static_cast<int>(value.type.kind)) + " " +
           std::to_string(value.type.element) + " " + (value.constant ? "1" : "0");
    put_extents(out, value.type.shape);
    put_extents(out, value.data);
    out += "\n";
  }
  for (const OnnxGraph& graph : model.graphs) {
    for (const OnnxNode& node : graph.nodes) {
      std::string problem = node.problem;
      std::ranges::replace(problem, '\n', ' ');
      out += (node.folded ? "1" : "0") + problem + "\n";
    }
  }
  return out;
}

class FactReader {
 public:
  explicit FactReader(std::string_view text) : rest_(text) {}

  void read(OnnxModel& model) {
    for (OnnxValue& value : model.values) {
      words_ = cut('\n', rest_);
      value.type.kind = static_cast<OnnxType::Kind>(number(word()));
      value.type.element = static_cast<std::int32_t>(number(word()));
      value.constant = word() == "1";
      value.type.shape = extents();
      value.data = extents();
    }
    for (OnnxGraph& graph : model.graphs) {
      for (OnnxNode& node : graph.nodes) {
        const std::string_view line = cut('\n', rest_);
        node.folded = line.starts_with('1');
        node.problem = line.substr(1);
      }
    }
  }

 private:
  static std::string_view cut(char end, std::string_view& text) {
    const std::size_t at = std::min(text.find(end), text.size());
    const std::string_view part = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return part;
  }

  static std::int64_t number(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  std::string_view word() { return cut(' ', words_); }

  std::optional<OnnxExtents> extents() {
    const std::string_view count = word();
    if (count == "-") return std::nullopt;
    OnnxExtents out;
    for (std::int64_t k = number(count); k > 0; --k) {
      const std::string_view text = word();
      out.push_back(text[0] == '=' ? OnnxExtent(number(text.substr(1)))
                                   : OnnxExtent::symbol(std::string(text.substr(1))));
    }
    return out;
  }

  std::string_view rest_;
  std::string_view words_;
};

/// `--dim LOOP.trips=…`, for the loop of this name or place.
void set_trips(OnnxModel& model, std::span<const DimOption> dims, OnnxSymbols& symbols) {
  for (OnnxGraph& graph : model.graphs) {
    for (OnnxNode& node : graph.nodes) {
      if (!node.is("Loop") || dims.empty()) continue;
      const std::string name = node.name.empty() ? "Loop_" + std::to_string(node.index) : node.name;
      node.trips = symbols.given(name + ".trips");
    }
  }
}

GivenExtents given_extents(const OnnxModel& model, std::span<const DimOption> dims,
                           OnnxSymbols& symbols) {
  GivenExtents given;
  for (const DimOption& option : dims) {
    const std::size_t dot = option.name.rfind('.');
    if (dot == std::string::npos) continue;
    std::size_t axis = 0;
    const char* end = option.name.data() + option.name.size();
    if (std::from_chars(option.name.data() + dot + 1, end, axis).ptr != end) continue;
    OnnxExtent extent;
    for (std::size_t k = 0; k < model.values.size(); ++k) {
      if (model.values[k].name != option.name.substr(0, dot)) continue;
      if (!extent.is_known()) extent = symbols.given(option.name);
      given[{k, axis}] = extent;
    }
  }
  return given;
}

}  // namespace

void infer_onnx(OnnxFile& file, std::span<const DimOption> dims, OnnxSymbols& symbols) {
  OnnxModel& model = file.model();
  const GivenExtents given = given_extents(model, dims, symbols);
  set_trips(model, dims, symbols);
  const auto with_library = [&] {
    OnnxWalk(file, given, true).walk(0);
    return facts_of(model);
  };
  constexpr std::int64_t kMegabyte = 1 << 20;
  const auto megabytes = static_cast<std::int64_t>(model.bytes) / kMegabyte;
  OnnxFile::prepare_library();
  const std::optional<std::string> facts =
      isolated(with_library, 10 + megabytes, (512 + 64 * megabytes) * kMegabyte);
  if (facts) return FactReader(*facts).read(model);
  model.notes.emplace_back(
      "The onnx library crashed on this model: its shapes are from memverify's own rules and what "
      "the file declares.");
  OnnxWalk(file, given, false).walk(0);
}

}  // namespace memverify
