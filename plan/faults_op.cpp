// What one op does wrong by itself: MV107 ([S-48]), MV113, and MV108 of parts and pool bytes
// ([S-4]).
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "plan/element_order.h"
#include "plan/faults_impl.h"

namespace memverify {
namespace {

/// Beyond this many combinations of rotating slots, pairs are looked at one by one, each with the
/// combinations of its own two storages.
constexpr std::int64_t kMostCombinations = 64;

/// Up to so many accesses all pairs are looked at, without sorting.
constexpr std::size_t kFew = 8;

/// What an access asks of its storage.
struct Home {
  std::int64_t address = 0;
  std::int64_t bytes = 0;
  PoolId pool = kNone<PoolId>;
  bool leaves_pool = false;  ///< Some slot of it does.
  bool is_plain = false;     ///< The only slot lies in the pool.
};

/// The bytes of `inner` before `outer`, or if there are none those behind it.
ByteRange outside_of(ByteRange inner, ByteRange outer) {
  if (inner.begin < outer.begin) return {inner.begin, std::min(inner.end, outer.begin)};
  return {std::max(inner.begin, outer.end), inner.end};
}

/// Iterations to look at: `[first, first + count)`.
struct Iterations {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

class OpSearch {
 public:
  explicit OpSearch(FaultSearch& search)
      : search_(search), plan_(search.plan), layout_(search.layout) {
    self_overlap_.resize(plan_.tensors.size());
    homes_.reserve(plan_.storages.size());
    for (const StorageId id : ids(plan_.storages)) {
      const StorageLayout& storage = layout_.storage(id);
      const bool leaves = leaves_its_pool(id);
      homes_.push_back({layout_.slot_address(id, 0), storage.bytes, storage.pool, leaves,
                        storage.slots.size() == 1 && !leaves});
    }
  }

  void run(OpId id) {
    id_ = id;
    op_ = &plan_.ops[id];
    accesses_ = plan_.accesses_of(*op_);
    if (op_->kind == OpKind::kView) return find_incoherent();
    if (is_plainly_right()) return;
    find_outside();
    // What an unknown op lists is what it may touch, not what it does ([S-36]).
    if (op_->kind == OpKind::kUnknown) return;
    if (std::ranges::none_of(accesses_, writes)) return;
    if (!find_self_overlap()) find_clash();
  }

 private:
  Finding& add(FaultKind kind, Rule rule, std::int64_t iteration,
               std::array<std::int64_t, 4> numbers = {}) {
    Finding& finding = search_.add(kind, rule, numbers);
    finding.ops = {id_};
    finding.iteration = {iteration};
    return finding;
  }

  void find_incoherent() {
    for (const Access& access : accesses_) {
      if (plan_.tensors[access.tensor].root == plan_.tensors[accesses_[0].tensor].root) continue;
      Finding& finding =
          add(FaultKind::kIncoherent, Rule::kIncoherent, first_iteration(plan_, *op_));
      add_tensor(plan_, accesses_[0].tensor, finding);
      add_tensor(plan_, access.tensor, finding);
      return;
    }
  }

  /// True only if nothing is wrong: of few whole tensors in a row, each inside a plain storage, no
  /// written one meets another that it does not update. Most ops are like that.
  bool is_plainly_right() const {
    struct Bytes {
      ByteRange range;
      PoolId pool;
    };
    std::array<Bytes, kFew> all;
    if (accesses_.size() > kFew) return false;
    for (std::size_t b = 0; b < accesses_.size(); ++b) {
      const Access& access = accesses_[b];
      if (access.tensor == kNone<TensorId> || access.part != Access::kWhole) return false;
      const TensorLayout& tensor = layout_.tensor(access.tensor);
      const Home& home = homes_[tensor.storage];
      const ByteRange hull = tensor.hull;
      const bool inside = 0 <= hull.begin && hull.end <= home.bytes;
      if (!home.is_plain || !tensor.is_contiguous() || !inside) return false;
      all[b] = {{home.address + hull.begin, home.address + hull.end}, home.pool};
      if (!writes(access)) continue;  // Reads come first.
      for (std::size_t a = 0; a < b; ++a) {
        const bool meet = all[a].range.begin < all[b].range.end &&
                          all[b].range.begin < all[a].range.end && all[a].pool == home.pool;
        if (meet && !updates(accesses_[a], access)) return false;
      }
    }
    return true;
  }

