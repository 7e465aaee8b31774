#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "plan/describe.h"
#include "plan/layout.h"
#include "plan/words.h"
#include "verify/cases.h"
#include "verify/repair.h"

namespace memverify {
namespace {

constexpr std::size_t kMostInvolved = 12;
constexpr std::size_t kMostAddresses = 2000;

/// The layouts of the least and greatest symbol values.
std::vector<Layout> corner_layouts(const Plan& plan) {
  std::vector<Layout> layouts;
  for (const Valuation& valuation : SymbolCases(plan).corners()) {
    Result<Layout> layout = Layout::make(plan, valuation);
    if (layout.ok()) layouts.push_back(std::move(layout).value());
  }
  return layouts;
}

std::int64_t up(std::int64_t value, std::int64_t grain) {
  return (value + grain - 1) / grain * grain;
}

std::int64_t alignment_of(const Plan& plan, StorageId storage) {
  std::int64_t grain = plan.pools[plan.storages[storage].pool].alignment;
  for (const Tensor& tensor : plan.tensors) {
    if (tensor.storage != storage || tensor.alignment <= 1) continue;
    grain = std::lcm(grain, tensor.alignment);
  }
  return std::max<std::int64_t>(grain, 1);
}

/// Where a storage of several slots has each, when the first is at `base`.
MovedStorage placed_at(const Plan& plan, StorageId storage, std::int64_t base, std::int64_t bytes) {
  MovedStorage move{.storage = storage};
  const std::int64_t step = up(bytes, alignment_of(plan, storage));
  for (std::uint32_t slot = 0; slot < plan.storages[storage].slots.size(); ++slot) {
    move.slots.push_back(base + slot * step);
  }
  return move;
}

std::int64_t greatest_bytes(const std::vector<Layout>& layouts, StorageId storage) {
  std::int64_t bytes = 0;
  for (const Layout& layout : layouts) bytes = std::max(bytes, layout.storage(storage).bytes);
  return bytes;
}

/// Addresses, ascending, at which nothing but the start of the pool or the end of another tensor or
/// storage keeps the storage from lying lower.
std::vector<std::int64_t> addresses_for(const Plan& plan, const std::vector<Layout>& layouts,
                                        StorageId storage) {
  const std::int64_t grain = alignment_of(plan, storage);
  const PoolId pool = plan.storages[storage].pool;
  std::set<std::int64_t> addresses{0};
  for (const Layout& layout : layouts) {
    std::set<std::int64_t> begins{0};  // Of own tensors, in the storage.
    std::set<std::int64_t> ends;
    for (const TensorId id : ids(plan.tensors)) {
      const StorageId in = plan.tensors[id].storage;
      if (in == storage) {
        const ByteRange bytes = layout.tensor(id).hull;
        if (!bytes.empty()) begins.insert(bytes.begin);
        continue;
      }
      if (plan.storages[in].pool != pool) continue;
      for (std::uint32_t slot = 0; slot < plan.storages[in].slots.size(); ++slot) {
        const Region bytes = layout.tensor_region(plan, id, slot);
        if (!bytes.empty()) ends.insert(bytes.hull().end);
        ends.insert(layout.slot_address(in, slot) + layout.storage(in).bytes);
      }
    }
    for (const Access& access : plan.accesses) {
      if (access.pool != pool) continue;
      const Region bytes = layout.access_region(plan, access, 0);
      if (!bytes.empty()) ends.insert(bytes.hull().end);
    }
    for (const std::int64_t end : ends) {
      for (const std::int64_t begin : begins) {
        if (end - begin >= 0) addresses.insert(up(end - begin, grain));
      }
    }
  }
  std::vector<std::int64_t> result(addresses.begin(), addresses.end());
  if (result.size() > kMostAddresses) {  // The highest is free for sure.
    result.erase(result.begin() + kMostAddresses - 1, result.end() - 1);
  }
  return result;
}

class Mover {
 public:
  Mover(const Plan& plan, const RepairOptions& options)
      : plan_(plan), options_(options), layouts_(corner_layouts(plan)) {}

