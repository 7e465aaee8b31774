#include "tests/bench/plan_generator.h"

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

#include "tests/bench/generated_program.h"

namespace memverify::bench {
namespace {

class Generator {
 public:
  explicit Generator(const GeneratorOptions& options)
      : program_{.options = options}, options_(options), random_(options.seed) {}

  Program run() && {
    program_.length.resize(at(options_.queues));
    program_.counts.resize(at(options_.queues));
    known_.resize(at(options_.queues * options_.queues));
    in_slot_.resize(at(options_.slots), kNone);
    for (Id i = 0; i < kInputs; ++i)
      values().push_back({.slot = options_.slots + i, .input = true});
    while (static_cast<Id>(commands().size()) < options_.ops) {
      add_step();
      if (percent(options_.conflicts)) add_conflict();
    }
    for (Command& command : commands()) {
      if (command.counts) command.count = ++program_.counts[at(command.queue)];
    }
    return std::move(program_);
  }

 private:
  static constexpr Id kNone = -1;
  static constexpr Id kRecent = 48;  ///< How far back an op reads, in values.

  std::vector<Command>& commands() { return program_.commands; }
  std::vector<Value>& values() { return program_.values; }

  Id pick(Id bound) { return static_cast<Id>(random_() % static_cast<std::uint64_t>(bound)); }
  bool percent(int chance) { return pick(100) < chance; }
  bool is_serial(Id queue) const { return order_of(options_, queue) == "serial"; }

  Sync pick_sync(Id queue_of_source) {
    Sync sync = Sync::kEvent;
    if (options_.sync == "after") sync = Sync::kAfter;
    if (options_.sync == "records") sync = Sync::kRecord;
    if (options_.sync == "timeline") sync = Sync::kTimeline;
    if (options_.sync == "counting") sync = Sync::kCounting;
    if (options_.sync == "mixed") sync = static_cast<Sync>(pick(5));
    const bool semaphore = sync == Sync::kTimeline || sync == Sync::kCounting;
    // What a semaphore has reached tells which op has completed only if they complete in order.
    return semaphore && !is_serial(queue_of_source) ? Sync::kEvent : sync;
  }

  /// So many commands of `source` complete before anything that `waiter` gets from now on starts.
  std::int64_t& known(Id waiter, Id source) {
    return known_[at(waiter * options_.queues + source)];
  }

  Id submit(Command command) {
    command.position = program_.length[at(command.queue)]++;
    commands().push_back(std::move(command));
    return static_cast<Id>(commands().size()) - 1;
  }

  void add_edge(Command& command, Id source) {
    const Id from = commands()[at(source)].queue;
    const std::int64_t position = commands()[at(source)].position;
    if (from == command.queue && is_serial(from)) return;
    if (known(command.queue, from) > position) return;
    const Sync sync = pick_sync(from);
    if (sync == Sync::kRecord) {
      // Record and wait hold on queues of any order, for all that came before.
      const Id record = submit({.kind = Command::Kind::kRecord, .queue = from});
      known(command.queue, from) = program_.length[at(from)];
      submit({.kind = Command::Kind::kWait, .queue = command.queue, .value = record});
      return;
    }
    Command& signaller = commands()[at(source)];
    signaller.signals_event |= sync == Sync::kEvent;
    signaller.signals_timeline |= sync == Sync::kTimeline;
    signaller.counts |= sync == Sync::kCounting;
    if (is_serial(from) && is_serial(command.queue)) known(command.queue, from) = position + 1;
    command.edges.push_back({sync, source});
  }

  Id pick_value() {
    if (current_.empty() || percent(10)) return pick(kInputs);
    while (true) {  // Ends: the latest value is alive.
      const Id behind =
          pick(std::min<Id>({kRecent, options_.slots / 2, static_cast<Id>(current_.size())}));
      const Id value = current_[current_.size() - 1 - at(behind)];
      if (values()[at(value)].alive) return value;
    }
  }

  /// The next slot of the ring that `op` does not read.
  Id next_slot(const Command& op) {
    while (true) {
      const Id slot = cursor_++ % options_.slots;
      const auto is_here = [&](const Read& read) { return values()[at(read.value)].slot == slot; };
      if (std::ranges::none_of(op.reads, is_here)) return slot;
    }
  }

