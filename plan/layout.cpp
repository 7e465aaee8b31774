#include "plan/layout.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include "plan/named_writers.h"
#include "plan/pointer.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMaxErrors = 100;
constexpr std::size_t kNamesInMessage = 5;

std::optional<std::int64_t> add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// For `b` >= 0.
std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return add(a, b).value_or(kMax); }

// Bytes of `elements` in a row.
std::optional<std::int64_t> packed_bytes(std::int64_t elements, int bits) {
  if (bits == 4) return elements / 2 + elements % 2;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, bits / 8, &bytes)) return std::nullopt;
  return bytes;
}

// Counts are >= 0.
std::optional<std::int64_t> product(std::span<const std::int64_t> counts) {
  if (std::ranges::find(counts, 0) != counts.end()) return 0;
  std::int64_t all = 1;
  for (const std::int64_t count : counts) {
    if (__builtin_mul_overflow(all, count, &all)) return std::nullopt;
  }
  return all;
}

Diagnostic unplaced_error(const Plan& plan) {
  std::vector<TensorId> unplaced;
  for (const TensorId id : ids(plan.tensors)) {
    if (plan.tensors[id].placement == TensorKind::kUnplaced) unplaced.push_back(id);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(unplaced.size(), kNamesInMessage); ++i) {
    names.push_back(quoted(plan.tensors[unplaced[i]].name));
  }
  if (unplaced.size() > kNamesInMessage) {
    names.push_back(std::to_string(unplaced.size() - kNamesInMessage) + " more");
  }
  return Diagnostic{.id = "tensor.unplaced",
                    .message = (unplaced.size() == 1 ? "tensor " : "tensors ") + listed(names) +
                               (unplaced.size() == 1 ? " has" : " have") +
                               " no storage yet: `memverify plan` places tensors",
                    .pointer = json_pointer({"tensors", index(unplaced.front())})};
}

}  // namespace

bool is_row_major(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    if (__builtin_mul_overflow(expected, shape[i], &expected)) return false;
  }
  return true;
}

/// Fills one Layout; exists while `make` runs.
class Layout::Maker {
 public:
  Maker(const Plan& plan, Layout& layout) : plan_(plan), layout_(layout) {}

  std::vector<Diagnostic> run() {
    formulas();
    for (const PoolId id : ids(plan_.pools)) pool(id);
    for (const SemaphoreId id : ids(plan_.semaphores)) {
      value(plan_.semaphores[id].initial, [&] {
        return json_pointer({"semaphores", index(id), "initial"});
      });
    }
    layout_.storages_.reserve(plan_.storages.size());
    for (const StorageId id : ids(plan_.storages)) storage(id);
    tensors();
    if (some_unplaced_) return {unplaced_error(plan_)};
    const bool all_counts_are_constant = plan_.parts.empty() && plan_.formulas.size() == 0;
    if (!all_counts_are_constant) {
      for (const OpId id : ids(plan_.ops)) op(id);
    }
    return std::move(errors_);
  }

 private:
  template <typename Pointer>
  void fail(std::string_view id, std::string message, Pointer pointer) {
    if (errors_.size() >= kMaxErrors) return;
    errors_.push_back({.id = std::string(id), .message = std::move(message), .pointer = pointer()});
  }
  template <typename Pointer>
  void overflow(Pointer pointer) {
    fail("expr.overflow", "the value does not fit in 64 bits", pointer);
  }

  void formulas() {
    layout_.formula_values_.resize(plan_.formulas.size());
    for (std::uint32_t i = 0; i < plan_.formulas.size(); ++i) {
      Expr expr;
      expr.formula = i;
      if (plan_.formulas.uses_iteration(expr)) continue;
      layout_.formula_values_[i] = plan_.formulas.eval(expr, layout_.valuation_);
    }
  }