  RepairSearch run() {
    const EngineResult first = decide(plan_, options_, result_.verifications);
    if (layouts_.empty()) {
      result_.why_not = "the plan has no layout";
      return std::move(result_);
    }
    find_involved(first);
    if (involved_.empty()) {
      result_.why_not = "no finding is about a storage that could lie elsewhere";
      return std::move(result_);
    }
    if (!is_safe_apart(involved_)) {
      result_.why_not = "with all of " + names(involved_) +
                        " in bytes of their own the plan is still unsafe: " + left_;
      return std::move(result_);
    }
    for (std::size_t size = 1; size <= 3 && result_.found.empty(); ++size) {
      std::vector<StorageId> chosen;
      try_sets(chosen, 0, size);
    }
    result_.is_exact = !result_.found.empty() && !is_cut_;
    if (result_.found.empty()) {
      result_.why_not = fits_apart_
                            ? "no place in the pool is free for up to three of " + names(involved_)
                            : "more than three storages would have to move";
    }
    return std::move(result_);
  }

 private:
  std::string names(const std::vector<StorageId>& storages) const {
    std::vector<std::string> list;
    for (const StorageId id : storages) list.push_back(quoted(plan_.storages[id].name));
    return listed(list);
  }

  void find_involved(const EngineResult& first) {
    const auto add = [&](StorageId storage) {
      if (storage == kNone<StorageId> || std::ranges::count(involved_, storage) > 0) return;
      if (involved_.size() == kMostInvolved) {
        is_cut_ = true;
        return;
      }
      involved_.push_back(storage);
    };
    for (const Finding& finding : first.findings) {
      if (info(finding.rule).severity != Severity::kError) continue;
      for (const StorageId storage : finding.storages) add(storage);
      for (const TensorId tensor : finding.tensors) {
        if (tensor != kNone<TensorId>) add(plan_.tensors[tensor].storage);
      }
      if (finding.rule != Rule::kCapacity || finding.pool == kNone<PoolId>) continue;
      for (const StorageId storage : ids(plan_.storages)) {
        if (plan_.storages[storage].pool == finding.pool) add(storage);
      }
    }
  }

  /// These storages above everything else, in pools without end.
  Plan apart(const std::vector<StorageId>& storages) const {
    std::vector<std::int64_t> end = highest_ends(plan_);
    std::vector<MovedStorage> moves;
    for (const StorageId storage : storages) {
      std::int64_t& top = end[index(plan_.storages[storage].pool)];
      const std::int64_t bytes = greatest_bytes(layouts_, storage);
      const std::int64_t grain = alignment_of(plan_, storage);
      moves.push_back(placed_at(plan_, storage, up(top, grain), bytes));
      top = moves.back().slots.back() + bytes;
    }
    Plan result = with_moves(plan_, moves);
    for (Pool& pool : result.pools) {
      pool.bytes.reset();
      pool.peak_bytes.reset();
    }
    return result;
  }

  bool is_safe_apart(const std::vector<StorageId>& storages) {
    Plan moved = apart(storages);
    EngineResult result = decide(moved, options_, result_.verifications);
    if (result.verdict == Verdict::kSafe) return true;
    left_ = "it is not proven safe";
    for (Finding& finding : result.findings) {
      if (info(finding.rule).severity != Severity::kError) continue;
      describe(moved, finding);
      left_ = std::string(info(finding.rule).id) + ": " + headline(moved, finding);
      break;
    }
    return false;
  }

  void try_sets(std::vector<StorageId>& chosen, std::size_t from, std::size_t size) {
    if (chosen.size() == size) return try_set(chosen);
    for (std::size_t k = from; k < involved_.size(); ++k) {
      if (result_.found.size() >= options_.max_offers) return;
      chosen.push_back(involved_[k]);
      try_sets(chosen, k + 1, size);
      chosen.pop_back();
    }
  }

