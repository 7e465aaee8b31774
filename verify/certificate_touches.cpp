#include "verify/certificate_touches.h"

#include <algorithm>

#include "verify/certificate_facts.h"

namespace memverify::cert {
namespace {

constexpr Regions::Id kNoRegion = 0xFFFFFFFFU;

}  // namespace

Touches::Touches(const Model& model) : model_(model), plan_(model.plan()) {
  contents_.push_back({kInitial, kNoNode, kNone<TensorId>});
  contents_.push_back({kUnwritten, kNoNode, kNone<TensorId>});
  describe_families();
  list();
  list_initial();
  number_points();
}

void Touches::describe_families() {
  one_instance_.assign(plan_.tensors.size(), 1);
  initial_.resize(plan_.tensors.size());
  for (TensorId id : ids(plan_.tensors)) {
    const Tensor& tensor = plan_.tensors[id];
    if (plan_.storages[tensor.storage].slots.size() > 1) one_instance_[index(tensor.root)] = 0;
  }
  for (const Op& op : plan_.ops) {
    if (op.kind == OpKind::kView || op.runs == Runs::kFirst) continue;
    for (const Access& access : plan_.accesses_of(op)) {
      const bool writes = access.kind == AccessKind::kWrite || access.kind == AccessKind::kClobber;
      if (writes && access.tensor != kNone<TensorId>) {
        one_instance_[index(plan_.tensors[access.tensor].root)] = 0;
      }
    }
  }
  for (const auto* boundary : {&plan_.inputs, &plan_.constants}) {
    for (TensorId id : *boundary) initial_[index(plan_.tensors[id].root)].push_back({id, {}});
  }
}

std::int64_t Touches::instance_of(TensorId tensor, std::int64_t iteration) const {
  return one_instance_[index(plan_.tensors[tensor].root)] != 0 ? 0 : iteration;
}

void Touches::list() {
  static constexpr AccessKind kOrder[] = {AccessKind::kRead, AccessKind::kAccumulate,
                                          AccessKind::kWrite, AccessKind::kClobber};
  std::size_t count = plan_.outputs.size();
  for (const auto* kept : {&plan_.inputs, &plan_.constants}) {
    for (TensorId id : *kept) count += plan_.storages[plan_.tensors[id].storage].slots.size();
  }
  for (Node node = 0; node < model_.size(); ++node) count += model_.op(node).accesses.size();
  first_.reserve(model_.size() + std::size_t{2});
  touches_.reserve(count);
  whole_.assign(plan_.tensors.size(), kNoRegion);
  contents_.reserve(count);
  for (Node node = 0; node < model_.size(); ++node) {
    first_.push_back(static_cast<std::uint32_t>(touches_.size()));
    const NodeInfo& info = model_[node];
    const Op& op = plan_.ops[info.op];
    if (info.passed || info.role != Role::kCommand) continue;
    for (AccessKind kind : kOrder) {
      for (std::uint32_t k = op.accesses.begin; k < op.accesses.end; ++k) {
        if (plan_.accesses[k].kind == kind) touch(node, k);
      }
    }
  }
  first_.push_back(static_cast<std::uint32_t>(touches_.size()));
  list_end();
  first_.push_back(static_cast<std::uint32_t>(touches_.size()));
}

void Touches::touch(Node node, std::uint32_t k) {
  const Access& access = plan_.accesses[k];
  Touch touch{.node = node, .access = k, .kind = access.kind, .tensor = access.tensor};
  if (access.tensor != kNone<TensorId>) {
    touch.instance =
        instance_of(access.tensor, std::int64_t{model_[node].iteration} - access.distance);
  }
  if (access.kind == AccessKind::kWrite || access.kind == AccessKind::kClobber) {
    const TensorId root =
        touch.tensor == kNone<TensorId> ? touch.tensor : plan_.tensors[touch.tensor].root;
    const bool clobber = access.kind == AccessKind::kClobber;
    for (std::uint32_t other = first_[node]; other < touches_.size() && !clobber; ++other) {
      const Touch& earlier = touches_[other];
      if (earlier.kind != AccessKind::kWrite || plan_.tensors[earlier.tensor].root != root)
        continue;
      touch.version = earlier.version;  // One op leaves one version of a family.
    }
    if (touch.version == kUnwritten) {
      touch.version = static_cast<Version>(contents_.size());
      contents_.push_back({touch.version, node, root});
    }
  }
  touch.points.begin = region_of(touch, access);
  touches_.push_back(touch);
}

Regions::Id Touches::region_of(const Touch& touch, const Access& access) {
  const auto region = [&] {
    return regions_.add(model_.layout().access_region(plan_, access, touch.instance));
  };
  if (access.tensor == kNone<TensorId> || access.part != Access::kWhole) return region();
  const StorageId storage = plan_.tensors[access.tensor].storage;
  if (plan_.storages[storage].slots.size() > 1) return region();
  Regions::Id& whole = whole_[index(access.tensor)];
  if (whole == kNoRegion) whole = region();
  return whole;
}

/// What inputs and constants hold from the start.
void Touches::list_initial() {
  for (std::vector<Initial>& of_root : initial_) {
    for (Initial& initial : of_root) {
      const StorageId storage = plan_.tensors[initial.tensor].storage;
      for (std::size_t slot = 0; slot < plan_.storages[storage].slots.size(); ++slot) {
        const Region region =
            model_.layout().tensor_region(plan_, initial.tensor, static_cast<std::int64_t>(slot));
        initial.points.push_back({regions_.add(region), 0});
      }
    }
  }
}

void Touches::number_points() {
  regions_.number();
  for (Touch& touch : touches_) touch.points = regions_.points(touch.points.begin);
  for (std::vector<Initial>& of_root : initial_) {
    for (Initial& initial : of_root) {
      for (PointRange& points : initial.points) points = regions_.points(points.begin);
    }
  }
  whole_ = {};
}

void Touches::list_end() {
  const std::int64_t last = std::int64_t{model_.iterations()} - 1;
  std::vector<std::uint8_t> is_output(plan_.tensors.size(), 0);
  std::vector<std::uint8_t> is_donated(plan_.tensors.size(), 0);
  for (std::uint32_t k = 0; k < plan_.outputs.size(); ++k) {
    const TensorId tensor = plan_.outputs[k].tensor;
    is_output[index(tensor)] = 1;
    const std::int64_t instance = instance_of(tensor, last);
    touch_at_end({.access = k, .tensor = tensor, .instance = instance});
  }
  for (TensorId tensor : plan_.donated) is_donated[index(tensor)] = 1;
  for (TensorId tensor : plan_.inputs) {
    if (is_donated[index(tensor)] == 0) keep(tensor, is_output[index(tensor)] != 0);
  }
  for (TensorId tensor : plan_.constants) keep(tensor, false);
}

void Touches::keep(TensorId tensor, bool or_own) {
  const std::size_t slots = plan_.storages[plan_.tensors[tensor].storage].slots.size();
  for (std::size_t slot = 0; slot < slots; ++slot) {
    touch_at_end({.keeps = true,
                  .or_own = or_own,
                  .tensor = tensor,
                  .instance = static_cast<std::int64_t>(slot)});
  }
}

void Touches::touch_at_end(Touch touch) {
  touch.node = model_.size();
  touch.points.begin =
      regions_.add(model_.layout().tensor_region(plan_, touch.tensor, touch.instance));
  touches_.push_back(touch);
}

std::pair<StorageId, std::uint32_t> Touches::slot(TensorId tensor, std::int64_t instance) const {
  const StorageId storage = plan_.tensors[tensor].storage;
  return {storage, model_.layout().slot_index(storage, instance)};
}

std::uint64_t Touches::update(const Touch& touch) const {
  return std::uint64_t{index(plan_.accesses[touch.access].update)} << 8 |
         static_cast<std::uint8_t>(plan_.tensors[touch.tensor].dtype);
}

Node Touches::reader(std::span<const Node> run, std::size_t k) const {
  for (Node node : run) {
    for (const Touch& touch : of(node)) {
      if (touch.kind == AccessKind::kRead && k-- == 0) return node;
    }
  }
  return model_.size();
}

std::string Touches::name(const Touch& touch) const {
  std::string text = describe(model_, touch.node);
  if (touch.tensor != kNone<TensorId>) {
    text += " on `" + std::string(plan_.tensors[touch.tensor].name) + "`";
  }
  return text;
}

PoolId Touches::pool_of(const Touch& touch) const {
  if (touch.tensor == kNone<TensorId>) return plan_.accesses[touch.access].pool;
  return plan_.storages[plan_.tensors[touch.tensor].storage].pool;
}

std::optional<Clash> Touches::clash(Node first, Node second) const {
  std::optional<Clash> least;
  for (const Touch& a : of(first)) {
    for (const Touch& b : of(second)) {
      const bool reads = a.kind == AccessKind::kRead && b.kind == AccessKind::kRead;
      const bool adds = a.kind == AccessKind::kAccumulate && b.kind == AccessKind::kAccumulate;
      if (reads || (adds && update(a) == update(b))) continue;
      const int way = a.kind == AccessKind::kRead ? 0 : b.kind == AccessKind::kRead ? 1 : 2;
      for (const PointRange& x : ranges(a)) {
        for (const PointRange& y : ranges(b)) {
          const Point both = std::max(x.begin, y.begin);
          if (both >= std::min(x.end, y.end)) continue;
          const Clash found{way, pool_of(a), regions_.address(both)};
          if (!least || found < *least) least = found;
        }
      }
    }
  }
  return least;
}

}  // namespace memverify::cert
