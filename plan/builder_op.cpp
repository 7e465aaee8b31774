// Adding an op: which fields its kind has, and its items into the plan's flat arrays.
#include <algorithm>
#include <limits>
#include <optional>

#include "plan/builder_impl.h"

namespace memverify {
namespace {

// What a kind of op must have (and the others must not) and what it may have.
struct KindRules {
  std::string_view word;
  bool queue, event, storage, wait_for, queues;  // Must have; otherwise must not.
  bool aliases;                                  // May have reads and writes,
  bool accesses;                                 // accumulates, clobbers and in_place too.
  bool sync;                                     // May have after and signals.
};

// In the order of OpKind.
constexpr std::array<KindRules, 9> kKindRules = {{
    // word      queue  event  storage for    queues aliases accesses sync
    {"op", true, false, false, false, false, true, true, true},
    {"view", false, false, false, false, false, true, false, false},
    {"record", true, true, false, false, false, false, false, true},
    {"wait", true, true, false, false, false, false, false, true},
    {"barrier", false, false, false, false, true, false, false, true},
    {"host_wait", false, false, false, true, false, false, false, true},
    {"alloc", true, false, true, false, false, false, false, true},
    {"free", true, false, true, false, false, false, false, true},
    {"unknown", true, false, false, false, false, true, true, true},
}};

std::optional<OpKind> parse_kind(std::string_view word) {
  if (word.empty()) return OpKind::kOp;
  const auto found = std::ranges::find(kKindRules, word, &KindRules::word);
  if (found == kKindRules.end()) return std::nullopt;
  return static_cast<OpKind>(found - kKindRules.begin());
}

}  // namespace

/// Adds one op; exists while `add_op` runs.
class PlanBuilder::Impl::OpAdder {
 public:
  OpAdder(Impl& impl, const OpSpec& spec)
      : impl_(impl), plan_(impl.plan), spec_(spec), at_(impl.plan.ops.size()) {}

  void run() {
    op_.name = impl_.declare(NameKind::kOp, spec_.name, at_, "ops");
    if (!spec_.label.empty()) plan_.add_details(op_).label = impl_.keep(spec_.label);
    const std::optional<OpKind> kind = parse_kind(spec_.kind);
    if (kind) {
      op_.kind = *kind;
      check_fields(kKindRules[static_cast<std::size_t>(*kind)]);
    } else {
      unknown_kind();
    }
    op_.queue = impl_.refer<QueueId>(spec_.queue);
    op_.thread = spec_.thread.empty() ? kNone<ThreadId> : impl_.thread(spec_.thread);
    op_.event = impl_.event(spec_.event);
    op_.storage = impl_.refer<StorageId>(spec_.storage);
    words();
    accesses();
    sync();
    lists();
    times();
    plan_.ops.push_back(op_);
    if (plan_.ops.size() == kMany) make_room();
  }

 private:
  void make_room() {
    const std::size_t things = impl_.things_to_come;
    const auto room = [](auto& items, std::size_t most) {
      if (!items.empty()) items.reserve(most);
    };
    plan_.ops.reserve(things);
    room(plan_.accesses, 2 * things);
    room(plan_.waits, things);
    room(plan_.signals, things);
    room(plan_.afters, things);
    room(plan_.exprs, 2 * things);
  }

  void fail(std::string_view id, std::string message, std::string_view field) {
    impl_.fail(id, std::move(message), json_pointer({"ops", at_, field}));
  }
  void fail(std::string_view id, std::string message, std::string_view list, std::size_t entry,
            std::string_view field) {
    impl_.fail(id, std::move(message), json_pointer({"ops", at_, list, entry, field}));
  }
  template <typename T>
  static std::uint32_t size(const std::vector<T>& items) {
    return static_cast<std::uint32_t>(items.size());
  }

  void unknown_kind() {
    std::vector<std::string_view> words;
    for (const KindRules& rules : kKindRules) words.push_back(rules.word);
    fail("op.kind", unknown_word("kind", spec_.kind, words), "kind");
  }

  void check_fields(const KindRules& rules) {
    const auto required = [&](bool wanted, bool given, std::string_view field) {
      if (wanted == given) return;
      if (given) return unexpected(rules, field);
      impl_.fail("field.missing", describe(rules) + " needs `" + std::string(field) + "`",
                 json_pointer({"ops", at_}));
    };
    const auto allowed = [&](bool may, bool given, std::string_view field) {
      if (given && !may) unexpected(rules, field);
    };
    required(rules.queue, !spec_.queue.empty(), "queue");
    required(rules.event, !spec_.event.empty(), "event");
    required(rules.storage, !spec_.storage.empty(), "storage");
    required(rules.wait_for, spec_.wait_for.has_value(), "for");
    required(rules.queues, !spec_.queues.empty(), "queues");
    allowed(rules.aliases, !spec_.reads.empty(), "reads");
    allowed(rules.aliases, !spec_.writes.empty(), "writes");
    allowed(rules.accesses, !spec_.accumulates.empty(), "accumulates");
    allowed(rules.accesses, !spec_.clobbers.empty(), "clobbers");
    allowed(rules.accesses, !spec_.in_place.empty(), "in_place");
    allowed(rules.sync, !spec_.after.empty(), "after");
    allowed(rules.sync, !spec_.signals.empty(), "signals");
    allowed(rules.sync && !rules.wait_for, !spec_.waits.empty(), "waits");
  }
  static std::string describe(const KindRules& rules) {
    return "an op of kind " + std::string(rules.word);
  }
  void unexpected(const KindRules& rules, std::string_view field) {
    fail("field.unexpected", describe(rules) + " has no `" + std::string(field) + "`", field);
  }

