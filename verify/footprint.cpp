#include "verify/footprint.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <utility>

#include "verify/footprint_cut.h"
#include "verify/shape_ranges.h"

namespace memverify {
class FootprintMaker {
 public:
  /// `gather_from`: so many runs of all accesses make it worth to gather them.
  FootprintMaker(const Program& program, std::size_t max_runs, std::uint64_t gather_from)
      : program_(program),
        plan_(*program.plan),
        layout_(*program.layout),
        ranges_(max_runs),
        gather_from_(gather_from) {
    result_.program_ = &program;
  }

  std::optional<Footprints> make() {
    number_slots();
    describe_families();
    list_accesses();
    list_end();
    if (!list_ranges()) return std::nullopt;
    FootprintCutter(result_, ranges(), slot_address_, root_).cut();
    place_families();
    return std::move(result_);
  }

 private:
  using Shape = Footprints::Shape;
  using Family = Footprints::Family;
  static constexpr std::uint32_t kUnmade = 0xFFFFFFFFU;

  /// What is asked of a tensor again and again.
  struct Placed {
    TensorId root;
    std::uint32_t slots;
    std::uint32_t first;  ///< In shape_of_.
  };

  std::uint32_t slots_of(TensorId tensor) const { return placed_[index(tensor)].slots; }
  Family& family(TensorId tensor) { return result_.families_[index(placed_[index(tensor)].root)]; }

  void number_slots() {
    result_.first_slot_.reserve(plan_.storages.size());
    for (const Storage& storage : plan_.storages) {
      result_.first_slot_.push_back(static_cast<std::uint32_t>(result_.slots_));
      result_.slots_ += storage.slots.size();
    }
    placed_.reserve(plan_.tensors.size());
    std::uint32_t next = 0;
    for (const Tensor& tensor : plan_.tensors) {
      const auto slots = static_cast<std::uint32_t>(plan_.storages[tensor.storage].slots.size());
      placed_.push_back({tensor.root, slots, next});
      next += slots;
    }
    shape_of_.assign(next, kUnmade);
    result_.shapes_.reserve(next);
    ranges_.reserve(next);
    slot_address_.reserve(next);
    root_.reserve(next);
    part_.assign(plan_.parts.size(), kUnmade);
  }

  void describe_families() {
    result_.families_.resize(plan_.tensors.size());
    bool looks_back = false;
    for (const Access& access : plan_.accesses) {
      looks_back = looks_back || access.distance > 0;
      accumulates_ = accumulates_ || access.kind == AccessKind::kAccumulate;
    }
    // Of a single iteration that does not look back there is one instance of everything.
    const bool several =
        program_.iterations > 1 || looks_back || result_.slots_ != plan_.storages.size();
    if (several) {
      for (const Op& op : plan_.ops) describe_accesses(op);
    }
    for (const auto* boundary : {&plan_.inputs, &plan_.constants}) {
      for (TensorId tensor : *boundary) {
        family(tensor).initial = true;
        if (slots_of(tensor) > 1) family(tensor).one_instance = false;
      }
    }
    for (const Output& output : plan_.outputs) {
      if (slots_of(output.tensor) > 1) family(output.tensor).one_instance = false;
    }
  }

  void describe_accesses(const Op& op) {
    if (op.kind == OpKind::kView) return;
    for (const Access& access : plan_.accesses_of(op)) {
      if (access.tensor == kNone<TensorId>) continue;
      Family& f = family(access.tensor);
      f.max_distance = std::max(f.max_distance, static_cast<std::int32_t>(access.distance));
      const bool writes = access.kind == AccessKind::kWrite || access.kind == AccessKind::kClobber;
      if (writes && op.runs != Runs::kFirst) f.one_instance = false;
      if (slots_of(access.tensor) > 1) f.one_instance = false;
    }
  }

  void list_accesses() {
    result_.first_.reserve(program_.instances.size() + 1);
    result_.kinds_.reserve(program_.instances.size());
    std::size_t count = plan_.outputs.size();
    if (program_.iterations == 1) {
      count += plan_.accesses.size();
    } else {
      for (const Instance& i : program_.instances) count += plan_.ops[i.op].accesses.size();
    }
    for (const auto* kept : {&plan_.inputs, &plan_.constants}) {
      for (TensorId tensor : *kept) count += slots_of(tensor);
    }
    result_.accesses_.reserve(count);  // Costs address space only.
    for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
      result_.first_.push_back(static_cast<std::uint32_t>(result_.accesses_.size()));
      const Instance& instance = program_.instances[cmd];
      const bool touches = !instance.gate && !instance.skipped;
      const Op& op = plan_.ops[instance.op];
      result_.kinds_.push_back(touches ? op.kind : OpKind::kOp);
      if (touches) list_accesses_of(op, cmd, instance);
    }
    result_.first_.push_back(static_cast<std::uint32_t>(result_.accesses_.size()));
  }

