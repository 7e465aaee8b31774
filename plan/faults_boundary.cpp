// What must hold of inputs and constants by the text of the plan alone ([S-46], [S-34]): MV106
// where their own family writes them or others share their bytes, MV112 where their storage is
// alloc'ed.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "plan/faults_impl.h"

namespace memverify {
namespace {

/// An input or constant.
struct Boundary {
  TensorId tensor = kNone<TensorId>;
  bool constant = false;
  bool donated = false;
  bool output = false;                 ///< The same bytes of the family are an output.
  OpId writer = kNone<OpId>;           ///< The first op that writes it through its family.
  TensorId written = kNone<TensorId>;  ///< Through this tensor.
};

/// Regions of one family are compared in one slot: an input holds its value in every slot.
bool same_family_bytes(const Plan& plan, const Layout& layout, TensorId a, TensorId b) {
  return plan.tensors[a].root == plan.tensors[b].root &&
         layout.tensor(a).bytes.same_bytes(layout.tensor(b).bytes);
}

std::vector<Boundary> boundary_of(const Plan& plan, const Layout& layout) {
  std::vector<Boundary> all;
  std::vector<char> donated(plan.tensors.size());
  for (const TensorId tensor : plan.donated) donated[index(tensor)] = 1;
  std::vector<std::vector<TensorId>> outputs_of(plan.outputs.empty() ? 0 : plan.tensors.size());
  for (const Output& output : plan.outputs) {
    outputs_of[index(plan.tensors[output.tensor].root)].push_back(output.tensor);
  }
  for (const TensorId tensor : plan.inputs) {
    Boundary input{.tensor = tensor, .donated = donated[index(tensor)] != 0};
    input.output =
        !outputs_of.empty() &&
        std::ranges::any_of(outputs_of[index(plan.tensors[tensor].root)], [&](TensorId output) {
          return same_family_bytes(plan, layout, tensor, output);
        });
    all.push_back(input);
  }
  for (const TensorId tensor : plan.constants) {
    all.push_back({.tensor = tensor, .constant = true});
  }
  return all;
}

/// Fills `writer` of each. What an unknown op may write is not held against the plan ([S-37]).
void find_writers(const Plan& plan, const Layout& layout, std::vector<Boundary>& all) {
  std::vector<char> in_family(plan.tensors.size());
  std::vector<SweepItem> items;  // Inputs and constants, then writes; a family stands for a pool.
  const auto add = [&](TensorId root, const Region& bytes, bool strong) {
    items.push_back({static_cast<PoolId>(index(root)), bytes.hull(), items.size(), strong});
  };
  for (const Boundary& one : all) {
    const TensorId root = plan.tensors[one.tensor].root;
    in_family[index(root)] = 1;
    add(root, layout.tensor_region(plan, one.tensor, 0), true);
  }
  struct Write {
    OpId op;
    const Access* access;
  };
  std::vector<Write> found;
  for (const OpId id : ids(plan.ops)) {
    if (plan.ops[id].kind != OpKind::kOp) continue;
    for (const Access& access : plan.accesses_of(plan.ops[id])) {
      if (!writes(access) || access.tensor == kNone<TensorId>) continue;
      const TensorId root = plan.tensors[access.tensor].root;
      if (in_family[index(root)] == 0) continue;
      found.push_back({id, &access});
      add(root, layout.access_region(plan, access, 0), false);
    }
  }
  for_each_meeting_pair(items, [&](std::size_t a, std::size_t b) {
    if (std::max(a, b) < all.size()) return false;
    Boundary& one = all[std::min(a, b)];
    const Write& write = found[std::max(a, b) - all.size()];
    if (one.writer <= write.op) return false;  // kNone is the greatest id.
    if (layout.access_region(plan, *write.access, 0)
            .overlaps(layout.tensor_region(plan, one.tensor, 0))) {
      one.writer = write.op;
      one.written = write.access->tensor;
    }
    return false;
  });
}

void find_own_writes(FaultSearch& search, const std::vector<Boundary>& all) {
  for (const Boundary& one : all) {
    if (one.writer == kNone<OpId> || one.donated || one.output) continue;
    Finding& finding = search.add(FaultKind::kOwnWrite, Rule::kBoundary);
    finding.ops = {one.writer};
    finding.iteration = {first_iteration(search.plan, search.plan.ops[one.writer])};
    add_tensor(search.plan, one.tensor, finding);
    if (one.written != one.tensor) add_tensor(search.plan, one.written, finding);
    const Region bytes = search.layout.tensor_region(search.plan, one.tensor, finding.iteration[0]);
    finding.pool = bytes.pool();
    finding.bytes = bytes.first_overlap(
        search.layout.tensor_region(search.plan, one.written, finding.iteration[0]));
  }
}

void find_shared(FaultSearch& search, const std::vector<Boundary>& all) {
  const Plan& plan = search.plan;
  struct Placed {
    std::size_t boundary;
    Region bytes;
  };
  std::vector<Placed> placed;
  std::vector<SweepItem> items;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const StorageId storage = plan.tensors[all[i].tensor].storage;
    for (std::uint32_t slot = 0; slot < search.layout.storage(storage).slots.size(); ++slot) {
      placed.push_back({i, search.layout.tensor_region(plan, all[i].tensor, slot)});
      const Region& bytes = placed.back().bytes;
      items.push_back({bytes.pool(), bytes.hull(), placed.size() - 1, !all[i].constant});
    }
  }
  std::set<std::pair<const Boundary*, const Boundary*>> seen;  // A pair meets in several slots.
  for_each_meeting_pair(items, [&](std::size_t a, std::size_t b) {
    const Boundary* first = &all[placed[a].boundary];
    const Boundary* second = &all[placed[b].boundary];
    if (plan.tensors[first->tensor].root == plan.tensors[second->tensor].root) return false;
    const ByteRange shared = placed[a].bytes.first_overlap(placed[b].bytes);
    if (shared.empty()) return false;
    const auto may_be_written = [](const Boundary* one) {
      return one->donated || one->writer != kNone<OpId>;
    };
    const bool written = may_be_written(first) || may_be_written(second);
    if (first > second) std::swap(first, second);
    if (!seen.emplace(first, second).second) return false;
    Finding& finding = search.add(written ? FaultKind::kSharedWritten : FaultKind::kShared,
                                  written ? Rule::kBoundary : Rule::kWarning);
    if (written && !may_be_written(first)) std::swap(first, second);
    add_tensor(plan, first->tensor, finding);
    add_tensor(plan, second->tensor, finding);
    finding.pool = placed[a].bytes.pool();
    finding.bytes = shared;
    return false;
  });
}

void find_allocated(FaultSearch& search, const std::vector<Boundary>& all) {
  const Plan& plan = search.plan;
  std::vector<OpId> alloc(plan.storages.size(), kNone<OpId>);
  for (const OpId id : ids(plan.ops)) {
    const Op& op = plan.ops[id];
    if (op.kind == OpKind::kAlloc && alloc[index(op.storage)] == kNone<OpId>) {
      alloc[index(op.storage)] = id;
    }
  }
  for (const Boundary& one : all) {
    const StorageId storage = plan.tensors[one.tensor].storage;
    if (alloc[index(storage)] == kNone<OpId>) continue;
    if (search.layout.tensor(one.tensor).bytes.empty()) continue;
    Finding& finding = search.add(FaultKind::kAllocated, Rule::kLifetime);
    finding.ops = {alloc[index(storage)]};
    finding.iteration = {0};
    add_tensor(plan, one.tensor, finding);
    const Region bytes = search.layout.tensor_region(plan, one.tensor, 0);
    finding.pool = bytes.pool();
    finding.bytes = bytes.hull();
  }
}

}  // namespace

void find_boundary_faults(FaultSearch& search) {
  std::vector<Boundary> all = boundary_of(search.plan, search.layout);
  if (all.empty()) return;
  find_writers(search.plan, search.layout, all);
  find_own_writes(search, all);
  find_shared(search, all);
  find_allocated(search, all);
}

}  // namespace memverify
