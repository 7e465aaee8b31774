#include "plan/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace memverify {
namespace {

Diagnostic failure(const char* id, const std::string& path, const std::string& what) {
  return {.id = id, .message = what, .file = path};
}

/// Closes a descriptor that this file has opened.
struct Descriptor {
  int fd;
  bool owned;
  Descriptor(int number, bool own) : fd(number), owned(own) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (owned && fd >= 0) ::close(fd);
  }
};

/// Everything that is left to read; false when a read fails, with errno set.
bool read_all(int fd, std::string& buffer) {
  constexpr std::size_t kChunk = std::size_t{1} << 16U;
  std::size_t size = 0;
  while (true) {
    if (buffer.size() - size < kChunk) buffer.resize(std::max(2 * buffer.size(), kChunk));
    const ssize_t count = ::read(fd, buffer.data() + size, buffer.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      buffer.resize(size);
      return count == 0;
    }
    size += static_cast<std::size_t>(count);
  }
}

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  const bool is_stdin = path == "-";
  const Descriptor file(is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC),
                        !is_stdin);
  if (file.fd < 0) {
    return failure("file.open", path, std::string("cannot open the file: ") + std::strerror(errno));
  }
  struct stat status = {};
  if (::fstat(file.fd, &status) != 0) {
    return failure("file.read", path, std::string("cannot read the file: ") + std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) return failure("file.read", path, "this is a directory, not a file");
  if (S_ISCHR(status.st_mode) && !is_stdin && ::isatty(file.fd) == 0) {  // Some never end.
    return failure("file.read", path, "this is a device, not a file");
  }

  InputFile input;
  // Files that say they are empty may not be (/proc); standard input may have been read in part.
  if (S_ISREG(status.st_mode) && status.st_size > 0 && !is_stdin) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (mapped != MAP_FAILED) {
      ::madvise(mapped, bytes, MADV_SEQUENTIAL);
      input.mapped_ = mapped;
      input.mapped_bytes_ = bytes;
      return input;
    }
  }
  if (!read_all(file.fd, input.buffer_)) {
    return failure("file.read", path, std::string("cannot read the file: ") + std::strerror(errno));
  }
  return input;
}

InputFile::InputFile(InputFile&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      buffer_(std::move(other.buffer_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

InputFile::~InputFile() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

std::string_view InputFile::text() const noexcept {
  if (mapped_ != nullptr) return {static_cast<const char*>(mapped_), mapped_bytes_};
  return buffer_;
}

}  // namespace memverify