  void words() {
    if (spec_.skipped.empty() && spec_.runs.empty()) return;
    constexpr std::array<std::string_view, 2> kSkipped = {"drop", "pass"};
    constexpr std::array<std::string_view, 2> kRuns = {"first", "last"};
    op_.skipped_pass = spec_.skipped == "pass";
    if (!spec_.skipped.empty() && std::ranges::find(kSkipped, spec_.skipped) == kSkipped.end()) {
      fail("op.skipped", unknown_word("value", spec_.skipped, kSkipped), "skipped");
    }
    op_.runs = spec_.runs == "first"  ? Runs::kFirst
               : spec_.runs == "last" ? Runs::kLast
                                      : Runs::kAlways;
    if (!spec_.runs.empty() && op_.runs == Runs::kAlways) {
      fail("op.runs", unknown_word("value", spec_.runs, kRuns), "runs");
    }
  }

  void accesses() {
    op_.accesses.begin = size(plan_.accesses);
    access_list(AccessKind::kRead, "reads", spec_.reads);
    access_list(AccessKind::kWrite, "writes", spec_.writes);
    access_list(AccessKind::kAccumulate, "accumulates", spec_.accumulates);
    access_list(AccessKind::kClobber, "clobbers", spec_.clobbers);
    op_.accesses.end = size(plan_.accesses);
  }

  /// Most are no more than that.
  static bool names_whole_tensor(const AccessSpec& spec) {
    return !spec.tensor.empty() && spec.pool.empty() && !spec.offset && !spec.bytes &&
           spec.distance == 0 && spec.from.empty() && spec.update.empty();
  }

