#include "cuda_check/threads_device.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "cuda_check/byte_work.h"

namespace memverify::device {
namespace {

using Clock = std::chrono::steady_clock;
using Lock = std::unique_lock<std::mutex>;
constexpr std::size_t kNoAgent = ~std::size_t{0};

/// What an agent is in the middle of.
struct Agent {
  bool busy = false;    ///< A worker touches bytes for it.
  bool inside = false;  ///< Its kWork has entered.
  bool held = false;    ///< Until nothing else can go on.
  Clock::time_point resume{};
  std::vector<std::uint64_t> before;  ///< See ByteWork::enter.
};

/// The state of one run; all of it is guarded by the device's lock.
struct Run {
  Run(const Job& job, const Orders& how)
      : orders(how), director(how.director), machine(job.calls), agents(machine.agents()) {}
  const Orders& orders;
  Director director;
  Machine machine;
  std::vector<Agent> agents;
  RunReport report;
  std::size_t turn = 0;  ///< Where to look for an agent first.
  unsigned busy = 0;
  bool over = false;
};

class ThreadsDevice : public Device {
 public:
  ThreadsDevice(const Job& job, unsigned workers)
      : job_(job),
        memory_(job.work),
        bytes_(job.work, memory_),
        lifetimes_(job.plan, job.layout, job.calls, job.work),
        works_(job.calls.commands.size(), 0) {
    for (const Call& call : job.calls.calls) {
      if (call.kind == CallKind::kWork) works_[index(call.command)] = 1;
    }
    for (unsigned i = 0; i < workers; ++i) {
      workers_.emplace_back([this] { serve(); });
    }
  }
  ~ThreadsDevice() override {
    {
      const Lock lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  ThreadsDevice(const ThreadsDevice&) = delete;
  ThreadsDevice& operator=(const ThreadsDevice&) = delete;

  RunReport run(const Orders& orders) override {
    memory_.reset(job_.work);
    Run run(job_, orders);
    Lock lock(mutex_);
    run.turn = run.agents.empty() ? 0 : orders.seed % run.agents.size();
    run_ = &run;
    while (!run.over) work_or_wait(lock);
    while (run.busy > 0) changed_.wait(lock);
    run_ = nullptr;
    lock.unlock();
    run.report.steps_done = run.director.done();
    if (run.report.finished) finish(run.report);
    return std::move(run.report);
  }

 private:
  void serve() {
    Lock lock(mutex_);
    while (!closing_) {
      if (run_ != nullptr && !run_->over) {
        work_or_wait(lock);
      } else {
        ++waiting_;
        changed_.wait(lock);
        --waiting_;
      }
    }
  }

  /// Does one thing for some agent, or waits until there may be one to do something for.
  void work_or_wait(Lock& lock) {
    Run& run = *run_;
    std::optional<Clock::time_point> next;
    const std::size_t agent = pick(run, next);
    if (agent != kNoAgent) {
      const bool is_work_for_two = waiting_ > 0 && find(run, agent, next) != kNoAgent;
      if (is_work_for_two || (next && waiting_ > 0 && timed_ == 0)) changed_.notify_one();
      advance(run, agent, lock);
      return;
    }
    if (run.busy == 0 && !next) {
      if (!release_held(run)) end(run);
      return;
    }
    ++waiting_;
    if (next) {
      ++timed_;
      changed_.wait_until(lock, *next);
      --timed_;
    } else {
      changed_.wait(lock);
    }
    --waiting_;
  }

  std::size_t pick(Run& run, std::optional<Clock::time_point>& next) {
    const std::size_t agent = find(run, kNoAgent, next);
    if (agent != kNoAgent) run.turn = agent;
    return agent;
  }

  /// An agent that can go on, other than `except`; or when the first one may.
  std::size_t find(const Run& run, std::size_t except,
                   std::optional<Clock::time_point>& next) const {
    const Clock::time_point now = Clock::now();
    for (std::size_t i = 0; i < run.agents.size(); ++i) {
      const std::size_t agent = (run.turn + i) % run.agents.size();
      if (agent == except || !can_go_on(run, agent)) continue;
      const Clock::time_point resume = run.agents[agent].resume;
      if (resume <= now) return agent;
      if (!next || resume < *next) next = resume;
    }
    return kNoAgent;
  }

  /// Delays aside.
  static bool can_go_on(const Run& run, std::size_t agent) {
    const Agent& state = run.agents[agent];
    if (state.busy || state.held || !run.machine.is_ready(agent)) return false;
    if (run.machine.submits(agent)) return true;
    const Call& call = *run.machine.next(agent);
    switch (call.kind) {
      case CallKind::kStart:
        return run.director.may_start(call.command);
      case CallKind::kWork:
        return state.inside ? run.director.may_leave(call.command)
                            : run.director.may_enter(call.command);
      case CallKind::kFinish:
        return run.director.may_finish(call.command);
      case CallKind::kRecordEvent:
      case CallKind::kWaitEvent:
      case CallKind::kSetFlag:
      case CallKind::kWaitFlags:
        return true;
    }
    return true;
  }

  void advance(Run& run, std::size_t agent, Lock& lock) {
    if (run.machine.submits(agent)) {
      run.machine.step(agent);
      return;
    }
    const Call& call = *run.machine.next(agent);
    if (call.kind == CallKind::kWork) {
      touch(run, agent, call.command, lock);
      return;
    }
    if (call.kind == CallKind::kStart) note_lifetimes(run, call.command);
    run.machine.step(agent);
    const bool is_finish = call.kind == CallKind::kFinish;
    if (is_finish || call.kind == CallKind::kStart) {
      run.report.instants.push_back({call.command, is_finish});
    }
    if (call.kind == CallKind::kStart) {
      const bool works = works_[index(call.command)] != 0;
      run.director.started(call.command, works);
      if (works) pause(run.agents[agent], delay_of(run, call.command).before);
    } else if (is_finish) {
      run.director.finished(call.command);
    }
  }

  /// Enters or leaves, without the lock.
  void touch(Run& run, std::size_t agent, CommandId command, Lock& lock) {
    Agent& state = run.agents[agent];
    std::vector<Mismatch> found;
    state.busy = true;
    ++run.busy;
    lock.unlock();
    if (state.inside) {
      bytes_.leave(command, state.before, found);
    } else {
      bytes_.enter(command, state.before, found);
    }
    lock.lock();
    --run.busy;
    state.busy = false;
    for (const Mismatch& mismatch : found) add(run, mismatch);
    if (state.inside) {
      state.inside = false;
      run.machine.step(agent);
    } else {
      state.inside = true;
      const Delay delay = delay_of(run, command);
      state.held = delay.until_idle;
      pause(state, delay.inside);
      run.director.entered(command);
    }
    if (run.over) changed_.notify_all();
  }

  static Delay delay_of(const Run& run, CommandId command) {
    return run.orders.delays.empty() ? Delay{} : run.orders.delays[command];
  }
  static void pause(Agent& state, Microseconds delay) {
    if (delay.count() <= 0) return;
    state.resume = Clock::now() + std::chrono::duration_cast<Clock::duration>(delay);
  }

  static bool release_held(Run& run) {
    bool any = false;
    for (Agent& agent : run.agents) {
      any |= agent.held;
      agent.held = false;
    }
    return any;
  }

  /// Nothing can go on.
  void end(Run& run) {
    run.over = true;
    run.report.finished = run.machine.is_finished();
    for (std::size_t agent = 0; agent < run.agents.size() && !run.report.finished; ++agent) {
      const Call* call = run.machine.next(agent);
      if (call == nullptr || run.machine.is_ready(agent)) continue;
      std::string words = waits_for(job_.plan, job_.calls, *call);
      if (words.empty()) continue;
      run.report.waiting.push_back(std::move(words));
      if (run.report.stuck == kNone<CommandId>) run.report.stuck = call->command;
    }
    changed_.notify_all();
  }

  void finish(RunReport& report) {
    bytes_.end(report.mismatches);
    for (Mismatch& mismatch : report.mismatches) {
      if (mismatch.look == Look::kEnd) mismatch.at = report.instants.size();
    }
    for (const LifetimeClash& clash : lifetimes_.at_end()) {
      report.mismatches.push_back({.look = Look::kLifetime, .lifetime = clash});
    }
    report.checksums = bytes_.checksums();
  }

  static constexpr std::size_t kMostMismatches = 1000;  ///< Of one run.
  static void add(Run& run, const Mismatch& mismatch) {
    if (run.report.mismatches.size() == kMostMismatches) return;
    run.report.mismatches.push_back(mismatch);
    run.report.mismatches.back().at = run.report.instants.size();
  }
  void note_lifetimes(Run& run, CommandId command) const {
    for (const LifetimeClash& clash : lifetimes_.at_start(command, run.machine)) {
      add(run, {.look = Look::kLifetime, .command = command, .lifetime = clash});
    }
  }

  const Job job_;
  HostMemory memory_;
  ByteWork bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const Lifetimes lifetimes_;
  std::vector<char> works_;  ///< By command: it has a kWork.
  Run* run_ = nullptr;
  unsigned waiting_ = 0;  ///< Threads that wait for something to do …
  unsigned timed_ = 0;    ///< … and of those the ones that a delay will wake up.
  bool closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace

std::unique_ptr<Device> make_threads_device(const Job& job, unsigned workers) {
  return std::make_unique<ThreadsDevice>(job, workers);
}

}  // namespace memverify::device
