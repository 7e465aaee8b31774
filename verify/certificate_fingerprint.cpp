// What a certificate is of: a hash of everything in a plan that has a meaning.
#include <bit>
#include <limits>
#include <type_traits>

#include "verify/certificate.h"

namespace memverify::cert {
namespace {

class Hash {
 public:
  void add(std::uint64_t value) {
    a_ = (std::rotl(a_, 23) ^ value) * 0x9E3779B97F4A7C15U;
    b_ = (std::rotl(b_, 41) + value) * 0xC2B2AE3D27D4EB4FU;
    a_ ^= a_ >> 29;
    b_ ^= b_ >> 32;
  }
  template <typename T>
  requires std::is_enum_v<T>
  void add(T value) { add(static_cast<std::uint64_t>(value)); }
  /// Values of at most 32 bits, two at a time.
  template <typename A, typename B, typename... Rest>
  void all(A a, B b, Rest... rest) {
    add(std::uint64_t{static_cast<std::uint32_t>(a)} | std::uint64_t{static_cast<std::uint32_t>(b)}
                                                           << 32);
    if constexpr (sizeof...(rest) == 1) {
      (add(std::uint64_t{static_cast<std::uint32_t>(rest)}), ...);
    } else if constexpr (sizeof...(rest) > 1) {
      all(rest...);
    }
  }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    for (char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  std::string hex() {
    add(std::uint64_t{0});
    std::string text;
    for (const std::uint64_t half : {a_, b_}) {
      for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[half >> shift & 15];
    }
    return text;
  }

 private:
  std::uint64_t a_ = 0x243F6A8885A308D3U, b_ = 0x13198A2E03707344U;
};

class Fingerprint {
 public:
  explicit Fingerprint(const Plan& plan) : plan_(plan) {}

  std::string make() {
    number(plan_.iterations.value_or(-1));
    declarations();
    tensors();
    for (const Op& op : plan_.ops) this->op(op);
    for (const auto* list : {&plan_.inputs, &plan_.constants, &plan_.donated}) {
      number(static_cast<std::int64_t>(list->size()));
      for (TensorId tensor : *list) hash_.add(tensor);
    }
    number(static_cast<std::int64_t>(plan_.outputs.size()));
    for (const Output& output : plan_.outputs) {
      hash_.all(output.tensor, output.from, std::uint64_t{output.from_initial});
    }
    return hash_.hex();
  }

 private:
  void number(std::int64_t value) { hash_.add(static_cast<std::uint64_t>(value)); }
  /// A constant is itself; a formula comes behind a number that marks it.
  void expr(Expr e) {
    constexpr std::int64_t kMark = std::numeric_limits<std::int64_t>::min();
    if (e.is_constant() && e.constant != kMark) return number(e.constant);
    number(kMark);
    hash_.add(std::uint64_t{e.is_constant()});
    if (e.is_constant()) return;
    const auto code = plan_.formulas.code(e);
    hash_.add(std::uint64_t{code.size()});
    for (const ExprPool::Instruction& step : code) {
      hash_.add(step.code);
      number(step.operand);
    }
  }
  void maybe(const std::optional<Expr>& e) {
    hash_.add(std::uint64_t{e.has_value()});
    if (e) expr(*e);
  }
  void list(Range range) {
    for (Expr e : Plan::slice(plan_.exprs, range)) expr(e);
  }

  void declarations() {
    hash_.all(plan_.symbols.size(), plan_.conditions.size(), plan_.pools.size(),
              plan_.queues.size(), plan_.semaphores.size(), plan_.storages.size(),
              plan_.tensors.size(), plan_.ops.size());
    for (const Symbol& s : plan_.symbols) {
      number(s.min);
      hash_.add(std::uint64_t{s.max.has_value()});
      number(s.max.value_or(0));
      number(s.multiple_of);
    }
    for (const Condition& c : plan_.conditions) hash_.add(std::uint64_t{c.per_run});
    for (const Pool& pool : plan_.pools) {
      maybe(pool.bytes);
      maybe(pool.peak_bytes);
      number(pool.alignment);
    }
    for (const Queue& queue : plan_.queues) {
      hash_.all(queue.order, queue.thread);
      number(queue.depth.value_or(0));
    }
    for (const Semaphore& s : plan_.semaphores) {
      hash_.add(std::uint64_t{s.timeline});
      expr(s.initial);
    }
    for (const Storage& storage : plan_.storages) {
      hash_.all(storage.pool, storage.slots.size());
      list(storage.slots);
      expr(storage.bytes);
    }
  }

  void tensors() {
    for (const Tensor& t : plan_.tensors) {
      hash_.all(t.placement, t.dtype, t.has_strides, t.storage, t.base, t.shape.size(),
                t.strides.size());
      expr(t.offset);
      expr(t.bytes);
      list(t.shape);
      list(t.strides);
      number(t.alignment);
    }
  }

  void op(const Op& op) {
    const OpDetails& details = plan_.details_of(op);
    const bool is_plain =
        details.in_place.size() + details.when.size() + details.queues.size() == 0;
    hash_.all(op.kind, op.runs, op.skipped_pass, op.queue, op.thread, op.event, op.storage,
              op.accesses.size(), op.waits.size(), op.signals.size(), op.after.size(), is_plain);
    for (const Access& a : plan_.accesses_of(op)) access(a);
    for (const Wait& w : plan_.waits_of(op)) {
      hash_.all(w.kind, w.consume, w.event, w.semaphore, w.queue);
      expr(w.value);
    }
    for (const Signal& s : plan_.signals_of(op)) {
      hash_.all(s.event, s.semaphore);
      expr(s.value);
    }
    for (const After& after : plan_.after_of(op)) hash_.all(after.op, after.distance);
    if (is_plain) return;
    hash_.all(plan_.in_place_of(op).size(), plan_.when_of(op).size(), plan_.queues_of(op).size());
    for (const InPlace& pair : plan_.in_place_of(op)) {
      hash_.all(pair.read, pair.written, pair.any);
    }
    for (const WhenTerm& term : plan_.when_of(op)) hash_.all(term.condition, term.value);
    for (QueueId queue : plan_.queues_of(op)) hash_.add(queue);
  }

  void access(const Access& a) {
    hash_.all(a.kind, a.from_initial, a.tensor, a.pool, a.distance, a.from, a.update,
              a.part == Access::kWhole);
    if (a.part == Access::kWhole) return;
    expr(plan_.parts[a.part].offset);
    maybe(plan_.parts[a.part].bytes);
  }

  const Plan& plan_;
  Hash hash_;
};

}  // namespace

std::string fingerprint(const Plan& plan) { return Fingerprint(plan).make(); }

}  // namespace memverify::cert
