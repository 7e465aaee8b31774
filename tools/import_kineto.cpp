// Kineto traces: what was submitted to which stream, what waited for what, and which blocks of
// device memory were live meanwhile.
//
// A trace does not say which bytes a kernel touches: perhaps those of any block that was live when
// it was submitted. So of each block, the first and the last kernel of each stream in its lifetime
// update it, in a way that commutes within the block and with nothing else. If all such updates of
// blocks that share bytes are ordered, so is everything that may happen between them. Where some
// are not, the plan has the earlier kernel as one of unknown effect: possible, not proven.
//
// Tested by tests/unit/tools/import_kineto_test.cpp on corpus/imports/kineto.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plan/words.h"
#include "tools/importers.h"
#include "tools/kineto_trace.h"
#include "tools/plan_draft.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using Kind = TraceCommand::Kind;

constexpr std::size_t kMostPerByte = 16;   ///< Pairs of streams with commands or blocks.
constexpr std::size_t kMostPossible = 20;  ///< Pairs that are listed.
constexpr std::string_view kEverything = "everything";

bool runs(const TraceCommand& command) {
  return command.kind == Kind::kRun || command.kind == Kind::kGraph;
}

struct Block {
  std::string name;
  std::int64_t device = 0;
  std::int64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t begin = 0;  ///< Nanoseconds, both included.
  std::int64_t end = 0;
  bool replaces = false;  ///< Began on a live block with its address that was not freed.
};

class KinetoPlan {
 public:
  KinetoPlan(const KinetoTrace& trace, std::string_view text, std::string_view file)
      : trace_(trace), text_(text), file_(file) {}

  Result<Imported> make() {
    find_blocks();
    find_accesses();
    if (!errors_.empty()) return errors_;
    Result<Imported> imported = build();
    if (!imported.ok() || !trace_.has_memory) return imported;
    const EngineResult result = verify_happens_before(imported.value().plan, {});
    if (result.verdict != Verdict::kUnsafe) return imported;
    doubt(imported.value().plan, result);
    return build();
  }

 private:
  static constexpr std::int64_t kStart = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  const std::vector<TraceCommand>& commands() const { return trace_.commands; }

  void find_blocks();
  void close(std::size_t block, std::int64_t at) { blocks_[block].end = at; }
  void find_accesses();
  void doubt(const Plan& plan, const EngineResult& result);
  Result<Imported> build() const;
  void add_memory(PlanDraft& draft) const;
  void add_command(PlanDraft& draft, std::size_t index) const;
  void add_assumptions(PlanDraft& draft) const;
  std::string op_of(std::size_t index) const;

  const KinetoTrace& trace_;
  std::string_view text_;
  std::string_view file_;
  std::vector<Diagnostic> errors_;
  std::vector<Block> blocks_;
  std::set<std::int64_t> with_memory_;  ///< Devices.
  bool renumbered_ = false;
  std::int64_t overlapping_ = 0;                   ///< Blocks that began on live ones.
  std::int64_t from_before_ = 0;                   ///< Blocks that were live at the start.
  std::vector<std::vector<std::size_t>> touched_;  ///< By command: blocks.
  std::set<std::size_t> doubtful_;                 ///< Commands.
  std::vector<std::string> possible_;
};

/// The lifetimes of blocks. One that is freed but was never seen to begin was there from the start;
/// one that begins on a live block ends that, and a free of that at the same time is its own.
void KinetoPlan::find_blocks() {
  std::map<std::int64_t, std::map<std::int64_t, std::size_t>> live;  // By device and address.
  const auto add = [&](const TraceCommand& command, std::int64_t begin) {
    blocks_.push_back({.name = "block_" + std::to_string(blocks_.size()),
                       .device = command.device,
                       .address = command.address,
                       .bytes = command.bytes,
                       .begin = begin,
                       .end = kOpen});
    return blocks_.size() - 1;
  };
  for (const TraceCommand& command : commands()) {
    const std::int64_t now = command.nanoseconds;
    auto& blocks = live[command.device];
    if (command.kind == Kind::kFree) {
      const auto found = blocks.find(command.address);
      if (found == blocks.end()) {
        close(add(command, kStart), now);
        ++from_before_;
      } else if (Block& block = blocks_[found->second]; block.replaces && block.begin == now) {
        block.replaces = false;
        --overlapping_;
      } else {
        close(found->second, now);
        blocks.erase(found);
      }
    } else if (command.kind == Kind::kAlloc) {
      auto at = blocks.lower_bound(command.address);
      if (at != blocks.begin()) {
        const Block& before = blocks_[std::prev(at)->second];
        if (before.address + before.bytes > command.address) --at;
      }
      bool replaces = false;
      while (at != blocks.end() && at->first < command.address + command.bytes) {
        replaces = replaces || at->first == command.address;
        close(at->second, now);
        ++overlapping_;
        at = blocks.erase(at);
      }
      const std::size_t block = add(command, now);
      blocks_[block].replaces = replaces;
      blocks[command.address] = block;
    }
  }
}

