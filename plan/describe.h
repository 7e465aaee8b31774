// plan/describe.h -- findings in words.
//
// The one place where the ids of a Finding become sentences, so that every engine says the same
// thing of the same fault. Engines call `describe` once per finding they keep, when its ids are
// filled.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// Fills `finding.message` and `finding.help` from its other fields and the plan. What is already
/// there stays: an engine that knows better (which limit MV201 met, by how much a pool is too
/// small) says so itself. Copes with any field left empty. Cost: O(1) for most rules; races look
/// back in program order for what orders the pair now, at most 10^5 ops.
void describe(const Plan& plan, Finding& finding);

/// The message without the details that fields of the finding hold, as one clause: "`w` may write
/// `y` while `u` still reads `x`". The message itself where an engine wrote it.
std::string headline(const Plan& plan, const Finding& finding);

/// What the start of `op` in `iteration` waits for now: "`load_A` before it on queue `dma`; event
/// `a`, recorded by `r`". Conditions aside; "" when nothing holds it back. At most four are named,
/// those first that concern `other`. Looks back over at most 10^5 ops.
std::string what_holds_back(const Plan& plan, OpId op, std::int64_t iteration,
                            OpId other = kNone<OpId>);

/// For MV301 of a wait in `op` for an event that nothing records before it: its message and help.
std::pair<std::string, std::string> unbound_wait(const Plan& plan, OpId op, EventId event);

/// For two strided accesses that share more than `finding.bytes`, the first range: " and 15 more
/// ranges up to byte 12288, 4096 bytes in all"; "" elsewhere, in plans of over 2,000 ops or tensors
/// too. O(plan).
std::string more_shared_bytes(const Plan& plan, const Finding& finding);

/// For MV101-103: what would order the pair at the least cost, as one line.
std::string how_to_order(const Plan& plan, const Finding& finding);

}  // namespace memverify
