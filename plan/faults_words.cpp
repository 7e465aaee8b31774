// The words of static faults where the numbers make them clearer than what `describe` says by
// itself.
#include <algorithm>
#include <optional>
#include <string>

#include "plan/advice.h"
#include "plan/describe.h"
#include "plan/faults_impl.h"
#include "plan/words.h"

namespace memverify {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

std::string range_words(std::int64_t begin, std::int64_t end) {
  return "bytes [" + number(begin) + ", " + number(end) + ")";
}

std::string storage_words(const Plan& plan, StorageId storage) {
  return "storage " + quoted(plan.storages[storage].name);
}

std::string pool_words(const Plan& plan, PoolId pool) {
  return "pool " + quoted(plan.pools[pool].name);
}

/// MV107: who, over which bytes, and what else to do.
void tell_clash(const Plan& plan, FaultKind kind, Finding& finding) {
  const std::string op = op_words(plan, finding.ops[0], finding.iteration[0]);
  const std::string at = ": " + place_words(plan, finding.pool, finding.bytes) + ".";
  const auto thing = [&](std::size_t i) {
    return i < finding.tensors.size()
               ? tensor_words(plan, finding.tensors[i])
               : "the bytes it clobbers in " + pool_words(plan, finding.pool);
  };
  if (kind == FaultKind::kInPlaceOrder) {
    finding.message = op + " takes " + thing(0) + " in place for " + thing(1) +
                      ", but the two do not have the same bytes with the k-th element at the same "
                      "address in both" +
                      at;
    finding.help =
        "give both the same bytes, dtype and strides, or give the written one other bytes";
    if (finding.tensors.size() > 1) {
      const auto quoted_name = [&](std::size_t i) {
        return "\"" + printable(plan.tensors[finding.tensors[i]].name) + "\"";
      };
      finding.help +=
          "; or, if the op copes with any overlap of the two, declare \"in_place\": [[" +
          quoted_name(0) + ", " + quoted_name(1) + ", \"any\"]]";
    }
  } else if (kind == FaultKind::kTwoWrites) {
    finding.message =
        op + " writes both " + thing(0) + " and " + thing(1) + ", which share bytes" + at;
    finding.help = "give each of them its own bytes";
  } else if (finding.tensors.size() < 2) {
    finding.message =
        op + " reads " + thing(0) + " and overwrites part of it with " + thing(1) + at;
    finding.help = "give what it clobbers bytes that it does not read";
  }
}

/// "; or lower the "max" of `n` to 16": where one symbol makes a thing too large; "" elsewhere.
std::string lower_words(const Plan& plan, const Layout& layout) {
  if (plan.symbols.size() != 1) return "";
  const Symbol& symbol = plan.symbols[SymbolId{0}];
  const std::int64_t most = layout.valuation().symbols[0] - symbol.multiple_of;
  if (most < least_value(symbol)) return "";
  return (symbol.max ? "; or lower the \"max\" of " + quoted(symbol.name) + " to "
                     : "; or give " + quoted(symbol.name) + " a \"max\" of ") +
         number(most);
}

/// "`what` at least 64 bytes large", for all values of the symbols, of which `needed_by` says what
/// is needed under the greatest; "" where that is not known.
template <typename NeededBy>
std::string enlarge_words(const Plan& plan, const std::string& what, std::int64_t needed,
                          NeededBy needed_by) {
  // What searches all values of symbols asks about one at a time, and others may need more.
  if (std::ranges::any_of(plan.symbols, [](const Symbol& s) { return s.max == least_value(s); })) {
    return "make " + what + " larger, or give the symbols a lower \"max\"";
  }
  const std::string text = "make " + what + " at least ";
  if (plan.symbols.empty()) return text + counted(needed, "byte") + " large";
  const std::optional<Layout> greatest = greatest_small_layout(plan);
  if (!greatest) return "";
  needed = std::max(needed, needed_by(*greatest));
  return text + counted(needed, "byte") + " large" +
         (plan.symbols.size() > 1 ? " (for the greatest values of the symbols)" : "");
}

/// What else to do about an access that passes by the end of its storage.
std::string more_storage(const Plan& plan, const Layout& layout, const Finding& finding,
                         std::int64_t needed) {
  const StorageId storage = plan.tensors[finding.tensors[0]].storage;
  if (finding.tensors.size() > 1 || !plan.storages[storage].bytes.is_constant()) return "";
  const std::string larger =
      enlarge_words(plan, storage_words(plan, storage), needed, [&](const Layout& greatest) {
        std::int64_t end = 0;
        for (const TensorId id : ids(plan.tensors)) {
          if (plan.tensors[id].storage == storage) {
            end = std::max(end, greatest.tensor(id).hull.end);
          }
        }
        return end;
      });
  return (larger.empty() ? "" : "; or " + larger) + lower_words(plan, layout);
}

/// What to do about a storage that passes by the end of its pool.
std::string more_pool(const Plan& plan, const Layout& layout, StorageId storage,
                      std::int64_t needed) {
  const PoolId pool = plan.storages[storage].pool;
  const auto slots = layout.slots(storage);
  std::string help;
  if (std::ranges::any_of(slots, [](std::int64_t at) { return at > 0; })) {
    help = "place " + storage_words(plan, storage) + " lower";
  }
  std::string larger = enlarge_words(plan, pool_words(plan, pool), needed, [&](const Layout& most) {
    std::int64_t end = 0;
    for (const StorageId id : ids(plan.storages)) {
      if (plan.storages[id].pool != pool) continue;
      for (const std::int64_t at : most.slots(id)) {
        end = std::max(end, at + most.storage(id).bytes);
      }
    }
    return end;
  });
  if (!larger.empty()) help += (help.empty() ? "" : "; or ") + larger;
  std::string lower = lower_words(plan, layout);
  if (help.empty() && lower.starts_with("; or ")) lower.erase(0, 5);
  help += lower;
  return help.empty() ? "make the pool larger" : help;
}

void tell_outside(const Plan& plan, const Layout& layout, Fault& fault) {
  Finding& finding = fault.finding;
  const auto& [a, b, c, d] = fault.numbers;
  const std::string op =
      finding.ops.empty() ? "" : op_words(plan, finding.ops[0], finding.iteration[0]);
  const std::string tensor = finding.tensors.empty() ? "" : tensor_words(plan, finding.tensors[0]);
  const std::string storage =
      finding.storages.empty() ? "" : storage_words(plan, finding.storages[0]);
  const std::string pool = pool_words(plan, finding.pool);
  finding.help = "correct the offset or the size";
  if (fault.kind == FaultKind::kPartOutside) {
    finding.message = op + " accesses " +
                      (b > a ? range_words(a, b) : "the part from byte " + number(a)) + " of " +
                      tensor + ", which ends " + counted(c, "byte") + " behind its element 0.";
  } else if (fault.kind == FaultKind::kClobberOutside) {
    finding.message = op + " clobbers " + range_words(a, b) + " of " + pool + ", which has " +
                      counted(c, "byte") + ".";
  } else if (fault.kind == FaultKind::kStorageLeft) {
    finding.message = op + " accesses " + tensor + " at " + range_words(a, b) + " of " + storage +
                      ", which has " + counted(c, "byte") + ".";
    finding.help = plan.tensors[finding.tensors[0]].placement == TensorKind::kView
                       ? "correct the view's offset, shape or strides"
                       : "correct the tensor's offset or size";
    if (a >= 0) finding.help += more_storage(plan, layout, finding, b);
  } else if (fault.kind == FaultKind::kPoolLeft) {
    finding.message = op + " accesses " + tensor + " at " + range_words(a, b) + " of " + pool +
                      ", which has " + counted(c, "byte") + ".";
    finding.help = more_pool(plan, layout, plan.tensors[finding.tensors[0]].storage, b);
  } else if (fault.kind == FaultKind::kViewOutside) {
    finding.message = tensor + " takes " + range_words(a, b) + " of " + storage +
                      ", outside its root " +
                      quoted(plan.tensors[plan.tensors[finding.tensors[0]].root].name) + " at " +
                      range_words(c, d) + ".";
    finding.help =
        "correct the view's offset (in bytes, from element 0 of its base), shape or strides";
  } else {
    finding.message = (op.empty() ? storage + " starts" : op + " accesses " + tensor) +
                      " at byte " + number(a) + " of " + pool + ": an address is never negative.";
  }
}

/// Where to move what is misaligned: the storage, or the tensor in it if only that is.
std::string move_up(const Plan& plan, const Finding& finding, std::int64_t address,
                    std::int64_t alignment, bool own) {
  const bool in_storage = finding.tensors.empty();
  const StorageId id = in_storage ? finding.storages[0] : plan.tensors[finding.tensors[0]].storage;
  const bool symbolic = !plan.exprs[plan.storages[id].slots.begin].is_constant();
  if (in_storage || (symbolic && !own)) {
    const Expr offset = plan.exprs[plan.storages[id].slots.begin];
    const std::string to =
        offset.is_constant() || plan.storages[id].slots.size() > 1
            ? "move " + storage_words(plan, id) + " up to byte " + number(address)
            : "write the offset of " + storage_words(plan, id) + " as \"align(" +
                  plan.formulas.to_string(offset) + ", " + number(alignment) + ")\"";
    return to;
  }
  const std::string to = "move " + quoted(plan.tensors[finding.tensors[0]].name) + " up to byte " +
                         number(address) + " of the pool";
  return own ? to + ", or correct its \"alignment\"" : to;
}

void tell_misaligned(const Plan& plan, Fault& fault) {
  Finding& finding = fault.finding;
  const std::int64_t address = fault.numbers[0];
  const std::int64_t alignment = fault.numbers[1];
  const std::string what = finding.tensors.empty()
                               ? storage_words(plan, finding.storages[0])
                               : "tensor " + tensor_words(plan, finding.tensors[0]);
  const bool own = !finding.tensors.empty() && plan.tensors[finding.tensors[0]].alignment != 0;
  finding.message = what + " starts at byte " + number(address) + " of " +
                    pool_words(plan, finding.pool) + ", no multiple of " +
                    (own ? "its alignment" : "the pool's alignment") + " of " +
                    counted(alignment, "byte") + ".";
  finding.help =
      move_up(plan, finding, address + alignment - (address % alignment + alignment) % alignment,
              alignment, own);
}

void tell_capacity(const Plan& plan, const Layout& layout, Fault& fault) {
  Finding& finding = fault.finding;
  const auto& [end, limit, unused_c, unused_d] = fault.numbers;
  const std::string pool = pool_words(plan, finding.pool);
  if (fault.kind == FaultKind::kCapacity) {
    finding.message = storage_words(plan, finding.storages[0]) + " ends at byte " + number(end) +
                      " of " + pool + ", which has " + counted(limit, "byte") + ".";
    finding.help = more_pool(plan, layout, finding.storages[0], end);
    return;
  }
  finding.message = "\"peak_bytes\" claims " + counted(limit, "byte") + " of " + pool +
                    ", but its highest storage ends at byte " + number(end) + ".";
  finding.help = "claim " + number(end) + " bytes";
}

}  // namespace