  void list_accesses_of(const Op& op, Cmd cmd, const Instance& instance) {
    if (!accumulates_) {  // Then that is their order.
      for (std::uint32_t k = op.accesses.begin; k < op.accesses.end; ++k) add(cmd, instance, k);
      return;
    }
    for (AccessKind kind :
         {AccessKind::kRead, AccessKind::kAccumulate, AccessKind::kWrite, AccessKind::kClobber}) {
      for (std::uint32_t k = op.accesses.begin; k < op.accesses.end; ++k) {
        if (plan_.accesses[k].kind == kind) add(cmd, instance, k);
      }
    }
  }

  void add(Cmd cmd, const Instance& instance, std::uint32_t k) {
    const Access& access = plan_.accesses[k];
    AccessInstance& a = result_.accesses_.emplace_back();
    a.cmd = cmd;
    a.kind = access.kind;
    a.has_from = access.from_initial || access.from != kNone<OpId>;
    a.access = k;
    a.tensor = access.tensor;
    if (access.tensor == kNone<TensorId>) {
      a.footprint = make_shape(layout_.access_region(plan_, access, 0), 0, kNone<TensorId>);
      return;
    }
    set_instance(a, std::int64_t{instance.iteration} - access.distance);
    if (access.kind == AccessKind::kAccumulate) a.update = update_number(access);
    a.footprint = access.part == Access::kWhole ? whole_shape(access.tensor, a.instance)
                                                : part_shape(access, a.instance);
  }

  void set_instance(AccessInstance& a, std::int64_t iteration) const {
    a.root = placed_[index(a.tensor)].root;
    const bool is_one = result_.families_[index(a.root)].one_instance;
    a.instance = is_one ? 0 : static_cast<std::int32_t>(iteration);
  }

  std::uint32_t update_number(const Access& access) {
    const auto number = static_cast<std::uint32_t>(updates_.size());
    return updates_.try_emplace({access.update, plan_.tensors[access.tensor].dtype}, number)
        .first->second;
  }

  std::uint32_t whole_shape(TensorId tensor, std::int32_t instance) {
    const Placed& placed = placed_[index(tensor)];
    std::uint32_t& shape = shape_of_[placed.first + slot_index(tensor, instance)];
    if (shape == kUnmade) shape = make_whole_shape(tensor, instance);
    return shape;
  }

  std::uint32_t slot_index(TensorId tensor, std::int32_t instance) const {
    if (slots_of(tensor) == 1) return 0;
    return layout_.slot_index(plan_.tensors[tensor].storage, instance);
  }

  std::uint32_t make_whole_shape(TensorId tensor, std::int32_t instance) {
    const TensorLayout& bytes = layout_.tensor(tensor);
    if (!bytes.is_contiguous() || bytes.hull.empty())
      return make_tensor_shape(tensor, instance, layout_.tensor_region(plan_, tensor, instance));
    const std::int64_t slot = layout_.slot_address(bytes.storage, instance);
    const ByteRange placed{bytes.hull.begin + slot, bytes.hull.end + slot};
    const PoolId pool = layout_.storage(bytes.storage).pool;
    return name_shape(ranges_.add(pool, placed), slot, placed_[index(tensor)].root);
  }

  std::uint32_t part_shape(const Access& access, std::int32_t instance) {
    std::uint32_t& first = part_[access.part];
    if (first == kUnmade) {
      first = static_cast<std::uint32_t>(shape_of_.size());
      shape_of_.resize(shape_of_.size() + slots_of(access.tensor), kUnmade);
    }
    const std::uint32_t place = first + slot_index(access.tensor, instance);
    if (shape_of_[place] == kUnmade) {
      shape_of_[place] = make_tensor_shape(access.tensor, instance,
                                           layout_.access_region(plan_, access, instance));
    }
    return shape_of_[place];
  }

