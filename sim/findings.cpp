#include "sim/findings.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "plan/describe.h"
#include "plan/words.h"
#include "sim/cases.h"
#include "sim/clash.h"
#include "sim/witness.h"

namespace memverify::sim {
namespace {

class Reporter {
 public:
  Reporter(const Searched& searched, Collector& collector)
      : searched_(searched),
        plan_(searched.material.setting.plan),
        setting_(searched.material.setting),
        program_(setting_.program),
        map_(searched.material.map),
        lifetimes_(searched.material.lifetimes),
        reads_(searched.material.reads),
        settled_(searched.settled),
        model_(searched.model),
        versions_(searched.versions),
        search_(searched.search),
        collector_(collector) {}

  void report() {
    std::vector<const Hit*> hits;
    for (const Hit& hit : search_.hits) hits.push_back(&hit);
    std::ranges::sort(hits, {}, [&](const Hit* hit) {
      const Suspect& suspect = model_.suspects[hit->suspect];
      return std::tuple(suspect.kind, suspect.first, suspect.second, suspect.index);
    });
    for (const Hit* hit : hits) report_hit(*hit);
    for (const Deadlock& deadlock : search_.deadlocks) report_deadlock(deadlock);
    report_values();
    if (search_.reaches_end) report_end();
  }

 private:
  Finding start(Rule rule) const {
    Finding finding;
    finding.rule = rule;
    finding.when = conditions_of(plan_, settled_);
    finding.symbols = symbols_of(plan_, settled_);
    return finding;
  }

  void name_command(Finding& finding, CommandId c) const {
    finding.ops.push_back(program_.commands[c].op);
    finding.iteration.push_back(program_.commands[c].iteration);
  }
  void name_tensor(Finding& finding, TensorId tensor) const {
    finding.tensors.push_back(tensor);
    finding.storages.push_back(tensor == kNone<TensorId> ? kNone<StorageId>
                                                         : plan_.tensors[tensor].storage);
    if (finding.alias_chain.empty() && tensor != kNone<TensorId>) {
      finding.alias_chain = alias_chain(plan_, tensor);
    }
  }
  void name_cell(Finding& finding, CellId cell) const {
    finding.pool = map_.cells[cell].pool;
    finding.bytes = map_.cells[cell].first;
  }

  void add(Finding finding) {
    describe(plan_, finding);
    collector_.add(std::move(finding));
  }

  /// The run that `hit` ends; as short as can be.
  std::vector<Step> witness_of(const Hit& hit) const {
    Check keep;
    const auto finds_check = [&](const State& state) {
      return std::ranges::any_of(model_.checks_of(hit.step), [&](const Check& check) {
        if (check.suspect != hit.suspect || !fires(check, state)) return false;
        keep = check;
        return true;
      });
    };
    std::vector<StepId> run;
    if (model_.consumes) {
      run = hit.run.empty() ? run_to(model_, hit.state, nullptr, {}) : hit.run;
      run = shortened(model_, nullptr, std::move(run), [&](const State& state, const auto&) {
        return is_next(state, hit.step) && finds_check(state);
      });
      run.push_back(hit.step);
    } else {
      finds_check(hit.state);
      run = minimal_run(model_, hit.state, hit.step, keep).value_or(run);
    }
    return to_steps(program_, model_, run);
  }

  bool is_next(const State& state, StepId step) const {
    return state[model_.chain_of_step[step]] == model_.digit_of_step(step) &&
           is_enabled(model_, state, step);
  }

  void report_hit(const Hit& hit) {
    const Suspect& suspect = model_.suspects[hit.suspect];
    std::optional<Finding> finding;
    switch (suspect.kind) {
      case Suspect::Kind::kRace:
        finding = race(suspect);
        break;
      case Suspect::Kind::kLifetime:
        finding = lifetime(lifetimes_.checks[suspect.index]);
        break;
      case Suspect::Kind::kUnwritten: {
        const Demand& demand = reads_.during[suspect.index];
        finding = start(Rule::kUnwritten);
        name_command(*finding, suspect.first);
        name_tensor(*finding, demand.tensor);
        name_cell(*finding, demand.cell);
        break;
      }
      case Suspect::Kind::kNotProven:
        add_not_proven(suspect.first);
        return;
    }
    if (!finding) return;
    if (!collector_.wants(*finding)) return collector_.add(std::move(*finding));
    finding->witness = witness_of(hit);
    add(std::move(*finding));
  }

  std::optional<Finding> race(const Suspect& suspect) const {
    const std::vector<Clash> clashes = find_clashes(setting_, suspect.first, suspect.second);
    if (clashes.empty()) return std::nullopt;
    const Clash& clash = clashes.front();
    Finding finding = start(clash.rule);
    for (const Clash& other : clashes) {
      if (other.rule != clash.rule && std::ranges::count(finding.also, other.rule) == 0) {
        finding.also.push_back(other.rule);
      }
    }
    name_command(finding, suspect.first);
    name_command(finding, suspect.second);
    name_tensor(finding, clash.first_tensor);
    name_tensor(finding, clash.second_tensor);
    finding.pool = clash.first.pool();
    finding.bytes = clash.bytes;
    return finding;
  }

