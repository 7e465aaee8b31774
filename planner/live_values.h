// planner/live_values.h -- what is to be kept in which bytes, from when to when.
//
// Problem: a tensor's bytes do not all live equally long, and between its last read and its next
//   write a byte is free for others.
// Idea: the accesses of every byte in the order of a walk, cut before each write: a *value* is one
//   write with all that reads it or accumulates onto it. Bytes with the same accesses are one
//   segment. Walk order is as good as any, for in a graph that is safe with its tensors apart
//   conflicting accesses of a byte have the same order in every run.
// Cost: O(accesses * pieces that they are cut into), plus a sort.
// Tested by tests/unit/planner/plan_graph_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "planner/problem.h"
#include "verify/footprint.h"
#include "verify/order.h"
#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {

/// Where the bytes of a program belong: to a buffer that can move, or to a fixed place in a pool.
class BufferMap {
 public:
  /// A buffer that can move has the bytes `[address, address + bytes)` of pool `scratch`; buffers
  /// are added in ascending order of address.
  explicit BufferMap(PoolId scratch) : scratch_(scratch) {}
  BufferIndex add(std::int64_t address);
  std::size_t movable() const { return addresses_.size(); }

  struct Fixed {
    PoolId pool = kNone<PoolId>;
    ByteRange bytes;
  };
  /// The fixed places met so far; their buffers are numbered from `movable()` on.
  std::span<const Fixed> fixed() const { return fixed_; }

  /// The buffer of a range that lies in one, and the place of the range in it.
  BufferIndex find(PoolId pool, ByteRange& range);

 private:
  PoolId scratch_;
  std::vector<std::int64_t> addresses_;
  std::vector<Fixed> fixed_;
  std::map<std::tuple<PoolId, std::int64_t, std::int64_t>, BufferIndex> index_of_fixed_;
};

struct LiveValue {
  BufferIndex buffer = 0;
  ByteRange bytes;          ///< In the buffer; not empty.
  bool from_start = false;  ///< It is there before the program starts.
  bool to_end = false;      ///< It must be there when the program has ended.
  Items firsts;             ///< Every access comes after one of these, unless `from_start`.
  Items lasts;              ///< When these have completed, so have all accesses.
};

struct LiveValues {
  std::vector<LiveValue> values;
  std::vector<Cmd> cmds;
  std::span<const Cmd> firsts(const LiveValue& v) const {
    return std::span(cmds).subspan(v.firsts.begin, v.firsts.end - v.firsts.begin);
  }
  std::span<const Cmd> lasts(const LiveValue& v) const {
    return std::span(cmds).subspan(v.lasts.begin, v.lasts.end - v.lasts.begin);
  }
};

/// `walk` must have completed everything, and the program be safe. `ignored`, by buffer, are left
/// out.
LiveValues live_values(const Program& program, const Walk& walk, const Order& order,
                       const Footprints& footprints, BufferMap& buffers,
                       const std::vector<std::uint8_t>& ignored);

}  // namespace memverify
