#include "tools/fuzz_graph.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace memverify {
namespace {

constexpr std::uint64_t bit(std::size_t op) { return std::uint64_t{1} << op; }

/// Rows and columns of tensors as they occur in small models: activations of convolutions, of dense
/// layers and of keyword spotters, weights, and much that has a few bytes only.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 16> kModelShapes = {{{1, 1},
                                                                                 {1, 2},
                                                                                 {1, 4},
                                                                                 {1, 12},
                                                                                 {1, 64},
                                                                                 {2, 8},
                                                                                 {2, 2},
                                                                                 {3, 4},
                                                                                 {4, 8},
                                                                                 {4, 40},
                                                                                 {6, 6},
                                                                                 {8, 16},
                                                                                 {16, 16},
                                                                                 {24, 24},
                                                                                 {49, 40},
                                                                                 {96, 96}}};

}  // namespace

GraphMaker::GraphMaker(std::uint64_t seed, const Wish& wish) : draw_(seed), wish_(wish) {
  const bool wants_loop = wish.alias == AliasWay::kEarlier;
  if (draw_.percent(wants_loop ? 100 : 20)) iterations_ = draw_.between(2, 4);
  const std::vector<std::int64_t> alignments = {1, 1, 4, 16, 64};
  alignment_ = draw_.of(alignments);
  const std::int64_t queues = draw_.between(1, 3);
  new_queue(wish.order);
  for (std::int64_t k = 1; k < queues; ++k) {
    const auto order = static_cast<QueueOrder>(draw_.below(kQueueOrders));
    new_queue(draw_.percent(50) ? QueueOrder::kSerial : order);
  }
}

std::string_view GraphMaker::fresh(std::string_view stem) {
  return names_.emplace_back(std::string(stem) + std::to_string(names_.size()));
}

std::size_t GraphMaker::new_queue(QueueOrder order) {
  queues_.push_back({.name = fresh("q"), .order = name(order)});
  return queues_.size() - 1;
}

std::size_t GraphMaker::some_queue() { return draw_.percent(40) ? 0 : draw_.below(queues_.size()); }

bool GraphMaker::is_in_order(std::size_t queue) const {
  return queues_[queue].order == "serial" || queues_[queue].order == "host";
}

Made GraphMaker::root(std::int64_t rows, std::int64_t columns, std::int64_t slots) {
  static const std::vector<std::pair<std::string_view, std::int64_t>> kTypes = {
      {"f32", 4}, {"f32", 4}, {"f16", 2}, {"i8", 1}};
  const auto& [dtype, element] = draw_.of(kTypes);
  TensorSpec spec{.name = fresh("t"), .dtype = dtype, .shape = {{rows, columns}}};
  if (slots > 1) spec.slots = slots;
  if (draw_.percent(10)) spec.alignment = 128;
  tensor_specs_.push_back(spec);
  const Made made = tensors_.size();
  tensors_.push_back({.spec = tensor_specs_.size() - 1,
                      .root = made,
                      .rows = rows,
                      .columns = columns,
                      .element = element,
                      .row_bytes = columns * element,
                      .end = rows * columns * element,
                      .slots = slots});
  uses_.resize(tensors_.size());
  return made;
}

Made GraphMaker::root() {
  const auto& [rows, columns] = kModelShapes[draw_.below(kModelShapes.size())];
  return root(rows, columns);
}

Made GraphMaker::root_like(Made other) { return root(rows(other), columns(other)); }

Made GraphMaker::add_view(Made base, Shape shape, std::int64_t offset) {
  const Shape of = tensors_[base];
  TensorSpec spec{.name = fresh("v"),
                  .view_of = tensor_specs_[of.spec].name,
                  .offset = offset,
                  .dtype = tensor_specs_[of.spec].dtype,
                  .shape = {{shape.rows, shape.columns}}};
  shape.spec = tensor_specs_.size();
  shape.root = of.root;
  shape.element = of.element;
  shape.slots = of.slots;
  tensor_specs_.push_back(spec);
  tensors_.push_back(shape);
  uses_.resize(tensors_.size());
  return tensors_.size() - 1;
}

