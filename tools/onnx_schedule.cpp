#include "tools/onnx_schedule.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace memverify {
namespace {

constexpr double kBytesOfTick = 1024;
constexpr double kFlopsOfTick = 16384;
constexpr std::int64_t kMostTicks = std::int64_t{1} << 32U;
constexpr std::size_t kMostNeeds = 20'000'000;
constexpr std::size_t kPrefetch = 2;  ///< Ops that a load may be ahead of its first use.

using Number = std::function<std::int64_t(const OnnxExtent&)>;

using Needs = std::vector<std::vector<std::size_t>>;  ///< By op: others before it.

/// Who writes a tensor, what it lies in, or what lies in it.
class WriterFinder {
 public:
  explicit WriterFinder(const OnnxProgram& program)
      : program_(program), writers_(program.tensors.size()), parts_(program.tensors.size()) {}

  void add(std::size_t tensor, std::size_t op) {
    tensor = program_.resolved(tensor);
    writers_[tensor].push_back(op);
    // From here on, reading what it lies in is reading it.
    for (std::size_t up = tensor; first_[up] && base(up) != kNoIndex; up = base(up)) {
      first_[up] = false;
      parts_[base(up)].push_back(up);
    }
  }

  void find(std::size_t tensor, std::vector<std::size_t>& out) {
    tensor = program_.resolved(tensor);
    for (std::size_t up = base(tensor); up != kNoIndex; up = base(up)) append(up, out);
    for (std::vector<std::size_t> open = {tensor}; !open.empty();) {
      const std::size_t down = open.back();
      open.pop_back();
      append(down, out);
      open.insert(open.end(), parts_[down].begin(), parts_[down].end());
    }
  }

 private:
  std::size_t base(std::size_t tensor) const {
    const std::size_t of = program_.tensors[tensor].base;
    return of == kNoIndex ? of : program_.resolved(of);
  }
  void append(std::size_t tensor, std::vector<std::size_t>& out) const {
    out.insert(out.end(), writers_[tensor].begin(), writers_[tensor].end());
  }

  const OnnxProgram& program_;
  Needs writers_;  ///< By tensor.
  Needs parts_;    ///< By tensor: its views that are written.
  std::vector<bool> first_ =
      std::vector<bool>(writers_.size(), true);  ///< Not among the parts yet.
};

/// Empty if there are too many.
Needs needs_of(const OnnxProgram& program) {
  WriterFinder writers(program);
  Needs needs(program.ops.size());
  std::size_t count = 0;
  for (std::size_t o = 0; o < program.ops.size(); ++o) {
    const OnnxOp& op = program.ops[o];
    if (op.view) continue;
    std::vector<std::size_t>& out = needs[o];
    if (op.decided_by != kNoIndex) out.push_back(op.decided_by);
    for (const OnnxAccess& read : op.reads) writers.find(read.tensor, out);
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    for (const OnnxAccess& write : op.writes) writers.add(write.tensor, o);
    count += out.size();
    if (count > kMostNeeds) return {};
  }
  return needs;
}

/// Queue and order of the ops that run, by list scheduling.
class ListSchedule {
 public:
  ListSchedule(const Needs& needs, const std::vector<std::int64_t>& ticks, std::size_t queues)
      : needs_(needs), ticks_(ticks), free_at_(queues, 0), ends_(ticks.size(), 0) {}

  std::vector<OnnxStep> run() {
    const std::size_t size = ticks_.size();
    Needs users(size);
    std::vector<std::size_t> missing(size, 0);
    for (std::size_t o = 0; o < size; ++o) {
      for (const std::size_t need : needs_[o]) users[need].push_back(o);
      missing[o] = needs_[o].size();
    }
    std::vector<std::int64_t> way(size, 0);  // Ticks from the op's start to the end.
    for (std::size_t o = size; o-- > 0;) {
      for (const std::size_t user : users[o]) way[o] = std::max(way[o], way[user]);
      way[o] += ticks_[o];
    }
    // The longest way first; of equal ones the first in the file.
    std::priority_queue<std::pair<std::int64_t, std::size_t>> ready;
    const auto enter = [&](std::size_t o) { ready.emplace(way[o], size - o); };
    for (std::size_t o = 0; o < size; ++o) {
      if (missing[o] == 0) enter(o);
    }
    std::vector<OnnxStep> steps;
    while (!ready.empty()) {
      const std::size_t o = size - ready.top().second;
      ready.pop();
      steps.push_back(place(o));
      for (const std::size_t user : users[o]) {
        if (--missing[user] == 0) enter(user);
      }
    }
    return steps;
  }

 private:
  OnnxStep place(std::size_t o) {
    std::int64_t from = 0;
    for (const std::size_t need : needs_[o]) from = std::max(from, ends_[need]);
    const auto start = [&](std::size_t q) { return std::max(from, free_at_[q]); };
    // Of queues on which it starts as early, the one that waited least: others stay free for
    // longer.
    std::size_t best = 0;
    for (std::size_t q = 1; q < free_at_.size(); ++q) {
      if (std::pair(start(q), -free_at_[q]) < std::pair(start(best), -free_at_[best])) best = q;
    }
    ends_[o] = start(best) + ticks_[o];
    free_at_[best] = ends_[o];
    return {.op = o, .queue = best, .ticks = ticks_[o]};
  }

