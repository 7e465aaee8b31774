#include "tools/timed_report.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "plan/words.h"
#include "tools/lanes.h"

namespace memverify {
namespace {

using Json = nlohmann::ordered_json;

std::string timeline_lines(const Plan& plan, const TimedFailure& failure) {
  std::string out;
  std::vector<Step> run;
  const std::size_t digits = std::to_string(failure.makespan).size();
  for (const TimedStep& step : failure.timeline) {
    std::string tick = std::to_string(step.tick);
    tick.insert(0, digits - std::min(digits, tick.size()), ' ');
    out += "  tick " + tick + "  " + (step.step.complete ? "complete  " : "start     ") +
           op_name(plan, step.step.op, step.step.iteration) + "\n";
    run.push_back(step.step);
  }
  return out + "\n" + lane_lines(plan, run);
}

}  // namespace

std::string timed_text(const Plan& plan, const TimedOptions& options, const TimedResult& result) {
  if (!result.error.empty()) return "memverify: no timed run: " + result.error + "\n";
  std::string out;
  if (result.smallest) {
    out += "The smallest failing combination: " + lateness_words(plan, options, *result.smallest) +
           ".\nIn it, " + result.smallest->fault + ". It takes " +
           counted(result.smallest->makespan, "tick") + ".\n\n" +
           timeline_lines(plan, *result.smallest) + "\n";
  }
  out += "memverify: " + std::to_string(result.failing) + " of " + std::to_string(result.runs) +
         (result.all ? " timed runs fail (every combination)"
                     : " timed runs fail (drawn with seed " + std::to_string(options.seed) +
                           " from " + result.combinations + " combinations a case)") +
         ", makespan " + std::to_string(result.least_makespan) + " to " +
         counted(result.greatest_makespan, "tick") +
         (result.stopped ? ", stopped by --budget-seconds" : "") + "\n";
  if (result.failing == 0) {
    out += "memverify: timed runs are some of the runs of a plan: that none fails proves nothing\n";
  }
  return out;
}

std::string timed_json(const Plan& plan, const std::string& file, const TimedOptions& options,
                       const TimedResult& result) {
  Json out;
  out["memverify"] = 1;
  out["plan"] = plan.name.empty() ? std::string_view(file) : plan.name;
  out["file"] = file;
  out["verdict"] = result.failing > 0 ? "unsafe" : "unknown";
  Json& timed = out["timed"];
  timed["combinations"] = result.combinations;
  timed["cases"] = result.cases;
  timed["runs"] = result.runs;
  timed["failing"] = result.failing;
  timed["every_combination"] = result.all && !result.stopped;
  if (!result.all) timed["seed"] = options.seed;
  timed["makespan"] = {result.least_makespan, result.greatest_makespan};
  if (!result.error.empty()) timed["error"] = result.error;
  if (result.smallest) {
    const TimedFailure& failure = *result.smallest;
    Json& smallest = timed["smallest_failing"];
    smallest["what"] = lateness_words(plan, options, failure);
    smallest["fault"] = failure.fault;
    smallest["makespan"] = failure.makespan;
    for (QueueId queue : ids(plan.queues)) {
      smallest["delays"][std::string(plan.queues[queue].name)] = failure.delays[index(queue)];
    }
    smallest["timeline"] = Json::array();
    for (const TimedStep& step : failure.timeline) {
      smallest["timeline"].push_back({{"tick", step.tick},
                                      {"at", step.step.complete ? "complete" : "start"},
                                      {"op", plan.ops[step.step.op].name},
                                      {"iteration", step.step.iteration}});
    }
  }
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memverify
