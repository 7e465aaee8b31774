#include "tools/slot_gain.h"

#include <algorithm>
#include <cstdio>

#include "plan/words.h"
#include "sim/timed.h"
#include "tools/plan_advice.h"

namespace memverify {
namespace {

constexpr std::size_t kMostTimedCommands = 2000;  ///< A timed run costs their square at worst.

/// Ops of these queues may overlap each other, so that only the longest counts.
bool may_overlap(QueueOrder order) {
  return order == QueueOrder::kIssue || order == QueueOrder::kNone;
}

/// Each queue's ticks in an iteration that is neither the first nor the last.
std::vector<QueueLoad> queue_loads(const Plan& plan) {
  std::vector<QueueLoad> loads;
  for (const QueueId queue : ids(plan.queues)) loads.push_back({queue, 0});
  for (const Op& op : plan.ops) {
    if (op.queue == kNone<QueueId> || op.runs != Runs::kAlways) continue;
    const std::int64_t ticks = duration_of(plan, op).max;
    std::int64_t& load = loads[index(op.queue)].ticks;
    load = may_overlap(plan.queues[op.queue].order) ? std::max(load, ticks) : load + ticks;
  }
  std::erase_if(loads, [](const QueueLoad& load) { return load.ticks == 0; });
  std::ranges::stable_sort(loads, std::greater(), &QueueLoad::ticks);
  return loads;
}

/// Takes at most `seconds`, and none if that is none.
std::optional<std::int64_t> makespan(Plan plan, std::int64_t iterations, double seconds) {
  if (seconds <= 0 || plan.ops.size() * static_cast<std::size_t>(iterations) > kMostTimedCommands)
    return {};
  plan.iterations = iterations;
  for (Queue& queue : plan.queues) queue.delay_min = queue.delay_max = 0;
  for (Op& op : plan.ops) {
    const std::int64_t longest = duration_of(plan, op).max;
    plan.add_details(op).duration = static_cast<std::uint32_t>(plan.durations.size());
    plan.durations.push_back({longest, longest});
  }
  const TimedResult result = simulate_timed(plan, {.max_seconds = seconds, .max_cases = 64});
  if (!result.error.empty() || result.stopped) return std::nullopt;
  return result.greatest_makespan;
}

/// Between two numbers of iterations that are whole turns of the slots apart.
std::optional<double> cycle_of(const Plan& plan, std::int64_t slots, double seconds) {
  const std::int64_t few = 2 * slots + 2;
  const std::int64_t more = 4 * slots;
  const std::optional<std::int64_t> before = makespan(plan, few, seconds / 2);
  const std::optional<std::int64_t> after = makespan(plan, few + more, seconds / 2);
  if (!before || !after) return std::nullopt;
  return static_cast<double>(*after - *before) / static_cast<double>(more);
}

std::int64_t sum_of_peaks(const PlannedGraph& planned) {
  std::int64_t sum = 0;
  for (const PoolOutcome& outcome : planned.pools) sum += outcome.peak;
  return sum;
}

std::string ticks_text(double ticks) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", ticks);
  return text;
}

}  // namespace

std::optional<SlotGain> find_slot_gain(const std::string& file, const Plan& graph,
                                       const PlanGraphOptions& how, const Planning& planning,
                                       const Allowance& allowance) {
  SlotGain gain;
  for (const GraphBuffer& buffer : planning.planned->buffers) {
    if (buffer.slot == 0) continue;
    if (buffer.slot == 1) gain.tensors.push_back(buffer.root);
    gain.slots = std::max<std::int64_t>(gain.slots, buffer.slot + 1);
    gain.bytes += buffer.bytes;
  }
  if (gain.tensors.empty()) return std::nullopt;
  PlanGraphOptions one = allowance.part(0.5, how);
  one.slots = 1;
  const Planning single = make_planning(file, graph, one);
  if (!single.is_refused()) {
    gain.peak_cost = sum_of_peaks(*planning.planned) - sum_of_peaks(*single.planned);
    gain.cycle_of_one = cycle_of(single.planned->plan, 1, allowance.left() / 2);
  }
  gain.loads = queue_loads(graph);
  for (const QueueLoad& load : gain.loads) gain.sum += load.ticks;
  if (!gain.loads.empty()) gain.longest = gain.loads.front().ticks;
  gain.cycle = cycle_of(planning.planned->plan, gain.slots, allowance.left());
  return gain;
}

std::string slot_gain_text(const Plan& graph, const SlotGain& gain) {
  std::string out = "slots: " + counted(static_cast<std::int64_t>(gain.tensors.size()), "tensor") +
                    " in up to " + counted(gain.slots, "slot") + ", " +
                    counted(gain.bytes, "byte") + " besides the first of each; ";
  out += gain.peak_cost
             ? "the peak is " + counted(*gain.peak_cost, "byte") + " above that of one slot\n"
             : "with one slot the syncs of the graph are too weak\n";
  if (gain.loads.empty()) return out;
  std::vector<std::string> loads;
  for (const QueueLoad& load : gain.loads) {
    loads.push_back(quoted(graph.queues[load.queue].name) + " " + std::to_string(load.ticks));
  }
  out += "  cycle: " + counted(gain.longest, "tick") + " where queues overlap, " +
         std::to_string(gain.sum) + " where they take turns (" + listed(loads) + ")\n";
  if (gain.cycle) {
    out += "  in timed runs " + ticks_text(*gain.cycle) + " ticks an iteration";
    if (gain.cycle_of_one) out += ", with one slot " + ticks_text(*gain.cycle_of_one);
    out += "\n";
  }
  return out;
}

void add_slot_gain(JsonText& json, const Plan& graph, const SlotGain& gain) {
  json.key("slots");
  json.open('{');
  json.names("tensors", graph.tensors, gain.tensors);
  json.field("slots", gain.slots);
  json.field("bytes", gain.bytes);
  if (gain.peak_cost) json.field("peak_cost", *gain.peak_cost);
  json.key("queue_ticks");
  json.open('{');
  for (const QueueLoad& load : gain.loads) {
    json.field(graph.queues[load.queue].name, load.ticks);
  }
  json.close('}');
  json.field("overlapped_cycle", gain.longest);
  json.field("sequential_cycle", gain.sum);
  for (const auto& [key, cycle] : {std::pair("timed_cycle", gain.cycle),
                                   std::pair("timed_cycle_of_one_slot", gain.cycle_of_one)}) {
    if (!cycle) continue;
    json.key(key);
    json.raw(ticks_text(*cycle));
  }
  json.close('}');
}

}  // namespace memverify
