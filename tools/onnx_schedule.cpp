#include "tools/onnx_schedule.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace memverify {
namespace {

constexpr double kBytesOfTick = 1024;
constexpr double kFlopsOfTick = 16384;
constexpr std::int64_t kMostTicks = std::int64_t{1} << 32U;
constexpr std::size_t kMostNeeds = 20'000'000;  ///< Writes and parts looked at for them.
constexpr std::size_t kPrefetch = 2;            ///< Ops that a load may be ahead of its first use.

using Number = std::function<std::int64_t(const OnnxExtent&)>;

using Needs = std::vector<std::vector<std::size_t>>;  ///< By op: others before it.

/// Bytes of a tensor, from its element 0 on; of sizes that are no numbers, all that there may be.
struct Bytes {
  static constexpr std::int64_t kEnd = std::int64_t{1} << 62U;
  std::int64_t first = -kEnd;
  std::int64_t end = kEnd;

  static Bytes of(const OnnxExtent& offset, const OnnxExtent& size) {
    if (!offset.number() || !size.number()) return {};
    if (*offset.number() >= kEnd || *size.number() >= kEnd) return {};
    return {.first = *offset.number(), .end = *offset.number() + *size.number()};
  }
  bool meets(const Bytes& other) const { return first < other.end && other.first < end; }
  Bytes moved(const OnnxExtent& by, std::int64_t sign) const {
    const bool is_all = first == -kEnd || end >= kEnd;
    if (is_all || !by.number() || *by.number() >= kEnd) return {};
    return {.first = first + sign * *by.number(), .end = end + sign * *by.number()};
  }
};

/// Who writes bytes of a tensor: of the tensor itself, of what it lies in, or of what lies there.
class WriterFinder {
 public:
  explicit WriterFinder(const OnnxProgram& program)
      : program_(program), nodes_(program.tensors.size()) {}

  void add(const OnnxAccess& write, std::size_t op) {
    const std::size_t tensor = program_.resolved(write.tensor);
    Node& node = nodes_[tensor];
    node.is_made = node.is_made || !write.part;
    node.writes.push_back(
        {.op = op,
         .bytes = write.part ? Bytes::of(write.part->first, write.part->second) : Bytes()});
    // From here on, reading what it lies in may be reading it.
    for (std::size_t up = tensor; !nodes_[up].is_part && base(up) != kNoIndex; up = base(up)) {
      nodes_[up].is_part = true;
      nodes_[base(up)].parts.push_back(up);
    }
  }
  void add_view(const OnnxAccess& write, std::size_t op) {
    nodes_[program_.resolved(write.tensor)].views.push_back(op);
  }

  /// Adds to `out` the ops that write what is read, and the view that it is, if it is one.
  void find(const OnnxAccess& read, std::vector<std::size_t>& out) {
    std::size_t top = program_.resolved(read.tensor);
    out.insert(out.end(), nodes_[top].views.begin(), nodes_[top].views.end());
    Bytes bytes = down(top, within(top));
    // What is made as a whole has no other bytes than its own.
    for (; !nodes_[top].is_made && base(top) != kNoIndex; top = base(top)) bytes = up(top, bytes);
    Bytes above = bytes;
    for (std::size_t in = top; base(in) != kNoIndex;) {
      above = up(in, above);
      in = base(in);
      append(in, above, out);
    }
    std::vector<std::pair<std::size_t, Bytes>> open = {{top, bytes}};
    while (!open.empty()) {
      const auto [in, wanted] = open.back();
      open.pop_back();
      append(in, wanted, out);
      looked_at_ += nodes_[in].parts.size();
      for (const std::size_t part : nodes_[in].parts) {
        if (wanted.meets(within(part))) {
          open.emplace_back(part, down(part, wanted));
        }
      }
    }
  }

  /// Writes and parts, by all calls of find.
  std::size_t looked_at() const { return looked_at_; }

 private:
  struct Write {
    std::size_t op = 0;
    Bytes bytes;
  };
  struct Node {
    std::vector<Write> writes;
    std::vector<std::size_t> parts;  ///< Tensors that lie in it, and are written.
    std::vector<std::size_t> views;  ///< Ops that say what it is a view of.
    bool is_part = false;            ///< Among the parts of its base.
    bool is_made = false;            ///< Some op writes all of it.
  };

  std::size_t base(std::size_t tensor) const {
    const std::size_t of = program_.tensors[tensor].base;
    return of == kNoIndex ? of : program_.resolved(of);
  }
  /// The bytes of its base that a tensor may have.
  Bytes within(std::size_t tensor) const {
    const OnnxTensor& it = program_.tensors[tensor];
    return it.strides.empty() ? Bytes::of(it.offset, onnx_bytes(it.type)) : Bytes();
  }
  /// Bytes of a tensor as those of its base, and back.
  Bytes up(std::size_t tensor, const Bytes& bytes) const {
    const OnnxTensor& it = program_.tensors[tensor];
    return it.strides.empty() ? bytes.moved(it.offset, 1) : Bytes();
  }
  Bytes down(std::size_t tensor, const Bytes& bytes) const {
    const OnnxTensor& it = program_.tensors[tensor];
    return it.strides.empty() ? bytes.moved(it.offset, -1) : Bytes();
  }
  void append(std::size_t tensor, const Bytes& wanted, std::vector<std::size_t>& out) {
    looked_at_ += 1 + nodes_[tensor].writes.size();
    for (const Write& write : nodes_[tensor].writes) {
      if (write.bytes.meets(wanted)) out.push_back(write.op);
    }
  }

  const OnnxProgram& program_;
  std::vector<Node> nodes_;  ///< By tensor.
  std::size_t looked_at_ = 0;
};

/// Empty if there are too many. A view comes after what it looks at, and needs no waiting for.
Needs needs_of(const OnnxProgram& program) {
  WriterFinder writers(program);
  Needs needs(program.ops.size());
  for (std::size_t o = 0; o < program.ops.size(); ++o) {
    const OnnxOp& op = program.ops[o];
    std::vector<std::size_t>& out = needs[o];
    if (op.decided_by != kNoIndex) out.push_back(op.decided_by);
    for (const OnnxAccess& read : op.reads) writers.find(read, out);
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    for (const OnnxAccess& write : op.writes) {
      if (op.view) writers.add_view(write, o);
      if (!op.view) writers.add(write, o);
    }
    if (writers.looked_at() > kMostNeeds) return {};
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
    if (ticks_[o] == 0) return {.op = o, .ticks = 0};  // A view: nobody waits for it.
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
      const std::size_t on = step_of[need];
      if (on != kNoIndex && !program.ops[need].view) wanted.push_back(on);
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
