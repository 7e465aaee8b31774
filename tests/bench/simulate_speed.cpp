// simulate_speed [--repeat N] -- how fast the simulator searches, on plans of known size.
//
// A line each: plan, reduction, verdict, states, transitions, runs, milliseconds (the best of N),
// states a second. `simulate_speed --export DIR` writes the same plans instead, as X.json and as
// X.pml (Promela) for tests/bench/simulate_spin, which runs SPIN on them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/builder.h"
#include "plan/reader.h"
#include "plan/writer.h"
#include "sim/simulate.h"
#include "tests/bench/plan_generator.h"

namespace memverify {
namespace {

/// An op of a grid of queues and ops, and what it has to do with others.
struct GridOp {
  std::vector<std::pair<int, int>> reads;  ///< Values of these ops: (queue, place).
  std::vector<std::pair<int, int>> waits;  ///< For their completion.
};

struct Grid {
  std::string name;
  int queues = 0;
  int ops = 0;
  std::vector<std::vector<GridOp>> at;  ///< By queue, by place.

  Grid(std::string what, int q, int n)
      : name(std::move(what)),
        queues(q),
        ops(n),
        at(static_cast<std::size_t>(q), std::vector<GridOp>(static_cast<std::size_t>(n))) {}
  GridOp& op(int q, int n) { return at[static_cast<std::size_t>(q)][static_cast<std::size_t>(n)]; }
  const GridOp& op(int q, int n) const {
    return at[static_cast<std::size_t>(q)][static_cast<std::size_t>(n)];
  }
};

std::string op_name(int q, int n) { return "o" + std::to_string(q) + "_" + std::to_string(n); }

/// Every op writes a tensor of its own and reads those of others.
Plan plan_of(const Grid& grid) {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  for (int q = 0; q < grid.queues; ++q) b.add_queue({.name = "q" + std::to_string(q)});
  std::int64_t offset = 0;
  for (int n = 0; n < grid.ops; ++n) {
    for (int q = 0; q < grid.queues; ++q) {
      const std::string name = op_name(q, n);
      const std::string queue = "q" + std::to_string(q);
      b.add_storage({.name = name, .pool = "hbm", .slots = {offset}, .bytes = std::int64_t{64}});
      offset += 64;
      b.add_tensor({.name = name, .storage = name, .bytes = std::int64_t{64}});
      std::vector<std::string> names;
      names.reserve(16);
      OpSpec op{
          .name = name, .queue = queue, .writes = {{.tensor = name}}, .signals = {{.event = name}}};
      for (const auto& [from, place] : grid.op(q, n).reads) {
        names.push_back(op_name(from, place));
        op.reads.push_back({.tensor = names.back()});
      }
      for (const auto& [from, place] : grid.op(q, n).waits) {
        names.push_back(op_name(from, place));
        op.waits.push_back({.target = names.back()});
      }
      b.add_op(op);
    }
  }
  Result<Plan> plan = std::move(b).build();
  if (!plan.ok()) {
    std::fprintf(stderr, "%s\n", to_string(plan.errors().front()).c_str());
    std::exit(2);
  }
  return std::move(plan).value();
}

/// Five values that cross from queue to queue, seven reads of them, seven waits.
Grid crossing(std::string name, bool safe) {
  Grid grid(std::move(name), 6, 7);
  const auto cross = [&](int from, int to, int place) {
    grid.op(to, place).reads.emplace_back(from, 1);
    grid.op(to, place).waits.emplace_back(from, 1);
  };
  for (int q = 0; q < 5; ++q) cross(q, q + 1, 3);
  cross(0, 2, 4);
  cross(1, 3, 4);
  if (!safe) grid.op(3, 4).waits = {{0, 1}};  // Waits for the wrong queue.
  return grid;
}

/// Every op but the first of a queue reads what its neighbour wrote before, in 45 places.
Grid woven() {
  Grid grid("safe 8x8, 45 waits", 8, 8);
  int waits = 0;
  for (int n = 1; n < 8; ++n) {
    for (int q = 0; q < 8 && waits < 45; ++q, ++waits) {
      grid.op(q, n).reads.emplace_back((q + n) % 8 == q ? (q + 1) % 8 : (q + n) % 8, n - 1);
      grid.op(q, n).waits = grid.op(q, n).reads;
    }
  }
  return grid;
}

std::vector<Grid> grids() {
  return {Grid("independent 3x4", 3, 4),
          Grid("independent 4x5", 4, 5),
          Grid("independent 5x6", 5, 6),
          Grid("independent 6x7", 6, 7),
          crossing("safe 6x7, 5 events, 7 waits", true),
          crossing("racy 6x7, 5 events, 7 waits", false),
          woven()};
}

/// The plan as Promela: a process a queue; an op is a start and an end; versioned cells; events.
std::string promela(const Grid& grid) {
  std::string out = "/* " + grid.name + " */\n";
  for (int q = 0; q < grid.queues; ++q) {
    for (int n = 0; n < grid.ops; ++n) {
      out += "bool done_" + op_name(q, n) + "; byte v_" + op_name(q, n) + "; bool w_" +
             op_name(q, n) + ";\n";
    }
  }
  for (int q = 0; q < grid.queues; ++q) {
    out += "active proctype q" + std::to_string(q) + "() {\n";
    for (int n = 0; n < grid.ops; ++n) {
      const std::string me = op_name(q, n);
      out += "  atomic { true";
      for (const auto& [from, place] : grid.op(q, n).waits)
        out += " && done_" + op_name(from, place);
      out += " -> w_" + me + " = true";
      for (const auto& [from, place] : grid.op(q, n).reads) {
        out += "; assert(!w_" + op_name(from, place) + " && v_" + op_name(from, place) + " == 1)";
      }
      out += " }\n  atomic { w_" + me + " = false; v_" + me + " = 1; done_" + me + " = true }\n";
    }
    out += "}\n";
  }
  return out;
}

int write_plans(const std::string& folder) {
  for (const Grid& grid : grids()) {
    std::string file = grid.name;
    std::erase(file, ',');
    std::ranges::replace(file, ' ', '-');
    std::ofstream out(folder + "/" + file + ".pml");
    out << promela(grid);
    const std::string problem =
        replace_file(folder + "/" + file + ".json", write_plan(plan_of(grid)));
    if (!out || !problem.empty()) {
      std::fprintf(stderr, "simulate_speed: cannot write to %s\n", folder.c_str());
      return 2;
    }
  }
  return 0;
}

void measure(const std::string& name, const Plan& plan, Reduction reduction, int repeat) {
  SimOptions options;
  options.reduction = reduction;
  options.max_states = 500'000'000;
  SimStats stats;
  double best = 1e30;
  Verdict verdict = Verdict::kUnknown;
  for (int i = 0; i < repeat; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    verdict = simulate(plan, options, stats).verdict;
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("%-30s %-8s %-8s %12llu %12llu %6llu %10.2f ms %8.2f M/s\n", name.c_str(),
              std::string(memverify::name(reduction)).c_str(),
              std::string(memverify::name(verdict)).c_str(),
              static_cast<unsigned long long>(stats.states),
              static_cast<unsigned long long>(stats.transitions),
              static_cast<unsigned long long>(stats.runs), best * 1e3,
              static_cast<double>(stats.states) / best / 1e6);
  std::fflush(stdout);
}

int measure_all(int repeat) {
  for (const Grid& grid : grids()) {
    const Plan plan = plan_of(grid);
    for (Reduction reduction : {Reduction::kNone, Reduction::kSleep, Reduction::kClasses}) {
      measure(grid.name, plan, reduction, repeat);
    }
  }
  bench::GeneratorOptions options;
  options.ops = 1000;
  options.queues = 8;
  const Result<Plan> large = read_plan(bench::generate_plan(options).json, "1000 ops");
  if (large.ok()) measure("safe 1000 ops, 8 queues", large.value(), Reduction::kClasses, repeat);
  return 0;
}

}  // namespace
}  // namespace memverify

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--export" && argc == 3) return memverify::write_plans(argv[2]);
  if (first == "--repeat" && argc == 3)
    return memverify::measure_all(std::max(1, std::atoi(argv[2])));
  if (argc == 1) return memverify::measure_all(1);
  std::fputs("usage: simulate_speed [--repeat N | --export DIR]\n", stderr);
  return 2;
}
