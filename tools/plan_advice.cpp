#include "tools/plan_advice.h"

#include <algorithm>

#include "plan/words.h"
#include "tools/plan_branches.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostSlotsTried = 16;
constexpr std::size_t kMostNames = 8;

class Adviser {
 public:
  Adviser(const std::string& file, const Plan& graph, const PlanGraphOptions& how,
          const PlannedGraph& planned)
      : file_(file),
        graph_(graph),
        how_(how),
        planned_(planned),
        allowance_(how.strategy.max_seconds) {}

  AdviceFound run() {
    for (const PoolId pool : ids(graph_.pools)) try_pool(pool);
    try_slots();
    try_branches();
    for (const SymbolId symbol : ids(graph_.symbols)) try_symbol(symbol);
    found_.stopped = allowance_.is_over();
    return std::move(found_);
  }

 private:
  std::optional<PlannedGraph> fitting(const Plan& graph) const {
    Planning planning = make_planning(file_, graph, allowance_.next(how_));
    if (!planning.is_good()) return std::nullopt;
    return std::move(planning.planned);
  }

  void add(Advice advice, const PlannedGraph& planned) {
    for (const PoolOutcome& outcome : planned.pools) {
      advice.peaks.emplace_back(outcome.pool, outcome.peak);
    }
    found_.fits.push_back(std::move(advice));
  }

  bool is_full(PoolId pool) const {
    return std::ranges::any_of(planned_.pools, [&](const PoolOutcome& outcome) {
      return outcome.pool == pool && !outcome.fits();
    });
  }

  /// Lets what lies in a full pool go to `pool`, too.
  void try_pool(PoolId pool) {
    if (is_full(pool) || allowance_.is_over()) return;
    Plan wider = graph_;
    std::vector<PoolId> before(graph_.tensors.size(), kNone<PoolId>);
    bool changed = false;
    for (BufferIndex b = 0; b < planned_.buffers.size(); ++b) {
      const TensorId root = planned_.buffers[b].root;
      before[index(root)] = planned_.pool_of[b];
      if (planned_.buffers[b].slot == 0 && is_full(planned_.pool_of[b])) {
        changed = widen(wider, root, pool) || changed;
      }
    }
    if (!changed) return;
    const std::optional<PlannedGraph> made = fitting(wider);
    if (!made) {
      found_.in_vain.push_back("pool " + quoted(graph_.pools[pool].name) + " as well");
      return;
    }
    Advice advice{.kind = Advice::Kind::kPool, .pool = pool};
    for (BufferIndex b = 0; b < made->buffers.size(); ++b) {
      const TensorId root = made->buffers[b].root;
      if (made->buffers[b].slot == 0 && made->pool_of[b] == pool && before[index(root)] != pool) {
        advice.tensors.push_back(root);
      }
    }
    add(std::move(advice), *made);
  }

  /// False if the tensor could go there anyway.
  bool widen(Plan& wider, TensorId root, PoolId pool) const {
    const auto own = Plan::slice(graph_.pool_lists, graph_.tensors[root].pools);
    std::vector<PoolId> pools(own.begin(), own.end());
    if (pools.empty()) pools = how_.pools;
    if (pools.empty() || std::ranges::count(pools, pool) != 0) return false;
    pools.push_back(pool);
    Range& range = wider.tensors[root].pools;
    range.begin = static_cast<std::uint32_t>(wider.pool_lists.size());
    wider.pool_lists.insert(wider.pool_lists.end(), pools.begin(), pools.end());
    range.end = static_cast<std::uint32_t>(wider.pool_lists.size());
    return true;
  }

  void try_slots() {
    if (most_slots(graph_, how_) < 2 || allowance_.is_over()) return;
    const std::optional<FewerSlots> fewer = find_fewer_slots(file_, graph_, how_, allowance_);
    if (!fewer) {
      found_.in_vain.emplace_back("fewer slots");
      return;
    }
    add({.kind = Advice::Kind::kSlots, .slots = fewer->slots}, *fewer->planning.planned);
  }

  void try_branches() {
    if (graph_.when_terms.empty() || allowance_.is_over()) return;
    const std::optional<SeparatePlan> made = plan_by_path(file_, graph_, allowance_.next(how_));
    if (!made) return;
    if (made->planning.is_good()) {
      add({.kind = Advice::Kind::kBranches}, *made->planning.planned);
    } else {
      found_.in_vain.emplace_back("a place for each path");
    }
  }

  /// The greatest value that fits, by halving.
  void try_symbol(SymbolId id) {
    const Symbol& symbol = graph_.symbols[id];
    const std::int64_t least = least_value(symbol);
    if (!symbol.max || *symbol.max <= least || allowance_.is_over()) return;
    std::int64_t width = 0;
    if (__builtin_sub_overflow(*symbol.max, least, &width)) return;
    const auto value = [&](std::int64_t k) { return least + k * symbol.multiple_of; };
    std::int64_t fits = -1;
    std::int64_t fails = width / symbol.multiple_of;
    std::optional<PlannedGraph> best;
    for (std::int64_t k = 0; fails - fits > 1 && !allowance_.is_over();
         k = fits + (fails - fits) / 2) {
      std::optional<PlannedGraph> made = fitting(with_symbol_max(graph_, id, value(k)));
      (made ? fits : fails) = k;
      if (made) best = std::move(made);
    }
    if (best) {
      add({.kind = Advice::Kind::kSymbol, .symbol = id, .max = value(fits)}, *best);
    } else {
      found_.in_vain.push_back("smaller values of " + quoted(symbol.name));
    }
  }