  /// True iff the second writes what the first reads, the same bytes if they are whole.
  static bool updates(const Access& first, const Access& second) {
    return first.kind == AccessKind::kRead && first.tensor == second.tensor &&
           first.distance == 0 && second.distance == 0;
  }

  /// One finding for the op, with every tensor whose access leaves something.
  void find_outside() {
    bool found = false;
    for (const Access& access : accesses_) {
      if (access.tensor == kNone<TensorId>) {
        found = leaves_pool(access, found) || found;
      } else if (!layout_.tensor(access.tensor).hull.empty()) {
        found = leaves_tensor(access, found) || leaves_storage(access, found) || found;
      }
    }
  }

  /// Adds the fault, or to the op's fault the tensor.
  void report_outside(bool again, FaultKind kind, std::array<std::int64_t, 4> numbers,
                      ByteRange bytes, std::int64_t iteration, const Access& access) {
    if (again) {
      Finding& finding = search_.faults.back().finding;
      if (access.tensor == kNone<TensorId>) return;
      if (std::ranges::count(finding.tensors, access.tensor) > 0) return;
      return add_tensor(plan_, access.tensor, finding);
    }
    Finding& finding = add(kind, Rule::kOutOfBounds, iteration, numbers);
    if (access.tensor != kNone<TensorId>) add_tensor(plan_, access.tensor, finding);
    finding.pool = access.tensor == kNone<TensorId> ? access.pool : pool_of(access);
    finding.bytes = bytes;
  }

  bool leaves_pool(const Access& access, bool again) {
    if (access.part == Access::kWhole) return false;
    const Part& part = plan_.parts[access.part];
    const Pool& pool = plan_.pools[access.pool];
    const std::int64_t begin = layout_.value(part.offset);
    const std::int64_t end = end_of(begin, part.bytes ? layout_.value(*part.bytes) : 0);
    const std::int64_t capacity = pool.bytes ? layout_.value(*pool.bytes) : end;
    if (begin >= 0 && end <= capacity) return false;
    const ByteRange bytes =
        begin < 0 ? ByteRange{begin, 0} : ByteRange{std::max(begin, capacity), end};
    report_outside(again, FaultKind::kClobberOutside, {begin, end, capacity}, bytes,
                   first_iteration(plan_, *op_), access);
    return true;
  }

  bool leaves_tensor(const Access& access, bool again) {
    if (access.part == Access::kWhole) return false;
    const TensorLayout& tensor = layout_.tensor(access.tensor);
    const Part& part = plan_.parts[access.part];
    const std::int64_t begin = layout_.value(part.offset);
    const std::int64_t end = end_of(begin, part.bytes ? layout_.value(*part.bytes) : 0);
    const std::int64_t extent = tensor.hull.end - tensor.offset;
    if (end <= extent) return false;
    const std::int64_t iteration = first_iteration(plan_, *op_);
    const std::int64_t element_0 = element_0_of(access, iteration);
    report_outside(again, FaultKind::kPartOutside, {begin, end, extent},
                   {end_of(element_0, std::max(begin, extent)), end_of(element_0, end)}, iteration,
                   access);
    return true;
  }

  bool leaves_storage(const Access& access, bool again) {
    const StorageId id = plan_.tensors[access.tensor].storage;
    const StorageLayout& storage = layout_.storage(id);
    const ByteRange tensor = layout_.tensor(access.tensor).hull;
    const bool inside = tensor.begin >= 0 && tensor.end <= storage.bytes;
    if (inside && !homes_[id].leaves_pool) return false;
    const std::optional<Expr>& bound = plan_.pools[storage.pool].bytes;
    const Iterations iterations = iterations_of(slots_of(access));
    for (std::int64_t i = iterations.first; i < iterations.first + iterations.count; ++i) {
      const ByteRange bytes = region_of(access, i).hull();
      const std::int64_t slot = layout_.slot_address(id, i - std::int64_t{access.distance});
      const ByteRange holder{slot, end_of(slot, storage.bytes)};
      const std::int64_t capacity = bound ? layout_.value(*bound) : bytes.end;
      if (bytes.empty()) continue;
      if (bytes.begin < 0) search_.negative_named[index(id)] = true;
      if (bytes.begin < holder.begin || bytes.end > holder.end) {
        report_outside(again, FaultKind::kStorageLeft,
                       {bytes.begin - slot, bytes.end - slot, storage.bytes},
                       outside_of(bytes, holder), i, access);
      } else if (bytes.begin < 0) {
        report_outside(again, FaultKind::kNegative, {bytes.begin},
                       outside_of(bytes, {0, bytes.end}), i, access);
      } else if (bytes.end > capacity) {
        report_outside(again, FaultKind::kPoolLeft, {bytes.begin, bytes.end, capacity},
                       outside_of(bytes, {0, capacity}), i, access);
      } else {
        continue;
      }
      return true;
    }
    return false;
  }

