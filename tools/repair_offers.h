// tools/repair_offers.h -- all ways to mend a plan, each with its price.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "tools/console.h"
#include "tools/report.h"
#include "verify/repair.h"

namespace memverify {

struct Price {
  std::vector<std::int64_t> peaks;  ///< Bytes by pool: the highest end of a storage.
  std::int64_t added_waits = 0;
  std::int64_t copied_bytes = 0;
  /// Ticks of a run in which everything happens as soon as it may and takes as long as it may
  /// (verify/schedule.h); nullopt where clocks do not say.
  std::optional<std::int64_t> makespan;
  std::int64_t of_iterations = 0;  ///< That the makespan is of, the first; 0: all.
  std::int64_t peak() const;       ///< Of all pools together.
};
Price price_of(const Plan& plan);

struct Offer {
  Repair repair;
  Price price;
  bool is_least = false;  ///< Proven: its kind has nothing with fewer waits (or storages moved).
};

struct RepairOffers {
  Report report;  ///< On the plan as it is.
  Price price;
  std::vector<Offer> offers;                               ///< By kind, in each the cheapest first.
  std::vector<std::pair<Repair::Kind, std::string>> none;  ///< Kinds without an offer, and why.
};

struct OfferOptions {
  std::size_t most_of_a_kind = 3;
  double seconds = 10;  ///< Of the placements of a safe plan, about.
};

/// For an unsafe plan ways to safety, for a safe one ways to a smaller peak; of one that is not
/// proven, nothing. Every plan that is offered was decided to be safe.
RepairOffers find_repairs(const std::string& file, Plan plan, const OfferOptions& options);

/// The ways to a smaller peak (tools/repair_peak.cpp).
void find_smaller_peaks(const std::string& file, const Plan& plan, const OfferOptions& options,
                        RepairOffers& found);

/// Appends what a search found, the cheapest of it, or why it found nothing.
void add_offers(RepairSearch search, Repair::Kind kind, const OfferOptions& options,
                RepairOffers& found);

std::string repair_text(const RepairOffers& found, const Style& style);
/// `text`: of the plan file; then each offer has the patch of it (RFC 6902) that mends it, up to
/// 10,000 ops. "": none has.
std::string repair_json(const RepairOffers& found, const std::string& text);

}  // namespace memverify
