// The obvious ways to check a plan, on the same plan as `memverify`, for tests/bench/run:
//
//   closure    happens-before as a matrix of bits (transitive closure over the same edges), looked
//   up for
//              every pair of ops that share a byte. The same answer, n²/8 bytes.
//   one order  live ranges in order of submission, as compilers check a packing: cheap, and blind
//   to what
//              other queues still do.
//
//   generate_plan --ops 10000 > plan.json && verify_peers plan.json
//
// Waits for counts are no edges: of such a plan the first line is `closure: -`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "plan/input_file.h"
#include "plan/reader.h"
#include "verify/footprint.h"
#include "verify/program.h"

namespace memverify {
namespace {

constexpr std::size_t kMostRuns = std::size_t{1} << 28;
constexpr std::uint64_t kMostBits = std::uint64_t{1} << 36;  ///< 8 GiB.

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

bool conflict(const AccessInstance& a, const AccessInstance& b) {
  if (a.kind == AccessKind::kRead && b.kind == AccessKind::kRead) return false;
  return a.kind != AccessKind::kAccumulate || b.kind != AccessKind::kAccumulate ||
         a.update != b.update;
}

/// By point of the pools: who accesses it, in program order.
std::vector<std::vector<std::uint32_t>> by_point(const Footprints& footprints) {
  std::vector<std::vector<std::uint32_t>> points(footprints.points());
  for (const AccessInstance& access : footprints.accesses()) {
    if (access.cmd == kEndOfRun) continue;
    for (const Run& run : footprints.runs(access)) {
      for (std::uint32_t point = run.begin; point < run.end; ++point) {
        points[point].push_back(footprints.index_of(access));
      }
    }
  }
  return points;
}

class Closure {
 public:
  explicit Closure(std::size_t commands)
      : words_((commands + 63) / 64), bits_(commands * words_, 0) {}
  void add(Cmd before, Cmd cmd) {
    std::uint64_t* row = &bits_[cmd * words_];
    const std::uint64_t* from = &bits_[before * words_];
    for (std::size_t w = 0; w < words_; ++w) row[w] |= from[w];
    row[before / 64] |= std::uint64_t{1} << (before % 64);
  }
  bool before(Cmd a, Cmd b) const { return (bits_[b * words_ + a / 64] >> (a % 64) & 1) != 0; }
  std::size_t bytes() const { return bits_.size() * sizeof(std::uint64_t); }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// nullopt when some need is no edge, or an edge does not point forwards.
std::optional<Closure> close(const Program& program) {
  const std::size_t commands = program.instances.size();
  if (!program.thresholds.empty() || !program.prefixes.empty()) return std::nullopt;
  if (std::uint64_t{commands} * commands > kMostBits) return std::nullopt;
  Closure closure(commands);
  for (Cmd cmd = 0; cmd < commands; ++cmd) {
    const Instance& instance = program.instances[cmd];
    for (const Cmd need : program.needs_of(instance)) {
      if (need >= cmd) return std::nullopt;
      closure.add(need, cmd);
    }
    if (instance.thread_before != kNoCmd) closure.add(instance.thread_before, cmd);
    if (instance.queue == kNone<QueueId>) continue;
    const QueueOrder order = program.plan->queues[instance.queue].order;
    if (!completes_in_order(order)) return std::nullopt;
    const std::vector<Cmd>& queue = program.queue_commands[index(instance.queue)];
    if (instance.queue_index > 0) closure.add(queue[instance.queue_index - 1], cmd);
  }
  return closure;
}

void check_by_closure(const Program& program, const Footprints& footprints) {
  const double begin = cpu_seconds();
  const std::optional<Closure> closure = close(program);
  if (!closure) {
    std::printf("closure: -\n");
    return;
  }
  std::uint64_t pairs = 0;
  std::uint64_t races = 0;
  for (const auto& accesses : by_point(footprints)) {
    for (std::size_t b = 1; b < accesses.size(); ++b) {
      const AccessInstance& later = footprints.accesses()[accesses[b]];
      for (std::size_t a = 0; a < b; ++a) {
        const AccessInstance& earlier = footprints.accesses()[accesses[a]];
        if (earlier.cmd == later.cmd || !conflict(earlier, later)) continue;
        ++pairs;
        races += closure->before(earlier.cmd, later.cmd) || closure->before(later.cmd, earlier.cmd)
                     ? 0
                     : 1;
      }
    }
  }
  std::printf("closure: %s, %llu pairs by piece, %zu MiB, %.2f s\n", races > 0 ? "unsafe" : "safe",
              static_cast<unsigned long long>(pairs), closure->bytes() >> 20U,
              cpu_seconds() - begin);
}

struct Live {
  Cmd first = kNoCmd;
  Cmd last = 0;
  PoolId pool = kNone<PoolId>;
  ByteRange bytes;
};

void check_one_order(const Program& program, const Footprints& footprints) {
  const double begin = cpu_seconds();
  std::map<std::pair<TensorId, std::int32_t>, Live> ranges;  // By root.
  for (const AccessInstance& access : footprints.accesses()) {
    if (access.cmd == kEndOfRun || access.tensor == kNone<TensorId>) continue;
    const TensorId root = program.plan->tensors[access.tensor].root;
    Live& live = ranges[{root, access.instance}];
    live.first = std::min(live.first, access.cmd);
    live.last = std::max(live.last, access.cmd);
    for (const Run& run : footprints.runs(access)) {
      const ByteRange bytes{footprints.address(run.begin), footprints.address(run.end - 1) + 1};
      live.bytes = live.pool == kNone<PoolId> ? bytes
                                              : ByteRange{std::min(live.bytes.begin, bytes.begin),
                                                          std::max(live.bytes.end, bytes.end)};
      live.pool = footprints.pool(access);
    }
  }
  std::vector<Live> lives;
  for (const auto& [key, live] : ranges) {
    if (live.pool != kNone<PoolId>) lives.push_back(live);
  }
  std::ranges::sort(lives, {}, &Live::first);
  std::map<std::pair<PoolId, std::int64_t>, Live>
      alive;  // By address; disjoint if there is no clash.
  std::uint64_t clashes = 0;
  for (const Live& live : lives) {
    auto next = alive.lower_bound({live.pool, live.bytes.begin});
    if (next != alive.begin() && std::prev(next)->second.bytes.end > live.bytes.begin) --next;
    while (next != alive.end() && next->first.first == live.pool &&
           next->second.bytes.begin < live.bytes.end) {
      clashes += next->second.last > live.first ? 1 : 0;
      next = alive.erase(next);
    }
    alive[{live.pool, live.bytes.begin}] = live;
  }
  std::printf("one order: %s, %zu live ranges, %.2f s\n", clashes > 0 ? "clashes" : "no clash",
              lives.size(), cpu_seconds() - begin);
}

int compare(const char* path) {
  const auto file = InputFile::open(path);
  if (!file.ok()) return 2;
  const Result<Plan> plan = read_plan(file.value().text(), path);
  if (!plan.ok()) return 2;
  const Result<Layout> layout = Layout::make(plan.value(), Valuation{});
  if (!layout.ok()) return 2;
  const auto iterations = static_cast<std::uint32_t>(plan.value().iterations.value_or(1));
  const Program program = make_program(plan.value(), layout.value(),
                                       ConditionCase(plan.value(), iterations), iterations);
  const auto footprints = Footprints::make(program, kMostRuns);
  if (!footprints) return 2;
  check_by_closure(program, *footprints);
  check_one_order(program, *footprints);
  return 0;
}

}  // namespace
}  // namespace memverify

int main(int argc, char** argv) {
  if (argc == 2) return memverify::compare(argv[1]);
  std::fprintf(stderr, "usage: verify_peers PLAN\n");
  return 2;
}
