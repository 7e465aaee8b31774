#include "cuda_check/cuda/job.h"

#include <algorithm>
#include <cstring>

#include "cuda_check/byte_work.h"

namespace memverify::device {
namespace {

std::uint64_t value_of(CommandId, const Piece& piece) { return piece.value; }

/// Pools that host queues touch lie in host memory, which both see.
std::vector<bool> touched_by_host(const Job& job) {
  std::vector<bool> touched(job.plan.pools.size(), false);
  for (const CommandId c : ids(job.calls.commands)) {
    const Op& op = job.plan.ops[job.calls.commands[c].op];
    if (op.queue == kNone<QueueId> || job.plan.queues[op.queue].order != QueueOrder::kHost)
      continue;
    const CommandWork& own = job.work.commands[c];
    std::vector<Range> all{own.reads, own.writes};
    for (const Update& update : own.updates) all.push_back(update.pieces);
    for (const Range range : all) {
      for (const Piece& piece : job.work.slice(range)) touched[index(piece.pool)] = true;
    }
  }
  return touched;
}

}  // namespace

CudaJob::CudaJob(const Job& job)
    : flags(std::max<std::size_t>(job.calls.flags, 1), true),
      abort(1, true),
      pauses(2 * job.calls.commands.size(), true),
      wrong(1, true),
      lock(1, false),
      job_(job),
      marks_(kMarkKinds * job.calls.commands.size(), true) {
  const std::vector<bool> on_host = touched_by_host(job);
  for (const PoolId pool : ids(job.work.pools)) {
    const ByteRange range = job.work.pools[pool];
    pools_.push_back(CudaArray<std::uint8_t>(static_cast<std::size_t>(range.end - range.begin),
                                             on_host[index(pool)]));
  }
  std::size_t words = 0;
  for (const CommandWork& own : job.work.commands) {
    for (const Update& update : own.updates) {
      for (const Piece& piece : job.work.slice(update.pieces)) words += words_of(piece);
    }
  }
  before_ = CudaArray<std::uint64_t>(words, false);
  Maker out;
  commands_.resize(job.calls.commands.size());
  for (const CommandId c : ids(job.calls.commands)) {
    const CommandWork& own = job.work.commands[c];
    CommandChunks& chunks = commands_[c];
    chunks.reads = add(own.reads, value_of, c, true, out);
    chunks.steady_reads = add(own.steady_reads, value_of, c, true, out);
    chunks.entry_writes = add(own.writes, entry_code, c, false, out);
    chunks.writes = add(own.writes, value_of, c, false, out);
    add_updates(c, out);
  }
  initial_ = add(job.work.initial, value_of, kNone<CommandId>, false, out);
  end_ = add(job.work.end, value_of, kNone<CommandId>, true, out);
  chunks_ = CudaArray<Chunk>(out.size(), false);
  cuda_must(
      cudaMemcpy(chunks_.device(), out.data(), out.size() * sizeof(Chunk), cudaMemcpyHostToDevice),
      "cudaMemcpy");
  make_semaphores();
}

Chunks CudaJob::add(Range pieces, std::uint64_t (*code)(CommandId, const Piece&), CommandId c,
                    bool is_check, Maker& out) {
  Chunks slice{static_cast<std::uint32_t>(out.size()), 0};
  for (std::uint32_t i = pieces.begin; i < pieces.end; ++i) {
    const Piece& piece = job_.work.pieces[i];
    std::uint64_t value = code(c, piece);
    if (is_check && job_.work.expectations[piece.expected].base == Author::kNobody) {
      value = ~value;  // Where nothing is ever written no value is right.
    }
    const std::int64_t origin = job_.work.pools[piece.pool].begin;
    for (std::int64_t at = piece.bytes.begin; at < piece.bytes.end;) {
      const std::int64_t line = at & ~std::int64_t{15};
      const std::int64_t end = std::min(piece.bytes.end, line + kChunkBytes);
      out.push_back({.line = pools_[piece.pool].device() + (line - origin),
                     .begin = at,
                     .end = end,
                     .pool = index(piece.pool),
                     .code = value,
                     .piece = i});
      at = end;
    }
  }
  slice.count = static_cast<std::uint32_t>(out.size()) - slice.begin;
  return slice;
}

void CudaJob::add_updates(CommandId c, Maker& out) {
  for (const Update& update : job_.work.commands[c].updates) {
    const Amount amount = amount_of(c, update.kind);
    CommandChunks::Adding adding{.may_change = update_mask(update.kind)};
    adding.half = add(update.pieces, value_of, c, false, out);
    for (std::uint32_t i = 0; i < adding.half.count; ++i) {
      Chunk& chunk = out[adding.half.begin + i];
      chunk.code = amount.half;
      chunk.before = before_.device() + next_word_;
      next_word_ += static_cast<std::size_t>(((chunk.end + 7) & ~std::int64_t{7}) -
                                             (chunk.begin & ~std::int64_t{7})) /
                    8;
    }
    adding.rest = {static_cast<std::uint32_t>(out.size()), adding.half.count};
    for (std::uint32_t i = 0; i < adding.half.count; ++i) {
      Chunk chunk = out[adding.half.begin + i];
      chunk.code = amount.half ^ amount.whole;
      chunk.before = nullptr;
      out.push_back(chunk);
    }
    commands_[c].updates.push_back(adding);
  }
}

void CudaJob::make_semaphores() {
  std::vector<DeviceTake> all;
  takes_of.resize(job_.calls.commands.size());
  gives_of.resize(job_.calls.commands.size());
  for (const CommandId c : ids(job_.calls.commands)) {
    takes_of[c].begin = static_cast<std::uint32_t>(all.size());
    for (const Take& take : job_.calls.takes[c]) {
      all.push_back({index(take.semaphore), take.consume ? 1U : 0U, take.value});
    }
    takes_of[c].count = static_cast<std::uint32_t>(all.size()) - takes_of[c].begin;
    gives_of[c].begin = static_cast<std::uint32_t>(all.size());
    for (const Give& give : job_.calls.gives[c]) {
      const bool timeline = job_.calls.semaphores[give.semaphore].timeline;
      all.push_back({index(give.semaphore), timeline ? 1U : 0U, give.value});
    }
    gives_of[c].count = static_cast<std::uint32_t>(all.size()) - gives_of[c].begin;
  }
  takes = CudaArray<DeviceTake>(all.size(), false);
  cuda_must(cudaMemcpy(takes.device(), all.data(), all.size() * sizeof(DeviceTake),
                       cudaMemcpyHostToDevice),
            "cudaMemcpy");
  semaphores = CudaArray<long long>(job_.calls.semaphores.size(), false);
}

void CudaJob::reset(cudaStream_t stream) {
  std::memset(flags.host(), 0, flags.size() * sizeof(std::uint32_t));
  std::memset(marks_.host(), 0, marks_.size() * sizeof(std::uint32_t));
  *abort.host() = 0;
  wrong.host()->count = 0;
  std::vector<long long> counts;
  for (const SemaphoreStart& start : job_.calls.semaphores) counts.push_back(start.value);
  cuda_must(cudaMemcpyAsync(semaphores.device(), counts.data(), counts.size() * sizeof(long long),
                            cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
  cuda_must(cudaMemsetAsync(lock.device(), 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  for (const PoolId id : ids(job_.work.pools)) {
    const ByteRange range = job_.work.pools[id];
    launch_clear(pool(id), range.begin, range.end, index(id), stream);
  }
  launch_fill(chunks(initial_), initial_.count, stream);
  cuda_must(cudaStreamSynchronize(stream), "resetting the pools");
}

}  // namespace memverify::device
