#include "tools/repair_offers.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <tuple>

#include "tools/engines.h"
#include "tools/planning.h"
#include "verify/storage_view.h"
#include "verify/verify.h"

namespace memverify {
namespace {

constexpr double kOtherEngineSeconds = 2;
constexpr double kOtherSeconds = 10;                ///< Of all engines but the first, for one way.
constexpr std::size_t kMostOpsDecided = 5'000'000;  ///< Of all verifications of one way, about.

/// Decides by happens-before, or where that gives up by the next engine, as long as there is time.
class SomeEngine {
 public:
  EngineResult operator()(const Plan& plan) {
    EngineResult result = verify_happens_before(plan, {});
    if (result.verdict != Verdict::kUnknown || seconds_left_ <= 0) return result;
    const auto begin = std::chrono::steady_clock::now();
    for (const Engine* engine : select_engines("auto").engines) {
      if (engine->name == "hb" || seconds_left_ <= 0) continue;
      EngineResult other = engine->run(plan, {.max_seconds = kOtherEngineSeconds}, nullptr);
      const bool is_decided = other.verdict != Verdict::kUnknown;
      if (is_decided) result = std::move(other);
      if (is_decided) break;
    }
    seconds_left_ -=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  }

 private:
  double seconds_left_ = kOtherSeconds;
};

auto cost(const Offer& offer) {
  return std::tuple(offer.repair.added_waits, offer.repair.changes.size(), offer.price.copied_bytes,
                    offer.price.peak(), offer.price.makespan.value_or(0));
}

}  // namespace

std::int64_t Price::peak() const {
  return std::accumulate(peaks.begin(), peaks.end(), std::int64_t{0});
}

Price price_of(const Plan& plan) {
  Price price{.peaks = highest_ends(plan)};
  const Result<PlanViews> views = PlanViews::make(plan);
  if (!views.ok() || !views.value().all_complete()) return price;
  const std::int64_t walked = views.value().iterations();
  price.makespan = views.value().makespan();
  if (plan.iterations.value_or(walked + 1) > walked) price.of_iterations = walked;
  return price;
}

void add_offers(RepairSearch search, Repair::Kind kind, const OfferOptions& options,
                RepairOffers& found) {
  if (search.found.empty()) {
    found.none.emplace_back(kind, std::move(search.why_not));
    return;
  }
  std::vector<Offer> offers;
  for (Repair& repair : search.found) {
    Offer& offer = offers.emplace_back();
    offer.price = price_of(repair.plan);
    offer.price.added_waits = repair.added_waits;
    offer.price.copied_bytes = repair.copied_bytes;
    offer.is_least = search.is_exact;
    offer.repair = std::move(repair);
  }
  std::ranges::stable_sort(offers, {}, cost);
  if (offers.size() > options.most_of_a_kind) offers.resize(options.most_of_a_kind);
  std::ranges::move(offers, std::back_inserter(found.offers));
}

RepairOffers find_repairs(const std::string& file, Plan plan, const OfferOptions& options) {
  RepairOffers found{.report = decide_planned(file, std::move(plan))};
  const Plan& now = found.report.plan;
  found.price = price_of(now);
  if (found.report.verdict == Verdict::kUnknown) return found;
  if (found.report.verdict == Verdict::kSafe) {
    find_smaller_peaks(file, now, options, found);
    return found;
  }
  const std::size_t affordable = kMostOpsDecided / std::max<std::size_t>(now.ops.size(), 1);
  const RepairOptions repair{.decide = SomeEngine(),
                             .max_verifications = std::clamp<std::size_t>(affordable, 30, 5'000)};
  add_offers(repair_by_waiting(now, repair), Repair::Kind::kWait, options, found);
  add_offers(repair_by_moving(now, repair), Repair::Kind::kMove, options, found);
  add_offers(repair_by_reordering(now, repair), Repair::Kind::kOrder, options, found);
  add_offers(repair_by_copying(now, repair), Repair::Kind::kCopy, options, found);
  return found;
}

}  // namespace memverify
