#include "tools/lanes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kWidestColumn = 14;

/// One command of the run: where it starts and completes, in steps.
struct Bar {
  std::string label;
  std::size_t start = 0;
  std::size_t end = 0;  ///< One past the last step if it does not complete.
  bool completes = false;
};

std::string lane_name(const Plan& plan, OpId op) {
  const Op& what = plan.ops[op];
  if (what.queue != kNone<QueueId>) return printable(plan.queues[what.queue].name);
  if (what.kind == OpKind::kBarrier) {
    std::string name;
    for (QueueId queue : plan.queues_of(what)) {
      name += (name.empty() ? "" : "+") + printable(plan.queues[queue].name);
    }
    return name;
  }
  return "thread " + printable(plan.threads[what.thread]);
}

std::string label(const Plan& plan, const Step& step) {
  std::string text = printable(plan.ops[step.op].name);
  if (repeats(plan)) text += "@" + std::to_string(step.iteration);
  return text;
}

/// The bars of each lane, lanes by first appearance. `from` is the first step shown.
std::vector<std::pair<std::string, std::vector<Bar>>> bars_of(const Plan& plan,
                                                              const std::vector<Step>& run,
                                                              std::size_t from) {
  std::vector<std::pair<std::string, std::vector<Bar>>> lanes;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::pair<std::size_t, std::size_t>> open;
  for (std::size_t at = 0; at < run.size(); ++at) {
    const Step& step = run[at];
    const std::size_t column = at < from ? 0 : at - from;
    const std::pair key(index(step.op), step.iteration);
    if (!step.complete) {
      const std::string name = lane_name(plan, step.op);
      auto lane = std::ranges::find(lanes, name, &std::pair<std::string, std::vector<Bar>>::first);
      if (lane == lanes.end()) lane = lanes.insert(lane, {name, {}});
      open[key] = {lane - lanes.begin(), lane->second.size()};
      lane->second.push_back({label(plan, step), column, run.size() - from, false});
    } else if (const auto found = open.find(key); found != open.end()) {
      Bar& bar = lanes[found->second.first].second[found->second.second];
      bar.end = column;
      bar.completes = true;
      if (at < from) bar.label.clear();  // Over before the part that is shown.
    }
  }
  for (auto& [name, bars] : lanes) {
    std::erase_if(bars, [](const Bar& bar) { return bar.label.empty(); });
  }
  std::erase_if(lanes, [](const auto& lane) { return lane.second.empty(); });
  return lanes;
}

std::string draw(const Bar& bar, std::size_t width) {
  const std::size_t length = (bar.end - bar.start + 1) * width;
  std::string text = "[" + bar.label;
  if (text.size() > length - 2) text.resize(length - 2);
  text.resize(length - 2, '=');
  return text + (bar.completes ? "]" : ">");
}

}  // namespace

std::string step_lines(const Plan& plan, const std::vector<Step>& run) {
  std::string out;
  const std::size_t digits = std::to_string(run.size()).size();
  for (std::size_t i = 0; i < run.size(); ++i) {
    std::string number = std::to_string(i + 1);
    number.insert(0, digits - number.size(), ' ');
    const std::string where = queue_words(plan, run[i].op);
    out += "  " + number + "  " + (run[i].complete ? "complete  " : "start     ") +
           op_name(plan, run[i].op, run[i].iteration) + (where.empty() ? "" : " on " + where) +
           "\n";
  }
  return out;
}

std::string lane_lines(const Plan& plan, const std::vector<Step>& run) {
  const std::size_t from = run.size() > kMostLaneSteps ? run.size() - kMostLaneSteps : 0;
  const auto lanes = bars_of(plan, run, from);
  std::size_t width = 3;
  std::size_t name_width = 0;
  for (const auto& [name, bars] : lanes) {
    name_width = std::max(name_width, name.size());
    for (const Bar& bar : bars) {
      const std::size_t columns = bar.end - bar.start + 1;
      width = std::max(width, (bar.label.size() + 3 + columns - 1) / columns);
    }
  }
  width = std::min(width, kWidestColumn);
  std::string out;
  for (const auto& [name, bars] : lanes) {
    std::vector<std::pair<std::string, std::size_t>> rows;  // (text, first free column)
    for (const Bar& bar : bars) {
      auto row = std::ranges::find_if(rows, [&](const auto& r) { return r.second <= bar.start; });
      if (row == rows.end()) row = rows.insert(row, {"", 0});
      row->first.resize(bar.start * width, ' ');
      row->first += draw(bar, width);
      row->second = bar.end + 1;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::string head = i == 0 ? name : "";
      head.resize(name_width, ' ');
      out += "  " + head + "  " + rows[i].first + "\n";
    }
  }
  return out;
}

}  // namespace memverify
