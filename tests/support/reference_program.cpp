#include "tests/support/reference_program.h"

#include <algorithm>
#include <utility>

#include "tests/support/reference_touches.h"

namespace memverify::testing {
namespace {

class Maker {
 public:
  Maker(const Plan& plan, const Sizes& sizes, const ConditionValues& conditions)
      : plan_(plan), sizes_(sizes), conditions_(conditions) {
    program_.plan = &plan;
  }

  Program make() {
    for (std::int64_t i = 0; i < *plan_.iterations; ++i) {
      for (const OpId op : ids(plan_.ops)) submit(op, i);
    }
    for (int c = 0; c < count(); ++c) order(c);
    for (const SemaphoreId s : ids(plan_.semaphores)) {
      program_.initial_semaphore.push_back(sizes_.value(plan_.semaphores[s].initial));
    }
    TouchBytes touched = touch_bytes(program_, sizes_);
    sources_ = std::move(touched.sources);
    representative_ = std::move(touched.representative);
    for (int c = 0; c < count(); ++c) {
      for (Touch& touch : at(c).touches) resolve(touch, c, sources_.at(&touch));
      lifetime_of_command(c);
    }
    for (EndTouch& end : program_.ends) {
      resolve(end.touch, count(), sources_.at(&end.touch));
      if (!end.output) end.touch.expects.assign(end.touch.bytes.size(), {kInitial, {}});
    }
    return std::move(program_);
  }

 private:
  int count() const { return static_cast<int>(program_.commands.size()); }
  Command& at(int c) { return program_.commands[static_cast<std::size_t>(c)]; }
  const Op& op(int c) { return plan_.ops[at(c).op]; }

  // ---- submission -------------------------------------------------------------------------------

  bool holds(const WhenTerm& term, std::int64_t iteration) const {
    const bool per_run = plan_.conditions[term.condition].per_run;
    return conditions_.at({term.condition, per_run ? 0 : iteration}) == term.value;
  }

  void submit(OpId id, std::int64_t iteration) {
    const Op& op = plan_.ops[id];
    if (op.kind == OpKind::kView) return;
    if (op.runs == Runs::kFirst && iteration != 0) return;
    if (op.runs == Runs::kLast && iteration != *plan_.iterations - 1) return;
    Command command;
    command.op = id;
    command.iteration = iteration;
    for (const WhenTerm& term : plan_.when_of(op)) {
      if (!holds(term, iteration)) command.accesses_memory = false;
    }
    if (!command.accesses_memory && !op.skipped_pass) return;
    command.unknown = op.kind == OpKind::kUnknown && command.accesses_memory;
    command.touches_everything = command.unknown && op.accesses.empty();
    program_.commands.push_back(command);
  }

  // ---- order ------------------------------------------------------------------------------------

  std::vector<QueueId> queues_of(int c) {
    if (op(c).kind == OpKind::kBarrier) {
      const auto list = plan_.queues_of(op(c));
      return {list.begin(), list.end()};
    }
    if (op(c).queue == kNone<QueueId>) return {};
    return {op(c).queue};
  }
  bool on(int c, QueueId queue) { return std::ranges::count(queues_of(c), queue) > 0; }
  bool counts_on(int c, QueueId queue) {
    return (op(c).kind == OpKind::kOp || op(c).kind == OpKind::kUnknown) && op(c).queue == queue;
  }
  std::vector<int> earlier_ops(int c, QueueId queue) {
    std::vector<int> result;
    for (int b = 0; b < c; ++b) {
      if (counts_on(b, queue)) result.push_back(b);
    }
    return result;
  }

  void order(int c) {
    Command& command = at(c);
    for (int b = 0; b < c; ++b) {
      for (const QueueId queue : queues_of(c)) {
        if (on(b, queue)) order_on_queue(b, c, queue);
      }
      if (op(b).thread == op(c).thread && blocks_thread(b)) {
        command.complete_before_start.push_back(b);
      }
    }
    for (int g = 0; g <= c; ++g) {  // The depth of every queue that this thread has submitted to.
      const QueueId queue = op(g).queue;
      if (op(g).thread != op(c).thread || queue == kNone<QueueId> || !counts_on(g, queue)) continue;
      if (const auto depth = plan_.queues[queue].depth) {
        command.thresholds.push_back({earlier_ops(g, queue), *depth - 1});
      }
    }
    for (const After& after : plan_.after_of(op(c))) {
      for (int b = 0; b < count(); ++b) {
        if (at(b).op == after.op && at(b).iteration == command.iteration - after.distance) {
          command.complete_before_start.push_back(b);
        }
      }
    }
    if (op(c).kind == OpKind::kWait) wait_for_event(c, op(c).event);
    for (const Wait& wait : plan_.waits_of(op(c))) add_wait(c, wait);
    for (const Signal& signal : plan_.signals_of(op(c))) {
      if (signal.semaphore == kNone<SemaphoreId>) continue;
      command.signals.push_back({signal.semaphore, value_at(signal.value, command.iteration)});
    }
  }

