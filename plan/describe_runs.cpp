// Races and lifetimes in words.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/advice.h"
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

constexpr std::int64_t kMostRanges = 10'000;

/// The ranges of bytes that both touch, ascending; none if one has too many.
std::vector<ByteRange> shared_ranges(const Region& a, const Region& b) {
  std::vector<ByteRange> shared;
  if (a.pool() != b.pool() || a.count_runs(kMostRanges) == kMostRanges ||
      b.count_runs(kMostRanges) == kMostRanges) {
    return shared;
  }
  const std::vector<ByteRange> mine = a.runs();
  const std::vector<ByteRange> theirs = b.runs();
  for (std::size_t i = 0, k = 0; i < mine.size() && k < theirs.size();) {
    const ByteRange both{std::max(mine[i].begin, theirs[k].begin),
                         std::min(mine[i].end, theirs[k].end)};
    if (both.begin < both.end) shared.push_back(both);
    ++(mine[i].end < theirs[k].end ? i : k);
  }
  return shared;
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

std::string more_shared_bytes(const Plan& plan, const Finding& finding) {
  if (finding.ops.size() != 2 || finding.tensors.size() != 2 || finding.bytes.empty()) return "";
  const std::optional<Layout> layout = small_layout(plan, finding);
  if (!layout) return "";
  const Tell tell{plan, finding};
  const auto regions_of = [&](std::size_t i) {
    std::vector<Region> regions;
    for (const Access& access : plan.accesses_of(plan.ops[finding.ops[i]])) {
      if (access.tensor == kNone<TensorId> || access.tensor != tell.tensor(i)) continue;
      regions.push_back(layout->access_region(plan, access, tell.iteration(i) - access.distance));
    }
    return regions;
  };
  const std::vector<Region> others = regions_of(1);
  for (const Region& a : regions_of(0)) {
    for (const Region& b : others) {
      const std::vector<ByteRange> shared = shared_ranges(a, b);
      if (shared.size() < 2 || shared[0] != finding.bytes) continue;
      std::int64_t bytes = 0;
      for (const ByteRange& range : shared) bytes += range.end - range.begin;
      return " and " + counted(std::ssize(shared) - 1, "more range") + " up to byte " +
             std::to_string(shared.back().end) + ", " + std::to_string(bytes) + " bytes in all";
    }
  }
  return "";
}

}  // namespace memverify
