// plan/builder.h -- the only way to make a Plan.
//
// Things are added by name, in any order (an op may name a tensor that is added later); `build`
// resolves every name, checks everything that does not depend on symbol values, and returns the
// plan or *all* independent errors, each with the JSON pointer that the thing has in a plan file.
//
//   PlanBuilder b;
//   b.add_pool({.name = "hbm"});
//   b.add_queue({.name = "q"});
//   b.add_storage({.name = "s", .pool = "hbm", .slots = {0}, .bytes = 64});
//   b.add_tensor({.name = "x", .storage = "s", .bytes = 64});
//   b.add_op({.name = "w", .queue = "q", .writes = {{.tensor = "x"}}});
//   Result<Plan> plan = std::move(b).build();
//
// Strings are copied; specs may be reused. Cost: linear in what is added, one hash look-up a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

/// An integer, or the text of an expression over the plan's symbols.
using ExprSpec = std::variant<std::int64_t, std::string_view>;

/// An entry of `symbols` (docs/format.md), as the specs below are of the other lists.
struct SymbolSpec {
  std::string_view name;
  std::int64_t min = 0;
  std::optional<std::int64_t> max = {};
  std::int64_t multiple_of = 1;
};

/// An entry of `conditions`.
struct ConditionSpec {
  std::string_view name;
  std::string_view per = {};  ///< "run", "iteration" or "" (= iteration).
};

/// An entry of `pools`.
struct PoolSpec {
  std::string_view name;
  std::optional<ExprSpec> bytes = {};
  std::int64_t alignment = 1;
  std::string_view kind = {};
};

/// An entry of `queues`.
struct QueueSpec {
  std::string_view name;
  std::string_view order = "serial";
  std::optional<std::int64_t> depth = {};
  std::int64_t delay_min = 0;
  std::int64_t delay_max = 0;
  std::string_view thread = {};  ///< "" = main.
};

/// An entry of `semaphores`.
struct SemaphoreSpec {
  std::string_view name;
  std::string_view kind = "counting";
  ExprSpec initial = std::int64_t{0};
};

/// An entry of `storages`.
struct StorageSpec {
  std::string_view name;
  std::string_view pool;
  std::vector<ExprSpec> slots;   ///< At least one offset.
  bool slots_are_array = false;  ///< Written `[…]`: pointers then end in `/offset/k`.
  ExprSpec bytes = std::int64_t{0};
};

/// An entry of `tensors`: a root with `storage`, a view with `view_of`, or unplaced.
struct TensorSpec {
  std::string_view name;
  std::string_view storage = {};  ///< A root …
  std::string_view view_of = {};  ///< … or a view, or neither: unplaced.
  ExprSpec offset = std::int64_t{0};
  std::optional<ExprSpec> bytes = {};
  std::string_view dtype = {};
  std::optional<std::vector<ExprSpec>> shape = {};
  std::optional<std::vector<ExprSpec>> strides = {};
  std::optional<std::int64_t> alignment = {};
  std::vector<std::string_view> pools = {};  ///< Unplaced only.
  std::optional<std::int64_t> slots = {};    ///< Unplaced only.
};

/// An entry of `reads`, `writes`, `accumulates` or `clobbers`.
struct AccessSpec {
  std::string_view tensor = {};  ///< Or, for a clobber,
  std::string_view pool = {};    ///< a pool's bytes.
  std::optional<ExprSpec> offset = {};
  std::optional<ExprSpec> bytes = {};
  std::int64_t distance = 0;
  std::string_view from = {};    ///< Reads: an op id or "initial".
  std::string_view update = {};  ///< Accumulates: "" = "add".
};

/// An entry of `waits`, or `for`.
struct WaitSpec {
  WaitKind kind = WaitKind::kEvent;
  std::string_view target = {};  ///< Id of the event, semaphore or queue; "" for kAll.
  ExprSpec value = std::int64_t{1};
  bool consume = false;
};

