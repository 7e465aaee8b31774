#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "cuda_check/byte_work.h"
#include "cuda_check/cuda/job.h"
#include "cuda_check/cuda_device.h"
#include "cuda_check/follow.h"

namespace memverify::device {
namespace {

static_assert(static_cast<std::uint32_t>(Look::kOwnUpdate) == 3);

using SteadyClock = std::chrono::steady_clock;

/// What a host function on a stream is given; its writes are seen by what the stream does next.
void CUDART_CB set_on_host(void* flag) { *static_cast<volatile std::uint32_t*>(flag) = 1; }

class GpuDevice : public Device {
 public:
  GpuDevice(const Job& job, Launch launch)
      : job_(job),
        launch_(launch),
        gpu_(job),
        streams_(job.calls.streams.size()),
        own_(job.calls.threads),
        events_(job.calls.events),
        works_(job.calls.commands.size(), 0) {
    for (const Call& call : job.calls.calls) {
      if (call.kind == CallKind::kWork) works_[index(call.command)] = 1;
    }
    const std::string problem = launch == Launch::kGraph ? graph_problem(job.calls) : "";
    if (!problem.empty()) throw std::runtime_error("no graph can be made: " + problem);
  }
  ~GpuDevice() override {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  RunReport run(const Orders& orders) override {
    gpu_.reset(control_.get());
    is_directed_ = orders.director.size() > 0;
    for (const CommandId c : ids(job_.calls.commands)) {
      const Delay delay = orders.delays.empty() ? Delay{} : orders.delays[c];
      gpu_.pauses.host()[2 * index(c)] = nanoseconds(delay.before);
      // "Until nothing else can go on" has no better meaning here than long.
      gpu_.pauses.host()[2 * index(c) + 1] =
          delay.until_idle ? 2'000'000 : nanoseconds(delay.inside);
    }
    Director director = orders.director;
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < job_.calls.threads; ++t) {
      threads.emplace_back([this, t] { submit_all(t); });
    }
    conduct(director, orders.timeout);
    for (std::thread& thread : threads) thread.join();
    cuda_must(cudaDeviceSynchronize(), "running the plan");
    if (!error_.empty()) throw std::runtime_error(error_);
    RunReport report;
    report.steps_done = director.done();
    report.finished = *gpu_.abort.host() == 0;
    if (!report.finished) tell_who_waits(report);
    if (report.finished) finish(report);
    take_wrong_words(report);
    return report;
  }

 private:
  static std::uint64_t nanoseconds(Microseconds time) {
    return static_cast<std::uint64_t>(time.count() * 1000);
  }
  volatile const std::uint32_t* abort() const { return gpu_.abort.device(); }
  cudaStream_t stream_of(const Call& call) const {
    return call.stream == kNoStream ? own_[call.thread].get() : streams_[call.stream].get();
  }

  /// What a submitting thread does.
  void submit_all(std::uint32_t thread) {
    try {
      if (launch_ == Launch::kGraph) {
        launch_graph();
        return;
      }
      for (const Call& call : job_.calls.calls) {
        if (call.thread != thread) continue;
        if (*gpu_.abort.host() != 0) return;
        submit(call);
        if (call.stream == kNoStream && call.kind != CallKind::kSetFlag) {
          cuda_must(cudaStreamSynchronize(own_[thread].get()), "waiting for a stream");
        }
      }
    } catch (const std::runtime_error& error) {
      const std::lock_guard lock(error_mutex_);
      error_ = error.what();
      *gpu_.abort.host() = 1;
    }
  }

