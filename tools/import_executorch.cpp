// ExecuTorch programs (.pte): the placed tensors of a method and its calls in their order, on one
// queue, as the runtime executes them.
//
// What a call writes follows from how arguments are listed: those of the operator, its `out` ones
// last, and then once more what it returns. Of the others it reads those that have a value by then.
// One that has none is state of the run before, a view that the compiler left out (it lies exactly
// where another tensor like it was written), or scratch.
//
// Tested by tests/unit/tools/import_executorch_test.cpp on corpus/imports/executorch.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "plan/words.h"
#include "tools/executorch_program.h"
#include "tools/importers.h"
#include "tools/plan_draft.h"

namespace memverify {
namespace {

constexpr std::string_view kPteQueue = "cpu";
constexpr std::string_view kPteFile = "file";
constexpr std::string_view kPteRuntime = "runtime";  ///< What the compiler has not placed.
constexpr std::int64_t kPteAlignment = 16;

using Values = std::vector<std::size_t>;

using ValueSet = std::unordered_set<std::size_t>;

ValueSet as_set(const Values& list) { return {list.begin(), list.end()}; }

std::string memory_pool(std::int64_t memory) { return "memory_" + std::to_string(memory); }

/// Which values lie in placed memory, as the calls go by.
class PlacedValues {
 public:
  explicit PlacedValues(const std::vector<PteValue>& values) : values_(values) {}

  void write(std::size_t value) {
    const PteValue& one = values_[value];
    if (!one.place || one.bytes == 0) return;
    const auto [last, first] = last_.try_emplace(key(value), Last{value});
    last->second.several |= last->second.value != value;
    last->second.value = value;
    auto& memory = intact_[one.place->memory];
    const std::int64_t end = one.place->offset + one.bytes;
    auto at = memory.lower_bound(one.place->offset);
    if (at != memory.begin() && end_of(std::prev(at)->second) > one.place->offset) --at;
    while (at != memory.end() && at->first < end) at = memory.erase(at);
    memory[one.place->offset] = value;
  }
  /// The last one written with the same place, size and type; nullopt when there is none.
  std::optional<std::size_t> like(std::size_t value) const {
    if (!values_[value].place) return std::nullopt;
    const auto found = last_.find(key(value));
    return found == last_.end() ? std::nullopt : std::optional(found->second.value);
  }
  /// True iff others were written with the same place, size and type before the one that is `like`.
  bool several_like(std::size_t value) const { return last_.at(key(value)).several; }
  /// True iff none of its bytes has been written since it was.
  bool intact(std::size_t value) const {
    const auto& memory = intact_.at(values_[value].place->memory);
    const auto found = memory.find(values_[value].place->offset);
    return found != memory.end() && found->second == value;
  }

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  Key key(std::size_t value) const {
    const PteValue& one = values_[value];
    return {one.place->memory, one.place->offset, one.bytes, one.scalar_type};
  }
  std::int64_t end_of(std::size_t value) const {
    return values_[value].place->offset + values_[value].bytes;
  }

  const std::vector<PteValue>& values_;
  struct Last {
    std::size_t value = 0;
    bool several = false;
  };
  std::map<Key, Last> last_;
  std::map<std::int64_t, std::map<std::int64_t, std::size_t>> intact_;  ///< By memory and offset.
};

class ExecutorchPlan {
 public:
  ExecutorchPlan(const PteMethod& method, std::string_view file)
      : method_(method),
        file_(file),
        inputs_(as_set(method.inputs)),
        state_(method.values.size()),
        placed_(method.values) {}

  Result<Imported> make();

 private:
  enum class Role : std::uint8_t { kEmpty, kValued, kView };
  struct State {
    std::string name;
    Role role = Role::kEmpty;  ///< As of the call that is looked at.
    std::size_t base = 0;      ///< Of a view.
    bool written = false;      ///< By some call.
    int calls = 0;             ///< That are given it; 2 for more.
    bool kept = false;         ///< From one run to the next.
  };
  /// What a call does with a tensor that is given to it.
  enum class Use : std::uint8_t { kRead, kWrite, kScratch, kUnclear };

  const PteValue& value(std::size_t i) const { return method_.values[i]; }
  Values tensors(const Values& list) const;
  Values written_by(const PteCall& call) const;
  Values given_to(const PteCall& call) const;
  bool count_arguments();
  void begin(std::size_t i);
  void add_call(std::size_t index);
  void add_view_call(std::size_t index);
  void add_free(std::size_t index);
  void make_view(std::size_t view, std::size_t base);
  Use use_of(std::size_t tensor, bool may_be_result);
  void use_or_drop(std::size_t tensor, std::string_view user);
  void add_memory();
  void add_boundary();
  void add_assumptions();

