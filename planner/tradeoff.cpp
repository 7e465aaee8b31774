#include "planner/tradeoff.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "plan/words.h"
#include "planner/apart.h"
#include "planner/plan_graph.h"
#include "verify/cases.h"
#include "verify/order.h"
#include "verify/repair_waits.h"
#include "verify/schedule.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using Clock = std::chrono::steady_clock;

/// A graph with some more waits, and its order: which command comes before which.
struct OrderedGraph {
  std::vector<AddedWait> waits;
  std::string order;  ///< A character for each pair of ops; waits too where these say not all.
  std::int64_t makespan = 0;
};

class TradeoffSearch {
 public:
  TradeoffSearch(const Plan& graph, ApartPlan apart, const TradeoffOptions& options)
      : graph_(graph), apart_(std::move(apart)), options_(options) {}

  Result<Tradeoff> run() {
    std::vector<OrderedGraph> level;
    if (std::optional<OrderedGraph> first = ordered({})) level.push_back(*std::move(first));
    while (!level.empty() && result_.curve.size() <= options_.max_waits) {
      if (!add_point(level)) return too_large();
      if (result_.curve.size() > options_.max_waits) break;
      level = next_level(level);
      if (is_over()) return too_large();
    }
    if (!add_barriers()) return too_large();
    return std::move(result_);
  }

 private:
  bool is_over() const {
    return seen_.size() > options_.max_orders ||
           std::chrono::duration<double>(Clock::now() - begin_).count() > options_.max_seconds;
  }

  Diagnostic too_large() const {
    const std::string why =
        !not_proven_.empty()
            ? not_proven_
            : "with " + counted(static_cast<std::int64_t>(result_.curve.size()), "wait") +
                  " more the commands have over " +
                  std::to_string(std::min(seen_.size(), options_.max_orders)) +
                  " orders, or placing them takes over " +
                  std::to_string(static_cast<int>(options_.max_seconds)) + " seconds";
    return {.id = "tradeoff.too_large",
            .message = "the exact curve is not found: " + why + "; a smaller --max-waits may do"};
  }

  /// nullopt if the waits block.
  std::optional<OrderedGraph> ordered(std::vector<AddedWait> waits) {
    const Plan plan = with_waits(apart_.plan, waits);
    const Layout layout = Layout::make(plan, {}).value();
    const Program program = make_program(plan, layout, ConditionCase(plan, 1), 1);
    const Walk walked = walk(program);
    if (!walked.all_completed) return std::nullopt;
    const Order order(program, walked);
    OrderedGraph result{.waits = std::move(waits)};
    bool is_told = program.thresholds.empty();  // By the order of commands alone.
    for (Cmd a = 0; a < program.instances.size(); ++a) {
      is_told = is_told && order.chain(a) != kNoChain;
      if (order.chain(a) == kNoChain) continue;
      for (Cmd b = 0; b < program.instances.size(); ++b) {
        result.order += a != b && order.before(a, b) ? '1' : '0';
      }
    }
    if (!is_told) {
      for (const AddedWait& wait : result.waits) {
        result.order +=
            ' ' + std::to_string(index(wait.waiter)) + '<' + std::to_string(index(wait.on));
      }
    }
    result.makespan = schedule(program, walked).makespan;
    return result;
  }

  std::vector<OrderedGraph> next_level(const std::vector<OrderedGraph>& level) {
    std::vector<OrderedGraph> next;
    for (const OrderedGraph& state : level) {
      for (const AddedWait& wait : useful_waits(with_waits(apart_.plan, state.waits))) {
        std::vector<AddedWait> waits = state.waits;
        waits.push_back(wait);
        std::optional<OrderedGraph> more = ordered(std::move(waits));
        if (!more || !seen_.insert(more->order).second) continue;
        if (is_over()) return {};
        next.push_back(*std::move(more));
      }
    }
    return next;
  }

