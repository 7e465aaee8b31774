// generate_plan [--ops N] [--queues Q] [--order serial|issue|none|mixed] … > plan.json
// Writes a synthetic plan; says on stderr how many ops and races it has. `--help` lists the
// options.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tests/bench/plan_generator.h"

int main(int argc, char** argv) {
  memverify::bench::GeneratorOptions options;
  CLI::App app("Writes a synthetic plan that is safe by construction, or has known races.");
  app.add_option("--ops", options.ops, "commands, about");
  app.add_option("--queues", options.queues);
  app.add_option("--order", options.order, "serial, issue, none or mixed");
  app.add_option("--sync", options.sync, "events, after, records, timeline, counting or mixed");
  app.add_option("--slots", options.slots, "of the ring that values are placed in");
  app.add_option("--iterations", options.iterations);
  app.add_option("--reads", options.reads, "values read by an op, at most");
  app.add_option("--views", options.views, "percent of reads through a view");
  app.add_option("--strided", options.strided, "percent of values written as interleaved columns");
  app.add_option("--in-place", options.in_place, "percent of ops that take the slot of an operand");
  app.add_option("--conflicts", options.conflicts, "percent of ops followed by a racing pair");
  app.add_flag("!--graph", options.placed, "leave the tensors unplaced, of several sizes");
  app.add_option("--seed", options.seed);
  CLI11_PARSE(app, argc, argv);
  if (const std::string problem = memverify::bench::problem_with(options); !problem.empty()) {
    std::cerr << "generate_plan: " << problem << "\n";
    return 2;
  }
  const memverify::bench::GeneratedPlan plan = memverify::bench::generate_plan(options);
  std::cout << plan.json;
  std::cerr << plan.ops << " ops, " << plan.races << " races, " << plan.json.size() << " bytes\n";
  return std::cout.good() ? 0 : 1;
}
