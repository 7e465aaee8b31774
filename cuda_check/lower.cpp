#include "cuda_check/lower.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace memverify::device {
namespace {

/// An instant that some call may wait for.
struct Moment {
  CommandId command = kNone<CommandId>;
  bool is_start = false;
  bool operator==(const Moment&) const = default;
};

/// "At least `least` of the first `first` ops of `queue` have completed."
struct Count {
  QueueId queue = kNone<QueueId>;
  std::uint32_t first = 0;
  std::uint32_t least = 0;
};

/// What an earlier pass found out that some call waits for.
struct Needs {
  std::array<std::vector<bool>, 2> event, flag;  ///< By is_start, by command.
  std::vector<bool> counted;                     ///< By queue.
};

/// Walks the commands in program order and emits their calls. Two passes: the first learns which
/// moments are waited for, the second emits a record or a flag for those.
class Lowering {
 public:
  Lowering(const Plan& plan, const Settled& settled) : plan_(plan), settled_(settled) {}

  Result<Calls> lower() {
    if (!make_commands()) {
      return Diagnostic{.id = "device.size",
                        .message = "more than " + std::to_string(kMaxCommands) +
                                   " command instances; run fewer iterations"};
    }
    read_semaphores();
    for (std::size_t k = 0; k < 2; ++k) {
      needs_.event[k].assign(out_.commands.size(), false);
      needs_.flag[k].assign(out_.commands.size(), false);
    }
    needs_.counted.assign(plan_.queues.size(), false);
    pass();
    if (error_) return *error_;
    number_flags_and_events();
    pass();
    reuse_events(out_);
    return std::move(out_);
  }

 private:
  struct QueueState {
    CommandId last = kNone<CommandId>;
    CommandId fence = kNone<CommandId>;    ///< The last wait or barrier.
    CommandId barrier = kNone<CommandId>;  ///< The last barrier.
    std::vector<CommandId> open;  ///< Of an unordered queue: completion implies all others'.
    std::vector<CommandId> ops;   ///< What counts look at ([S-25]).
    std::vector<std::uint32_t> streams;
  };

  bool make_commands() {
    const auto ops = static_cast<std::int64_t>(plan_.ops.size());
    if (ops > 0 && settled_.unrolled > 4 * kMaxCommands / ops) return false;
    out_.ops = plan_.ops.size();
    for (std::int64_t i = 0; i < settled_.unrolled; ++i) {
      for (const OpId op : ids(plan_.ops)) {
        const bool dropped = is_dropped(plan_, settled_, op, i);
        out_.ids.push_back(dropped ? kNone<CommandId> : out_.commands.next_id());
        if (!dropped) out_.commands.push_back({op, i, !holds(plan_, settled_, op, i)});
      }
    }
    out_.takes.resize(out_.commands.size());
    out_.gives.resize(out_.commands.size());
    return out_.commands.size() <= static_cast<std::size_t>(kMaxCommands);
  }

  void read_semaphores() {
    out_.threads = static_cast<std::uint32_t>(plan_.threads.size());
    for (const Semaphore& semaphore : plan_.semaphores) {
      out_.semaphores.push_back({value(semaphore.initial, 0, semaphore.name), semaphore.timeline});
    }
    for (const CommandId c : ids(out_.commands)) {
      const Op& op = op_of(c);
      const std::int64_t iteration = out_.commands[c].iteration;
      for (const Wait& wait : plan_.waits_of(op)) {
        if (wait.kind != WaitKind::kSemaphore) continue;
        const Take take{wait.semaphore, value(wait.value, iteration, op.name), wait.consume};
        out_.takes[c].push_back(take);
        out_.takes_away |= take.consume && take.value != 0;
      }
      for (const Signal& signal : plan_.signals_of(op)) {
        if (signal.semaphore == kNone<SemaphoreId>) continue;
        const Give give{signal.semaphore, value(signal.value, iteration, op.name)};
        out_.gives[c].push_back(give);
        out_.takes_away |= give.value < 0 && !out_.semaphores[give.semaphore].timeline;
      }
    }
  }

