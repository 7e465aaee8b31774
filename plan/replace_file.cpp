#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "plan/writer.h"

namespace memverify {
namespace {

std::string failure(const std::string& what, const std::string& path) {
  return "cannot " + what + " " + path + ": " + std::strerror(errno);
}

/// Writes everything; false with errno set.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

std::string replace_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    return write_all(STDOUT_FILENO, text) ? "" : failure("write to", "standard output");
  }
  // The file that a symbolic link names is replaced, not the link. What is no regular file (a
  // device, a pipe) cannot be replaced and is written to.
  struct stat status = {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return failure("open", path);
    const bool written = write_all(fd, text);
    std::string error = written ? "" : failure("write", path);
    if (::close(fd) != 0 && written) error = failure("write", path);
    return error;
  }
  std::string target = path;
  if (char* const real = ::realpath(path.c_str(), nullptr); real != nullptr) {
    target = real;
    ::free(real);
  }
  std::string beside = target + ".XXXXXX";
  const int fd = ::mkstemp(beside.data());
  if (fd < 0) return failure("create a file beside", target);
  // The rights of the old file, or those that any new file gets.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? status.st_mode & 07777U : 0666U & ~mask;
  std::string error;
  if (::fchmod(fd, mode) != 0 || !write_all(fd, text) || ::fsync(fd) != 0) {
    error = failure("write", beside);
  }
  if (::close(fd) != 0 && error.empty()) error = failure("write", beside);
  if (error.empty() && ::rename(beside.c_str(), target.c_str()) != 0) {
    error = failure("replace", target);
  }
  if (!error.empty()) ::unlink(beside.c_str());
  return error;
}

}  // namespace memverify
