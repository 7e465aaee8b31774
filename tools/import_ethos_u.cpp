// TensorFlow Lite models that Vela compiled for Arm Ethos-U: an operator `ethos-u` is a command
// stream, which the driver runs to its end.
//
// The stream's DMA transfers and kernels are the ops of two queues, which it fills and waits for as
// a thread does. It addresses regions, which are tensors of the operator: its bytes are views of
// these. The inputs and results of the operator lie inside the scratch region: two ops of the CPU
// hand their bytes over, so that each value is known to come from where the graph says.
//
// Tested by tests/unit/tools/import_ethos_u_test.cpp on corpus/imports/ethos-u.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plan/words.h"
#include "tools/ethos_u_stream.h"
#include "tools/importers.h"
#include "tools/tflite_plan.h"

namespace memverify {
namespace {

constexpr std::int64_t kNewestKernelDepth = 2;
constexpr std::size_t kFirstRegion = 1;  ///< Operand 0 is the stream, then a tensor a region.
constexpr std::size_t kFirstInput = 4;   ///< After weights, scratch and fast scratch.
constexpr std::string_view kNpuMemory = "npu memory";

std::string hex(std::int64_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (auto rest = static_cast<std::uint64_t>(number); rest > 0 || out.empty(); rest >>= 4U) {
    out.insert(out.begin(), kDigits[rest & 15U]);
  }
  return "0x" + out;
}

/// The same bytes in the same order, with as few indices as possible.
NpuBytes simplified(const NpuBytes& bytes) {
  NpuBytes out = bytes;
  out.shape.clear();
  out.strides.clear();
  for (std::size_t i = 0; i < bytes.shape.size(); ++i) {
    const bool last = i + 1 == bytes.shape.size();
    if (bytes.shape[i] == 1 && !(last && out.shape.empty())) continue;
    if (!out.shape.empty() && out.strides.back() == bytes.shape[i] * bytes.strides[i]) {
      out.shape.back() *= bytes.shape[i];
      out.strides.back() = bytes.strides[i];
    } else {
      out.shape.push_back(bytes.shape[i]);
      out.strides.push_back(bytes.strides[i]);
    }
  }
  return out;
}

std::vector<ExprSpec> exprs(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

class EthosUImport {
 public:
  EthosUImport(const TfliteModel& model, std::string_view file, const ImportOptions& options)
      : model_(model), file_(file), options_(options), plan_(model, "host") {}

  Result<Imported> read() {
    const std::vector<TfliteOperator>& operators = plan_.graph().operators;
    several_ = std::ranges::count_if(operators, &TfliteOperator::is_ethos_u) > 1;
    for (std::size_t i = 0; i < operators.size() && errors_.empty(); ++i) {
      operators[i].is_ethos_u() ? add_stream(i) : plan_.add_operator(i);
    }
    if (!target_ && errors_.empty()) fail("import.format", "the file has no operator `ethos-u`");
    if (!errors_.empty()) return errors_;
    add_npu();
    return plan_.finish();
  }

 private:
  /// Where a region begins: in a tensor that may hold other regions too.
  struct Base {
    std::string tensor;
    std::int64_t offset = 0;
  };

  void fail(std::string_view id, std::string message) {
    errors_.push_back(
        {.id = std::string(id),
         .message = std::move(message),
         .pointer = op_ == nullptr ? "" : "/subgraphs/0/operators/" + std::to_string(index_),
         .file = std::string(file_)});
  }

  const TfliteTensor& tensor(std::size_t index) const { return plan_.graph().tensors[index]; }

  void add_stream(std::size_t index) {
    index_ = index;
    op_ = &plan_.graph().operators[index];
    prefix_ = several_ ? "op" + std::to_string(index) + "/" : "";
    if (op_->inputs.size() < kFirstInput) {
      return fail("import.contradiction",
                  "an operator `ethos-u` has a stream, weights and two scratch "
                  "tensors before its inputs");
    }
    if (!tensor(op_->inputs[2]).offset) {
      return fail("import.unsupported",
                  "OfflineMemoryAllocation gives the scratch tensor no offset: nothing says where "
                  "in it the inputs lie");
    }
    find_regions();
    const TfliteTensor& stream = tensor(op_->inputs[0]);
    const std::vector<std::size_t> inputs(op_->inputs.begin() + kFirstInput, op_->inputs.end());
    hand_over(inputs, true);
    stream_bytes_ += static_cast<std::size_t>(stream.bytes);
    if (stream_bytes_ > model_.bytes.size()) {
      return fail("import.damaged", "the same command stream is used over and over");
    }
    const std::string_view bytes = model_.bytes.substr(static_cast<std::size_t>(stream.file_offset),
                                                       static_cast<std::size_t>(stream.bytes));
    const Result<NpuTarget> target = read_ethos_u(
        stream.constant ? bytes : "", [&](const NpuCommand& command) { add_command(command); });
    if (!target.ok()) return fail(target.errors()[0].id, target.errors()[0].message);
    if (target_ && target_->product != target.value().product) {
      return fail("import.unsupported", "streams for different NPUs");
    }
    target_ = target.value();
    hand_over(op_->outputs, false);
  }

  void find_regions() {
    bases_.clear();
    std::vector<std::size_t> tensors(op_->inputs.begin() + kFirstRegion, op_->inputs.end());
    tensors.insert(tensors.end(), op_->outputs.begin(), op_->outputs.end());
    tensors.resize(std::min<std::size_t>(tensors.size(), kNpuInternal));
    for (std::size_t region = 0; region < tensors.size(); ++region) {
      bases_.push_back({plan_.name(tensors[region])});
      // Often the two scratch regions are one.
      for (std::size_t k = 0; k < region; ++k) {
        if (const auto inside = offset_in(tensors[region], tensors[k])) {
          bases_.back() = {bases_[k].tensor, bases_[k].offset + *inside};
          break;
        }
      }
    }
  }

  /// Where in `outer` the tensor lies, if it lies there whole.
  std::optional<std::int64_t> offset_in(std::size_t inner, std::size_t outer) const {
    const TfliteTensor& in = tensor(inner);
    const TfliteTensor& out = tensor(outer);
    if (!in.offset || !out.offset || *in.offset < *out.offset ||
        in.bytes > out.bytes - (*in.offset - *out.offset)) {
      return std::nullopt;
    }
    return *in.offset - *out.offset;
  }

  /// An op that takes the values of `tensors` over into the scratch regions, or out of them.
  void hand_over(const std::vector<std::size_t>& tensors, bool into) {
    const std::string name = prefix_ + (into ? "start" : "finish");
    OpSpec op{.name = name, .label = op_->label, .queue = "cpu"};
    std::vector<std::string> views;
    views.reserve(tensors.size());
    for (const std::size_t one : tensors) {
      const std::optional<Base> place = scratch_place(one);
      if (!place || tensor(one).bytes == 0) continue;
      views.push_back(view_like(one, *place));
      const std::string& of_graph = plan_.name(one);
      (into ? op.reads : op.writes).push_back({.tensor = of_graph});
      (into ? op.writes : op.reads).push_back({.tensor = views.back()});
      op.in_place.push_back(
          {.read = into ? of_graph : views.back(), .written = into ? views.back() : of_graph});
    }
    if (!views.empty()) plan_.builder().add_op(op);
  }

  std::optional<Base> scratch_place(std::size_t index) const {
    for (const std::size_t region : {1U, 2U}) {
      if (const auto inside = offset_in(index, op_->inputs[kFirstRegion + region])) {
        return Base{bases_[region].tensor, bases_[region].offset + *inside};
      }
    }
    return std::nullopt;
  }

  std::string view_like(std::size_t index, const Base& place) {
    const std::string name = plan_.unique(place.tensor + ":" + plan_.name(index));
    TensorSpec spec{.name = name, .view_of = place.tensor, .offset = place.offset};
    if (tensor(index).dtype.empty() || tensor(index).dtype == "i4") {
      spec.bytes = tensor(index).bytes;
    } else {
      spec.dtype = tensor(index).dtype;
      spec.shape = exprs(tensor(index).shape);
    }
    plan_.builder().add_tensor(spec);
    return name;
  }

  void add_command(const NpuCommand& command) {
    using Kind = NpuCommand::Kind;
    if (!errors_.empty()) return;
    const std::string name =
        prefix_ + std::string(command.label) + "@" + std::to_string(command.word);
    OpSpec op{.name = name, .label = command.label};
    switch (command.kind) {
      case Kind::kDma:
      case Kind::kKernel:
        return add_start(std::move(op), command);
      case Kind::kDmaWait:
        if (options_.ignore_dma_waits) return;
        op.wait_for = {.kind = WaitKind::kOutstanding, .target = "dma", .value = command.count};
        break;
      case Kind::kKernelWait:
        if (options_.ignore_kernel_waits) return;
        op.wait_for = {.kind = WaitKind::kOutstanding, .target = "npu", .value = command.count};
        break;
      case Kind::kStop:
        op.wait_for = {.kind = WaitKind::kAll};
        break;
    }
    op.kind = "host_wait";
    op.label = {};
    plan_.builder().add_op(op);
  }

  void add_start(OpSpec op, const NpuCommand& command) {
    op.queue = command.kind == NpuCommand::Kind::kDma ? "dma" : "npu";
    std::vector<std::string> names;
    names.reserve(command.reads.size() + command.writes.size());
    for (const NpuBytes& bytes : command.reads) {
      names.push_back(view(bytes, {}));
      op.reads.push_back({.tensor = names.back()});
    }
    for (const NpuBytes& bytes : command.writes) {
      // A kernel that reads and writes the same bytes must do so in two tensors to be found out.
      names.push_back(view(bytes, command.in_place ? std::vector<std::string>{} : names));
      op.writes.push_back({.tensor = names.back()});
    }
    if (command.in_place) {
      for (std::size_t r = 0; r < command.reads.size(); ++r) {
        const std::string& read = names[r];
        const std::string& written = names.back();
        if (read != written && same_size(command.reads[r], command.writes.back())) {
          op.in_place.push_back({.read = read, .written = written});
        }
      }
    }
    plan_.builder().add_op(op);
  }

  static bool same_size(const NpuBytes& a, const NpuBytes& b) {
    const NpuBytes one = simplified(a);
    const NpuBytes other = simplified(b);
    return one.shape == other.shape;
  }

  /// The name of the tensor of these bytes, made if there is none other than `others`.
  std::string view(const NpuBytes& given, const std::vector<std::string>& others) {
    const auto region = static_cast<std::size_t>(given.region);
    if (given.region == kNpuInternal) {
      internal_used_ = true;
    } else if (region >= bases_.size()) {
      if (errors_.empty()) fail("import.unknown", "there is no region " + std::to_string(region));
      return "";
    }
    const Base base = given.region == kNpuInternal ? Base{std::string(kNpuMemory)} : bases_[region];
    const NpuBytes bytes = simplified(given);
    const std::int64_t offset = base.offset + bytes.offset;
    std::string name = base.tensor + "+" + hex(offset) + "[";
    std::string strides;
    for (std::size_t i = 0; i < bytes.shape.size(); ++i) {
      name += (i == 0 ? "" : "x") + std::to_string(bytes.shape[i]);
      strides += " " + std::to_string(bytes.strides[i]);
    }
    name += "]";
    std::string& known = views_[name + strides];
    if (!known.empty() && std::ranges::find(others, known) == others.end()) return known;
    name = plan_.unique(std::move(name));
    TensorSpec spec{.name = name, .view_of = base.tensor, .offset = offset};
    if (bytes.shape.size() == 1 && bytes.strides[0] == 1) {
      spec.bytes = bytes.shape[0];
    } else {
      spec.dtype = "u8";
      spec.shape = exprs(bytes.shape);
      spec.strides = exprs(bytes.strides);
    }
    plan_.builder().add_tensor(spec);
    if (known.empty()) known = name;
    return name;
  }

  void add_npu() {
    PlanBuilder& builder = plan_.builder();
    const std::int64_t depth = options_.kernel_depth.value_or(kNewestKernelDepth);
    builder.add_queue({.name = "dma", .depth = target_->dma_depth()});
    builder.add_queue({.name = "npu", .depth = depth});
    if (internal_used_) {
      builder.add_pool({.name = kNpuMemory, .bytes = target_->internal_bytes});
      builder.add_storage({.name = kNpuMemory,
                           .pool = kNpuMemory,
                           .slots = {std::int64_t{0}},
                           .bytes = target_->internal_bytes});
      builder.add_tensor(
          {.name = kNpuMemory, .storage = kNpuMemory, .bytes = target_->internal_bytes});
    }
    plan_.assume("At most " + counted(depth, "kernel") + " and " +
                 counted(target_->dma_depth(), "DMA transfer") +
                 " are in flight; the next one holds the stream up (--kernel-depth).");
    plan_.assume(
        "Kernels complete in the order of the stream, and so do DMA transfers; a kernel starts "
        "when "
        "the one before it is done with what both touch (BLOCKDEP is taken to be right).");
    plan_.assume(
        "The stream ends when everything it started has completed. A kernel reads of its IFM what "
        "its window reaches, and writes whole groups of 16 channels in the format NHCWB16.");
    plan_.assume("Of the NPU's own memory, only the tables of activations are looked at.");
    if (options_.ignore_kernel_waits) plan_.assume("Waits for kernels do nothing (as asked).");
    if (options_.ignore_dma_waits) plan_.assume("Waits for DMA transfers do nothing (as asked).");
  }

  const TfliteModel& model_;
  std::string_view file_;
  const ImportOptions& options_;
  TflitePlan plan_;
  std::vector<Diagnostic> errors_;
  std::size_t index_ = 0;               ///< The operator being read …
  const TfliteOperator* op_ = nullptr;  ///< … and what it is.
  bool several_ = false;
  std::size_t stream_bytes_ = 0;  ///< Of all operators.
  std::string prefix_;            ///< Of the ids of its commands.
  std::vector<Base> bases_;
  std::map<std::string, std::string> views_;
  std::optional<NpuTarget> target_;
  bool internal_used_ = false;
};

}  // namespace

Result<Imported> import_ethos_u(std::string_view text, std::string_view file,
                                const ImportOptions& options) {
  const Result<TfliteModel> model = read_tflite(text, file);
  if (!model.ok()) return model.errors();
  return EthosUImport(model.value(), file, options).read();
}

}  // namespace memverify