  const std::string& file_;
  const Plan& graph_;
  const PlanGraphOptions& how_;
  const PlannedGraph& planned_;
  const Allowance allowance_;
  AdviceFound found_;
};

std::string tensor_names(const Plan& graph, const std::vector<TensorId>& tensors) {
  std::vector<std::string> names;
  for (const TensorId tensor : tensors) {
    if (names.size() == kMostNames) {
      names.push_back(std::to_string(tensors.size() - kMostNames) + " more");
      break;
    }
    names.push_back(quoted(graph.tensors[tensor].name));
  }
  return listed(names);
}

std::string change_words(const Plan& graph, const Advice& advice) {
  switch (advice.kind) {
    case Advice::Kind::kPool:
      return "pool " + quoted(graph.pools[advice.pool].name) + " as well for " +
             tensor_names(graph, advice.tensors);
    case Advice::Kind::kSlots:
      return "--slots " + std::to_string(advice.slots);
    case Advice::Kind::kBranches:
      return "--branches per-path";
    case Advice::Kind::kSymbol:
      return quoted(graph.symbols[advice.symbol].name) + " of at most " +
             std::to_string(advice.max);
  }
  return {};
}

}  // namespace

PlanGraphOptions Allowance::next(const PlanGraphOptions& how) const {
  PlanGraphOptions result = how;
  result.strategy.max_seconds = std::max(left(), 0.0) / 4;
  return result;
}

AdviceFound find_advice(const std::string& file, const Plan& graph, const PlanGraphOptions& how,
                        const PlannedGraph& planned) {
  return Adviser(file, graph, how, planned).run();
}

std::int64_t most_slots(const Plan& graph, const PlanGraphOptions& how) {
  std::int64_t most = 1;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.placement == TensorKind::kUnplaced) most = std::max(most, tensor.slots);
  }
  return most > 1 ? how.slots.value_or(most) : 1;
}

std::optional<FewerSlots> find_fewer_slots(const std::string& file, const Plan& graph,
                                           const PlanGraphOptions& how,
                                           const Allowance& allowance) {
  const std::int64_t most = most_slots(graph, how);
  const std::int64_t tried = std::min(most - 1, kMostSlotsTried);
  for (std::int64_t slots = most - 1; slots >= most - tried; --slots) {
    PlanGraphOptions fewer = allowance.next(how);
    fewer.slots = slots;
    Planning planning = make_planning(file, graph, fewer);
    if (planning.is_good()) return FewerSlots{slots, std::move(planning)};
  }
  return std::nullopt;
}

Plan with_symbol_max(Plan graph, SymbolId symbol, std::int64_t max) {
  graph.symbols[symbol].max = max;
  return graph;
}

std::string advice_text(const Plan& graph, const AdviceFound& advice) {
  std::string out;
  if (!advice.fits.empty()) out += "  what fits (each was planned and verified):\n";
  for (const Advice& piece : advice.fits) {
    std::vector<std::string> peaks;
    for (const auto& [pool, peak] : piece.peaks) {
      peaks.push_back(counted(peak, "byte") + " of " + quoted(graph.pools[pool].name));
    }
    out += "    " + change_words(graph, piece) + ": " + listed(peaks) + "\n";
  }
  if (!advice.in_vain.empty()) {
    out += "  tried, and does not fit: " + listed(advice.in_vain) + "\n";
  }
  if (advice.stopped) out += "  no more was tried: the time of --seconds is over\n";
  return out;
}

void add_advice(JsonText& json, const Plan& graph, const AdviceFound& advice) {
  json.key("advice");
  json.open_lines();
  for (const Advice& piece : advice.fits) {
    json.next();
    json.open('{');
    switch (piece.kind) {
      case Advice::Kind::kPool:
        json.field("pool", graph.pools[piece.pool].name);
        json.names("tensors", graph.tensors, piece.tensors);
        break;
      case Advice::Kind::kSlots:
        json.field("slots", piece.slots);
        break;
      case Advice::Kind::kBranches:
        json.field("branches", std::string_view("per-path"));
        break;
      case Advice::Kind::kSymbol:
        json.field("symbol", graph.symbols[piece.symbol].name);
        json.field("max", piece.max);
        break;
    }
    json.key("peak_bytes");
    json.open('{');
    for (const auto& [pool, peak] : piece.peaks) json.field(graph.pools[pool].name, peak);
    json.close('}');
    json.close('}');
  }
  json.close_lines();
}

}  // namespace memverify
