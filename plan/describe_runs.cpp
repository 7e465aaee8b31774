// Races and lifetimes in words.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "plan/describe.h"
#include "plan/tell.h"
#include "plan/words.h"

namespace memverify {
namespace {

/// Two that act on one storage: of one kind, or unordered.
Words describe_lifetime_ops(const Tell& tell, const std::string& of) {
  const auto frees = [&](std::size_t i) {
    return tell.plan.ops[tell.finding.ops[i]].kind == OpKind::kFree;
  };
  const std::string first = tell.op(0);
  const std::string second = tell.op(1);
  if (frees(0) == frees(1)) {
    return {second + (frees(1) ? " frees " : " allocates ") + of + " though " + first +
                (frees(0) ? " has freed it already." : " has allocated it already."),
            frees(1) ? "remove one of the two, or allocate the storage between them"
                     : "remove one of the two, or free the storage between them"};
  }
  return {second + (frees(1) ? " may free " : " may allocate ") + of + " before " + first +
              (frees(0) ? " has freed it." : " has allocated it."),
          tell.make_wait(1, 0)};
}

Words describe_lifetime_pair(const Tell& tell) {
  const std::string storage = tell.storages();
  const std::string of = storage.empty() ? "the storage" : storage;
  if (tell.is_lifetime_op(0) && tell.is_lifetime_op(1)) return describe_lifetime_ops(tell, of);
  const std::size_t life = tell.is_lifetime_op(0) ? 0 : 1;
  const std::size_t access = 1 - life;
  const std::string user = tell.op(access);
  const std::string thing = tell.thing(tell.tensor(access) == kNone<TensorId> ? 0 : access);
  const std::string end = tell.end();
  if (tell.plan.ops[tell.finding.ops[life]].kind == OpKind::kAlloc) {
    return {
        user + " may access " + thing + " before " + tell.op(life) + " has allocated " + of + end,
        tell.make_wait(access, life)};
  }
  if (access < life) {
    return {tell.op(life) + " may free " + of + " before " + user +
                " has completed its access to " + thing + end,
            tell.make_wait(life, access)};
  }
  const std::string freer = tell.name(life);
  const std::string reader = tell.name(access);
  const bool next_iteration = tell.iteration(access) > tell.iteration(life);
  return {user + " accesses " + thing + " after " + tell.op(life) + " has freed " + of + end,
          next_iteration ? "allocate the storage again before " + reader +
                               ", or free it in the last iteration alone"
                         : "list " + freer + " after " + reader + " in \"ops\", and " +
                               tell.make_wait(life, access)};
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
    const bool frees = life && tell.plan.ops[tell.finding.ops[0]].kind == OpKind::kFree;
    return {role + " " + tell.thing(0) + " lies in " + of + ", which " +
                (life ? tell.op(0) + (frees ? " frees." : " allocates.") : "the plan allocates."),
            "leave the storage of an input or constant to the caller: no alloc, no free"};
  }
  if (life) {
    return {tell.op(0) + " frees " + of + " before anything has allocated it.",
            "list " + quoted(tell.plan.ops[tell.finding.ops[0]].name) +
                " after the op that allocates the storage, or remove it"};
  }
  const std::string user = tell.finding.ops.empty() ? "an access" : tell.op(0);
  return {user + " accesses " + tell.thing(0) + " in " + of + ", which is not allocated then" +
              tell.end(),
          "list an op of kind \"alloc\" of the storage before the access, and make the access wait "
          "for it"};
}

}  // namespace memverify