  // The value, or 0 after an error.
  template <typename Pointer>
  std::int64_t value(Expr expr, const Pointer& pointer) {
    if (expr.is_constant()) return expr.constant;
    const std::optional<std::int64_t>& known = layout_.formula_values_[expr.formula];
    if (known) return *known;
    fail("expr.overflow",
         quoted(plan_.formulas.to_string(expr)) +
             " needs more than 64 bits, divides by zero or aligns to less than 1",
         pointer);
    return 0;
  }
  // The same for what must not be negative.
  template <typename Pointer>
  std::int64_t size(Expr expr, const Pointer& pointer) {
    const std::int64_t bytes = value(expr, pointer);
    if (bytes >= 0) [[likely]]
      return bytes;
    const std::string what = expr.is_constant() ? "this" : quoted(plan_.formulas.to_string(expr));
    fail("size.negative", what + " must not be negative, but it is " + std::to_string(bytes),
         pointer);
    return 0;
  }

  void pool(PoolId id) {
    const Pool& pool = plan_.pools[id];
    if (pool.bytes) size(*pool.bytes, [&] { return json_pointer({"pools", index(id), "bytes"}); });
    if (pool.peak_bytes) {
      size(*pool.peak_bytes, [&] { return json_pointer({"peak_bytes", pool.name}); });
    }
  }

  void storage(StorageId id) {
    const Storage& storage = plan_.storages[id];
    const auto at = [&](std::string_view field) {
      return [=] { return json_pointer({"storages", index(id), field}); };
    };
    StorageLayout out{.pool = storage.pool, .bytes = size(storage.bytes, at("bytes"))};
    out.slots.begin = static_cast<std::uint32_t>(layout_.slot_offsets_.size());
    SlotBounds bounds{kMax, std::numeric_limits<std::int64_t>::min()};
    for (const Expr offset : Plan::slice(plan_.exprs, storage.slots)) {
      std::int64_t slot = value(offset, at("offset"));
      if (!add(slot, out.bytes)) {
        overflow(at("offset"));
        slot = 0;  // Reported once, not again for every tensor.
      }
      layout_.slot_offsets_.push_back(slot);
      bounds = {std::min(bounds.least, slot), std::max(bounds.greatest, slot)};
    }
    out.slots.end = static_cast<std::uint32_t>(layout_.slot_offsets_.size());
    layout_.storages_.push_back(out);
    slot_bounds_.push_back(bounds);
  }

  // A view needs its base first; bases may come later in the plan, in chains of any length.
  void tensors() {
    layout_.tensors_.resize(plan_.tensors.size());
    std::vector<TensorId> chain;
    for (const TensorId id : ids(plan_.tensors)) {
      if (some_unplaced_) return;
      for (TensorId at = plan_.tensors[id].base; at != kNone<TensorId> && !is_made(at);
           at = plan_.tensors[at].base) {
        chain.push_back(at);
      }
      for (; !chain.empty(); chain.pop_back()) tensor(chain.back());
      if (!is_made(id)) tensor(id);
    }
  }
  bool is_made(TensorId id) const { return layout_.tensors_[id].storage != kNone<StorageId>; }

  void tensor(TensorId id) {
    const Tensor& tensor = plan_.tensors[id];
    if (tensor.storage == kNone<StorageId>) {
      some_unplaced_ = true;
      return;
    }
    const auto at = [&](std::string_view field) {
      return [=] { return json_pointer({"tensors", index(id), field}); };
    };
    TensorLayout& out = layout_.tensors_[id];
    out.storage = tensor.storage;
    const std::int64_t base =
        tensor.base == kNone<TensorId> ? 0 : layout_.tensors_[tensor.base].offset;
    const auto offset = add(base, value(tensor.offset, at("offset")));
    if (!offset) return overflow(at("offset"));
    bool fits = false;
    if (tensor.dtype == DType::kNone) {
      fits = lay_row(out, *offset, size(tensor.bytes, at("bytes")));
    } else {
      list(
          tensor.shape, shape_, [&](Expr e, auto pointer) { return size(e, pointer); }, id,
          "shape");
      list(
          tensor.strides, strides_, [&](Expr e, auto pointer) { return value(e, pointer); }, id,
          "strides");
      fits = lay_elements(out, *offset, tensor, at("strides"));
    }
    if (!fits) return overflow(at(tensor.dtype == DType::kNone ? "bytes" : "shape"));
    out.offset = *offset;
    check_addresses(out, slot_bounds_[index(tensor.storage)], at("offset"));
  }

