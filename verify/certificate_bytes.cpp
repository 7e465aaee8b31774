#include "verify/certificate_bytes.h"

#include <algorithm>
#include <future>

#include "plan/beside.h"
#include "verify/certificate_facts.h"

namespace memverify::cert {
namespace {

enum : std::uint32_t { kNobody, kWriter, kReaders, kAccumulates };

constexpr Regions::Id kNoRegion = 0xFFFFFFFFU;
constexpr std::size_t kMemos = 1024;

}  // namespace

BytePass::BytePass(const Model& model) : model_(model), plan_(model.plan()) {
  contents_.push_back({kInitial, kNoNode, kNone<TensorId>, false});
  contents_.push_back({kUnwritten, kNoNode, kNone<TensorId>, false});
  for (const Storage& storage : plan_.storages) {
    events_.emplace_back(storage.slots.size());
  }
  has_alloc_.assign(plan_.storages.size(), 0);
  for (const Op& op : plan_.ops) {
    if (op.kind == OpKind::kAlloc) has_alloc_[index(op.storage)] = 1;
    any_alloc_ = any_alloc_ || op.kind == OpKind::kAlloc || op.kind == OpKind::kFree;
  }
  describe_families();
  list();
  list_initial();
  number_points();
}

Demands BytePass::go(std::span<const Node> run) {
  if (any_alloc_) {
    list_events();
    check_lifetimes();
  }
  auto found = std::async(beside(touches_.size()), [&] {
    expect_all();
    find_all(run);
  });
  order_all(run);
  found.get();
  return std::move(demands_);
}

Node BytePass::reader(std::span<const Node> run, std::size_t k) const {
  for (Node node : run) {
    for (std::uint32_t t = first_[node]; t < first_[node + 1]; ++t) {
      if (touches_[t].kind == AccessKind::kRead && k-- == 0) return node;
    }
  }
  return model_.size();
}

void BytePass::fault(const Touch& touch, const std::string& what) {
  if (!demands_.fault.empty()) return;
  std::string text = describe(model_, touch.node);
  if (touch.tensor != kNone<TensorId>) {
    text += " on `" + std::string(plan_.tensors[touch.tensor].name) + "`";
  }
  demands_.fault = text + " " + what;
}

// --- listing ---

/// A family of one instance: only `first` ops write it, in storage that does not rotate ([S-30]).
void BytePass::describe_families() {
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

std::int64_t BytePass::instance_of(TensorId tensor, std::int64_t iteration) const {
  return one_instance_[index(plan_.tensors[tensor].root)] != 0 ? 0 : iteration;
}

void BytePass::list() {
  static constexpr AccessKind kOrder[] = {AccessKind::kRead, AccessKind::kAccumulate,
                                          AccessKind::kWrite, AccessKind::kClobber};
  std::size_t count = plan_.outputs.size();
  for (const auto* kept : {&plan_.inputs, &plan_.constants}) {
    for (TensorId id : *kept) count += plan_.storages[plan_.tensors[id].storage].slots.size();
  }
  for (Node node = 0; node < model_.size(); ++node) count += model_.op(node).accesses.size();
  first_.reserve(model_.size() + std::size_t{1});
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
}

void BytePass::touch(Node node, std::uint32_t k) {
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
      contents_.push_back({touch.version, node, root, clobber});
    }
  }
  touch.points.begin = region_of(touch, access);
  touches_.push_back(touch);
}

