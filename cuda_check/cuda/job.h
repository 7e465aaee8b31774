// cuda_check/cuda/job.h -- a job's memory and tables on the GPU.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "cuda_check/cuda/buffers.h"
#include "cuda_check/cuda/kernels.h"
#include "cuda_check/device.h"

namespace memverify::device {

/// A slice of the chunk table.
struct Chunks {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
};

/// What the kernels of one command work on.
struct CommandChunks {
  Chunks reads, steady_reads, entry_writes, writes;
  struct Adding {
    Chunks half, rest;  ///< The same pieces with what is added on entry, and the rest of it.
    std::uint64_t may_change = 0;
  };
  std::vector<Adding> updates;
};

/// Pools, chunks, flags, marks and semaphores. Marks are words in host-mapped memory by command:
/// what has happened, and, in a directed run, what may.
class CudaJob {
 public:
  explicit CudaJob(const Job& job);

  /// As before the program. Nothing may run.
  void reset(cudaStream_t stream);
  const Chunk* chunks(const Chunks& slice) const { return chunks_.device() + slice.begin; }
  const CommandChunks& of(CommandId c) const { return commands_[c]; }
  const Chunks& end() const { return end_; }
  std::uint8_t* pool(PoolId id) const { return pools_[id].device(); }

  enum MarkKind : std::uint32_t {
    kStarted,
    kEntered,
    kFinished,
    kMayStart,
    kMayEnter,
    kMayLeave,
    kMayFinish,
    kMarkKinds
  };
  volatile std::uint32_t* mark(MarkKind kind, CommandId c) const {
    return marks_.device() + mark_index(kind, c);
  }
  volatile std::uint32_t* host_mark(MarkKind kind, CommandId c) const {
    return marks_.host() + mark_index(kind, c);
  }

  CudaArray<std::uint32_t> flags;   ///< Mapped.
  CudaArray<std::uint32_t> abort;   ///< Mapped, one.
  CudaArray<std::uint64_t> pauses;  ///< Mapped, two by command: before, inside.
  CudaArray<WrongList> wrong;       ///< Mapped, one.
  CudaArray<long long> semaphores;
  CudaArray<std::uint32_t> lock;
  CudaArray<DeviceTake> takes;
  Table<CommandId, Chunks> takes_of, gives_of;  ///< In `takes`.

 private:
  std::size_t mark_index(MarkKind kind, CommandId c) const {
    return static_cast<std::size_t>(kind) * job_.calls.commands.size() + index(c);
  }
  using Maker = std::vector<Chunk>;
  Chunks add(Range pieces, std::uint64_t (*code)(CommandId, const Piece&), CommandId c,
             bool is_check, Maker& out);
  void add_updates(CommandId c, Maker& out);
  void make_semaphores();

  const Job& job_;
  Table<PoolId, CudaArray<std::uint8_t>> pools_;
  Table<CommandId, CommandChunks> commands_;
  Chunks initial_, end_;
  CudaArray<Chunk> chunks_;
  CudaArray<std::uint64_t> before_;
  CudaArray<std::uint32_t> marks_;
  std::size_t next_word_ = 0;  ///< In `before_`, while the chunks are made.
};

}  // namespace memverify::device
