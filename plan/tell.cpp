#include "plan/tell.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plan/advice.h"
#include "plan/words.h"

namespace memverify {

std::int64_t Tell::iteration(std::size_t i) const {
  return i < finding.iteration.size() ? finding.iteration[i] : 0;
}

TensorId Tell::tensor(std::size_t i) const {
  if (finding.ops.size() == 2 && finding.tensors.size() == 1) {
    // One of the two clobbers a pool's bytes, or is an alloc or free.
    const auto uses_it = [&](const Access& a) { return a.tensor == finding.tensors[0]; };
    const bool first_does =
        std::ranges::any_of(plan.accesses_of(plan.ops[finding.ops[0]]), uses_it);
    return i == (first_does ? 0U : 1U) ? finding.tensors[0] : kNone<TensorId>;
  }
  return i < finding.tensors.size() ? finding.tensors[i] : kNone<TensorId>;
}

bool Tell::one_iteration() const {
  if (!repeats(plan) || finding.iteration.empty()) return false;
  return std::ranges::count(finding.iteration, finding.iteration[0]) ==
         std::ssize(finding.iteration);
}

bool Tell::is_lifetime_op(std::size_t i) const {
  const OpKind kind = plan.ops[finding.ops[i]].kind;
  return kind == OpKind::kAlloc || kind == OpKind::kFree;
}

bool Tell::accesses(OpId op, TensorId tensor, AccessKind kind) const {
  return std::ranges::any_of(plan.accesses_of(plan.ops[op]), [&](const Access& access) {
    return access.kind == kind && access.tensor == tensor;
  });
}

std::string Tell::name(std::size_t i) const { return quoted(plan.ops[finding.ops[i]].name); }

std::string Tell::op(std::size_t i) const {
  return brief ? short_op(i) : op_words(plan, finding.ops[i], iteration(i));
}

std::string Tell::short_op(std::size_t i) const {
  if (brief && one_iteration()) return name(i);
  return op_name(plan, finding.ops[i], iteration(i));
}

std::string Tell::make_wait(std::size_t later, std::size_t earlier) const {
  return memverify::make_wait(plan, finding.ops[later], finding.ops[earlier],
                              iteration(later) - iteration(earlier));
}

std::string Tell::thing(std::size_t i) const {
  if (tensor(i) != kNone<TensorId>) {
    return brief ? quoted(plan.tensors[tensor(i)].name) : tensor_words(plan, tensor(i));
  }
  if (i < finding.ops.size()) {
    for (const Access& access : plan.accesses_of(plan.ops[finding.ops[i]])) {
      if (access.tensor != kNone<TensorId> || access.pool != finding.pool ||
          access.part == Access::kWhole) {
        continue;
      }
      const Part& part = plan.parts[access.part];
      return (part.bytes ? "bytes " + address_range(plan, part.offset, *part.bytes)
                         : "the bytes from " + plan.formulas.to_string(part.offset)) +
             " of pool " + quoted(plan.pools[access.pool].name);
    }
  }
  return finding.pool == kNone<PoolId> ? "its bytes"
                                       : "pool " + quoted(plan.pools[finding.pool].name);
}

std::string Tell::short_thing(std::size_t i) const {
  return tensor(i) == kNone<TensorId> ? thing(i) : quoted(plan.tensors[tensor(i)].name);
}

std::string Tell::storages() const {
  std::vector<std::string> names;
  for (const StorageId storage : finding.storages) {
    if (storage == kNone<StorageId>) continue;
    std::string text = quoted(plan.storages[storage].name);
    if (std::ranges::count(names, text) == 0) names.push_back(std::move(text));
  }
  if (names.empty()) return "";
  return (names.size() == 1 ? "storage " : "storages ") + listed(names);
}

std::string Tell::place() const {
  if (finding.bytes.empty() || brief) return "";
  const std::string in = storages();
  return place_words(plan, finding.pool, finding.bytes) + (in.empty() ? "" : " (" + in + ")");
}

std::string Tell::end() const {
  const std::string where = place();
  return where.empty() ? "." : ": " + where + ".";
}

std::string_view Tell::write_verb(std::size_t i) const {
  for (const Access& access : plan.accesses_of(plan.ops[finding.ops[i]])) {
    if (access.tensor != tensor(i)) continue;
    if (access.kind == AccessKind::kAccumulate) return "accumulate into";
    if (access.kind == AccessKind::kClobber) return "clobber";
    if (access.kind == AccessKind::kWrite) return "write";
  }
  return "write";
}

std::string Tell::expected(std::string_view otherwise) const {
  if (finding.expected_initial) return "its initial value";
  if (finding.expected == kNone<OpId>) return std::string(otherwise);
  const bool same = one_iteration() && finding.expected_iteration == finding.iteration[0];
  return "what " +
         (brief && same ? quoted(plan.ops[finding.expected].name)
                        : op_name(plan, finding.expected, finding.expected_iteration)) +
         " wrote";
}

std::string Tell::role(TensorId tensor) const {
  if (std::ranges::count(plan.constants, tensor) > 0) return "constant";
  if (std::ranges::any_of(plan.outputs,
                          [&](const Output& output) { return output.tensor == tensor; })) {
    return "output";
  }
  return std::ranges::count(plan.inputs, tensor) > 0 ? "input" : "tensor";
}

}  // namespace memverify
