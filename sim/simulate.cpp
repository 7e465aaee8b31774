#include "sim/simulate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "plan/describe.h"
#include "plan/faults.h"
#include "sim/cases.h"
#include "sim/count.h"
#include "sim/findings.h"
#include "sim/joining.h"
#include "sim/parts.h"
#include "sim/search.h"
#include "sim/tiles.h"

namespace memverify {
namespace sim {
namespace {

constexpr std::chrono::milliseconds kTick{100};
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
    budget_.threads =
        options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
    budget_.states = options.max_states;
    budget_.bytes = options.max_bytes;
    if (options.progress) budget_.tick = [this](std::uint64_t states) { tick(states); };
    if (options.max_seconds > 0) {
      budget_.deadline = std::chrono::steady_clock::now() +
                         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                             std::chrono::duration<double>(options.max_seconds));
    }
  }

  EngineResult run_part(SimPart& part) {
    part_ = &part;
    part.cases.clear();
    not_proven("Only part " + std::to_string(part.shard.number) + " of " +
                   std::to_string(part.shard.of) + " was searched.",
               "join all parts");
    return run();
  }

  Result<EngineResult> run_joined(const std::vector<SimPart>& parts) {
    parts_ = &parts;
    EngineResult result = run();
    if (error_) return *error_;
    return result;
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
      not_proven(
          limit_words(stats_.stopped, stats_),
          "raise the limit (--budget-states N, --budget-seconds S), or take --reduction classes");
    }
    if (options_.random_runs > 0) {
      not_proven((stats_.failing_runs == 0 ? "Random runs prove nothing: 0 of "
                                           : "Random runs show only some faults: " +
                                                 std::to_string(stats_.failing_runs) + " of ") +
                     std::to_string(stats_.runs) + " failed.",
                 "leave out --random, or take --reduction classes");
    }
    stats_.complete = complete_ && stats_.stopped.empty() && cases_.left_out().empty();
    if (!counted_all_ || !stats_.stopped.empty()) stats_.interleavings = stats_.failing = "";
    warn_of_unbound();
    EngineResult result;
    result.findings = collector_.take();
    result.stopped_at_max_findings = collector_.stopped();
    result.verdict = verdict_of(result.findings);
    result.stats = {.ops = stats_.commands, .pairs_checked = stats_.pairs};
    return result;
  }

 private:
  void tick(std::uint64_t states) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_tick_ < kTick) return;
    last_tick_ = now;
    options_.progress({.cases_done = case_,
                       .cases = all_cases(),
                       .states = stats_.states + states,
                       .seconds = std::chrono::duration<double>(now - begin_).count()});
  }

  std::uint64_t all_cases() const { return cases_.valuations() * cases_.assignments(); }

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
      case_ = number * cases_.assignments() + a;
      if (part_ != nullptr && !looks_at(part_->shard, case_, all_cases())) continue;
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
    const bool track =
        model.value().consumes || options_.always_track_values || options_.random_runs > 0;
    if (track || options_.count) {
      auto made = make_versions(material, model.value());
      if (!made.ok()) return cannot(made.errors());
      versions = std::move(made).value();
    }
    const VersionModel* tracked = track ? &*versions : nullptr;
    Result<Search> found = parts_ == nullptr
                               ? explore(model.value(), tracked, material)
                               : joined(*parts_, case_, all_cases(), model.value(), tracked, reads);
    if (!found.ok()) {
      error_ = found.errors().front();
      stats_.stopped = "parts";
      return;
    }
    const Search& search = found.value();
    if (part_ != nullptr) part_->cases.push_back(part_case(case_, search, reads));
    stats_.commands += program.value().commands.size();
    stats_.pairs += model.value().suspects.size();
    stats_.states += search.states;
    stats_.transitions += search.transitions;
    stats_.runs += search.runs;
    stats_.failing_runs += search.failing_runs;
    if (options_.random_runs == 0 || search.stopped == "time") stats_.stopped = search.stopped;
    stats_.cases += search.stopped.empty() ? 1 : 0;
    report({.material = material,
            .settled = settled,
            .model = model.value(),
            .versions = tracked,
            .search = search},
           collector_);
    if (options_.count) count(search, settled, material, model.value(), *versions);
  }

  Search explore(const Model& model, const VersionModel* versions, const Material& material) {
    if (options_.random_runs > 0) return explore_at_random(model, versions, material);
    LayerOptions options{.versions = versions, .part_states = options_.part_states};
    if (part_ != nullptr && !deals_cases(part_->shard, all_cases())) options.shard = part_->shard;
    if (options.shard.of > 1 && versions == nullptr && options_.reduction == Reduction::kNone) {
      if (const auto tiles = tiles_of(model, options.shard)) {
        return explore_tiles(*tiles, model, material);
      }
    }
    if (options_.reduction == Reduction::kClasses && !model.consumes) {
      return explore_classes(model, budget_);
    }
    std::optional<Independence> independence;
    if (options_.reduction != Reduction::kNone && model.chains() <= Independence::kMostChains) {
      independence = make_independence(model);
      options.independence = &*independence;
    } else if (versions == nullptr && options.shard.of == 1 &&
               fits_grid(model, std::min(kMaxGridBytes, budget_.bytes))) {
      return explore_grid(model, budget_);
    }
    return explore_layers(model, options, material, budget_);
  }

  Search explore_tiles(const std::vector<Tile>& tiles, const Model& model,
                       const Material& material) {
    Search all;
    for (const Tile& tile : tiles) {
      all.append(explore_layers(model, {.tile = &tile}, material, budget_));
      if (!all.stopped.empty()) break;
    }
    keep_nearest(all);
    return all;
  }

  Search explore_at_random(const Model& model, const VersionModel* versions,
                           const Material& material) {
    const RandomOptions random{.runs = options_.random_runs,
                               .seed = options_.seed,
                               .depth = std::max<std::uint64_t>(1, options_.random_depth)};
    const double bound = random_bound(model, random);
    stats_.random_bound = stats_.runs == 0 ? bound : std::min(bound, stats_.random_bound);
    return explore_random(model, versions, material, random, budget_);
  }

  void count(const Search& search, const Case& settled, const Material& material,
             const Model& model, const VersionModel& versions) {
    RunCount runs;
    if (search.stopped.empty() && search.states <= options_.max_counted_states) {
      Budget budget = budget_;
      budget.states = 4 * options_.max_counted_states;  // Values multiply states.
      runs = count_runs(material, model, versions, budget);
    }
    stats_.counted.push_back({.symbols = symbols_of(plan_, settled),
                              .when = conditions_of(plan_, settled),
                              .interleavings = runs.interleavings,
                              .failing = runs.failing});
    if (!runs.complete) {
      counted_all_ = false;
      return;
    }
    const auto add = [](std::string& sum, const std::string& more) {
      sum = sum.empty() ? more : add_decimals(sum, more);
    };
    add(stats_.interleavings, runs.interleavings);
    add(stats_.failing, runs.failing);
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
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_tick_ = begin_;
  std::uint64_t case_ = 0;                       ///< At hand.
  SimPart* part_ = nullptr;                      ///< Only this part is searched, and noted here.
  const std::vector<SimPart>* parts_ = nullptr;  ///< In place of a search.
  std::optional<Diagnostic> error_;              ///< Of these.
  bool complete_ = true;
  bool counted_all_ = true;
  std::set<std::pair<OpId, EventId>> unbound_;
  std::set<std::pair<OpId, EventId>> bound_;
};

}  // namespace
}  // namespace sim

std::string_view name(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone:
      return "none";
    case Reduction::kSleep:
      return "sleep";
    case Reduction::kClasses:
      return "classes";
  }
  return "";
}

EngineResult simulate(const Plan& plan, const SimOptions& options, SimStats& stats) {
  return sim::Simulation(plan, options, stats).run();
}

EngineResult simulate_part(const Plan& plan, const SimOptions& options, const SimShard& shard,
                           SimPart& part, SimStats& stats) {
  part.shard = shard;
  return sim::Simulation(plan, options, stats).run_part(part);
}

Result<EngineResult> join_parts(const Plan& plan, const SimOptions& options,
                                const std::vector<SimPart>& parts, SimStats& stats) {
  if (auto fault = sim::fault_of(parts)) return *std::move(fault);
  return sim::Simulation(plan, options, stats).run_joined(parts);
}

}  // namespace memverify
