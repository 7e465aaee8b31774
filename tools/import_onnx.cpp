// ONNX models: a graph to place. Where the initialisers lie is settled; all else has no place yet.
//
// Tested by tests/unit/tools/import_onnx_test.cpp on corpus/imports/onnx.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plan/builder.h"
#include "plan/expr.h"
#include "plan/words.h"
#include "tools/importers.h"
#include "tools/json_cursor.h"
#include "tools/onnx_file.h"
#include "tools/onnx_program.h"
#include "tools/onnx_schedule.h"
#include "tools/onnx_shapes.h"

namespace memverify {
namespace {

constexpr std::int64_t kOnnxAlignment = 64;
constexpr std::string_view kActivations = "arena";
constexpr std::string_view kWeights = "constants";

ExprSpec spec_of(const OnnxExtent& extent) {
  if (extent.number()) return *extent.number();
  return std::string_view(extent.text());
}

/// What an extent counts for where a number is needed: each symbol at its greatest value, one
/// without bounds at 1.
class ExtentEstimate {
 public:
  explicit ExtentEstimate(const std::vector<OnnxSymbols::Symbol>& symbols) {
    for (const OnnxSymbols::Symbol& symbol : symbols) {
      ids_.emplace(symbol.id, static_cast<SymbolId>(values_.symbols.size()));
      values_.symbols.push_back(symbol.bounds == nullptr ? 1 : symbol.bounds->max);
    }
  }

  std::int64_t operator()(const OnnxExtent& extent) const {
    if (extent.number()) return *extent.number();
    std::optional<ExprPool::ParseError> error;
    ExprPool pool;
    const auto id = [&](std::string_view name) -> std::optional<SymbolId> {
      const auto found = ids_.find(std::string(name));
      return found == ids_.end() ? std::nullopt : std::optional(found->second);
    };
    const Expr expr = pool.parse(extent.text(), false, id, error);
    return error ? 0 : std::max<std::int64_t>(0, pool.eval(expr, values_).value_or(0));
  }

 private:
  std::unordered_map<std::string, SymbolId> ids_;
  Valuation values_;
};

/// Writes a program and its schedule down as a plan.
class OnnxPlan {
 public:
  OnnxPlan(OnnxProgram program, const ImportOptions& options, const OnnxSymbols& symbols)
      : program_(std::move(program)), options_(options), symbols_(symbols) {}

  Result<Imported> make(const std::string& name) {
    const auto queues = static_cast<std::size_t>(options_.queues);
    const auto dma = static_cast<std::size_t>(options_.dma);
    const std::vector<OnnxStep> steps =
        schedule_onnx(program_, queues, dma, ExtentEstimate(symbols_.symbols()));
    builder_.set_name(name);
    builder_.add_pool({.name = kWeights});
    builder_.add_pool({.name = kActivations, .alignment = kOnnxAlignment});
    for (std::size_t q = 0; q < queues + dma; ++q) queues_.push_back(queue_name(q));
    for (const std::string& queue : queues_) builder_.add_queue({.name = queue});
    for (const std::string& condition : program_.conditions) {
      builder_.add_condition({.name = condition});
    }
    add_tensors();
    add_boundary();
    for (const OnnxStep& step : steps)
      ids_of_ops_.push_back(unique(program_.ops[step.op].id, used_ops_));
    for (std::size_t s = 0; s < steps.size(); ++s) add_op(steps, s);
    add_symbols();
    assume();
    builder_.add_extra("", "x-assumptions", nlohmann::json(assumptions_).dump());
    Result<Plan> plan = std::move(builder_).build();
    if (!plan.ok()) return plan.errors();
    return Imported{.plan = std::move(plan).value(), .assumptions = std::move(assumptions_)};
  }

 private:
  static std::string unique(const std::string& wanted, std::unordered_set<std::string>& used) {
    std::string id = wanted;
    for (std::size_t k = used.size(); !used.insert(id).second; ++k) {
      id = wanted + "#" + std::to_string(k);
    }
    return id;
  }

