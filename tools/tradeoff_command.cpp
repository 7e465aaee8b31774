// `memverify tradeoff`: bytes against added waits, and what a barrier costs in their place.
#include <string>

#include "plan/json_text.h"
#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "planner/placed_plan.h"
#include "planner/tradeoff.h"
#include "tools/command.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/planning.h"
#include "tools/unplaced.h"
#include "verify/repair_waits.h"

namespace memverify {
namespace {

std::string point_text(const Plan& graph, std::size_t waits, const TradeoffPoint& point) {
  std::string text = counted(static_cast<std::int64_t>(waits), "wait") + ": " +
                     counted(point.bytes, "byte") + ", makespan " +
                     counted(point.makespan, "tick") + "\n";
  for (const AddedWait& wait : point.waits) text += "    " + describe(graph, wait) + "\n";
  return text;
}

std::string tradeoff_text(const Plan& graph, const Tradeoff& tradeoff, bool had_places) {
  std::string text;
  if (had_places) text += "note: the addresses of the plan are not looked at\n";
  for (std::size_t k = 0; k < tradeoff.curve.size(); ++k) {
    const TradeoffPoint& point = tradeoff.curve[k];
    if (k > 0 && point.bytes == tradeoff.curve[k - 1].bytes) {
      text += counted(static_cast<std::int64_t>(k), "wait") + ": no fewer bytes\n";
      continue;
    }
    text += point_text(graph, k, point);
    if (k == 0) continue;
    const std::optional<BarrierPoint>& barrier = tradeoff.barriers[k - 1];
    if (!barrier) {
      text += "    no single barrier over all queues comes to so few bytes\n";
      continue;
    }
    const std::int64_t price = barrier->makespan - point.makespan;
    text += "    a barrier over all queues before " + quoted(graph.ops[barrier->before].name) +
            " in their place: " + counted(barrier->bytes, "byte") + ", makespan " +
            counted(barrier->makespan, "tick") +
            (price > 0 ? ", " + counted(price, "tick") + " more" : "") + "\n";
  }
  const TradeoffPoint& last = tradeoff.curve.back();
  const bool is_fewer = !last.waits.empty();
  const std::size_t most = is_fewer ? last.waits.size() : tradeoff.curve.size() - 1;
  text += "memverify: " + counted(tradeoff.curve.front().bytes, "byte") + " without a wait";
  if (most > 0) {
    text += (is_fewer ? ", " + std::to_string(last.bytes) + " with " : ", no fewer with ") +
            counted(static_cast<std::int64_t>(most), "wait");
  }
  return text + "; " + counted(static_cast<std::int64_t>(tradeoff.orders), "placement") +
         ", exact\n";
}

std::string tradeoff_json(const Plan& graph, const Tradeoff& tradeoff) {
  JsonText json;
  json.open('{');
  json.field("memverify", std::int64_t{1});
  json.field("plan", graph.name);
  json.field("placements", static_cast<std::int64_t>(tradeoff.orders));
  json.key("curve");
  json.open_lines();
  for (std::size_t k = 0; k < tradeoff.curve.size(); ++k) {
    const TradeoffPoint& point = tradeoff.curve[k];
    json.next();
    json.open('{');
    json.field("waits", static_cast<std::int64_t>(k));
    json.field("peak_bytes", point.bytes);
    json.field("makespan", point.makespan);
    json.key("added");
    json.open('[');
    for (const AddedWait& wait : point.waits) {
      json.next();
      json.open('{');
      json.field("op", graph.ops[wait.waiter].name);
      json.field("after", graph.ops[wait.on].name);
      json.close('}');
    }
    json.close(']');
    if (k > 0 && tradeoff.barriers[k - 1]) {
      json.key("barrier");
      json.open('{');
      json.field("before", graph.ops[tradeoff.barriers[k - 1]->before].name);
      json.field("peak_bytes", tradeoff.barriers[k - 1]->bytes);
      json.field("makespan", tradeoff.barriers[k - 1]->makespan);
      json.close('}');
    }
    json.close('}');
  }
  json.close_lines();
  json.close('}');
  return json.take() + "\n";
}

}  // namespace

ExitCode tradeoff_command(const Arguments& arguments) {
  std::string file;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
  TradeoffOptions options;
  CLI::App app(
      "Prints how few bytes a graph needs with each number of added waits, exactly, and what a "
      "barrier costs in their place.",
      "memverify tradeoff");
  app.add_option("FILE", file,
                 "Graph file, or a plan, whose addresses are not looked at; - is standard input")
      ->required()
      ->type_name("");
  app.add_option("--max-waits", options.max_waits, "Where the curve ends")
      ->check(whole_from(0, 64))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--max-orders", options.max_orders,
                 "Orders of the commands to place; a graph that has more is refused")
      ->check(whole_from(1))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seconds", options.max_seconds,
                 "Time to spend; a graph that takes more is refused")
      ->check(seconds_from(0))
      ->type_name("S")
      ->capture_default_str();
  add_format_option(app, json);
  add_color_option(app, color);
  app.footer(
      "Makespans are by the greatest durations. Exit code: 0, 2 bad input, usage or a graph that "
      "is\n"
      "unsafe wherever its tensors lie, 3 when the exact curve takes more than the limits.\n"
      "\n"
      "Example:\n"
      "  memverify tradeoff graph.json");
  if (const auto code = parse(app, arguments)) return *code;
  const auto refuse = [&](const std::vector<InputError>& errors) {
    write_error(text_errors(errors, Style::of(color, stderr)));
    return ExitCode::kBadInput;
  };
  Loaded loaded = load_plan(file);
  if (!loaded.plan) return refuse(loaded.errors);
  Plan graph = *std::move(loaded.plan);
  const bool had_places = unplaced_roots(graph).empty();
  if (had_places) {
    Result<Plan> bare =
        read_plan(without_addresses(PlanJson::parse(write_plan(graph))).dump(), file);
    if (!bare.ok()) return refuse(with_excerpts(bare.errors(), "", file));
    graph = std::move(bare).value();
  }
  if (std::vector<Diagnostic> unbounded = sizes_without_bound(graph); !unbounded.empty()) {
    return refuse(with_excerpts(std::move(unbounded), "", file));
  }
  const Result<Tradeoff> tradeoff = find_tradeoff(graph, options);
  if (!tradeoff.ok()) {
    if (tradeoff.errors().front().id == "tradeoff.too_large") {
      write_error("memverify tradeoff: " + tradeoff.errors().front().message + "\n");
      return ExitCode::kUnknown;
    }
    return refuse(with_excerpts(tradeoff.errors(), "", file));
  }
  StandardOutput output;
  output.write(json ? tradeoff_json(graph, tradeoff.value())
                    : tradeoff_text(graph, tradeoff.value(), had_places));
  return output.finish(ExitCode::kSafe);
}

}  // namespace memverify
