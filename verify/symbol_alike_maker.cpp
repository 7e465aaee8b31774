// The comparisons that fix a plan's findings, taken under given values of the symbols.
#include <algorithm>
#include <numeric>
#include <set>
#include <span>

#include "plan/layout.h"
#include "plan/region.h"
#include "verify/symbol_alike.h"

namespace memverify {
namespace {

constexpr Wide kGreatest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostRuns = 4096;  ///< Of one strided tensor.

}  // namespace

class AlikeMaker {
 public:
  AlikeMaker(SymbolicPlan& symbolic)
      : s_(symbolic), plan_(symbolic.plan_), polys_(symbolic.polys_) {}

  /// False if some value is not known, or a strided tensor has too many runs.
  bool make() {
    pin_counts();
    make_boxes();
    for (const OpId id : ids(plan_.ops)) {
      if (plan_.ops[id].kind != OpKind::kView) add_op(plan_.ops[id]);
    }
    add_boundary();
    add_views();
    add_storages();
    add_alignment();
    add_peaks();
    for (const PoolId id : ids(plan_.pools)) add_pool(intervals_[index(id)]);
    return !failed_;
  }
  std::vector<smt::Bool> take() { return std::move(formulas_); }

 private:
  /// The bytes of a tensor, from the start of its slot.
  struct Box {
    bool empty = true;
    bool contiguous = true;
    Poly low, high;               ///< The hull.
    std::vector<ByteRange> runs;  ///< From `low`; of a strided box, whose shape is fixed.
  };
  struct Interval {
    Poly low, high;
    Wide at_low = 0, at_high = 0;
  };

  Wide value(const Poly& p) {
    const std::optional<Wide> known = polys_.value(p);
    failed_ = failed_ || !known;
    return known.value_or(0);
  }
  Poly minus(const Poly& a, const Poly& b) { return polys_.subtract(a, b); }
  Poly plus(const Poly& a, const Poly& b) { return polys_.add(a, b); }

  void add(smt::Bool formula) {
    if (!s_.terms_.is_true(formula)) formulas_.push_back(formula);
  }
  /// Fixes whether a <= b.
  bool fix_at_most(const Poly& a, const Poly& b) {
    const Poly difference = minus(a, b);
    const bool holds = value(difference) <= 0;
    const smt::Bool formula = polys_.at_most_zero(difference);
    add(holds ? formula : s_.terms_.no(formula));
    return holds;
  }
  /// Fixes which of the two is less, or that they are equal.
  void fix_order(const Poly& a, const Poly& b) {
    const Poly difference = minus(a, b);
    if (value(difference) == 0) return add(polys_.is_zero(difference));
    fix_at_most(a, b);
    fix_at_most(b, a);
  }
  Wide fix_value(Expr expr) {
    if (expr.is_constant()) return expr.constant;
    const Poly& p = s_.poly(expr);
    const Wide known = value(p);
    if (Polys::constant(p)) return known;
    s_.pin(expr);
    add(polys_.is_zero(minus(p, Polys::number(known))));
    return known;
  }

  /// Values of semaphores and of counts decide order, which is not looked into here.
  void pin_counts() {
    const auto fix = [&](Expr expr) {
      if (expr.is_constant()) return;
      if (!plan_.formulas.uses_iteration(expr)) {
        fix_value(expr);
        return;
      }
      for (const SymbolId id : plan_.formulas.symbols(expr)) {
        s_.pin(expr);
        const Poly symbol = polys_.symbol(id);
        add(polys_.is_zero(minus(symbol, Polys::number(value(symbol)))));
      }
    };
    for (const Semaphore& semaphore : plan_.semaphores) fix(semaphore.initial);
    for (const Wait& wait : plan_.waits) fix(wait.value);
    for (const Signal& signal : plan_.signals) fix(signal.value);
  }

  void make_boxes() {
    boxes_.resize(plan_.tensors.size());
    intervals_.resize(plan_.pools.size());
    for (const TensorId id : ids(plan_.tensors)) {
      const Tensor& tensor = plan_.tensors[id];
      Box& box = boxes_[index(id)];
      box.low = s_.offsets_[index(id)];
      if (tensor.dtype != DType::kNone && tensor.has_strides && !is_row_major_here(tensor)) {
        make_strided(tensor, box);
        continue;
      }
      const Poly bytes =
          tensor.dtype == DType::kNone ? s_.poly(tensor.bytes) : s_.typed_bytes(tensor);
      box.empty = fix_at_most(bytes, {});
      box.high = plus(box.low, bytes);
    }
  }