Made GraphMaker::rows_of(Made base, std::int64_t first, std::int64_t rows) {
  const Shape of = tensors_[base];
  assert(!of.is_strided);
  const std::int64_t offset = first * of.row_bytes;
  return add_view(base,
                  {.rows = rows,
                   .columns = of.columns,
                   .row_bytes = of.row_bytes,
                   .begin = of.begin + offset,
                   .end = of.begin + offset + rows * of.row_bytes},
                  offset);
}

Made GraphMaker::reshaped(Made base) {
  const Shape of = tensors_[base];
  assert(!of.is_strided);
  const std::int64_t elements = of.rows * of.columns;
  const std::int64_t rows = of.rows == 1 ? elements : 1;
  return add_view(base,
                  {.rows = rows,
                   .columns = elements / rows,
                   .row_bytes = elements / rows * of.element,
                   .begin = of.begin,
                   .end = of.end},
                  0);
}

Made GraphMaker::columns_of(Made base, std::int64_t first, std::int64_t columns) {
  const Shape of = tensors_[base];
  const std::int64_t offset = first * of.element;
  const Made made = add_view(base,
                             {.rows = of.rows,
                              .columns = columns,
                              .row_bytes = of.row_bytes,
                              .begin = of.begin + offset,
                              .end = of.end - (of.columns - first - columns) * of.element,
                              .is_strided = true},
                             offset);
  tensor_specs_.back().strides = {{of.row_bytes / of.element, std::int64_t{1}}};
  return made;
}

Made GraphMaker::transposed(Made base) {
  const Shape of = tensors_[base];
  const Made made = add_view(base,
                             {.rows = of.columns,
                              .columns = of.rows,
                              .row_bytes = of.element,
                              .begin = of.begin,
                              .end = of.end,
                              .is_strided = true},
                             0);
  tensor_specs_.back().strides = {{std::int64_t{1}, of.row_bytes / of.element}};
  return made;
}

void GraphMaker::input(Made tensor, bool is_donated) {
  inputs_.push_back(tensor_specs_[tensors_[tensor].spec].name);
  if (is_donated) donated_.push_back(inputs_.back());
}

void GraphMaker::constant(Made tensor) {
  constants_.push_back(tensor_specs_[tensors_[tensor].spec].name);
}

void GraphMaker::output(Made tensor) {
  outputs_.push_back(tensor_specs_[tensors_[tensor].spec].name);
}

int GraphMaker::new_condition() {
  conditions_.push_back(fresh("c"));
  return static_cast<int>(conditions_.size()) - 1;
}

bool GraphMaker::conflict(const Use& a, const Use& b) const {
  if (a.kind == AccessKind::kRead && b.kind == AccessKind::kRead) return false;
  if (a.kind == AccessKind::kAccumulate && b.kind == AccessKind::kAccumulate) return false;
  const Shape& x = tensors_[a.tensor];
  const Shape& y = tensors_[b.tensor];
  return x.begin < y.end && y.begin < x.end;
}

std::uint64_t GraphMaker::known_from(std::size_t earlier, const Done& later) const {
  const Done& op = done_[earlier];
  const bool runs_too =
      op.condition < 0 || (op.condition == later.condition && op.value == later.value);
  return bit(earlier) | (runs_too ? op.before : 0);
}

/// By its queue, and by ops on host queues.
std::uint64_t GraphMaker::before_start(const Done& op) const {
  std::uint64_t before = 0;
  for (std::size_t k = 0; k < done_.size(); ++k) {
    const bool holds = (done_[k].queue == op.queue && is_in_order(op.queue)) ||
                       queues_[done_[k].queue].order == "host";
    if (holds) before |= known_from(k, op);
  }
  return before;
}

