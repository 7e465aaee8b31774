#include <algorithm>
#include <optional>
#include <set>

#include "plan/layout.h"
#include "plan/words.h"
#include "verify/cases.h"
#include "verify/repair.h"
#include "verify/repair_waits.h"

namespace memverify {
namespace {

constexpr std::size_t kMostCopies = 16;

bool is_write(const Access& access) { return access.kind != AccessKind::kRead; }

/// The last op before `reader` in program order that writes the family of `tensor`; kNone: none.
OpId last_writer(const Plan& plan, OpId reader, TensorId tensor) {
  for (std::uint32_t at = index(reader); at-- > 0;) {
    const OpId op = static_cast<OpId>(at);
    for (const Access& access : plan.accesses_of(plan.ops[op])) {
      if (access.tensor == kNone<TensorId> || !is_write(access)) continue;
      const bool is_runtime = plan.ops[op].kind != OpKind::kView;
      if (is_runtime && plan.tensors[access.tensor].root == plan.tensors[tensor].root) return op;
    }
  }
  return kNone<OpId>;
}

/// "" if `reader` may read a copy of `tensor` in its place; else why not.
std::string obstacle(const Plan& plan, OpId reader, TensorId tensor) {
  const Op& op = plan.ops[reader];
  for (const InPlace& pair : plan.in_place_of(op)) {
    if (pair.read == tensor) return "works on it in place";
  }
  for (const Access& access : plan.accesses_of(op)) {
    if (access.tensor != tensor) continue;
    if (is_write(access)) return "writes it, too";
    if (access.distance > 0) return "reads the one of an iteration before";
    if (access.part != Access::kWhole) return "reads a part of it only";
    if (access.from != kNone<OpId> || access.from_initial) return "means a version by \"from\"";
  }
  return "";
}

/// The copy of `tensor` for `reader` above all other storages; nullopt without a layout.
std::optional<AddedCopy> copy_for(const Plan& plan, OpId reader, TensorId tensor) {
  AddedCopy copy{.source = tensor, .reader = reader};
  copy.after = last_writer(plan, reader, tensor);
  const PoolId pool = plan.storages[plan.tensors[tensor].storage].pool;
  for (const Valuation& valuation : SymbolCases(plan).corners()) {
    const Result<Layout> layout = Layout::make(plan, valuation);
    if (!layout.ok()) return std::nullopt;
    std::int64_t bytes = 0;
    const Tensor& source = plan.tensors[tensor];
    if (source.dtype == DType::kNone) {
      bytes = layout.value().value(source.bytes);
    } else {
      std::int64_t count = 1;
      for (const Expr& extent : Plan::slice(plan.exprs, source.shape)) {
        count *= layout.value().value(extent);
      }
      bytes = (count * bits(source.dtype) + 7) / 8;
    }
    copy.bytes = std::max(copy.bytes, bytes);
  }
  // On the queue that wrote it, so that it need not wait; else on that of the reader.
  copy.queue = copy.after == kNone<OpId> ? kNone<QueueId> : plan.ops[copy.after].queue;
  if (copy.queue == kNone<QueueId>) copy.queue = plan.ops[reader].queue;
  const std::int64_t grain =
      std::max({plan.pools[pool].alignment, plan.tensors[tensor].alignment, std::int64_t{1}});
  copy.offset = (highest_ends(plan)[index(pool)] + grain - 1) / grain * grain;
  return copy;
}

class Copier {
 public:
  Copier(const Plan& plan, const RepairOptions& options) : plan_(plan), options_(options) {}

  RepairSearch run() {
    const EngineResult first = decide(plan_, options_, result_.verifications);
    for (const Finding& finding : first.findings) {
      if (info(finding.rule).severity != Severity::kError) continue;
      for (std::size_t i = 0; i < finding.ops.size(); ++i) {
        for (const TensorId tensor : finding.tensors) try_copy(finding.ops[i], tensor);
      }
    }
    if (result_.found.empty() && result_.why_not.empty()) {
      result_.why_not = tried_.empty()
                            ? "no finding is about an op that reads a tensor of this plan"
                            : "a copy of what the readers of the findings read, with any "
                              "waits, does not make the plan safe";
    }
    if (!result_.found.empty()) result_.why_not.clear();
    return std::move(result_);
  }

  void try_copy(OpId reader, TensorId tensor) {
    if (tensor == kNone<TensorId> || plan_.ops[reader].queue == kNone<QueueId>) return;
    const auto accesses = plan_.accesses_of(plan_.ops[reader]);
    const bool is_read = std::ranges::any_of(accesses, [&](const Access& access) {
      return access.tensor == tensor && access.kind == AccessKind::kRead;
    });
    const bool is_stopped = result_.verifications >= options_.max_verifications ||
                            result_.found.size() >= options_.max_offers ||
                            tried_.size() >= kMostCopies;
    if (!is_read || is_stopped || !tried_.emplace(reader, tensor).second) return;
    if (const std::string why = obstacle(plan_, reader, tensor); !why.empty()) {
      result_.why_not = quoted(plan_.ops[reader].name) + " " + why + ", " +
                        quoted(plan_.tensors[tensor].name) + " being what a copy would be of";
      return;
    }
    const std::optional<AddedCopy> copy = copy_for(plan_, reader, tensor);
    if (copy) offer(*copy);
  }

  RepairSearch take() { return std::move(result_); }

 private:
  void offer(const AddedCopy& copy) {
    const Plan copied = with_honest_peaks(with_copy(plan_, copy));
    RepairOptions options = options_;
    options.max_offers = 1;
    options.max_verifications -= std::min(options.max_verifications, result_.verifications);
    Plan roomy = copied;  // Room is looked for when the waits are known.
    for (Pool& pool : roomy.pools) pool.bytes.reset();
    const WaitRepair waits = repair_by_waits(roomy, options);
    result_.verifications += waits.verifications;
    if (waits.sets.empty()) return;
    const StorageId storage = static_cast<StorageId>(copied.storages.size() - 1);
    std::optional<Plan> placed = with_lowest_place(with_waits(copied, waits.sets.front()), storage,
                                                   options_, result_.verifications);
    if (!placed) return;
    Repair& repair = result_.found.emplace_back();
    repair.kind = Repair::Kind::kCopy;
    repair.copied_bytes = copy.bytes;
    repair.added_waits = static_cast<std::int64_t>(waits.sets.front().size());
    repair.changes.push_back(
        "copy " + quoted(plan_.tensors[copy.source].name) + " (" + counted(copy.bytes, "byte") +
        ") on queue " + quoted(plan_.queues[copy.queue].name) +
        (copy.after == kNone<OpId> ? " first of all"
                                   : " after " + quoted(plan_.ops[copy.after].name)) +
        ", and let " + quoted(plan_.ops[copy.reader].name) + " read the copy");
    for (const AddedWait& wait : waits.sets.front()) {
      repair.changes.push_back(describe(copied, wait));
    }
    repair.plan = *std::move(placed);
  }

  const Plan& plan_;
  const RepairOptions& options_;
  std::set<std::pair<OpId, TensorId>> tried_;
  RepairSearch result_;
};

}  // namespace

std::vector<Repair> copies_of(const Plan& plan, OpId reader, TensorId tensor,
                              const RepairOptions& options) {
  Copier copier(plan, options);
  copier.try_copy(reader, tensor);
  return copier.take().found;
}

RepairSearch repair_by_copying(const Plan& plan, const RepairOptions& options) {
  return Copier(plan, options).run();
}

}  // namespace memverify