/// An entry of `signals`.
struct SignalSpec {
  std::string_view event = {};
  std::string_view semaphore = {};
  ExprSpec value = std::int64_t{1};
};

/// An entry of `after`.
struct AfterSpec {
  std::string_view op;
  std::int64_t distance = 0;
};

/// An entry of `in_place`.
struct InPlaceSpec {
  std::string_view read;
  std::string_view written;
  bool any = false;
};

/// An entry of `when`.
struct WhenSpec {
  std::string_view condition;
  bool value = true;
};

/// An entry of `ops`.
struct OpSpec {
  std::string_view name;
  std::string_view kind = {};  ///< "" = "op".
  std::string_view label = {};
  std::string_view queue = {};
  std::string_view thread = {};
  std::string_view event = {};
  std::string_view storage = {};
  std::string_view skipped = {};  ///< "", "drop" or "pass".
  std::string_view runs = {};     ///< "", "first" or "last".
  std::vector<AccessSpec> reads = {};
  std::vector<AccessSpec> writes = {};
  std::vector<AccessSpec> accumulates = {};
  std::vector<AccessSpec> clobbers = {};
  std::vector<InPlaceSpec> in_place = {};
  std::vector<AfterSpec> after = {};
  std::vector<WaitSpec> waits = {};
  std::optional<WaitSpec> wait_for = {};  ///< host_wait.
  std::vector<SignalSpec> signals = {};
  std::vector<WhenSpec> when = {};
  std::vector<std::string_view> queues = {};  ///< barrier.
  std::optional<SourceLocation> location = {};
  std::optional<Duration> duration = {};
};

/// An entry of `outputs`.
struct OutputSpec {
  std::string_view tensor;
  std::string_view from = {};  ///< An op id or "initial".
};

/// Collects what a plan is made of; see the top of this file.
class PlanBuilder {
 public:
  PlanBuilder();
  /// What was moved from may only be destroyed or assigned to.
  PlanBuilder(PlanBuilder&&) noexcept;
  PlanBuilder& operator=(PlanBuilder&&) noexcept;
  ~PlanBuilder();

  /// What follows comes from a plan file of about `bytes` bytes, valid UTF-8. Costs address space
  /// only, and saves the copies and page faults of growing arrays.
  void expect_text(std::size_t bytes);

  /// What reports call the plan.
  void set_name(std::string_view name);
  void set_iterations(std::int64_t iterations);  ///< >= 1.
  /// To be decided for every number of iterations.
  void set_unbounded();
  /// Errors of what is added come from `build`. Order matters between ops alone: it is program
  /// order.
  void add_symbol(const SymbolSpec& spec);
  void add_condition(const ConditionSpec& spec);
  void add_pool(const PoolSpec& spec);
  void add_queue(const QueueSpec& spec);
  void add_semaphore(const SemaphoreSpec& spec);
  void add_storage(const StorageSpec& spec);
  void add_tensor(const TensorSpec& spec);
  void add_op(const OpSpec& spec);
  /// A tensor that holds its value before the plan starts and, unless it is donated, at its end.
  void add_input(std::string_view tensor);
  /// A tensor that holds its value throughout.
  void add_constant(std::string_view tensor);
  /// An input that may be overwritten.
  void add_donated(std::string_view tensor);
  /// A tensor that holds its last value when everything has completed.
  void add_output(const OutputSpec& spec);
  /// What the planner claims that the pool needs.
  void set_peak_bytes(std::string_view pool, ExprSpec bytes);
  /// A key that starts with `x-` of the object at the JSON pointer `owner`; `json` is its value,
  /// the last one counts. An owner that the plan does not have is not written.
  void add_extra(std::string_view owner, std::string_view key, std::string_view json);

  /// The plan, or every error that stands by itself, in document order. Error ids: docs/format.md.
  Result<Plan> build() &&;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace memverify
