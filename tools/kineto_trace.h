// tools/kineto_trace.h -- what a Kineto trace (PyTorch's profiler) says about order and memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"

namespace memverify {

/// One command, as the host submitted it. Streams are "7" or, with several devices, "0.7".
struct TraceCommand {
  enum class Kind : std::uint8_t {
    kRun,         ///< A kernel, copy or memset on a stream.
    kGraph,       ///< All that one launch of a CUDA graph ran: its order is not in the trace.
    kRecord,      ///< Of an event, on a stream.
    kWait,        ///< A stream for the record `record`.
    kHostEvent,   ///< The host for the record `record`.
    kHostStream,  ///< The host for a stream.
    kHostAll,     ///< The host for everything, in a trace of one device.
    kAlloc,       ///< A block of device memory.
    kFree,
  };
  Kind kind = Kind::kRun;
  std::int64_t nanoseconds = 0;  ///< When the host submitted it.
  std::string name;              ///< Of a kernel.
  std::string stream;
  std::string thread;
  std::int64_t correlation = 0;  ///< The number that links host and device.
  std::int64_t record = 0;       ///< The correlation of the record that is waited for.
  std::int64_t device = 0;       ///< Of a block, or of what runs.
  bool spans = false;            ///< May touch memory of other devices, too.
  std::int64_t address = 0;
  std::int64_t bytes = 0;
};

struct KinetoTrace {
  /// In the order of submission; of one time: records, work, waits. Allocations and frees are in
  /// their order among themselves, and may have happened before or after all else of their time.
  std::vector<TraceCommand> commands;
  std::int64_t unplaced = 0;    ///< Kernels without a launch: at the time they ran.
  std::int64_t lost_syncs = 0;  ///< Syncs of which it is not known with what.
  std::int64_t tied_syncs = 0;  ///< Syncs left out: at the very time of work.
  std::int64_t queries = 0;     ///< Questions whether an event has completed.
  bool has_memory = false;
};

/// Reads the JSON of a trace. Errors, with the pointer to what is at fault: "json.syntax",
/// "import.format", "import.type", "import.range". Cost: a sort of the events.
Result<KinetoTrace> read_kineto(std::string_view text, std::string_view file);

}  // namespace memverify
