#include "plan/describe.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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
  words.help = read == written && read != kNone<TensorId> &&
                       tell.plan.tensors[read].storage != kNone<StorageId>
                   ? "give " + tell.storages() + " one slot more"
                   : "give " + tell.short_thing(1) + " other bytes";
  if (read != kNone<TensorId> && written != kNone<TensorId>) {
    words.help += "; or, if the op really works in place, declare \"in_place\": [[\"" +
                  printable(tell.plan.tensors[read].name) + "\", \"" +
                  printable(tell.plan.tensors[written].name) +
                  "\"]] and lay out both in the same way";
  }
  return words;
}

Words describe_incoherent(const Tell& tell) {
  if (tell.finding.ops.empty()) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tell.finding.tensors.size(); ++i) names.push_back(tell.thing(i));
  return {tell.op(0) + " is a view, but its operands and results are not all of one alias family" +
              (names.empty() ? "." : ": " + listed(names) + "."),
          "state the alias with \"view_of\", or make it an op that copies"};
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
