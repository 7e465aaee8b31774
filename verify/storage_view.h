// verify/storage_view.h -- why the bytes of a storage are still held, and what would free them.
//
// Problem: a storage is free once the last runtime reader of it completes, through whichever views
//   it reads, and before the next writer of the same bytes starts. Which reader is that, and why
//   is it so late?
// Idea: three levels: the storage; its aliases (roots and views over them); the commands that use
//   the bytes through each alias. Beside each use stands the completion that it has in a run
//   without delay (verify/schedule.h), who writes or frees the bytes next, and by which syncs that
//   one waits (by happens-before, of verify/order.h). The *blocker* is the use that completes last.
// Cost: one walk of the plan, and for each use of the storage a look at the writers of its bytes.
// Tested by tests/unit/verify/storage_view_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/json_text.h"
#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

/// Who writes or frees bytes of a use next in program order, or writes them in a race with it.
struct NextUse {
  OpId op = kNone<OpId>;  ///< kNone: nobody; the bytes are held to the end (outputs, kept inputs).
  std::int64_t iteration = 0;
  bool frees = false;
  bool clobbers = false;              ///< Writes, but no value.
  bool is_earlier = false;            ///< In program order; the use does not wait for it.
  TensorId tensor = kNone<TensorId>;  ///< Written; kNone for a free and a clobber of a pool.
  ByteRange bytes;                    ///< The first that both touch, in the pool.
  bool waits = false;  ///< The use completes before this starts, in every run; else they race.
  /// How: commands in order, each of which waits for the one before; the use and this one are left
  /// out. Empty where the queue alone orders them, and where counts do.
  std::vector<Step> through;
};

/// A runtime command that uses the storage through one alias.
struct UseView {
  OpId op = kNone<OpId>;
  std::int64_t iteration = 0;
  AccessKind kind = AccessKind::kRead;
  TensorId tensor = kNone<TensorId>;     ///< The alias.
  ByteRange bytes;                       ///< Least range in the pool that holds what it touches,
  std::int64_t touched = 0;              ///< … of which these are touched, in bytes.
  std::int64_t start = 0, complete = 0;  ///< Ticks, if all take as long as they may.
  bool starts = true, completes = true;  ///< False: never, for the plan deadlocks before.
  std::vector<NextUse> next;  ///< verify/storage_next.h; none of a use that never starts.
  bool reads() const { return kind == AccessKind::kRead || kind == AccessKind::kAccumulate; }
};

/// A tensor over the storage.
struct AliasView {
  TensorId tensor = kNone<TensorId>;
  std::uint32_t depth = 0;          ///< Views between it and its root: 0 for a root.
  ByteRange bytes;                  ///< In the pool.
  std::vector<std::uint32_t> uses;  ///< In StorageView::uses.
};

/// Why the last use is as late as it is, with the number that says how much.
struct HoldCause {
  enum class Kind : std::uint8_t {
    kViewChain,   ///< It reads through `amount` views; whoever follows direct users misses it.
    kOtherQueue,  ///< It completes `amount` ticks after the others, which read on other queues.
    kSmallPiece,  ///< After all others it holds `amount` bytes of a larger storage.
  };
  Kind kind = Kind::kViewChain;
  std::int64_t amount = 0;
};
std::string_view name(HoldCause::Kind kind);  ///< "view chain", "other queue", "small piece".

struct StorageView {
  StorageId storage = kNone<StorageId>;
  std::int64_t iteration = 0;  ///< Whose slot, and whose uses.
  PoolId pool = kNone<PoolId>;
  ByteRange bytes;
  std::vector<AliasView> aliases;        ///< Bases before their views.
  std::vector<UseView> uses;             ///< In program order.
  bool from_start = false;               ///< It holds an input or a constant from the start,
  bool to_end = false;                   ///< … or something that must be there at the end.
  std::optional<std::uint32_t> blocker;  ///< In `uses`: completes last of those that read, else
                                         ///< write; none without uses that complete.
  std::vector<HoldCause> causes;         ///< Of the blocker; empty: it is merely the last.
  std::int64_t held_from = 0, held_until = 0;  ///< Ticks; `held_until` with to_end: the makespan.
};

/// One case of a plan, walked once: the greatest value of each symbol (the least of one that has no
/// bound, and of all where the greatest cannot be laid out), all conditions true, and of the
/// iterations as many as show how they meet. Views may be asked of it in any number.
class PlanViews {
 public:
  /// All tensors must be placed. Errors: those of `Layout::make`; "view.order" where clocks do not
  /// decide who comes before whom (several queues take from a semaphore; counts too many to sort
  /// out), "view.runs" for strided tensors of too many pieces.
  static Result<PlanViews> make(const Plan& plan);
  PlanViews(PlanViews&&) noexcept;
  PlanViews& operator=(PlanViews&&) noexcept;
  ~PlanViews();

  const Plan& plan() const;
  std::uint32_t iterations() const;  ///< Walked.
  std::int64_t makespan() const;     ///< Ticks, of those iterations.
  bool all_complete() const;         ///< False: the plan deadlocks, later uses are never reached.
  const std::vector<ConditionValue>& when() const;  ///< Empty without conditions.
  const std::vector<SymbolValue>& symbols() const;

  /// `iteration` < iterations().
  StorageView of(StorageId storage, std::int64_t iteration = 0) const;
  /// Those of the storages that an op's tensors lie in, or that it allocates, frees or clobbers
  /// bytes of, each once; none of an op that does nothing of that.
  std::vector<StorageView> of_op(OpId op, std::int64_t iteration = 0) const;
  /// What is held at the tick at which most bytes of the pool are: largest first; of the 200
  /// largest also who comes next.
  struct Peak {
    std::int64_t tick = 0;
    std::int64_t held = 0;     ///< Bytes of the storages below, each byte once.
    std::int64_t highest = 0;  ///< End of the highest storage of the pool: what the plan needs.
    std::vector<StorageView> storages;
  };
  Peak peak(PoolId pool) const;

 private:
  struct Case;
  static Result<PlanViews> make_for(const Plan& plan, const Valuation& values);
  explicit PlanViews(std::unique_ptr<Case> state);
  std::unique_ptr<Case> case_;
};

/// The members of an object that is open: storage, bytes, aliases with their uses, blocker, causes.
void add_storage_view(JsonText& json, const Plan& plan, const StorageView& view);

}  // namespace memverify
