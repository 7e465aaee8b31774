#include "tools/explain_plan.h"

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "plan/json_text.h"
#include "plan/suggest.h"
#include "plan/words.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/storage_report.h"
#include "tools/verify_file.h"
#include "verify/verify.h"

namespace memverify {
namespace {

constexpr std::size_t kMostStoragesInText = 20;

struct Shown {
  std::vector<StorageView> views;
  std::vector<std::pair<PoolId, PlanViews::Peak>> peaks;  ///< Whose storages are `views`, in order.
  std::string problem;
  std::string nothing = "nothing is held there: no command uses a byte";  ///< Without `views`.
  std::vector<std::string> rules;  ///< Ids, of the errors of an unsafe plan.
  Verdict verdict = Verdict::kSafe;
};

/// By clocks alone, which looked at the plan already.
void find_faults(const Plan& plan, Shown& shown) {
  const EngineResult result = verify_happens_before(plan, {});
  shown.verdict = result.verdict;
  std::set<std::string> ids;
  for (const Finding& finding : result.findings) {
    const RuleInfo& rule = info(finding.rule);
    if (rule.severity == Severity::kError) ids.emplace(rule.id);
  }
  shown.rules.assign(ids.begin(), ids.end());
}

std::string verdict_text(const Shown& shown, const Style& style) {
  switch (shown.verdict) {
    case Verdict::kSafe:
      return "";
    case Verdict::kUnknown:
      return "memverify: clocks do not decide whether the plan is safe; see memverify verify\n";
    case Verdict::kUnsafe:
      break;
  }
  return "memverify: " + style.error("the plan is unsafe") + " (" + listed(shown.rules) +
         "); see memverify verify\n";
}

/// Of an op without a storage to show.
std::string nothing_of(const Op& op) {
  const std::string who = memverify::quoted(op.name);
  switch (op.kind) {
    case OpKind::kView:
      return who + " is a view: it does not run";
    case OpKind::kRecord:
    case OpKind::kWait:
    case OpKind::kBarrier:
    case OpKind::kHostWait:
      return who + " only orders commands: it uses no byte";
    default:
      return who + " uses, allocates and frees no byte of a storage";
  }
}

std::string storages_text(std::span<const StorageView> views) {
  std::set<StorageId> distinct;
  for (const StorageView& view : views) distinct.insert(view.storage);
  const auto count = static_cast<std::int64_t>(distinct.size());
  const std::string text = counted(count, "storage");
  if (distinct.size() == views.size()) return text;
  return text + ", " + std::to_string(views.size()) + " counting each iteration's own";
}

/// The id of `wanted` in `table`; kNone, and a sentence, when there is no such name.
template <typename Id, typename Table>
Id find_named(const Table& table, std::string_view what, const std::string& wanted,
              std::string& problem) {
  Suggester suggester(wanted);
  for (const auto id : ids(table)) {
    if (table[id].name == wanted) return id;
    suggester.consider(table[id].name);
  }
  problem = "there is no " + std::string(what) + " " + memverify::quoted(wanted) + suggester.hint();
  return kNone<Id>;
}

/// Only what shares bytes with the tensor.
void keep_tensor(StorageView& view, TensorId tensor) {
  const auto alias = std::ranges::find(view.aliases, tensor, &AliasView::tensor);
  if (alias == view.aliases.end()) return;
  const ByteRange bytes = alias->bytes;
  for (AliasView& other : view.aliases) {
    std::erase_if(other.uses, [&](std::uint32_t use) {
      const ByteRange touched = view.uses[use].bytes;
      return touched.end <= bytes.begin || bytes.end <= touched.begin;
    });
  }
}

void add_peak(const PlanViews& views, PoolId pool, Shown& shown) {
  PlanViews::Peak peak = views.peak(pool);
  if (peak.storages.empty()) return;
  std::ranges::copy(peak.storages, std::back_inserter(shown.views));
  shown.peaks.emplace_back(pool, std::move(peak));
}

Shown select(const PlanViews& views, const ExplainPlanOptions& options) {
  const Plan& plan = views.plan();
  Shown shown;
  if (options.peak) {
    PoolId only = kNone<PoolId>;
    if (!options.pool.empty()) {
      only = find_named<PoolId>(plan.pools, "pool", options.pool, shown.problem);
      if (only == kNone<PoolId>) return shown;
    }
    for (const PoolId pool : ids(plan.pools)) {
      if (only == kNone<PoolId> || only == pool) add_peak(views, pool, shown);
    }
    if (!views.all_complete()) {
      shown.nothing = "nothing is held: the plan deadlocks before a command uses a byte";
    }
  } else if (!options.storage.empty()) {
    const StorageId id =
        find_named<StorageId>(plan.storages, "storage", options.storage, shown.problem);
    if (id != kNone<StorageId>) shown.views.push_back(views.of(id, options.iteration));
  } else if (!options.tensor.empty()) {
    const TensorId id = find_named<TensorId>(plan.tensors, "tensor", options.tensor, shown.problem);
    if (id == kNone<TensorId>) return shown;
    shown.views.push_back(views.of(plan.tensors[id].storage, options.iteration));
    keep_tensor(shown.views.back(), id);
  } else {
    const OpId id = find_named<OpId>(plan.ops, "op", options.op, shown.problem);
    if (id == kNone<OpId>) return shown;
    shown.views = views.of_op(id, options.iteration);
    shown.nothing = nothing_of(plan.ops[id]);
  }
  return shown;
}

std::string peak_text(const PlanViews& views, PoolId pool, const PlanViews::Peak& peak,
                      const Style& style) {
  return style.strong("pool " + quoted(views.plan().pools[pool].name)) + symbols_text(views) +
         ": " + counted(peak.highest, "byte") + " up to its highest storage; at most " +
         counted(peak.held, "byte") + " held at once, at tick " + std::to_string(peak.tick) +
         ", in " + storages_text(peak.storages) + "\n";
}

std::string shown_text(const PlanViews& views, const Shown& shown, const Style& style) {
  std::string out;
  if (shown.peaks.empty()) {
    for (const StorageView& view : shown.views) {
      out += (out.empty() ? "" : "\n") + storage_text(views, view, symbols_text(views), style);
    }
  }
  for (const auto& [pool, peak] : shown.peaks) {
    out += (out.empty() ? "" : "\n") + peak_text(views, pool, peak, style);
    for (std::size_t k = 0; k < std::min(peak.storages.size(), kMostStoragesInText); ++k) {
      out += "\n" + storage_text(views, peak.storages[k], "", style);
    }
    if (peak.storages.size() > kMostStoragesInText) {
      out += "\nand " +
             counted(static_cast<std::int64_t>(peak.storages.size() - kMostStoragesInText),
                     "smaller storage") +
             " (--format json has all)\n";
    }
  }
  if (out.empty()) out = shown.nothing + "\n";
  return out + case_text(views) + verdict_text(shown, style);
}

std::string shown_json(const PlanViews& views, const Shown& shown) {
  const Plan& plan = views.plan();
  JsonText json;
  json.open('{');
  json.field("memverify", std::int64_t{1});
  json.field("plan", plan.name);
  if (shown.verdict != Verdict::kUnknown) json.field("verdict", name(shown.verdict));
  json.field("iterations", std::int64_t{views.iterations()});
  json.field("makespan", views.makespan());
  if (!views.symbols().empty()) {
    json.key("symbols");
    json.open('{');
    for (const SymbolValue& value : views.symbols()) {
      json.field(plan.symbols[value.symbol].name, value.value);
    }
    json.close('}');
  }
  json.key("peaks");
  json.open('[');
  for (const auto& [pool, peak] : shown.peaks) {
    json.next();
    json.open('{');
    json.field("pool", plan.pools[pool].name);
    json.field("highest", peak.highest);
    json.field("held", peak.held);
    json.field("tick", peak.tick);
    json.close('}');
  }
  json.close(']');
  json.key("storages");
  json.open_lines();
  for (const StorageView& view : shown.views) {
    json.next();
    json.open('{');
    add_storage_view(json, plan, view);
    json.close('}');
  }
  json.close_lines();
  json.close('}');
  return json.take() + "\n";
}

}  // namespace

ExitCode explain_plan(const ExplainPlanOptions& options) {
  const Loaded loaded = load_plan(options.file, cannot_be_verified);
  if (!loaded.plan) {
    write_error(text_errors(loaded.errors, Style::of(options.color, stderr)));
    return ExitCode::kBadInput;
  }
  const Result<PlanViews> views = PlanViews::make(*loaded.plan);
  if (!views.ok()) {
    write_error("memverify: " + views.errors().front().message + "\n");
    return ExitCode::kUnknown;
  }
  if (options.iteration >= views.value().iterations()) {
    return usage_error("explain", "--iteration must be below " +
                                      std::to_string(views.value().iterations()) +
                                      ": later ones repeat these");
  }
  Shown shown = select(views.value(), options);
  if (!shown.problem.empty()) return usage_error("explain", shown.problem);
  find_faults(*loaded.plan, shown);
  StandardOutput output;
  if (options.format == "json") {
    output.write(shown_json(views.value(), shown));
  } else if (options.format == "dot") {
    output.write(storage_dot(views.value(), shown.views));
  } else {
    output.write(shown_text(views.value(), shown, Style::of(options.color, stdout)));
  }
  return output.finish(ExitCode::kSafe);
}

}  // namespace memverify