  Finding lifetime(const LifetimeCheck& check) const {
    Finding finding = start(Rule::kLifetime);
    std::vector<CommandId> pair{check.at};
    if (check.blame != kNone<CommandId>) pair.push_back(check.blame);
    std::ranges::sort(pair);
    for (CommandId c : pair) {
      name_command(finding, c);
      if (check.tensor != kNone<TensorId>) name_tensor(finding, check.tensor);
    }
    finding.storages.assign(1, check.storage);
    name_slot(finding, check.storage, check.instance, accessed(check, pair));
    return finding;
  }

  /// What one of the commands accesses of the tensor.
  Region accessed(const LifetimeCheck& check, std::span<const CommandId> pair) const {
    if (check.tensor == kNone<TensorId>) return {};
    for (CommandId c : pair) {
      for (const Access& access : plan_.accesses_of(plan_.ops[program_.commands[c].op])) {
        if (access.tensor != check.tensor) continue;
        Region region = setting_.layout.access_region(plan_, access, check.instance);
        if (!region.empty()) return region;
      }
    }
    return {};
  }

  /// The first bytes of the region, or the whole slot if it is empty.
  void name_slot(Finding& finding, StorageId storage, std::int64_t instance,
                 const Region& region) const {
    finding.pool = setting_.layout.storage(storage).pool;
    const std::int64_t at = setting_.layout.slot_address(storage, instance);
    finding.bytes = {at, at + setting_.layout.storage(storage).bytes};
    if (!region.empty()) finding.bytes = region.first_overlap(region);
  }

  void add_not_proven(CommandId unknown) {
    Finding finding = start(Rule::kNotProven);
    name_command(finding, unknown);
    for (const Access& access : plan_.accesses_of(plan_.ops[program_.commands[unknown].op])) {
      if (access.tensor == kNone<TensorId>) continue;
      name_tensor(finding, access.tensor);
      break;
    }
    if (collector_.wants(finding)) add(std::move(finding));
  }

  /// The unknown commands because of which `demand` is open.
  void add_unknowns(const Demand& demand) {
    for (CommandId unknown : map_.cells[demand.cell].unknowns) add_not_proven(unknown);
  }

  void report_deadlock(const Deadlock& deadlock) {
    Finding finding = start(Rule::kDeadlock);
    name_command(finding, deadlock.blocked);
    if (!collector_.wants(finding)) return;
    finding.queue = plan_.ops[program_.commands[deadlock.blocked].op].queue;
    const ChainId chain = model_.chain_of_step[model_.start_of[deadlock.blocked]];
    const StepId step = model_.first_step[chain] + deadlock.state[chain];
    for (const CountNeed& need : model_.counts_of(step)) {
      if (count_of(model_, deadlock.state, need.semaphore) < need.value) {
        finding.semaphore = SemaphoreId{need.semaphore};
      }
    }
    const std::vector<StepId> run =
        deadlock.run.empty() ? run_to(model_, deadlock.state, nullptr, {}) : deadlock.run;
    finding.witness = to_steps(program_, model_, run);
    add(std::move(finding));
  }

  void report_values() {
    std::vector<std::pair<CommandId, CommandId>> races;
    for (const Hit& hit : search_.hits) {
      const Suspect& suspect = model_.suspects[hit.suspect];
      if (suspect.kind == Suspect::Kind::kRace) races.emplace_back(suspect.first, suspect.second);
    }
    const std::vector<std::uint8_t> racy = racy_cells(map_, races);
    std::vector<WrongHit> wrong;
    if (versions_ != nullptr) {
      for (const WrongHit& hit : search_.wrong) {
        if (racy[hit.wrong.demand->cell] == 0) wrong.push_back(hit);
      }
    } else {
      for (const WrongValue& value : wrong_values_of_any_run(setting_, map_, reads_, racy)) {
        wrong.push_back({.wrong = value, .state = {}, .step = 0, .versions = {}});
      }
    }
    std::ranges::stable_sort(wrong, {}, [](const WrongHit& hit) {
      const Demand& demand = *hit.wrong.demand;
      return std::tuple(demand.reader, hit.wrong.found, demand.cell, demand.tensor);
    });
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      report_wrong(wrong[i], joined_bytes(std::span(wrong).subspan(i)));
    }
  }

  /// From the cell of the first one on, what follows without a gap in the same way ([S-54]). Cells
  /// of a pool are in the order of their bytes.
  ByteRange joined_bytes(std::span<const WrongHit> hits) const {
    const Demand& first = *hits.front().wrong.demand;
    ByteRange bytes = map_.cells[first.cell].first;
    for (const WrongHit& hit : hits) {
      const Demand& demand = *hit.wrong.demand;
      if (demand.reader != first.reader || hit.wrong.found != hits.front().wrong.found) break;
      const Cell& cell = map_.cells[demand.cell];
      const bool follows =
          cell.pool == map_.cells[first.cell].pool && cell.first.begin == bytes.end;
      if (follows && demand.tensor == first.tensor) bytes.end = cell.first.end;
    }
    return bytes;
  }

