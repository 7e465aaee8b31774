// The order of the drawn commands as a graph for Graphviz.
#include <algorithm>
#include <map>
#include <vector>

#include "plan/words.h"
#include "tools/report_page.h"

namespace memverify {
namespace {

using sim::Command;
using sim::CommandId;

constexpr std::size_t kMostNodes = 400;

/// A quoted DOT string: text that means nothing to DOT, and stays on its line.
std::string dot_quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : printable(valid_utf8(name))) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

class OrderDot {
 public:
  explicit OrderDot(const Drawing& drawing)
      : report_(drawing.report), plan_(drawing.report.plan), run_(drawing.run) {
    choose();
  }

  std::string text() {
    out_ = "digraph plan {\n  label=" + dot_quoted(title()) +
           ";\n  rankdir=LR;\n  fontname=\"sans-serif\";\n"
           "  node [shape=box, style=filled, fillcolor=\"#e8edf3\", color=\"#8a97a5\", "
           "fontname=\"sans-serif\", fontsize=11];\n"
           "  edge [fontname=\"sans-serif\", fontsize=9];\n";
    for (std::uint32_t q = 0; q < plan_.queues.size(); ++q) add_queue(QueueId{q});
    for (const CommandId c : ids(run_.program.commands)) {
      if (kept_[index(c)] != 0 && queue_of(c) == kNone<QueueId>) add_node(c, "  ");
    }
    add_syncs();
    add_clashes();
    return out_ + "}\n";
  }

 private:
  std::string title() const {
    const std::string name(plan_.name.empty() ? std::string_view(report_.file) : plan_.name);
    const auto kept = static_cast<std::size_t>(std::ranges::count(kept_, 1));
    return name + ": " + outcome_line(report_) +
           (kept == kept_.size() ? ""
                                 : "; " + std::to_string(kept) + " of " +
                                       std::to_string(kept_.size()) + " commands");
  }

  /// All, or those next to the findings in their queues and in their syncs.
  void choose() {
    const std::size_t commands = run_.program.commands.size();
    kept_.assign(commands, commands <= kMostNodes ? 1 : 0);
    if (commands <= kMostNodes) return;
    std::vector<CommandId> seeds;
    for (const Finding& finding : report_.findings) {
      for (std::size_t k = 0; k < finding.ops.size(); ++k) {
        const std::int64_t iteration = k < finding.iteration.size() ? finding.iteration[k] : 0;
        const CommandId c = run_.program.find(finding.ops[k], iteration);
        if (c != kNone<CommandId>) seeds.push_back(c);
      }
    }
    if (seeds.empty()) seeds.push_back(CommandId{0});
    const std::vector<DrawnSync> syncs = drawn_syncs(run_);
    std::size_t count = 0;
    const auto keep = [&](CommandId c) {
      if (kept_[index(c)] != 0 || count >= kMostNodes) return;
      kept_[index(c)] = 1;
      ++count;
    };
    for (const CommandId c : seeds) keep(c);
    for (const DrawnSync& sync : syncs) {
      if (kept_[index(sync.to)] != 0) keep(sync.from);
    }
    for (const CommandId c : seeds) keep_neighbours(c, keep);
  }
  template <typename Keep>
  void keep_neighbours(CommandId c, const Keep& keep) const {
    const std::uint32_t first = index(c) < 20 ? 0 : index(c) - 20;
    const auto last = std::min<std::size_t>(index(c) + 20, kept_.size() - 1);
    for (std::uint32_t k = first; k <= last; ++k) keep(CommandId{k});
  }

  QueueId queue_of(CommandId c) const { return plan_.ops[run_.program.commands[c].op].queue; }

