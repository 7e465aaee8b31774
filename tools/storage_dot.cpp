#include <algorithm>
#include <set>

#include "plan/words.h"
#include "tools/storage_report.h"

namespace memverify {
namespace {

/// A Graphviz string: names are the user's and may hold anything.
std::string dot_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class DotWriter {
 public:
  explicit DotWriter(const Plan& plan) : plan_(plan) {}

  std::string write(std::span<const StorageView> shown) {
    out_ = "digraph memverify {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n";
    for (const StorageView& view : shown) add(view);
    return out_ + "}\n";
  }

 private:
  static std::string id(char kind, std::size_t number) {
    return std::string(1, kind) + std::to_string(number);
  }

  /// The node of a command instance, which is added when it is first met.
  std::string command(OpId op, std::int64_t iteration, std::string_view label) {
    const std::string node =
        id('o', index(op)) + (repeats(plan_) ? "_" + std::to_string(iteration) : "");
    if (!commands_.insert(node).second) return node;
    std::string text(plan_.ops[op].name);
    if (repeats(plan_)) text += "@" + std::to_string(iteration);
    out_ += "  " + node + " [label=" + dot_text(text + std::string(label)) + "];\n";
    return node;
  }

  void edge(const std::string& from, const std::string& to, const std::string& rest = "") {
    if (edges_.insert(from + ">" + to).second) {
      out_ += "  " + from + " -> " + to + (rest.empty() ? "" : " [" + rest + "]") + ";\n";
    }
  }

  void add(const StorageView& view) {
    const std::string storage =
        id('s', index(view.storage)) + (repeats(plan_) ? "_" + std::to_string(view.iteration) : "");
    out_ +=
        "  " + storage + " [shape=box3d, label=" +
        dot_text(std::string(plan_.storages[view.storage].name) + " [" +
                 std::to_string(view.bytes.begin) + ", " + std::to_string(view.bytes.end) + ")") +
        "];\n";
    for (const AliasView& alias : view.aliases) {
      const std::string tensor = id('t', index(alias.tensor));
      if (tensors_.insert(tensor).second) {
        out_ += "  " + tensor + " [shape=box, label=" + dot_text(plan_.tensors[alias.tensor].name) +
                "];\n";
      }
      const TensorId base = plan_.tensors[alias.tensor].base;
      edge(base == kNone<TensorId> ? storage : id('t', index(base)), tensor);
      for (const std::uint32_t use : alias.uses) {
        add_use(view.uses[use], tensor, view.blocker == use);
      }
    }
  }

  void add_use(const UseView& use, const std::string& tensor, bool blocks) {
    const std::string node = command(use.op, use.iteration, "");
    if (blocks) out_ += "  " + node + " [penwidth=3];\n";
    edge(tensor, node, "label=" + dot_text(name(use.kind)));
    for (const NextUse& next : use.next) {
      if (next.op == kNone<OpId>) {
        out_ += "  end [shape=doublecircle];\n";
        edge(node, "end", "style=dashed");
        continue;
      }
      const std::string waiter = command(next.op, next.iteration, next.frees ? " (frees)" : "");
      if (next.is_earlier) {
        edge(waiter, node, "color=red, style=bold, label=\"does not wait\"");
        continue;
      }
      if (!next.waits) {
        edge(node, waiter, "color=red, style=bold, label=\"does not wait\"");
        continue;
      }
      std::string last = node;
      for (const Step& step : next.through) {
        const std::string via = command(step.op, step.iteration, "");
        edge(last, via, "style=dashed");
        last = via;
      }
      edge(last, waiter, "style=dashed");
    }
  }

  const Plan& plan_;
  std::string out_;
  std::set<std::string> commands_, tensors_, edges_;
};

}  // namespace

std::string storage_dot(const PlanViews& views, std::span<const StorageView> shown) {
  return DotWriter(views.plan()).write(shown);
}

}  // namespace memverify
