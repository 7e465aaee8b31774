#include "tools/kineto_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "tools/json_cursor.h"
#include "tools/plan_draft.h"

namespace memverify {
namespace {

using TraceJson = nlohmann::json;
using Kind = TraceCommand::Kind;

constexpr double kLatest = 9e15;  ///< Microseconds that have nanoseconds in 64 bits.

const TraceJson* field_of(const TraceJson& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const TraceJson& object, std::string_view key) {
  const TraceJson* value = field_of(object, key);
  return value != nullptr && value->is_string() ? short_name(value->get_ref<const std::string&>())
                                                : std::string();
}

std::optional<std::int64_t> integer_of(const TraceJson& object, std::string_view key) {
  const TraceJson* value = field_of(object, key);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  return value->get<std::int64_t>();
}

/// Streams and threads: numbers, or texts.
std::string label_of(const TraceJson& object, std::string_view key) {
  const std::optional<std::int64_t> number = integer_of(object, key);
  return number ? std::to_string(*number) : text_of(object, key);
}

/// Copies from device to device, or of a kind that is not told, and collectives.
bool spans_devices(const std::string& category, std::string_view name) {
  if (category == "gpu_memcpy") {
    return std::ranges::none_of(
        std::array<std::string_view, 3>{"HtoD", "DtoH", "DtoD"},
        [&](std::string_view kind) { return name.find(kind) != std::string_view::npos; });
  }
  return name.find("nccl") != std::string_view::npos || name.find("rccl") != std::string_view::npos;
}

bool is_device_work(const std::string& category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset";
}

/// "cudaEventRecord" and "hipEventRecord" alike: "EventRecord".
std::string call_name(const TraceJson& event) {
  const std::string name = text_of(event, "name");
  for (const std::string_view prefix : {"cuda", "hip", "cu"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

class TraceReader {
 public:
  TraceReader(const TraceJson& events, std::string_view file) : events_(events), file_(file) {}

  Result<KinetoTrace> read() {
    for (std::size_t i = 0; i < events_.size() && errors_.size() < kMostErrors; ++i) look_at(i);
    if (!errors_.empty()) return errors_;
    one_device_ = devices_.size() < 2;
    merge_graphs();
    for (const std::size_t i : work_) add_work(i);
    for (const std::size_t i : syncs_) note_stream(i);
    for (const std::size_t i : syncs_) add_sync(i);
    if (syncs_.empty()) {
      for (const auto& [correlation, i] : calls_) add_host_sync(i);
    }
    add_records();
    for (const std::size_t i : memory_) add_memory(i);
    leave_out_tied_syncs();
    std::ranges::stable_sort(trace_.commands, {}, [](const TraceCommand& one) {
      return std::pair(one.nanoseconds, rank(one.kind));
    });
    if (!errors_.empty()) return errors_;
    return std::move(trace_);
  }

 private:
  static constexpr std::size_t kMostErrors = 20;

  const TraceJson& arguments(std::size_t i) const {
    static const TraceJson kNone = TraceJson::object();
    const TraceJson* args = field_of(events_[i], "args");
    return args == nullptr ? kNone : *args;
  }

  void fail(std::size_t i, std::string_view id, std::string message) {
    errors_.push_back({.id = std::string(id),
                       .message = std::move(message),
                       .pointer = "/traceEvents/" + std::to_string(i),
                       .file = std::string(file_)});
  }

  /// Sorts an event into those of its kind.
  void look_at(std::size_t i) {
    const std::string category = text_of(events_[i], "cat");
    const bool memory = text_of(events_[i], "name") == "[memory]";
    const bool call = category == "cuda_runtime" || category == "cuda_driver";
    if (!memory && !call && !is_device_work(category) && category != "cuda_sync") return;
    const TraceJson* time = field_of(events_[i], "ts");
    if (time == nullptr || !time->is_number() || std::abs(time->get<double>()) > kLatest) {
      return fail(i, "import.type", "an event needs a time `ts`, in microseconds");
    }
    if (memory) {
      memory_.push_back(i);
      if (integer_of(arguments(i), "Device Type").value_or(0) != 0) {
        memory_devices_.insert(integer_of(arguments(i), "Device Id").value_or(0));
      }
    } else if (call) {
      if (const auto number = integer_of(arguments(i), "correlation")) calls_.emplace(*number, i);
    } else if (is_device_work(category)) {
      work_.push_back(i);
      devices_.insert(label_of(arguments(i), "device"));
    } else {
      syncs_.push_back(i);
      if (const std::string device = label_of(arguments(i), "device"); !device.empty()) {
        devices_.insert(device);
      }
    }
  }

  std::int64_t time_of(std::size_t i) const {
    return std::llround(events_[i].find("ts")->get<double>() * 1000);
  }
  std::string stream_of(std::size_t i) const {
    const std::string stream = label_of(arguments(i), "stream");
    return one_device_ ? stream : label_of(arguments(i), "device") + "." + stream;
  }
  /// Where the event of a wait was recorded: the trace has the number of the stream, not of its
  /// device. "" when streams of several devices have it.
  std::string recorded_on(std::size_t i) const {
    const std::string stream = label_of(arguments(i), "wait_on_stream");
    if (one_device_) return stream;
    std::string found;
    for (const auto& [device, streams] : streams_) {
      const std::string name = device + "." + stream;
      if (!streams.contains(name)) continue;
      if (!found.empty()) return "";
      found = name;
    }
    return found;
  }
  void note_stream(std::size_t i) {
    const std::string kind = text_of(arguments(i), "cuda_sync_kind");
    const std::string device = label_of(arguments(i), "device");
    if (device.empty() || !kind.starts_with("Stream")) return;
    streams_[device].insert(stream_of(i));
  }
  /// The call of the host that this belongs to.
  const std::size_t* call_of(std::int64_t correlation) const {
    const auto found = calls_.find(correlation);
    return found == calls_.end() ? nullptr : &found->second;
  }

  /// A command that the host submitted by the call `correlation`, else when event `i` happened.
  TraceCommand command(Kind kind, std::size_t i, std::int64_t correlation) const {
    const std::size_t* call = call_of(correlation);
    const std::size_t source = call == nullptr ? i : *call;
    return {.kind = kind,
            .nanoseconds = time_of(source),
            .thread = call == nullptr ? "" : label_of(events_[source], "tid"),
            .correlation = correlation};
  }

  /// Of the work of a graph launch, keeps the first event.
  void merge_graphs() {
    std::set<std::int64_t> seen;
    std::erase_if(work_, [&](std::size_t i) {
      const std::int64_t correlation = integer_of(arguments(i), "correlation").value_or(-1);
      const std::size_t* call = call_of(correlation);
      if (call == nullptr || call_name(events_[*call]) != "GraphLaunch") return false;
      return !seen.insert(correlation).second;
    });
  }

  void add_work(std::size_t i) {
    const std::int64_t correlation = integer_of(arguments(i), "correlation").value_or(-1);
    const std::size_t* call = call_of(correlation);
    const bool graph = call != nullptr && call_name(events_[*call]) == "GraphLaunch";
    TraceCommand one = command(graph ? Kind::kGraph : Kind::kRun, i, correlation);
    one.name = text_of(events_[i], "name");
    one.stream = stream_of(i);
    one.device = integer_of(arguments(i), "device").value_or(0);
    one.spans = spans_devices(text_of(events_[i], "cat"), one.name) ||
                (!one_device_ && !integer_of(arguments(i), "device"));
    if (one.stream.empty()) return fail(i, "import.type", "device work needs a stream");
    streams_[label_of(arguments(i), "device")].insert(one.stream);
    if (call == nullptr) ++trace_.unplaced;
    trace_.commands.push_back(std::move(one));
  }

  void add_sync(std::size_t i) {
    const TraceJson& args = arguments(i);
    const std::string kind = text_of(args, "cuda_sync_kind");
    const std::int64_t correlation = integer_of(args, "correlation").value_or(-1);
    const std::size_t* call = call_of(correlation);
    TraceCommand one = command(Kind::kHostAll, i, correlation);
    if (kind == "Stream Sync") {
      one.kind = Kind::kHostStream;
      one.stream = stream_of(i);
      if (!one_device_ && label_of(args, "device").empty()) {
        ++trace_.lost_syncs;
        return;
      }
    } else if (kind == "Stream Wait Event" || kind == "Event Sync") {
      const bool event = kind == "Event Sync";
      if (event && (call == nullptr || call_name(events_[*call]) != "EventSynchronize")) {
        ++trace_.queries;  // A query does not say what it answered.
        return;
      }
      one.kind = event ? Kind::kHostEvent : Kind::kWait;
      one.record = integer_of(args, "wait_on_cuda_event_record_corr_id").value_or(-1);
      if (!event) one.stream = stream_of(i);
      const std::string stream = recorded_on(i);
      if (one.record < 0 || call_of(one.record) == nullptr || stream.empty()) {
        ++trace_.lost_syncs;  // Recorded before the trace, or never, or who knows where.
        return;
      }
      records_.emplace(one.record, stream);
    } else if (kind == "Context Sync") {
      return add_device_sync(one, label_of(args, "device"));
    } else {
      ++trace_.lost_syncs;
      return;
    }
    trace_.commands.push_back(std::move(one));
  }

  /// The host waits for all streams of a device, "" if it is not known which.
  void add_device_sync(TraceCommand one, const std::string& device) {
    if (one_device_ && (!device.empty() || memory_devices_.size() < 2)) {
      trace_.commands.push_back(std::move(one));
    } else if (device.empty()) {
      ++trace_.lost_syncs;
    } else {
      one.kind = Kind::kHostStream;
      for (const std::string& stream : streams_[device]) {
        one.stream = stream;
        trace_.commands.push_back(one);
      }
    }
  }

  /// In a trace without events of syncs, what the names of the host's calls say.
  void add_host_sync(std::size_t i) {
    const std::string name = call_name(events_[i]);
    const bool all = name == "DeviceSynchronize" || name == "CtxSynchronize";
    if (!all && name != "StreamSynchronize") {
      if (name == "StreamWaitEvent" || name == "EventSynchronize") ++trace_.lost_syncs;
      return;
    }
    TraceCommand one =
        command(Kind::kHostAll, i, integer_of(arguments(i), "correlation").value_or(-1));
    one.nanoseconds = time_of(i);
    if (all) return add_device_sync(std::move(one), "");
    if (streams_.size() != 1 || streams_.begin()->second.size() != 1) {
      ++trace_.lost_syncs;
      return;
    }
    trace_.commands.push_back(std::move(one));
  }

  static bool runs(Kind kind) { return kind == Kind::kRun || kind == Kind::kGraph; }

  /// Of commands with one time nobody knows the order: the one that orders less. A record covers no
  /// work of its time, and a wait does not hold it back.
  static int rank(Kind kind) { return kind == Kind::kRecord ? 0 : runs(kind) ? 1 : 2; }

  /// Whether the host's wait for a stream covers the work of its time or holds it back: neither.
  void leave_out_tied_syncs() {
    std::unordered_set<std::int64_t> times;
    for (const TraceCommand& one : trace_.commands) {
      if (runs(one.kind) || one.kind == Kind::kWait) times.insert(one.nanoseconds);
    }
    const std::size_t left_out = std::erase_if(trace_.commands, [&](const TraceCommand& one) {
      return (one.kind == Kind::kHostStream || one.kind == Kind::kHostAll) &&
             times.contains(one.nanoseconds);
    });
    trace_.tied_syncs += static_cast<std::int64_t>(left_out);
  }

  void add_records() {
    for (const auto& [correlation, stream] : records_) {
      TraceCommand one = command(Kind::kRecord, calls_.at(correlation), correlation);
      one.stream = stream;
      trace_.commands.push_back(std::move(one));
    }
  }

  void add_memory(std::size_t i) {
    const TraceJson& args = arguments(i);
    const auto type = integer_of(args, "Device Type");
    const auto address = integer_of(args, "Addr");
    const auto bytes = integer_of(args, "Bytes");
    if (!type) return fail(i, "import.type", "a memory event needs a `Device Type`");
    if (*type == 0) return;  // Of the host.
    if (!address || !bytes || *bytes == 0) {
      return fail(i, "import.type", "a memory event needs an address `Addr` and `Bytes`");
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 62U;
    if (*address < 0 || *address > kMost || *bytes > kMost || *bytes < -kMost) {
      return fail(i, "import.range", "an address or size of 2^62 or more");
    }
    trace_.has_memory = true;
    trace_.commands.push_back({.kind = *bytes > 0 ? Kind::kAlloc : Kind::kFree,
                               .nanoseconds = time_of(i),
                               .device = integer_of(args, "Device Id").value_or(0),
                               .address = *address,
                               .bytes = *bytes > 0 ? *bytes : -*bytes});
  }

  const TraceJson& events_;
  std::string_view file_;
  std::vector<Diagnostic> errors_;
  KinetoTrace trace_;
  bool one_device_ = true;
  std::map<std::int64_t, std::size_t> calls_;    ///< Of the host, by correlation.
  std::map<std::int64_t, std::string> records_;  ///< Waited for, with their stream.
  std::set<std::string> devices_;
  std::set<std::int64_t> memory_devices_;
  std::map<std::string, std::set<std::string>> streams_;  ///< By device.
  std::vector<std::size_t> work_;
  std::vector<std::size_t> syncs_;
  std::vector<std::size_t> memory_;
};

}  // namespace

Result<KinetoTrace> read_kineto(std::string_view text, std::string_view file) {
  std::vector<Diagnostic> errors;
  const std::optional<TraceJson> document = parse_json(text, file, errors);
  if (!document) return errors;
  const TraceJson* events = field_of(*document, "traceEvents");
  if (events == nullptr || !events->is_array()) {
    return Diagnostic{.id = "import.format",
                      .message = document->is_array()
                                     ? "not a trace: a memory timeline has neither addresses nor "
                                       "kernels"
                                     : "not a trace: it has no \"traceEvents\"",
                      .file = std::string(file)};
  }
  return TraceReader(*events, file).read();
}

}  // namespace memverify