Regions::Id BytePass::region_of(const Touch& touch, const Access& access) {
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
void BytePass::list_initial() {
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

void BytePass::number_points() {
  regions_.number();
  for (Touch& touch : touches_) touch.points = regions_.points(touch.points.begin);
  for (std::vector<Initial>& of_root : initial_) {
    for (Initial& initial : of_root) {
      for (PointRange& points : initial.points) points = regions_.points(points.begin);
    }
  }
  whole_ = {};
}

void BytePass::list_end() {
  const std::int64_t last = std::int64_t{model_.iterations()} - 1;
  std::vector<std::uint8_t> is_output(plan_.tensors.size(), 0);
  std::vector<std::uint8_t> is_donated(plan_.tensors.size(), 0);
  for (std::uint32_t k = 0; k < plan_.outputs.size(); ++k) {
    const TensorId tensor = plan_.outputs[k].tensor;
    is_output[index(tensor)] = 1;
    const std::int64_t instance = instance_of(tensor, last);
    const Regions::Id id = regions_.add(model_.layout().tensor_region(plan_, tensor, instance));
    touches_.push_back({.node = model_.size(),
                        .access = k,
                        .tensor = tensor,
                        .instance = instance,
                        .points = {id, 0}});
  }
  for (TensorId tensor : plan_.donated) is_donated[index(tensor)] = 1;
  for (TensorId tensor : plan_.inputs) {
    if (is_donated[index(tensor)] == 0) keep(tensor, is_output[index(tensor)] != 0);
  }
  for (TensorId tensor : plan_.constants) keep(tensor, false);
}

void BytePass::keep(TensorId tensor, bool or_own) {
  const std::size_t slots = plan_.storages[plan_.tensors[tensor].storage].slots.size();
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const auto instance = static_cast<std::int64_t>(slot);
    const Regions::Id id = regions_.add(model_.layout().tensor_region(plan_, tensor, instance));
    touches_.push_back({.node = model_.size(),
                        .keeps = true,
                        .or_own = or_own,
                        .tensor = tensor,
                        .instance = instance,
                        .points = {id, 0}});
  }
}

std::uint32_t BytePass::update_of(const Touch& touch) {
  const auto number = static_cast<std::uint32_t>(updates_.size());
  return updates_
      .try_emplace({plan_.accesses[touch.access].update, plan_.tensors[touch.tensor].dtype}, number)
      .first->second;
}

// --- who must be ordered ---

void BytePass::order_all(std::span<const Node> run) {
  touched_.emplace(regions_.size(), Touched{});
  members_.assign(1, {});
  asked_.resize(kMemos);
  joined_.resize(kMemos);
  demands_.orders.reserve(demands_.orders.size() + touches_.size());
  for (Node node : run) {
    for (std::uint32_t k = first_[node]; k < first_[node + 1]; ++k) order_step(touches_[k]);
  }
  demands_.pairs += static_cast<std::int64_t>(demands_.orders.size());
}

void BytePass::order_step(const Touch& touch) {
  switch (touch.kind) {
    case AccessKind::kRead:
      return join(touch, kReaders);
    case AccessKind::kAccumulate:
      return join(touch, kAccumulates + update_of(touch));
    case AccessKind::kWrite:
    case AccessKind::kClobber:
      return overwrite(touch);
  }
}

void BytePass::join(const Touch& touch, std::uint32_t kind) {
  for (const PointRange& range : ranges(touch)) {
    touched_->visit(range, [&](Point, Point, Touched& last) {
      if (last.kind != kind) last = {.kind = kind, .before = last.group};
      check(touch.node, last.before);
      last.group = with(last.group, touch.node);
    });
  }
}

/// The group and `node`, which stands for what its in-order queue did before.
BytePass::Group BytePass::with(Group group, Node node) {
  Memo& memo = joined_[group % kMemos];
  if (memo.group == group && memo.node == node) return memo.found;
  const Model::Place chain = model_.chain(node);
  const auto follows = [&](Group member) {
    return model_.chain(members_[member].node).line == chain.line;
  };
  Group others = group;
  if (model_.is_queue(chain.line)) {
    Group found = group;
    while (found != 0 && !follows(found)) found = members_[found].others;
    if (found != 0) {
      others = members_[found].others;
      for (Group member = group; member != found; member = members_[member].others) {
        members_.push_back({.node = members_[member].node, .others = others});
        others = static_cast<Group>(members_.size() - 1);
      }
    }
  } else if (group != 0 && members_[group].node == node) {
    return group;  // What a node touches comes in a row.
  }
  members_.push_back({.node = node, .others = others});
  memo = {group, node, static_cast<Group>(members_.size() - 1)};
  return memo.found;
}

void BytePass::overwrite(const Touch& touch) {
  for (const PointRange& range : ranges(touch)) {
    touched_->look(range,
                   [&](Point, Point, const Touched& last) { check(touch.node, last.group); });
    touched_->assign(range, {.kind = kWriter, .group = with(0, touch.node)});
  }
}

/// For a group that the node has been checked against the orders are only counted.
void BytePass::check(Node node, Group group) {
  if (group == 0) return;
  Memo& memo = asked_[group % kMemos];
  if (memo.group == group && memo.node == node) {
    demands_.pairs += memo.found;
    return;
  }
  std::uint32_t asked = 0;
  for (Group member = group; member != 0; member = members_[member].others) {
    if (members_[member].node == node) continue;
    demands_.orders.emplace_back(node, members_[member].node);
    ++asked;
  }
  memo = {group, node, asked};
}

PoolId BytePass::pool_of(const Touch& touch) const {
  if (touch.tensor == kNone<TensorId>) return plan_.accesses[touch.access].pool;
  return plan_.storages[plan_.tensors[touch.tensor].storage].pool;
}

std::optional<BytePass::Clash> BytePass::clash(Node first, Node second) {
  std::optional<Clash> least;
  for (std::uint32_t i = first_[first]; i < first_[first + 1]; ++i) {
    for (std::uint32_t j = first_[second]; j < first_[second + 1]; ++j) {
      const Touch& a = touches_[i];
      const Touch& b = touches_[j];
      const bool reads = a.kind == AccessKind::kRead && b.kind == AccessKind::kRead;
      const bool adds = a.kind == AccessKind::kAccumulate && b.kind == AccessKind::kAccumulate;
      if (reads || (adds && update_of(a) == update_of(b))) continue;
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

// --- alloc and free ([S-33], [S-34]) ---

void BytePass::list_events() {
  for (auto& of_storage : events_) {
    for (auto& of_slot : of_storage) of_slot.clear();
  }
  for (Node node = 0; node < model_.size(); ++node) {
    const OpKind kind = model_.op(node).kind;
    if ((kind != OpKind::kAlloc && kind != OpKind::kFree) || model_[node].passed) continue;
    const StorageId storage = model_.op(node).storage;
    const std::uint32_t slot = model_.layout().slot_index(storage, model_[node].iteration);
    auto& events = events_[index(storage)][slot];
    if (is_alive(storage, events) != (kind == OpKind::kFree)) {
      demands_.fault = describe(model_, node) + " does not alternate with the alloc or free before";
    }
    if (!events.empty()) demands_.orders.emplace_back(node, events.back());
    events.push_back(node);
  }
}

bool BytePass::is_alive(StorageId storage, const std::vector<Node>& events) const {
  return events.empty() ? has_alloc_[index(storage)] == 0
                        : model_.op(events.back()).kind == OpKind::kAlloc;
}

void BytePass::check_lifetimes() {
  for (std::uint32_t k = 0; k < touches_.size(); ++k) {
    const Touch& touch = touches_[k];
    if (touch.tensor == kNone<TensorId> || touch.points.begin == touch.points.end) continue;
    const auto [storage, in_slot] = slot(touch.tensor, touch.instance);
    const auto& events = events_[index(storage)][in_slot];
    if (touch.node < model_.size()) {
      check_bracket(touch, storage, events);
    } else if (!is_alive(storage, events)) {
      fault(touch, "is accessed after its free");
    }
  }
}

void BytePass::check_bracket(const Touch& touch, StorageId storage,
                             const std::vector<Node>& events) {
  const auto is_alloc = [&](Node node) { return model_.op(node).kind == OpKind::kAlloc; };
  auto event =
      static_cast<std::size_t>(std::ranges::lower_bound(events, touch.node) - events.begin());
  while (event > 0 && !is_alloc(events[event - 1])) --event;
  if (event == 0 && has_alloc_[index(storage)] != 0) {
    fault(touch, "is an access before the first alloc");
  }
  if (event > 0) demands_.orders.emplace_back(touch.node, events[event - 1]);
  while (event < events.size() && is_alloc(events[event])) ++event;
  if (event < events.size()) demands_.orders.emplace_back(events[event], touch.node);
}

}  // namespace memverify::cert