  void report_wrong(const WrongHit& hit, ByteRange bytes) {
    const Demand& demand = *hit.wrong.demand;
    const bool at_end = demand.reader == kNone<CommandId>;
    if (demand.is_open) return add_unknowns(demand);
    Finding finding = start(at_end ? Rule::kBoundary : Rule::kWrongVersion);
    std::vector<CommandId> pair;
    if (!at_end) pair.push_back(demand.reader);
    if (hit.wrong.found != kNone<CommandId>) pair.push_back(hit.wrong.found);
    std::ranges::sort(pair);
    if (at_end) name_tensor(finding, demand.tensor);
    for (CommandId c : pair) {
      name_command(finding, c);
      if (c == demand.reader) {
        name_tensor(finding, demand.tensor);
      } else if (const TensorId tensor = written_by(c, demand.cell); !at_end) {
        name_tensor(finding, tensor);
      }
    }
    if (!collector_.wants(finding)) return;
    name_cell(finding, demand.cell);
    finding.bytes = bytes;
    if (demand.expected.base == Expected::Base::kCommand) {
      finding.expected = program_.commands[demand.expected.command].op;
      finding.expected_iteration = program_.commands[demand.expected.command].iteration;
    } else {
      finding.expected_initial = true;
    }
    finding.witness = to_steps(program_, model_, run_to_wrong(hit));
    add(std::move(finding));
  }

  /// The tensor through which `c` leaves bytes in the cell.
  TensorId written_by(CommandId c, CellId cell) const {
    for (const Touch& touch : map_.touches_of(c)) {
      if (touch.kind == TouchKind::kRead || touch.access == Touch::kEverything) continue;
      if (std::ranges::binary_search(map_.footprints[touch.footprint], cell)) {
        return plan_.accesses[touch.access].tensor;
      }
    }
    return kNone<TensorId>;
  }

  std::vector<StepId> run_to_wrong(const WrongHit& hit) const {
    const Demand& demand = *hit.wrong.demand;
    const bool at_end = demand.reader == kNone<CommandId>;
    if (versions_ != nullptr && (model_.consumes || !hit.run.empty())) {
      std::vector<StepId> run =
          hit.run.empty() ? run_to(model_, hit.state, versions_, hit.versions) : hit.run;
      if (at_end) return run;
      const auto shows = [&](const State& state, std::span<const std::uint64_t> words) {
        return is_next(state, hit.step) &&
               std::ranges::any_of(versions_->checks_of(hit.step), [&](const VersionCheck& check) {
                 return check.demand == &demand && wrong_author(searched_.material, *versions_,
                                                                check, words) == hit.wrong.found;
               });
      };
      run = shortened(model_, versions_, std::move(run), shows);
      run.push_back(hit.step);
      return run;
    }
    if (at_end) return run_to(model_, model_.last, nullptr, {});
    return minimal_run(model_, model_.last, model_.start_of[demand.reader], Check{})
        .value_or(std::vector<StepId>());
  }

  /// What is wrong once everything has completed, whatever the order.
  void report_end() {
    std::optional<std::vector<Step>> whole;
    const auto whole_run = [&] {
      if (!whole) whole = to_steps(program_, model_, run_to(model_, model_.last, nullptr, {}));
      return *whole;
    };
    for (const Demand& demand : reads_.at_end) {
      if (demand.is_open) add_unknowns(demand);
      if (demand.is_open || demand.expected.base != Expected::Base::kNothing) continue;
      Finding finding = start(Rule::kUnwritten);
      name_tensor(finding, demand.tensor);
      name_cell(finding, demand.cell);
      if (!collector_.wants(finding)) continue;
      finding.witness = whole_run();
      add(std::move(finding));
    }
    for (const DeadAtEnd& dead : lifetimes_.dead_at_end) {
      Finding finding = start(Rule::kLifetime);
      if (dead.blame != kNone<CommandId>) name_command(finding, dead.blame);
      name_tensor(finding, dead.tensor);
      name_slot(finding, plan_.tensors[dead.tensor].storage, dead.instance,
                setting_.layout.tensor_region(plan_, dead.tensor, dead.instance));
      if (!collector_.wants(finding)) continue;
      finding.witness = whole_run();
      add(std::move(finding));
    }
  }

  const Searched& searched_;
  const Plan& plan_;
  const Setting& setting_;
  const Program& program_;
  const ByteMap& map_;
  const Lifetimes& lifetimes_;
  const Reads& reads_;
  const Case& settled_;
  const Model& model_;
  const VersionModel* versions_;
  const Search& search_;
  Collector& collector_;
};

}  // namespace

void report(const Searched& searched, Collector& collector) {
  Reporter(searched, collector).report();
}

}  // namespace memverify::sim
