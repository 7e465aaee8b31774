#include "tools/show_text.h"

#include <algorithm>
#include <vector>

#include "plan/words.h"
#include "tools/console.h"

namespace memverify {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Rows indented by two, columns left-aligned and two blanks apart, nothing after the last.
std::string table(const Rows& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += " " + row[i];
      if (i + 1 < row.size()) line.append(widths[i] - columns_of(row[i]) + 1, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

void append_section(std::string& out, std::string_view title, const Rows& rows) {
  if (!rows.empty()) out += "\n" + std::string(title) + "\n" + table(rows);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

class Show {
 public:
  explicit Show(const Plan& plan) : plan_(plan) {}

  std::string text() const {
    std::string out = header();
    append_section(out, "pools", pools());
    append_section(out, "storages", storages());
    append_section(out, "tensors", tensors());
    append_section(out, "symbols", symbols());
    append_section(out, "conditions", conditions());
    append_section(out, "semaphores", semaphores());
    for (const QueueId queue : ids<QueueId>(plan_.queues)) {
      append_section(out, queue_title(queue), commands_of(queue));
    }
    append_section(out, "host waits", host_waits());
    append_section(out, "views", view_ops());
    append_section(out, "boundary", boundary());
    return out;
  }

 private:
  std::string value(const Expr& expr) const { return plan_.formulas.to_string(expr); }

  std::string header() const {
    std::string out = plan_.name.empty() ? "plan" : "plan " + quoted(plan_.name);
    out += ": " + counted(static_cast<std::int64_t>(plan_.ops.size()), "op") + ", ";
    return out +
           (plan_.iterations ? counted(*plan_.iterations, "iteration")
                             : "any number of iterations") +
           "\n";
  }

  Rows pools() const {
    Rows rows;
    for (const Pool& pool : plan_.pools) {
      rows.push_back({printable(pool.name),
                      pool.bytes ? value(*pool.bytes) + " bytes" : "unlimited",
                      "alignment " + std::to_string(pool.alignment),
                      joined({printable(pool.kind),
                              pool.peak_bytes ? "claimed peak " + value(*pool.peak_bytes) : ""},
                             ", ")});
    }
    return rows;
  }

  Rows storages() const {
    Rows rows;
    for (const Storage& storage : plan_.storages) {
      std::vector<std::string> slots;
      for (const Expr& offset : Plan::slice(plan_.exprs, storage.slots)) {
        slots.push_back(address_range(plan_, offset, storage.bytes));
      }
      const std::string count = slots.size() > 1 ? std::to_string(slots.size()) + " slots: " : "";
      rows.push_back({printable(storage.name), printable(plan_.pools[storage.pool].name),
                      value(storage.bytes) + " bytes", count + joined(slots, ", ")});
    }
    return rows;
  }

  std::string shape_words(const Tensor& tensor) const {
    if (tensor.dtype == DType::kNone) return value(tensor.bytes) + " bytes";
    const auto list = [&](Range range) {
      std::vector<std::string> parts;
      for (const Expr& expr : Plan::slice(plan_.exprs, range)) parts.push_back(value(expr));
      return "[" + joined(parts, ", ") + "]";
    };
    return std::string(name(tensor.dtype)) + " " + list(tensor.shape) +
           (tensor.has_strides ? " strides " + list(tensor.strides) : "");
  }

  std::string place_of(const Tensor& tensor) const {
    switch (tensor.placement) {
      case TensorKind::kRoot:
        return printable(plan_.storages[tensor.storage].name) + " + " + value(tensor.offset);
      case TensorKind::kView:
        return printable(plan_.tensors[tensor.base].name) + " + " + value(tensor.offset);
      case TensorKind::kUnplaced:
        break;
    }
    std::vector<std::string> wanted;
    for (const PoolId pool : Plan::slice(plan_.pool_lists, tensor.pools)) {
      wanted.push_back(printable(plan_.pools[pool].name));
    }
    return "unplaced" + (wanted.empty() ? "" : ", wants " + joined(wanted, " or ")) +
           (tensor.slots > 1 ? ", " + counted(tensor.slots, "slot") : "");
  }

  /// Each alias family as a tree: views under their base, two blanks deeper.
  Rows tensors() const {
    std::vector<std::vector<TensorId>> views(plan_.tensors.size());
    for (const TensorId id : ids<TensorId>(plan_.tensors)) {
      if (plan_.tensors[id].base != kNone<TensorId>) {
        views[index(plan_.tensors[id].base)].push_back(id);
      }
    }
    Rows rows;
    std::vector<std::pair<TensorId, std::size_t>> todo;
    for (const TensorId root : ids<TensorId>(plan_.tensors)) {
      if (plan_.tensors[root].base != kNone<TensorId>) continue;
      todo.assign(1, {root, 0});
      while (!todo.empty()) {
        const auto [id, depth] = todo.back();
        todo.pop_back();
        const Tensor& tensor = plan_.tensors[id];
        rows.push_back(
            {std::string(2 * std::min<std::size_t>(depth, 40), ' ') + printable(tensor.name),
             shape_words(tensor), place_of(tensor),
             tensor.alignment == 0 ? "" : "alignment " + std::to_string(tensor.alignment)});
        for (auto view = views[index(id)].rbegin(); view != views[index(id)].rend(); ++view) {
          todo.emplace_back(*view, depth + 1);
        }
      }
    }
    return rows;
  }

  Rows symbols() const {
    Rows rows;
    for (const Symbol& symbol : plan_.symbols) {
      rows.push_back(
          {printable(symbol.name),
           "from " + std::to_string(symbol.min) +
               (symbol.max ? " to " + std::to_string(*symbol.max) : ", no bound known"),
           symbol.multiple_of == 1 ? "" : "a multiple of " + std::to_string(symbol.multiple_of)});
    }
    return rows;
  }

  Rows conditions() const {
    Rows rows;
    for (const Condition& condition : plan_.conditions) {
      rows.push_back({printable(condition.name), condition.per_run ? "per run" : "per iteration"});
    }
    return rows;
  }

  Rows semaphores() const {
    Rows rows;
    for (const Semaphore& semaphore : plan_.semaphores) {
      rows.push_back({printable(semaphore.name), semaphore.timeline ? "timeline" : "counting",
                      "initial " + value(semaphore.initial)});
    }
    return rows;
  }

  std::string queue_title(QueueId id) const {
    const Queue& queue = plan_.queues[id];
    std::string title = "queue " + printable(queue.name) + ": " + std::string(name(queue.order));
    if (queue.depth) title += ", depth " + std::to_string(*queue.depth);
    if (queue.thread != ThreadId{0}) title += ", thread " + printable(plan_.threads[queue.thread]);
    if (queue.delay_max > 0) {
      title += ", delay " + std::to_string(queue.delay_min) + " to " +
               std::to_string(queue.delay_max) + " ticks";
    }
    return title;
  }

  std::string access_words(const Access& access) const {
    std::string out = access.tensor == kNone<TensorId>
                          ? "pool " + printable(plan_.pools[access.pool].name)
                          : printable(plan_.tensors[access.tensor].name);
    if (access.part != Access::kWhole) {
      const Part& part = plan_.parts[access.part];
      out += part.bytes ? address_range(plan_, part.offset, *part.bytes)
                        : "[" + value(part.offset) + ", end)";
    }
    if (access.distance > 0) out += " (distance " + std::to_string(access.distance) + ")";
    if (access.from_initial) out += " (from the initial value)";
    if (access.from != kNone<OpId>) {
      out += " (from " + printable(plan_.ops[access.from].name) + ")";
    }
    if (access.kind == AccessKind::kAccumulate && access.update != UpdateId{0}) {
      out += " (" + printable(plan_.updates[access.update]) + ")";
    }
    return out;
  }

  std::string accesses_words(const Op& op) const {
    std::vector<std::string> parts;
    for (const AccessKind kind :
         {AccessKind::kRead, AccessKind::kWrite, AccessKind::kAccumulate, AccessKind::kClobber}) {
      std::vector<std::string> things;
      for (const Access& access : plan_.accesses_of(op)) {
        if (access.kind == kind) things.push_back(access_words(access));
      }
      if (!things.empty()) parts.push_back(std::string(name(kind)) + " " + joined(things, ", "));
    }
    return joined(parts, "; ");
  }

  std::string syncs_words(OpId id) const {
    const Op& op = plan_.ops[id];
    std::vector<std::string> parts;
    if (op.event != kNone<EventId>) parts.push_back("event " + printable(plan_.events[op.event]));
    if (op.storage != kNone<StorageId>) {
      parts.push_back("storage " + printable(plan_.storages[op.storage].name));
    }
    for (const After& after : plan_.after_of(op)) {
      parts.push_back(
          "after " + printable(plan_.ops[after.op].name) +
          (after.distance > 0 ? " of " + counted(after.distance, "iteration") + " before" : ""));
    }
    for (const Wait& wait : plan_.waits_of(op)) {
      parts.push_back("waits for " + wait_words(plan_, id, wait) +
                      (wait.consume ? ", which it takes away" : ""));
    }
    for (const Signal& signal : plan_.signals_of(op)) {
      parts.push_back("signals " +
                      (signal.event != kNone<EventId>
                           ? "event " + printable(plan_.events[signal.event])
                           : "semaphore " + printable(plan_.semaphores[signal.semaphore].name) +
                                 " by " + value(signal.value)));
    }
    for (const WhenTerm& term : plan_.when_of(op)) {
      parts.push_back("when " + printable(plan_.conditions[term.condition].name) +
                      (term.value ? "" : " is false"));
    }
    if (op.skipped_pass) parts.emplace_back("skipped: passes");
    if (op.runs == Runs::kFirst) parts.emplace_back("first iteration only");
    if (op.runs == Runs::kLast) parts.emplace_back("last iteration only");
    return joined(parts, "; ");
  }

  std::vector<std::string> command_row(OpId id) const {
    const Op& op = plan_.ops[id];
    const OpDetails& details = plan_.details_of(op);
    std::string what = printable(details.label);
    if (what.empty() && op.kind != OpKind::kOp) what = std::string(name(op.kind));
    std::string place;
    if (details.location != OpDetails::kAbsent) {
      const SourceLocation& at = plan_.locations[details.location];
      place = " (" + printable(at.file) + ":" + std::to_string(at.line) + ")";
    }
    return {std::to_string(index(id)), printable(op.name), what,
            joined({accesses_words(op), syncs_words(id)}, "; ") + place};
  }

  Rows commands_of(QueueId queue) const {
    Rows rows;
    for (const OpId id : ids<OpId>(plan_.ops)) {
      const Op& op = plan_.ops[id];
      const bool here = op.kind == OpKind::kBarrier
                            ? std::ranges::count(plan_.queues_of(op), queue) > 0
                            : op.queue == queue;
      if (here) rows.push_back(command_row(id));
    }
    return rows.empty() ? Rows{{"no commands"}} : rows;
  }

  Rows rows_of(OpKind kind) const {
    Rows rows;
    for (const OpId id : ids<OpId>(plan_.ops)) {
      if (plan_.ops[id].kind == kind) rows.push_back(command_row(id));
    }
    return rows;
  }

  Rows host_waits() const { return rows_of(OpKind::kHostWait); }
  Rows view_ops() const { return rows_of(OpKind::kView); }

  Rows boundary() const {
    Rows rows;
    const auto add = [&](std::string_view title, const std::vector<TensorId>& tensors) {
      std::vector<std::string> names;
      for (const TensorId tensor : tensors) names.push_back(printable(plan_.tensors[tensor].name));
      if (!names.empty()) rows.push_back({std::string(title), joined(names, ", ")});
    };
    add("inputs", plan_.inputs);
    add("constants", plan_.constants);
    add("donated", plan_.donated);
    std::vector<TensorId> outputs;
    for (const Output& output : plan_.outputs) outputs.push_back(output.tensor);
    add("outputs", outputs);
    return rows;
  }

  const Plan& plan_;
};

}  // namespace

std::string show_plan(const Plan& plan) { return Show(plan).text(); }

}  // namespace memverify