  /// Captures all streams, forked from and joined to the control stream, once.
  void launch_graph() {
    if (graph_ == nullptr) {
      cudaGraph_t graph = nullptr;
      CudaEvent fork;
      const cudaStream_t origin = own_[0].get();
      cuda_must(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal), "capturing");
      cuda_must(cudaEventRecord(fork.get(), origin), "cudaEventRecord");
      for (const CudaStream& stream : streams_) {
        cuda_must(cudaStreamWaitEvent(stream.get(), fork.get(), 0), "cudaStreamWaitEvent");
      }
      for (const Call& call : job_.calls.calls) submit(call);
      std::vector<CudaEvent> joins(streams_.size());
      for (std::size_t i = 0; i < streams_.size(); ++i) {
        cuda_must(cudaEventRecord(joins[i].get(), streams_[i].get()), "cudaEventRecord");
        cuda_must(cudaStreamWaitEvent(origin, joins[i].get(), 0), "cudaStreamWaitEvent");
      }
      cuda_must(cudaStreamEndCapture(origin, &graph), "capturing");
      const cudaError_t made = cudaGraphInstantiate(&graph_, graph, 0);
      cudaGraphDestroy(graph);
      cuda_must(made, "cudaGraphInstantiate");
    }
    cuda_must(cudaGraphLaunch(graph_, own_[0].get()), "cudaGraphLaunch");
  }

  void submit(const Call& call) {
    const cudaStream_t stream = stream_of(call);
    const CommandId c = call.command;
    switch (call.kind) {
      case CallKind::kRecordEvent:
        cuda_must(cudaEventRecord(events_[call.event].get(), stream), "cudaEventRecord");
        return;
      case CallKind::kWaitEvent:
        cuda_must(cudaStreamWaitEvent(stream, events_[call.event].get(), 0), "cudaStreamWaitEvent");
        return;
      case CallKind::kSetFlag:
        launch_set(gpu_.flags.device() + call.flag, stream);
        return;
      case CallKind::kWaitFlags:
        launch_wait(gpu_.flags.device() + call.flag, call.flag_end - call.flag, call.least, abort(),
                    stream);
        return;
      case CallKind::kStart:
        gate(CudaJob::kMayStart, c, stream);
        launch_take(gpu_.takes.device() + gpu_.takes_of[c].begin, gpu_.takes_of[c].count,
                    gpu_.semaphores.device(), gpu_.lock.device(), abort(), stream);
        mark(CudaJob::kStarted, c, stream);
        return;
      case CallKind::kWork:
        work(c, stream);
        return;
      case CallKind::kFinish:
        gate(CudaJob::kMayFinish, c, stream);
        launch_give(gpu_.takes.device() + gpu_.gives_of[c].begin, gpu_.gives_of[c].count,
                    gpu_.semaphores.device(), gpu_.lock.device(), stream);
        mark(CudaJob::kFinished, c, stream);
        return;
    }
  }

  void gate(CudaJob::MarkKind kind, CommandId c, cudaStream_t stream) {
    if (is_directed_) launch_wait(gpu_.mark(kind, c), 1, 1, abort(), stream);
  }
  void mark(CudaJob::MarkKind kind, CommandId c, cudaStream_t stream) {
    launch_set(gpu_.mark(kind, c), stream);
  }

