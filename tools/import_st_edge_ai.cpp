// The reports of ST Edge AI (formerly STM32Cube.AI), schema 2.0 of *_c_info.json and version 1.2 of
// *_c_graph.json, written beside the C code that the tool generates for a network.
//
// Both say the same in different words: memory pools with a place for every buffer, and the nodes
// with the buffers they read, write and use as scratch. The generated code runs the nodes one
// after another on the CPU, so the plan has one serial queue. Each buffer becomes a storage and a
// tensor of the same name. *_report.json, which the tool writes too, holds no addresses.
//
// Tested by tests/unit/tools/import_st_edge_ai_test.cpp on corpus/imports/st-edge-ai.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/builder.h"
#include "plan/words.h"
#include "tools/importers.h"
#include "tools/json_cursor.h"

namespace memverify {

namespace {

struct PoolSize {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t alignment = 1;  ///< Bytes.
  bool capacity_stated = false;
};

struct ArenaBuffer {
  std::string name;
  std::size_t pool = 0;     ///< Index into Model::pools.
  std::int64_t offset = 0;  ///< Bytes from the start of the pool.
  std::int64_t bytes = 0;
  std::int64_t alignment = 0;  ///< Bytes; 0: the pool's.
  std::int64_t rows = 0;       ///< Outermost extent; 0: unknown.
  bool constant = false;
};

struct Node {
  std::string name;
  std::string label;
  std::string kernel;              ///< The C function it calls; may be empty.
  std::vector<std::size_t> reads;  ///< Indices into Model::buffers, each once.
  std::vector<std::size_t> writes;
  std::vector<std::size_t> scratch;
};

struct Model {
  std::string name;
  std::vector<PoolSize> pools;
  std::vector<ArenaBuffer> buffers;
  std::vector<Node> nodes;  ///< In the order in which they run.
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
};

std::int64_t key_at(const JsonCursor& at, std::int64_t /*type*/) { return at.integer(-1); }
std::string key_at(const JsonCursor& at, const std::string& /*type*/) { return at.text(); }

/// What the keys of one kind (numbers or names) stand for: an index each.
template <typename Key>
class Names {
 public:
  void add(const JsonCursor& at, std::size_t index) {
    if (!by_key_.emplace(key_at(at, Key()), index).second) {
      at.fail("import.duplicate", "this one is there already");
    }
  }
  std::optional<std::size_t> find(const JsonCursor& at) const {
    const auto found = by_key_.find(key_at(at, Key()));
    if (found != by_key_.end()) return found->second;
    at.fail("import.unknown", "nothing of that name or number is listed");
    return std::nullopt;
  }
  /// Appends what each element of the array stands for to `list`, each once.
  void find_all(const JsonCursor& keys, std::vector<std::size_t>& list) const {
    for (const JsonCursor& key : keys.items()) {
      const std::optional<std::size_t> found = find(key);
      if (found && std::ranges::find(list, *found) == list.end()) list.push_back(*found);
    }
  }