  bool find_self_overlap() {
    for (const Access& access : accesses_) {
      if (!writes(access) || access.tensor == kNone<TensorId>) continue;
      if (!plan_.tensors[access.tensor].has_strides) continue;
      std::optional<bool>& known = self_overlap_[access.tensor];
      if (!known) known = has_self_overlap(plan_, layout_, access.tensor);
      if (!*known) continue;
      const std::int64_t iteration = first_iteration(plan_, *op_);
      Finding& finding = add(FaultKind::kSelfOverlap, Rule::kInPlace, iteration);
      add_tensor(plan_, access.tensor, finding);
      const Region region = region_of(access, iteration);
      finding.pool = region.pool();
      finding.bytes = region.hull();
      return true;
    }
    return false;
  }

  void find_clash() {
    std::int64_t combinations = 1;
    for (const Access& access : accesses_) {
      if (combinations > kMostCombinations) break;
      combinations = std::lcm(combinations, slots_of(access));
    }
    if (combinations > kMostCombinations) return find_clash_pair_by_pair();
    const Iterations iterations = iterations_of(combinations);
    for (std::int64_t i = 0; i < iterations.count; ++i) {
      if (find_clash_in(iterations.first + i)) return;
    }
  }

  bool find_clash_in(std::int64_t iteration) {
    if (accesses_.size() <= kFew && !hulls_meet(iteration)) return false;
    regions_.clear();
    for (const Access& access : accesses_) regions_.push_back(region_of(access, iteration));
    bool found = false;
    const auto visit = [&](std::size_t a, std::size_t b) {
      found = clash(std::min(a, b), std::max(a, b), regions_[std::min(a, b)],
                    regions_[std::max(a, b)], iteration);
      return found;
    };
    if (accesses_.size() <= kFew) {
      for (std::size_t b = 1; b < accesses_.size(); ++b) {
        if (!writes(accesses_[b])) continue;  // Reads come first.
        for (std::size_t a = 0; a < b; ++a) {
          if (visit(a, b)) return true;
        }
      }
      return false;
    }
    items_.clear();
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      items_.push_back({regions_[i].pool(), regions_[i].hull(), i, writes(accesses_[i])});
    }
    for_each_meeting_pair(items_, visit);
    return found;
  }

  /// False only if no write can meet another access. Costs less than their regions.
  bool hulls_meet(std::int64_t iteration) {
    hulls_.clear();
    for (const Access& access : accesses_) {
      if (access.tensor == kNone<TensorId>) return true;
      const ByteRange hull = layout_.tensor(access.tensor).hull;
      const std::int64_t slot = layout_.slot_address(plan_.tensors[access.tensor].storage,
                                                     iteration - std::int64_t{access.distance});
      hulls_.push_back({hull.begin + slot, hull.end + slot});
    }
    for (std::size_t b = 1; b < hulls_.size(); ++b) {
      if (!writes(accesses_[b])) continue;  // Reads come first.
      for (std::size_t a = 0; a < b; ++a) {
        if (hulls_[a].begin < hulls_[b].end && hulls_[b].begin < hulls_[a].end) return true;
      }
    }
    return false;
  }

  void find_clash_pair_by_pair() {
    for (std::size_t a = 0; a < accesses_.size(); ++a) {
      for (std::size_t b = a + 1; b < accesses_.size(); ++b) {
        if (!writes(accesses_[b]) && !writes(accesses_[a])) continue;
        const Iterations iterations =
            iterations_of(std::lcm(slots_of(accesses_[a]), slots_of(accesses_[b])));
        for (std::int64_t i = iterations.first; i < iterations.first + iterations.count; ++i) {
          if (clash(a, b, region_of(accesses_[a], i), region_of(accesses_[b], i), i)) return;
        }
      }
    }
  }

