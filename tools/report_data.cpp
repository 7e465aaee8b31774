#include "tools/report_data.h"

#include <algorithm>
#include <map>

#include "plan/json_events.h"
#include "plan/json_text.h"
#include "plan/words.h"
#include "tools/report_numbers.h"

namespace memverify {
namespace {

using sim::Command;
using sim::CommandId;

class Data {
 public:
  explicit Data(const Drawing& drawing)
      : drawing_(drawing),
        report_(drawing.report),
        plan_(drawing.report.plan),
        run_(drawing.run),
        memory_(drawing.memory),
        part_(drawing.part),
        numbers_(number_kept(drawing)) {}

  std::string text() {
    json_.open('{');
    add_outcome();
    add_drawn();
    add_counts();
    add_pools();
    add_lanes();
    write_tables(json_, drawing_, numbers_);
    write_findings(json_, drawing_, numbers_);
    json_.close('}');
    return json_.take();
  }

 private:
  void add_outcome() {
    json_.field("memverify", std::int64_t{1});
    json_.field("plan", plan_.name);
    json_.field("file", std::string_view(report_.file));
    json_.field("verdict", name(report_.verdict));
    json_.field("line", std::string_view(outcome_line(report_)));
    json_.field("decided_by", report_.decided_by);
    json_.field("one_wait", std::string_view(report_.one_wait));
    json_.flag("stopped", report_.stopped_at_max_findings);
    json_.key("assumes");
    json_.open('[');
    if (report_.verdict == Verdict::kSafe) add_text(kAssumption);
    for (const std::string& one : report_.imported) add_text(one);
    json_.close(']');
  }
  void add_text(std::string_view text) {
    json_.next();
    json_.value(text);
  }

  void add_drawn() {
    json_.key("drawn");
    json_.open('{');
    json_.field("time", std::string_view(run_.time == DrawnTime::kLevels ? "level" : "tick"));
    json_.field("end", run_.end);
    json_.field("iterations", run_.settled.unrolled);
    json_.field("of", plan_.iterations.value_or(0));
    json_.field("stuck", static_cast<std::int64_t>(run_.stuck));
    json_.key("case");
    json_.open('[');
    for (const SymbolId symbol : ids(plan_.symbols)) {
      add_text(printable(plan_.symbols[symbol].name) + " = " +
               std::to_string(run_.settled.symbols.symbols[index(symbol)]));
    }
    for (const ConditionId condition : ids(plan_.conditions)) add_condition(condition);
    json_.close(']');
    json_.close('}');
  }
  void add_condition(ConditionId condition) {
    std::string values;
    const bool once = plan_.conditions[condition].per_run || run_.settled.unrolled == 1;
    for (std::int64_t i = 0; i < (once ? 1 : run_.settled.unrolled); ++i) {
      values += values.empty() ? "" : ", ";
      values += run_.settled.conditions.get(condition, i) ? "true" : "false";
    }
    add_text(printable(plan_.conditions[condition].name) + " = " + values);
  }

  void add_counts() {
    json_.key("counts");
    json_.open('{');
    const auto count = [&](std::string_view what, std::size_t number) {
      json_.field(what, static_cast<std::int64_t>(number));
    };
    count("ops", plan_.ops.size());
    count("tensors", plan_.tensors.size());
    count("storages", plan_.storages.size());
    count("commands", part_.commands.size());
    count("ranges", part_.ranges.size());
    count("kept_commands", part_.kept_commands);
    count("kept_ranges", part_.kept_ranges);
    json_.close('}');
  }

  void add_pools() {
    json_.key("pools");
    json_.open_lines();
    for (const PoolId id : ids(plan_.pools)) {
      const PoolFigures& figures = memory_.pools[id];
      json_.next();
      json_.open('{');
      json_.field("name", plan_.pools[id].name);
      json_.field("kind", plan_.pools[id].kind);
      if (figures.capacity) json_.field("capacity", *figures.capacity);
      if (figures.claimed) json_.field("claimed", *figures.claimed);
      json_.field("peak", figures.peak);
      json_.field("total", figures.total);
      json_.field("live_set", figures.live_set);
      json_.field("live_at", figures.live_at);
      add_curve(figures);
      if (!part_.rasters.empty()) {
        json_.field("raster", std::string_view(part_.rasters[index(id)]));
      }
      json_.close('}');
    }
    json_.close_lines();
  }
  /// Of a long curve, the most in each piece.
  void add_curve(const PoolFigures& figures) {
    constexpr std::size_t kMostPoints = 4000;
    const std::size_t piece = figures.curve.size() / kMostPoints + 1;
    Column times, bytes;
    for (std::size_t k = 0; k < figures.curve.size(); k += piece) {
      std::int64_t most = 0;
      for (std::size_t j = k; j < std::min(k + piece, figures.curve.size()); ++j) {
        most = std::max(most, figures.curve[j].second);
      }
      times.add(figures.curve[k].first);
      bytes.add(most);
    }
    times.write(json_, "curve_time");
    bytes.write(json_, "curve_bytes");
  }

  /// Queues, then threads that wait.
  void add_lanes() {
    json_.key("lanes");
    json_.open_lines();
    for (const QueueId id : ids(plan_.queues)) {
      json_.next();
      json_.open('{');
      json_.field("name", plan_.queues[id].name);
      json_.field("order", name(plan_.queues[id].order));
      if (!part_.busy.empty()) json_.field("busy", std::string_view(part_.busy[index(id)]));
      json_.close('}');
    }
    for (const ThreadId id : ids(plan_.threads)) {
      json_.next();
      json_.open('{');
      json_.field("name", plan_.threads[id]);
      json_.field("order", std::string_view("thread"));
      json_.close('}');
    }
    json_.close_lines();
  }
  const Drawing& drawing_;
  const Report& report_;
  const Plan& plan_;
  const DrawnRun& run_;
  const DrawnMemory& memory_;
  const DrawnPart& part_;
  JsonText json_;
  const Numbers numbers_;
};

/// As JSON escapes what could end an HTML element, or a line of JavaScript.
std::string for_html(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (std::size_t k = 0; k < json.size(); ++k) {
    const char c = json[k];
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else if (json.substr(k, 3) == "\xE2\x80\xA8" || json.substr(k, 3) == "\xE2\x80\xA9") {
      out += json[k + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      k += 2;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t bad = find_invalid_utf8(text);
    out += text.substr(0, bad);
    if (bad == std::string_view::npos) return out;
    out += "\xEF\xBF\xBD";
    text.remove_prefix(bad + 1);
  }
}

Result<Drawing> draw(const Report& report, DrawnTime time, const DrawnLimits& limits) {
  Result<DrawnRun> run = draw_run(report.plan, report.findings, time);
  if (!run.ok()) return run.errors();
  DrawnMemory memory = drawn_memory(report.plan, run.value());
  DrawnPart part = drawn_part(report.plan, report.findings, run.value(), memory, limits);
  return Drawing{.report = report,
                 .run = std::move(run).value(),
                 .memory = std::move(memory),
                 .part = std::move(part)};
}

std::string drawing_json(const Drawing& drawing) {
  return for_html(valid_utf8(Data(drawing).text()));
}

}  // namespace memverify
