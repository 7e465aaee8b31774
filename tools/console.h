// tools/console.h -- standard output and error, and output that cannot be written.
#pragma once

#include <string>
#include <string_view>

#include "tools/exit_code.h"
#include "tools/style.h"

namespace memverify {

/// Standard output. Remembers that something could not be written.
class StandardOutput {
 public:
  void write(std::string_view text);
  /// `code`; but kBadInput, with a message on standard error, when some of the output was lost. A
  /// reader that went away (`| head`) is no failure. Call once, at the end.
  ExitCode finish(ExitCode code);

 private:
  int error_ = 0;  ///< The first errno.
};

/// Writes to standard error; what cannot be written there is lost.
void write_error(std::string_view text);

}  // namespace memverify