/// Of each block and stream, the first and the last command that runs in the block's lifetime.
void KinetoPlan::find_accesses() {
  std::map<std::string, std::vector<std::size_t>> streams;
  std::map<std::string, std::int64_t> device_of;
  std::set<std::int64_t> running;
  for (std::size_t i = 0; i < commands().size(); ++i) {
    if (!runs(commands()[i])) continue;
    streams[commands()[i].stream].push_back(i);
    device_of[commands()[i].stream] = commands()[i].device;
    running.insert(commands()[i].device);
  }
  for (const Block& block : blocks_) with_memory_.insert(block.device);
  if (running.size() == 1 && with_memory_.size() == 1 && running != with_memory_) {
    renumbered_ = true;
    for (Block& block : blocks_) block.device = *running.begin();
    with_memory_ = running;
  }
  touched_.resize(commands().size());
  if ((blocks_.size() + commands().size()) * streams.size() > kMostPerByte * text_.size()) {
    errors_.push_back({.id = "import.unsupported",
                       .message = "too many streams for so much work",
                       .pointer = "/traceEvents",
                       .file = std::string(file_)});
    return;
  }
  const auto time_of = [&](std::size_t command) { return commands()[command].nanoseconds; };
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    for (const auto& [stream, order] : streams) {
      if (device_of[stream] != blocks_[block].device) continue;
      const auto first = std::ranges::lower_bound(order, blocks_[block].begin, {}, time_of);
      const auto end = std::ranges::upper_bound(order, blocks_[block].end, {}, time_of);
      if (first == end) continue;
      touched_[*first].push_back(block);
      if (first != std::prev(end)) touched_[*std::prev(end)].push_back(block);
    }
  }
}

/// Takes the earlier op of each pair that is not ordered as one of unknown effect.
void KinetoPlan::doubt(const Plan& plan, const EngineResult& result) {
  std::map<std::string, std::size_t, std::less<>> by_name;
  for (std::size_t i = 0; i < commands().size(); ++i) {
    if (runs(commands()[i])) by_name[op_of(i)] = i;
  }
  if (result.stopped_at_max_findings) {  // Too many to tell them apart.
    for (const auto& [name, command] : by_name) doubtful_.insert(command);
  }
  for (const Finding& finding : result.findings) {
    if (finding.ops.empty()) continue;
    const auto found = by_name.find(plan.ops[finding.ops.front()].name);
    if (found == by_name.end()) continue;
    doubtful_.insert(found->second);
    if (possible_.size() == kMostPossible || finding.ops.size() != 2) continue;
    possible_.push_back(
        "Possible: " + memverify::quoted(plan.ops[finding.ops[1]].name) + " uses " +
        place_words(plan, finding.pool, finding.bytes) + " while " +
        memverify::quoted(plan.ops[finding.ops[0]].name) +
        ", submitted when another block was there, still runs: nothing in the trace orders them.");
  }
}

std::string KinetoPlan::op_of(std::size_t index) const {
  const TraceCommand& command = commands()[index];
  return (command.kind == Kind::kGraph ? "graph_" : "run_") + std::to_string(index) + "@" +
         std::to_string(command.correlation);
}

Result<Imported> KinetoPlan::build() const {
  PlanDraft draft;
  draft.builder().set_name("trace");
  std::set<std::string> streams;
  for (const TraceCommand& command : commands()) {
    if (!command.stream.empty()) streams.insert(command.stream);
  }
  for (const std::string& stream : streams) {
    draft.builder().add_queue({.name = "stream_" + stream});
  }
  add_memory(draft);
  for (std::size_t i = 0; i < commands().size(); ++i) add_command(draft, i);
  add_assumptions(draft);
  return draft.finish();
}

