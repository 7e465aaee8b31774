// sim/reach.h -- which commands may touch a window of bytes.
//
// Idea: the hulls of all accesses, sorted by where they begin, with the furthest end so far beside
// each: from the last one that begins before the window's end, go back until nothing reaches into
// it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/bytes.h"

namespace memverify::sim {

class Reach {
 public:
  /// What `setting` holds must outlive it. Cost: O(a log a) for a accesses, each as often as its
  /// storage has slots; 32 bytes for each.
  explicit Reach(const Setting& setting);

  /// Ascending: the commands that have an access whose hull meets the window, every alloc, and the
  /// unknown commands that may touch anything. The hull counts in every slot. Cost: linear in them,
  /// and in the hulls between, times a logarithm.
  std::vector<CommandId> commands_in(const Window& window) const;

  /// Of the plan, as one_for_all().
  const Table<TensorId, std::uint8_t>& one_for_all() const { return one_for_all_; }

 private:
  struct Hull {
    ByteRange bytes;
    std::int64_t furthest = 0;  ///< Where this one or one before it ends last.
    OpId op = kNone<OpId>;
  };
  void add_hulls(OpId op, const Access& access);

  const Plan& plan_;
  const Layout& layout_;
  const Program& program_;
  Table<TensorId, std::uint8_t> one_for_all_;
  std::map<PoolId, std::vector<Hull>> hulls_;  ///< By begin.
  std::vector<OpId> always_;
};

}  // namespace memverify::sim
