#include "tests/bench/place/peer.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include "plan/input_file.h"

namespace memverify {
namespace {

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
}

double seconds_of_children() {
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// Takes the offsets over by the names of the buffers. Returns what is wrong.
std::string take_offsets(const std::string& file, const Problem& problem, Placement& placement) {
  const Result<InputFile> input = InputFile::open(file);
  if (!input.ok()) return "no output";
  const Result<CsvProblem> written = read_csv(input.value().text(), file);
  if (!written.ok()) return to_string(written.errors().front());
  std::map<std::string_view, std::int64_t> offset_of;
  for (const Buffer& buffer : written.value().problem.buffers) {
    if (buffer.offset) offset_of[buffer.name] = *buffer.offset;
  }
  for (const Buffer& buffer : problem.buffers) {
    const auto at = offset_of.find(buffer.name);
    if (at == offset_of.end()) return "no offset for " + buffer.name;
    placement.offsets.push_back(at->second);
    placement.peak = std::max(placement.peak, at->second + buffer.bytes);
  }
  return fault_of(problem, placement);
}

}  // namespace

PlacementRun run_peer(std::string command, const std::string& file, const CsvProblem& csv) {
  const std::string out = (std::filesystem::temp_directory_path() /
                           ("memverify_peer." + std::to_string(getpid()) + ".csv"))
                              .string();
  const std::int64_t capacity = csv.problem.capacity.value_or(csv.problem.lower_bound);
  replace_all(command, "{in}", file);
  replace_all(command, "{out}", out);
  replace_all(command, "{capacity}", std::to_string(capacity));
  PlacementRun run;
  const double before = seconds_of_children();
  const int status = std::system(command.c_str());
  run.seconds = seconds_of_children() - before;
  run.fault = status == 0 ? take_offsets(out, csv.problem, run.placement) : "failed";
  std::filesystem::remove(out);
  return run;
}

}  // namespace memverify
