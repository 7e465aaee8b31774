// cuda_check/work.h -- which bytes each command touches, and what it should find there.
//
// The expected writers ([S-42], [S-43]) are worked out here anew, byte range by byte range: for
// each instance of each alias family its writes in program order, and for each read a walk back
// through them (cuda_check/expected.h). Everything becomes *pieces*: byte ranges with one value for
// the whole range. Cost: for each read the writes of its instance, times the ranges of both.
// Tested by tests/device/corpus_test.cpp and tests/device/runs_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuda_check/calls.h"
#include "cuda_check/settled.h"
#include "cuda_check/stamp.h"
#include "plan/layout.h"
#include "plan/result.h"

namespace memverify::device {

/// A range of bytes and what a word of it should hold, up to the hash of its address.
struct Piece {
  PoolId pool = kNone<PoolId>;
  ByteRange bytes;
  std::uint64_t value = 0;            ///< Checks: expected; writes: what is there on completion.
  std::uint32_t expected = 0;         ///< Checks: in Work::expectations.
  TensorId tensor = kNone<TensorId>;  ///< Through which; kNone for bytes of a pool.
  std::uint32_t slot = 0;             ///< Of the tensor's storage.
};

/// They share a byte.
inline bool overlap(const Piece& piece, PoolId pool, ByteRange bytes) {
  return piece.pool == pool && piece.bytes.begin < bytes.end && bytes.begin < piece.bytes.end;
}

/// What one range of one read should hold.
struct Expectation {
  Author base = Author::kNobody;   ///< kNobody: whatever is found is wrong (MV105).
  std::vector<CommandId> updates;  ///< Accumulates on top, in program order.
};

/// An accumulate.
struct Update {
  Range pieces;
  std::uint32_t kind = 0;  ///< Equal kinds commute ([S-40]).
};

/// Slices of Work::pieces.
struct CommandWork {
  Range reads;         ///< Checked on entry.
  Range steady_reads;  ///< Those that it leaves alone itself: checked again before it leaves.
  Range writes;        ///< Clobbers too.
  std::vector<Update> updates;
};

struct Work {
  std::vector<Piece> pieces;
  std::vector<Expectation> expectations;
  Table<CommandId, CommandWork> commands;
  Range initial;                      ///< What holds its value before the program.
  Range end;                          ///< Checked when everything has completed.
  std::uint32_t unchecked_reads = 0;  ///< Of what an unknown command may have written.
  Table<PoolId, ByteRange> pools;     ///< The bytes that are touched at all; multiples of 16.

  std::span<const Piece> slice(Range range) const { return Plan::slice(pieces, range); }
};

inline constexpr std::size_t kMaxPieces = 4'000'000;

/// Error: "device.size" when there are more than kMaxPieces pieces.
Result<Work> make_work(const Plan& plan, const Layout& layout, const Settled& settled,
                       const Calls& calls);

/// Bytes of memory that the pools take.
std::int64_t pool_bytes(const Work& work);

}  // namespace memverify::device
