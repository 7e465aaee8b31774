#include "planner/apart.h"

#include <algorithm>
#include <limits>
#include <string>

#include "plan/layout.h"
#include "plan/words.h"
#include "planner/cases.h"
#include "planner/placed_plan.h"
#include "planner/size_bound.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostSlots = 1 << 20;

/// The extent of each place's root, in the layouts that bound it. Sets `bytes` and `element_0`.
std::vector<Diagnostic> measure(const Plan& graph, std::vector<Place>& places) {
  const Plan flat = with_places(graph, places);
  for (const Valuation& valuation : size_valuations(graph)) {
    const Result<Layout> layout = Layout::make(flat, valuation);
    if (!layout.ok()) return layout.errors();
    for (Place& place : places) {
      const TensorLayout& tensor = layout.value().tensor(place.root);
      if (tensor.bytes.empty()) continue;
      const ByteRange hull = tensor.bytes.hull();
      const std::int64_t grow = std::max<std::int64_t>(-hull.begin - place.element_0, 0);
      place.element_0 += grow;
      place.bytes = std::max(place.bytes + grow, hull.end + place.element_0);
    }
  }
  if (!has_many_valuations(graph)) return {};
  for (Place& place : places) {
    const std::optional<std::int64_t> most = greatest_bytes(graph, graph.tensors[place.root]);
    if (most) place.bytes = std::max(place.bytes, *most);
  }
  return {};
}

}  // namespace

Result<ApartPlan> place_apart(const Plan& graph, std::optional<std::int64_t> slots) {
  ApartPlan result;
  Plan roomy = with_scratch_pool(graph, result.scratch);
  for (Pool& pool : roomy.pools) pool.peak_bytes.reset();
  std::vector<Place> places;
  for (const TensorId root : unplaced_roots(graph)) {
    std::int64_t count = graph.tensors[root].slots;
    if (count > 1) count = slots.value_or(count);
    if (count > kMostSlots) {
      return Diagnostic{.id = "graph.too_large",
                        .message = "tensor " + quoted(graph.tensors[root].name) + " asks for " +
                                   counted(count, "slot") + ", more than " +
                                   std::to_string(kMostSlots),
                        .pointer = "/tensors/" + std::to_string(index(root)) + "/slots"};
    }
    places.push_back({.root = root, .pool = result.scratch});
    places.back().slots.assign(static_cast<std::size_t>(count), 0);
  }
  if (std::vector<Diagnostic> errors = measure(roomy, places); !errors.empty()) return errors;
  std::int64_t next = 0;
  for (Place& place : places) {
    for (std::uint32_t slot = 0; slot < place.slots.size(); ++slot) {
      place.slots[slot] = next;
      result.buffers.push_back({place.root, slot, place.bytes, place.element_0, next});
      if (__builtin_add_overflow(next, place.bytes, &next)) {
        return Diagnostic{.id = "graph.too_large",
                          .message =
                              "the unplaced tensors together have more bytes than 64 bits "
                              "can count",
                          .pointer = "/tensors"};
      }
    }
  }
  result.plan = with_places(roomy, places);
  return result;
}

}  // namespace memverify
