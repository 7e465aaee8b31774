// The lists of a picture's data, as columns.
#include <algorithm>
#include <map>

#include "tools/report_numbers.h"

namespace memverify {
namespace {

using sim::Command;
using sim::CommandId;

/// Texts of which many are equal: a list of different ones and an index for each use.
class Words {
 public:
  std::int64_t index_of(const std::string& word) {
    const auto [at, added] = numbers_.emplace(word, static_cast<std::int64_t>(words_.size()));
    if (added) words_.push_back(word);
    return at->second;
  }
  void write(JsonText& json, std::string_view name) const {
    json.key(name);
    json.open('[');
    for (const std::string& word : words_) {
      json.next();
      json.value(std::string_view(word));
    }
    json.close(']');
  }

 private:
  std::map<std::string, std::int64_t> numbers_;
  std::vector<std::string> words_;
};

class TablesData {
 public:
  TablesData(JsonText& json, const Drawing& drawing, const Numbers& numbers)
      : json_(json),
        plan_(drawing.report.plan),
        run_(drawing.run),
        memory_(drawing.memory),
        numbers_(numbers) {}

  void write() {
    add_storages();
    add_tensors();
    add_ops();
    add_commands();
    add_uses();
    add_ranges();
    add_views();
    add_reuse();
    add_syncs();
    add_unmet();
  }

 private:
  void add_text(std::string_view text) {
    json_.next();
    json_.value(text);
  }

  void add_storages() {
    Column pool, bytes, at;
    json_.key("storages");
    json_.open('{');
    json_.key("name");
    json_.open('[');
    for (const StorageId id : ids(plan_.storages)) {
      if (!numbers_.has(id)) continue;
      add_text(plan_.storages[id].name);
      pool.add(index(plan_.storages[id].pool));
      bytes.add(run_.layout.storage(id).bytes);
      at.add(run_.layout.slot_address(id, 0));
    }
    json_.close(']');
    pool.write(json_, "pool");
    bytes.write(json_, "bytes");
    at.write(json_, "at");
    json_.close('}');
  }
  void add_tensors() {
    Column base, storage, bytes, type, role;
    Words types;
    Table<TensorId, std::uint8_t> roles;
    roles.resize(plan_.tensors.size(), 0);
    for (const TensorId id : plan_.inputs) roles[id] |= 1;
    for (const TensorId id : plan_.constants) roles[id] |= 2;
    for (const Output& output : plan_.outputs) roles[output.tensor] |= 4;
    for (const TensorId id : plan_.donated) roles[id] |= 8;
    json_.key("tensors");
    json_.open('{');
    json_.key("name");
    json_.open('[');
    for (const TensorId id : ids(plan_.tensors)) {
      if (!numbers_.has(id)) continue;
      const Tensor& tensor = plan_.tensors[id];
      add_text(tensor.name);
      base.add(numbers_.of(tensor.base));
      storage.add(numbers_.of(tensor.storage));
      const ByteRange hull = run_.layout.tensor(id).hull;
      bytes.add(hull.end - hull.begin);
      type.add(types.index_of(type_words(tensor)));
      role.add(roles[id]);
    }
    json_.close(']');
    base.write(json_, "base");
    storage.write(json_, "storage");
    bytes.write(json_, "bytes");
    type.write(json_, "type");
    role.write(json_, "role");
    types.write(json_, "types");
    json_.close('}');
  }
  std::string type_words(const Tensor& tensor) const {
    if (tensor.dtype == DType::kNone) return "";
    std::string words(name(tensor.dtype));
    words += " [";
    for (const Expr& extent : Plan::slice(plan_.exprs, tensor.shape)) {
      if (words.back() != '[') words += ", ";
      words += std::to_string(run_.layout.value(extent));
    }
    return words + "]";
  }

  void add_ops() {
    Column label, kind, lane, file, line;
    Words labels, files;
    json_.key("ops");
    json_.open('{');
    json_.key("name");
    json_.open('[');
    for (const OpId id : ids(plan_.ops)) {
      if (!numbers_.has(id)) continue;
      const Op& op = plan_.ops[id];
      const OpDetails& details = plan_.details_of(op);
      add_text(op.name);
      label.add(labels.index_of(std::string(details.label)));
      kind.add(static_cast<std::int64_t>(op.kind));
      lane.add(op.kind == OpKind::kView ? -1 : lane_of(plan_, op));
      const bool placed = details.location != OpDetails::kAbsent;
      const SourceLocation at = placed ? plan_.locations[details.location] : SourceLocation{};
      file.add(files.index_of(std::string(at.file)));
      line.add(at.line);
    }
    json_.close(']');
    label.write(json_, "label");
    kind.write(json_, "kind");
    lane.write(json_, "lane");
    file.write(json_, "file");
    line.write(json_, "line");
    labels.write(json_, "labels");
    files.write(json_, "files");
    json_.close('}');
  }

  void add_commands() {
    Column op, iteration, start, end;
    for (const CommandId c : ids(run_.program.commands)) {
      if (!numbers_.has(c)) continue;
      const Command& command = run_.program.commands[c];
      op.add(numbers_.of(command.op));
      iteration.add(command.iteration);
      start.add(run_.spans[c].start);
      end.add(run_.spans[c].end);
    }
    json_.key("commands");
    json_.open('{');
    op.write(json_, "op");
    iteration.write(json_, "iteration");
    start.write(json_, "start");
    end.write(json_, "end");
    json_.close('}');
  }

