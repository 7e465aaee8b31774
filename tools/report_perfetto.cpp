// Chrome's trace event format, as ui.perfetto.dev reads it. Commands that overlap on a queue get
// tracks of their own, for slices of one track must nest and flows go to slices of tracks only.
#include <algorithm>
#include <vector>

#include "plan/json_text.h"
#include "plan/words.h"
#include "tools/report_page.h"

namespace memverify {
namespace {

using sim::Command;
using sim::CommandId;

constexpr std::int64_t kQueues = 1;  ///< Process of the queues; those after it are pools.

class Trace {
 public:
  explicit Trace(const Drawing& drawing)
      : plan_(drawing.report.plan), run_(drawing.run), memory_(drawing.memory) {
    track_.resize(run_.program.commands.size(), 0);
  }

  std::string text() {
    json_.open('{');
    json_.field("displayTimeUnit", std::string_view("ns"));
    json_.key("traceEvents");
    json_.open_lines();
    lay_tracks();
    for (const CommandId c : ids(run_.program.commands)) add_command(c);
    add_flows();
    add_ranges();
    add_counters();
    json_.close_lines();
    json_.close('}');
    return json_.take() + "\n";
  }

 private:
  void open(std::string_view phase, std::string_view name, std::int64_t process, std::int64_t track,
            std::int64_t time) {
    json_.next();
    json_.open('{');
    json_.field("ph", phase);
    json_.field("name", name);
    json_.field("pid", process);
    json_.field("tid", track);
    json_.field("ts", time);
  }
  void meta(std::string_view what, std::int64_t process, std::int64_t track,
            std::string_view name) {
    open("M", what, process, track, 0);
    json_.key("args");
    json_.open('{');
    json_.field("name", name);
    json_.close('}');
    json_.close('}');
  }
  void sort_index(std::int64_t process, std::int64_t track) {
    open("M", "thread_sort_index", process, track, 0);
    json_.key("args");
    json_.open('{');
    json_.field("sort_index", track);
    json_.close('}');
    json_.close('}');
  }

  std::int64_t end_of(DrawnSpan span) const { return span.end < 0 ? run_.end : span.end; }

  std::size_t lane_of(const Op& op) const {
    if (op.queue != kNone<QueueId>) return index(op.queue);
    if (!plan_.queues_of(op).empty()) return index(plan_.queues_of(op).front());
    return plan_.queues.size() + index(op.thread);
  }
  std::string lane_name(std::size_t lane) const {
    if (lane < plan_.queues.size()) {
      return std::string(plan_.queues[static_cast<QueueId>(lane)].name);
    }
    return "thread " +
           std::string(plan_.threads[static_cast<ThreadId>(lane - plan_.queues.size())]);
  }

  /// A track for each queue, and one more for each command that overlaps all those before it.
  void lay_tracks() {
    meta("process_name", kQueues, 0, "queues");
    std::vector<std::vector<CommandId>> lanes(plan_.queues.size() + plan_.threads.size());
    for (const CommandId c : ids(run_.program.commands)) {
      if (run_.spans[c].start < 0) continue;
      lanes[lane_of(plan_.ops[run_.program.commands[c].op])].push_back(c);
    }
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      if (lanes[lane].empty() && lane >= plan_.queues.size()) continue;
      std::ranges::stable_sort(lanes[lane], {}, [&](CommandId c) { return run_.spans[c].start; });
      std::vector<std::int64_t> ends;  // By track of this lane.
      const std::int64_t first = tracks_ + 1;
      for (const CommandId c : lanes[lane]) {
        const DrawnSpan span = run_.spans[c];
        auto free = std::ranges::find_if(ends, [&](std::int64_t end) { return end <= span.start; });
        if (free == ends.end()) free = ends.insert(ends.end(), 0);
        *free = end_of(span);
        track_[c] = first + (free - ends.begin());
      }
      const auto width = std::max<std::int64_t>(static_cast<std::int64_t>(ends.size()), 1);
      for (std::int64_t k = 0; k < width; ++k) {
        meta("thread_name", kQueues, first + k,
             valid_utf8(lane_name(lane)) + (width > 1 ? " #" + std::to_string(k + 1) : ""));
        sort_index(kQueues, first + k);
      }
      tracks_ += width;
    }
  }

  std::string command_name(const Command& command) const {
    std::string words = valid_utf8(plan_.ops[command.op].name);
    if (repeats(plan_)) words += "@" + std::to_string(command.iteration);
    return words;
  }