  /// Fixes the answer, by the first dim that decides it or by all of them.
  bool is_row_major_here(const Tensor& tensor) {
    const std::span<const Expr> shape = Plan::slice(plan_.exprs, tensor.shape);
    const std::span<const Expr> strides = Plan::slice(plan_.exprs, tensor.strides);
    for (const Expr dim : shape) {
      if (value(s_.poly(dim)) == 0) return fix_at_most(s_.poly(dim), {});
    }
    for (const Expr dim : shape) fix_at_most(s_.poly(dim), {});
    Poly expected = Polys::number(1);
    for (std::size_t k = shape.size(); k-- > 0;) {
      const Poly& stride = s_.poly(strides[k]);
      const Poly& count = s_.poly(shape[k]);
      if (value(minus(stride, expected)) == 0) {
        fix_order(stride, expected);
      } else if (!fix_at_most(count, Polys::number(1))) {
        fix_order(stride, expected);
        return false;
      }
      expected = polys_.multiply(expected, count);
    }
    return true;
  }

  void make_strided(const Tensor& tensor, Box& box) {
    std::vector<Dim> dims;
    const std::int64_t element = std::max(bits(tensor.dtype) / 8, 1);
    for (std::uint32_t k = 0; k < tensor.shape.size(); ++k) {
      const Wide count = fix_value(plan_.exprs[tensor.shape.begin + k]);
      const Wide stride = fix_value(plan_.exprs[tensor.strides.begin + k]) * element;
      const auto narrow = static_cast<std::int64_t>(stride);
      if (count > kGreatest || narrow != stride) failed_ = true;
      dims.push_back({static_cast<std::int64_t>(count), narrow});
    }
    if (failed_) return;
    const std::optional<Region> region = Region::strided(PoolId{0}, 0, element, dims);
    if (!region || region->count_runs(kMostRuns + 1) > kMostRuns) {
      failed_ = true;
      return;
    }
    box.empty = region->empty();
    box.contiguous = false;
    box.runs = region->runs();
    const ByteRange hull = region->hull();
    for (ByteRange& run : box.runs) run = {run.begin - hull.begin, run.end - hull.begin};
    box.high = plus(box.low, Polys::number(hull.end));
    box.low = plus(box.low, Polys::number(hull.begin));
  }

  std::span<const Expr> slots_of(TensorId tensor) const {
    return Plan::slice(plan_.exprs, plan_.storages[plan_.tensors[tensor].storage].slots);
  }

  /// Of an access: the box clipped to its part.
  Box clipped(const Access& access) {
    Box box = boxes_[index(access.tensor)];
    if (box.empty || access.part == Access::kWhole) return box;
    const Part& part = plan_.parts[access.part];
    const Poly& element_0 = s_.offsets_[index(access.tensor)];
    const Poly begin = plus(element_0, s_.poly(part.offset));
    const Poly end = part.bytes ? plus(begin, s_.poly(*part.bytes)) : begin;
    fix_at_most(end, box.high);  // MV108
    if (box.contiguous) {
      if (!fix_at_most(begin, box.low)) box.low = begin;
      if (part.bytes && fix_at_most(end, box.high)) box.high = end;
      box.empty = fix_at_most(box.high, box.low);
      return box;
    }
    const Wide hull = value(minus(box.low, element_0));
    const Wide first = fix_value(part.offset) - hull;
    const Wide last = part.bytes ? first + fix_value(*part.bytes) : kGreatest;
    std::vector<ByteRange> runs;
    for (const ByteRange run : box.runs) {
      const auto from = static_cast<std::int64_t>(std::max<Wide>(run.begin, first));
      const auto to = static_cast<std::int64_t>(std::min<Wide>(run.end, last));
      if (from < to) runs.push_back({from, to});
    }
    box.runs = std::move(runs);
    box.empty = box.runs.empty();
    if (box.empty) return box;
    box.high = plus(box.low, Polys::number(box.runs.back().end));
    box.low = plus(box.low, Polys::number(box.runs.front().begin));
    for (ByteRange& run : box.runs)
      run = {run.begin - box.runs.front().begin, run.end - box.runs.front().begin};
    return box;
  }

  void add_interval(PoolId pool, Poly low, Poly high) {
    if (!seen_.emplace(pool, low, high).second) return;
    Interval interval{std::move(low), std::move(high)};
    interval.at_low = value(interval.low);
    interval.at_high = value(interval.high);
    intervals_[index(pool)].push_back(std::move(interval));
  }

  void add_region(TensorId tensor, const Box& box) {
    if (box.empty) return;
    const PoolId pool = plan_.storages[plan_.tensors[tensor].storage].pool;
    for (const Expr slot : slots_of(tensor)) {
      const Poly base = plus(s_.poly(slot), box.low);
      if (box.contiguous) {
        add_interval(pool, base, plus(s_.poly(slot), box.high));
        continue;
      }
      for (const ByteRange run : box.runs) {
        add_interval(pool, plus(base, Polys::number(run.begin)),
                     plus(base, Polys::number(run.end)));
      }
    }
  }

