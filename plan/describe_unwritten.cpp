// Unwritten bytes in words: what did touch them, and what would write them (MV105).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "plan/advice.h"
#include "plan/describe.h"
#include "plan/tell.h"
#include "plan/words.h"

namespace memverify {
namespace {

/// Who wrote the bytes of an MV105 after all, and what to do.
struct Unwritten {
  std::string before;  ///< "nothing has written ", then the bytes,
  std::string after;   ///< then this.
  std::string help;
};

/// What the ops of a small plan do to the bytes that a read finds unwritten.
struct Deeds {
  std::vector<OpId> added;  ///< Through the reader's family, before it in program order.
  std::vector<OpId> clobbered;
  std::vector<OpId> written;
  std::vector<OpId> later;        ///< Written at or after the reader.
  const Access* other = nullptr;  ///< A write to them as another tensor, before the reader.
  OpId other_writer = kNone<OpId>;
};

Deeds deeds_before(const Tell& tell, const Layout& layout) {
  Deeds deeds;
  const Plan& plan = tell.plan;
  const OpId reader = tell.finding.ops[0];
  for (const OpId id : ids(plan.ops)) {
    if (plan.ops[id].kind != OpKind::kOp) continue;
    for (const Access& access : plan.accesses_of(plan.ops[id])) {
      if (access.kind == AccessKind::kRead) continue;
      if (!is_family(plan, access.tensor, tell.tensor(0))) {
        if (access.kind == AccessKind::kWrite && id < reader &&
            touches_bytes(plan, layout, access, tell.finding)) {
          deeds.other = &access;
          deeds.other_writer = id;
        }
        continue;
      }
      if (!touches_bytes(plan, layout, access, tell.finding)) continue;
      std::vector<OpId>& list = access.kind == AccessKind::kAccumulate ? deeds.added
                                : access.kind == AccessKind::kClobber  ? deeds.clobbered
                                : id < reader                          ? deeds.written
                                                                       : deeds.later;
      if (id <= reader || access.kind == AccessKind::kWrite) list.push_back(id);
    }
  }
  return deeds;
}

/// How an input might give the bytes their first value; "" where it would not help.
std::string as_input(const Tell& tell, const Layout& layout) {
  const Plan& plan = tell.plan;
  const TensorId root = plan.tensors[tell.tensor(0)].root;
  const StorageId storage = plan.tensors[root].storage;
  bool inside = false;
  for (std::int64_t slot = 0; slot < std::int64_t{layout.storage(storage).slots.size()}; ++slot) {
    const ByteRange hull = layout.tensor_region(plan, root, slot).hull();
    inside =
        inside || (hull.begin <= tell.finding.bytes.begin && tell.finding.bytes.end <= hull.end);
  }
  if (!inside || std::ranges::count(plan.inputs, root) > 0 ||
      std::ranges::count(plan.constants, root) > 0) {
    return "";
  }
  bool written = false;
  for (const Op& op : plan.ops) {
    if (op.storage == storage) return "";  // Allocated: no caller's value survives that.
    for (const Access& access : plan.accesses_of(op)) {
      const bool own = is_family(plan, access.tensor, root);
      if (access.kind == AccessKind::kRead) continue;
      if (!own &&
          (access.tensor == kNone<TensorId> || plan.tensors[access.tensor].storage == storage)) {
        return "";
      }
      written = written || own;
    }
  }
  const std::string name = quoted(plan.tensors[root].name);
  return "if the caller writes " + name + ", list it in \"inputs\"" +
         (written ? " and in \"donated\"" : "");
}

std::string names_of(const Plan& plan, const std::vector<OpId>& ops) {
  std::vector<std::string> names;
  for (const OpId op : ops) {
    if (names.size() == 4) {
      names.emplace_back("others");
      break;
    }
    if (std::string name = quoted(plan.ops[op].name); std::ranges::count(names, name) == 0) {
      names.push_back(std::move(name));
    }
  }
  return listed(names);
}

Unwritten why_unwritten(const Tell& tell) {
  const Plan& plan = tell.plan;
  const OpId reader = tell.finding.ops[0];
  Unwritten out{"nothing has written ", "",
                "write " + tell.short_thing(0) +
                    " (through it, its base or another view of it) before " + tell.short_op(0)};
  const TensorId tensor = tell.tensor(0);
  if (tensor == kNone<TensorId> || tell.finding.bytes.empty()) return out;
  const std::optional<Layout> layout = small_layout(plan, tell.finding);
  if (!layout) return out;
  const Deeds deeds = deeds_before(tell, *layout);
  const Access* read = find_access(plan, reader, tensor, AccessKind::kRead);
  std::vector<std::string> advices;
  if (deeds.written.empty() && !deeds.later.empty() && read != nullptr && read->distance == 0) {
    const OpId late = deeds.later.front();
    out.before = "nothing earlier in program order has written ";
    out.after =
        "; " + quoted(plan.ops[late].name) + " writes them but is listed after " + tell.name(0);
    if (may_list_before(plan, late, reader)) {
      const bool waits = std::ranges::any_of(
          plan.after_of(plan.ops[reader]),
          [&](const After& one) { return one.op == late && one.distance == 0; });
      advices.push_back("list " + quoted(plan.ops[late].name) + " before " + tell.name(0) +
                        " in \"ops\"" +
                        (waits || is_same_serial_queue(plan, late, reader)
                             ? ""
                             : " and " + make_wait(plan, reader, late, 0)));
      if (waits && read->from == kNone<OpId>) {
        advices.push_back("say \"from\": \"" + printable(plan.ops[late].name) +
                          "\" in the read of " + tell.name(0));
      }
    }
  } else if (deeds.written.empty() && !deeds.added.empty()) {
    out.before = "nothing but accumulates (by " + names_of(plan, deeds.added) + ") has touched ";
    out.after = ", with no value under them";
    advices.push_back("write " + tell.short_thing(0) + " before " +
                      quoted(plan.ops[deeds.added.front()].name) + " accumulates into it");
  } else if (deeds.written.empty() && !deeds.clobbered.empty()) {
    out.before = "nothing but clobbers (by " + names_of(plan, deeds.clobbered) + ") has touched ";
    out.after = ", and a clobber leaves no value";
  } else if (deeds.written.empty() && deeds.other != nullptr) {
    const std::string other = quoted(plan.tensors[deeds.other->tensor].name);
    const std::string root = quoted(plan.tensors[plan.tensors[tensor].root].name);
    out.after =
        " as that tensor; " + quoted(plan.ops[deeds.other_writer].name) + " wrote them as " + other;
    advices.push_back("if " + root + " is the value of " + other +
                      ", declare it as a view of that (\"view_of\")");
  }
  for (const OpId op : deeds.written) {
    if (plan.when_of(plan.ops[op]).empty() || !advices.empty()) continue;
    advices.push_back("write " + tell.short_thing(0) + " also where the \"when\" of " +
                      quoted(plan.ops[op].name) + " does not hold");
  }
  if (advices.empty() || deeds.other != nullptr) advices.push_back(out.help);
  if (std::string input = as_input(tell, *layout); !input.empty()) {
    advices.push_back(std::move(input));
  }
  out.help = either(advices, "");
  return out;
}

/// The first op that accumulates into the family of a tensor that no op writes; "" if none.
std::string accumulates_only(const Plan& plan, TensorId tensor) {
  std::string adder;
  for (const Op& op : plan.ops) {
    for (const Access& access : plan.accesses_of(op)) {
      if (!is_family(plan, access.tensor, tensor)) continue;
      if (access.kind == AccessKind::kWrite) return "";
      if (access.kind == AccessKind::kAccumulate && adder.empty()) adder = quoted(op.name);
    }
  }
  return adder;
}

}  // namespace

Words describe_unwritten(const Tell& tell) {
  if (tell.finding.ops.empty()) {
    const std::string adder = accumulates_only(tell.plan, tell.tensor(0));
    return {"output " + tell.thing(0) + " has bytes that nothing has written" + tell.end(),
            adder.empty()
                ? "write them before the end, or make the output smaller"
                : "write " + tell.short_thing(0) + " before " + adder + " accumulates into it"};
  }
  const Unwritten unwritten = why_unwritten(tell);
  const ByteRange bytes = tell.finding.bytes;
  const std::string range =
      bytes.empty()
          ? "some of its bytes"
          : "bytes [" + std::to_string(bytes.begin) + ", " + std::to_string(bytes.end) + ")" +
                (tell.finding.pool == kNone<PoolId>
                     ? ""
                     : " of pool " + quoted(tell.plan.pools[tell.finding.pool].name));
  const std::string in = tell.brief || tell.storages().empty() ? "" : " (" + tell.storages() + ")";
  return {tell.op(0) + " reads " + tell.thing(0) + ", but " + unwritten.before + range + in +
              unwritten.after + ".",
          unwritten.help};
}

}  // namespace memverify
