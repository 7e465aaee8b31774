// plan/plan.h -- a plan: which ops run, on which queues, ordered by what, over which bytes.
//
// Plain data. Only `PlanBuilder` makes a Plan, so whoever holds one may rely on the invariants:
// every id is in range (or kNone where that is allowed), names are unique within their kind, views
// have no cycles, every Range lies inside its array. Values of expressions are *not* checked here:
// they depend on the symbols (plan/layout.h). docs/format.md gives the meaning of each field.
//
// Lists that belong to an op are slices (`Range`) of one array per kind of item, so that a plan of
// 10^6 ops is a dozen allocations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/dtype.h"
#include "plan/expr.h"
#include "plan/ids.h"

namespace memverify {

/// `[begin, end)` of one of the plan's arrays.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t size() const noexcept { return end - begin; }
  bool empty() const noexcept { return begin == end; }
};

/// A number that is the same throughout a run, and that sizes, offsets and values may depend on.
struct Symbol {
  std::string_view name;
  std::int64_t min = 0;
  std::optional<std::int64_t> max;  ///< Inclusive; nullopt: no bound is known.
  std::int64_t multiple_of = 1;     ///< >= 1.
};

/// The least multiple that is not below the minimum; the minimum where that passes 64 bits.
std::int64_t least_value(const Symbol& symbol);

/// Something that holds or does not, and that commands may depend on.
struct Condition {
  std::string_view name;
  bool per_run = false;  ///< One value for all iterations.
};

/// An address space.
struct Pool {
  std::string_view name;
  std::optional<Expr> bytes;      ///< Capacity; nullopt: unlimited.
  std::int64_t alignment = 1;     ///< Bytes, >= 1.
  std::string_view kind;          ///< Free text.
  std::optional<Expr> peak_bytes; ///< What the planner claims (`peak_bytes` of the plan).
};

enum class QueueOrder : std::uint8_t { kSerial, kIssue, kNone, kHost };

/// Whatever takes commands in an order: a stream, an engine, a thread pool.
struct Queue {
  std::string_view name;
  QueueOrder order = QueueOrder::kSerial;
  std::optional<std::int64_t> depth;  ///< >= 1; nullopt: unlimited.
  std::int64_t delay_min = 0;         ///< Ticks; timed runs only.
  std::int64_t delay_max = 0;
  ThreadId thread = ThreadId{0};      ///< Thread of its commands that name none.
};

/// A counter that commands add to and wait for.
struct Semaphore {
  std::string_view name;
  bool timeline = false;
  Expr initial;
};

/// Bytes of a pool, the same for every iteration or in turns.
struct Storage {
  std::string_view name;
  PoolId pool = kNone<PoolId>;
  Range slots;  ///< In `Plan::exprs`: offset of each slot, bytes; iteration i uses i mod size.
  Expr bytes;
};

enum class TensorKind : std::uint8_t {
  kRoot,      ///< At `offset` in `storage`.
  kView,      ///< At `offset` from the first element of `base`.
  kUnplaced,  ///< The planner's work.
};

/// A typed layout over the bytes of a storage, of its own or of another tensor.
struct Tensor {
  std::string_view name;
  TensorKind placement = TensorKind::kRoot;
  DType dtype = DType::kNone;  ///< kNone iff given by `bytes` alone.
  bool has_strides = false;    ///< Otherwise row-major contiguous.
  StorageId storage = kNone<StorageId>;  ///< Of the root; kNone iff the root is unplaced.
  TensorId base = kNone<TensorId>;       ///< kView only.
  TensorId root = kNone<TensorId>;       ///< Itself unless a view. Names the alias family.
  Expr offset;                           ///< Bytes.
  Expr bytes;                            ///< When dtype is kNone.
  Range shape;                           ///< In `Plan::exprs`, elements.
  Range strides;                         ///< In `Plan::exprs`, elements; empty unless has_strides.
  std::int64_t alignment = 0;            ///< Bytes; 0: the pool's for a root, none for a view.
  Range pools;                           ///< In `Plan::pool_lists`: where to try (kUnplaced).
  std::int64_t slots = 1;                ///< Rotating copies wanted (kUnplaced).
};

enum class AccessKind : std::uint8_t { kRead, kWrite, kAccumulate, kClobber };

