#include "verify/storage_view.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "plan/words.h"
#include "verify/cases.h"
#include "verify/footprint.h"
#include "verify/order.h"
#include "verify/schedule.h"
#include "verify/storage_causes.h"
#include "verify/storage_next.h"
#include "verify/walk.h"

namespace memverify {
namespace {

constexpr std::size_t kMostViewRuns = std::size_t{1} << 22;
constexpr std::uint32_t kMostViewIterations = 16;
constexpr std::size_t kMostDetailed = 200;     ///< Storages of a peak whose next uses are found.
constexpr std::size_t kMostExactPeaks = 2000;  ///< Storages of which each tick is looked at.

/// All conditions true, in every iteration.
ConditionCase all_true(const Plan& plan, std::uint32_t iterations) {
  ConditionCase result(plan, iterations);
  for (const ConditionId id : ids(plan.conditions)) {
    for (std::uint32_t i = 0; i < iterations; ++i) result.set(id, i, true);
  }
  return result;
}

/// The greatest value of each symbol that a formula uses; the least of one without a bound.
Valuation greatest_values(const Plan& plan) {
  Valuation values;
  for (const Symbol& symbol : plan.symbols) {
    const std::int64_t least = least_value(symbol);
    const bool is_bounded = symbol.max && *symbol.max > least;
    values.symbols.push_back(!is_bounded ? least
                                         : least + (*symbol.max - least) / symbol.multiple_of *
                                                       symbol.multiple_of);
  }
  return values;
}

std::int64_t united(std::vector<ByteRange> ranges) {
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  std::int64_t sum = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const ByteRange& range : ranges) {
    const std::int64_t begin = std::max(range.begin, end);
    if (begin < range.end) sum += range.end - begin;
    end = std::max(end, range.end);
  }
  return sum;
}

}  // namespace

struct PlanViews::Case {
  Plan plan;
  std::optional<Layout> layout;
  std::vector<ConditionValue> when;
  std::vector<SymbolValue> symbols;
  Program program;
  Walk walked;
  std::optional<Order> order;
  std::optional<Footprints> footprints;
  std::optional<NextUses> next_uses;
  Schedule times;
  Table<StorageId, std::vector<std::uint32_t>> accesses_of;  ///< But for those of the end.

  void index_accesses() {
    accesses_of.resize(plan.storages.size());
    for (const AccessInstance& access : footprints->accesses()) {
      if (access.cmd == kEndOfRun || access.tensor == kNone<TensorId>) continue;
      accesses_of[plan.tensors[access.tensor].storage].push_back(footprints->index_of(access));
    }
  }

  bool belongs(const AccessInstance& access, StorageId storage, std::int64_t iteration) const {
    return access.tensor != kNone<TensorId> && plan.tensors[access.tensor].storage == storage &&
           (access.instance == iteration || footprints->is_one_instance(access.tensor));
  }

  ByteRange hull(const AccessInstance& access, std::int64_t& touched) const {
    const std::span<const Run> runs = footprints->runs(access);
    touched = 0;
    if (runs.empty()) return {};
    for (const Run& run : runs) {
      touched += footprints->address(run.end) - footprints->address(run.begin);
    }
    return {footprints->address(runs.front().begin), footprints->address(runs.back().end)};
  }

  UseView use_of(const AccessInstance& access) const {
    const Instance& instance = program.instances[access.cmd];
    UseView use{.op = instance.op,
                .iteration = instance.iteration,
                .kind = access.kind,
                .tensor = access.tensor,
                .start = times.start[access.cmd],
                .complete = times.complete[access.cmd],
                .starts = walked.started[access.cmd] != 0,
                .completes = walked.completed[access.cmd] != 0};
    use.bytes = hull(access, use.touched);
    return use;
  }

  void add_aliases(StorageView& view) const {
    for (const TensorId id : ids(plan.tensors)) {
      if (plan.tensors[id].storage != view.storage) continue;
      const Region region = layout->tensor_region(plan, id, view.iteration);
      view.aliases.push_back({.tensor = id,
                              .depth = views_over_root(plan, id),
                              .bytes = region.empty() ? ByteRange{} : region.hull()});
      for (std::uint32_t k = 0; k < view.uses.size(); ++k) {
        if (view.uses[k].tensor == id) view.aliases.back().uses.push_back(k);
      }
    }
    std::ranges::stable_sort(view.aliases, {}, [&](const AliasView& alias) {
      return index(plan.tensors[alias.tensor].root);
    });
  }

  void find_times(StorageView& view) const {
    for (const AliasView& alias : view.aliases) {
      view.from_start = view.from_start || footprints->has_initial(alias.tensor);
    }
    for (const AccessInstance& end : footprints->at_end()) {
      view.to_end = view.to_end || belongs(end, view.storage, view.iteration);
    }
    bool is_first = true;
    for (const UseView& use : view.uses) {
      if (!use.starts) continue;
      view.held_from = is_first ? use.start : std::min(view.held_from, use.start);
      view.held_until = std::max(view.held_until, use.completes ? use.complete : times.makespan);
      is_first = false;
    }
    if (view.from_start) view.held_from = 0;
    if (view.to_end) view.held_until = times.makespan;
  }