  void add_op(const Op& op) {
    for (const Access& access : plan_.accesses_of(op)) {
      if (access.tensor == kNone<TensorId>) {
        add_pool_bytes(access);
        continue;
      }
      const Box box = clipped(access);
      add_region(access.tensor, box);
      if (!box.empty) add_bounds(access.tensor, box);
    }
    for (const InPlace& pair : plan_.in_place_of(op)) {
      if (!pair.any && pair.read != pair.written) add_in_place(op, pair);
    }
  }

  void add_pool_bytes(const Access& access) {
    const bool whole = access.part == Access::kWhole;
    const Part part = whole ? Part{} : plan_.parts[access.part];
    const Poly& begin = s_.poly(part.offset);
    const std::optional<Expr>& capacity = plan_.pools[access.pool].bytes;
    if (capacity) {
      fix_at_most(part.bytes ? plus(begin, s_.poly(*part.bytes)) : begin, s_.poly(*capacity));
    }
    const Poly end = part.bytes ? plus(begin, s_.poly(*part.bytes))
                     : capacity ? s_.poly(*capacity)
                                : Polys::number(kGreatest);
    if (!fix_at_most(end, begin)) add_interval(access.pool, begin, end);
  }

  /// Whether the bytes lie in the storage and the pool.
  void add_bounds(TensorId tensor, const Box& box) {
    const Storage& storage = plan_.storages[plan_.tensors[tensor].storage];
    const std::optional<Expr>& capacity = plan_.pools[storage.pool].bytes;
    fix_at_most({}, box.low);
    fix_at_most(box.high, s_.poly(storage.bytes));
    for (const Expr slot : slots_of(tensor)) {
      fix_at_most({}, plus(s_.poly(slot), box.low));
      if (capacity) fix_at_most(plus(s_.poly(slot), box.high), s_.poly(*capacity));
    }
  }

  /// Whether the elements of the two lie at the same addresses; strided ones have fixed shapes.
  void add_in_place(const Op& op, const InPlace& pair) {
    const Box& a = boxes_[index(pair.read)];
    const Box& b = boxes_[index(pair.written)];
    if (a.empty || b.empty) return;
    if (a.contiguous && b.contiguous) fix_order(minus(a.high, a.low), minus(b.high, b.low));
    const auto reads = slots_of(pair.read);
    const auto writes = slots_of(pair.written);
    std::set<std::int64_t> distances;  // Of the read behind the written.
    for (const Access& access : plan_.accesses_of(op)) {
      if (access.tensor == pair.read || access.tensor == pair.written) {
        distances.insert(access.distance);
      }
    }
    const std::size_t rounds =
        distances.size() > 1 ? reads.size() * writes.size() : std::lcm(reads.size(), writes.size());
    for (std::size_t k = 0; k < rounds; ++k) {
      const std::size_t r = distances.size() > 1 ? k / writes.size() : k % reads.size();
      fix_order(plus(s_.poly(reads[r]), s_.offsets_[index(pair.read)]),
                plus(s_.poly(writes[k % writes.size()]), s_.offsets_[index(pair.written)]));
    }
  }

  void add_boundary() {
    const auto whole = [&](TensorId tensor) { add_region(tensor, boxes_[index(tensor)]); };
    for (const TensorId tensor : plan_.inputs) whole(tensor);
    for (const TensorId tensor : plan_.constants) whole(tensor);
    for (const Output& output : plan_.outputs) whole(output.tensor);
  }

  void add_views() {
    for (const TensorId id : ids(plan_.tensors)) {
      const Box& box = boxes_[index(id)];
      if (plan_.tensors[id].placement != Placement::kView || box.empty) continue;
      const Box& root = boxes_[index(plan_.tensors[id].root)];
      if (root.empty) continue;  // Any byte of the view lies outside.
      fix_at_most(root.low, box.low);
      fix_at_most(box.high, root.high);
    }
  }

  void add_storages() {
    for (const Storage& storage : plan_.storages) {
      const std::optional<Expr>& capacity = plan_.pools[storage.pool].bytes;
      for (const Expr slot : Plan::slice(plan_.exprs, storage.slots)) {
        fix_at_most({}, s_.poly(slot));
        if (capacity) fix_at_most(plus(s_.poly(slot), s_.poly(storage.bytes)), s_.poly(*capacity));
      }
    }
  }

  void fix_aligned(const Poly& address, std::int64_t alignment) {
    if (alignment > 1) fix_at_most(polys_.modulo(address, Polys::number(alignment)), {});
  }

