// tests/support/random_draft.h -- what tests/support/random_plan.cpp draws a plan from: first the
// declarations, then commands, each of which waits for those that it must come after.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_plan.h"

namespace memverify::testing {

using Address = std::pair<std::size_t, std::int64_t>;  // Pool and byte.

struct StorageDraft {
  std::string id;
  std::size_t pool = 0;
  std::vector<std::int64_t> slots;
  std::int64_t bytes = 0;
  bool allocated = false;
};

struct TensorDraft {
  std::string id;
  std::size_t storage = 0;
  int root = 0;
  bool broadcast = false;           // Two elements share a byte: never written.
  std::vector<std::int64_t> bytes;  // From the start of the slot.
};

/// A command as far as its order matters.
struct CommandDraft {
  std::string id;
  std::string queue;
  std::set<Address> reads;   // In every slot.
  std::set<Address> writes;  // alloc and free count as writes.
};

/// Pools, queues, storages, tensors, symbols and conditions.
class Declarations {
 protected:
  explicit Declarations(std::uint64_t seed) : draw_(seed) {}

  std::string fresh(const std::string& stem) { return stem + std::to_string(next_[stem]++); }
  void symbols_and_conditions();
  /// `value`, now and then as an expression that comes to it, or to less for small symbol values.
  PlanJson number(std::int64_t value);
  void pools();
  void queues();
  std::string some_queue();
  const PlanJson& queue(const std::string& id) const;
  bool serial(const std::string& id) const;
  void storages();
  void tensors();
  void add_root(std::size_t s);
  void add_view(std::size_t base_index);

  Draw draw_;
  PlanJson plan_;
  std::int64_t iterations_ = 1;
  std::map<std::string, int> next_;
  std::vector<std::int64_t> alignment_;  ///< Per pool.
  std::vector<std::int64_t> end_;        ///< Per pool, the highest storage end.
  std::vector<StorageDraft> storages_;
  std::vector<TensorDraft> tensors_;
};

/// The ways in which one command can wait for another.
class Sync : protected Declarations {
 protected:
  using Declarations::Declarations;

  PlanJson& op_named(const std::string& id);
  PlanJson command(const std::string& kind);
  /// Lets `later`, whose op is `json`, wait for `earlier` in one of the format's ways.
  void join(const CommandDraft& earlier, const CommandDraft& later, PlanJson& json);
  void join_by_count(PlanJson& before, PlanJson& json, bool consume);
  void join_by_timeline(PlanJson& before, PlanJson& json);
  /// All of the queue's ops up to `earlier`: what was submitted after it may be under way.
  PlanJson by_queue(const CommandDraft& earlier, const std::string& how);
  void host_wait(const CommandDraft& earlier, PlanJson& before, const PlanJson& json);
};

}  // namespace memverify::testing
