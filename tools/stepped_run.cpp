#include "tools/stepped_run.h"

#include <algorithm>

#include "tools/drawn_run.h"

namespace memverify {
namespace {

using sim::CellId;
using sim::Command;
using sim::CommandId;

constexpr std::size_t kMostRows = 16;
constexpr std::uint64_t kMostIncidences = 20'000'000;

/// The run of one finding, executed.
class Stepper {
 public:
  Stepper(const sim::Setting& setting, const sim::ByteMap& map, const Finding& finding)
      : setting_(setting),
        map_(map),
        finding_(finding),
        memory_(map),
        writing_(map.cells.size(), kNone<CommandId>) {
    for (CellId cell = 0; cell < std::min(map.cells.size(), kMostRows); ++cell) {
      result_.rows.push_back({.bytes = map.cells[cell].first, .versions = {}});
    }
  }

  SteppedRun run() {
    note(0);
    for (std::size_t k = 0; k < finding_.witness.size(); ++k) {
      const Step& step = finding_.witness[k];
      const CommandId c = setting_.program.find(step.op, step.iteration);
      if (c == kNone<CommandId>) {
        result_.problem = "the run has a step that this case of the plan has not";
        return std::move(result_);
      }
      if (step.complete) {
        memory_.finish(c);
      } else {
        read(c, k + 1);
        memory_.start(c);
        for (const sim::Effect& effect : map_.effects_of(c)) writing_[effect.cell] = c;
      }
      note(k + 1);
    }
    return std::move(result_);
  }

 private:
  void note(std::size_t step) {
    for (std::size_t cell = 0; cell < result_.rows.size(); ++cell) {
      const auto id = static_cast<CellId>(cell);
      const sim::Value value = memory_.value(id);
      VersionStep version{.step = step,
                          .base = value.base,
                          .clobbered = value.clobbered,
                          .updates = value.updates.size()};
      const CommandId author =
          value.base == sim::Value::Base::kTorn ? writing_[cell] : value.command;
      if (author != kNone<CommandId>) {
        const Command& command = setting_.program.commands[author];
        version.op = command.op;
        version.iteration = command.iteration;
      }
      if (value.base == sim::Value::Base::kInitial) version.given = map_.cells[id].initial[0].root;
      std::vector<VersionStep>& versions = result_.rows[cell].versions;
      if (versions.empty() || !same(versions.back(), version)) versions.push_back(version);
    }
  }
  static bool same(const VersionStep& a, const VersionStep& b) {
    return a.base == b.base && a.op == b.op && a.iteration == b.iteration &&
           a.updates == b.updates && a.clobbered == b.clobbered;
  }

  void read(CommandId c, std::size_t step) {
    for (const sim::Touch& touch : map_.touches_of(c)) {
      if (touch.kind != sim::TouchKind::kRead || touch.access == sim::Touch::kEverything) continue;
      for (const CellId cell : map_.footprints[touch.footprint]) {
        if (cell >= result_.rows.size()) continue;
        const sim::Expected expected = expected_value(setting_, map_, c, touch, cell);
        if (expected.base == sim::Expected::Base::kOpaque) continue;
        StepRead found{.step = step,
                       .row = cell,
                       .tensor = setting_.plan.accesses[touch.access].tensor,
                       .meets = matches(memory_.value(cell), expected),
                       .expects_nothing = expected.base == sim::Expected::Base::kNothing};
        if (expected.base == sim::Expected::Base::kCommand) {
          const Command& writer = setting_.program.commands[expected.command];
          found.expected = writer.op;
          found.expected_iteration = writer.iteration;
        }
        result_.reads.push_back(found);
      }
    }
  }

  const sim::Setting& setting_;
  const sim::ByteMap& map_;
  const Finding& finding_;
  sim::Memory memory_;
  std::vector<CommandId> writing_;  ///< By cell: who started last to write it.
  SteppedRun result_;
};

SteppedRun no_rows(std::string problem) {
  return {.rows = {}, .reads = {}, .problem = std::move(problem)};
}

}  // namespace

SteppedRun stepped_run(const Plan& plan, const Finding& finding) {
  if (finding.witness.empty() || finding.bytes.empty() || finding.pool == kNone<PoolId>) return {};
  std::int64_t last = 0;
  for (const Step& step : finding.witness) last = std::max(last, step.iteration);
  const sim::Case settled = drawn_case(plan, &finding, last + 1);
  const Result<Layout> layout = Layout::make(plan, settled.symbols);
  if (!layout.ok()) return no_rows(layout.errors().front().message);
  const Result<sim::Program> program = sim::make_program(plan, settled);
  if (!program.ok()) return no_rows(program.errors().front().message);
  const sim::Setting setting{plan, layout.value(), program.value()};
  const Result<sim::ByteMap> map =
      map_bytes(setting, sim::Window{finding.pool, finding.bytes}, kMostIncidences);
  if (!map.ok()) return no_rows(map.errors().front().message);
  return Stepper(setting, map.value(), finding).run();
}

}  // namespace memverify
