// What a run can show, in words.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "plan/describe.h"
#include "plan/tell.h"
#include "plan/words.h"

namespace memverify {
namespace {

/// Of the two ops of an MV104, which is the reader: the one that takes the last step of the run.
std::size_t reader_of(const Tell& tell) {
  if (!tell.finding.witness.empty()) {
    const Step& last = tell.finding.witness.back();
    for (std::size_t i = 0; i < tell.finding.ops.size(); ++i) {
      if (tell.finding.ops[i] == last.op && tell.iteration(i) == last.iteration) return i;
    }
  }
  for (std::size_t i = tell.finding.ops.size(); i > 0; --i) {
    if (tell.accesses(tell.finding.ops[i - 1], tell.tensor(i - 1), AccessKind::kRead)) {
      return i - 1;
    }
  }
  return tell.finding.ops.size() - 1;
}

/// Who signals `semaphore`: "only `a` (by 1) and `b` (by 2) signal it", "nothing signals it".
std::string signallers(const Plan& plan, SemaphoreId semaphore) {
  std::vector<std::string> names;
  for (const OpId id : ids<OpId>(plan.ops)) {
    for (const Signal& signal : plan.signals_of(plan.ops[id])) {
      if (signal.semaphore != semaphore) continue;
      names.push_back(quoted(plan.ops[id].name) +
                      (plan.semaphores[semaphore].timeline ? " (to " : " (by ") +
                      plan.formulas.to_string(signal.value) + ")");
    }
    if (names.size() > 4) {
      names.resize(4);
      names.emplace_back("others");
      break;
    }
  }
  if (names.empty()) return "nothing signals it";
  return "only " + listed(names) + (names.size() == 1 ? " signals it" : " signal it");
}

Words describe_lifetime_pair(const Tell& tell) {
  const auto kind = [&](std::size_t i) { return tell.plan.ops[tell.finding.ops[i]].kind; };
  const std::string storage = tell.storages();
  const std::string of = storage.empty() ? "the storage" : storage;
  if (tell.is_lifetime_op(0) && tell.is_lifetime_op(1)) {
    const bool frees = kind(1) == OpKind::kFree;
    return {
        tell.op(1) + (frees ? " frees " : " allocates ") + of + " though " + tell.op(0) +
            (kind(0) == OpKind::kFree ? " has freed it already." : " has allocated it already."),
        frees ? "free a storage once" : "free the storage before it is allocated again"};
  }
  const std::size_t life = tell.is_lifetime_op(0) ? 0 : 1;
  const std::size_t access = 1 - life;
  const auto when = [&](std::size_t i) {
    return std::pair(tell.iteration(i), tell.finding.ops[i]);
  };
  const std::string user = tell.op(access);
  const std::string thing = tell.thing(tell.tensor(access) == kNone<TensorId> ? 0 : access);
  const std::string end = tell.end();
  if (kind(life) == OpKind::kAlloc) {
    return {
        user + " may access " + thing + " before " + tell.op(life) + " has allocated " + of + end,
        "make " + tell.short_op(access) + " wait for " + tell.short_op(life) + " to complete"};
  }
  if (when(access) < when(life)) {
    return {tell.op(life) + " may free " + of + " before " + user +
                " has completed its access to " + thing + end,
            "make " + tell.short_op(life) + " wait for " + tell.short_op(access) + " to complete"};
  }
  return {user + " accesses " + thing + " after " + tell.op(life) + " has freed " + of + end,
          "free the storage after " + tell.short_op(access)};
}

}  // namespace

Words describe_race(const Tell& tell) {
  if (tell.finding.ops.size() < 2) return {};
  const std::string first = tell.op(0);
  const std::string second = tell.op(1);
  const std::string x = tell.thing(0);
  const std::string y = tell.thing(1);
  std::string clash;
  if (tell.finding.rule == Rule::kRaw) {
    clash = second + " may read " + y + " before " + first + " has completed its write of " + x;
  } else {
    clash = second + " may " + std::string(tell.write_verb(1)) + " " + y + " while " + first +
            (tell.finding.rule == Rule::kWar ? " still reads " : " still writes ") + x;
  }
  if (tell.brief) return {clash, ""};
  return {clash + tell.end() + " Nothing makes " + tell.short_op(1) + " wait for " +
              tell.short_op(0) + " to complete.",
          how_to_order(tell.plan, tell.finding)};
}

Words describe_wrong_version(const Tell& tell) {
  if (tell.finding.ops.empty()) return {};
  const std::size_t reader = reader_of(tell);
  const std::string reads = tell.op(reader) + " reads " + tell.thing(reader) + " but finds ";
  const bool known = tell.finding.expected != kNone<OpId>;
  const std::string wanted = tell.expected("the value it should");
  const std::string end = tell.end();
  if (tell.finding.ops.size() < 2) {
    return {reads + "other bytes than " + wanted + end, "keep those bytes until the read"};
  }
  const std::size_t writer = 1 - reader;
  const std::string reader_name = tell.short_op(reader);
  const std::string writer_name = tell.short_op(writer);
  const std::string found =
      "the bytes that " + tell.op(writer) + " wrote to " + tell.thing(writer) + ", not " + wanted;
  const auto when = [&](OpId op, std::int64_t iteration) { return std::pair(iteration, op); };
  const bool stale = known && when(tell.finding.expected, tell.finding.expected_iteration) >
                                  when(tell.finding.ops[writer], tell.iteration(writer));
  if (stale) {
    const std::string expected =
        op_name(tell.plan, tell.finding.expected, tell.finding.expected_iteration);
    return {reads + found + end + " " + expected + " has not run by then.",
            "make " + reader_name + " wait for " + expected + " to complete"};
  }
  const TensorId x = tell.tensor(reader);
  const TensorId y = tell.tensor(writer);
  const bool family = x != kNone<TensorId> && y != kNone<TensorId> &&
                      tell.plan.tensors[x].root == tell.plan.tensors[y].root;
  if (writer > reader) {
    return {reads + found + end,
            "make " + writer_name + " wait for " + reader_name + " to complete"};
  }
  if (family) {
    return {reads + found + end, "order " + writer_name + " after " + reader_name +
                                     ", or say which version is meant with \"from\" in the read"};
  }
  return {reads + found + end, "give " + tell.short_thing(writer) + " bytes that " +
                                   tell.short_thing(reader) + " does not use, or run " +
                                   writer_name + " after " + reader_name};
}

Words describe_unwritten(const Tell& tell) {
  if (tell.finding.ops.empty()) {
    return {"output " + tell.thing(0) + " has bytes that nothing has written" + tell.end(),
            "write them before the end, or make the output smaller"};
  }
  const std::string x = tell.short_thing(0);
  return {tell.op(0) + " reads " + tell.thing(0) + ", of which nothing has written some bytes" +
              tell.end(),
          "write " + x + " (through it, its base or another view of it) before " +
              tell.short_op(0) + ", or list its root in \"inputs\""};
}

Words describe_boundary(const Tell& tell) {
  const TensorId tensor = tell.tensor(0);
  const std::string role = tensor == kNone<TensorId> ? "tensor" : tell.role(tensor);
  const std::string subject = role + " " + tell.thing(0);
  const std::string end = tell.end();
  if (tell.finding.ops.empty() && tell.finding.tensors.size() > 1) {
    return {subject + " shares bytes with " + tell.thing(1) +
                ", and one of the two may be overwritten" + end,
            "give each its own bytes"};
  }
  const std::string by =
      tell.finding.ops.empty() ? "it is overwritten" : tell.op(0) + " overwrites it";
  if (role == "output") {
    const std::string wanted = tell.expected("its value");
    const std::string found =
        tell.finding.ops.empty() ? "it was overwritten" : "it holds what " + tell.op(0) + " wrote";
    return {subject + " does not hold " + wanted + " at the end: " + found + end,
            "give the output bytes that nothing reuses, or order the overwriting op before its "
            "last write"};
  }
  const std::string donate =
      role == "input" ? ", or list it in \"donated\" if its value is not needed afterwards" : "";
  return {subject + " must keep its value to the end, but " + by + end,
          "write somewhere else" + donate};
}

Words describe_deadlock(const Tell& tell) {
  if (tell.finding.ops.empty()) {
    return {"A state is reachable in which something waits for ever.", "break the cycle of waits"};
  }
  const std::string op = tell.op(0) + " can wait for ever";
  if (tell.finding.semaphore != kNone<SemaphoreId>) {
    std::string waited = "semaphore " + quoted(tell.plan.semaphores[tell.finding.semaphore].name);
    for (const Wait& wait : tell.plan.waits_of(tell.plan.ops[tell.finding.ops[0]])) {
      if (wait.semaphore == tell.finding.semaphore)
        waited = wait_words(tell.plan, tell.finding.ops[0], wait);
    }
    return {op + " for " + waited + ": " + signallers(tell.plan, tell.finding.semaphore) +
                ", and in some run that does not suffice.",
            "signal the semaphore often enough before " + tell.short_op(0) +
                " needs it, or wait for a smaller value"};
  }
  const std::string now = what_holds_back(tell.plan, tell.finding.ops[0], tell.iteration(0));
  return {op + (now.empty() ? "." : "; it starts only after: " + now + "."),
          "break the cycle: something that " + tell.short_op(0) +
              " waits for waits for it in turn, or never comes"};
}

Words describe_lifetime(const Tell& tell) {
  if (tell.finding.ops.size() > 1) return describe_lifetime_pair(tell);
  const std::string storage = tell.storages();
  const std::string of = storage.empty() ? "its storage" : storage;
  const TensorId tensor = tell.tensor(0);
  const bool life = !tell.finding.ops.empty() && tell.is_lifetime_op(0);
  if (tensor != kNone<TensorId> && (tell.finding.ops.empty() || life)) {
    const std::string role = tell.role(tensor);
    const std::string by = tell.finding.ops.empty() ? "" : " (" + tell.op(0) + ")";
    if (role == "output") {
      return {"output " + tell.thing(0) + " is read at the end, when " + of + " is not allocated" +
                  by + ".",
              "do not free the storage of an output"};
    }
    return {role + " " + tell.thing(0) + " lies in " + of + ", which the plan allocates or frees" +
                by + ".",
            "leave the storage of an input or constant to the caller: no alloc, no free"};
  }
  if (life) {
    return {tell.op(0) + " acts on " + of + ", which is not in the state for it.",
            "alternate alloc and free of a storage"};
  }
  const std::string user = tell.finding.ops.empty() ? "an access" : tell.op(0);
  return {user + " accesses " + tell.thing(0) + " in " + of + ", which is not allocated then" +
              tell.end(),
          "allocate the storage before the access and free it after"};
}

}  // namespace memverify