  StorageView view(StorageId storage, std::int64_t iteration, bool with_next) const {
    StorageView view{
        .storage = storage, .iteration = iteration, .pool = plan.storages[storage].pool};
    const std::int64_t at = layout->slot_address(storage, iteration);
    view.bytes = {at, at + layout->storage(storage).bytes};
    for (const std::uint32_t number : accesses_of[storage]) {
      const AccessInstance& access = footprints->accesses()[number];
      if (!belongs(access, storage, iteration)) continue;
      view.uses.push_back(use_of(access));
      if (with_next && view.uses.back().starts)
        view.uses.back().next = next_uses->of(access, storage);
    }
    add_aliases(view);
    find_blocker(plan, view);
    find_times(view);
    return view;
  }

  /// Storages of which the op clobbers bytes in an iteration, by bytes of a pool.
  std::vector<StorageId> lying_in(OpId op, std::int64_t iteration) const {
    std::vector<StorageId> found;
    const Cmd cmd = program.find(op, static_cast<std::uint32_t>(iteration));
    if (cmd == kNoCmd) return found;
    for (const AccessInstance& access : footprints->of(cmd)) {
      if (access.tensor != kNone<TensorId>) continue;
      std::int64_t touched = 0;
      const ByteRange bytes = hull(access, touched);
      for (const StorageId id : ids(plan.storages)) {
        const std::int64_t at = layout->slot_address(id, iteration);
        const bool lies_there = plan.storages[id].pool == footprints->pool(access) &&
                                at < bytes.end && bytes.begin < at + layout->storage(id).bytes;
        if (lies_there) found.push_back(id);
      }
    }
    return found;
  }

  /// When each storage of the pool is held, by slot of an iteration.
  struct Hold {
    StorageId storage = kNone<StorageId>;
    std::int64_t iteration = 0;
    ByteRange bytes;
    std::int64_t from = 0, until = 0;
  };
  std::vector<Hold> holds(PoolId pool) const {
    std::map<std::pair<StorageId, std::int64_t>, Hold> found;
    const auto note = [&](const AccessInstance& access, std::int64_t from, std::int64_t until) {
      if (access.tensor == kNone<TensorId>) return;
      const StorageId storage = plan.tensors[access.tensor].storage;
      if (plan.storages[storage].pool != pool || footprints->runs(access).empty()) return;
      if (footprints->has_initial(access.tensor) && access.instance == 0) from = 0;
      const auto [at, is_new] = found.try_emplace({storage, access.instance});
      Hold& hold = at->second;
      if (is_new) {
        const std::int64_t begin = layout->slot_address(storage, access.instance);
        hold = {
            storage, access.instance, {begin, begin + layout->storage(storage).bytes}, from, until};
      }
      hold.from = std::min(hold.from, from);
      hold.until = std::max(hold.until, until);
    };
    for (const AccessInstance& access : footprints->accesses()) {
      if (access.cmd == kEndOfRun) {
        note(access, times.makespan, times.makespan + 1);
      } else if (walked.started[access.cmd] != 0) {
        const std::int64_t start = times.start[access.cmd];
        note(access, start, std::max(times.complete[access.cmd], start + 1));
      }
    }
    std::vector<Hold> result;
    for (const auto& [key, hold] : found) result.push_back(hold);
    return result;
  }
};

PlanViews::PlanViews(std::unique_ptr<Case> state) : case_(std::move(state)) {}
PlanViews::PlanViews(PlanViews&&) noexcept = default;
PlanViews& PlanViews::operator=(PlanViews&&) noexcept = default;
PlanViews::~PlanViews() = default;

Result<PlanViews> PlanViews::make(const Plan& plan) {
  Result<PlanViews> greatest = make_for(plan, greatest_values(plan));
  if (greatest.ok() || plan.symbols.empty()) return greatest;
  Result<PlanViews> least = make_for(plan, SymbolCases(plan).corners().front());
  return least.ok() ? std::move(least) : std::move(greatest);
}

