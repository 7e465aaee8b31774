// build(): what resolved fields say of each other. Each check is linear in the plan, whatever its
// shape: chains of 10^6 views, ops of 10^6 accesses.
#include <algorithm>
#include <tuple>

#include "plan/builder_impl.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kNamesOfCycle = 8;

// True iff the access leaves a version that a read can name: what a clobber leaves is of no use, an
// accumulate only adds to one, and an unknown op writes everything it lists.
bool gives_version(const Op& op, const Access& access) {
  if (op.kind == OpKind::kUnknown) return true;
  return op.kind == OpKind::kOp && access.kind == AccessKind::kWrite;
}

}  // namespace

void PlanBuilder::Impl::find_roots() {
  // `walk[t]` is the number of the walk that met t first; a walk that meets itself found a cycle.
  std::vector<std::uint32_t> walk(plan.tensors.size(), kNoId);
  std::vector<TensorId> path;
  for (const TensorId start : ids(plan.tensors)) {
    path.clear();
    TensorId at = start;
    while (at != kNone<TensorId> && walk[index(at)] == kNoId) {
      walk[index(at)] = index(start);
      path.push_back(at);
      if (plan.tensors[at].placement != TensorKind::kView) break;
      at = plan.tensors[at].base;
    }
    if (path.empty()) continue;
    const Tensor& last = plan.tensors[path.back()];
    TensorId root = kNone<TensorId>;  // Stays so behind a cycle or a base that does not exist.
    if (last.placement != TensorKind::kView) {
      root = path.back();
    } else if (at != kNone<TensorId> && walk[index(at)] == index(start)) {
      report_cycle(std::vector<TensorId>(std::ranges::find(path, at), path.end()));
    } else if (at != kNone<TensorId>) {
      root = plan.tensors[at].root;
    }
    for (const TensorId tensor : path) {
      plan.tensors[tensor].root = root;
      if (root != kNone<TensorId>) plan.tensors[tensor].storage = plan.tensors[root].storage;
    }
  }
}

void PlanBuilder::Impl::report_cycle(const std::vector<TensorId>& cycle) {
  std::string chain;
  for (std::size_t i = 0; i < std::min(cycle.size(), kNamesOfCycle); ++i) {
    chain += quoted(plan.tensors[cycle[i]].name) + " -> ";
  }
  if (cycle.size() > kNamesOfCycle) chain += "… -> ";
  fail("view.cycle",
       "views that are views of each other: " + chain + quoted(plan.tensors[cycle.front()].name),
       json_pointer({"tensors", index(*std::ranges::min_element(cycle)), "view_of"}));
}

void PlanBuilder::Impl::check_in_place() {
  if (plan.in_places.empty()) return;
  // By tensor, the last op that was seen to read or write it: no set to clear between ops.
  std::vector<OpId> reader(plan.tensors.size(), kNone<OpId>);
  std::vector<OpId> writer(plan.tensors.size(), kNone<OpId>);
  for (const OpId id : ids(plan.ops)) {
    const Op& op = plan.ops[id];
    const Range in_place = plan.details_of(op).in_place;
    if (in_place.empty()) continue;
    for (const Access& access : plan.accesses_of(op)) {
      if (access.tensor == kNone<TensorId>) continue;
      (access.kind == AccessKind::kRead ? reader : writer)[index(access.tensor)] = id;
    }
    const auto check = [&](TensorId tensor, const std::vector<OpId>& accessor,
                           std::string_view verb, std::uint32_t pair, int side) {
      if (tensor == kNone<TensorId> || accessor[index(tensor)] == id) return;
      fail("in_place.access",
           "the op does not " + std::string(verb) + " " + quoted(plan.tensors[tensor].name),
           json_pointer({"ops", index(id), "in_place", pair, side}));
    };
    for (std::uint32_t i = in_place.begin; i < in_place.end; ++i) {
      check(plan.in_places[i].read, reader, "read", i - in_place.begin, 0);
      check(plan.in_places[i].written, writer, "write", i - in_place.begin, 1);
    }
  }
}

/// A read or output that names the op whose version it means.
struct PlanBuilder::Impl::NamedWriter {
  OpId writer;
  TensorId tensor;
  OpId reader;         ///< kNone for an output.
  std::uint32_t item;  ///< Index of the access or of the output.
};

std::string PlanBuilder::Impl::named_at(const NamedWriter& one) const {
  if (one.reader == kNone<OpId>) return json_pointer({"outputs", one.item});
  // Reads come first in an op's accesses, so the offset there is the place in `reads`.
  return json_pointer(
      {"ops", index(one.reader), "reads", one.item - plan.ops[one.reader].accesses.begin});
}

void PlanBuilder::Impl::check_named_writers() {
  if (!names_writers) return;
  std::vector<NamedWriter> named;
  for (const OpId id : ids(plan.ops)) {
    const Range range = plan.ops[id].accesses;
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
      const Access& access = plan.accesses[i];
      if (access.from == kNone<OpId> || access.tensor == kNone<TensorId>) continue;
      named.push_back({access.from, access.tensor, id, i});
    }
  }
  for (std::uint32_t i = 0; i < plan.outputs.size(); ++i) {
    const Output& output = plan.outputs[i];
    if (output.from == kNone<OpId> || output.tensor == kNone<TensorId>) continue;
    named.push_back({output.from, output.tensor, kNone<OpId>, i});
  }
  std::ranges::stable_sort(named, {}, &NamedWriter::writer);
  std::vector<OpId> writer_of(plan.tensors.size(),
                              kNone<OpId>);  // By root, the last one looked at.
  OpId current = kNone<OpId>;
  for (const NamedWriter& one : named) {
    if (one.writer != current) {
      current = one.writer;
      for (const Access& access : plan.accesses_of(plan.ops[current])) {
        if (access.tensor == kNone<TensorId> || !gives_version(plan.ops[current], access)) continue;
        const TensorId root = plan.tensors[access.tensor].root;
        if (root != kNone<TensorId>) writer_of[index(root)] = current;
      }
    }
    const Op& writer = plan.ops[current];
    const TensorId root = plan.tensors[one.tensor].root;
    const bool touches_all = writer.kind == OpKind::kUnknown && writer.accesses.empty();
    if (root == kNone<TensorId> || touches_all || writer_of[index(root)] == current) continue;
    fail("from.no_writer",
         quoted(writer.name) + " does not write " + quoted(plan.tensors[one.tensor].name) +
             " or another tensor of its alias family",
         named_at(one) + "/from");
  }
}

}  // namespace memverify