 private:
  std::map<Key, std::size_t> by_key_;
};

/// `stated` is -1 where the tool knows no capacity: then the generated code reserves what is used.
PoolSize pool_size(std::string name, std::int64_t stated, std::int64_t used,
                   std::int64_t alignment) {
  return {.name = std::move(name),
          .bytes = stated < 0 ? used : stated,
          .alignment = std::max<std::int64_t>(alignment, 1),
          .capacity_stated = stated >= 0};
}

/// Reports a place whose end needs more than 64 bits.
void check_end(const JsonCursor& at, const ArenaBuffer& buffer) {
  if (buffer.offset > std::numeric_limits<std::int64_t>::max() - buffer.bytes) {
    at.fail("import.range", "the end of this place is beyond 2^63 - 1");
  }
}

std::int64_t first_extent(const JsonCursor& shape) {
  const std::vector<JsonCursor> extents = shape.items();
  return extents.empty() ? 0 : extents.front().integer(0);
}

// *_c_info.json: everything goes by number.

void read_info_node(const JsonCursor& node, const Names<std::int64_t>& buffers, Model& model) {
  Node out{.name = node["name"].text(), .label = node["description"].text()};
  if (const JsonCursor mapping = node["mapping"]; mapping.text() != "NODE_SW") {
    mapping.fail("import.unsupported",
                 "only nodes that run on the CPU (\"NODE_SW\") are read: others may run beside it");
  }
  if (!node["subgraph_nodes"].items().empty()) {
    node["subgraph_nodes"].fail("import.unsupported",
                                "nodes with a graph of their own are not read");
  }
  const std::vector<JsonCursor> functions = node["sw_functions"].items();
  if (!functions.empty()) out.kernel = functions.front().text();
  buffers.find_all(node["inputs"], out.reads);
  buffers.find_all(node["outputs"], out.writes);
  buffers.find_all(node["scratchs"], out.scratch);
  model.nodes.push_back(std::move(out));
}

void read_info(const JsonCursor& root, Model& model) {
  Names<std::int64_t> pools;
  for (const JsonCursor& pool : root["memory_pools"].items()) {
    pools.add(pool["id"], model.pools.size());
    model.pools.push_back(pool_size(pool["name"].text(), pool["size_bytes"].integer(-1),
                                    pool["used_size_bytes"].integer(0),
                                    pool["alignment"].integer(0)));
  }
  Names<std::int64_t> buffers;
  for (const JsonCursor& buffer : root["buffers"].items()) {
    const std::optional<std::size_t> pool = pools.find(buffer["mpool_id"]);
    buffers.add(buffer["id"], model.buffers.size());
    model.buffers.push_back({.name = buffer["name"].text(),
                             .pool = pool.value_or(0),
                             .offset = buffer["offset_start"].integer(0),
                             .bytes = buffer["size_bytes"].integer(0),
                             .alignment = buffer["alignment"].integer(0),
                             .rows = first_extent(buffer["shape"]),
                             .constant = buffer["is_param"].boolean()});
    check_end(buffer, model.buffers.back());
  }
  const std::vector<JsonCursor> graphs = root["graphs"].items();
  if (graphs.size() != 1) {
    root["graphs"].fail("import.unsupported",
                        "expected one graph, found " + std::to_string(graphs.size()));
    return;
  }
  const JsonCursor& graph = graphs.front();
  model.name = graph["name"].text();
  for (const JsonCursor& node : graph["nodes"].items()) read_info_node(node, buffers, model);
  buffers.find_all(graph["inputs"], model.inputs);
  buffers.find_all(graph["outputs"], model.outputs);
}

// *_c_graph.json: everything goes by name; a node names tensors, and each tensor lies in an array.

/// The pools of one section, with the places of their buffers.
void read_graph_pools(const JsonCursor& section, Names<std::string>& buffers, Model& model) {
  for (const JsonCursor& pool : section.members()) {
    const std::int64_t alignment =
        pool.has("activation_alignment") ? pool["activation_alignment"].integer(0) : 1;
    for (const JsonCursor& place : pool["buffer_offsets"].items()) {
      buffers.add(place["buffer_name"], model.buffers.size());
      model.buffers.push_back({.name = place["buffer_name"].text(),
                               .pool = model.pools.size(),
                               .offset = place["offset"].integer(0),
                               .bytes = place["size"].integer(0)});
      check_end(place, model.buffers.back());
    }
    model.pools.push_back(pool_size(pool.key(), pool["pool_size"].integer(-1),
                                    pool["used_size"].integer(0), alignment));
  }
}

void read_graph(const JsonCursor& root, Model& model) {
  model.name = root["model_name"].text();
  Names<std::string> buffers;
  read_graph_pools(root["activations"], buffers, model);
  read_graph_pools(root["weights"], buffers, model);

  Names<std::string> tensors;
  for (const JsonCursor& array : root["c_arrays"].items()) {
    const std::optional<std::size_t> found = buffers.find(array["name"]);
    if (!found) continue;
    ArenaBuffer& buffer = model.buffers[*found];
    if (array["offset"].integer(0) != buffer.offset ||
        array["c_size_in_byte"].integer(0) != buffer.bytes) {
      array.fail("import.contradiction", "the array " + memverify::quoted(buffer.name) +
                                             " lies elsewhere according to its pool");
    }
    buffer.constant = array["is_const"].boolean();
    for (const JsonCursor& tensor : array["tensors"].items()) {
      tensors.add(tensor["name"], *found);
      buffer.rows = first_extent(tensor["shape"]);
    }
  }
  for (const JsonCursor& layer : root["c_layers"].items()) {
    Node node{.name = layer["name"].text(), .label = layer["layer_type"].text()};
    const std::vector<JsonCursor> functions = layer["c_forward"].items();
    if (!functions.empty()) node.kernel = functions.front().text();
    tensors.find_all(layer["tensors"]["inputs"], node.reads);
    tensors.find_all(layer["tensors"]["weights"], node.reads);
    tensors.find_all(layer["tensors"]["outputs"], node.writes);
    tensors.find_all(layer["tensors"]["scratchs"], node.scratch);
    model.nodes.push_back(std::move(node));
  }
  tensors.find_all(root["inputs"], model.inputs);
  tensors.find_all(root["outputs"], model.outputs);
}

bool overlap(const ArenaBuffer& a, const ArenaBuffer& b) {
  return a.pool == b.pool && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// True iff `node` may write `out` while it reads `in`, which overlap. The tool slides the output
/// of a convolution under its input on purpose: row i of the output must end at or below the start
/// of row i of the input (linear in i, so the first and the last row decide). Other kernels get no
/// permission, so that an overlap is reported (MV107).
bool works_in_place(const Node& node, const ArenaBuffer& in, const ArenaBuffer& out) {
  const bool by_rows =
      node.kernel.starts_with("forward_dw") || node.kernel.starts_with("forward_pw");
  if (!by_rows || out.rows <= 0 || out.rows > in.rows) return false;
  const std::int64_t in_row = in.bytes / in.rows;
  const std::int64_t out_row = out.bytes / out.rows;
  const std::int64_t last = out.rows - 1;
  return out.offset + out_row <= in.offset &&
         out.offset + last * out_row + out_row <= in.offset + last * in_row;
}

/// The plan of a model, and what it takes for granted.
class PlanMaker {
 public:
  explicit PlanMaker(const Model& model) : model_(model) {}
  Result<Imported> make() &&;

 private:
  void add_memory();
  void add_node(const Node& node);
  void add_boundary();
  std::vector<AccessSpec> accesses(const std::vector<std::size_t>& buffers) const;

  const Model& model_;
  PlanBuilder builder_;
  std::vector<std::string> assumptions_;
};

void PlanMaker::add_memory() {
  for (const PoolSize& pool : model_.pools) {
    builder_.add_pool({.name = pool.name, .bytes = pool.bytes, .alignment = pool.alignment});
    if (!pool.capacity_stated) {
      assumptions_.push_back("Pool " + memverify::quoted(pool.name) + " has the " +
                             std::to_string(pool.bytes) +
                             " bytes that are used of it: the generated code reserves no more.");
    }
  }
  for (const ArenaBuffer& buffer : model_.buffers) {
    const PoolSize& pool = model_.pools[buffer.pool];
    builder_.add_storage(
        {.name = buffer.name, .pool = pool.name, .slots = {buffer.offset}, .bytes = buffer.bytes});
    TensorSpec tensor{.name = buffer.name, .storage = buffer.name, .bytes = buffer.bytes};
    if (buffer.alignment > pool.alignment) tensor.alignment = buffer.alignment;
    builder_.add_tensor(tensor);
  }
}

std::vector<AccessSpec> PlanMaker::accesses(const std::vector<std::size_t>& buffers) const {
  std::vector<AccessSpec> out;
  out.reserve(buffers.size());
  for (const std::size_t buffer : buffers) out.push_back({.tensor = model_.buffers[buffer].name});
  return out;
}

void PlanMaker::add_node(const Node& node) {
  OpSpec op{.name = node.name, .label = node.label, .queue = "cpu"};
  op.reads = accesses(node.reads);
  op.writes = accesses(node.writes);
  op.clobbers = accesses(node.scratch);
  for (const std::size_t read : node.reads) {
    for (const std::size_t written : node.writes) {
      const ArenaBuffer& in = model_.buffers[read];
      const ArenaBuffer& out = model_.buffers[written];
      if (read == written || !overlap(in, out) || !works_in_place(node, in, out)) continue;
      op.in_place.push_back({.read = in.name, .written = out.name, .any = true});
      assumptions_.push_back(memverify::quoted(node.name) + " may write " +
                             memverify::quoted(out.name) + " over " + memverify::quoted(in.name) +
                             ": " + printable(node.kernel) +
                             " is done with the input rows before row i when it writes output row "
                             "i, which ends below input row i.");
    }
  }
  builder_.add_op(op);
}

void PlanMaker::add_boundary() {
  for (const ArenaBuffer& buffer : model_.buffers) {
    if (buffer.constant) builder_.add_constant(buffer.name);
  }
  for (const std::size_t input : model_.inputs) {
    builder_.add_input(model_.buffers[input].name);
    builder_.add_donated(model_.buffers[input].name);
    assumptions_.push_back("The application fills " +
                           memverify::quoted(model_.buffers[input].name) +
                           " before each run and does not need it afterwards (donated).");
  }
  for (const std::size_t output : model_.outputs) {
    builder_.add_output({.tensor = model_.buffers[output].name});
  }
}

Result<Imported> PlanMaker::make() && {
  builder_.set_name(model_.name);
  builder_.add_queue({.name = "cpu"});
  assumptions_.emplace_back(
      "The nodes run one after another, in the order of the file; each reads its inputs whole and "
      "writes its outputs whole.");
  assumptions_.emplace_back("Nobody wants what a node leaves in its scratch buffers.");
  add_memory();
  for (const Node& node : model_.nodes) add_node(node);
  add_boundary();
  builder_.add_extra("", "x-assumptions", nlohmann::json(assumptions_).dump());
  Result<Plan> plan = std::move(builder_).build();
  if (!plan.ok()) return plan.errors();
  return Imported{.plan = std::move(plan).value(), .assumptions = std::move(assumptions_)};
}

}  // namespace

Result<Imported> import_st_edge_ai(std::string_view text, std::string_view file,
                                   const ImportOptions& /*options*/) {
  std::vector<Diagnostic> errors;
  const std::optional<nlohmann::json> document = parse_json(text, file, errors);
  if (!document) return errors;
  const JsonCursor root(*document, file, errors);
  Model model;
  if (root.has("memory_pools") && root.has("buffers")) {
    read_info(root, model);
  } else if (root.has("c_arrays")) {
    read_graph(root, model);
  } else {
    root.fail("import.format",
              "neither a *_c_info.json nor a *_c_graph.json report of ST Edge AI; "
              "*_report.json holds no addresses");
  }
  if (!errors.empty()) return errors;
  return PlanMaker(model).make();
}

}  // namespace memverify