void GraphMaker::op(std::size_t queue, const Does& does) {
  assert(done_.size() < kMostOps);
  Done op{.queue = queue, .condition = does.condition, .value = does.value};
  OpSpec spec{.name = fresh("op"), .label = does.label, .queue = queues_[queue].name};
  if (does.condition >= 0) {
    spec.when = {{conditions_[static_cast<std::size_t>(does.condition)], does.value}};
  }
  std::vector<Use> uses;
  const auto use = [&](Made tensor, AccessKind kind, std::int64_t distance = 0) {
    uses.push_back({.op = done_.size(), .tensor = tensor, .kind = kind, .distance = distance});
    return AccessSpec{.tensor = tensor_specs_[tensors_[tensor].spec].name, .distance = distance};
  };
  for (const Made tensor : does.reads) {
    AccessSpec access = use(tensor, AccessKind::kRead);
    const Shape& shape = tensors_[tensor];
    const std::int64_t half = (shape.end - shape.begin) / 2;
    if (does.in_parts && !shape.is_strided && half > 0) {
      access.offset = std::int64_t{0}, access.bytes = half;
      spec.reads.push_back(access);
      access.offset = half, access.bytes.reset();
    }
    spec.reads.push_back(access);
  }
  for (const Earlier& read : does.earlier) {
    spec.reads.push_back(use(read.tensor, AccessKind::kRead, read.distance));
  }
  for (const Made tensor : does.writes) spec.writes.push_back(use(tensor, AccessKind::kWrite));
  for (const Made tensor : does.accumulates) {
    spec.accumulates.push_back(use(tensor, AccessKind::kAccumulate));
  }
  for (const auto& [read, written] : does.in_place) {
    spec.in_place.push_back(
        {tensor_specs_[tensors_[read].spec].name, tensor_specs_[tensors_[written].spec].name});
  }
  std::uint64_t needed = 0;
  for (const Use& mine : uses) {
    const Shape& shape = tensors_[mine.tensor];
    for (const Use& other : uses_[shape.root]) {
      const bool same_slot = (mine.distance - other.distance) % shape.slots == 0;
      if (same_slot && conflict(other, mine)) needed |= bit(other.op);
    }
  }
  op.before = before_start(op);
  for (std::size_t k = done_.size(); k-- > 0;) {
    if ((needed & ~op.before & bit(k)) == 0) continue;
    join(k, op, spec);
    op.before |= known_from(k, op);
  }
  for (const Use& mine : uses) uses_[tensors_[mine.tensor].root].push_back(mine);
  op.spec = ops_.size();
  ops_.push_back(std::move(spec));
  done_.push_back(op);
}

Plan GraphMaker::build() {
  if (iterations_ > 1) join_iterations();
  PlanBuilder builder;
  builder.set_iterations(iterations_);
  PoolSpec pool{.name = "mem", .alignment = alignment_};
  builder.add_pool(pool);
  const bool two_pools = draw_.percent(10);
  if (two_pools) builder.add_pool({.name = "far"});
  for (const QueueSpec& queue : queues_) builder.add_queue(queue);
  for (const SemaphoreSpec& semaphore : semaphores_) builder.add_semaphore(semaphore);
  for (const std::string_view condition : conditions_) builder.add_condition({condition});
  // Now and then a root has its place already.
  const bool has_fixed = draw_.percent(10);
  bool is_first = true;
  for (TensorSpec& tensor : tensor_specs_) {
    const bool is_root = tensor.view_of.empty();
    if (is_root && is_first && has_fixed && !tensor.slots) {
      const Shape& shape = tensors_[static_cast<std::size_t>(&tensor - tensor_specs_.data())];
      const std::int64_t at = 128 * draw_.between(0, 2);
      builder.add_storage(
          {.name = "fixed", .pool = "mem", .slots = {at}, .bytes = shape.end - shape.begin});
      tensor.storage = "fixed";
      is_first = false;
    } else if (is_root && two_pools && draw_.percent(40)) {
      tensor.pools = {"far"};
    }
    builder.add_tensor(tensor);
  }
  for (const OpSpec& op : ops_) builder.add_op(op);
  for (const std::string_view tensor : inputs_) builder.add_input(tensor);
  for (const std::string_view tensor : constants_) builder.add_constant(tensor);
  for (const std::string_view tensor : donated_) builder.add_donated(tensor);
  for (const std::string_view tensor : outputs_) builder.add_output({tensor});
  Result<Plan> plan = std::move(builder).build();
  assert(plan.ok());
  return std::move(plan).value();
}

}  // namespace memverify