  const Needs& needs_;
  const std::vector<std::int64_t>& ticks_;
  std::vector<std::int64_t> free_at_;  ///< By queue.
  std::vector<std::int64_t> ends_;     ///< By op.
};

/// Turns needs into waits, without those that follow from others. An op under a condition may not
/// run: what it waits for is then not known to be done.
void add_waits(const OnnxProgram& program, std::vector<OnnxStep>& steps, const Needs& needs,
               std::size_t queues) {
  constexpr std::int64_t kNothing = -1;
  using Clock = std::vector<std::int64_t>;  // By queue: the last step that is known to be done.
  std::vector<Clock> done_by(queues, Clock(queues, kNothing));
  std::vector<Clock> clock_of(steps.size());
  std::vector<std::size_t> step_of(program.ops.size(), kNoIndex);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    OnnxStep& step = steps[s];
    step_of[step.op] = s;
    if (program.ops[step.op].view) continue;
    Clock known = done_by[step.queue];
    std::vector<std::size_t> wanted;
    for (const std::size_t need : needs[step.op]) {
      if (const std::size_t on = step_of[need]; on != kNoIndex) wanted.push_back(on);
    }
    std::ranges::sort(wanted, std::greater());  // The latest imply the others.
    for (const std::size_t on : wanted) {
      const OnnxStep& other = steps[on];
      const bool is_sure = program.ops[other.op].when.empty();
      if (other.queue == step.queue || known[other.queue] >= static_cast<std::int64_t>(on))
        continue;
      step.waits.push_back(on);
      steps[on].signals = true;
      if (!is_sure) continue;
      for (std::size_t q = 0; q < queues; ++q) known[q] = std::max(known[q], clock_of[on][q]);
    }
    if (!program.ops[step.op].when.empty()) continue;
    known[step.queue] = static_cast<std::int64_t>(s);
    done_by[step.queue] = known;
    clock_of[s] = std::move(known);
  }
}

/// Adds loads of constants to the program, and to the steps before the ops that use them first.
void add_loads(OnnxProgram& program, std::vector<OnnxStep>& steps, Needs& needs, std::size_t queues,
               std::size_t dma, const Number& number) {
  std::vector<std::size_t> load_of(program.tensors.size(), kNoIndex);  // By constant: an op.
  std::vector<std::int64_t> busy(dma, 0);
  std::vector<OnnxStep> out;
  std::vector<std::size_t> sure;  // Ops that always run, so far.
  for (const OnnxStep& step : steps) {
    const std::size_t o = step.op;
    if (!program.ops[o].view) {
      for (std::size_t k = 0; k < program.ops[o].reads.size(); ++k) {
        const std::size_t constant = program.root(program.ops[o].reads[k].tensor);
        if (constant >= load_of.size()) continue;
        if (load_of[constant] == kNoIndex) {
          if (!program.tensors[constant].constant) continue;
          OnnxTensor host = program.tensors[constant];
          host.id += "@host";
          program.tensors[constant].constant = false;
          program.tensors.push_back(host);
          const std::size_t load = program.ops.size();
          load_of[constant] = load;
          program.ops.push_back({.id = "load " + program.tensors[constant].id,
                                 .label = "Load",
                                 .reads = {{.tensor = program.tensors.size() - 1}},
                                 .writes = {{.tensor = constant}},
                                 .flops = 0});
          needs.emplace_back();
          if (sure.size() >= kPrefetch) needs.back().push_back(sure[sure.size() - kPrefetch]);
          const std::int64_t ticks = onnx_ticks(program, program.ops[load], number);
          const auto idle = std::ranges::min_element(busy);
          *idle += ticks;
          out.push_back({.op = load,
                         .queue = queues + static_cast<std::size_t>(idle - busy.begin()),
                         .ticks = ticks});
        }
        needs[o].push_back(load_of[constant]);
      }
      if (program.ops[o].when.empty()) sure.push_back(o);
    }
    out.push_back(step);
  }
  steps = std::move(out);
}

}  // namespace

std::int64_t onnx_ticks(const OnnxProgram& program, const OnnxOp& op, const Number& number) {
  double bytes = 0;
  for (const std::vector<OnnxAccess>* accesses : {&op.reads, &op.writes}) {
    for (const OnnxAccess& access : *accesses) {
      bytes += static_cast<double>(number(
          access.part ? access.part->second : onnx_bytes(program.tensors[access.tensor].type)));
    }
  }
  const double flops = static_cast<double>(number(op.flops));
  const double ticks = std::max({1.0, bytes / kBytesOfTick, flops / kFlopsOfTick});
  return static_cast<std::int64_t>(std::min(ticks, static_cast<double>(kMostTicks)));
}

std::vector<OnnxStep> schedule_onnx(OnnxProgram& program, std::size_t queues, std::size_t dma,
                                    const Number& number) {
  std::vector<std::int64_t> ticks;
  for (const OnnxOp& op : program.ops) {
    ticks.push_back(op.view ? 0 : onnx_ticks(program, op, number));
  }
  Needs needs(program.ops.size());
  std::vector<OnnxStep> steps;
  if (queues > 1) needs = needs_of(program);
  if (queues > 1 && !needs.empty()) {
    steps = ListSchedule(needs, ticks, queues).run();
  } else {
    for (std::size_t o = 0; o < ticks.size(); ++o) steps.push_back({.op = o, .ticks = ticks[o]});
    needs.resize(program.ops.size());
  }
  if (dma > 0) add_loads(program, steps, needs, queues, dma, number);
  add_waits(program, steps, needs, queues + dma);
  return steps;
}

}  // namespace memverify