  void try_set(const std::vector<StorageId>& chosen) {
    if (result_.verifications >= options_.max_verifications) is_cut_ = true;
    if (is_cut_ || !is_safe_apart(chosen)) return;
    fits_apart_ = true;
    Plan now = apart(chosen);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const bool is_last = k + 1 == chosen.size();
      if (is_last) restore_limits(now);
      std::optional<Plan> next = with_lowest_place(now, chosen[k], options_, result_.verifications);
      if (!next) return;
      now = *std::move(next);
    }
    Repair& repair = result_.found.emplace_back();
    repair.kind = Repair::Kind::kMove;
    for (const StorageId storage : chosen) {
      const Range slots = now.storages[storage].slots;
      std::string at;
      for (const Expr& offset : Plan::slice(now.exprs, slots)) {
        at += (at.empty() ? "" : ", ") + now.formulas.to_string(offset);
      }
      repair.changes.push_back("storage " + quoted(plan_.storages[storage].name) + " at offset " +
                               at + " of pool " +
                               quoted(plan_.pools[plan_.storages[storage].pool].name));
    }
    repair.plan = std::move(now);
  }

  void restore_limits(Plan& plan) const {
    for (const PoolId pool : ids(plan.pools)) {
      plan.pools[pool].bytes = plan_.pools[pool].bytes;
      plan.pools[pool].peak_bytes = plan_.pools[pool].peak_bytes;
    }
  }

  const Plan& plan_;
  const RepairOptions& options_;
  const std::vector<Layout> layouts_;
  std::vector<StorageId> involved_;
  std::string left_;
  bool is_cut_ = false;      ///< Not all sets were looked at.
  bool fits_apart_ = false;  ///< Some set would do, were there room.
  RepairSearch result_;
};

}  // namespace

std::vector<std::int64_t> highest_ends(const Plan& plan) {
  std::vector<std::int64_t> ends(plan.pools.size(), 0);
  for (const Layout& layout : corner_layouts(plan)) {
    for (const StorageId id : ids(plan.storages)) {
      std::int64_t& end = ends[index(plan.storages[id].pool)];
      for (std::uint32_t slot = 0; slot < plan.storages[id].slots.size(); ++slot) {
        end = std::max(end, layout.slot_address(id, slot) + layout.storage(id).bytes);
      }
    }
  }
  return ends;
}

Plan with_honest_peaks(const Plan& plan) {
  Plan result = plan;
  const std::vector<std::int64_t> ends = highest_ends(plan);
  const SymbolCases symbols(plan);
  for (Pool& pool : result.pools) {
    if (!pool.peak_bytes) continue;
    const std::int64_t end = ends[static_cast<std::size_t>(&pool - &*result.pools.begin())];
    std::optional<std::int64_t> least;
    for (const Valuation& valuation : symbols.corners()) {
      const auto claim = plan.formulas.eval(*pool.peak_bytes, valuation);
      if (claim) least = std::min(least.value_or(*claim), *claim);
    }
    if (!least || *least < end) pool.peak_bytes = Expr(end);
  }
  return result;
}

std::optional<Plan> with_lowest_place(const Plan& plan, StorageId storage,
                                      const RepairOptions& options, std::size_t& verifications) {
  const std::vector<Layout> layouts = corner_layouts(plan);
  const std::int64_t bytes = greatest_bytes(layouts, storage);
  for (const std::int64_t address : addresses_for(plan, layouts, storage)) {
    if (verifications >= options.max_verifications) return std::nullopt;
    const MovedStorage move = placed_at(plan, storage, address, bytes);
    Plan moved = with_honest_peaks(with_moves(plan, std::span(&move, 1)));
    if (decide(moved, options, verifications).verdict == Verdict::kSafe) return moved;
  }
  return std::nullopt;
}

RepairSearch repair_by_moving(const Plan& plan, const RepairOptions& options) {
  return Mover(plan, options).run();
}

}  // namespace memverify