  std::uint32_t make_tensor_shape(TensorId tensor, std::int32_t instance, const Region& region) {
    const StorageId storage = plan_.tensors[tensor].storage;
    return make_shape(region, layout_.slot_address(storage, instance), plan_.tensors[tensor].root);
  }

  std::uint32_t make_shape(const Region& region, std::int64_t slot_address, TensorId root) {
    return name_shape(ranges_.add(region), slot_address, root);
  }

  std::uint32_t name_shape(const Shape& shape, std::int64_t slot_address, TensorId root) {
    const auto id = static_cast<std::uint32_t>(result_.shapes_.size());
    result_.shapes_.push_back(shape);
    slot_address_.push_back(slot_address);
    root_.push_back(root);
    return id;
  }

  /// Of places if that is worth it, else of bytes; false if they are too many.
  bool list_ranges() {
    if (ranges_.has_strided() && runs_of_accesses() >= gather_from_)
      result_.gathered_ = ranges_.list_places(plan_.pools.size(), result_.shapes_);
    if (!result_.gathered_) return ranges_.list_runs(result_.shapes_);
    number_slots_by_places();
    return true;
  }
  const std::vector<ByteRange>& ranges() const { return ranges_.ranges(); }
  std::uint64_t runs_of_accesses() const {
    std::uint64_t runs = 0;
    for (const AccessInstance& a : result_.accesses_)
      runs += ranges_.runs(result_.shapes_[a.footprint]);
    return runs;
  }

  /// Of places, a family's are counted from the first that it has in the slot.
  void number_slots_by_places() {
    std::vector<std::int64_t> least(result_.slots_, std::numeric_limits<std::int64_t>::max());
    for_each_placed([&](const Shape& shape, std::int64_t&, std::uint32_t slot) {
      if (shape.begin < shape.end) least[slot] = std::min(least[slot], ranges()[shape.begin].begin);
    });
    for_each_placed([&](const Shape&, std::int64_t& slot_address, std::uint32_t slot) {
      slot_address = least[slot];
    });
  }

  /// Calls visit(shape, slot_address, slot) for the shapes of tensors and of their parts, again and
  /// again.
  template <typename Visit>
  void for_each_placed(Visit&& visit) {
    const auto each = [&](TensorId tensor, std::uint32_t first) {
      for (std::uint32_t slot = 0; first != kUnmade && slot < slots_of(tensor); ++slot) {
        const std::uint32_t shape = shape_of_[first + slot];
        if (shape == kUnmade) continue;
        const std::uint32_t base = result_.first_slot_[index(plan_.tensors[tensor].storage)];
        visit(result_.shapes_[shape], slot_address_[shape], base + slot);
      }
    };
    for (TensorId tensor : ids(plan_.tensors)) each(tensor, placed_[index(tensor)].first);
    for (const Access& access : plan_.accesses) {
      if (access.tensor != kNone<TensorId> && access.part != Access::kWhole)
        each(access.tensor, part_[access.part]);
    }
  }

  void list_end() {
    // Their bytes are where the initial values are, accessed as a whole or not.
    for (const auto* boundary : {&plan_.inputs, &plan_.constants}) {
      for (TensorId tensor : *boundary) {
        for (std::size_t slot = 0; slot < slots_of(tensor); ++slot) {
          whole_shape(tensor, static_cast<std::int32_t>(slot));
        }
      }
    }
    if (!program_.reaches_end) return;
    const std::int64_t last = std::int64_t{program_.iterations} - 1;
    std::vector<std::uint8_t> is_output(plan_.tensors.size(), 0);
    for (std::uint32_t k = 0; k < plan_.outputs.size(); ++k) {
      const TensorId tensor = plan_.outputs[k].tensor;
      is_output[index(tensor)] = 1;
      AccessInstance a{.cmd = kEndOfRun, .access = k, .tensor = tensor};
      a.has_from = plan_.outputs[k].from_initial || plan_.outputs[k].from != kNone<OpId>;
      set_instance(a, last);
      a.footprint = whole_shape(tensor, a.instance);
      result_.accesses_.push_back(a);
    }
    std::vector<std::uint8_t> is_donated(plan_.tensors.size(), 0);
    for (TensorId tensor : plan_.donated) is_donated[index(tensor)] = 1;
    for (TensorId tensor : plan_.inputs) {
      if (!is_donated[index(tensor)]) keep(tensor, is_output[index(tensor)] != 0);
    }
    for (TensorId tensor : plan_.constants) keep(tensor, false);
  }

