#include <unistd.h>

#include <csignal>
#include <cstring>

#include "tools/command.h"

namespace {

/// A broken invariant aborts; the user sees the documented exit code.
void on_abort(int /*signal*/) {
  static constexpr char kText[] =
      "memverify: internal error: an invariant is broken. Please report this with the plan.\n";
  (void)!write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(static_cast<int>(memverify::ExitCode::kInternal));
}

}  // namespace

int main(int argc, char** argv) {
  const memverify::Arguments arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::signal(SIGABRT, on_abort);
  std::signal(SIGPIPE, SIG_IGN);  // `| head` is no failure; other lost output is one.
  return static_cast<int>(memverify::run_app(arguments));
}