  /// Enters, holds still, leaves: as ByteWork does on the host.
  void work(CommandId c, cudaStream_t stream) {
    const CommandChunks& own = gpu_.of(c);
    WrongList* wrong = gpu_.wrong.device();
    const auto check = [&](Look look, const Chunks& chunks) {
      launch_check(gpu_.chunks(chunks), chunks.count, index(c), static_cast<std::uint32_t>(look),
                   wrong, stream);
    };
    const OpId op = job_.calls.commands[c].op;
    const QueueId queue = job_.plan.ops[op].queue;
    const bool on_host =
        queue != kNone<QueueId> && job_.plan.queues[queue].order == QueueOrder::kHost;
    gate(CudaJob::kMayEnter, c, stream);
    launch_pause(gpu_.pauses.device() + 2 * index(c), abort(), stream);
    check(Look::kEntry, own.reads);
    launch_fill(gpu_.chunks(own.entry_writes), own.entry_writes.count, stream);
    for (const CommandChunks::Adding& adding : own.updates) {
      launch_add(gpu_.chunks(adding.half), adding.half.count, stream);
    }
    if (on_host) {
      // The host's part of a host op: a function that the stream runs between the two.
      cuda_must(
          cudaLaunchHostFunc(stream, set_on_host,
                             const_cast<std::uint32_t*>(gpu_.host_mark(CudaJob::kEntered, c))),
          "cudaLaunchHostFunc");
    } else {
      mark(CudaJob::kEntered, c, stream);
    }
    gate(CudaJob::kMayLeave, c, stream);
    launch_pause(gpu_.pauses.device() + 2 * index(c) + 1, abort(), stream);
    check(Look::kLeave, own.steady_reads);
    check(Look::kOwnWrite, own.entry_writes);
    launch_fill(gpu_.chunks(own.writes), own.writes.count, stream);
    for (const CommandChunks::Adding& adding : own.updates) {
      launch_check_since(gpu_.chunks(adding.half), adding.half.count, adding.may_change, index(c),
                         wrong, stream);
      launch_add(gpu_.chunks(adding.rest), adding.rest.count, stream);
    }
  }

