#include "planner/whole_values.h"

#include <algorithm>
#include <string>
#include <utility>

namespace memverify {
namespace {

bool is_symbolic(const Plan& plan, const Expr& expr) {
  return !expr.is_constant() && !plan.formulas.symbols(expr).empty();
}

class WholeValueMaker {
 public:
  WholeValueMaker(const ApartPlan& apart, const Program& program, const Walk& walk,
                  const Order& order)
      : apart_(apart), plan_(apart.plan), program_(program), walk_(walk), order_(order) {
    first_buffer_.resize(plan_.tensors.size(), 0);
    for (BufferIndex b = 0; b < apart.buffers.size(); ++b) {
      if (apart.buffers[b].slot == 0) first_buffer_[index(apart.buffers[b].root)] = b;
    }
    touched_.resize(apart.buffers.size());
  }

  std::optional<LiveValues> make(const std::vector<std::uint8_t>& ignored) {
    mark_boundary();
    for (const Cmd cmd : walk_.order) {
      if (!touch_all(cmd)) return std::nullopt;
    }
    LiveValues live;
    for (BufferIndex b = 0; b < touched_.size(); ++b) {
      if (ignored[b] == 0 && apart_.buffers[b].bytes > 0) add_value(b, live);
    }
    return live;
  }

 private:
  struct Touched {
    bool from_start = false, to_end = false;
    std::vector<Cmd> firsts, lasts;
  };

  void mark_boundary() {
    const auto mark = [&](TensorId tensor, bool from_start, bool to_end) {
      for_each_slot(tensor, [&](Touched& touched) {
        touched.from_start = touched.from_start || from_start;
        touched.to_end = touched.to_end || to_end;
      });
    };
    for (const TensorId tensor : plan_.constants) mark(tensor, true, true);
    for (const TensorId tensor : plan_.inputs) {
      mark(tensor, true, std::ranges::count(plan_.donated, tensor) == 0);
    }
    for (const Output& output : plan_.outputs) mark(output.tensor, false, true);
  }

  template <typename Do>
  void for_each_slot(TensorId tensor, Do action) {
    const TensorId root = plan_.tensors[tensor].root;
    for (BufferIndex b = first_buffer_[index(root)]; b < touched_.size(); ++b) {
      if (apart_.buffers[b].root != root) return;
      action(touched_[b]);
    }
  }

  /// False: the command may touch anything.
  bool touch_all(Cmd cmd) {
    const Instance& instance = program_.instances[cmd];
    if (instance.gate || instance.skipped) return true;
    const Op& op = program_.op(cmd);
    const bool for_ever = op.kind == OpKind::kUnknown;
    if (for_ever && op.accesses.empty()) return false;
    for (const Access& access : plan_.accesses_of(op)) {
      const StorageId storage = plan_.tensors[access.tensor].storage;
      const std::int64_t of = std::int64_t{instance.iteration} - access.distance;
      const BufferIndex b = first_buffer_[index(plan_.tensors[access.tensor].root)] +
                            program_.layout->slot_index(storage, of);
      touch(touched_[b], cmd, for_ever);
    }
    return true;
  }

  void touch(Touched& touched, Cmd cmd, bool for_ever) {
    const auto same_chain = [&](Cmd other) { return order_.chain(other) == order_.chain(cmd); };
    touched.to_end = touched.to_end || for_ever;
    if (std::ranges::none_of(touched.firsts, same_chain)) touched.firsts.push_back(cmd);
    std::erase_if(touched.lasts,
                  [&](Cmd other) { return same_chain(other) || order_.before(other, cmd); });
    touched.lasts.push_back(cmd);
  }

  void add_value(BufferIndex b, LiveValues& live) const {
    const Touched& touched = touched_[b];
    if (touched.firsts.empty() && !touched.from_start && !touched.to_end) return;
    const auto keep = [&](const std::vector<Cmd>& cmds) {
      const auto begin = static_cast<std::uint32_t>(live.cmds.size());
      live.cmds.insert(live.cmds.end(), cmds.begin(), cmds.end());
      return Items{begin, static_cast<std::uint32_t>(live.cmds.size())};
    };
    LiveValue value{.buffer = b,
                    .bytes = {0, apart_.buffers[b].bytes},
                    .from_start = touched.from_start,
                    .to_end = touched.to_end};
    value.firsts = keep(touched.from_start ? std::vector<Cmd>{} : touched.firsts);
    value.lasts = keep(touched.lasts);
    live.values.push_back(value);
  }

  const ApartPlan& apart_;
  const Plan& plan_;
  const Program& program_;
  const Walk& walk_;
  const Order& order_;
  std::vector<BufferIndex> first_buffer_;  ///< By root.
  std::vector<Touched> touched_;           ///< By buffer.
};

}  // namespace

bool whole_values_apply(const ApartPlan& apart) {
  const Plan& plan = apart.plan;
  const auto is_fixed = [](const Expr& expr) { return expr.is_constant(); };
  return std::ranges::all_of(plan.storages,
                             [&](const Storage& s) { return s.pool == apart.scratch; }) &&
         std::ranges::all_of(plan.accesses,
                             [](const Access& a) { return a.tensor != kNone<TensorId>; }) &&
         std::ranges::none_of(plan.waits,
                              [&](const Wait& w) { return is_symbolic(plan, w.value); }) &&
         std::ranges::none_of(plan.signals,
                              [&](const Signal& s) { return is_symbolic(plan, s.value); }) &&
         std::ranges::all_of(plan.semaphores,
                             [&](const Semaphore& s) { return is_fixed(s.initial); });
}

std::optional<LiveValues> whole_values(const ApartPlan& apart, const Program& program,
                                       const Walk& walk, const Order& order,
                                       const std::vector<std::uint8_t>& ignored) {
  return WholeValueMaker(apart, program, walk, order).make(ignored);
}

bool surely_alike(const Plan& plan, TensorId a, TensorId b) {
  const Tensor& x = plan.tensors[a];
  const Tensor& y = plan.tensors[b];
  if (x.dtype != y.dtype || x.has_strides || y.has_strides) return false;
  if (x.shape.size() != y.shape.size()) return false;
  // At the start of their storages.
  if (x.placement != TensorKind::kRoot || y.placement != TensorKind::kRoot) return false;
  const auto text = [&](const Expr& expr) { return plan.formulas.to_string(expr); };
  if (text(x.bytes) != text(y.bytes)) return false;
  return std::ranges::equal(Plan::slice(plan.exprs, x.shape), Plan::slice(plan.exprs, y.shape),
                            [&](const Expr& p, const Expr& q) { return text(p) == text(q); });
}

}  // namespace memverify
