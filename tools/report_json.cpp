#include "tools/report_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/words.h"

namespace memverify {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLineWidth = 100;

std::string compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Appends `json`, broken into lines where it does not fit in one.
void append_pretty(const Json& json, std::size_t indent, std::string& out) {
  const std::string line = compact(json);
  if (!json.is_structured() || json.empty() || indent + line.size() <= kLineWidth) {
    out += line;
    return;
  }
  const bool object = json.is_object();
  out += object ? '{' : '[';
  std::string_view separator = "\n";
  for (const auto& [key, value] : json.items()) {
    out += separator;
    out.append(indent + 2, ' ');
    if (object) out += compact(key) + ": ";
    append_pretty(value, indent + 2, out);
    separator = ",\n";
  }
  out += '\n';
  out.append(indent, ' ');
  out += object ? '}' : ']';
}

template <typename Id, typename T>
Json names_of(const std::vector<Id>& list, const Table<Id, T>& table) {
  Json names = Json::array();
  for (const Id id : list) {
    if (id != kNone<Id>) names.push_back(table[id].name);
  }
  return names;
}

/// `{"training": true}`; a condition with a value per iteration becomes an array by iteration, with
/// null where the run does not say.
Json when_json(const Plan& plan, const Finding& finding) {
  Json when = Json::object();
  for (const ConditionValue& value : finding.when) {
    Json& entry = when[std::string(plan.conditions[value.condition].name)];
    if (value.iteration < 0 || !repeats(plan)) {
      entry = value.value;
      continue;
    }
    if (!entry.is_array()) entry = Json::array();
    const auto at = static_cast<std::size_t>(value.iteration);
    while (entry.size() <= at) entry.push_back(nullptr);
    entry[at] = value.value;
  }
  return when;
}

void add_witness(const Plan& plan, const std::vector<Step>& witness, std::size_t most, Json& out) {
  const std::size_t omitted = witness.size() > most ? witness.size() - most : 0;
  Json steps = Json::array();
  for (std::size_t i = omitted; i < witness.size(); ++i) {
    steps.push_back({{"at", witness[i].complete ? "complete" : "start"},
                     {"op", plan.ops[witness[i].op].name},
                     {"iteration", witness[i].iteration}});
  }
  out["witness"] = std::move(steps);
  if (omitted > 0) out["witness_omitted"] = omitted;
}

/// With the last `most_steps` of its run.
Json finding_json(const Plan& plan, const Finding& finding, std::size_t most_steps) {
  const RuleInfo& rule = info(finding.rule);
  Json out;
  out["rule"] = rule.id;
  out["also"] = Json::array();
  for (const Rule also : finding.also) out["also"].push_back(info(also).id);
  out["severity"] = name(rule.severity);
  out["ops"] = names_of(finding.ops, plan.ops);
  out["tensors"] = names_of(finding.tensors, plan.tensors);
  out["storages"] = names_of(finding.storages, plan.storages);
  if (finding.pool != kNone<PoolId>) out["pool"] = plan.pools[finding.pool].name;
  if (!finding.bytes.empty()) out["bytes"] = {finding.bytes.begin, finding.bytes.end};
  out["alias_chain"] = names_of(finding.alias_chain, plan.tensors);
  out["iteration"] = finding.iteration;
  out["when"] = when_json(plan, finding);
  out["symbols"] = Json::object();
  for (const SymbolValue& value : finding.symbols) {
    out["symbols"][std::string(plan.symbols[value.symbol].name)] = value.value;
  }
  for (const SymbolValue& least : finding.symbols_at_least) {
    out["symbols_at_least"][std::string(plan.symbols[least.symbol].name)] = least.value;
  }
  if (finding.event != kNone<EventId>) out["event"] = plan.events[finding.event];
  if (finding.semaphore != kNone<SemaphoreId>) {
    out["semaphore"] = plan.semaphores[finding.semaphore].name;
  }
  if (finding.queue != kNone<QueueId>) out["queue"] = plan.queues[finding.queue].name;
  if (finding.expected != kNone<OpId>) {
    out["expected"] = {{"op", plan.ops[finding.expected].name},
                       {"iteration", finding.expected_iteration}};
  } else if (finding.expected_initial) {
    out["expected"] = "initial";
  }
  out["message"] = finding.message;
  out["help"] = finding.help;
  add_witness(plan, finding.witness, most_steps, out);
  return out;
}

/// Counts as decimal strings: they need not fit the numbers of JSON's readers.
void add_search(const SearchReport& search, Json& stats) {
  const auto known = [](const std::string& count) { return count.empty() ? Json() : Json(count); };
  stats["states"] = std::to_string(search.states);
  stats["transitions"] = std::to_string(search.transitions);
  stats["interleavings"] = known(search.interleavings);
  stats["failing"] = known(search.failing);
  if (search.runs > 0) stats["runs"] = std::to_string(search.runs);
  if (search.random_bound > 0) {
    stats["failing_runs"] = std::to_string(search.failing_runs);
    stats["bound"] = search.random_bound;
    stats["depth"] = search.random_depth;
    stats["seed"] = search.seed;
  }
  stats["reduction"] = name(search.reduction);
  stats["complete"] = search.complete;
  stats["exhaustive"] = search.complete && search.reduction == Reduction::kNone;
}

Json verdict_json(const Report& report) {
  const Plan& plan = report.plan;
  Json out;
  out["memverify"] = 1;
  out["plan"] = plan.name.empty() ? std::string_view(report.file) : plan.name;
  out["file"] = report.file;
  out["verdict"] = name(report.verdict);
  out["engines"] = Json::object();
  for (const auto& [engine, verdict] : report.engines)
    out["engines"][std::string(engine)] = name(verdict);
  out["decided_by"] = report.decided_by;
  out["findings"] = Json::array();
  for (const Finding& finding : report.findings) {
    out["findings"].push_back(finding_json(plan, finding, kMostSteps));
    if (const std::string* reason = report.accepted_reason(finding)) {
      out["findings"].back()["accepted"] = *reason;
    }
  }
  if (report.timed) {
    out["timed"] = {{"verdict", name(report.timed->verdict)}, {"message", timed_words(report)}};
  }
  if (report.stopped_at_max_findings) out["stopped_at_max_findings"] = true;
  if (report.verdict == Verdict::kSafe) {
    out["assumptions"] = {kAssumption};
    for (const std::string& one : report.imported) out["assumptions"].push_back(one);
  }
  if (!report.internal_errors.empty()) out["internal_errors"] = report.internal_errors;
  out["stats"] = {{"ops", report.stats.ops}, {"pairs_checked", report.stats.pairs_checked}};
  if (report.search) add_search(*report.search, out["stats"]);
  if (report.witnesses > 0) out["stats"]["witnesses_replayed"] = report.witnesses_replayed;
  return out;
}

Json error_json(const Report& report) {
  Json out;
  out["memverify"] = 1;
  out["plan"] = report.file;
  out["file"] = report.file;
  out["verdict"] = "error";
  out["errors"] = Json::array();
  for (const auto& [error, before, cut, after] : report.errors) {
    Json entry = {{"id", error.id}, {"message", error.message}};
    entry["file"] = error.file;
    if (error.line != 0) entry["line"] = error.line;
    if (error.column != 0) entry["column"] = error.column;
    entry["pointer"] = error.pointer;
    out["errors"].push_back(std::move(entry));
  }
  return out;
}

std::string laid_out(const Json& json, JsonLayout layout) {
  std::string out;
  if (layout == JsonLayout::kPretty) {
    append_pretty(json, 0, out);
  } else {
    out = compact(json);
  }
  return out + "\n";
}

}  // namespace

std::string json_report(const Report& report, JsonLayout layout) {
  return laid_out(report.errors.empty() ? verdict_json(report) : error_json(report), layout);
}

std::string json_finding(const Plan& plan, const Finding& finding) {
  return laid_out(finding_json(plan, finding, finding.witness.size()), JsonLayout::kPretty);
}

std::string replay_json(const Plan& plan, const std::string& file, const Finding& finding,
                        const ReplayResult& result) {
  Json out;
  out["memverify"] = 1;
  out["plan"] = plan.name.empty() ? std::string_view(file) : plan.name;
  out["file"] = file;
  out["verdict"] = name(result.confirmed ? Verdict::kUnsafe : Verdict::kUnknown);
  out["rule"] = info(finding.rule).id;
  out["confirmed"] = result.confirmed;
  if (!result.confirmed) out["reason"] = result.reason;
  return laid_out(out, JsonLayout::kPretty);
}

}  // namespace memverify