  const PteMethod& method_;
  std::string_view file_;
  std::vector<Diagnostic> errors_;
  ValueSet inputs_;
  PlanDraft draft_;
  std::vector<State> state_;
  PlacedValues placed_;
  std::vector<std::string> views_;
  std::vector<std::string> scratch_;
};

/// The tensors among values and their lists, without those of no bytes, each once.
Values ExecutorchPlan::tensors(const Values& list) const {
  Values all;
  for (const std::size_t one : list) {
    if (value(one).kind == PteValue::Kind::kTensor) all.push_back(one);
    all.insert(all.end(), value(one).items.begin(), value(one).items.end());
  }
  std::unordered_set<std::size_t> seen;
  std::erase_if(all,
                [&](std::size_t one) { return value(one).bytes == 0 || !seen.insert(one).second; });
  return all;
}

bool is_et_view(const PteCall& call) {
  return call.name == "executorch_prim::et_view" && call.args.size() == 3;
}

Values ExecutorchPlan::written_by(const PteCall& call) const {
  if (call.kind != PteCall::Kind::kKernel || call.args.empty() || is_et_view(call)) return {};
  return tensors({call.args.back()});
}

/// What is given to a call, besides what it returns.
Values ExecutorchPlan::given_to(const PteCall& call) const {
  if (call.kind != PteCall::Kind::kKernel || call.args.empty()) return tensors(call.args);
  Values args(call.args.begin(), call.args.end() - 1);
  const std::size_t last = call.args.back();
  const Values returned =
      value(last).kind == PteValue::Kind::kList ? value(last).items : Values{last};
  if (!args.empty() && args.back() == last) {
    args.pop_back();
  } else if (args.size() >= returned.size() &&
             std::equal(returned.rbegin(), returned.rend(), args.rbegin())) {
    args.resize(args.size() - returned.size());
  }
  return tensors(args);
}

/// False if lists that are named again and again make more arguments than the file has bytes.
bool ExecutorchPlan::count_arguments() {
  std::int64_t left = method_.file_bytes;
  for (const PteCall& call : method_.calls) {
    for (const std::size_t arg : call.args) left -= 1 + std::ssize(value(arg).items);
    if (left < 0) return false;
  }
  return true;
}

/// What a value is before the first call.
void ExecutorchPlan::begin(std::size_t i) {
  const PteValue& one = value(i);
  if (one.kind != PteValue::Kind::kTensor) return;
  state_[i].name = draft_.unique(one.name.empty() ? "value_" + std::to_string(i) : one.name);
  state_[i].kept = one.has_data && one.place;
  if (one.has_data || inputs_.contains(i)) {
    state_[i].role = Role::kValued;
    placed_.write(i);
  }
}

void ExecutorchPlan::make_view(std::size_t view, std::size_t base) {
  state_[view].role = Role::kView;
  state_[view].base = base;
}

/// Of a tensor without a value by now, tells why; of a view it finds, notes the base.
ExecutorchPlan::Use ExecutorchPlan::use_of(std::size_t tensor, bool may_be_result) {
  State& state = state_[tensor];
  if (state.role != Role::kEmpty) return Use::kRead;
  const std::optional<std::size_t> base = placed_.like(tensor);
  const bool keeps = !base && !may_be_result && (state.calls > 1 || !value(tensor).name.empty());
  if (state.written || keeps) {
    state.kept = true;
    state.role = Role::kValued;
    placed_.write(tensor);
    return Use::kRead;
  }
  if (!base) return may_be_result ? Use::kWrite : Use::kScratch;
  if (may_be_result || placed_.several_like(tensor) || !placed_.intact(*base)) {
    return Use::kUnclear;
  }
  make_view(tensor, *base);
  views_.push_back(memverify::quoted(state.name) + " of " + memverify::quoted(state_[*base].name));
  return Use::kRead;
}

/// Of a use that is no op's: one of unknown effect, if it is unclear.
void ExecutorchPlan::use_or_drop(std::size_t tensor, std::string_view user) {
  if (use_of(tensor, false) != Use::kUnclear) return;
  draft_.drop(user, kPteQueue, {{.tensor = state_[tensor].name}});
}

/// `et_view`: its last argument becomes a view of the first one.
void ExecutorchPlan::add_view_call(std::size_t index) {
  const PteCall& call = method_.calls[index];
  const std::size_t base = call.args.front();
  const std::size_t view = call.args.back();
  for (const std::size_t one : {base, view}) {
    if (value(one).kind != PteValue::Kind::kTensor || value(one).bytes == 0) return;
  }
  if (state_[view].role != Role::kEmpty) {
    errors_.push_back({.id = "import.unsupported",
                       .message = "call " + std::to_string(index) + " makes " +
                                  memverify::quoted(state_[view].name) +
                                  " a view, which has a value or a base by then",
                       .pointer = "/execution_plan/0/chains",
                       .file = std::string(file_)});
    return;
  }
  use_or_drop(base, call.name + "_" + std::to_string(index));
  make_view(view, base);
}

/// From here on, nobody may rely on the bytes of what is freed.
void ExecutorchPlan::add_free(std::size_t index) {
  for (const std::size_t freed : tensors(method_.calls[index].args)) {
    OpSpec op{.label = "free", .queue = kPteQueue};
    const std::string name = draft_.unique("free_" + std::to_string(index));
    op.name = name;
    op.clobbers.push_back({.tensor = state_[freed].name});
    draft_.builder().add_op(op);
  }
}

void ExecutorchPlan::add_call(std::size_t index) {
  const PteCall& call = method_.calls[index];
  if (is_et_view(call)) return add_view_call(index);
  if (call.kind == PteCall::Kind::kFree) return add_free(index);
  const std::string name = draft_.unique(call.name + "_" + std::to_string(index));
  const std::string label = call.overload.empty() ? call.name : call.name + "." + call.overload;
  OpSpec op{.name = name, .label = label, .queue = kPteQueue};
  std::vector<AccessSpec> unclear;
  Values written = written_by(call);
  const Values given = given_to(call);
  const bool delegate = call.kind == PteCall::Kind::kDelegate;
  // A delegate's results come last; none of them has a value yet.
  const auto results = std::ranges::find_if(
      given.rbegin(), given.rend(), [&](std::size_t i) { return state_[i].role != Role::kEmpty; });
  const std::size_t inputs =
      delegate ? static_cast<std::size_t>(given.rend() - results) : given.size();
  for (std::size_t k = 0; k < given.size(); ++k) {
    const std::size_t arg = given[k];
    const AccessSpec access{.tensor = state_[arg].name};
    switch (use_of(arg, k >= inputs)) {
      case Use::kRead:
        op.reads.push_back(access);
        break;
      case Use::kWrite:
        written.push_back(arg);
        break;
      case Use::kScratch:
        op.clobbers.push_back(access);
        scratch_.push_back(memverify::quoted(state_[arg].name));
        break;
      case Use::kUnclear:
        unclear.push_back(access);
        break;
    }
  }
  for (const std::size_t out : written) {
    op.writes.push_back({.tensor = state_[out].name});
    if (state_[out].role == Role::kEmpty) state_[out].role = Role::kValued;
    placed_.write(out);
  }
  draft_.builder().add_op(op);
  if (!unclear.empty()) draft_.drop(name, kPteQueue, std::move(unclear));
}

/// Pools, and each tensor at its place: in the file, in planned memory, or one after another where
/// the runtime puts them.
void ExecutorchPlan::add_memory() {
  PlanBuilder& builder = draft_.builder();
  std::int64_t alignment = kPteAlignment;
  std::set<std::int64_t> memories;
  std::int64_t runtime = 0;
  for (std::size_t i = 0; i < state_.size(); ++i) {
    const PteValue& one = value(i);
    const State& state = state_[i];
    if (one.kind != PteValue::Kind::kTensor) continue;
    TensorSpec tensor{.name = state.name};
    if (one.dtype.empty()) {
      tensor.bytes = one.bytes;
    } else {
      tensor.dtype = one.dtype;
      tensor.shape.emplace(one.shape.begin(), one.shape.end());
    }
    if (state.role == Role::kView) {
      tensor.view_of = state_[state.base].name;
      builder.add_tensor(tensor);
      continue;
    }
    const bool in_file = one.has_data && !one.place && !one.external;
    std::string pool(in_file ? kPteFile : kPteRuntime);
    std::int64_t offset = in_file ? one.file_offset : runtime;
    if (one.place) {
      memories.insert(one.place->memory);
      pool = memory_pool(one.place->memory);
      offset = one.place->offset;
      alignment = std::gcd(alignment, offset);
    } else if (!in_file) {
      runtime += one.bytes;
    }
    builder.add_storage({.name = state.name, .pool = pool, .slots = {offset}, .bytes = one.bytes});
    tensor.storage = state.name;
    builder.add_tensor(tensor);
    if (one.has_data && !one.place) builder.add_constant(state.name);
  }
  builder.add_pool({.name = kPteFile, .bytes = method_.file_bytes});
  builder.add_pool({.name = kPteRuntime});
  for (const std::int64_t memory : memories) {
    const std::string name = memory_pool(memory);
    PoolSpec pool{.name = name, .alignment = alignment};
    if (memory < std::ssize(method_.memories)) {
      pool.bytes = std::max<std::int64_t>(method_.memories[static_cast<std::size_t>(memory)], 0);
    }
    builder.add_pool(pool);
  }
}

void ExecutorchPlan::add_boundary() {
  PlanBuilder& builder = draft_.builder();
  const auto constant = [&](std::size_t i) { return value(i).has_data && !value(i).place; };
  Values inputs = tensors(method_.inputs);
  std::erase_if(inputs, constant);
  const Values outputs = tensors(method_.outputs);
  const ValueSet wanted = as_set(outputs);
  const ValueSet given = as_set(inputs);
  for (const std::size_t input : inputs) {
    builder.add_input(state_[input].name);
    if (!state_[input].kept && !wanted.contains(input)) builder.add_donated(state_[input].name);
  }
  for (const std::size_t output : outputs) {
    if (!state_[output].kept) builder.add_output({.tensor = state_[output].name});
  }
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < state_.size(); ++i) {
    if (!state_[i].kept) continue;
    if (!given.contains(i)) builder.add_input(state_[i].name);
    builder.add_output({.tensor = state_[i].name});
    kept.push_back(memverify::quoted(state_[i].name));
  }
  if (!inputs.empty()) {
    draft_.assume(
        "The application fills the inputs before each run and does not need them afterwards "
        "(donated).");
  }
  if (!kept.empty()) {
    draft_.assume(listed(kept) + " " + (kept.size() == 1 ? "keeps its" : "keep their") +
                  " bytes from one run to the next: with an initial value, or used before any call "
                  "writes it.");
  }
}

void ExecutorchPlan::add_assumptions() {
  draft_.assume(
      "The calls run one after another, in the order of the file; each reads what it is given "
      "whole, and writes whole what it returns: its last argument.");
  draft_.assume("What kernels and delegates allocate for themselves is not in the file.");
  if (method_.methods > 1) {
    draft_.assume("Only method " + memverify::quoted(method_.name) + " runs; " +
                  counted(static_cast<std::int64_t>(method_.methods) - 1, "other") +
                  " can be called, too.");
  }
  if (!scratch_.empty()) {
    draft_.assume(
        "What no call writes, and only one is given, is scratch, which nobody wants "
        "afterwards: " +
        listed(scratch_) + ".");
  }
  if (!views_.empty()) {
    draft_.assume(
        "A tensor that no call writes is a view of the last one written at its place, of "
        "its size and type: " +
        listed(views_) + ".");
  }
  const bool delegates = std::ranges::any_of(
      method_.calls, [](const PteCall& call) { return call.kind == PteCall::Kind::kDelegate; });
  if (delegates) {
    draft_.assume(
        "A delegate reads the arguments that have a value by then and writes the others; it may do "
        "more inside, which the file does not say.");
  }
  const bool dynamic = std::ranges::any_of(method_.values, &PteValue::dynamic);
  if (dynamic) {
    draft_.assume("Tensors of dynamic shape have all the bytes that they may grow to.");
  }
}

Result<Imported> ExecutorchPlan::make() {
  if (!count_arguments()) {
    return Diagnostic{.id = "import.damaged",
                      .message =
                          "the file repeats itself: its calls have more arguments than it "
                          "has bytes",
                      .pointer = "/execution_plan/0/chains",
                      .file = std::string(file_)};
  }
  draft_.builder().set_name(method_.name);
  draft_.builder().add_queue({.name = kPteQueue});
  for (const PteCall& call : method_.calls) {
    for (const std::size_t out : written_by(call)) state_[out].written = true;
    for (const std::size_t arg : given_to(call)) {
      state_[arg].calls = std::min(state_[arg].calls + 1, 2);
    }
  }
  for (std::size_t i = 0; i < state_.size(); ++i) begin(i);
  for (std::size_t i = 0; i < method_.calls.size(); ++i) add_call(i);
  if (!errors_.empty()) return errors_;
  for (const std::size_t output : tensors(method_.outputs)) use_or_drop(output, "outputs");
  add_memory();
  add_boundary();
  add_assumptions();
  return draft_.finish();
}

}  // namespace

Result<Imported> import_executorch(std::string_view text, std::string_view file,
                                   const ImportOptions& /*options*/) {
  const Result<PteMethod> method = read_executorch(text, file);
  if (!method.ok()) return method.errors();
  return ExecutorchPlan(method.value(), file).make();
}

}  // namespace memverify
