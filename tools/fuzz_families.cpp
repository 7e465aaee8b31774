#include "tools/fuzz_families.h"

#include <algorithm>
#include <array>
#include <vector>

namespace memverify {
namespace {

/// Writes `to` from `from`.
Made apply(GraphMaker& graph, std::string_view label, Made from, Made to) {
  graph.op({.label = label, .reads = {from}, .writes = {to}});
  return to;
}

Made grow_chain(GraphMaker& graph, Made from) {
  for (std::int64_t k = graph.draw().between(2, 5); k > 0; --k) {
    from = apply(graph, "layer", from, graph.root());
  }
  return from;
}

Made grow_diamond(GraphMaker& graph, Made from) {
  const Made left = apply(graph, "left", from, graph.root());
  const Made right = apply(graph, "right", from, graph.root());
  const Made joined = graph.root();
  graph.op({.label = "join", .reads = {left, right}, .writes = {joined}});
  return joined;
}

/// The last reader goes through views, one of a view.
Made grow_views(GraphMaker& graph, Made from) {
  const Made made = apply(graph, "produce", from, graph.root());
  const Made flat = graph.reshaped(made);
  const Made deep = graph.reshaped(flat);
  const bool is_deep = graph.wish().alias == AliasWay::kDeepView || graph.draw().percent(50);
  const Made between = apply(graph, "between", from, graph.root_like(made));
  const Made used = graph.root();
  graph.op({.label = "use", .reads = {is_deep ? deep : flat}, .writes = {used}});
  return apply(graph, "after", graph.draw().percent(50) ? between : used, graph.root());
}

/// The parts of the result are written where they belong.
Made grow_concat(GraphMaker& graph, Made from) {
  const std::int64_t parts = graph.draw().between(2, 3);
  const std::int64_t rows = graph.draw().between(1, 3);
  const Made whole = graph.root(parts * rows, graph.draw().between(1, 8));
  for (std::int64_t k = 0; k < parts; ++k) {
    Made source = from;
    if (graph.draw().percent(50)) source = apply(graph, "branch", from, graph.root());
    apply(graph, "part", source, graph.rows_of(whole, k * rows, rows));
  }
  return apply(graph, "use", whole, graph.root());
}

/// Slices that overlap in part: the first is read after the second was written over.
Made grow_slices(GraphMaker& graph, Made from) {
  const Made whole = apply(graph, "produce", from, graph.root(6, graph.draw().between(1, 8)));
  const Made upper = graph.rows_of(whole, 0, 4);
  const Made lower = graph.rows_of(whole, 2, 4);
  const Made first = apply(graph, "read_upper", upper, graph.root());
  if (graph.draw().percent(60)) apply(graph, "write_lower", first, lower);
  const Made second = graph.root();
  graph.op({.label = "read_both",
            .reads = {upper, lower},
            .writes = {second},
            .in_parts = graph.draw().percent(30)});
  return second;
}

Made grow_strided(GraphMaker& graph, Made from) {
  const std::int64_t columns = graph.draw().between(2, 6);
  const Made whole = graph.root(graph.draw().between(2, 6), columns);
  const std::int64_t split = graph.draw().between(1, columns - 1);
  apply(graph, "even", from, graph.columns_of(whole, 0, split));
  apply(graph, "odd", from, graph.columns_of(whole, split, columns - split));
  const Made turned = graph.draw().percent(50) ? graph.transposed(whole) : whole;
  const Made used = apply(graph, "use", turned, graph.root());
  if (graph.draw().percent(40)) {
    return apply(graph, "column", graph.columns_of(whole, 0, 1), graph.root());
  }
  return used;
}

/// Each op may take the bytes of what it reads; now and then another one still reads them.
Made grow_in_place(GraphMaker& graph, Made from) {
  Made at = apply(graph, "produce", from, graph.root());
  for (std::int64_t k = graph.draw().between(1, 3); k > 0; --k) {
    const Made next = graph.root_like(at);
    if (graph.draw().percent(15)) graph.output(at);  // Read later than by any op.
    const bool has_sibling = graph.draw().percent(40);
    const bool sibling_first = graph.draw().percent(50);
    const Made kept = graph.root();
    if (has_sibling && sibling_first) apply(graph, "sibling", at, kept);
    graph.op({.label = "relu", .reads = {at}, .writes = {next}, .in_place = {{at, next}}});
    if (has_sibling && !sibling_first) apply(graph, "sibling", at, kept);
    at = next;
  }
  if (graph.rows(at) > 1 &&
      graph.draw().percent(50)) {  // Of what an op works on, the rest is dead.
    const std::int64_t rows = graph.rows(at) - 1;
    const Made part = graph.rows_of(at, 1, rows);
    const Made next = graph.root(rows, graph.columns(at));
    graph.op({.label = "relu", .reads = {part}, .writes = {next}, .in_place = {{part, next}}});
    at = next;
  }
  return at;
}

Made grow_fan_out(GraphMaker& graph, Made from) {
  const Made shared = apply(graph, "produce", from, graph.root());
  std::vector<Made> results;
  for (std::int64_t k = graph.draw().between(2, 4); k > 0; --k) {
    results.push_back(graph.root());
    graph.op(graph.some_queue(),
             {.label = "branch", .reads = {shared}, .writes = {results.back()}});
  }
  const Made joined = graph.root();
  graph.op({.label = "join", .reads = results, .writes = {joined}});
  return joined;
}

/// An encoder whose results a decoder reads in reverse.
Made grow_skips(GraphMaker& graph, Made from) {
  std::vector<Made> skips;
  Made at = from;
  for (std::int64_t k = graph.draw().between(2, 3); k > 0; --k) {
    at = apply(graph, "encode", at, graph.root());
    skips.push_back(at);
  }
  while (!skips.empty()) {
    const Made next = graph.root();
    graph.op({.label = "decode", .reads = {at, skips.back()}, .writes = {next}});
    skips.pop_back();
    at = next;
  }
  return at;
}

/// Forward, then backward; the gradient of shared weights is summed.
Made grow_backward(GraphMaker& graph, Made from) {
  const Made weights = graph.root();
  graph.constant(weights);
  const Made gradient = graph.root_like(weights);
  std::vector<Made> kept = {from};
  const std::int64_t layers = graph.draw().between(1, 3);
  for (std::int64_t k = 0; k < layers; ++k) {
    const Made next = graph.root();
    graph.op({.label = "forward", .reads = {kept.back(), weights}, .writes = {next}});
    kept.push_back(next);
  }
  graph.op({.label = "zero", .writes = {gradient}});
  Made error = apply(graph, "loss", kept.back(), graph.root());
  for (std::size_t k = kept.size() - 1; k-- > 0;) {
    graph.op({.label = "weight_gradient", .reads = {error, kept[k]}, .accumulates = {gradient}});
    const Made next = graph.root();
    graph.op({.label = "backward", .reads = {error, weights}, .writes = {next}});
    error = next;
  }
  if (graph.draw().percent(25)) return error;  // The weights are frozen: nobody reads the sum.
  return apply(graph, "update", gradient, graph.root());
}

/// Slots that a copy queue fills and a compute queue reads, over the iterations.
Made grow_ring(GraphMaker& graph, Made from) {
  const Made ring = graph.root(graph.draw().between(1, 4), graph.draw().between(1, 16),
                               graph.has_loop() ? graph.draw().between(1, 3) : 1);
  const std::size_t copies = graph.some_queue();
  graph.op(copies, {.label = "load", .reads = {from}, .writes = {ring}});
  const Made used = graph.root();
  graph.op({.label = "compute", .reads = {ring}, .writes = {used}});
  if (graph.draw().percent(40)) apply(graph, "again", ring, graph.root());
  return used;
}

/// A state that each iteration makes of that of the one before.
Made grow_carried(GraphMaker& graph, Made from) {
  if (!graph.has_loop()) return grow_chain(graph, from);
  const Made state = graph.root(graph.draw().between(1, 4), graph.draw().between(1, 8), 2);
  graph.input(state, true);
  graph.op({.label = "step", .reads = {from}, .writes = {state}, .earlier = {{state, 1}}});
  return apply(graph, "look", state, graph.root());
}

/// Two paths of which one runs; both write what is read after them.
Made grow_paths(GraphMaker& graph, Made from) {
  const int condition = graph.new_condition();
  const Made result = graph.root();
  for (const bool value : {true, false}) {
    Made at = from;
    if (graph.draw().percent(70)) {
      const Made own = graph.root();
      graph.op({.label = value ? "then" : "else",
                .reads = {at},
                .writes = {own},
                .condition = condition,
                .value = value});
      at = own;
    }
    graph.op({.label = value ? "then_result" : "else_result",
              .reads = {at},
              .writes = {result},
              .condition = condition,
              .value = value});
  }
  return apply(graph, "merge", result, graph.root());
}

/// Copies that start in order and complete in any.
Made grow_copies(GraphMaker& graph, Made from) {
  const std::size_t engine =
      graph.new_queue(graph.draw().percent(70) ? QueueOrder::kIssue : QueueOrder::kNone);
  std::vector<Made> copies;
  for (std::int64_t k = graph.draw().between(2, 3); k > 0; --k) {
    copies.push_back(graph.root());
    graph.op(engine, {.label = "copy_in", .reads = {from}, .writes = {copies.back()}});
  }
  const Made used = graph.root();
  graph.op({.label = "compute", .reads = copies, .writes = {used}});
  const Made away = graph.root_like(used);
  graph.op(engine, {.label = "copy_out", .reads = {used}, .writes = {away}});
  return away;
}

/// The host reads what a queue made, and gives it something back.
Made grow_host(GraphMaker& graph, Made from) {
  const std::size_t host = graph.new_queue(QueueOrder::kHost);
  const Made made = apply(graph, "produce", from, graph.root());
  const Made answer = graph.root();
  graph.op(host, {.label = "host_read", .reads = {made}, .writes = {answer}});
  return apply(graph, "consume", answer, graph.root());
}

constexpr auto kFamilies = std::to_array<GraphFamily>({
    {"chain", "one op after the other", AliasWay::kPlain, grow_chain},
    {"diamond", "two branches that join", AliasWay::kPlain, grow_diamond},
    {"views", "the last reader goes through views", AliasWay::kView, grow_views},
    {"deep-views", "the same, through views of views", AliasWay::kDeepView, grow_views},
    {"concat", "parts written where they belong", AliasWay::kConcat, grow_concat},
    {"slices", "slices that overlap in part", AliasWay::kSlice, grow_slices},
    {"parts", "the same, and accesses to parts", AliasWay::kPart, grow_slices},
    {"strided", "columns and transposes", AliasWay::kStrided, grow_strided},
    {"in-place", "in-place chains with second readers", AliasWay::kInPlace, grow_in_place},
    {"fan-out", "one result for many queues", AliasWay::kPlain, grow_fan_out},
    {"skips", "an encoder and a decoder", AliasWay::kPlain, grow_skips},
    {"backward", "a backward pass that sums gradients", AliasWay::kAccumulate, grow_backward},
    {"ring", "slots filled and read over the iterations", AliasWay::kPlain, grow_ring},
    {"carried", "a state from one iteration to the next", AliasWay::kEarlier, grow_carried},
    {"paths", "conditions and merges", AliasWay::kPlain, grow_paths},
    {"copies", "copy engines that complete in any order", AliasWay::kPlain, grow_copies},
    {"host", "the host reads and answers", AliasWay::kPlain, grow_host},
});

const GraphFamily& some_family(GraphMaker& graph, bool is_wished) {
  std::vector<const GraphFamily*> fit;
  for (const GraphFamily& family : kFamilies) {
    if (!is_wished || family.alias == graph.wish().alias) fit.push_back(&family);
  }
  return *graph.draw().of(fit);
}

}  // namespace

std::span<const GraphFamily> graph_families() { return kFamilies; }

RandomGraph random_graph(std::uint64_t seed, const Wish& wish) {
  GraphMaker graph(seed, wish);
  RandomGraph made;
  Made at = graph.root();
  if (graph.draw().percent(60)) {
    graph.input(at, graph.draw().percent(50));
  } else {
    graph.op({.label = "load", .writes = {at}});
  }
  for (std::int64_t pieces = graph.draw().between(1, 3); pieces > 0 && !graph.is_full(); --pieces) {
    const GraphFamily& family = some_family(graph, made.families.empty());
    made.families += (made.families.empty() ? "" : "+") + std::string(family.name);
    at = family.grow(graph, at);
  }
  if (graph.draw().percent(70)) graph.output(at);
  made.plan = graph.build();
  return made;
}

}  // namespace memverify