  std::string queue_name(std::size_t q) const {
    const auto queues = static_cast<std::size_t>(options_.queues);
    const bool loads = q >= queues;
    const std::string name = loads ? "dma" : "compute";
    const bool is_only = (loads ? options_.dma : options_.queues) == 1;
    return is_only ? name : name + std::to_string(loads ? q - queues : q);
  }

  void add_tensors() {
    for (const OnnxTensor& tensor : program_.tensors) {
      ids_.push_back(tensor.same_as == kNoIndex ? unique(tensor.id, used_tensors_) : "");
    }
    OnnxExtent next = 0;  // Of the constants.
    for (std::size_t t = 0; t < program_.tensors.size(); ++t) {
      const OnnxTensor& tensor = program_.tensors[t];
      if (tensor.same_as != kNoIndex) continue;
      TensorSpec spec{.name = ids_[t], .dtype = onnx_dtype(tensor.type.element)};
      spec.shape.emplace();
      for (const OnnxExtent& extent : *tensor.type.shape) spec.shape->push_back(spec_of(extent));
      remember_symbols(tensor.type);
      if (!tensor.strides.empty()) {
        spec.strides.emplace();
        for (const OnnxExtent& stride : tensor.strides) spec.strides->push_back(spec_of(stride));
      }
      if (tensor.base != kNoIndex) {
        spec.view_of = id_of(tensor.base);
        spec.offset = spec_of(tensor.offset);
      } else if (tensor.constant) {
        const OnnxExtent bytes = onnx_bytes(tensor.type);
        builder_.add_storage(
            {.name = ids_[t], .pool = kWeights, .slots = {spec_of(next)}, .bytes = spec_of(bytes)});
        next = floor_div(next + bytes + (kOnnxAlignment - 1), kOnnxAlignment) * kOnnxAlignment;
        spec.storage = ids_[t];
      } else {
        spec.pools = {kActivations};
      }
      builder_.add_tensor(spec);
      if (tensor.constant && tensor.base == kNoIndex) builder_.add_constant(ids_[t]);
    }
  }

  std::string_view id_of(std::size_t tensor) const { return ids_[program_.resolved(tensor)]; }

  void add_boundary() {
    std::unordered_set<std::size_t> kept;  // Roots.
    std::unordered_set<std::size_t> outputs;
    for (const std::size_t output : program_.outputs) {
      kept.insert(program_.root(output));
      const std::size_t tensor = program_.resolved(output);
      if (outputs.insert(tensor).second) builder_.add_output({.tensor = ids_[tensor]});
    }
    for (const std::size_t input : program_.inputs) {
      builder_.add_input(ids_[input]);
      if (kept.contains(input)) continue;
      builder_.add_donated(ids_[input]);
      has_donated_ = true;
    }
  }

  std::vector<AccessSpec> accesses(const std::vector<OnnxAccess>& list) const {
    std::vector<AccessSpec> out;
    std::unordered_set<std::size_t> seen;  // Tensors that turned out to be the same one.
    for (const OnnxAccess& access : list) {
      if (!access.part && !seen.insert(program_.resolved(access.tensor)).second) continue;
      AccessSpec spec{.tensor = id_of(access.tensor)};
      if (access.part) {
        spec.offset = spec_of(access.part->first);
        spec.bytes = spec_of(access.part->second);
      }
      out.push_back(spec);
    }
    return out;
  }

  void add_op(const std::vector<OnnxStep>& steps, std::size_t s) {
    const OnnxStep& step = steps[s];
    const OnnxOp& op = program_.ops[step.op];
    OpSpec spec{.name = ids_of_ops_[s], .label = op.label};
    spec.reads = accesses(op.reads);
    spec.writes = accesses(op.writes);
    if (op.view) {
      spec.kind = "view";
      return builder_.add_op(spec);
    }
    spec.queue = queues_[step.queue];
    for (const auto& [read, written] : op.in_place) {
      spec.in_place.push_back({.read = id_of(read), .written = id_of(written)});
    }
    for (const auto& [condition, value] : op.when) {
      spec.when.push_back({.condition = condition, .value = value});
    }
    for (const std::size_t wait : step.waits) spec.waits.push_back({.target = ids_of_ops_[wait]});
    if (step.signals) spec.signals = {{.event = ids_of_ops_[s]}};
    spec.duration = Duration{.min = step.ticks, .max = step.ticks};
    builder_.add_op(spec);
  }

