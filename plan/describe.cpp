#include "plan/describe.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/advice.h"
#include "plan/element_order.h"
#include "plan/tell.h"
#include "plan/words.h"

namespace memverify {
namespace {

/// "`H`", and for the tensor of an iteration before "`H` of 1 iteration before".
std::string read_words(const Tell& tell, TensorId tensor) {
  std::string out = tell.thing(0);
  for (const Access& access : tell.plan.accesses_of(tell.plan.ops[tell.finding.ops[0]])) {
    if (access.kind != AccessKind::kRead || access.tensor != tensor) continue;
    if (access.distance > 0) out += " of " + counted(access.distance, "iteration") + " before";
    break;
  }
  return out;
}

/// One tensor is read and written: of one iteration, or of two that share a slot.
std::string same_tensor_advice(const Tell& tell, TensorId tensor) {
  std::int64_t read = 0;
  std::int64_t written = 0;
  for (const Access& access : tell.plan.accesses_of(tell.plan.ops[tell.finding.ops[0]])) {
    if (access.tensor != tensor) continue;
    (access.kind == AccessKind::kRead ? read : written) = access.distance;
  }
  const StorageId storage = tell.plan.tensors[tensor].storage;
  const std::int64_t apart = std::abs(read - written);
  const auto slots = std::int64_t{tell.plan.storages[storage].slots.size()};
  if (apart == 0 || apart % (slots + 1) == 0) return "read and write separate tensors";
  return "give storage " + quoted(tell.plan.storages[storage].name) + " " +
         counted(slots + 1, "slot") + " (it has " + std::to_string(slots) + ")";
}

/// True only if the op reads and writes the two as a whole, with each element in the same place.
bool is_same_place(const Tell& tell, TensorId read, TensorId written) {
  const Plan& plan = tell.plan;
  const OpId op = tell.finding.ops[0];
  const Access* from = find_access(plan, op, read, AccessKind::kRead);
  const Access* to = find_access(plan, op, written, AccessKind::kWrite);
  if (from == nullptr || to == nullptr || from->part != Access::kWhole ||
      to->part != Access::kWhole) {
    return false;
  }
  const std::optional<Layout> layout = small_layout(plan, tell.finding);
  if (!layout) return false;
  const auto element_0 = [&](const Access& access) {
    return layout->slot_address(plan.tensors[access.tensor].storage,
                                tell.iteration(0) - access.distance) +
           layout->tensor(access.tensor).offset;
  };
  return same_elements(plan, *layout, read, element_0(*from), written, element_0(*to));
}

Words describe_in_place(const Tell& tell) {
  if (tell.finding.ops.empty()) return {};
  if (tell.finding.tensors.size() < 2) {
    return {tell.op(0) + " writes " + tell.thing(0) + ", two of whose elements share a byte" +
                tell.end(),
            "give the written tensor strides that keep its elements apart"};
  }
  const TensorId read = tell.tensor(0);
  const TensorId written = tell.tensor(1);
  Words words;
  words.message = tell.op(0) + " reads " + read_words(tell, read) + " and writes " + tell.thing(1) +
                  " over the same bytes, and no in-place pair allows that" + tell.end();
  words.help =
      read == written && read != kNone<TensorId>
          ? same_tensor_advice(tell, read)
          : "give " + tell.short_thing(1) + " bytes that " + tell.short_thing(0) + " does not use";
  if (read != kNone<TensorId> && written != kNone<TensorId>) {
    const bool is_plain = is_same_place(tell, read, written);
    words.help += std::string("; or, if the op ") +
                  (is_plain ? "works element by element" : "copes with any overlap of the two") +
                  ", declare \"in_place\": [[\"" + printable(tell.plan.tensors[read].name) +
                  "\", \"" + printable(tell.plan.tensors[written].name) +
                  (is_plain ? "\"]]" : "\", \"any\"]]");
  }
  return words;
}

Words describe_incoherent(const Tell& tell) {
  if (tell.finding.ops.empty()) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tell.finding.tensors.size(); ++i) names.push_back(tell.thing(i));
  return {tell.op(0) + " is a view, but its operands and results are not all of one alias family" +
              (names.empty() ? "." : ": " + listed(names) + "."),
          "state the alias with \"view_of\", or give it kind \"op\" and a \"queue\" if it copies"};
}

Words describe_not_proven(const Tell& tell) {
  if (tell.finding.ops.empty()) return {};
  std::string message = "What " + tell.op(0) +
                        " does is not modelled: it may touch what it lists, or every byte if it "
                        "lists nothing, from its start to the end of the plan.";
  if (tell.finding.ops.size() > 1) message += " Bytes that " + tell.op(1) + " uses are among them.";
  return {tell.brief ? "the effects of " + tell.op(0) + " are not modelled" : message,
          "list what " + tell.short_op(0) + " reads and writes and give it kind \"op\""};
}

Words describe_warning(const Tell& tell) {
  if (tell.finding.event != kNone<EventId> && !tell.finding.ops.empty()) {
    auto [message, help] = unbound_wait(tell.plan, tell.finding.ops[0], tell.finding.event);
    return {std::move(message), std::move(help)};
  }
  if (tell.finding.tensors.size() < 2) return {};
  return {tell.thing(0) + " and " + tell.thing(1) +
              " share bytes; nothing may write them, so this is harmless" + tell.end(),
          "give each its own bytes unless sharing them is meant"};
}

/// No words for what only static faults report; they come with their own.
Words words_for(const Tell& tell) {
  switch (tell.finding.rule) {
    case Rule::kWar:
    case Rule::kRaw:
    case Rule::kWaw:
      return describe_race(tell);
    case Rule::kWrongVersion:
      return describe_wrong_version(tell);
    case Rule::kUnwritten:
      return describe_unwritten(tell);
    case Rule::kBoundary:
      return describe_boundary(tell);
    case Rule::kInPlace:
      return describe_in_place(tell);
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
    case Rule::kOutOfBounds:
    case Rule::kMisaligned:
    case Rule::kCapacity:
      return {};
  }
  return {};
}

}  // namespace