  void add_alignment() {
    for (const Storage& storage : plan_.storages) {
      for (const Expr slot : Plan::slice(plan_.exprs, storage.slots)) {
        fix_aligned(s_.poly(slot), plan_.pools[storage.pool].alignment);
      }
    }
    for (const TensorId id : ids(plan_.tensors)) {
      const Tensor& tensor = plan_.tensors[id];
      const std::int64_t own = tensor.placement == Placement::kRoot
                                   ? plan_.pools[plan_.storages[tensor.storage].pool].alignment
                                   : 1;
      for (const Expr slot : slots_of(id)) {
        fix_aligned(plus(s_.poly(slot), s_.offsets_[index(id)]),
                    tensor.alignment != 0 ? tensor.alignment : own);
      }
    }
  }

  /// Whether the highest storage end is below, at or above the claim.
  void add_peaks() {
    for (const PoolId id : ids(plan_.pools)) {
      if (!plan_.pools[id].peak_bytes) continue;
      const Poly& claim = s_.poly(*plan_.pools[id].peak_bytes);
      std::vector<Poly> ends{{}};
      for (const Storage& storage : plan_.storages) {
        if (storage.pool != id) continue;
        for (const Expr slot : Plan::slice(plan_.exprs, storage.slots)) {
          ends.push_back(plus(s_.poly(slot), s_.poly(storage.bytes)));
        }
      }
      const auto highest =
          std::ranges::max_element(ends, {}, [&](const Poly& end) { return value(end); });
      fix_order(*highest, claim);
      if (value(*highest) > value(claim)) continue;
      const bool used_up = value(*highest) == value(claim);
      for (const Poly& end : ends) {
        if (used_up) {
          fix_at_most(end, claim);
        } else {
          fix_at_most(claim, end);
        }
      }
    }
  }

  void add_pool(std::vector<Interval>& intervals) {
    std::ranges::sort(intervals, {},
                      [](const Interval& i) { return std::pair(i.at_low, i.at_high); });
    const Poly* before = nullptr;  // The greatest end of the cluster before.
    for (std::size_t begin = 0; begin < intervals.size();) {
      std::size_t greatest = begin;
      std::size_t end = begin + 1;
      for (; end < intervals.size() && intervals[end].at_low < intervals[greatest].at_high; ++end) {
        if (intervals[end].at_high > intervals[greatest].at_high) greatest = end;
      }
      add_cluster(std::span(intervals).subspan(begin, end - begin));
      if (before != nullptr) fix_at_most(*before, intervals[begin].low);
      before = &intervals[greatest].high;
      begin = end;
    }
  }

  void add_cluster(std::span<const Interval> cluster) {
    if (cluster.size() == 1) return;  // Not empty, and alone.
    std::vector<std::pair<Wide, const Poly*>> points;
    for (const Interval& interval : cluster) {
      points.emplace_back(interval.at_low, &interval.low);
      points.emplace_back(interval.at_high, &interval.high);
    }
    std::ranges::sort(points, {},
                      [](const auto& point) { return std::tie(point.first, *point.second); });
    for (std::size_t k = 1; k < points.size(); ++k) {
      if (*points[k].second != *points[k - 1].second)
        fix_order(*points[k - 1].second, *points[k].second);
    }
  }

  SymbolicPlan& s_;
  const Plan& plan_;
  Polys& polys_;
  bool failed_ = false;
  std::vector<Box> boxes_;                        ///< By tensor.
  std::vector<std::vector<Interval>> intervals_;  ///< By pool.
  std::set<std::tuple<PoolId, Poly, Poly>> seen_;
  std::vector<smt::Bool> formulas_;
};

/// What must hold for a layout, or that it does not.
std::optional<Alike> SymbolicPlan::layout_class(std::vector<smt::Bool>& valid) {
  bool violated = false;
  for (const Poly& p : not_positive_) {
    valid.push_back(polys_.at_most_zero(p));
    violated = violated || polys_.value(p).value_or(0) > 0;
  }
  for (const Poly& p : not_zero_) {
    valid.push_back(terms_.no(polys_.is_zero(p)));
    violated = violated || polys_.value(p).value_or(1) == 0;
  }
  if (!violated) return std::nullopt;
  return Alike{{terms_.no(terms_.all(valid))}, false};
}

Alike SymbolicPlan::alike(const std::vector<std::int64_t>& symbols) {
  const bool known = polys_.assign(symbols);
  std::vector<smt::Bool> formulas;
  if (std::optional<Alike> none = layout_class(formulas)) return *std::move(none);
  AlikeMaker maker(*this);
  if (!known || !maker.make()) return {exactly(symbols)};
  const std::vector<smt::Bool> fixed = maker.take();
  formulas.insert(formulas.end(), fixed.begin(), fixed.end());
  return {std::move(formulas)};
}

}  // namespace memverify