/// A window of an access or of a pool.
struct Part {
  Expr offset;
  std::optional<Expr> bytes;  ///< nullopt: to the end.
};

/// What an op does to bytes.
struct Access {
  AccessKind kind = AccessKind::kRead;
  bool from_initial = false;           ///< `"from": "initial"`.
  TensorId tensor = kNone<TensorId>;   ///< kNone for a clobber of a pool's bytes.
  PoolId pool = kNone<PoolId>;         ///< Only for a clobber of a pool's bytes.
  std::uint32_t part = kWhole;         ///< Index into `Plan::parts`, or kWhole.
  std::uint32_t distance = 0;          ///< Iterations back.
  OpId from = kNone<OpId>;             ///< The writer meant, kNone: by program order.
  UpdateId update = UpdateId{0};       ///< kAccumulate: the operator; 0 is "add".
  static constexpr std::uint32_t kWhole = 0xFFFFFFFFU;
};

enum class WaitKind : std::uint8_t {
  kEvent,        ///< The most recent record or signal of `event`.
  kSemaphore,    ///< Count (or timeline) >= value, taking it away if `consume`.
  kPending,      ///< All but the `value` most recently submitted ops of `queue` have completed.
  kOutstanding,  ///< At most `value` submitted ops of `queue` are incomplete.
  kQueue,        ///< host_wait: every earlier command of `queue` has completed.
  kAll,          ///< host_wait: every earlier command has completed.
};

/// What the start of a command waits for.
struct Wait {
  WaitKind kind = WaitKind::kEvent;
  bool consume = false;
  EventId event = kNone<EventId>;
  SemaphoreId semaphore = kNone<SemaphoreId>;
  QueueId queue = kNone<QueueId>;
  Expr value;  ///< kSemaphore (may use `iteration`), kPending, kOutstanding.
};

/// What the completion of a command sets.
struct Signal {
  EventId event = kNone<EventId>;              ///< Either this
  SemaphoreId semaphore = kNone<SemaphoreId>;  ///< or this.
  Expr value;                                  ///< Semaphores only; may use `iteration`.
};

/// A command that completes before another one starts.
struct After {
  OpId op = kNone<OpId>;  ///< Never a view.
  std::uint32_t distance = 0;
};

/// Leave for an op to write the bytes that it reads.
struct InPlace {
  TensorId read = kNone<TensorId>;
  TensorId written = kNone<TensorId>;
  bool any = false;  ///< The op copes with any overlap of the two.
};

/// A value that a condition must have for a command to run.
struct WhenTerm {
  ConditionId condition = kNone<ConditionId>;
  bool value = true;
};

enum class OpKind : std::uint8_t {
  kOp, kView, kRecord, kWait, kBarrier, kHostWait, kAlloc, kFree, kUnknown
};

/// Whether `pending`, `outstanding` and `depth` count it.
constexpr bool is_counted(OpKind kind) { return kind == OpKind::kOp || kind == OpKind::kUnknown; }

enum class Runs : std::uint8_t { kAlways, kFirst, kLast };

/// A place in the source of the program that the plan is of.
struct SourceLocation {
  std::string_view file;
  std::int64_t line = 0;
};

/// How long a command takes, in timed runs.
struct Duration {
  std::int64_t min = 0;  ///< Ticks.
  std::int64_t max = 0;
};

/// What few ops of large plans have.
struct OpDetails {
  std::string_view label;            ///< The operator, e.g. "MatMul"; may be empty.
  Range in_place;                    ///< In `Plan::in_places`.
  Range when;                        ///< In `Plan::when_terms`.
  Range queues;                      ///< barrier, in `Plan::queue_lists`.
  std::uint32_t location = kAbsent;  ///< In `Plan::locations`.
  std::uint32_t duration = kAbsent;  ///< In `Plan::durations`; absent: the default of the kind.
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFU;
};

