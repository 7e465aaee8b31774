#include <algorithm>
#include <chrono>
#include <optional>

#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "planner/strategy.h"
#include "tools/planning.h"
#include "tools/repair_offers.h"
#include "tools/unplaced.h"
#include "verify/repair_waits.h"
#include "verify/storage_view.h"

namespace memverify {
namespace {

constexpr std::size_t kMostOpsToReorder = 24;
constexpr std::size_t kMostWaitsToTry = 150;

/// The plan with everything that is not alloc'ed placed anew, in pools of the same capacity.
class Replanner {
 public:
  Replanner(const std::string& file, const OfferOptions& options) : file_(file) {
    how_.place = find_strategy("auto")->place;
    how_.bounds = false;
    how_.strategy.max_seconds = options.seconds / 20;
    how_.strategy.max_nodes = 20'000;
  }

  /// nullopt if it does not become lower than `below`, or is not proven safe.
  std::optional<Plan> place(const Plan& plan, std::int64_t below) const {
    const PlanJson text = PlanJson::parse(write_plan(plan));
    PlanJson bare = without_addresses(text);
    for (std::size_t k = 0; k < bare["pools"].size(); ++k) {
      if (text["pools"][k].contains("bytes")) bare["pools"][k]["bytes"] = text["pools"][k]["bytes"];
    }
    const Result<Plan> graph = read_plan(bare.dump(), file_);
    if (!graph.ok()) return std::nullopt;
    Planning planning = make_planning(file_, graph.value(), how_);
    if (!planning.is_good() || price_of(planning.planned->plan).peak() >= below)
      return std::nullopt;
    return std::move(planning.planned->plan);
  }

 private:
  std::string file_;
  PlanGraphOptions how_;
};

Repair made(Repair::Kind kind, Plan plan, std::vector<std::string> changes) {
  Repair repair;
  repair.kind = kind;
  repair.plan = std::move(plan);
  repair.changes = std::move(changes);
  return repair;
}

constexpr const char* kPlacedAnew = "place all tensors anew";

class PeakSearch {
 public:
  PeakSearch(const std::string& file, const Plan& plan, const OfferOptions& options,
             RepairOffers& found)
      : plan_(plan), options_(options), found_(found), again_(file, options) {}

  void run() {
    lowest_ = found_.price.peak();
    RepairSearch moves;
    if (std::optional<Plan> moved = again_.place(plan_, lowest_)) {
      lowest_ = price_of(*moved).peak();
      moves.found.push_back(made(Repair::Kind::kMove, *std::move(moved), {kPlacedAnew}));
    }
    moves.why_not = "placed anew, the tensors need as many bytes";
    add_offers(try_waits(), Repair::Kind::kWait, options_, found_);
    add_offers(std::move(moves), Repair::Kind::kMove, options_, found_);
    add_offers(try_orders(), Repair::Kind::kOrder, options_, found_);
    add_offers(try_copies(), Repair::Kind::kCopy, options_, found_);
  }

 private:
  /// Keeps it if its peak is lower than what a placement alone reaches, and than those before.
  void consider(RepairSearch& search, const Plan& changed, Repair repair) {
    std::optional<Plan> placed = again_.place(changed, lowest_of(search));
    if (!placed) return;
    repair.plan = *std::move(placed);
    repair.changes.emplace_back(kPlacedAnew);
    search.found.assign(1, std::move(repair));
  }

  std::int64_t lowest_of(const RepairSearch& search) const {
    return search.found.empty() ? lowest_ : price_of(search.found.front().plan).peak();
  }

  /// Then says so in `why_not`, which counts where nothing was found before.
  bool is_late(RepairSearch& search) const {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begin_;
    if (gone.count() <= options_.seconds) return false;
    search.why_not = "the time for placements was spent before all had been tried (--seconds)";
    return true;
  }

  /// Waits that turn a conflict into an order.
  RepairSearch try_waits() {
    RepairSearch search{.why_not = "no single wait more lets tensors share more bytes"};
    std::size_t tried = 0;
    for (const AddedWait& wait : useful_waits(plan_)) {
      if (is_late(search)) break;
      if (++tried > kMostWaitsToTry) {
        search.why_not = "none of the first " + std::to_string(kMostWaitsToTry) +
                         " single waits lets tensors share more bytes";
        break;
      }
      const Plan changed = with_waits(plan_, std::span(&wait, 1));
      std::size_t verifications = 0;
      if (decide(changed, {}, verifications).verdict != Verdict::kSafe) continue;
      Repair repair = made(Repair::Kind::kWait, {}, {describe(plan_, wait)});
      repair.added_waits = 1;
      consider(search, changed, std::move(repair));
    }
    return search;
  }

  RepairSearch try_orders() {
    RepairSearch search{.why_not =
                            "no single op at another place in program order lets tensors "
                            "share more bytes"};
    if (plan_.ops.size() > kMostOpsToReorder) {
      search.why_not =
          "orders are tried in plans of up to " + std::to_string(kMostOpsToReorder) + " ops";
      return search;
    }
    for (const OpId op : ids(plan_.ops)) {
      for (std::uint32_t place = 0; place <= plan_.ops.size(); ++place) {
        const bool stays = place == index(op) || place == index(op) + 1;
        if (is_late(search)) return search;
        if (stays || plan_.ops[op].kind == OpKind::kView || !may_move_to(plan_, op, place))
          continue;
        const bool to_end = place == plan_.ops.size();
        consider(search, with_op_at(plan_, op, place),
                 made(Repair::Kind::kOrder, {},
                      {"submit " + quoted(plan_.ops[op].name) +
                       (to_end ? " last"
                               : " before " + quoted(plan_.ops[static_cast<OpId>(place)].name))}));
      }
    }
    return search;
  }

  /// Of what a reader holds a small piece of, when most bytes are held.
  RepairSearch try_copies() {
    RepairSearch search{.why_not = "nothing is held for a small piece of it when most bytes are"};
    const Result<PlanViews> views = PlanViews::make(plan_);
    if (!views.ok()) return search;
    for (const PoolId pool : ids(plan_.pools)) {
      for (const StorageView& view : views.value().peak(pool).storages) {
        const bool is_small = std::ranges::any_of(view.causes, [](const HoldCause& cause) {
          return cause.kind == HoldCause::Kind::kSmallPiece;
        });
        if (!is_small || view.to_end) continue;
        const UseView& last = view.uses[*view.blocker];
        if (is_late(search)) return search;
        for (Repair& repair : copies_of(plan_, last.op, last.tensor)) {
          search.why_not = "copies of the small pieces that hold large storages do not lower it";
          const Plan changed = repair.plan;
          consider(search, changed, std::move(repair));
        }
      }
    }
    return search;
  }

  const Plan& plan_;
  const OfferOptions& options_;
  RepairOffers& found_;
  const Replanner again_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::int64_t lowest_ = 0;  ///< Of the plan, or placed anew.
};

}  // namespace

void find_smaller_peaks(const std::string& file, const Plan& plan, const OfferOptions& options,
                        RepairOffers& found) {
  PeakSearch(file, plan, options, found).run();
}

}  // namespace memverify
