#include "tools/console.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace memverify {

void StandardOutput::write(std::string_view text) {
  if (error_ != 0) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    error_ = errno == 0 ? EIO : errno;
  }
}

ExitCode StandardOutput::finish(ExitCode code) {
  if (error_ == 0 || error_ == EPIPE) return code;
  write_error("memverify: cannot write to standard output: " + std::string(std::strerror(error_)) +
              "\n");
  return ExitCode::kBadInput;
}

void write_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace memverify