  void number_flags_and_events() {
    flag_.fill(std::vector<std::uint32_t>(out_.commands.size(), kNoFlag));
    event_ = flag_;
    for (const QueueId q : ids(plan_.queues)) {
      if (!needs_.counted[index(q)]) continue;
      for (const CommandId c : queues_[q].ops) flag_[0][index(c)] = out_.flags++;
    }
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t c = 0; c < out_.commands.size(); ++c) {
        if (needs_.flag[k][c] && flag_[k][c] == kNoFlag) flag_[k][c] = out_.flags++;
        if (needs_.event[k][c]) event_[k][c] = out_.events++;
      }
    }
  }

  void pass() {
    out_.calls.clear();
    out_.streams.clear();
    queues_ = {};
    queues_.resize(plan_.queues.size());
    signalled_ = {};
    signalled_.resize(plan_.events.size(), kNone<CommandId>);
    last_host_wait_.assign(plan_.threads.size(), kNone<CommandId>);
    stream_of_.assign(out_.commands.size(), kNoStream);
    last_on_.clear();
    for (const CommandId c : ids(out_.commands)) submit(c);
  }

  const Op& op_of(CommandId c) const { return plan_.ops[out_.commands[c].op]; }
  std::uint32_t thread_of(CommandId c) const { return index(op_of(c).thread); }
  bool is_ordered(QueueId q) const {
    switch (plan_.queues[q].order) {
      case QueueOrder::kSerial:
      case QueueOrder::kHost:
        return true;
      case QueueOrder::kIssue:
      case QueueOrder::kNone:
        return false;
    }
    return false;
  }
  /// The queues that `op` is a command of.
  std::vector<QueueId> queues_of(const Op& op) const {
    if (op.kind == OpKind::kBarrier) {
      const auto all = plan_.queues_of(op);
      return {all.begin(), all.end()};
    }
    if (op.queue == kNone<QueueId>) return {};
    return {op.queue};
  }
  /// True iff the thread of `op` goes on only when it has completed ([S-15], [S-26]).
  bool blocks(const Op& op) const {
    if (op.kind == OpKind::kHostWait) return true;
    return std::ranges::any_of(
        queues_of(op), [&](QueueId q) { return plan_.queues[q].order == QueueOrder::kHost; });
  }

  // --- What a command waits for ---

  void add(Moment moment) {
    if (moment.command == kNone<CommandId>) return;
    if (std::ranges::find(moments_, moment) == moments_.end()) moments_.push_back(moment);
  }
  void add_all_so_far(QueueId q) {
    if (is_ordered(q)) add({queues_[q].last});
    for (const CommandId c : queues_[q].open) add({c});
  }
  void add_count(QueueId q, std::size_t first, std::int64_t least) {
    if (least <= 0) return;
    if (is_ordered(q)) {
      add({queues_[q].ops[static_cast<std::size_t>(least) - 1]});
    } else {
      counts_.push_back({q, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(least)});
    }
  }

  void collect(CommandId c, const Op& op) {
    moments_.clear();
    counts_.clear();
    if (op.queue != kNone<QueueId>) add_queue_order(op.queue);
    if (op.kind == OpKind::kBarrier) {
      for (const QueueId q : plan_.queues_of(op)) add_all_so_far(q);
    }
    for (const After& after : plan_.after_of(op)) {
      add({out_.find(after.op, out_.commands[c].iteration - std::int64_t{after.distance})});
    }
    if (op.kind == OpKind::kWait) add({signalled_[op.event]});
    for (const Wait& wait : plan_.waits_of(op)) add_wait(c, op, wait);
  }

  /// [S-12] to [S-15], [S-17], [S-18].
  void add_queue_order(QueueId q) {
    switch (plan_.queues[q].order) {
      case QueueOrder::kSerial:
      case QueueOrder::kHost:
        add({queues_[q].last});
        return;
      case QueueOrder::kIssue:
        add({queues_[q].last, /*is_start=*/true});
        break;
      case QueueOrder::kNone:
        break;
    }
    add({queues_[q].fence});
  }

  void add_wait(CommandId c, const Op& op, const Wait& wait) {
    switch (wait.kind) {
      case WaitKind::kEvent:
        add({signalled_[wait.event]});
        return;
      case WaitKind::kSemaphore:
        return;  // In `takes`.
      case WaitKind::kPending:
      case WaitKind::kOutstanding: {
        const std::int64_t most = value(wait.value, out_.commands[c].iteration, op.name);
        if (most < 0) refuse("expr.negative", op.name, out_.commands[c].iteration, " is negative");
        const auto submitted = static_cast<std::int64_t>(queues_[wait.queue].ops.size());
        const std::int64_t least = submitted - std::max<std::int64_t>(most, 0);
        const bool is_prefix = wait.kind == WaitKind::kPending;
        add_count(wait.queue, static_cast<std::size_t>(is_prefix ? least : submitted), least);
        return;
      }
      case WaitKind::kQueue:
        add_all_so_far(wait.queue);
        return;
      case WaitKind::kAll:
        for (const QueueId q : ids(plan_.queues)) add_all_so_far(q);
        for (const CommandId host_wait : last_host_wait_) add({host_wait});
        return;
    }
  }

  // --- Emitting ---

  void emit(Call call) { out_.calls.push_back(call); }

  /// `moment` comes before whatever `at` (a call with its place filled in) does next.
  void emit_wait(const Moment& moment, Call at) {
    const CommandId x = moment.command;
    const bool submitted = x < at.command && thread_of(x) == at.thread;
    if (submitted && blocks(op_of(x))) return;
    const std::uint32_t stream = stream_of_[index(x)];
    if (submitted && at.stream != kNoStream && stream == at.stream) return;
    at.awaited = x;
    at.awaits_start = moment.is_start;
    const std::size_t k = moment.is_start ? 1 : 0;
    if (submitted && stream != kNoStream) {
      at.kind = CallKind::kWaitEvent;
      needs_.event[k][index(x)] = true;
      at.event = event_[k].empty() ? 0 : event_[k][index(x)];
    } else {
      at.kind = CallKind::kWaitFlags;
      needs_.flag[k][index(x)] = true;
      at.flag = flag_[k].empty() ? 0 : flag_[k][index(x)];
      at.flag_end = at.flag + 1;
      at.least = 1;
    }
    emit(at);
  }

  void emit_count(const Count& count, Call at) {
    needs_.counted[index(count.queue)] = true;
    at.kind = CallKind::kWaitFlags;
    at.queue = count.queue;
    at.flag = flag_[0].empty() ? 0 : flag_[0][index(queues_[count.queue].ops.front())];
    at.flag_end = at.flag + count.first;
    at.least = count.least;
    emit(at);
  }

  /// What waits for `moment` learns of it here.
  void emit_marks(Moment moment, Call at) {
    const std::size_t k = moment.is_start ? 1 : 0;
    const auto marked = [&](const std::vector<std::uint32_t>& numbers) {
      return !numbers.empty() && numbers[index(moment.command)] != kNoFlag;
    };
    if (marked(flag_[k])) {
      at.kind = CallKind::kSetFlag;
      at.flag = flag_[k][index(moment.command)];
      emit(at);
    }
    if (marked(event_[k]) && at.stream != kNoStream) {
      at.kind = CallKind::kRecordEvent;
      at.event = event_[k][index(moment.command)];
      emit(at);
    }
  }

  void submit(CommandId c) {
    const Op& op = op_of(c);
    Call at{.thread = thread_of(c), .command = c};
    emit_depth(op, at);
    collect(c, op);
    if (op.kind != OpKind::kHostWait) at.stream = stream_of_[index(c)] = choose_stream(c, op);
    for (const Moment& moment : moments_) emit_wait(moment, at);
    for (const Count& count : counts_) emit_count(count, at);
    emit_kind(CallKind::kStart, at);
    emit_marks({c, /*is_start=*/true}, at);
    if (op.kind == OpKind::kRecord) {
      moments_.clear();
      add_all_so_far(op.queue);
      for (const Moment& moment : moments_) emit_wait(moment, at);
    }
    const bool works = op.kind == OpKind::kOp && !out_.commands[c].passed && !op.accesses.empty();
    if (works) emit_kind(CallKind::kWork, at);
    emit_kind(CallKind::kFinish, at);
    emit_marks({c}, at);
    enter(c, op);
    if (blocks(op) && at.stream != kNoStream) {
      at.stream = kNoStream;
      emit_block(c, at);
    }
  }

  /// The thread waits for the command that it has just submitted.
  void emit_block(CommandId c, Call at) {
    at.kind = CallKind::kWaitEvent;
    at.awaited = c;
    needs_.event[0][index(c)] = true;
    at.event = event_[0].empty() ? 0 : event_[0][index(c)];
    emit(at);
  }

  void emit_kind(CallKind kind, Call at) {
    at.kind = kind;
    emit(at);
  }

  /// [S-19]: the thread blocks before it submits.
  void emit_depth(const Op& op, Call at) {
    if (op.queue == kNone<QueueId> || !is_counted(op.kind)) return;
    const std::optional<std::int64_t>& depth = plan_.queues[op.queue].depth;
    if (!depth) return;
    const auto before = static_cast<std::int64_t>(queues_[op.queue].ops.size());
    moments_.clear();
    counts_.clear();
    add_count(op.queue, static_cast<std::size_t>(before), before + 1 - *depth);
    for (const Moment& moment : moments_) emit_wait(moment, at);
    for (const Count& count : counts_) emit_count(count, at);
  }

  /// A serial or host queue has one stream for each thread; of another queue a stream may take the
  /// next command when that starts after the last one in it completes anyway.
  std::uint32_t choose_stream(CommandId c, const Op& op) {
    const QueueId q = queues_of(op).front();
    for (const std::uint32_t stream : queues_[q].streams) {
      const CommandId last = last_on_[stream];
      if (thread_of(last) != thread_of(c)) continue;
      const CommandId barrier = queues_[q].barrier;
      const bool is_free = is_ordered(q) ||
                           std::ranges::find(moments_, Moment{last}) != moments_.end() ||
                           (barrier != kNone<CommandId> && last <= barrier);
      if (!is_free) continue;
      last_on_[stream] = c;
      return stream;
    }
    const auto stream = static_cast<std::uint32_t>(out_.streams.size());
    out_.streams.push_back(q);
    queues_[q].streams.push_back(stream);
    last_on_.push_back(c);
    return stream;
  }

  /// From here on `c` is an earlier command to whoever comes next.
  void enter(CommandId c, const Op& op) {
    for (const Signal& signal : plan_.signals_of(op)) {
      if (signal.event != kNone<EventId>) signalled_[signal.event] = c;
    }
    if (op.kind == OpKind::kRecord) signalled_[op.event] = c;
    if (op.kind == OpKind::kHostWait) last_host_wait_[index(op.thread)] = c;
    for (const QueueId q : queues_of(op)) {
      QueueState& queue = queues_[q];
      queue.last = c;
      if (op.kind == OpKind::kWait || op.kind == OpKind::kBarrier) queue.fence = c;
      if (op.kind == OpKind::kBarrier) queue.barrier = c;
      if (is_counted(op.kind)) queue.ops.push_back(c);
      if (is_ordered(q)) continue;
      if (op.kind == OpKind::kBarrier || op.kind == OpKind::kRecord) queue.open.clear();
      queue.open.push_back(c);
    }
  }

  std::int64_t value(Expr expr, std::int64_t iteration, std::string_view owner) {
    Valuation valuation = settled_.symbols;
    valuation.iteration = iteration;
    const std::optional<std::int64_t> value = plan_.formulas.eval(expr, valuation);
    if (!value) refuse("expr.overflow", owner, iteration, " does not fit 64 bits");
    return value.value_or(0);
  }
  void refuse(std::string id, std::string_view owner, std::int64_t iteration,
              std::string_view why) {
    if (error_) return;
    error_ = Diagnostic{.id = std::move(id),
                        .message = "a value of `" + std::string(owner) + "` in iteration " +
                                   std::to_string(iteration) + std::string(why)};
  }

  static constexpr std::uint32_t kNoFlag = 0xFFFFFFFFU;

  const Plan& plan_;
  const Settled& settled_;
  Calls out_;
  Needs needs_;
  std::array<std::vector<std::uint32_t>, 2> flag_, event_;  ///< By is_start, by command.
  Table<QueueId, QueueState> queues_;
  Table<EventId, CommandId> signalled_;    ///< The last record or signal of each event.
  std::vector<CommandId> last_host_wait_;  ///< By thread.
  std::vector<std::uint32_t> stream_of_;   ///< By command.
  std::vector<CommandId> last_on_;         ///< By stream: its last command.
  std::vector<Moment> moments_;            ///< What the command at hand waits for …
  std::vector<Count> counts_;              ///< … and these.
  std::optional<Diagnostic> error_;
};

}  // namespace

Result<Calls> lower(const Plan& plan, const Settled& settled) {
  return Lowering(plan, settled).lower();
}

}  // namespace memverify::device
