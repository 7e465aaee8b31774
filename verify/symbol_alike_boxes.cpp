// Which bytes the tensors and accesses of a plan are, relative to their slots.
#include <algorithm>
#include <limits>
#include <optional>

#include "verify/symbol_alike_maker.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostRuns = 4096;  ///< Of one strided tensor whose shape is fixed.

}  // namespace

void AlikeMaker::make_boxes() {
  boxes_.resize(plan_.tensors.size());
  placed_.resize(plan_.pools.size());
  for (const TensorId id : ids(plan_.tensors)) {
    const Tensor& tensor = plan_.tensors[id];
    SymbolicBox& box = boxes_[index(id)];
    box.low = s_.offsets_[index(id)];
    if (tensor.dtype != DType::kNone && tensor.has_strides && !is_row_major_here(tensor)) {
      box.empty = false;
      box.row_major = false;
      if (!make_nested(tensor, box)) fix_shape(id, box);
      continue;
    }
    const Poly bytes =
        tensor.dtype == DType::kNone ? s_.poly(tensor.bytes) : s_.typed_bytes(tensor);
    box.empty = fix_at_most(bytes, {});
    box.high = plus(box.low, bytes);
  }
}

/// Fixes the answer, by the first dim that decides it or by all of them.
bool AlikeMaker::is_row_major_here(const Tensor& tensor) {
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

/// The box of a tensor whose dims can be ordered so that each steps over all inner ones: no two
/// elements share a byte. False if they cannot, or nothing would be gained.
bool AlikeMaker::make_nested(const Tensor& tensor, SymbolicBox& box) {
  const std::span<const Expr> shape = Plan::slice(plan_.exprs, tensor.shape);
  const std::span<const Expr> strides = Plan::slice(plan_.exprs, tensor.strides);
  const auto is_constant = [](Expr e) { return e.is_constant(); };
  if (bits(tensor.dtype) < 8) return false;
  if (std::ranges::all_of(shape, is_constant) && std::ranges::all_of(strides, is_constant)) {
    return false;
  }
  box.run = Polys::number(bits(tensor.dtype) / 8);
  const Poly element = box.run;
  Poly low = box.low;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const Poly& count = s_.poly(shape[k]);
    if (Polys::constant(count) == 1) continue;
    Poly stride = polys_.multiply(s_.poly(strides[k]), element);
    if (fix_at_most(stride, {})) {
      low = plus(low, polys_.multiply(stride, minus(count, Polys::number(1))));
      stride = minus({}, stride);
    }
    box.dims.push_back({count, std::move(stride)});
  }
  std::ranges::stable_sort(box.dims, std::ranges::greater(),
                           [&](const auto& dim) { return value(dim.stride); });
  while (!box.dims.empty() && box.dims.back().stride == box.run) {
    box.run = polys_.multiply(box.run, box.dims.back().count);
    box.dims.pop_back();
  }
  Poly span = box.run;  // From the first to the last byte over the dims so far.
  for (std::size_t k = box.dims.size(); k-- > 0;) {
    const Poly& stride = box.dims[k].stride;
    if (value(stride) <= 0 || value(span) > value(stride)) {
      box.dims.clear();
      return false;
    }
    fix_at_most(span, stride);
    span = plus(span, polys_.multiply(stride, minus(box.dims[k].count, Polys::number(1))));
  }
  box.low = low;
  box.high = plus(low, span);
  return true;
}

/// The box of a tensor whose shape and strides are fixed to what they are.
void AlikeMaker::fix_shape(TensorId id, SymbolicBox& box) {
  const Tensor& tensor = plan_.tensors[id];
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
  box.dims.clear();
  box.empty = region->empty();
  box.runs = region->runs();
  const ByteRange hull = region->hull();
  for (ByteRange& run : box.runs) run = {run.begin - hull.begin, run.end - hull.begin};
  box.high = plus(s_.offsets_[index(id)], Polys::number(hull.end));
  box.low = plus(s_.offsets_[index(id)], Polys::number(hull.begin));
}

std::span<const Expr> AlikeMaker::slots_of(TensorId tensor) const {
  return Plan::slice(plan_.exprs, plan_.storages[plan_.tensors[tensor].storage].slots);
}

/// Of an access: the box clipped to its part.
SymbolicBox AlikeMaker::clipped(const Access& access) {
  SymbolicBox box = boxes_[index(access.tensor)];
  if (box.empty || access.part == Access::kWhole) return box;
  const Part& part = plan_.parts[access.part];
  const Poly begin = plus(s_.offsets_[index(access.tensor)], s_.poly(part.offset));
  const Poly end = part.bytes ? plus(begin, s_.poly(*part.bytes)) : begin;
  fix_at_most(end, box.high);  // MV108
  if (!box.is_contiguous()) {
    if (!box.dims.empty()) fix_shape(access.tensor, box);
    if (!failed_) clip_runs(access, box);
    return box;
  }
  if (!fix_at_most(begin, box.low)) box.low = begin;
  if (part.bytes && fix_at_most(end, box.high)) box.high = end;
  box.empty = fix_at_most(box.high, box.low);
  return box;
}

void AlikeMaker::clip_runs(const Access& access, SymbolicBox& box) {
  const Part& part = plan_.parts[access.part];
  const Wide hull = value(minus(box.low, s_.offsets_[index(access.tensor)]));
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
  if (box.empty) return;
  const std::int64_t begin = box.runs.front().begin;
  box.high = plus(box.low, Polys::number(box.runs.back().end));
  box.low = plus(box.low, Polys::number(begin));
  for (ByteRange& run : box.runs) run = {run.begin - begin, run.end - begin};
}

}  // namespace memverify
