#include "planner/apart.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "plan/layout.h"
#include "plan/words.h"
#include "planner/align.h"
#include "planner/cases.h"
#include "planner/family_alignment.h"
#include "planner/placed_plan.h"
#include "planner/size_bound.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostSlots = 1 << 20;
constexpr std::int64_t kMostRoom = std::int64_t{1} << 61;

Diagnostic too_large(std::string message, const std::string& pointer) {
  return {.id = "graph.too_large", .message = std::move(message), .pointer = pointer};
}

std::string at_tensor(TensorId tensor) { return "/tensors/" + std::to_string(index(tensor)); }

/// By tensor, a root: its views that state an alignment, wherever they start under some layout.
using AlignedViews = std::map<TensorId, std::vector<ViewAlignment>>;

void note_views(const Plan& graph, const Layout& layout, AlignedViews& views) {
  for (const TensorId id : ids(graph.tensors)) {
    const Tensor& tensor = graph.tensors[id];
    if (tensor.alignment <= 1 || tensor.root == id) continue;
    const std::int64_t offset = layout.tensor(id).offset - layout.tensor(tensor.root).offset;
    std::vector<ViewAlignment>& family = views[tensor.root];
    const ViewAlignment view{tensor.alignment, offset % tensor.alignment};
    if (std::ranges::count(family, view) == 0) family.push_back(view);
  }
}

/// Moves element 0 on to where the root and its views are aligned, if there is such a place.
void align(const Plan& graph, const AlignedViews& views, std::vector<Place>& places) {
  for (Place& place : places) {
    const auto own = views.find(place.root);
    if (own == views.end() && place.element_0 == 0) continue;
    const std::span<const ViewAlignment> family =
        own == views.end() ? std::span<const ViewAlignment>() : own->second;
    const auto at = aligned_element_0(graph, place.root, place.element_0, family);
    if (!at || *at > kMostRoom) continue;
    place.bytes += *at - place.element_0;
    place.element_0 = *at;
  }
}

/// The extent of each place's root, in the layouts that bound it. Sets `bytes` and `element_0`.
std::vector<Diagnostic> measure(const Plan& graph, std::vector<Place>& places,
                                AlignedViews& views) {
  const Plan flat = with_places(graph, places);
  for (const Valuation& valuation : size_valuations(graph)) {
    const Result<Layout> layout = Layout::make(flat, valuation);
    if (!layout.ok()) return layout.errors();
    for (const StorageId id : ids(graph.storages)) {
      const auto slots = static_cast<std::int64_t>(graph.storages[id].slots.size());
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const std::int64_t room = kMostRoom - layout.value().storage(id).bytes;
        if (layout.value().slot_address(id, slot) <= room) continue;
        return {too_large("storage " + quoted(graph.storages[id].name) +
                              " ends beyond 2^61 bytes, where nothing can be planned beside it",
                          "/storages/" + std::to_string(index(id)))};
      }
    }
    note_views(graph, layout.value(), views);
    for (Place& place : places) {
      const TensorLayout& tensor = layout.value().tensor(place.root);
      if (tensor.hull.empty()) continue;
      const ByteRange hull = tensor.hull;
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

/// Wherever what is placed comes to lie, sums of sizes and gaps must fit in 64 bits.
std::vector<Diagnostic> check_room(const Plan& graph, const std::vector<Place>& places,
                                   std::int64_t alignment) {
  std::int64_t room = 0;
  for (const Place& place : places) {
    std::int64_t bytes = 0;
    const bool fits =
        !__builtin_add_overflow(place.bytes, alignment - 1, &bytes) &&
        !__builtin_mul_overflow(bytes, static_cast<std::int64_t>(place.slots.size()), &bytes) &&
        !__builtin_add_overflow(room, bytes, &room) && room <= kMostRoom;
    if (fits) continue;
    return {too_large("the unplaced tensors up to " + quoted(graph.tensors[place.root].name) +
                          ", each with a gap for an alignment of " + counted(alignment, "byte") +
                          ", may take more than 2^61 bytes",
                      at_tensor(place.root))};
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
      return too_large("tensor " + quoted(graph.tensors[root].name) + " asks for " +
                           counted(count, "slot") + ", more than " + std::to_string(kMostSlots),
                       at_tensor(root) + "/slots");
    }
    places.push_back({.root = root, .pool = result.scratch});
    places.back().slots.assign(static_cast<std::size_t>(count), 0);
  }
  const CommonAlignment alignment = common_alignment(graph, kMostRoom / 2);
  if (alignment.too_large != kNone<TensorId>) {
    return too_large("with tensor " + quoted(graph.tensors[alignment.too_large].name) +
                         " the alignments of tensors and pools have no common multiple up to 2^60 "
                         "bytes",
                     at_tensor(alignment.too_large));
  }
  AlignedViews views;
  if (std::vector<Diagnostic> errors = measure(roomy, places, views); !errors.empty()) {
    return errors;
  }
  align(graph, views, places);
  if (std::vector<Diagnostic> errors = check_room(graph, places, alignment.bytes);
      !errors.empty()) {
    return errors;
  }
  const std::vector<std::int64_t> family = family_alignments(graph);
  std::int64_t next = 0;
  for (Place& place : places) {
    for (std::uint32_t slot = 0; slot < place.slots.size(); ++slot) {
      next = aligned_up(next, family[index(place.root)]);
      place.slots[slot] = next;
      result.buffers.push_back({place.root, slot, place.bytes, place.element_0, next});
      next += place.bytes;
    }
  }
  result.plan = with_places(roomy, places);
  return result;
}

}  // namespace memverify
