// sim/state.h -- where one run of a Program stands: which instants have happened, and what the
// bytes hold. The plain meaning of section "Runs" of docs/semantics.md, one step at a time; the
// fast search (sim/model.h) is a compiled form of the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/bytes.h"
#include "sim/program.h"

namespace memverify::sim {

enum class Phase : std::uint8_t { kWaiting, kOpen, kDone };

/// The instants of a run so far. `program` must outlive it.
class Execution {
 public:
  explicit Execution(const Program& program);

  Phase phase(CommandId c) const { return phases_[c]; }
  std::size_t done() const { return done_; }
  std::int64_t semaphore(SemaphoreId id) const { return counts_[id]; }

  /// True iff `c` waits and everything its start needs has happened. Amortised O(needs of c); a
  /// count over a queue of any order costs a logarithm.
  bool can_start(CommandId c);
  /// True iff `c` is open and may complete now ([S-16]).
  bool can_finish(CommandId c);
  /// Precondition: can_start(c), can_finish(c).
  void start(CommandId c);
  void finish(CommandId c);

  /// The first need of the next instant of `c` that is not met; nullopt if none is.
  std::optional<Need> unmet_need(CommandId c);
  std::optional<SemaphoreNeed> unmet_semaphore(CommandId c) const;

 private:
  bool met(const Need& need);
  std::uint32_t completed_of(std::uint32_t sequence, std::uint32_t first);

  const Program& program_;
  Table<CommandId, Phase> phases_;
  std::size_t done_ = 0;
  Table<SemaphoreId, std::int64_t> counts_;
  std::vector<std::uint32_t> prefix_;  ///< By sequence: this many first commands have completed.

  /// Of a sequence that some kCount asks about: a Fenwick tree of completions by rank.
  std::vector<std::vector<std::uint32_t>> trees_;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> ranks_;  ///< (sequence, rank)
};

/// What one cell holds.
struct Value {
  enum class Base : std::uint8_t {
    kNothing,
    kInitial,
    kCommand,
    kTorn,    ///< Being written, or written by two at once.
    kOpaque,  ///< An unknown command may have written it.
  };
  Base base = Base::kNothing;
  CommandId command = kNone<CommandId>;
  bool clobbered = false;          ///< What `command` left is of no value to anyone.
  std::vector<CommandId> updates;  ///< Accumulates on top, ascending.
};

/// The versions of all cells. `map` must outlive it.
class Memory {
 public:
  explicit Memory(const ByteMap& map);

  void start(CommandId c);
  void finish(CommandId c);
  Value value(CellId cell) const;

 private:
  struct CellState {
    Value value;
    std::uint32_t open_writes = 0;
    std::uint32_t open_updates = 0;
    std::uint32_t update = 0;  ///< Class of the open updates.
    bool mixed = false;        ///< Those that are open now clash with each other.
    bool opaque = false;
  };
  const ByteMap& map_;
  std::vector<CellState> cells_;
};

/// True iff a reader that expects `expected` is content with `found`.
bool matches(const Value& found, const Expected& expected);

/// The command whose bytes a reader finds where `found` is not `expected` ([S-53]): the last
/// accumulate that should not be there, else the base; kNone if that is no command.
CommandId culprit(const Value& found, const Expected& expected);

/// The unmet need in words: "`load` before it on queue `dma` to complete".
std::string need_words(const Plan& plan, const Program& program, const Need& need);
std::string need_words(const Plan& plan, const SemaphoreNeed& need);

}  // namespace memverify::sim