  /// Adds a fault if the accesses `a` < `b` (reads come first), one of them a write, clash.
  bool clash(std::size_t a, std::size_t b, const Region& at_a, const Region& at_b,
             std::int64_t iteration) {
    const Access& first = accesses_[a];
    const Access& second = accesses_[b];
    if (!at_a.overlaps(at_b)) return false;
    FaultKind kind = FaultKind::kTwoWrites;
    if (first.kind == AccessKind::kRead) {
      if (updates(first, second) && at_a.same_bytes(at_b)) return false;
      kind = FaultKind::kReadWrite;
      for (const InPlace& pair : plan_.in_place_of(*op_)) {
        if (pair.read != first.tensor || pair.written != second.tensor) continue;
        if (pair.any || same_elements(plan_, layout_, first.tensor, element_0_of(first, iteration),
                                      second.tensor, element_0_of(second, iteration))) {
          return false;
        }
        kind = FaultKind::kInPlaceOrder;
      }
    } else if (commute(first, second)) {
      return false;
    }
    Finding& finding = add(kind, Rule::kInPlace, iteration);
    for (const Access* access : {&first, &second}) {
      if (access->tensor != kNone<TensorId>) add_tensor(plan_, access->tensor, finding);
    }
    finding.pool = at_a.pool();
    finding.bytes = at_a.first_overlap(at_b);
    return true;
  }

  bool leaves_its_pool(StorageId id) const {
    const StorageLayout& storage = layout_.storage(id);
    const std::optional<Expr>& capacity = plan_.pools[storage.pool].bytes;
    for (std::uint32_t slot = 0; slot < storage.slots.size(); ++slot) {
      const std::int64_t begin = layout_.slot_address(id, slot);
      if (begin < 0) return true;
      if (capacity && end_of(begin, storage.bytes) > layout_.value(*capacity)) return true;
    }
    return false;
  }

  bool commute(const Access& a, const Access& b) const {
    return a.kind == AccessKind::kAccumulate && b.kind == AccessKind::kAccumulate &&
           a.update == b.update && plan_.tensors[a.tensor].dtype == plan_.tensors[b.tensor].dtype;
  }

  /// The iterations of the op that show all `combinations` of its slots that occur.
  Iterations iterations_of(std::int64_t combinations) const {
    const std::int64_t first = first_iteration(plan_, *op_);
    if (op_->runs == Runs::kFirst) return {first, 1};
    if (!plan_.iterations) return {first, combinations};
    return {first, std::min(combinations, *plan_.iterations - first)};
  }

  PoolId pool_of(const Access& access) const {
    return layout_.storage(plan_.tensors[access.tensor].storage).pool;
  }

  std::int64_t slots_of(const Access& access) const {
    if (access.tensor == kNone<TensorId>) return 1;
    return layout_.storage(plan_.tensors[access.tensor].storage).slots.size();
  }

  Region region_of(const Access& access, std::int64_t iteration) const {
    return layout_.access_region(plan_, access, iteration - std::int64_t{access.distance});
  }

  std::int64_t element_0_of(const Access& access, std::int64_t iteration) const {
    const StorageId storage = plan_.tensors[access.tensor].storage;
    return layout_.slot_address(storage, iteration - std::int64_t{access.distance}) +
           layout_.tensor(access.tensor).offset;
  }

  FaultSearch& search_;
  const Plan& plan_;
  const Layout& layout_;
  Table<TensorId, std::optional<bool>> self_overlap_;  // Once asked.
  Table<StorageId, Home> homes_;
  OpId id_ = kNone<OpId>;  // The op at hand.
  const Op* op_ = nullptr;
  std::span<const Access> accesses_;
  std::vector<Region> regions_;
  std::vector<ByteRange> hulls_;
  std::vector<SweepItem> items_;
};

}  // namespace

void find_op_faults(FaultSearch& search) {
  OpSearch ops(search);
  for (const OpId id : ids(search.plan.ops)) {
    if (!search.plan.ops[id].accesses.empty()) ops.run(id);
  }
}

}  // namespace memverify