  /// The least peak of a graph; nullopt if it is not proven to be that.
  std::optional<std::int64_t> least_bytes(const Plan& graph, const ApartPlan& apart) {
    ++result_.orders;
    PlanGraphOptions how{.place = find_strategy("optimal")->place};
    how.strategy.max_seconds = options_.max_seconds;
    const PlannedGraph planned = plan_graph(graph, apart, how);
    std::int64_t bytes = 0;
    for (const PoolOutcome& pool : planned.pools) {
      bytes += pool.peak;
      if (!pool.is_optimal || !planned.gap.empty()) {
        not_proven_ =
            "the lowest peak of pool " + quoted(graph.pools[pool.pool].name) + " is not proven";
        return std::nullopt;
      }
    }
    return bytes;
  }

  /// The best of a level; false if it is not known.
  bool add_point(const std::vector<OrderedGraph>& level) {
    std::optional<TradeoffPoint> best;
    for (const OrderedGraph& state : level) {
      if (is_over()) return false;
      ApartPlan apart = apart_;
      apart.plan = with_waits(apart_.plan, state.waits);
      const auto bytes = least_bytes(with_waits(graph_, state.waits), apart);
      if (!bytes) return false;
      if (best && std::pair(best->bytes, best->makespan) <= std::pair(*bytes, state.makespan)) {
        continue;
      }
      best = TradeoffPoint{state.waits, *bytes, state.makespan};
    }
    // Fewer waits may do as well: then the point before stands for this one, too.
    if (!result_.curve.empty() && result_.curve.back().bytes <= best->bytes) {
      best = result_.curve.back();
    }
    result_.curve.push_back(*std::move(best));
    return true;
  }

  bool add_barriers() {
    std::vector<BarrierPoint> points;
    for (std::uint32_t place = 1; place < graph_.ops.size(); ++place) {
      ApartPlan apart = apart_;
      apart.plan = with_barrier(apart_.plan, place);
      const Layout layout = Layout::make(apart.plan, {}).value();
      const Program program = make_program(apart.plan, layout, ConditionCase(apart.plan, 1), 1);
      const Walk walked = walk(program);
      if (!walked.all_completed) continue;
      const auto bytes = least_bytes(with_barrier(graph_, place), apart);
      if (!bytes) return false;
      points.push_back({static_cast<OpId>(place), *bytes, schedule(program, walked).makespan});
    }
    for (std::size_t k = 1; k < result_.curve.size(); ++k) {
      std::optional<BarrierPoint>& best = result_.barriers.emplace_back();
      for (const BarrierPoint& point : points) {
        if (point.bytes > result_.curve[k].bytes) continue;
        if (!best || point.makespan < best->makespan) best = point;
      }
    }
    return true;
  }

  const Plan& graph_;
  const ApartPlan apart_;
  const TradeoffOptions& options_;
  const Clock::time_point begin_ = Clock::now();
  std::set<std::string> seen_;  ///< Orders.
  std::string not_proven_;
  Tradeoff result_;
};

std::string cases_of(const Plan& graph) {
  if (graph.iterations != 1) return "repeats";
  if (!graph.when_terms.empty()) return "has conditions";
  if (!graph.formulas.all_symbols().empty()) return "has symbols";
  return "";
}

}  // namespace

Result<Tradeoff> find_tradeoff(const Plan& graph, const TradeoffOptions& options) {
  if (const std::string cases = cases_of(graph); !cases.empty()) {
    return Diagnostic{.id = "tradeoff.cases",
                      .message = "the graph " + cases +
                                 "; the curve is found of graphs that run once, in one way"};
  }
  Result<ApartPlan> apart = place_apart(graph);
  if (!apart.ok()) return apart.errors();
  const EngineResult safe = verify_happens_before(apart.value().plan, {});
  if (safe.verdict != Verdict::kSafe) {
    return Diagnostic{.id = "tradeoff.unsafe",
                      .message = "the graph is " + std::string(name(safe.verdict)) +
                                 " wherever its tensors lie: see memverify plan"};
  }
  return TradeoffSearch(graph, std::move(apart).value(), options).run();
}

}  // namespace memverify
