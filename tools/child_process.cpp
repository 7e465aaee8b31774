#include "tools/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

namespace memverify {
namespace {

/// What the child has closed must not end us.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() { sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_ = {};
};

int left_ms(ChildProcess::Time deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, 1'000'000));
}

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

ChildProcess::ChildProcess(const std::string& command) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  if (pipe2(to.data(), O_CLOEXEC) != 0 || pipe2(from.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  const int error = errno;
  close(to[0]);
  close(from[1]);
  in_ = to[1];
  out_ = from[0];
  if (pid_ < 0) throw std::system_error(error, std::generic_category(), "fork");
  setpgid(pid_, pid_);
  fcntl(in_, F_SETFL, O_NONBLOCK);
  fcntl(out_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  close_fd(in_);
  close_fd(out_);
  kill_group();
}

void ChildProcess::kill_group() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void ChildProcess::close_input() { close_fd(in_); }

/// Moves bytes until something is sent or received. kEnded: the output is closed.
ChildProcess::State ChildProcess::pump(std::string_view& unsent, Time deadline) {
  std::array<pollfd, 2> ready = {{{out_, POLLIN, 0}, {unsent.empty() ? -1 : in_, POLLOUT, 0}}};
  const int count = poll(ready.data(), ready.size(), left_ms(deadline));
  if (count == 0) return State::kTimedOut;
  if (count < 0) return errno == EINTR ? State::kDone : State::kEnded;
  if (ready[0].revents != 0) {
    std::array<char, 65536> bytes{};
    const ssize_t got = ::read(out_, bytes.data(), bytes.size());
    if (got == 0) return State::kEnded;
    if (got > 0) received_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  if (ready[1].revents != 0) {
    const NoPipeSignal guard;
    const ssize_t sent = ::write(in_, unsent.data(), unsent.size());
    if (sent > 0) unsent.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return State::kEnded;
  }
  return State::kDone;
}

ChildProcess::State ChildProcess::send(std::string_view text, Time deadline) {
  while (!text.empty()) {
    const State state = pump(text, deadline);
    if (state != State::kDone) return state;
  }
  return State::kDone;
}

ChildProcess::State ChildProcess::read_line(std::string& line, Time deadline) {
  std::string_view nothing;
  while (true) {
    const std::size_t end = received_.find('\n');
    if (end != std::string::npos) {
      line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return State::kDone;
    }
    const State state = pump(nothing, deadline);
    if (state != State::kDone) return state;
  }
}

ChildProcess::State ChildProcess::read_all(std::string& text, Time deadline) {
  std::string_view nothing;
  while (true) {
    const State state = pump(nothing, deadline);
    if (state == State::kTimedOut) return state;
    if (state == State::kDone) continue;
    text = std::exchange(received_, {});
    return State::kDone;
  }
}

ChildProcess::State ChildProcess::wait(std::string& how, Time deadline) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(pid_, &status, WNOHANG)) == 0) {
    if (left_ms(deadline) <= 1) return State::kTimedOut;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (ended < 0) {
    how = "no exit code";
  } else {
    kill(-pid_, SIGKILL);  // What it left behind.
    pid_ = -1;
    how.clear();
    if (WIFSIGNALED(status)) how = "signal " + std::to_string(WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      how = "exit code " + std::to_string(WEXITSTATUS(status));
    }
  }
  return State::kEnded;
}

}  // namespace memverify
