#include "tools/report_numbers.h"

namespace memverify {
namespace {

class Chooser {
 public:
  explicit Chooser(const Drawing& drawing)
      : report_(drawing.report),
        plan_(drawing.report.plan),
        run_(drawing.run),
        memory_(drawing.memory),
        part_(drawing.part),
        whole_(drawing.part.is_whole(drawing.memory)) {}

  Numbers choose() {
    const std::uint32_t at_first = whole_ ? 0 : kNotKept;
    numbers_.ops.resize(plan_.ops.size(), at_first);
    numbers_.tensors.resize(plan_.tensors.size(), at_first);
    numbers_.storages.resize(plan_.storages.size(), at_first);
    numbers_.commands.resize(run_.program.commands.size(), kNotKept);
    numbers_.range.assign(memory_.ranges.size(), kNotKept);
    want_what_is_named();
    number_all(numbers_.ops);
    number_all(numbers_.tensors);
    number_all(numbers_.storages);
    for (const sim::CommandId c : ids(run_.program.commands)) {
      if (part_.commands[index(c)] != 0) numbers_.commands[c] = 0;
    }
    number_all(numbers_.commands);
    for (std::size_t k = 0; k < memory_.ranges.size(); ++k) {
      if (part_.ranges[k] != 0) numbers_.range[k] = 0;
    }
    number_all(numbers_.range);
    return std::move(numbers_);
  }

 private:
  void want_what_is_named() {
    for (const sim::CommandId c : ids(run_.program.commands)) {
      if (part_.commands[index(c)] != 0) numbers_.ops[run_.program.commands[c].op] = 0;
    }
    for (const Finding& finding : report_.findings) {
      for (const OpId op : finding.ops) numbers_.ops[op] = 0;
      for (const TensorId tensor : finding.tensors) want(tensor);
    }
    for (const OpId op : ids(plan_.ops)) {
      if (numbers_.ops[op] == kNotKept) continue;
      for (const Access& access : plan_.accesses_of(plan_.ops[op])) want(access.tensor);
    }
    for (std::size_t k = 0; k < memory_.ranges.size(); ++k) {
      if (part_.ranges[k] != 0) want(memory_.ranges[k].root);
    }
  }

  /// With its bases and its storage.
  void want(TensorId tensor) {
    while (tensor != kNone<TensorId> && numbers_.tensors[tensor] == kNotKept) {
      numbers_.tensors[tensor] = 0;
      const StorageId storage = plan_.tensors[tensor].storage;
      if (storage != kNone<StorageId>) numbers_.storages[storage] = 0;
      tensor = plan_.tensors[tensor].base;
    }
  }

  template <typename List>
  static void number_all(List& numbers) {
    std::uint32_t next = 0;
    for (std::uint32_t& entry : numbers) {
      if (entry != kNotKept) entry = next++;
    }
  }

  const Report& report_;
  const Plan& plan_;
  const DrawnRun& run_;
  const DrawnMemory& memory_;
  const DrawnPart& part_;
  const bool whole_;
  Numbers numbers_;
};

}  // namespace

Numbers number_kept(const Drawing& drawing) { return Chooser(drawing).choose(); }

std::int64_t lane_of(const Plan& plan, const Op& op) {
  if (op.queue != kNone<QueueId>) return index(op.queue);
  if (!plan.queues_of(op).empty()) return index(plan.queues_of(op).front());
  return static_cast<std::int64_t>(plan.queues.size()) + index(op.thread);
}

}  // namespace memverify
