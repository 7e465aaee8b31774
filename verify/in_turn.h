// verify/in_turn.h -- tasks that threads share out, with a result that does not depend on them.
//
// Idea: a task starts from what is known after all but the last few tasks before it, whether those
//   are done or not, and what tasks bring is joined in their order. So it is fixed what each task
//   knows, and a few tasks can be done at a time.
// Tested by tests/unit/verify/smt_parts_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace memverify {

template <typename State>
class InTurn {
 public:
  /// `ahead` >= 1 tasks at most are done at a time.
  InTurn(State start, std::size_t tasks, std::size_t ahead) : ahead_(ahead), results_(tasks) {
    after_.push_back(std::move(start));
  }

  /// Calls work(task, state), which goes on from `state`, for each task on up to `threads` threads,
  /// and in the order of tasks join(state, result) under a lock, which returns true if no more is
  /// wanted. The state after the last join. What `work` or `join` throws is thrown here when all
  /// have stopped.
  template <typename Work, typename Join>
  State run(std::size_t threads, const Work& work, const Join& join) {
    {
      std::vector<std::jthread> others;
      const std::size_t most = std::min({threads, ahead_, results_.size()});
      const auto loop = [&] { take_tasks(work, join); };
      for (std::size_t k = 1; k < most; ++k) others.emplace_back(loop);
      loop();
    }
    if (failure_) std::rethrow_exception(failure_);
    return std::move(after_.back());
  }

  /// What is still at work will not be joined. From any thread.
  bool is_over() const { return is_over_; }

 private:
  template <typename Work, typename Join>
  void take_tasks(const Work& work, const Join& join) {
    std::unique_lock lock(lock_);
    while (!is_over_ && next_ < results_.size()) {
      const std::size_t task = next_++;
      const std::size_t known = task + 1 > ahead_ ? task + 1 - ahead_ : 0;
      changed_.wait(lock, [&] { return after_.size() > known || is_over_; });
      if (is_over_) return;
      try {
        State state = after_[known];
        lock.unlock();
        work(task, state);
        lock.lock();
        results_[task].emplace(std::move(state));
        join_results(join);
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        if (!failure_) failure_ = std::current_exception();
        is_over_ = true;
      }
      changed_.notify_all();
    }
  }

  template <typename Join>
  void join_results(const Join& join) {
    while (!is_over_ && after_.size() <= results_.size() && results_[after_.size() - 1]) {
      State state = after_.back();
      const bool enough = join(state, std::move(*results_[after_.size() - 1]));
      after_.push_back(std::move(state));
      is_over_ = enough;
    }
  }

  std::size_t ahead_;
  std::mutex lock_;  ///< Of all below.
  std::condition_variable changed_;
  std::size_t next_ = 0;  ///< Task.
  std::vector<std::optional<State>> results_;
  std::vector<State> after_;  ///< [n]: the first n tasks.
  std::exception_ptr failure_;
  std::atomic<bool> is_over_ = false;
};

}  // namespace memverify
