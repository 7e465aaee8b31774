// plan/advice.h -- which advices are true of a plan. Private to the files that make words.
//
// An advice is offered only when what the plan's text and bytes say is enough to know that it
// helps; in doubt it is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/layout.h"
#include "plan/plan.h"

namespace memverify {

/// "make `b` wait for `a`: add "after": ["a"] to `b`"; `distance` >= 0 iterations lie between.
std::string make_wait(const Plan& plan, OpId later, OpId earlier, std::int64_t distance);

/// "a; or b", "a"; `otherwise` if there is none.
std::string either(const std::vector<std::string>& advices, const std::string& otherwise);

/// Both are tensors of one family.
bool is_family(const Plan& plan, TensorId a, TensorId b);

/// The access of `op` that does `kind` to the tensor; nullptr if there is none.
const Access* find_access(const Plan& plan, OpId op, TensorId tensor, AccessKind kind);

/// True only if `writer`, listed before `reader`, may as well run right after it: nothing from the
/// one to the other needs its results, waits for it or changes what it reads, and after `reader`
/// nobody reads the family of `victim`, which it overwrites. Looks at every access of the plan
/// once.
bool may_run_after(const Plan& plan, OpId writer, OpId reader, TensorId victim);

/// True only if `op`, listed after `other`, may as well run right before it and nobody needs what
/// it writes. Looks at every access of the plan once.
bool may_run_before(const Plan& plan, OpId op, OpId other);

/// True only if `op`, listed after `other` but run before it, may be listed right before it: no op
/// in between reads what it writes, writes what it reads or shares its queue.
bool may_list_before(const Plan& plan, OpId op, OpId other);

/// True iff every run executes both on one queue that completes in order.
bool is_same_serial_queue(const Plan& plan, OpId a, OpId b);

/// The witness holds the completion of the op.
bool has_completed(const Finding& finding, OpId op, std::int64_t iteration);

/// The bytes of a small plan (at most 2,000 ops and 2,000 tensors) under the finding's symbols;
/// nullopt for larger ones, and where they make no sense. O(plan).
std::optional<Layout> small_layout(const Plan& plan, const Finding& finding);

/// The same under the greatest values of all symbols; nullopt too if one has none.
std::optional<Layout> greatest_small_layout(const Plan& plan);

/// True iff in some slot the access touches the finding's bytes.
bool touches_bytes(const Plan& plan, const Layout& layout, const Access& access,
                   const Finding& finding);

}  // namespace memverify
