// verify/repair.h -- ways to make an unsafe plan safe, one file each (verify/repair_*.cpp).
//
// Nothing is offered that was not decided to be safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/edit.h"
#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// Who decides a plan; empty: verify_happens_before.
using Decide = std::function<EngineResult(const Plan&)>;

struct RepairOptions {
  Decide decide;
  std::size_t max_candidates = 400;       ///< Waits to choose among, for an exact search.
  std::size_t max_verifications = 5'000;  ///< Of one way.
  std::size_t max_offers = 8;             ///< Of one way, for the caller to choose among.
};

/// One plan that is safe.
struct Repair {
  enum class Kind : std::uint8_t { kWait, kMove, kOrder, kCopy };
  Kind kind = Kind::kWait;
  Plan plan;
  std::vector<std::string> changes;  ///< In words, one each: "`b` waits for `a` to complete".
  std::int64_t added_waits = 0;
  std::int64_t copied_bytes = 0;
};
std::string_view name(Repair::Kind kind);  ///< "wait", "move", "order", "copy".

/// What one way comes to.
struct RepairSearch {
  std::vector<Repair> found;
  bool is_exact = false;  ///< Of waits and moves: no way with fewer of them is left.
  std::string why_not;    ///< Without one: why, as a sentence without its full stop.
  std::size_t verifications = 0;
};

/// The fewest waits (verify/repair_waits.h).
RepairSearch repair_by_waiting(const Plan& plan, const RepairOptions& options);

/// The fewest storages, at most three of those that the findings name, at other addresses; each as
/// low as it can go. Exact as to the number, and for one storage as to the address: the lowest that
/// ends of other tensors, or the start of the pool, leave. Slots of a storage stay together.
/// Cost: a verification for each set of storages and each address.
RepairSearch repair_by_moving(const Plan& plan, const RepairOptions& options);

/// One op earlier or later in program order, across none that uses bytes of its alias families, so
/// that no read comes to mean another write. An alloc or free may pass what uses its storage, but
/// no other alloc or free of it. Cost: a verification for each op and place, nearest first.
RepairSearch repair_by_reordering(const Plan& plan, const RepairOptions& options);

/// A copy of what a reader reads (plan/edit.h), taken right after it was written, with the fewest
/// waits that this needs, and the copy's storage as low as it can go.
RepairSearch repair_by_copying(const Plan& plan, const RepairOptions& options);

/// The same of one reader of one tensor, in a plan that may be safe as it is.
std::vector<Repair> copies_of(const Plan& plan, OpId reader, TensorId tensor,
                              const RepairOptions& options = {});

/// Highest end of a storage in each pool, by pool, over the least and greatest symbol values; 0
/// where there is none, or no layout. Bytes.
std::vector<std::int64_t> highest_ends(const Plan& plan);

/// `plan` with `storage` at the lowest address at which it is safe; nullopt if there is none.
/// Raises `peak_bytes` of its pool where that claims less.
std::optional<Plan> with_lowest_place(const Plan& plan, StorageId storage,
                                      const RepairOptions& options, std::size_t& verifications);

/// `plan` with the claims of `peak_bytes` that are too low raised to what it needs.
Plan with_honest_peaks(const Plan& plan);

/// Decides by `options.decide`, and counts.
EngineResult decide(const Plan& plan, const RepairOptions& options, std::size_t& verifications);

/// True iff nothing is between `place` and the op that uses a family of the op's, or that allocs or
/// frees the storage that the op does: it may be moved there (plan/edit.h), and no read means
/// another write than before.
bool may_move_to(const Plan& plan, OpId op, std::uint32_t place);

}  // namespace memverify
