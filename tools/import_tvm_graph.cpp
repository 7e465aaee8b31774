// The JSON of TVM's graph executor: nodes in the order in which they run, and for each of their
// results a storage, which results of other nodes share. A storage is as large as its largest
// result, and starts no other's bytes.
//
// Tested by tests/unit/tools/import_tvm_graph_test.cpp on corpus/imports/tvm-graph.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plan/words.h"
#include "tools/importers.h"
#include "tools/json_cursor.h"
#include "tools/plan_draft.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostTvmBytes = std::int64_t{1} << 48U;
constexpr std::string_view kTvmQueue = "executor";
constexpr std::string_view kNoOperation = "__nop";  ///< Runs nothing: another shape of its operand.

/// A result of a node.
struct TvmEntry {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t storage = 0;
};

class TvmGraph {
 public:
  TvmGraph(const JsonCursor& root, std::vector<Diagnostic>& errors)
      : root_(root), errors_(errors) {}

  Result<Imported> read() {
    for (const JsonCursor& first : root_["node_row_ptr"].items()) {
      first_.push_back(first.integer(0));
    }
    nodes_ = root_["nodes"].items();
    check_rows();
    if (errors_.empty()) read_entries();
    if (!errors_.empty()) return errors_;
    draft_.builder().add_queue({.name = kTvmQueue});
    for (std::size_t node = 0; node < nodes_.size(); ++node) read_node(node);
    if (!errors_.empty()) return errors_;
    add_memory();
    add_outputs();
    if (!errors_.empty()) return errors_;
    draft_.assume(
        "The nodes run one after another, in the order of the file; each reads its inputs whole "
        "and writes its results whole.");
    draft_.assume("What a function allocates inside is not in the file.");
    draft_.assume(
        "Inputs and parameters, which the file does not tell apart, are still wanted after a run.");
    draft_.assume("Each storage is memory of its own, as large as its largest result.");
    return draft_.finish();
  }

 private:
  /// One row a node, and the end.
  void check_rows() {
    const bool whole =
        first_.size() == nodes_.size() + 1 && first_.front() == 0 && std::ranges::is_sorted(first_);
    if (!whole && errors_.empty()) {
      root_["node_row_ptr"].fail("import.contradiction",
                                 "expected the first entry of each of the " +
                                     std::to_string(nodes_.size()) + " nodes, and the end");
    }
  }

  /// An attribute is a pair of its type and the list.
  std::vector<JsonCursor> attribute(std::string_view name) const {
    const JsonCursor attribute = root_["attrs"][name];
    const std::vector<JsonCursor> pair = attribute.items();
    if (pair.size() != 2) {
      attribute.fail("import.type", "expected a type and a list");
      return {};
    }
    return pair[1].items();
  }

  void read_entries() {
    const std::vector<JsonCursor> storages = attribute("storage_id");
    const std::vector<JsonCursor> types = attribute("dltype");
    const std::vector<JsonCursor> shapes = attribute("shape");
    const auto count = static_cast<std::size_t>(first_.back());
    if (errors_.empty() &&
        (storages.size() != count || types.size() != count || shapes.size() != count)) {
      root_["attrs"].fail("import.contradiction", "storage_id, dltype and shape must have the " +
                                                      std::to_string(count) +
                                                      " entries of node_row_ptr");
    }
    if (!errors_.empty()) return;
    std::size_t node = 0;
    for (std::size_t i = 0; i < count; ++i) {
      while (static_cast<std::size_t>(first_[node + 1]) <= i) ++node;
      const std::size_t index = i - static_cast<std::size_t>(first_[node]);
      const std::string name = nodes_[node]["name"].text();
      TvmEntry entry{.storage = storages[i].integer(0)};
      entry.name = draft_.unique(index == 0 ? name : name + ":" + std::to_string(index));
      entry.bytes = bytes_of(types[i], shapes[i]);
      std::int64_t& size = storage_bytes_[entry.storage];
      size = std::max(size, entry.bytes);
      entries_.push_back(std::move(entry));
    }
  }