  // Sets the hull; false on overflow.
  static bool lay_row(TensorLayout& out, std::int64_t begin, std::int64_t bytes) {
    const auto end = add(begin, bytes);
    if (end && bytes > 0) out.hull = {begin, *end};
    return end.has_value();
  }

  template <typename Evaluate>
  void list(Range range, std::vector<std::int64_t>& values, Evaluate evaluate, TensorId id,
            std::string_view field) {
    values.clear();
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
      values.push_back(evaluate(plan_.exprs[i], [&] {
        return json_pointer({"tensors", index(id), field, i - range.begin});
      }));
    }
  }

  // The same for the shape and strides in `shape_` and `strides_`.
  template <typename Pointer>
  bool lay_elements(TensorLayout& out, std::int64_t offset, const Tensor& tensor,
                    Pointer strides_at) {
    const int element_bits = bits(tensor.dtype);
    if (!tensor.has_strides || is_row_major(shape_, strides_)) {
      const std::optional<std::int64_t> elements = product(shape_);
      const auto bytes = elements ? packed_bytes(*elements, element_bits) : std::nullopt;
      return bytes && lay_row(out, offset, *bytes);
    }
    if (element_bits < 8) {
      fail("tensor.four_bit", "a tensor of 4-bit elements must be row-major contiguous",
           strides_at);
      return true;
    }
    dims_.clear();
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      const auto stride = packed_bytes(strides_[i], element_bits);
      if (!stride) return false;
      dims_.push_back({shape_[i], *stride});
    }
    const PoolId pool = layout_.storages_[out.storage].pool;
    std::optional<Region> region = Region::strided(pool, offset, element_bits / 8, dims_);
    if (!region) return false;
    out.hull = region->hull();
    out.strided = static_cast<std::uint32_t>(layout_.strided_.size());
    layout_.strided_.push_back(*std::move(region));
    return true;
  }

  struct SlotBounds {
    std::int64_t least;
    std::int64_t greatest;
  };
  // What `tensor_region` and `access_region` add must never overflow.
  template <typename Pointer>
  void check_addresses(const TensorLayout& tensor, SlotBounds slots, Pointer pointer) {
    const std::int64_t least = std::min(tensor.offset, tensor.hull.begin);
    const std::int64_t greatest = std::max(tensor.offset, tensor.hull.end);
    if (!add(least, slots.least) || !add(greatest, slots.greatest)) overflow(pointer);
  }

  void op(OpId id) {
    const Op& op = plan_.ops[id];
    for (std::uint32_t i = op.accesses.begin; i < op.accesses.end; ++i) {
      if (plan_.accesses[i].part == Access::kWhole) continue;
      const Part& part = plan_.parts[plan_.accesses[i].part];
      const auto entry = [&] { return access_pointer(plan_, id, i); };
      size(part.offset, [&] { return entry() + "/offset"; });
      if (part.bytes) size(*part.bytes, [&] { return entry() + "/bytes"; });
    }
    for (std::uint32_t i = op.waits.begin; i < op.waits.end; ++i) {
      const Wait& wait = plan_.waits[i];
      count(wait.value, wait.kind == WaitKind::kSemaphore && !wait.consume,
            [&] { return wait_pointer(plan_, id, i) + "/" + std::string(value_key(wait.kind)); });
    }
    for (std::uint32_t i = op.signals.begin; i < op.signals.end; ++i) {
      const Signal& signal = plan_.signals[i];
      if (signal.semaphore == kNone<SemaphoreId>) continue;
      count(signal.value, plan_.semaphores[signal.semaphore].timeline, [&] {
        return json_pointer({"ops", index(id), "signals", i - op.signals.begin, "value"});
      });
    }
  }

  // The number of a wait or signal, in the first and the last iteration if it depends on that.
  template <typename Pointer>
  void count(Expr expr, bool may_be_negative, Pointer pointer) {
    if (expr.is_constant()) return;
    Valuation valuation = layout_.valuation_;
    for (const std::int64_t iteration : {std::int64_t{0}, plan_.iterations.value_or(1) - 1}) {
      valuation.iteration = iteration;
      const std::optional<std::int64_t> number = plan_.formulas.eval(expr, valuation);
      if (!number) {
        return fail("expr.overflow",
                    quoted(plan_.formulas.to_string(expr)) + " has no 64-bit value in iteration " +
                        std::to_string(iteration),
                    pointer);
      }
      if (*number < 0 && !may_be_negative) {
        return fail("value.negative",
                    "this must not be negative, but it is " + std::to_string(*number) +
                        " in iteration " + std::to_string(iteration),
                    pointer);
      }
    }
  }

  const Plan& plan_;
  Layout& layout_;
  bool some_unplaced_ = false;
  std::vector<SlotBounds> slot_bounds_;  // By StorageId.
  std::vector<std::int64_t> shape_;      // Of the tensor at hand, as the two below.
  std::vector<std::int64_t> strides_;
  std::vector<Dim> dims_;
  std::vector<Diagnostic> errors_;
};