std::pair<std::string, std::string> unbound_wait(const Plan& plan, OpId op, EventId event) {
  const std::string name(plan.events[event]);
  std::string why = "nothing records";
  std::string help = "record the event before the wait, or remove the wait";
  for (const OpId id : ids(plan.ops)) {
    const auto signals = plan.signals_of(plan.ops[id]);
    const bool fires =
        (plan.ops[id].kind == OpKind::kRecord && plan.ops[id].event == event) ||
        std::ranges::any_of(signals, [&](const Signal& signal) { return signal.event == event; });
    if (!fires) continue;
    why = "only " + quoted(plan.ops[id].name) + " records, " +
          (id > op ? "later in program order" : "and no run has it before the wait");
    // Nothing that it waits for may come to wait for it.
    const bool is_free = plan.after_of(plan.ops[id]).empty() && plan.waits_of(plan.ops[id]).empty();
    if (id > op) {
      help = (is_free ? "list " + quoted(plan.ops[id].name) + " before " +
                            quoted(plan.ops[op].name) + " in \"ops\", or "
                      : "") +
             std::string("remove the wait");
    }
    break;
  }
  std::string message = quoted(plan.ops[op].name) + " waits for event " + quoted(name) +
                        ", which " + why + ": the wait orders nothing";
  const bool is_semaphore = std::ranges::any_of(
      plan.semaphores, [&](const Semaphore& semaphore) { return semaphore.name == name; });
  if (is_semaphore) message += "; there is a semaphore of that name";
  return {message + ".", help};
}

std::string headline(const Plan& plan, const Finding& finding) {
  const bool ours = words_for(Tell{plan, finding}).message == finding.message;
  std::string title = finding.message;
  if (ours) {
    const Tell tell{plan, finding, true};
    title = words_for(tell).message;
    if (title.ends_with('.')) title.pop_back();
    if (tell.one_iteration()) {
      title += " (iteration " + std::to_string(finding.iteration[0]) + ")";
    }
  }
  if (title.empty()) title = info(finding.rule).summary;
  if (title.ends_with('.')) title.pop_back();
  return title;
}

void describe(const Plan& plan, Finding& finding) {
  if (!finding.message.empty() && !finding.help.empty()) return;
  Words words = words_for(Tell{plan, finding});
  if (finding.message.empty()) finding.message = std::move(words.message);
  if (finding.message.empty()) finding.message = info(finding.rule).summary;
  if (finding.help.empty()) finding.help = std::move(words.help);
}

}  // namespace memverify