  /// One op that makes a new value, or the two that make a strided one.
  void add_step() {
    Command op;
    std::vector<Id> sources;
    for (Id reads = 1 + pick(options_.reads); reads > 0; --reads) {
      const Id id = pick_value();
      if (std::ranges::count(op.reads, id, &Read::value) > 0) continue;
      Value& value = values()[at(id)];
      const bool view = percent(options_.views);
      value.has_view |= view;
      op.reads.push_back({id, view});
      sources.insert(sources.end(), value.accessors.begin(),
                     value.accessors.begin() + static_cast<std::ptrdiff_t>(value.writers()));
    }
    const Value& first = values()[at(op.reads[0].value)];
    // Two of three ops stay on the queue of what they read.
    op.queue = first.input || percent(33) ? pick(options_.queues)
                                          : commands()[at(first.accessors[0])].queue;
    op.in_place = percent(options_.in_place) && !first.input && !first.strided && !op.reads[0].view;
    const bool strided = !op.in_place && percent(options_.strided);
    const Id slot = op.in_place ? first.slot : next_slot(op);
    if (const Id old = in_slot_[at(slot)]; old != kNone) {
      Value& value = values()[at(old)];
      sources.insert(sources.end(), value.accessors.begin(), value.accessors.end());
      value.alive = false;
    }
    std::ranges::sort(sources);
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());

    op.value = static_cast<Id>(values().size());
    values().push_back({.slot = slot, .strided = strided});
    in_slot_[at(slot)] = op.value;
    current_.push_back(op.value);
    if (strided) {
      Command right = op;
      op.half = 'l';
      right.half = 'r';
      right.queue = (op.queue + 1) % options_.queues;
      add_op(std::move(op), sources);
      add_op(std::move(right), sources);
    } else {
      add_op(std::move(op), sources);
    }
  }

  void add_op(Command op, const std::vector<Id>& sources) {
    for (const Id source : sources) add_edge(op, source);
    const Id id = submit(std::move(op));
    const Command& added = commands()[at(id)];
    values()[at(added.value)].accessors.push_back(id);
    for (const Read& read : added.reads) {
      Value& value = values()[at(read.value)];
      if (!value.input) value.accessors.push_back(id);
    }
  }

  void add_conflict() {
    const Id queue = pick(options_.queues);
    const Id other = (queue + 1) % options_.queues;
    submit({.kind = Command::Kind::kConflict, .queue = queue, .value = program_.races});
    submit({.kind = Command::Kind::kConflict, .queue = other, .value = program_.races});
    ++program_.races;
  }

  Program program_;
  const GeneratorOptions& options_;
  std::mt19937_64 random_;
  std::vector<Id> current_;  // Values in the order they were made.
  std::vector<Id> in_slot_;
  std::vector<std::int64_t> known_;  // [waiter][source]
  Id cursor_ = 0;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::string problem_with(const GeneratorOptions& options) {
  if (!is_one_of(options.order, {"serial", "issue", "none", "mixed"})) return "unknown order";
  if (!is_one_of(options.sync, {"events", "after", "records", "timeline", "counting", "mixed"})) {
    return "unknown sync";
  }
  if (options.ops < 1 || options.queues < 1 || options.iterations < 1 || options.reads < 1) {
    return "ops, queues, iterations and reads are at least 1";
  }
  if (options.slots < 8 || options.reads > 6) return "at least 8 slots, at most 6 reads";
  if (options.conflicts > 0 && options.queues < 2) return "conflicts need two queues";
  if (!options.placed && options.conflicts > 0) return "conflicts are of placed tensors";
  return "";
}

GeneratedPlan generate_plan(const GeneratorOptions& options) {
  assert(problem_with(options).empty());
  const Program program = Generator(options).run();
  GeneratedPlan plan;
  plan.ops = static_cast<std::int64_t>(program.commands.size()) + (options.iterations > 1 ? 1 : 0);
  plan.races = program.races;
  plan.json = plan_text(program);
  return plan;
}

}  // namespace memverify::bench