void KinetoPlan::add_memory(PlanDraft& draft) const {
  std::map<std::int64_t, std::int64_t> start;  // Of each device, so that addresses are short.
  for (const Block& block : blocks_) {
    const auto [at, added] = start.try_emplace(block.device, block.address);
    if (!added) at->second = std::min(at->second, block.address);
  }
  for (const auto& [device, address] : start) {
    draft.builder().add_pool({.name = "device_" + std::to_string(device), .kind = "device"});
  }
  if (start.empty()) draft.builder().add_pool({.name = kEverything, .bytes = std::int64_t{1}});
  for (const Block& block : blocks_) {
    const std::string pool = "device_" + std::to_string(block.device);
    draft.builder().add_storage({.name = block.name,
                                 .pool = pool,
                                 .slots = {block.address - start.at(block.device)},
                                 .bytes = block.bytes});
    draft.builder().add_tensor({.name = block.name, .storage = block.name, .bytes = block.bytes});
  }
}

void KinetoPlan::add_command(PlanDraft& draft, std::size_t index) const {
  const TraceCommand& command = commands()[index];
  const std::string queue = "stream_" + command.stream;
  const std::string event =
      "record_" +
      std::to_string(command.kind == Kind::kRecord ? command.correlation : command.record);
  const std::string suffix = "_" + std::to_string(index);
  const auto submit = [&](OpSpec op, const std::string& name) {
    op.name = name;
    op.thread = command.thread;
    draft.builder().add_op(op);
  };
  const auto host_wait = [&](const WaitSpec& wait) {
    submit({.kind = "host_wait", .wait_for = wait}, "host_wait" + suffix);
  };
  switch (command.kind) {
    case Kind::kRun:
    case Kind::kGraph: {
      OpSpec op{.label = command.name, .queue = queue};
      const bool known = command.kind == Kind::kRun && with_memory_.contains(command.device) &&
                         !(command.spans && with_memory_.size() > 1) && !doubtful_.contains(index);
      if (!known) op.kind = "unknown";
      for (const std::size_t block : touched_[index]) {
        const AccessSpec access{.tensor = blocks_[block].name, .update = blocks_[block].name};
        if (known) {
          op.accumulates.push_back(access);
        } else if (command.kind == Kind::kRun) {
          op.writes.push_back({.tensor = blocks_[block].name});
        }
      }
      return submit(std::move(op), op_of(index));
    }
    case Kind::kRecord:
      return submit({.kind = "record", .queue = queue, .event = event}, "record" + suffix);
    case Kind::kWait:
      return submit({.kind = "wait", .queue = queue, .event = event}, "wait" + suffix);
    case Kind::kHostEvent:
      return host_wait({.target = event});
    case Kind::kHostStream:
      return host_wait({.kind = WaitKind::kQueue, .target = queue});
    case Kind::kHostAll:
      return host_wait({.kind = WaitKind::kAll});
    case Kind::kAlloc:
    case Kind::kFree:
      return;
  }
}

void KinetoPlan::add_assumptions(PlanDraft& draft) const {
  draft.assume(
      "The host submits work when it calls for it; streams are queues that complete in order, and "
      "none waits for another one unless the trace says so.");
  draft.assume(
      trace_.has_memory
          ? "A kernel touches no other device memory than blocks of its device that are live "
            "when it is submitted; what is wrong within a block is not looked for."
          : "What kernels touch is not in the trace: it has no memory events.");
  const auto count = [&](std::int64_t number, std::string_view noun, const std::string& rest) {
    if (number > 0) draft.assume(counted(number, noun) + rest);
  };
  count(trace_.unplaced, "piece",
        " of device work without a call of the host: taken as submitted when it ran.");
  count(trace_.lost_syncs, "sync", " left out: the trace does not say what was waited for.");
  count(trace_.tied_syncs, "sync",
        " left out: work has the same time, and it is not known which was first.");
  if (renumbered_) {
    draft.assume(
        "The one device of the memory events is the one that kernels run on, although "
        "their numbers differ.");
  }
  count(trace_.queries, "question",
        " whether an event has completed left out: no answer is recorded.");
  count(from_before_, "block",
        " freed that the trace does not see allocated: live from its start.");
  count(overlapping_, "block", " ended where another one was allocated over it.");
  for (const std::string& sentence : possible_) draft.assume(sentence);
}

}  // namespace

Result<Imported> import_kineto(std::string_view text, std::string_view file,
                               const ImportOptions& /*options*/) {
  const Result<KinetoTrace> trace = read_kineto(text, file);
  if (!trace.ok()) return trace.errors();
  return KinetoPlan(trace.value(), text, file).make();
}

}  // namespace memverify
