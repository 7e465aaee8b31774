// tools/child_process.h -- a child process with pipes, deadlines, and no way to outlive us.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

namespace memverify {

/// A shell command in a process group of its own. Its standard error is ours.
class ChildProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State { kDone, kTimedOut, kEnded };

  explicit ChildProcess(const std::string& command);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();  ///< Kills the group.

  /// Sends `text` while it collects output, until all is sent (kDone), the child no longer reads
  /// (kEnded; what it has written stays) or `deadline`.
  State send(std::string_view text, Time deadline);
  void close_input();
  /// Takes one line, without its end, of the output. kEnded: there is no whole line any more.
  State read_line(std::string& line, Time deadline);
  /// Takes all output until the child closes it.
  State read_all(std::string& text, Time deadline);
  /// Waits for the end; what it was: "" for exit code 0, else "exit code 3" or "signal 11".
  State wait(std::string& how, Time deadline);
  void kill_group();

 private:
  State pump(std::string_view& unsent, Time deadline);

  pid_t pid_ = -1;
  int in_ = -1;   ///< Its standard input.
  int out_ = -1;  ///< Its standard output.
  std::string received_;
};

}  // namespace memverify