  /// Opens gates as the director says, until all has finished or nothing moves any more.
  void conduct(Director& director, std::chrono::milliseconds timeout) {
    std::vector<std::uint32_t> seen(3 * job_.calls.commands.size(), 0);
    std::size_t finished = 0;
    SteadyClock::time_point last = SteadyClock::now();
    while (finished < job_.calls.commands.size() && *gpu_.abort.host() == 0) {
      const std::size_t before = finished;
      bool moved = false;
      for (const CommandId c : ids(job_.calls.commands)) {
        const auto news = [&](CudaJob::MarkKind kind) {
          std::uint32_t& old = seen[3 * index(c) + kind];
          const bool is_new = old == 0 && *gpu_.host_mark(kind, c) != 0;
          old |= is_new ? 1U : 0U;
          moved |= is_new;
          return is_new;
        };
        if (news(CudaJob::kStarted)) director.started(c, works_[index(c)] != 0);
        if (news(CudaJob::kEntered)) director.entered(c);
        if (news(CudaJob::kFinished)) {
          director.finished(c);
          ++finished;
        }
        if (is_directed_) open_gates(director, c);
      }
      if (moved || finished != before) last = SteadyClock::now();
      if (SteadyClock::now() - last > timeout) *gpu_.abort.host() = 1;
      if (!moved) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  void open_gates(const Director& director, CommandId c) {
    if (director.may_start(c)) *gpu_.host_mark(CudaJob::kMayStart, c) = 1;
    if (director.may_enter(c)) *gpu_.host_mark(CudaJob::kMayEnter, c) = 1;
    if (director.may_leave(c)) *gpu_.host_mark(CudaJob::kMayLeave, c) = 1;
    if (director.may_finish(c)) *gpu_.host_mark(CudaJob::kMayFinish, c) = 1;
  }

  /// Lets the mock driver do what has happened, and asks it what is left.
  void tell_who_waits(RunReport& report) const {
    Machine machine(job_.calls);
    const auto happened = [&](const Call& call) {
      if (call.kind == CallKind::kStart)
        return *gpu_.host_mark(CudaJob::kStarted, call.command) != 0;
      if (call.kind == CallKind::kFinish) {
        return *gpu_.host_mark(CudaJob::kFinished, call.command) != 0;
      }
      return true;
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t agent = 0; agent < machine.agents(); ++agent) {
        while (machine.is_ready(agent) &&
               (machine.submits(agent) || happened(*machine.next(agent)))) {
          machine.step(agent);
          moved = true;
        }
      }
    }
    for (std::size_t agent = 0; agent < machine.agents(); ++agent) {
      const Call* call = machine.next(agent);
      if (call == nullptr || machine.is_ready(agent)) continue;
      std::string words = waits_for(job_.plan, job_.calls, *call);
      if (words.empty()) continue;
      report.waiting.push_back(std::move(words));
      if (report.stuck == kNone<CommandId>) report.stuck = call->command;
    }
  }

  void finish(RunReport& report) {
    const cudaStream_t stream = control_.get();
    launch_check(gpu_.chunks(gpu_.end()), gpu_.end().count, index(kNone<CommandId>),
                 static_cast<std::uint32_t>(Look::kEnd), gpu_.wrong.device(), stream);
    cuda_must(cudaStreamSynchronize(stream), "checking the end");
    constexpr std::int64_t kMostForChecksums = std::int64_t{1} << 28;
    if (pool_bytes(job_.work) > kMostForChecksums) return;
    HostMemory copy(job_.work);
    for (const PoolId id : ids(job_.work.pools)) {
      const ByteRange range = job_.work.pools[id];
      cuda_must(cudaMemcpy(copy.words(id), gpu_.pool(id),
                           static_cast<std::size_t>(range.end - range.begin), cudaMemcpyDefault),
                "cudaMemcpy");
    }
    report.checksums = ByteWork(job_.work, copy).checksums();
  }

  /// Words that follow each other with the same author become one mismatch.
  void take_wrong_words(RunReport& report) const {
    const WrongList& list = *gpu_.wrong.host();
    std::vector<WrongWord> words(list.words, list.words + std::min(list.count, WrongList::kMost));
    const auto key = [](const WrongWord& w) {
      return std::tuple(w.command, w.look, w.piece, w.address);
    };
    std::ranges::sort(words,
                      [&](const WrongWord& a, const WrongWord& b) { return key(a) < key(b); });
    for (const WrongWord& word : words) {
      const PoolId pool = job_.work.pieces[word.piece].pool;
      std::int64_t begin = 8;
      std::int64_t end = 0;
      for (std::int64_t j = 0; j < 8; ++j) {
        if ((word.wrong >> (8 * j) & 0xFFU) == 0) continue;
        begin = std::min(begin, j);
        end = j + 1;
      }
      const ByteRange bytes{word.address + begin, word.address + end};
      if (!report.mismatches.empty()) {
        Mismatch& last = report.mismatches.back();
        const bool is_same = last.piece == word.piece && index(last.command) == word.command &&
                             static_cast<std::uint32_t>(last.look) == word.look &&
                             (last.clash.word ^ hash_of(pool, last.clash.address)) ==
                                 (word.word ^ hash_of(pool, word.address)) &&
                             bytes.begin - last.clash.bytes.end < kWordBytes;
        if (is_same) {
          last.clash.bytes.end = bytes.end;
          continue;
        }
      }
      report.mismatches.push_back({.look = static_cast<Look>(word.look),
                                   .command = CommandId{word.command},
                                   .piece = word.piece,
                                   .clash = {bytes, word.address, word.word}});
    }
  }

  const Job job_;
  const Launch launch_;
  CudaJob gpu_;
  std::vector<CudaStream> streams_;
  std::vector<CudaStream> own_;  ///< By thread: for what the thread itself waits for.
  CudaStream control_;
  std::vector<CudaEvent> events_;
  std::vector<char> works_;  ///< By command: it has a kWork.
  cudaGraphExec_t graph_ = nullptr;
  bool is_directed_ = false;
  std::mutex error_mutex_;
  std::string error_;  ///< Of a submitting thread.
};

}  // namespace

std::string cuda_problem() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);  // Else few streams wait for each other.
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count == 0 ? "there is none" : "";
}

std::int64_t cuda_free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  cuda_must(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return static_cast<std::int64_t>(free);
}

std::unique_ptr<Device> make_cuda_device(const Job& job, Launch launch) {
  return std::make_unique<GpuDevice>(job, launch);
}

}  // namespace memverify::device
