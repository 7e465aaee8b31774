// plan/words.h -- the phrases that messages about a plan are made of: ops, tensors, places, waits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "plan/region.h"

namespace memverify {

/// Ops that a message looks at before it does without; bounds its cost.
inline constexpr std::uint32_t kLookBack = 100'000;

/// A name between backquotes, with control characters as \xNN (names come from the user's file and
/// end up on terminals).
std::string quoted(std::string_view name);
/// True iff no run drops or skips the op.
inline bool always_runs(const Plan& plan, const Op& op) {
  return plan.when_of(op).empty() && op.runs == Runs::kAlways;
}
/// `name` without the backquotes.
std::string printable(std::string_view name);

/// "`a`, `b` and `c`".
std::string listed(const std::vector<std::string>& items, std::string_view conjunction = "and");

/// "1 byte", "2 bytes".
std::string counted(std::int64_t count, std::string_view noun);

/// True iff messages must say which iteration they mean.
bool repeats(const Plan& plan);

/// "`U`", and in a plan with several iterations "`U` of iteration 3".
std::string op_name(const Plan& plan, OpId op, std::int64_t iteration);
/// "`U` (MatMul, queue `compute`)": the name with operator and queue.
std::string op_words(const Plan& plan, OpId op, std::int64_t iteration);
/// "queue `compute`"; a barrier's queues; the thread of a host wait; "" for a view.
std::string queue_words(const Plan& plan, OpId op);

/// `tensor` and its bases down to the root, the order of `Finding::alias_chain`.
std::vector<TensorId> alias_chain(const Plan& plan, TensorId tensor);
/// "`D` (a view: `D` -> `C` -> `A`)", or just "`A`" for a root.
std::string tensor_words(const Plan& plan, TensorId tensor);

/// "bytes [0, 1024) of pool `hbm`".
std::string place_words(const Plan& plan, PoolId pool, ByteRange bytes);

/// "[0, 64)"; what depends on symbols as a sum: "[0, 64*n)", "[n, n + 64)".
std::string address_range(const Plan& plan, const Expr& offset, const Expr& bytes);

/// What one wait of `op` waits for: "event `e`, recorded by `r`", "semaphore `n` to reach 2", …
/// `op` tells which record an event wait binds to. Cost: looks back over at most 10^5 ops.
std::string wait_words(const Plan& plan, OpId op, const Wait& wait);

/// The op whose record or signal of `event` a wait in `op` binds to when all conditions hold; kNone
/// when there is none in the 10^5 ops before it. `previous_iteration` is set when it is only found
/// in the iteration before.
OpId bound_record(const Plan& plan, OpId op, EventId event, bool* previous_iteration = nullptr);

/// The text that stands for an op in `after`: "\"after\": [\"U\"]", with a distance if that is > 0.
std::string after_json(const Plan& plan, OpId op, std::int64_t distance);

}  // namespace memverify