/// A command, or (kView) a statement about aliases.
struct Op {
  std::string_view name;
  OpKind kind = OpKind::kOp;
  Runs runs = Runs::kAlways;
  bool skipped_pass = false;             ///< `"skipped": "pass"`.
  QueueId queue = kNone<QueueId>;        ///< kNone for view, barrier and host_wait.
  ThreadId thread = ThreadId{0};
  EventId event = kNone<EventId>;        ///< record and wait.
  StorageId storage = kNone<StorageId>;  ///< alloc and free.
  Range accesses;  ///< In `Plan::accesses`, as written: reads, writes, accumulates, clobbers.
  Range waits;     ///< In `Plan::waits`; for host_wait the one entry of `for`.
  Range signals;
  Range after;
  std::uint32_t details = kNoDetails;  ///< In `Plan::details`; see `Plan::details_of`.
  static constexpr std::uint32_t kNoDetails = 0xFFFFFFFFU;
};

/// A tensor that holds its last value at the end.
struct Output {
  TensorId tensor = kNone<TensorId>;
  OpId from = kNone<OpId>;
  bool from_initial = false;
};

/// A key that starts with `x-`, carried along.
struct Extra {
  std::string owner;  ///< JSON pointer of the object that holds it, "" for the document.
  std::string key;
  std::string json;   ///< Its value, as written.
};

class NameArena;

/// The whole plan: tables by id, lists as slices of one array for each kind of item.
struct Plan {
  std::string_view name;
  std::optional<std::int64_t> iterations = 1;  ///< >= 1; nullopt: "unbounded".

  Table<SymbolId, Symbol> symbols;
  Table<ConditionId, Condition> conditions;
  Table<PoolId, Pool> pools;
  Table<QueueId, Queue> queues;
  Table<ThreadId, std::string_view> threads;  ///< Entry 0 is "main".
  Table<EventId, std::string_view> events;
  Table<SemaphoreId, Semaphore> semaphores;
  Table<StorageId, Storage> storages;
  Table<TensorId, Tensor> tensors;
  Table<OpId, Op> ops;  ///< In program order.

  std::vector<TensorId> inputs;
  std::vector<TensorId> constants;
  std::vector<TensorId> donated;  ///< Each also an input.
  std::vector<Output> outputs;

  Table<UpdateId, std::string_view> updates;  ///< Each once. Entry 0 is "add".
  std::vector<OpDetails> details;  ///< Of the ops that have any.
  std::vector<Access> accesses;
  std::vector<Part> parts;
  std::vector<Wait> waits;
  std::vector<Signal> signals;
  std::vector<After> afters;
  std::vector<InPlace> in_places;
  std::vector<WhenTerm> when_terms;
  std::vector<QueueId> queue_lists;
  std::vector<PoolId> pool_lists;
  std::vector<SourceLocation> locations;
  std::vector<Duration> durations;
  std::vector<Expr> exprs;
  ExprPool formulas;
  std::vector<Extra> extras;
  std::shared_ptr<const NameArena> names;  ///< Owns every string_view of the plan.

  std::span<const Access> accesses_of(const Op& op) const { return slice(accesses, op.accesses); }
  std::span<const Wait> waits_of(const Op& op) const { return slice(waits, op.waits); }
  std::span<const Signal> signals_of(const Op& op) const { return slice(signals, op.signals); }
  std::span<const After> after_of(const Op& op) const { return slice(afters, op.after); }
  std::span<const InPlace> in_place_of(const Op& op) const {
    return slice(in_places, details_of(op).in_place);
  }
  std::span<const WhenTerm> when_of(const Op& op) const {
    return slice(when_terms, details_of(op).when);
  }
  std::span<const QueueId> queues_of(const Op& op) const {
    return slice(queue_lists, details_of(op).queues);
  }
  const OpDetails& details_of(const Op& op) const {
    return op.details == Op::kNoDetails ? kNothing : details[op.details];
  }
  /// The details of the op, to be changed.
  OpDetails& add_details(Op& op);

  template <typename T>
  static std::span<const T> slice(const std::vector<T>& all, Range range) {
    return std::span<const T>(all).subspan(range.begin, range.size());
  }

 private:
  static const OpDetails kNothing;
};

/// True iff `value` is one that the symbol may take.
bool admits(const Symbol& symbol, std::int64_t value);

/// The duration of an op: its own, or [1, 1] for op and unknown and [0, 0] for the rest.
Duration duration_of(const Plan& plan, const Op& op);

std::string_view name(OpKind kind);
std::string_view name(QueueOrder order);
std::string_view name(AccessKind kind);

}  // namespace memverify