  void order_on_queue(int b, int c, QueueId queue) {
    Command& command = at(c);
    switch (plan_.queues[queue].order) {
      case QueueOrder::kSerial:
      case QueueOrder::kHost:
        command.complete_before_start.push_back(b);
        break;
      case QueueOrder::kIssue:
        command.start_before_start.push_back(b);
        break;
      case QueueOrder::kNone:
        break;
    }
    if (op(b).kind == OpKind::kWait || op(b).kind == OpKind::kBarrier) {
      command.complete_before_start.push_back(b);
    }
    if (op(c).kind == OpKind::kBarrier) command.complete_before_start.push_back(b);
    if (op(c).kind == OpKind::kRecord) command.complete_before_complete.push_back(b);
  }

  bool blocks_thread(int b) {
    if (op(b).kind == OpKind::kHostWait) return true;
    for (const QueueId queue : queues_of(b)) {
      if (plan_.queues[queue].order == QueueOrder::kHost) return true;
    }
    return false;
  }

  void wait_for_event(int c, EventId event) {
    for (int b = c; b-- > 0;) {
      bool fires = op(b).kind == OpKind::kRecord && op(b).event == event;
      for (const Signal& signal : plan_.signals_of(op(b))) fires = fires || signal.event == event;
      if (!fires) continue;
      at(c).complete_before_start.push_back(b);
      return;
    }
  }

  void add_wait(int c, const Wait& wait) {
    Command& command = at(c);
    switch (wait.kind) {
      case WaitKind::kEvent:
        wait_for_event(c, wait.event);
        break;
      case WaitKind::kSemaphore:
        command.waits.push_back(
            {wait.semaphore, value_at(wait.value, command.iteration), wait.consume});
        break;
      case WaitKind::kPending: {
        const std::vector<int> ops = earlier_ops(c, wait.queue);
        const std::int64_t pending = value_at(wait.value, command.iteration);
        for (std::int64_t k = 0; k + pending < static_cast<std::int64_t>(ops.size()); ++k) {
          command.complete_before_start.push_back(ops[static_cast<std::size_t>(k)]);
        }
        break;
      }
      case WaitKind::kOutstanding:
        command.thresholds.push_back(
            {earlier_ops(c, wait.queue), value_at(wait.value, command.iteration)});
        break;
      case WaitKind::kQueue:
      case WaitKind::kAll:
        for (int b = 0; b < c; ++b) {
          if (wait.kind == WaitKind::kAll || on(b, wait.queue)) {
            command.complete_before_start.push_back(b);
          }
        }
        break;
    }
  }

  std::int64_t value_at(const Expr& expr, std::int64_t iteration) const {
    Sizes there{plan_, sizes_.valuation};
    there.valuation.iteration = iteration;
    const std::int64_t value = there.value(expr);
    sizes_.invalid = sizes_.invalid || there.invalid;
    return value;
  }

  // ---- versions and lifetimes -------------------------------------------------------------------

  bool same_instance(const Touch& a, const Touch& b) const {
    return a.tensor != kNone<TensorId> && b.tensor != kNone<TensorId> &&
           plan_.tensors[a.tensor].root == plan_.tensors[b.tensor].root && a.instance == b.instance;
  }

  /// True iff command `c` writes (or accumulates to) the byte of the instance that `reader` means.
  bool gives(int c, AccessKind kind, const Touch& reader, int byte) {
    for (const Touch& touch : at(c).touches) {
      const bool kind_fits = touch.kind == kind || (kind == AccessKind::kWrite && at(c).unknown);
      if (kind_fits && same_instance(touch, reader) &&
          std::ranges::binary_search(touch.bytes, byte)) {
        return true;
      }
    }
    return false;
  }

  bool initial_holds(const Touch& reader, int byte) const {
    for (const std::vector<TensorId>* list : {&plan_.inputs, &plan_.constants}) {
      for (const TensorId input : *list) {
        if (plan_.tensors[input].root != plan_.tensors[reader.tensor].root) continue;
        const Bytes bytes = sizes_.elements(input, reader.slot).bytes();
        if (std::ranges::binary_search(bytes,
                                       representative_[static_cast<std::size_t>(byte)].second))
          return true;
      }
    }
    return false;
  }