  void access_list(AccessKind kind, std::string_view list, const std::vector<AccessSpec>& specs) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const AccessSpec& spec = specs[i];
      if (names_whole_tensor(spec)) {
        plan_.accesses.push_back({.kind = kind, .tensor = impl_.refer<TensorId>(spec.tensor)});
        continue;
      }
      check_access(kind, list, i, spec);
      Access access{.kind = kind};
      access.tensor = impl_.refer<TensorId>(spec.tensor);
      access.pool = impl_.refer<PoolId>(spec.pool);
      access.distance = distance(spec.distance, list, i);
      access.from_initial = spec.from == "initial";
      if (!access.from_initial) access.from = impl_.refer<OpId>(spec.from);
      if (access.from != kNone<OpId>) impl_.names_writers = true;
      if (kind == AccessKind::kAccumulate) {
        access.update = impl_.update(spec.update.empty() ? "add" : spec.update);
      }
      if (spec.offset || spec.bytes) {
        access.part = size(plan_.parts);
        Part part{.offset = impl_.expr(spec.offset.value_or(std::int64_t{0}))};
        if (spec.bytes) part.bytes = impl_.expr(*spec.bytes);
        plan_.parts.push_back(part);
      }
      plan_.accesses.push_back(access);
    }
  }

  void check_access(AccessKind kind, std::string_view list, std::size_t i, const AccessSpec& spec) {
    const auto bad = [&](std::string_view id, std::string message, std::string_view field) {
      fail(id, std::move(message), list, i, field);
    };
    if (!spec.pool.empty() && kind != AccessKind::kClobber) {
      bad("field.unexpected", "only a clobber may name a pool", "pool");
    } else if (!spec.pool.empty() && !spec.tensor.empty()) {
      bad("access.target", "an access names a tensor or a pool, not both", "pool");
    } else if (spec.tensor.empty() && spec.pool.empty()) {
      impl_.fail("access.target",
                 kind == AccessKind::kClobber ? "a clobber needs a `tensor` or a `pool`"
                                              : "an access needs a `tensor`",
                 json_pointer({"ops", at_, list, i}));
    }
    if (!spec.from.empty() && kind != AccessKind::kRead) {
      bad("field.unexpected", "only a read has `from`", "from");
    }
    if (!spec.update.empty() && kind != AccessKind::kAccumulate) {
      bad("field.unexpected", "only an accumulate has `op`", "op");
    }
    if (!spec.pool.empty() && spec.distance != 0) {
      bad("field.unexpected", "a pool has no `distance`", "distance");
    }
  }

  std::uint32_t distance(std::int64_t value, std::string_view list, std::size_t entry) {
    if (value >= 0 && value < kNoId) return static_cast<std::uint32_t>(value);
    fail("distance.range", "a distance is a number of iterations from 0 to 4294967294", list, entry,
         "distance");
    return 0;
  }

  void sync() {
    op_.waits.begin = size(plan_.waits);
    if (spec_.wait_for)
      add_wait(*spec_.wait_for, [&] { return json_pointer({"ops", at_, "for"}); });
    for (std::size_t i = 0; i < spec_.waits.size(); ++i) {
      const auto at = [&] { return json_pointer({"ops", at_, "waits", i}); };
      const WaitKind kind = spec_.waits[i].kind;
      if (kind == WaitKind::kQueue || kind == WaitKind::kAll) {
        impl_.fail("wait.form", "only a host_wait may wait for all of a queue or for everything",
                   at());
      }
      add_wait(spec_.waits[i], at);
    }
    op_.waits.end = size(plan_.waits);
    op_.signals.begin = size(plan_.signals);
    for (std::size_t i = 0; i < spec_.signals.size(); ++i) {
      const SignalSpec& spec = spec_.signals[i];
      if (spec.event.empty() == spec.semaphore.empty()) {
        impl_.fail("signal.form", "a signal names either an `event` or a `semaphore`",
                   json_pointer({"ops", at_, "signals", i}));
      }
      plan_.signals.push_back({impl_.event(spec.event), impl_.refer<SemaphoreId>(spec.semaphore),
                               impl_.expr(spec.value)});
    }
    op_.signals.end = size(plan_.signals);
  }

  /// `at()`: its JSON pointer.
  template <typename Pointer>
  void add_wait(const WaitSpec& spec, Pointer at) {
    Wait wait{.kind = spec.kind, .consume = spec.consume, .value = impl_.expr(spec.value)};
    switch (spec.kind) {
      case WaitKind::kEvent:
        wait.event = impl_.event(spec.target);
        break;
      case WaitKind::kSemaphore:
        wait.semaphore = impl_.refer<SemaphoreId>(spec.target);
        break;
      case WaitKind::kPending:
      case WaitKind::kOutstanding:
      case WaitKind::kQueue:
        wait.queue = impl_.refer<QueueId>(spec.target);
        break;
      case WaitKind::kAll:
        break;
    }
    if (spec.target.empty() && spec.kind != WaitKind::kAll) {
      impl_.fail("wait.form", "the name of what is waited for is empty", at());
    }
    if (spec.consume && spec.kind != WaitKind::kSemaphore) {
      impl_.fail("wait.consume", "only a wait for a semaphore can consume", at() + "/consume");
    }
    plan_.waits.push_back(wait);
  }

  void lists() {
    op_.after.begin = size(plan_.afters);
    for (std::size_t i = 0; i < spec_.after.size(); ++i) {
      plan_.afters.push_back({impl_.refer_always<OpId>(spec_.after[i].op),
                              distance(spec_.after[i].distance, "after", i)});
    }
    op_.after.end = size(plan_.afters);
    if (spec_.in_place.empty() && spec_.when.empty() && spec_.queues.empty()) return;
    OpDetails& details = plan_.add_details(op_);
    details.in_place.begin = size(plan_.in_places);
    for (const InPlaceSpec& pair : spec_.in_place) {
      plan_.in_places.push_back({impl_.refer_always<TensorId>(pair.read),
                                 impl_.refer_always<TensorId>(pair.written), pair.any});
    }
    details.in_place.end = size(plan_.in_places);
    details.when.begin = size(plan_.when_terms);
    for (const WhenSpec& term : spec_.when) {
      plan_.when_terms.push_back({impl_.refer_always<ConditionId>(term.condition), term.value});
    }
    details.when.end = size(plan_.when_terms);
    details.queues.begin = size(plan_.queue_lists);
    for (const std::string_view queue : spec_.queues) {
      plan_.queue_lists.push_back(impl_.refer_always<QueueId>(queue));
    }
    details.queues.end = size(plan_.queue_lists);
  }

  void times() {
    if (spec_.location) {
      plan_.add_details(op_).location = size(plan_.locations);
      plan_.locations.push_back({impl_.keep(spec_.location->file), spec_.location->line});
    }
    if (spec_.duration) {
      const Duration& duration = *spec_.duration;
      if (duration.min < 0 || duration.max < duration.min) {
        fail("op.duration", "a duration is [lo, hi] with 0 <= lo <= hi", "duration");
      }
      plan_.add_details(op_).duration = size(plan_.durations);
      plan_.durations.push_back(duration);
    }
  }

  Impl& impl_;
  Plan& plan_;
  const OpSpec& spec_;
  std::size_t at_;
  Op op_;
};

void PlanBuilder::Impl::add_op(const OpSpec& spec) { OpAdder(*this, spec).run(); }

}  // namespace memverify