  /// By op, the tensors that it touches; a tensor touched twice in one way once.
  void add_uses() {
    Column op, tensor, kind;
    for (const OpId id : ids(plan_.ops)) {
      if (!numbers_.has(id) || plan_.ops[id].kind == OpKind::kView) continue;
      std::vector<std::pair<std::int64_t, std::int64_t>> seen;
      for (const Access& access : plan_.accesses_of(plan_.ops[id])) {
        const std::int64_t at = numbers_.of(access.tensor);
        const auto how = static_cast<std::int64_t>(access.kind);
        if (at < 0 || std::ranges::find(seen, std::pair(at, how)) != seen.end()) continue;
        if (seen.size() < 64) seen.emplace_back(at, how);
        op.add(numbers_.of(id));
        tensor.add(at);
        kind.add(how);
      }
    }
    json_.key("uses");
    json_.open('{');
    op.write(json_, "op");
    tensor.write(json_, "tensor");
    kind.write(json_, "kind");
    json_.close('}');
  }

  void add_ranges() {
    Column root, op, iteration, pool, at, bytes, start, end, role;
    for (std::size_t k = 0; k < memory_.ranges.size(); ++k) {
      if (numbers_.range[k] == kNotKept) continue;
      const DrawnRange& range = memory_.ranges[k];
      root.add(numbers_.of(range.root));
      op.add(numbers_.of(range.op));
      iteration.add(range.instance);
      pool.add(index(range.pool));
      at.add(range.bytes.begin);
      bytes.add(range.bytes.empty() ? 0 : range.bytes.end - range.bytes.begin);
      start.add(range.start);
      end.add(range.end);
      role.add((range.is_given ? 1 : 0) + (range.is_kept ? 2 : 0));
    }
    json_.key("ranges");
    json_.open('{');
    root.write(json_, "root");
    op.write(json_, "op");
    iteration.write(json_, "iteration");
    pool.write(json_, "pool");
    at.write(json_, "at");
    bytes.write(json_, "bytes");
    start.write(json_, "start");
    end.write(json_, "end");
    role.write(json_, "role");
    json_.close('}');
  }

  void add_views() {
    constexpr std::size_t kMostViews = 60'000;
    Column tensor, range, at, bytes, start, end;
    std::size_t views = 0;
    for (const DrawnView& view : memory_.views) {
      if (numbers_.range[view.range] == kNotKept || !numbers_.has(view.tensor)) continue;
      if (++views > kMostViews) break;
      tensor.add(numbers_.of(view.tensor));
      range.add(numbers_.range[view.range]);
      at.add(view.bytes.begin);
      bytes.add(view.bytes.end - view.bytes.begin);
      start.add(view.start);
      end.add(view.end);
    }
    json_.key("views");
    json_.open('{');
    tensor.write(json_, "tensor");
    range.write(json_, "range");
    at.write(json_, "at");
    bytes.write(json_, "bytes");
    start.write(json_, "start");
    end.write(json_, "end");
    json_.close('}');
  }

  void add_reuse() {
    Column from, to;
    for (const auto& [earlier, later] : memory_.reuse) {
      if (numbers_.range[earlier] == kNotKept || numbers_.range[later] == kNotKept) continue;
      from.add(numbers_.range[earlier]);
      to.add(numbers_.range[later]);
    }
    json_.key("reuse");
    json_.open('{');
    from.write(json_, "from");
    to.write(json_, "to");
    json_.close('}');
  }

  void add_syncs() {
    Column from, to, reason;
    for (const DrawnSync& sync : drawn_syncs(run_)) {
      const std::int64_t a = numbers_.of(sync.from), b = numbers_.of(sync.to);
      if (a < 0 || b < 0) continue;
      from.add(a);
      to.add(b);
      reason.add(reason_of(sync));
    }
    json_.key("syncs");
    json_.open('{');
    from.write(json_, "from");
    to.write(json_, "to");
    reason.write(json_, "reason");
    json_.close('}');
  }
  /// The counts that commands wait for which never start.
  void add_unmet() {
    Column command, what;
    Words words;
    for (const CommandId c : ids(run_.program.commands)) {
      if (!numbers_.has(c) || run_.spans[c].start >= 0) continue;
      for (const sim::SemaphoreNeed& need : run_.program.semaphores_of(c)) {
        command.add(numbers_.of(c));
        what.add(words.index_of(std::to_string(need.value) + " of semaphore " +
                                std::string(plan_.semaphores[need.semaphore].name)));
      }
    }
    json_.key("unmet");
    json_.open('{');
    command.write(json_, "command");
    what.write(json_, "what");
    words.write(json_, "words");
    json_.close('}');
  }
  /// 0 event, 1 semaphore, 2 after, 3 barrier or host wait, 4 a count of ops.
  static std::int64_t reason_of(const DrawnSync& sync) {
    if (sync.is_semaphore) return 1;
    switch (sync.reason) {
      case sim::Need::Reason::kEvent:
        return 0;
      case sim::Need::Reason::kAfter:
        return 2;
      case sim::Need::Reason::kBarrier:
      case sim::Need::Reason::kHostWait:
        return 3;
      case sim::Need::Reason::kQueue:
      case sim::Need::Reason::kFence:
      case sim::Need::Reason::kRecord:
      case sim::Need::Reason::kThread:
      case sim::Need::Reason::kDepth:
      case sim::Need::Reason::kPending:
      case sim::Need::Reason::kOutstanding:
        break;
    }
    return 4;
  }

  JsonText& json_;
  const Plan& plan_;
  const DrawnRun& run_;
  const DrawnMemory& memory_;
  const Numbers& numbers_;
};

}  // namespace

void write_tables(JsonText& json, const Drawing& drawing, const Numbers& numbers) {
  TablesData(json, drawing, numbers).write();
}

}  // namespace memverify