  /// The words of the expressions of this shape.
  void remember_symbols(const OnnxType& type) {
    for (const OnnxExtent& extent : *type.shape) {
      if (extent.number()) continue;
      std::string word;
      for (const char c : extent.text() + " ") {
        const bool in_word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (in_word) {
          word += c;
        } else if (!word.empty()) {
          used_symbols_.insert(std::exchange(word, ""));
        }
      }
    }
  }

  void add_symbols() {
    for (const OnnxSymbols::Symbol& symbol : symbols_.symbols()) {
      if (!used_symbols_.contains(symbol.id)) continue;
      SymbolSpec spec{.name = symbol.id};
      if (symbol.bounds != nullptr) {
        spec.min = symbol.bounds->min;
        spec.max = symbol.bounds->max;
      }
      builder_.add_symbol(spec);
    }
  }

  void assume();

  OnnxProgram program_;
  const ImportOptions& options_;
  const OnnxSymbols& symbols_;
  PlanBuilder builder_;
  std::vector<std::string> queues_;
  std::vector<std::string> ids_;         ///< By tensor.
  std::vector<std::string> ids_of_ops_;  ///< By step.
  std::unordered_set<std::string> used_tensors_;
  std::unordered_set<std::string> used_ops_;
  std::unordered_set<std::string> used_symbols_;
  std::vector<std::string> assumptions_;
  bool has_donated_ = false;
};

void OnnxPlan::assume() {
  assumptions_ = program_.notes;
  const auto say = [&](std::string sentence) { assumptions_.push_back(std::move(sentence)); };
  say(options_.queues == 1
          ? "The operators run one after another, in the order of the file; each reads its inputs "
            "whole and writes its outputs whole."
          : "The operators are spread over " + std::to_string(options_.queues) +
                " queues by list scheduling; each reads its inputs whole and writes its outputs "
                "whole.");
  say("What is computed from constants alone is computed before, and is a constant.");
  say("A reshape, or a slice of bytes that lie side by side, moves nothing; what Dropout gives is "
      "its input, unless the model says that it trains.");
  say("An element-wise operator may write over an operand of the same size.");
  say("Constants lie in a pool of their own; all else lies at multiples of " +
      std::to_string(kOnnxAlignment) + " bytes in an arena as large as it needs to be.");
  say("Buffers that kernels ask for at run time are not in the file, and not in the plan.");
  say("A tick is the time to move 1 KiB or for 16,384 floating-point operations; an op takes the "
      "longer of both.");
  if (has_donated_) {
    say("The application fills the inputs before each run and does not need them afterwards "
        "(donated).");
  }
  if (!program_.conditions.empty()) {
    say("A branch runs after its condition was read; its results are made in the bytes of those of "
        "the If where it makes them itself, and copied otherwise.");
  }
  if (options_.dma > 0) {
    say("A constant is loaded once, at the earliest when all but two of the ops before its first "
        "use have been submitted and the last of these is done, and stays until its last use.");
  }
  if (!used_symbols_.empty()) say("Symbols without a --dim are any number from 0 on.");
}

}  // namespace

Result<Imported> import_onnx(std::string_view text, std::string_view file,
                             const ImportOptions& options) {
  OnnxSymbols symbols(options.dims);
  Result<OnnxFile> read = OnnxFile::read(text, file, symbols);
  if (!read.ok()) return read.errors();
  OnnxFile& onnx = read.value();
  infer_onnx(onnx, options.dims, symbols);
  if (const std::string unused = symbols.unused(); !unused.empty()) {
    return Diagnostic{.id = "import.option", .message = unused, .file = std::string(file)};
  }
  Result<OnnxProgram> program = unfold_onnx(onnx.model(), file, options);
  if (!program.ok()) return program.errors();
  return OnnxPlan(std::move(program).value(), options, symbols).make(onnx.model().name);
}

}  // namespace memverify