  /// The commands of a queue in its order; solid where that orders them.
  void add_queue(QueueId queue) {
    std::vector<CommandId> commands;
    for (const CommandId c : run_.program.sequences[2 * std::size_t{index(queue)}]) {
      if (kept_[index(c)] != 0 && queue_of(c) == queue) commands.push_back(c);
    }
    if (commands.empty()) return;
    out_ += "  subgraph cluster_" + std::to_string(index(queue)) + " {\n    label=" +
            dot_quoted(std::string(plan_.queues[queue].name) + " (" +
                       std::string(name(plan_.queues[queue].order)) + ")") +
            ";\n    color=\"#c9c8c3\";\n";
    for (const CommandId c : commands) add_node(c, "    ");
    out_ += "  }\n";
    const QueueOrder order = plan_.queues[queue].order;
    if (order == QueueOrder::kNone) return;
    for (std::size_t k = 1; k < commands.size(); ++k) {
      out_ += "  " + node(commands[k - 1]) + " -> " + node(commands[k]) +
              (order == QueueOrder::kIssue ? " [color=\"#8a97a5\", style=dotted];\n"
                                           : " [color=\"#8a97a5\"];\n");
    }
  }

  static std::string node(CommandId c) { return "c" + std::to_string(index(c)); }

  bool clashes(CommandId c) const {
    const Command& command = run_.program.commands[c];
    return std::ranges::any_of(report_.findings, [&](const Finding& finding) {
      const auto at = std::ranges::find(finding.ops, command.op) - finding.ops.begin();
      const auto k = static_cast<std::size_t>(at);
      if (k == finding.ops.size()) return false;
      return (k < finding.iteration.size() ? finding.iteration[k] : 0) == command.iteration;
    });
  }

  void add_node(CommandId c, std::string_view indent) {
    const Command& command = run_.program.commands[c];
    const Op& op = plan_.ops[command.op];
    std::string words(op.name);
    if (repeats(plan_)) words += "@" + std::to_string(command.iteration);
    if (const std::string_view label = plan_.details_of(op).label; !label.empty()) {
      words += " (" + std::string(label) + ")";
    }
    out_ += std::string(indent) + node(c) + " [label=" + dot_quoted(words);
    if (clashes(c)) out_ += ", color=\"#d55e00\", penwidth=2.5";
    if (!is_counted(op.kind)) out_ += ", shape=ellipse, fillcolor=\"#ffffff\"";
    out_ += "];\n";
  }

  void add_syncs() {
    for (const DrawnSync& sync : drawn_syncs(run_)) {
      if (kept_[index(sync.from)] == 0 || kept_[index(sync.to)] == 0) continue;
      out_ += "  " + node(sync.from) + " -> " + node(sync.to) +
              (sync.is_semaphore ? " [color=\"#cc79a7\", label=\"semaphore\"];\n"
                                 : " [color=\"#009e73\"];\n");
    }
  }

  void add_clashes() {
    for (const Finding& finding : report_.findings) {
      if (finding.ops.size() != 2) continue;
      std::vector<CommandId> pair;
      for (std::size_t k = 0; k < 2; ++k) {
        const std::int64_t iteration = k < finding.iteration.size() ? finding.iteration[k] : 0;
        pair.push_back(run_.program.find(finding.ops[k], iteration));
      }
      if (pair[0] == kNone<CommandId> || pair[1] == kNone<CommandId>) continue;
      if (kept_[index(pair[0])] == 0 || kept_[index(pair[1])] == 0) continue;
      out_ += "  " + node(pair[0]) + " -> " + node(pair[1]) + " [color=\"#d55e00\", fontcolor=" +
              "\"#d55e00\", style=dashed, penwidth=2, dir=both, constraint=false, label=" +
              dot_quoted(info(finding.rule).id) + "];\n";
    }
  }

  const Report& report_;
  const Plan& plan_;
  const DrawnRun& run_;
  std::vector<std::uint8_t> kept_;  ///< By command.
  std::string out_;
};

}  // namespace

std::string order_dot(const Drawing& drawing) { return OrderDot(drawing).text(); }

}  // namespace memverify
