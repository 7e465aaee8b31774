// tools/progress.h -- how far a search has come, on standard error while someone is looking.
#pragma once

#include "sim/simulate.h"

namespace memverify {

/// One line that is written over again, only when standard error is a terminal and the search has
/// run for a second.
class ProgressBar {
 public:
  ProgressBar();
  void show(const SimProgress& progress);
  /// Takes the line away.
  void clear();

 private:
  bool is_terminal_;
  bool shown_ = false;
};

}  // namespace memverify