Result<Layout> Layout::make(const Plan& plan, const Valuation& valuation) {
  assert(valuation.symbols.size() == plan.symbols.size());
  Layout layout;
  layout.valuation_ = valuation;
  std::vector<Diagnostic> errors = Maker(plan, layout).run();
  if (errors.empty()) errors = misnamed_writers(plan, layout);
  if (!errors.empty()) return errors;
  return layout;
}

std::uint32_t Layout::slot_index(StorageId id, std::int64_t iteration) const {
  const std::int64_t slots = storages_[id].slots.size();
  if (slots == 1) return 0;
  const std::int64_t rest = iteration % slots;
  return static_cast<std::uint32_t>(rest < 0 ? rest + slots : rest);
}

std::int64_t Layout::slot_address(StorageId id, std::int64_t iteration) const {
  return slot_offsets_[storages_[id].slots.begin + slot_index(id, iteration)];
}

Region Layout::tensor_region(const Plan& /*plan*/, TensorId tensor, std::int64_t instance) const {
  const TensorLayout& at = tensors_[tensor];
  const std::int64_t slot = slot_address(at.storage, instance);
  if (at.is_contiguous()) {
    return Region::contiguous(storages_[at.storage].pool, at.hull.begin + slot,
                              at.hull.end - at.hull.begin);
  }
  const std::optional<Region> region = strided_[at.strided].shifted(slot);
  assert(region && "make() has checked every slot");
  return *region;
}

Region Layout::access_region(const Plan& plan, const Access& access, std::int64_t instance) const {
  const bool whole = access.part == Access::kWhole;
  const Part part = whole ? Part{} : plan.parts[access.part];
  const std::int64_t offset = value(part.offset);
  if (access.tensor == kNone<TensorId>) {
    const std::optional<Expr>& capacity = plan.pools[access.pool].bytes;
    const std::int64_t end = part.bytes ? saturating_add(offset, value(*part.bytes))
                             : capacity ? value(*capacity)
                                        : kMax;
    return Region::contiguous(access.pool, offset, std::max<std::int64_t>(end - offset, 0));
  }
  Region region = tensor_region(plan, access.tensor, instance);
  if (whole) return region;
  const TensorLayout& tensor = tensors_[access.tensor];
  const std::int64_t element = slot_address(tensor.storage, instance) + tensor.offset;
  const std::int64_t begin = saturating_add(element, offset);
  const std::int64_t end = part.bytes ? saturating_add(begin, value(*part.bytes)) : kMax;
  return region.clipped({begin, end});
}

std::int64_t Layout::value(Expr expr) const {
  if (expr.is_constant()) return expr.constant;
  const std::optional<std::int64_t>& known = formula_values_[expr.formula];
  assert(known && "a formula without `iteration` that make() has accepted");
  return *known;
}

}  // namespace memverify
