// Tested by tests/unit/tools/isolated_test.cpp.
#include "tools/isolated.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace memverify {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

constexpr char kDone = 'D';  ///< Comes first, before what was returned.

void set_limit(int resource, std::int64_t value) {
  const rlimit limit{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

/// Bytes of address space.
std::int64_t used_now() {
  long long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%lld", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(to, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// No handler of this process, such as a fuzzer's, is to see a crash of the other one.
[[noreturn]] void be_the_copy(int to, const std::function<std::string()>& work,
                              std::int64_t seconds, std::int64_t bytes) {
  for (const int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL, SIGXCPU, SIGALRM, SIGTERM}) {
    std::signal(signal, SIG_DFL);
  }
  if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    dup2(nowhere, STDERR_FILENO);
  }
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, seconds);
  if (!kIsSanitized) set_limit(RLIMIT_AS, used_now() + bytes);
  try {
    const std::string result = work();
    write_all(to, kDone + result);
  } catch (const std::exception&) {  // No memory: as if it had crashed.
  }
  _exit(0);
}

std::string read_all(int from) {
  std::string out;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return out;
    out.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::optional<std::string> isolated(const std::function<std::string()>& work, std::int64_t seconds,
                                    std::int64_t bytes) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) be_the_copy(pipe_ends[1], work, seconds, bytes);
  close(pipe_ends[1]);
  const std::string answer = child < 0 ? "" : read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  if (child < 0) return std::nullopt;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0 && answer.starts_with(kDone);
  return done ? std::optional(answer.substr(1)) : std::nullopt;
}

}  // namespace memverify