  void keep(TensorId tensor, bool or_own) {
    const std::size_t slots = family(tensor).one_instance ? 1 : slots_of(tensor);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      AccessInstance a{.cmd = kEndOfRun, .keeps_initial = true, .or_own = or_own, .tensor = tensor};
      set_instance(a, static_cast<std::int64_t>(slot));
      a.footprint = whole_shape(tensor, a.instance);
      result_.accesses_.push_back(a);
    }
  }

  void place_families() {
    std::size_t next = 0;
    for (Family& f : result_.families_) {
      if (f.points == 0) continue;
      f.base = static_cast<std::uint32_t>(next);
      f.instances =
          f.one_instance ? 1 : program_.iterations + static_cast<std::uint32_t>(f.max_distance);
      next += std::size_t{f.points} * f.instances;
    }
    result_.family_points_ = next;
    for (TensorId tensor : plan_.inputs) add_initial(tensor);
    for (TensorId tensor : plan_.constants) add_initial(tensor);
  }

  void add_initial(TensorId tensor) {
    const Family& f = family(tensor);
    for (std::uint32_t i = 0; i < f.instances; ++i) {
      const std::int32_t instance = static_cast<std::int32_t>(i) - f.max_distance;
      const Shape& shape = result_.shapes_[whole_shape(tensor, f.one_instance ? 0 : instance)];
      const std::uint32_t base = f.base + i * f.points;
      for (std::uint32_t k = shape.begin; k < shape.end; ++k) {
        result_.initial_.emplace_back(base + result_.runs_[k].family_begin,
                                      base + result_.runs_[k].family_end);
      }
    }
  }

  const Program& program_;
  const Plan& plan_;
  const Layout& layout_;
  ShapeRanges ranges_;  ///< By shape.
  std::uint64_t gather_from_;
  Footprints result_;
  bool accumulates_ = false;
  std::vector<Placed> placed_;              ///< By tensor.
  std::vector<std::uint32_t> part_;         ///< By part: first entry in shape_of_.
  std::vector<std::uint32_t> shape_of_;     ///< From Placed::first or part_ on, by slot.
  std::vector<std::int64_t> slot_address_;  ///< By shape, in bytes or places.
  std::vector<TensorId> root_;              ///< By shape.
  std::map<std::pair<UpdateId, DType>, std::uint32_t> updates_;
};

std::optional<Footprints> Footprints::make(const Program& program, std::size_t max_runs) {
  return FootprintMaker(program, max_runs, kNever).make();
}

std::optional<Footprints> Footprints::gather(const Program& program, std::size_t max_runs,
                                             std::uint64_t from) {
  return FootprintMaker(program, max_runs, from).make();
}

ByteRange Footprints::first_overlap(const AccessInstance& a, const AccessInstance& b) const {
  assert(!gathered_);
  const std::span<const Run> x = runs(a);
  const std::span<const Run> y = runs(b);
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    const std::uint32_t low = std::max(x[i].begin, y[j].begin);
    const std::uint32_t high = std::min(x[i].end, y[j].end);
    if (low < high) {
      if (end != 0 && low != end) break;
      if (end == 0) begin = low;
      end = high;
    }
    (x[i].end < y[j].end ? i : j)++;
  }
  return end == 0 ? ByteRange{} : ByteRange{addresses_[begin], addresses_[end]};
}

std::int64_t Footprints::family_address(const AccessInstance& a, std::uint32_t point) const {
  const Family& f = families_[index(a.root)];
  const Run& first = runs(a).front();  // Says where the instance lies.
  if (f.points == 1) return addresses_[point == 0 ? first.begin : first.end];
  const std::int64_t* addresses = family_addresses_.data() + f.first_address;
  return addresses[point] - addresses[first.family_begin] + addresses_[first.begin];
}

bool Footprints::has_initial(TensorId tensor) const {
  return families_[index(program_->plan->tensors[tensor].root)].initial;
}

bool Footprints::is_one_instance(TensorId tensor) const {
  return families_[index(program_->plan->tensors[tensor].root)].one_instance;
}

std::uint32_t Footprints::slot(TensorId tensor, std::int32_t instance) const {
  return slot_of_storage(program_->plan->tensors[tensor].storage, instance);
}

std::uint32_t Footprints::slot_of_storage(StorageId storage, std::int64_t iteration) const {
  return first_slot_[index(storage)] + program_->layout->slot_index(storage, iteration);
}

}  // namespace memverify
