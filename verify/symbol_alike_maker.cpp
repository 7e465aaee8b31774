// The comparisons that decide a plan's findings. Boxes are in verify/symbol_alike_boxes.cpp, which
// regions meet in verify/symbol_alike_pools.cpp.
#include "verify/symbol_alike_maker.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace memverify {
namespace {}  // namespace

AlikeMaker::AlikeMaker(SymbolicPlan& symbolic)
    : s_(symbolic), plan_(symbolic.plan_), polys_(symbolic.polys_) {}

bool AlikeMaker::make() {
  pin_counts();
  make_boxes();
  if (failed_) return false;
  for (const OpId id : ids(plan_.ops)) {
    if (plan_.ops[id].kind != OpKind::kView) add_op(plan_.ops[id]);
  }
  add_boundary();
  add_views();
  add_storages();
  add_alignment();
  add_peaks();
  for (const PoolId id : ids(plan_.pools)) add_pool(std::move(placed_[index(id)]));
  return !failed_;
}

Wide AlikeMaker::value(const Poly& p) {
  const std::optional<Wide> known = polys_.value(p);
  failed_ = failed_ || !known;
  return known.value_or(0);
}

void AlikeMaker::add(smt::Bool formula) {
  if (!s_.terms_.is_true(formula)) formulas_.push_back(formula);
}

/// Fixes whether a <= b.
bool AlikeMaker::fix_at_most(const Poly& a, const Poly& b) {
  const Poly difference = minus(a, b);
  const bool holds = value(difference) <= 0;
  const smt::Bool formula = polys_.at_most_zero(difference);
  add(holds ? formula : s_.terms_.no(formula));
  return holds;
}

/// Fixes which of the two is less, or that they are equal.
void AlikeMaker::fix_order(const Poly& a, const Poly& b) {
  const Poly difference = minus(a, b);
  if (value(difference) == 0) return add(polys_.is_zero(difference));
  fix_at_most(a, b);
  fix_at_most(b, a);
}

Wide AlikeMaker::fix_value(Expr expr) {
  if (expr.is_constant()) return expr.constant;
  const Poly& p = s_.poly(expr);
  const Wide known = value(p);
  if (Polys::constant(p)) return known;
  s_.pin(expr);
  add(polys_.is_zero(minus(p, Polys::number(known))));
  return known;
}

/// Values of semaphores and of counts decide order, which is not looked into here.
void AlikeMaker::pin_counts() {
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

void AlikeMaker::add_op(const Op& op) {
  for (const Access& access : plan_.accesses_of(op)) {
    if (access.tensor == kNone<TensorId>) {
      add_pool_bytes(access);
      continue;
    }
    const SymbolicBox box = clipped(access);
    add_region(access.tensor, box);
    if (!box.empty) add_bounds(access.tensor, box);
  }
  for (const InPlace& pair : plan_.in_place_of(op)) {
    if (!pair.any && pair.read != pair.written) add_in_place(op, pair);
  }
}

void AlikeMaker::add_pool_bytes(const Access& access) {
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
  if (!fix_at_most(end, begin)) add_placed(access.pool, begin, end, nullptr);
}

/// Whether the bytes lie in the storage and the pool.
void AlikeMaker::add_bounds(TensorId tensor, const SymbolicBox& box) {
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
void AlikeMaker::add_in_place(const Op& op, const InPlace& pair) {
  const SymbolicBox& a = boxes_[index(pair.read)];
  const SymbolicBox& b = boxes_[index(pair.written)];
  if (a.empty || b.empty) return;
  fix_elements(pair);
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

/// Whether the k-th elements of the two lie at the same distance from element 0.
void AlikeMaker::fix_elements(const InPlace& pair) {
  const SymbolicBox& a = boxes_[index(pair.read)];
  const SymbolicBox& b = boxes_[index(pair.written)];
  if (a.row_major != b.row_major) return;  // They do not.
  if (a.row_major) return fix_order(minus(a.high, a.low), minus(b.high, b.low));
  const auto numbers = [&](TensorId id) {
    std::vector<Expr> all;
    const Tensor& tensor = plan_.tensors[id];
    for (const Range range : {tensor.shape, tensor.strides}) {
      const std::span<const Expr> part = Plan::slice(plan_.exprs, range);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  };
  const std::vector<Expr> x = numbers(pair.read);
  const std::vector<Expr> y = numbers(pair.written);
  if (std::ranges::equal(x, y, [&](Expr p, Expr q) { return s_.poly(p) == s_.poly(q); })) return;
  for (const std::vector<Expr>* all : {&x, &y}) {
    for (const Expr expr : *all) fix_value(expr);
  }
}

void AlikeMaker::add_boundary() {
  const auto whole = [&](TensorId tensor) { add_region(tensor, boxes_[index(tensor)]); };
  for (const TensorId tensor : plan_.inputs) whole(tensor);
  for (const TensorId tensor : plan_.constants) whole(tensor);
  for (const Output& output : plan_.outputs) whole(output.tensor);
}

void AlikeMaker::add_views() {
  for (const TensorId id : ids(plan_.tensors)) {
    const SymbolicBox& box = boxes_[index(id)];
    if (plan_.tensors[id].placement != TensorKind::kView || box.empty) continue;
    const SymbolicBox& root = boxes_[index(plan_.tensors[id].root)];
    if (root.empty) continue;  // Any byte of the view lies outside.
    fix_at_most(root.low, box.low);
    fix_at_most(box.high, root.high);
  }
}

void AlikeMaker::add_storages() {
  for (const Storage& storage : plan_.storages) {
    const std::optional<Expr>& capacity = plan_.pools[storage.pool].bytes;
    for (const Expr slot : Plan::slice(plan_.exprs, storage.slots)) {
      fix_at_most({}, s_.poly(slot));
      if (capacity) fix_at_most(plus(s_.poly(slot), s_.poly(storage.bytes)), s_.poly(*capacity));
    }
  }
}

void AlikeMaker::fix_aligned(const Poly& address, std::int64_t alignment) {
  if (alignment > 1) fix_at_most(polys_.modulo(address, Polys::number(alignment)), {});
}

void AlikeMaker::add_alignment() {
  for (const Storage& storage : plan_.storages) {
    for (const Expr slot : Plan::slice(plan_.exprs, storage.slots)) {
      fix_aligned(s_.poly(slot), plan_.pools[storage.pool].alignment);
    }
  }
  for (const TensorId id : ids(plan_.tensors)) {
    const Tensor& tensor = plan_.tensors[id];
    const std::int64_t own = tensor.placement == TensorKind::kRoot
                                 ? plan_.pools[plan_.storages[tensor.storage].pool].alignment
                                 : 1;
    for (const Expr slot : slots_of(id)) {
      fix_aligned(plus(s_.poly(slot), s_.offsets_[index(id)]),
                  tensor.alignment != 0 ? tensor.alignment : own);
    }
  }
}

/// Whether the highest storage end is below, at or above the claim.
void AlikeMaker::add_peaks() {
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
