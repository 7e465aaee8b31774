#include "plan/describe.h"

#include <string>
#include <utility>
#include <vector>

#include "plan/tell.h"
#include "plan/words.h"

namespace memverify {
namespace {

Words describe_in_place(const Tell& tell) {
  const std::string op = tell.finding.ops.empty() ? "an op" : tell.op(0);
  const std::string end = tell.end();
  if (tell.finding.tensors.size() < 2) {
    return {op + " writes " + tell.thing(0) + ", two of whose elements share a byte" + end,
            "give the written tensor strides that keep its elements apart"};
  }
  const std::string x = tell.short_thing(0);
  const std::string y = tell.short_thing(1);
  const bool reads = !tell.finding.ops.empty() &&
                     tell.accesses(tell.finding.ops[0], tell.tensor(0), AccessKind::kRead);
  if (!reads) {
    return {op + " writes both " + tell.thing(0) + " and " + tell.thing(1) + ", which share bytes" +
                end,
            "give " + y + " bytes that " + x + " does not use"};
  }
  return {op + " reads " + tell.thing(0) + " and writes " + tell.thing(1) +
              " over the same bytes, and no in-place pair of it allows that" + end,
          "give " + y +
              " other bytes; if the op really works in place, declare \"in_place\": "
              "[[\"" +
              x.substr(1, x.size() - 2) + "\", \"" + y.substr(1, y.size() - 2) +
              "\"]] and give both the same layout"};
}

Words describe_bounds(const Tell& tell) {
  const std::string range =
      tell.finding.bytes.empty()
          ? ""
          : " (" + place_words(tell.plan, tell.finding.pool, tell.finding.bytes) + ")";
  const std::string what = tell.finding.ops.empty() ? "" : tell.op(0) + ": ";
  if (tell.tensor(0) == kNone<TensorId>) {
    const std::string storages = tell.storages();
    return {what + (storages.empty() ? "an access" : storages) + " leaves its pool" + range,
            "correct the offset or the size"};
  }
  const Tensor& tensor = tell.plan.tensors[tell.finding.tensors[0]];
  const std::string holder = !tell.finding.ops.empty() ? "the tensor or pool it names a part of"
                             : tensor.placement == Placement::kView
                                 ? "its base " + quoted(tell.plan.tensors[tensor.base].name)
                                 : "its storage";
  return {what + tensor_words(tell.plan, tell.finding.tensors[0]) + " reaches outside " + holder +
              range + ".",
          "correct the offset, the shape or the strides"};
}

Words describe_misaligned(const Tell& tell) {
  const TensorId tensor = tell.tensor(0);
  const std::string what = tensor != kNone<TensorId>
                               ? "tensor " + quoted(tell.plan.tensors[tensor].name)
                               : tell.storages();
  std::int64_t alignment = tensor == kNone<TensorId> ? 0 : tell.plan.tensors[tensor].alignment;
  if (alignment == 0 && tell.finding.pool != kNone<PoolId>) {
    alignment = tell.plan.pools[tell.finding.pool].alignment;
  }
  const std::string multiple =
      alignment == 0 ? "its alignment" : std::to_string(alignment) + " bytes";
  return {what + " starts at byte " + std::to_string(tell.finding.bytes.begin) +
              ", which is no multiple of " + multiple + ".",
          "move it to a multiple of " + multiple};
}

Words describe_capacity(const Tell& tell) {
  const std::string pool = tell.finding.pool == kNone<PoolId>
                               ? "its pool"
                               : "pool " + quoted(tell.plan.pools[tell.finding.pool].name);
  const std::string storages = tell.storages();
  if (storages.empty()) {
    return {pool + " uses more bytes than \"peak_bytes\" claims.",
            "claim the highest end of its storages"};
  }
  return {storages + " ends past the end of " + pool + ".",
          "place it lower, or make the pool larger"};
}

Words describe_incoherent(const Tell& tell) {
  const std::string op = tell.finding.ops.empty() ? "a view op" : tell.op(0);
  std::vector<std::string> names;
  for (const TensorId tensor : tell.finding.tensors)
    names.push_back(tensor_words(tell.plan, tensor));
  return {op + " is a view, but its operands and results are not all views of one root" +
              (names.empty() ? "." : ": " + listed(names) + "."),
          "state the alias with \"view_of\", or make it an op that copies"};
}

Words describe_not_proven(const Tell& tell) {
  if (tell.finding.ops.empty()) {
    return {"A limit was reached: the plan is neither proven safe nor shown unsafe.",
            "simplify the plan, or raise the limit"};
  }
  const std::string end = tell.end();
  return {"What " + tell.op(0) + " does is not modelled: it may touch " +
              (tell.finding.tensors.empty() ? "any byte" : tell.thing(0)) +
              " at any time from its start on" + end,
          "list what it reads and writes and give it kind \"op\""};
}

Words describe_warning(const Tell& tell) {
  if (tell.finding.event != kNone<EventId>) {
    const std::string event = "event " + quoted(tell.plan.events[tell.finding.event]);
    const bool waits =
        !tell.finding.ops.empty() && tell.plan.ops[tell.finding.ops[0]].kind != OpKind::kRecord;
    if (waits) {
      return {tell.op(0) + " waits for " + event +
                  ", which nothing records before it: the wait has no effect.",
              "record the event earlier in program order, or remove the wait"};
    }
    return {event + " is recorded but nothing waits for it.", "remove it, or wait for it"};
  }
  if (tell.finding.semaphore != kNone<SemaphoreId>) {
    return {"semaphore " + quoted(tell.plan.semaphores[tell.finding.semaphore].name) +
                " orders nothing: it is signalled and never waited for, or the other way round.",
            "remove it, or wait for it"};
  }
  if (tell.finding.tensors.size() > 1) {
    return {tell.thing(0) + " and " + tell.thing(1) +
                " share bytes; nothing writes them, so this is harmless" + tell.end(),
            "give each its own bytes unless sharing them is meant"};
  }
  if (tell.finding.ops.empty() && tell.finding.pool != kNone<PoolId>) {
    return {"\"peak_bytes\" of pool " + quoted(tell.plan.pools[tell.finding.pool].name) +
                " is above the bytes it uses.",
            "claim the highest end of its storages"};
  }
  const std::string what = tell.finding.ops.empty() ? "a sync" : tell.op(0);
  return {what + " has no effect.", "remove it"};
}

Words words_for(const Tell& tell) {
  switch (tell.finding.rule) {
    case Rule::kWar:
    case Rule::kRaw:
    case Rule::kWaw:
      return tell.finding.ops.size() < 2 ? Words{} : describe_race(tell);
    case Rule::kWrongVersion:
      return tell.finding.ops.empty() ? Words{} : describe_wrong_version(tell);
    case Rule::kUnwritten:
      return describe_unwritten(tell);
    case Rule::kBoundary:
      return describe_boundary(tell);
    case Rule::kInPlace:
      return describe_in_place(tell);
    case Rule::kOutOfBounds:
      return describe_bounds(tell);
    case Rule::kMisaligned:
      return describe_misaligned(tell);
    case Rule::kCapacity:
      return describe_capacity(tell);
    case Rule::kDeadlock:
      return describe_deadlock(tell);
    case Rule::kLifetime:
      return describe_lifetime(tell);
    case Rule::kIncoherent:
      return describe_incoherent(tell);
    case Rule::kNotProven:
      return describe_not_proven(tell);
    case Rule::kWarning:
      return describe_warning(tell);
  }
  return {};
}

}  // namespace

std::string headline(const Plan& plan, const Finding& finding) {
  if (finding.ops.size() != 2 || finding.rule > Rule::kWrongVersion) return "";
  const Tell tell{plan, finding};
  const std::string first = tell.short_op(0);
  const std::string second = tell.short_op(1);
  switch (finding.rule) {
    case Rule::kWar:
      return second + " may " + std::string(tell.write_verb(1)) + " " + tell.short_thing(1) +
             " while " + first + " still reads " + tell.short_thing(0);
    case Rule::kRaw:
      return second + " may read " + tell.short_thing(1) + " before " + first + " has written " +
             tell.short_thing(0);
    case Rule::kWaw:
      return second + " may " + std::string(tell.write_verb(1)) + " " + tell.short_thing(1) +
             " while " + first + " still writes " + tell.short_thing(0);
    default:
      break;
  }
  const std::size_t reader = reader_of(tell);
  return tell.short_op(reader) + " reads " + tell.short_thing(reader) + " but finds what " +
         tell.short_op(1 - reader) + " wrote to " + tell.short_thing(1 - reader);
}

void describe(const Plan& plan, Finding& finding) {
  if (!finding.message.empty() && !finding.help.empty()) return;
  Words words = words_for(Tell{plan, finding});
  if (finding.message.empty()) finding.message = std::move(words.message);
  if (finding.help.empty()) finding.help = std::move(words.help);
}

}  // namespace memverify
