#include "tools/plan_branches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"

namespace memverify {
namespace {

using GraphJson = nlohmann::json;

constexpr std::size_t kMostConditions = 4;  ///< Twice as many paths with each.
constexpr std::size_t kMostKeptInText = 12;
constexpr SplitOptions kAttempts[] = {
    {}, {.rotating = false}, {.merges = false}, {.merges = false, .rotating = false}};

PoolPeaks peaks_of(const PlannedGraph& planned) {
  PoolPeaks peaks;
  for (const PoolOutcome& outcome : planned.pools) peaks.emplace_back(outcome.pool, outcome.peak);
  return peaks;
}

std::vector<ConditionId> used_conditions(const Plan& plan) {
  std::set<ConditionId> used;
  for (const WhenTerm& term : plan.when_terms) used.insert(term.condition);
  return {used.begin(), used.end()};
}

/// The highest end of a storage, where it does not depend on symbols.
std::int64_t end_of(const Plan& plan, const Storage& storage) {
  std::int64_t end = 0;
  for (const Expr& offset : Plan::slice(plan.exprs, storage.slots)) {
    if (!offset.is_constant() || !storage.bytes.is_constant()) continue;
    end = std::max(end, offset.constant + storage.bytes.constant);
  }
  return end;
}

PathPeaks path_peaks(const Plan& plan, const std::map<ConditionId, bool>& path) {
  std::map<PoolId, std::int64_t> ends;
  const auto touch = [&](TensorId tensor) {
    if (tensor == kNone<TensorId>) return;
    const Storage& storage = plan.storages[plan.tensors[tensor].storage];
    std::int64_t& end = ends[storage.pool];
    end = std::max(end, end_of(plan, storage));
  };
  for (const Op& op : plan.ops) {
    const bool runs = std::ranges::all_of(plan.when_of(op), [&](const WhenTerm& term) {
      return path.at(term.condition) == term.value;
    });
    if (!runs || op.kind == OpKind::kView) continue;
    for (const Access& access : plan.accesses_of(op)) touch(access.tensor);
  }
  for (const auto* boundary : {&plan.inputs, &plan.constants}) {
    for (const TensorId tensor : *boundary) touch(tensor);
  }
  for (const Output& output : plan.outputs) touch(output.tensor);
  GraphJson when = GraphJson::object();
  for (const auto& [condition, holds] : path) {
    when[std::string(plan.conditions[condition].name)] = holds;
  }
  return {.path = path_name(when), .peaks = {ends.begin(), ends.end()}};
}

std::vector<PathPeaks> all_path_peaks(const Plan& plan) {
  const std::vector<ConditionId> conditions = used_conditions(plan);
  std::vector<PathPeaks> all;
  if (conditions.empty() || conditions.size() > kMostConditions) return all;
  for (std::size_t k = 0; k < std::size_t{1} << conditions.size(); ++k) {
    std::map<ConditionId, bool> path;
    for (std::size_t c = 0; c < conditions.size(); ++c) path[conditions[c]] = (k >> c & 1U) == 0;
    all.push_back(path_peaks(plan, path));
  }
  return all;
}

std::int64_t bytes_of(const PlannedGraph& planned, const Plan& graph, std::string_view tensor) {
  for (const GraphBuffer& buffer : planned.buffers) {
    if (graph.tensors[buffer.root].name == tensor) return buffer.bytes;
  }
  return 0;
}

/// Joins what lies at the same place, if that leaves the plan safe.
void join(const std::string& file, SeparatePlan& made) {
  std::vector<BranchSplit> splits = made.splits;
  const GraphJson joined =
      join_branches(GraphJson::parse(write_plan(made.planning.planned->plan)), splits);
  if (splits.size() == made.splits.size()) return;
  Result<Plan> plan = read_plan(joined.dump(), file);
  if (!plan.ok()) return;
  Report report = decide_planned(file, plan.value());
  if (report.verdict != Verdict::kSafe || !report.internal_errors.empty()) return;
  made.planning.planned->plan = std::move(plan).value();
  made.planning.made = std::move(report);
  made.splits = std::move(splits);
}

std::string peaks_words(const Plan& graph, const PoolPeaks& peaks) {
  std::vector<std::string> words;
  for (const auto& [pool, bytes] : peaks) {
    words.push_back(counted(bytes, "byte") + " of " + memverify::quoted(graph.pools[pool].name));
  }
  return words.empty() ? "no bytes" : listed(words);
}

void add_peaks(JsonText& json, std::string_view key, const Plan& graph, const PoolPeaks& peaks) {
  json.key(key);
  json.open('{');
  for (const auto& [pool, bytes] : peaks) json.field(graph.pools[pool].name, bytes);
  json.close('}');
}

}  // namespace

PathPlanning plan_by_path(const std::string& file, const Plan& graph, const PlanGraphOptions& how) {
  const GraphJson json = GraphJson::parse(write_plan(graph));
  PathPlanning result;
  for (const SplitOptions& options : kAttempts) {
    SplitGraph split = split_branches(json, options);
    result.kept = std::move(split.kept);
    if (split.splits.empty()) continue;
    Result<Plan> read = read_plan(split.graph.dump(), file);
    if (!read.ok()) continue;
    SeparatePlan made{.graph = std::move(read).value(), .splits = std::move(split.splits)};
    made.planning = make_planning(file, made.graph, how);
    if (made.planning.is_refused()) continue;
    if (made.planning.is_good()) join(file, made);
    result.plan = std::move(made);
    break;
  }
  return result;
}

BranchPrices branch_prices(const Planning& together, const PathPlanning& separate) {
  BranchPrices prices{.together = peaks_of(*together.planned), .kept = separate.kept};
  const std::optional<SeparatePlan>& own_places = separate.plan;
  const PlannedGraph& planned = own_places ? *own_places->planning.planned : *together.planned;
  prices.separate = peaks_of(planned);
  prices.paths = all_path_peaks(planned.plan);
  if (!own_places) return prices;
  std::set<std::string> split;
  for (const BranchSplit& own : own_places->splits) {
    split.insert(own.tensor);
    if (own.copy.empty()) continue;
    prices.copies.push_back(
        {own.copy, own.own, own.tensor, bytes_of(planned, own_places->graph, own.own)});
  }
  prices.split = split.size();
  return prices;
}

std::string branches_text(const Plan& graph, const BranchPrices& prices) {
  std::int64_t copied = 0;
  for (const BranchCopy& copy : prices.copies) copied += copy.bytes;
  std::string out = "branches: one place for all paths " + peaks_words(graph, prices.together) +
                    "; a place for each path " + peaks_words(graph, prices.separate);
  out += prices.copies.empty() ? ", no copy" : ", " + counted(copied, "byte") + " copied at merges";
  out += " (" + counted(static_cast<std::int64_t>(prices.split), "tensor") + " elsewhere)\n";
  for (const PathPeaks& path : prices.paths) {
    out += "  path " + memverify::quoted(path.path) + ": " + peaks_words(graph, path.peaks) + "\n";
  }
  for (const BranchCopy& copy : prices.copies) {
    out += "  " + memverify::quoted(copy.op) + ": " + counted(copy.bytes, "byte") + " from " +
           memverify::quoted(copy.from) + " to " + memverify::quoted(copy.to) + "\n";
  }
  for (std::size_t k = 0; k < prices.kept.size(); ++k) {
    if (k == kMostKeptInText) {
      return out + "  and " + std::to_string(prices.kept.size() - k) + " more with one place\n";
    }
    const auto& [tensor, why] = prices.kept[k];
    out += "  " + memverify::quoted(tensor) + " has one place for all paths: " + why + "\n";
  }
  return out;
}

void add_branches(JsonText& json, const Plan& graph, const BranchPrices& prices) {
  json.key("branches");
  json.open('{');
  add_peaks(json, "union", graph, prices.together);
  add_peaks(json, "per_path", graph, prices.separate);
  json.field("tensors_elsewhere", static_cast<std::int64_t>(prices.split));
  json.key("paths");
  json.open('[');
  for (const PathPeaks& path : prices.paths) {
    json.next();
    json.open('{');
    json.field("path", std::string_view(path.path));
    add_peaks(json, "peak_bytes", graph, path.peaks);
    json.close('}');
  }
  json.close(']');
  json.key("copies");
  json.open('[');
  for (const BranchCopy& copy : prices.copies) {
    json.next();
    json.open('{');
    json.field("op", std::string_view(copy.op));
    json.field("from", std::string_view(copy.from));
    json.field("to", std::string_view(copy.to));
    json.field("bytes", copy.bytes);
    json.close('}');
  }
  json.close(']');
  json.key("kept");
  json.open('[');
  for (const KeptTensor& kept : prices.kept) {
    json.next();
    json.open('{');
    json.field("tensor", std::string_view(kept.tensor));
    json.field("why", std::string_view(kept.why));
    json.close('}');
  }
  json.close(']');
  json.close('}');
}

}  // namespace memverify
