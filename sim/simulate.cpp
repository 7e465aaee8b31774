#include "sim/simulate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "plan/describe.h"
#include "plan/faults.h"
#include "sim/cases.h"
#include "sim/findings.h"
#include "sim/search.h"

namespace memverify {
namespace sim {
namespace {

constexpr std::uint64_t kMaxIncidences = 50'000'000;  ///< Of cells and accesses, needs, checks.
constexpr std::uint64_t kMaxGridBytes = std::uint64_t{1} << 26;

std::string limit_words(const std::string& limit, const SimStats& stats) {
  return "The search ended at its limit of " + limit + " after " + std::to_string(stats.states) +
         " states and " + std::to_string(stats.cases) + " finished cases.";
}

class Simulation {
 public:
  Simulation(const Plan& plan, const SimOptions& options, SimStats& stats)
      : plan_(plan),
        options_(options),
        stats_(stats),
        cases_(plan, options),
        collector_(options.max_findings) {
    budget_.states = options.max_states;
    budget_.bytes = options.max_bytes;
    if (options.max_seconds > 0) {
      budget_.deadline = std::chrono::steady_clock::now() +
                         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                             std::chrono::duration<double>(options.max_seconds));
    }
  }

  EngineResult run() {
    stats_ = {};
    for (std::uint64_t v = 0; v < cases_.valuations() && stats_.stopped.empty(); ++v) {
      run_valuation(v);
    }
    if (!cases_.left_out().empty()) {
      not_proven("Not every case was looked at: " + cases_.left_out() + ".",
                 "give bounds, or values for symbols and conditions");
    }
    if (!stats_.stopped.empty()) {
      not_proven(limit_words(stats_.stopped, stats_), "raise the limit, or take a reduction");
    }
    stats_.exhaustive = complete_ && stats_.stopped.empty() && cases_.left_out().empty();
    warn_of_unbound();
    EngineResult result;
    result.findings = collector_.take();
    result.stopped_at_max_findings = collector_.stopped();
    result.verdict = verdict_of(result.findings);
    result.stats = {.ops = stats_.commands, .pairs_checked = stats_.pairs};
    return result;
  }

 private:
  void not_proven(std::string message, std::string help) {
    complete_ = false;
    Finding finding;
    finding.rule = Rule::kNotProven;
    finding.message = std::move(message);
    finding.help = std::move(help);
    collector_.add(std::move(finding));
  }

  void cannot(const std::vector<Diagnostic>& errors) {
    not_proven("The plan cannot be searched: " + errors.front().message + ".", "make it smaller");
  }

  void run_valuation(std::uint64_t number) {
    const auto layout = Layout::make(plan_, cases_.valuation(number));
    if (!layout.ok()) return cannot(layout.errors());
    for (Finding& fault : static_faults(plan_, layout.value(), options_.max_findings)) {
      for (SymbolId s : ids(plan_.symbols)) {
        fault.symbols.push_back({s, layout.value().valuation().symbols[index(s)]});
      }
      collector_.add(std::move(fault));
    }
    for (std::uint64_t a = 0; a < cases_.assignments() && stats_.stopped.empty(); ++a) {
      run_case(cases_.settled(number, a), layout.value());
    }
  }

  void run_case(const Case& settled, const Layout& layout) {
    const auto program = make_program(plan_, settled);
    if (!program.ok()) return cannot(program.errors());
    note_events(program.value());
    const Setting setting{plan_, layout, program.value()};
    const auto map = map_bytes(setting, std::nullopt, kMaxIncidences);
    if (!map.ok()) return cannot(map.errors());
    const Lifetimes lifetimes = find_lifetimes(setting, map.value());
    const Reads reads = collect_reads(setting, map.value());
    const Material material{setting, map.value(), lifetimes, reads};
    const auto model = make_model(material, kMaxIncidences);
    if (!model.ok()) return cannot(model.errors());

    std::optional<VersionModel> versions;
    if (model.value().consumes || options_.always_track_values) {
      auto made = make_versions(material, model.value());
      if (!made.ok()) return cannot(made.errors());
      versions = std::move(made).value();
    }
    const bool use_grid =
        !versions && fits_grid(model.value(), std::min(kMaxGridBytes, budget_.bytes));
    const Search search = use_grid ? explore_grid(model.value(), budget_)
                                   : explore_layers(model.value(), versions ? &*versions : nullptr,
                                                    map.value(), budget_);
    stats_.commands += program.value().commands.size();
    stats_.pairs += model.value().suspects.size();
    stats_.states += search.states;
    stats_.transitions += search.transitions;
    stats_.stopped = search.stopped;
    stats_.cases += search.stopped.empty() ? 1 : 0;
    report({.material = material,
            .settled = settled,
            .model = model.value(),
            .versions = versions ? &*versions : nullptr,
            .search = search},
           collector_);
  }

  void note_events(const Program& program) {
    unbound_.insert(program.unbound.begin(), program.unbound.end());
    bound_.insert(program.bound.begin(), program.bound.end());
  }

  /// [S-21]: waits that bind to nothing, in any iteration of any case.
  void warn_of_unbound() {
    for (const auto& [op, event] : unbound_) {
      if (bound_.contains({op, event})) continue;
      Finding finding;
      finding.rule = Rule::kWarning;
      finding.ops = {op};
      finding.iteration = {0};
      finding.event = event;
      describe(plan_, finding);
      collector_.add(std::move(finding));
    }
  }

  const Plan& plan_;
  const SimOptions& options_;
  SimStats& stats_;
  const Cases cases_;
  Collector collector_;
  Budget budget_;
  bool complete_ = true;
  std::set<std::pair<OpId, EventId>> unbound_;
  std::set<std::pair<OpId, EventId>> bound_;
};

}  // namespace
}  // namespace sim

EngineResult simulate(const Plan& plan, const SimOptions& options, SimStats& stats) {
  return sim::Simulation(plan, options, stats).run();
}

}  // namespace memverify