void tell_fault(const Plan& plan, const Layout& layout, Fault& fault) {
  Finding& finding = fault.finding;
  if (!finding.tensors.empty()) finding.alias_chain = alias_chain(plan, finding.tensors[0]);
  switch (fault.kind) {
    case FaultKind::kReadWrite:
    case FaultKind::kInPlaceOrder:
    case FaultKind::kTwoWrites:
      tell_clash(plan, fault.kind, finding);
      break;
    case FaultKind::kPartOutside:
    case FaultKind::kClobberOutside:
    case FaultKind::kStorageLeft:
    case FaultKind::kPoolLeft:
    case FaultKind::kNegative:
    case FaultKind::kViewOutside:
      tell_outside(plan, layout, fault);
      break;
    case FaultKind::kMisaligned:
      tell_misaligned(plan, fault);
      break;
    case FaultKind::kCapacity:
    case FaultKind::kPeak:
    case FaultKind::kPeakAbove:
      tell_capacity(plan, layout, fault);
      break;
    case FaultKind::kSelfOverlap:
    case FaultKind::kIncoherent:
    case FaultKind::kOwnWrite:
    case FaultKind::kSharedWritten:
    case FaultKind::kShared:
    case FaultKind::kAllocated:
      break;
  }
  describe(plan, finding);
}

}  // namespace memverify