  /// By the plan's text: op `from` writes that byte of the reader's instance.
  bool may_be_named(OpId from, const Touch& reader, int byte) const {
    const Op& writer = plan_.ops[from];
    const bool unknown = writer.kind == OpKind::kUnknown;
    if (unknown && writer.accesses.empty()) return true;
    return std::ranges::any_of(plan_.accesses_of(writer), [&](const Access& access) {
      if (access.tensor == kNone<TensorId> || (access.kind != AccessKind::kWrite && !unknown)) {
        return false;
      }
      if (plan_.tensors[access.tensor].root != plan_.tensors[reader.tensor].root) return false;
      return std::ranges::binary_search(sizes_.access_bytes(access, reader.slot),
                                        representative_[static_cast<std::size_t>(byte)].second);
    });
  }

  /// The write of op `from` to the reader's instance: the last before the reader, else the first.
  int named_writer(OpId from, const Touch& reader, int position, int byte) {
    int found = kNobody;
    for (int c = 0; c < count(); ++c) {
      if (at(c).op != from || !gives(c, AccessKind::kWrite, reader, byte)) continue;
      if (c < position || found == kNobody) found = c;
    }
    return found;
  }

  Expected expected(const Touch& reader, int position, const TouchSource& source, int byte) {
    const int alloc = latest_alloc(reader, position);
    Expected result;
    for (int c = position - 1; c > alloc && result.base == kNobody; --c) {
      if (gives(c, AccessKind::kWrite, reader, byte)) result.base = c;
    }
    if (result.base == kNobody && alloc == kNobody && initial_holds(reader, byte)) {
      result.base = kInitial;
    }
    if (source.from_initial) result.base = initial_holds(reader, byte) ? kInitial : kNobody;
    if (source.from != kNone<OpId>) {
      if (!may_be_named(source.from, reader, byte)) sizes_.invalid = true;
      const int named = named_writer(source.from, reader, position, byte);
      if (named != kNobody) result.base = named;
    }
    for (int c = std::max(result.base, alloc) + 1; c < position; ++c) {
      if (gives(c, AccessKind::kAccumulate, reader, byte)) result.accumulates.push_back(c);
    }
    return result;
  }

  void resolve(Touch& touch, int position, const TouchSource& source) {
    for (const int byte : touch.bytes) {
      if (touch.tensor == kNone<TensorId>) continue;
      touch.expects.push_back(expected(touch, position, source, byte));
    }
    if (touch.tensor == kNone<TensorId> || touch.bytes.empty()) return;
    touch.alloc = latest_alloc(touch, position);
    touch.never_allocated =
        touch.alloc == kNobody && has_alloc(plan_.tensors[touch.tensor].storage);
    for (int c = touch.alloc + 1; c < count() && touch.free == kNobody; ++c) {
      if (is_lifetime(c, OpKind::kFree, plan_.tensors[touch.tensor].storage, touch.slot)) {
        touch.free = c;
      }
    }
  }

  bool has_alloc(StorageId storage) const {
    return std::ranges::any_of(plan_.ops, [&](const Op& op) {
      return op.kind == OpKind::kAlloc && op.storage == storage;
    });
  }

  /// An alloc or free that is skipped as "pass" leaves its storage alone.
  bool is_lifetime(int c, OpKind kind, StorageId storage, std::int64_t slot) {
    return op(c).kind == kind && op(c).storage == storage && at(c).accesses_memory &&
           sizes_.slot_index(storage, at(c).iteration) == slot;
  }

  int latest_alloc(const Touch& touch, int position) {
    for (int c = position; c-- > 0;) {
      if (is_lifetime(c, OpKind::kAlloc, plan_.tensors[touch.tensor].storage, touch.slot)) return c;
    }
    return kNobody;
  }

  void lifetime_of_command(int c) {
    Command& command = at(c);
    const OpKind kind = op(c).kind;
    if ((kind != OpKind::kAlloc && kind != OpKind::kFree) || !command.accesses_memory) return;
    const StorageId storage = op(c).storage;
    const std::int64_t slot = sizes_.slot_index(storage, command.iteration);
    for (int b = 0; b < c; ++b) {
      if (is_lifetime(b, OpKind::kAlloc, storage, slot) ||
          is_lifetime(b, OpKind::kFree, storage, slot)) {
        command.previous_lifetime = b;
      }
    }
    const int previous = command.previous_lifetime;
    const bool alive =
        previous == kNobody ? !has_alloc(storage) : op(previous).kind == OpKind::kAlloc;
    command.wrong_lifetime = alive == (kind == OpKind::kAlloc);
  }

  const Plan& plan_;
  const Sizes& sizes_;
  const ConditionValues& conditions_;
  Program program_;
  std::map<Touch*, TouchSource> sources_;
  std::vector<Address> representative_;  ///< Per byte of the program.
};

}  // namespace

Program make_program(const Plan& plan, const Sizes& sizes, const ConditionValues& conditions) {
  return Maker(plan, sizes, conditions).make();
}

}  // namespace memverify::testing
