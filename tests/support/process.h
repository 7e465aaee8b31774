// tests/support/process.h -- runs the built memverify as a user would, in a folder of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace memverify::testing {

struct Outcome {
  int exit_code = -1;  ///< 128 + the signal's number when one ended it.
  std::string out;
  std::string err;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A temporary folder in which memverify runs.
class Sandbox {
 public:
  Sandbox() {
    std::string name = (std::filesystem::temp_directory_path() / "memverify-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  ~Sandbox() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  std::string read(const std::string& name) const { return read_text(folder_ / name); }

  /// Runs `memverify ARGUMENTS…`. Its standard output goes to `out` if that is given.
  Outcome run(const std::vector<std::string>& arguments, const std::string& input = "",
              const char* out = nullptr) const {
    std::vector<std::string> command = {MEMVERIFY_BINARY};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_command(command, input, out);
  }

  /// Runs a shell command in which MEMVERIFY stands for the binary.
  Outcome run_shell(std::string command) const {
    const std::size_t at = command.find("MEMVERIFY");
    if (at != std::string::npos) command.replace(at, 9, MEMVERIFY_BINARY);
    return run_command({"/bin/sh", "-c", command}, "", nullptr);
  }

 private:
  Outcome run_command(std::vector<std::string> command, const std::string& input,
                      const char* out) const {
    write(".in", input);
    const std::string out_path = out == nullptr ? (folder_ / ".out").string() : out;
    const pid_t child = fork();
    if (child == 0) exec(command, out_path);
    Outcome outcome;
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return outcome;
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (out == nullptr) outcome.out = read_text(folder_ / ".out");
    outcome.err = read_text(folder_ / ".err");
    return outcome;
  }

  [[noreturn]] void exec(std::vector<std::string>& command, const std::string& out_path) const {
    const auto redirect = [](const std::string& path, int flags, int to) {
      const int from = open(path.c_str(), flags, 0600);
      if (from < 0 || dup2(from, to) < 0) _exit(127);
      close(from);
    };
    constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
    redirect((folder_ / ".in").string(), O_RDONLY, STDIN_FILENO);
    redirect(out_path, kWrite, STDOUT_FILENO);
    redirect((folder_ / ".err").string(), kWrite, STDERR_FILENO);
    if (chdir(folder_.c_str()) != 0) _exit(127);
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }

  std::filesystem::path folder_;
};

}  // namespace memverify::testing
