#include "tools/plan_advice.h"

#include <algorithm>

#include "plan/words.h"
#include "tools/plan_branches.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostSlotsTried = 16;
constexpr std::size_t kMostNames = 8;
constexpr double kAttempt = 0.25;  ///< Of the time that is left.

class Adviser {
 public:
  Adviser(const std::string& file, const Plan& graph, const PlanGraphOptions& how,
          const PlannedGraph& planned, const Allowance& allowance, bool may_edit)
      : file_(file),
        graph_(graph),
        how_(how),
        planned_(planned),
        allowance_(allowance),
        may_edit_(may_edit) {}

  AdviceFound run() {
    for (const PoolId pool : ids(graph_.pools)) {
      if (!is_full(pool) && !allowance_.is_over()) try_pool(pool);
    }
    try_slots();
    try_branches();
    for (const SymbolId symbol : ids(graph_.symbols)) try_symbol(symbol);
    found_.stopped = allowance_.is_over();
    return std::move(found_);
  }

 private:
  std::optional<PlannedGraph> fitting(const Plan& graph, const PlanGraphOptions& how) const {
    Planning planning = make_planning(file_, graph, allowance_.part(kAttempt, how));
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

  /// Lets what lies in a full pool go to `pool`, too: by --pool where that decides, else by the
  /// graph, unless nobody can edit it.
  void try_pool(PoolId pool) {
    PlanGraphOptions how = how_;
    const bool by_option =
        !how.pools.empty() && std::ranges::count(how.pools, pool) == 0 && has_unnamed();
    if (by_option) how.pools.push_back(pool);
    std::optional<PlannedGraph> made;
    if (by_option) made = fitting(graph_, how);
    Plan wider = graph_;
    const bool is_wider = !made && may_edit_ && widen(wider, pool);
    if (is_wider) made = fitting(wider, how);
    if (!by_option && !is_wider) return;
    if (!made) {
      found_.in_vain.push_back("pool " + quoted(graph_.pools[pool].name) + " as well");
      return;
    }
    Advice advice{.kind = Advice::Kind::kPool, .pool = pool};
    if (by_option) advice.option = how.pools;
    std::vector<std::uint8_t> before(graph_.tensors.size(), 0);
    for (BufferIndex b = 0; b < planned_.buffers.size(); ++b) {
      if (planned_.pool_of[b] == pool) before[index(planned_.buffers[b].root)] = 1;
    }
    for (BufferIndex b = 0; b < made->buffers.size(); ++b) {
      const TensorId root = made->buffers[b].root;
      const bool is_new = made->pool_of[b] == pool && before[index(root)] == 0;
      if (made->buffers[b].slot == 0 && is_new) advice.tensors.push_back(root);
    }
    add(std::move(advice), *made);
  }

  /// True iff some tensor goes where --pool says.
  bool has_unnamed() const {
    return std::ranges::any_of(planned_.buffers, [&](const GraphBuffer& buffer) {
      return graph_.tensors[buffer.root].pools.empty();
    });
  }

  /// Adds `pool` to those that tensors name which lie in a full one. False if none could be added.
  bool widen(Plan& wider, PoolId pool) const {
    bool changed = false;
    for (BufferIndex b = 0; b < planned_.buffers.size(); ++b) {
      if (planned_.buffers[b].slot != 0 || !is_full(planned_.pool_of[b])) continue;
      Range& range = wider.tensors[planned_.buffers[b].root].pools;
      const auto own = Plan::slice(wider.pool_lists, range);
      std::vector<PoolId> pools(own.begin(), own.end());
      if (pools.empty() || std::ranges::count(pools, pool) != 0) continue;
      pools.push_back(pool);
      range.begin = static_cast<std::uint32_t>(wider.pool_lists.size());
      wider.pool_lists.insert(wider.pool_lists.end(), pools.begin(), pools.end());
      range.end = static_cast<std::uint32_t>(wider.pool_lists.size());
      changed = true;
    }
    return changed;
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
    const std::optional<SeparatePlan> made =
        plan_by_path(file_, graph_, allowance_.part(kAttempt, how_)).plan;
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
      std::optional<PlannedGraph> made = fitting(with_symbol_max(graph_, id, value(k)), how_);
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
  const Allowance& allowance_;
  const bool may_edit_;
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

std::string pool_names(const Plan& graph, const std::vector<PoolId>& pools) {
  std::string names;
  for (const PoolId pool : pools) {
    names += (names.empty() ? "" : ",") + printable(graph.pools[pool].name);
  }
  return names;
}

std::string change_words(const Plan& graph, const Advice& advice) {
  switch (advice.kind) {
    case Advice::Kind::kPool: {
      const std::string by = advice.option.empty() ? "pool " + quoted(graph.pools[advice.pool].name)
                                                   : "--pool " + pool_names(graph, advice.option);
      return by + (advice.option.empty() ? " as well for " : ", for ") +
             tensor_names(graph, advice.tensors);
    }
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

AdviceFound find_advice(const std::string& file, const Plan& graph, const PlanGraphOptions& how,
                        const PlannedGraph& planned, const Allowance& allowance, bool may_edit) {
  return Adviser(file, graph, how, planned, allowance, may_edit).run();
}

bool may_not_fit(const Plan& graph, const PlanGraphOptions& how) {
  const auto is_given = [](const auto& bytes) { return bytes.has_value(); };
  return how.capacity || std::ranges::any_of(how.available, is_given) ||
         std::ranges::any_of(graph.pools, is_given, &Pool::bytes);
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
    PlanGraphOptions fewer = allowance.part(kAttempt, how);
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
        if (!piece.option.empty()) json.names("option", graph.pools, piece.option);
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
