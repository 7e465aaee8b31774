// cuda_check/cuda/kernels.h -- the kernels of the CUDA device, as host functions that launch them.
//
// Pieces are cut into chunks, so that one launch does all of a command's pieces whatever their
// sizes; whole 16-byte lines are moved by one access each, ends byte by byte. Loads are `ld.cv`
// (fetch again), stores `st.wt` (write through): no cache of an SM can hide a race or show a stale
// value. Every wait ends when `*abort` is set. All pointers are device pointers unless they say
// otherwise.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda_check/work.h"

namespace memverify::device {

inline constexpr std::int64_t kChunkBytes = std::int64_t{1} << 18;

/// A part of a piece. `line` is where the 16-byte line that holds address `begin` lies.
struct Chunk {
  std::uint8_t* line = nullptr;
  std::int64_t begin = 0;  ///< Addresses in the pool.
  std::int64_t end = 0;
  std::uint64_t pool = 0;
  std::uint64_t code = 0;           ///< Written, expected or added.
  std::uint64_t* before = nullptr;  ///< Updates: what words held, by word from that of `begin`.
  std::uint32_t piece = 0;
};

/// A word that is wrong.
struct WrongWord {
  std::int64_t address = 0;
  std::uint64_t word = 0;
  std::uint64_t wrong = 0;  ///< Its wrong bits.
  std::uint32_t piece = 0;
  std::uint32_t command = 0;
  std::uint32_t look = 0;
};

/// In host-mapped memory.
struct WrongList {
  static constexpr std::uint32_t kMost = 4096;
  std::uint32_t count = 0;  ///< May exceed kMost; only so many are kept.
  WrongWord words[kMost];
};

struct DeviceTake {
  std::uint32_t semaphore = 0;
  std::uint32_t consume = 0;
  std::int64_t value = 0;
};

void launch_fill(const Chunk* chunks, std::uint32_t count, cudaStream_t stream);
void launch_check(const Chunk* chunks, std::uint32_t count, std::uint32_t command,
                  std::uint32_t look, WrongList* wrong, cudaStream_t stream);
/// Adds `code` without carry; keeps what was there where a chunk has `before`.
void launch_add(const Chunk* chunks, std::uint32_t count, cudaStream_t stream);
/// What changed since `before` besides `code` and the bits of `may_change`.
void launch_check_since(const Chunk* chunks, std::uint32_t count, std::uint64_t may_change,
                        std::uint32_t command, WrongList* wrong, cudaStream_t stream);
/// Sets all words of [begin, end) to the pattern of memory that nothing has written.
void launch_clear(std::uint8_t* at, std::int64_t begin, std::int64_t end, std::uint64_t pool,
                  cudaStream_t stream);

/// Sets a flag; waits for `least` of [flags, flags + count).
void launch_set(volatile std::uint32_t* flag, cudaStream_t stream);
void launch_wait(volatile const std::uint32_t* flags, std::uint32_t count, std::uint32_t least,
                 volatile const std::uint32_t* abort, cudaStream_t stream);
/// Takes from semaphores, all at once; `lock` is 0 while nobody holds it.
void launch_take(const DeviceTake* takes, std::uint32_t count, long long* semaphores,
                 std::uint32_t* lock, volatile const std::uint32_t* abort, cudaStream_t stream);
/// Adds, or for a timeline (`consume` != 0) keeps the maximum.
void launch_give(const DeviceTake* gives, std::uint32_t count, long long* semaphores,
                 std::uint32_t* lock, cudaStream_t stream);
/// Holds still for `*nanoseconds`, in host-mapped memory.
void launch_pause(volatile const std::uint64_t* nanoseconds, volatile const std::uint32_t* abort,
                  cudaStream_t stream);

}  // namespace memverify::device
