// cuda_check/lifetimes.h -- storages that are alloc'ed and freed while a plan runs ([S-33],
// [S-34]).
//
// Bytes do not tell whether they were allocated, so this is asked of the instants of the run: an
// access starts after the alloc it belongs to is done, and has completed when the next free starts.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cuda_check/machine.h"
#include "plan/layout.h"

namespace memverify::device {

struct Work;

/// A storage that is not alive when it should be.
struct LifetimeClash {
  StorageId storage = kNone<StorageId>;
  TensorId tensor = kNone<TensorId>;   ///< Of the access; kNone between allocs and frees.
  CommandId other = kNone<CommandId>;  ///< Which the command clashes with, if it is one.
};

class Lifetimes {
 public:
  /// Cost: linear in the commands and the pieces.
  Lifetimes(const Plan& plan, const Layout& layout, const Calls& calls, const Work& work);

  /// What is wrong in the instant before `command` starts.
  std::vector<LifetimeClash> at_start(CommandId command, const Machine& machine) const;
  /// What is dead when everything has completed though it is read then.
  const std::vector<LifetimeClash>& at_end() const { return at_end_; }

 private:
  enum class Fault : std::uint8_t { kAlways, kUnlessDone, kIfBegun, kIfOpen };
  struct Check {
    Fault fault;
    LifetimeClash clash;  ///< `other` is who the fault depends on.
  };
  using Slot = std::pair<StorageId, std::uint32_t>;

  void add_bracket(CommandId command, const Slot& slot);
  void add_accesses(CommandId command, Range pieces);
  void add_end(Range pieces);
  std::size_t after_alloc(const std::vector<CommandId>& all, CommandId before) const;

  const Plan& plan_;
  const Calls& calls_;
  const Work& work_;
  std::map<Slot, std::vector<CommandId>> brackets_;  ///< Allocs and frees in program order.
  std::vector<char> allocated_;                      ///< By storage: some op allocs it.
  std::vector<char> freed_;
  Table<CommandId, std::vector<Check>> checks_;
  std::vector<LifetimeClash> at_end_;

  bool is_alloc(CommandId command) const;
};

}  // namespace memverify::device
