// tests/bench/bound/main.cpp -- the lower bound of a graph: how long, how much memory, how sharp.
//
//   bound_bench GRAPH.json      (generate_plan --graph makes such graphs)
#include <sys/resource.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "planner/apart.h"
#include "planner/cases.h"
#include "planner/graph_bound.h"
#include "planner/graph_clashes.h"

namespace memverify {
namespace {

constexpr std::size_t kMostRuns = std::size_t{1} << 22;

class Stopwatch {
 public:
  /// CPU seconds, and the most memory that the process has had so far.
  void print(const char* what) {
    const std::clock_t now = std::clock();
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%-10s %8.2f s, peak %6ld MiB\n", what,
                static_cast<double>(now - begin_) / CLOCKS_PER_SEC, usage.ru_maxrss / 1024);
    begin_ = now;
  }

 private:
  std::clock_t begin_ = std::clock();
};

int run(const std::string& file) {
  Stopwatch watch;
  const Result<Plan> graph = read_plan_file(file);
  if (!graph.ok()) {
    std::fprintf(stderr, "%s\n", to_string(graph.errors().front()).c_str());
    return 2;
  }
  watch.print("read");
  const Result<ApartPlan> apart = place_apart(graph.value());
  if (!apart.ok()) {
    std::fprintf(stderr, "%s\n", to_string(apart.errors().front()).c_str());
    return 2;
  }
  watch.print("apart");
  const std::vector<PoolId> first(apart.value().buffers.size(), PoolId{0});
  GraphClashes none;  // The bound alone is measured: clashes are not looked for.
  none.permanent.resize(first.size());
  BufferMap map = map_buffers(apart.value());
  PoolBounder bounder(apart.value(), first);
  for_each_case(apart.value().plan, [&](const Program& program) {
    const Walk walked = walk(program);
    const Order order(program, walked);
    const auto footprints = Footprints::make(program, kMostRuns);
    if (!footprints) return;
    const LiveValues live = live_values(program, walked, order, *footprints, map, none.permanent);
    bounder.look({program, walked, order, live, map.fixed()});
  });
  for (const PoolBound& bound : std::move(bounder).bounds(none)) {
    std::printf("%zu tensors, bound %lld bytes by %zu of them, largest live set %lld bytes\n",
                first.size(), static_cast<long long>(bound.bytes), bound.members.size(),
                static_cast<long long>(bound.largest_live_set));
  }
  watch.print("bound");
  return 0;
}

}  // namespace
}  // namespace memverify

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bound_bench GRAPH.json\n");
    return 2;
  }
  return memverify::run(argv[1]);
}