  /// Of "float32", "bool", "uint8x4" and a shape.
  static std::int64_t bytes_of(const JsonCursor& type, const JsonCursor& shape) {
    const std::string text = type.text();
    const std::size_t digits = text.find_first_of("0123456789");
    std::int64_t bits = 0;
    std::int64_t lanes = 1;
    if (digits != std::string::npos) {
      const char* const end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data() + digits, end, bits);
      if (error == std::errc() && rest != end && *rest == 'x') {
        std::from_chars(rest + 1, end, lanes);
      }
    } else if (text == "bool") {
      bits = 8;
    }
    if (bits < 1 || bits > 1024 || lanes < 1 || lanes > 1024) {
      type.fail("import.unsupported",
                "elements of type " + memverify::quoted(text) + " have no known size");
      return 0;
    }
    std::int64_t bytes = (bits * lanes + 7) / 8;
    for (const JsonCursor& extent : shape.items()) {
      const std::int64_t size = extent.integer(0);
      if (size > 0 && bytes > kMostTvmBytes / size) {
        shape.fail("import.range", "a tensor of more than 2^48 bytes");
        return 0;
      }
      bytes *= size;
    }
    return bytes;
  }

  /// The entry that [node, index, version] stands for.
  std::optional<std::size_t> entry_at(const JsonCursor& reference, std::size_t nodes) const {
    const std::vector<JsonCursor> parts = reference.items();
    if (parts.size() < 2) {
      reference.fail("import.type", "expected [node, index, version]");
      return std::nullopt;
    }
    const auto node = static_cast<std::size_t>(parts[0].integer(0));
    const std::int64_t index = parts[1].integer(0);
    if (node >= nodes || index >= first_[node + 1] - first_[node]) {
      reference.fail("import.unknown", "there is no such result of a node before");
      return std::nullopt;
    }
    return static_cast<std::size_t>(first_[node] + index);
  }

  void read_node(std::size_t index) {
    const JsonCursor& node = nodes_[index];
    const std::size_t begin = static_cast<std::size_t>(first_[index]);
    const std::size_t end = static_cast<std::size_t>(first_[index + 1]);
    if (const std::string kind = node["op"].text(); kind == "null") {
      for (std::size_t i = begin; i < end; ++i) {
        if (entries_[i].bytes > 0) draft_.builder().add_input(entries_[i].name);
      }
      return;
    } else if (kind != "tvm_op") {
      return node["op"].fail("import.unsupported", "expected \"null\" or \"tvm_op\"");
    }
    const std::string function = short_name(node["attrs"]["func_name"].text());
    std::set<std::size_t> inputs;
    for (const JsonCursor& input : node["inputs"].items()) {
      if (const auto entry = entry_at(input, index)) inputs.insert(*entry);
    }
    if (!errors_.empty()) return;
    if (function == kNoOperation && inputs.size() == 1 && end == begin + 1) {
      return add_view(node, *inputs.begin(), begin);
    }
    OpSpec op{.label = function, .queue = kTvmQueue};
    const std::string name = draft_.unique(node["name"].text());
    op.name = name;
    for (const std::size_t input : inputs) {
      if (entries_[input].bytes > 0) op.reads.push_back({.tensor = entries_[input].name});
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (entries_[i].bytes > 0) op.writes.push_back({.tensor = entries_[i].name});
    }
    draft_.builder().add_op(op);
  }

  void add_view(const JsonCursor& node, std::size_t base, std::size_t view) {
    if (entries_[view].storage != entries_[base].storage ||
        entries_[view].bytes > entries_[base].bytes) {
      return node.fail("import.contradiction",
                       "a node that runs nothing must have its operand's storage and bytes");
    }
    base_[view] = base;
  }

  void add_memory() {
    PlanBuilder& builder = draft_.builder();
    builder.add_pool({.name = "memory"});
    std::int64_t offset = 0;
    for (const auto& [id, bytes] : storage_bytes_) {
      if (bytes > kMostTvmBytes || offset > kMostTvmBytes) {
        return root_["attrs"].fail("import.range", "storages of more than 2^48 bytes");
      }
      builder.add_storage(
          {.name = storage_name(id), .pool = "memory", .slots = {offset}, .bytes = bytes});
      offset += bytes;
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      TensorSpec tensor{.name = entries_[i].name, .bytes = entries_[i].bytes};
      const std::string storage = storage_name(entries_[i].storage);
      if (const auto base = base_.find(i); base != base_.end()) {
        tensor.view_of = entries_[base->second].name;
      } else {
        tensor.storage = storage;
      }
      builder.add_tensor(tensor);
    }
  }

  static std::string storage_name(std::int64_t id) { return "storage_" + std::to_string(id); }

  void add_outputs() {
    std::set<std::size_t> seen;
    for (const JsonCursor& head : root_["heads"].items()) {
      const auto entry = entry_at(head, nodes_.size());
      if (entry && entries_[*entry].bytes > 0 && seen.insert(*entry).second) {
        draft_.builder().add_output({.tensor = entries_[*entry].name});
      }
    }
  }

  const JsonCursor& root_;
  std::vector<Diagnostic>& errors_;
  PlanDraft draft_;
  std::vector<JsonCursor> nodes_;
  std::vector<std::int64_t> first_;  ///< Entry of each node, and their number.
  std::vector<TvmEntry> entries_;
  std::map<std::int64_t, std::int64_t> storage_bytes_;
  std::map<std::size_t, std::size_t> base_;  ///< Of views.
};

}  // namespace

Result<Imported> import_tvm_graph(std::string_view text, std::string_view file,
                                  const ImportOptions& /*options*/) {
  std::vector<Diagnostic> errors;
  const std::optional<nlohmann::json> document = parse_json(text, file, errors);
  if (!document) return errors;
  const JsonCursor root(*document, file, errors);
  if (!root.has("nodes") || !root.has("node_row_ptr")) {
    root.fail("import.format", "not a graph of TVM's graph executor: it needs nodes, node_row_ptr");
    return errors;
  }
  return TvmGraph(root, errors).read();
}

}  // namespace memverify