Result<PlanViews> PlanViews::make_for(const Plan& plan, const Valuation& values) {
  auto state = std::make_unique<Case>();
  state->plan = plan;
  const SymbolCases symbols(state->plan);
  Result<Layout> layout = Layout::make(state->plan, values);
  if (!layout.ok()) return layout.errors();
  state->layout = std::move(layout).value();
  const std::uint32_t most = sample_iterations(state->plan, kMostViewIterations);
  const std::uint32_t iterations =
      state->plan.iterations
          ? static_cast<std::uint32_t>(std::min<std::int64_t>(*state->plan.iterations, most))
          : most;
  const ConditionCase conditions = all_true(state->plan, iterations);
  state->when = ConditionCases(state->plan, iterations).values(conditions);
  state->symbols = symbols.values(values);
  state->program = make_program(state->plan, *state->layout, conditions, iterations);
  state->walked = walk(state->program);
  state->order.emplace(state->program, state->walked);
  if (!state->program.contended.empty() || !state->order->is_known()) {
    return Diagnostic{
        .id = "view.order",
        .message = state->program.contended.empty()
                       ? "too many commands signal what others count to say who waits for whom"
                       : "several queues take from semaphore " +
                             quoted(plan.semaphores[state->program.contended.front()].name) +
                             ", so that who waits for whom is a choice of the run"};
  }
  state->footprints = Footprints::make(state->program, kMostViewRuns);
  if (!state->footprints) {
    return Diagnostic{.id = "view.runs",
                      .message = "the strided tensors have too many pieces to look at each"};
  }
  state->index_accesses();
  state->next_uses.emplace(state->program, state->walked, *state->order, *state->footprints);
  state->times = schedule(state->program, state->walked);
  return PlanViews(std::move(state));
}

const Plan& PlanViews::plan() const { return case_->plan; }
std::uint32_t PlanViews::iterations() const { return case_->program.iterations; }
std::int64_t PlanViews::makespan() const { return case_->times.makespan; }
bool PlanViews::all_complete() const { return case_->walked.all_completed; }
const std::vector<ConditionValue>& PlanViews::when() const { return case_->when; }
const std::vector<SymbolValue>& PlanViews::symbols() const { return case_->symbols; }

StorageView PlanViews::of(StorageId storage, std::int64_t iteration) const {
  return case_->view(storage, iteration, true);
}

std::vector<StorageView> PlanViews::of_op(OpId op, std::int64_t iteration) const {
  std::vector<StorageView> views;
  std::set<std::pair<StorageId, std::int64_t>> seen;
  const auto add = [&](StorageId storage, std::int64_t instance) {
    if (!seen.emplace(storage, instance).second) return;
    views.push_back(case_->view(storage, instance, true));
  };
  const Op& what = case_->plan.ops[op];
  if (what.storage != kNone<StorageId>) add(what.storage, iteration);
  for (const Access& access : case_->plan.accesses_of(what)) {
    if (access.tensor == kNone<TensorId>) {
      for (const StorageId id : case_->lying_in(op, iteration)) add(id, iteration);
      continue;
    }
    add(case_->plan.tensors[access.tensor].storage, iteration - std::int64_t{access.distance});
  }
  return views;
}

PlanViews::Peak PlanViews::peak(PoolId pool) const {
  const std::vector<Case::Hold> holds = case_->holds(pool);
  Peak result;
  for (const StorageId id : ids(case_->plan.storages)) {
    const Storage& storage = case_->plan.storages[id];
    if (storage.pool != pool) continue;
    for (std::uint32_t slot = 0; slot < storage.slots.size(); ++slot) {
      result.highest = std::max(
          result.highest, case_->layout->slot_address(id, slot) + case_->layout->storage(id).bytes);
    }
  }
  const auto held_at = [&](std::int64_t tick) {
    std::vector<ByteRange> ranges;
    for (const Case::Hold& hold : holds) {
      if (hold.from <= tick && tick < hold.until) ranges.push_back(hold.bytes);
    }
    return united(std::move(ranges));
  };
  if (holds.size() <= kMostExactPeaks) {
    for (const Case::Hold& hold : holds) {  // Most are held when one more has just begun to be.
      const std::int64_t held = held_at(hold.from);
      if (held <= result.held) continue;
      result.held = held;
      result.tick = hold.from;
    }
  } else {
    std::map<std::int64_t, std::int64_t> change;
    for (const Case::Hold& hold : holds) {
      change[hold.from] += hold.bytes.end - hold.bytes.begin;
      change[hold.until] -= hold.bytes.end - hold.bytes.begin;
    }
    std::int64_t sum = 0;
    std::int64_t most = 0;
    for (const auto& [tick, by] : change) {
      sum += by;
      if (sum > most) result.tick = tick;
      most = std::max(most, sum);
    }
    result.held = held_at(result.tick);
  }
  for (const Case::Hold& hold : holds) {
    if (hold.from > result.tick || result.tick >= hold.until) continue;
    result.storages.push_back(case_->view(hold.storage, hold.iteration, false));
  }
  std::ranges::stable_sort(result.storages, std::greater(), [](const StorageView& view) {
    return view.bytes.end - view.bytes.begin;
  });
  for (std::size_t k = 0; k < std::min(result.storages.size(), kMostDetailed); ++k) {
    StorageView& view = result.storages[k];
    view = case_->view(view.storage, view.iteration, true);
  }
  return result;
}

}  // namespace memverify
