// plan/input_file.h -- the bytes of a file, without copying them where that is possible.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plan/result.h"

namespace memverify {

/// A file that is open for reading, whole. Regular files are mapped into memory (nothing is read
/// before it is looked at; another process must not shorten the file meanwhile); pipes, terminals
/// and the like are read to their end.
class InputFile {
 public:
  /// Opens `path`, "-" for standard input. Error ids: "file.open", "file.read".
  static Result<InputFile> open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// Valid as long as this object, and not across a move.
  std::string_view text() const noexcept;

 private:
  InputFile() = default;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::string buffer_;  ///< Used when nothing is mapped.
};

}  // namespace memverify
