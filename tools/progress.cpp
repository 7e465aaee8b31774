#include "tools/progress.h"

#include <unistd.h>

#include <string>

#include "tools/console.h"

namespace memverify {
namespace {

constexpr double kQuietSeconds = 1;

}  // namespace

ProgressBar::ProgressBar() : is_terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(const SimProgress& progress) {
  if (!is_terminal_ || progress.seconds < kQuietSeconds) return;
  shown_ = true;
  write_error("\r\033[K" + std::to_string(progress.states) + " states, case " +
              std::to_string(progress.cases_done + 1) + " of " + std::to_string(progress.cases) +
              ", " + std::to_string(static_cast<long>(progress.seconds)) + " s");
}

void ProgressBar::clear() {
  if (shown_) write_error("\r\033[K");
  shown_ = false;
}

}  // namespace memverify
