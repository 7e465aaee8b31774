// verify/symbol_alike_maker.h -- private to symbol_alike*.cpp: the comparisons that fix a plan's
// findings, taken under given values of the symbols.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/region.h"
#include "verify/symbol_alike.h"

namespace memverify {

/// The bytes `low + sum(i_k * stride_k) + [0, run)`, 0 <= i_k < count_k.
struct SymbolicBox {
  struct SymbolicDim {
    Poly count;   ///< >= 1.
    Poly stride;  ///< Bytes, > 0; at least what the inner dims and the run span.
    auto operator<=>(const SymbolicDim&) const = default;
  };
  bool empty = true;
  bool row_major = true;          ///< The k-th element is at k times its size.
  Poly low, high;                 ///< The hull.
  Poly run;                       ///< Of boxes with dims.
  std::vector<SymbolicDim> dims;  ///< Outermost first; none for contiguous bytes.
  std::vector<ByteRange> runs;    ///< From `low`, instead of dims: the shape is fixed.
  bool is_contiguous() const { return dims.empty() && runs.empty(); }
};

class AlikeMaker {
 public:
  explicit AlikeMaker(SymbolicPlan& symbolic);

  /// False if some value is not known, or a strided tensor has too many runs.
  bool make();
  std::vector<smt::Bool> take() { return std::move(formulas_); }

 private:
  /// A box at an address of a pool.
  struct Placed {
    Poly low, high;
    const SymbolicBox* box = nullptr;  ///< Of one with dims; nullptr: contiguous.
    Wide at_low = 0, at_high = 0;
  };
  enum class Relation : std::uint8_t { kApart, kSame, kInside, kAround, kOther };

  Wide value(const Poly& p);
  Poly minus(const Poly& a, const Poly& b) { return polys_.subtract(a, b); }
  Poly plus(const Poly& a, const Poly& b) { return polys_.add(a, b); }
  void add(smt::Bool formula);
  bool fix_at_most(const Poly& a, const Poly& b);
  void fix_order(const Poly& a, const Poly& b);
  Wide fix_value(Expr expr);

  void pin_counts();
  void make_boxes();
  bool is_row_major_here(const Tensor& tensor);
  bool make_nested(const Tensor& tensor, SymbolicBox& box);
  void fix_shape(TensorId id, SymbolicBox& box);
  std::span<const Expr> slots_of(TensorId tensor) const;
  SymbolicBox clipped(const Access& access);
  void clip_runs(const Access& access, SymbolicBox& box);

  void add_region(TensorId tensor, const SymbolicBox& box);
  void add_placed(PoolId pool, Poly low, Poly high, const SymbolicBox* box);
  void add_op(const Op& op);
  void add_pool_bytes(const Access& access);
  void add_bounds(TensorId tensor, const SymbolicBox& box);
  void add_in_place(const Op& op, const InPlace& pair);
  void fix_elements(const InPlace& pair);
  void add_boundary();
  void add_views();
  void add_storages();
  void fix_aligned(const Poly& address, std::int64_t alignment);
  void add_alignment();
  void add_peaks();

  void add_pool(std::vector<Placed> placed);
  void add_cluster(std::span<const Placed> cluster);
  void add_points(std::span<const Placed> cluster);
  bool add_nested(std::span<const Placed> cluster);
  std::vector<Placed> by_runs(std::span<const Placed> cluster);
  Relation fix_relation(const Placed& a, const Placed& b);
  Relation fix_in_period(const Placed& a, const Placed& b);
  bool fix_same(const Placed& a, const Placed& b);
  bool fix_inside(const Placed& inner, const Placed& outer);
  Poly width(const Placed& placed);
  Poly size(const Placed& placed);

  SymbolicPlan& s_;
  const Plan& plan_;
  Polys& polys_;
  bool failed_ = false;
  std::vector<SymbolicBox> boxes_;           ///< By tensor.
  std::vector<std::vector<Placed>> placed_;  ///< By pool.
  std::set<std::tuple<PoolId, Poly, Poly, Poly, std::vector<SymbolicBox::SymbolicDim>>> seen_;
  std::vector<smt::Bool> formulas_;
};

}  // namespace memverify
