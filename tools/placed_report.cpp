#include "tools/placed_report.h"

#include <algorithm>

#include "plan/json_text.h"
#include "plan/layout.h"
#include "plan/words.h"
#include "planner/cases.h"
#include "verify/cases.h"

namespace memverify {
namespace {

constexpr std::size_t kMostStoragesNamed = 12;

/// True iff the end of the storage is the same for all symbol values.
bool is_constant(const Plan& plan, const Storage& storage) {
  const auto slots = Plan::slice(plan.exprs, storage.slots);
  return storage.bytes.is_constant() &&
         std::ranges::all_of(slots, [](const Expr& offset) { return offset.is_constant(); });
}

void note_storages(const Plan& plan, const Layout& layout, PlacedPool& result) {
  for (const StorageId id : ids(plan.storages)) {
    if (plan.storages[id].pool != result.pool) continue;
    std::int64_t end = 0;
    const auto slots = static_cast<std::int64_t>(plan.storages[id].slots.size());
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      end = std::max(end, layout.slot_address(id, slot) + layout.storage(id).bytes);
    }
    result.peak = std::max(result.peak, end);
    const bool beyond = result.available && end > *result.available;
    if (beyond && std::ranges::count(result.beyond, id) == 0) result.beyond.push_back(id);
  }
}

}  // namespace

bool PlacedPeaks::fits() const { return std::ranges::all_of(pools, &PlacedPool::fits); }

PlacedPeaks placed_peaks(const Plan& plan, const PlanGraphOptions& how) {
  PlacedPeaks peaks;
  const std::vector<Valuation> valuations = size_valuations(plan);
  const std::optional<std::uint64_t> count = SymbolCases(plan).count();
  const bool all = count && *count == valuations.size();
  for (const PoolId pool : ids(plan.pools)) {
    PlacedPool result{.pool = pool};
    if (index(pool) < how.available.size()) result.available = how.available[index(pool)];
    const auto is_open = [&](const Storage& storage) {
      return storage.pool == pool && !all && !is_constant(plan, storage);
    };
    const auto open = std::ranges::find_if(plan.storages, is_open);
    if (open != plan.storages.end()) {
      if (!result.available) continue;
      peaks.error = "the end of storage " + quoted(open->name) +
                    " depends on symbols with too many values to tell the peak";
      return peaks;
    }
    for (const Valuation& valuation : valuations) {
      const Result<Layout> layout = Layout::make(plan, valuation);
      if (layout.ok()) note_storages(plan, layout.value(), result);
    }
    if (result.peak > 0 || result.available) peaks.pools.push_back(std::move(result));
  }
  return peaks;
}

std::string placed_text(const Plan& plan, const PlacedPeaks& peaks) {
  std::string out;
  for (const PlacedPool& at : peaks.pools) {
    out += "pool " + quoted(plan.pools[at.pool].name) + ": peak " + counted(at.peak, "byte");
    if (at.available) out += " of " + std::to_string(*at.available) + " available";
    if (at.fits()) {
      out += "\n";
      continue;
    }
    out += ", " + std::to_string(at.peak - *at.available) + " missing\n  beyond the end:\n";
    for (std::size_t k = 0; k < at.beyond.size(); ++k) {
      if (k == kMostStoragesNamed) {
        out += "    and " + std::to_string(at.beyond.size() - k) + " more\n";
        break;
      }
      out += "    storage " + quoted(plan.storages[at.beyond[k]].name) + "\n";
    }
  }
  return out;
}

std::string placed_json(const Report& report, const PlacedPeaks& peaks,
                        const NamedNumbers& bucket) {
  JsonText json;
  json.open('{');
  json.field("memverify", std::int64_t{1});
  json.field("plan", report.plan.name);
  json.field("verdict", name(report.verdict));
  json.flag("fits", peaks.fits());
  if (!bucket.empty()) {
    json.key("bucket");
    json.open('{');
    for (const auto& [symbol, value] : bucket) json.field(symbol, value);
    json.close('}');
  }
  json.key("pools");
  json.open_lines();
  for (const PlacedPool& at : peaks.pools) {
    json.next();
    json.open('{');
    json.field("pool", report.plan.pools[at.pool].name);
    json.field("peak_bytes", at.peak);
    if (at.available) json.field("available", *at.available);
    if (!at.fits()) json.field("missing_bytes", at.peak - *at.available);
    json.close('}');
  }
  json.close_lines();
  json.close('}');
  return json.take() + "\n";
}

}  // namespace memverify