  void add_command(CommandId c) {
    const DrawnSpan span = run_.spans[c];
    if (span.start < 0) return;
    const Command& command = run_.program.commands[c];
    const Op& op = plan_.ops[command.op];
    open("X", command_name(command), kQueues, track_[c], span.start);
    json_.field("dur", end_of(span) - span.start);
    json_.field("cat", name(op.kind));
    json_.key("args");
    json_.open('{');
    const OpDetails& details = plan_.details_of(op);
    if (!details.label.empty()) {
      json_.field("label", std::string_view(valid_utf8(details.label)));
    }
    for (const AccessKind kind :
         {AccessKind::kRead, AccessKind::kWrite, AccessKind::kAccumulate, AccessKind::kClobber}) {
      const std::string tensors = tensors_of(op, kind);
      if (!tensors.empty()) json_.field(name(kind), std::string_view(tensors));
    }
    if (details.location != OpDetails::kAbsent) {
      const SourceLocation& at = plan_.locations[details.location];
      json_.field("loc", std::string_view(valid_utf8(at.file) + ":" + std::to_string(at.line)));
    }
    json_.close('}');
    json_.close('}');
  }
  std::string tensors_of(const Op& op, AccessKind kind) const {
    std::string names;
    for (const Access& access : plan_.accesses_of(op)) {
      if (access.kind != kind || access.tensor == kNone<TensorId>) continue;
      names += (names.empty() ? "" : ", ") + valid_utf8(plan_.tensors[access.tensor].name);
    }
    return names;
  }

  /// Each from the end of one slice to the start of another. A flow binds to the slice around its
  /// time, so it leaves a little before the end of a slice that has a length.
  void add_flows() {
    std::int64_t flow = 0;
    for (const DrawnSync& sync : drawn_syncs(run_)) {
      const DrawnSpan from = run_.spans[sync.from], to = run_.spans[sync.to];
      if (from.end < 0 || to.start < 0) continue;
      ++flow;
      for (const bool arrives : {false, true}) {
        const CommandId c = arrives ? sync.to : sync.from;
        json_.next();
        json_.open('{');
        json_.field("ph", std::string_view(arrives ? "f" : "s"));
        json_.field("name", std::string_view("sync"));
        json_.field("cat", std::string_view("sync"));
        json_.field("id", flow);
        json_.field("pid", kQueues);
        json_.field("tid", track_[c]);
        json_.key("ts");
        json_.raw(arrives ? std::to_string(to.start) : before_end(from));
        if (arrives) json_.field("bp", std::string_view("e"));
        json_.close('}');
      }
    }
  }
  static std::string before_end(DrawnSpan span) {
    if (span.end == span.start) return std::to_string(span.end);
    return std::to_string(span.end - 1) + ".999";
  }

  std::int64_t process_of(PoolId pool) const { return kQueues + 1 + index(pool); }

  void add_ranges() {
    for (const PoolId pool : ids(plan_.pools)) {
      meta("process_name", process_of(pool), 0, "pool " + valid_utf8(plan_.pools[pool].name));
    }
    std::int64_t id = 0;
    for (const DrawnRange& range : memory_.ranges) {
      if (range.bytes.empty() || range.start >= range.end) continue;
      std::string words = "workspace";
      if (range.root != kNone<TensorId>) {
        words = valid_utf8(plan_.tensors[range.root].name);
        if (repeats(plan_)) words += "@" + std::to_string(range.instance);
      }
      ++id;
      for (const bool ends : {false, true}) {
        open(ends ? "e" : "b", words, process_of(range.pool), 0, ends ? range.end : range.start);
        json_.field("cat", std::string_view("live"));
        json_.field("id", id);
        if (!ends) {
          json_.key("args");
          json_.open('{');
          json_.field("address", range.bytes.begin);
          json_.field("bytes", range.bytes.end - range.bytes.begin);
          json_.close('}');
        }
        json_.close('}');
      }
    }
  }

  void add_counters() {
    for (const PoolId pool : ids(plan_.pools)) {
      for (const auto& [time, bytes] : memory_.pools[pool].curve) {
        open("C", "live bytes", process_of(pool), 0, time);
        json_.key("args");
        json_.open('{');
        json_.field("bytes", bytes);
        json_.close('}');
        json_.close('}');
      }
    }
  }

  const Plan& plan_;
  const DrawnRun& run_;
  const DrawnMemory& memory_;
  JsonText json_;
  Table<CommandId, std::int64_t> track_;
  std::int64_t tracks_ = 0;
};

}  // namespace

std::string perfetto_trace(const Drawing& drawing) { return Trace(drawing).text(); }

}  // namespace memverify
