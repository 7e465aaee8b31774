#include "tools/report_text.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include "plan/describe.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kLabelWidth = 9;

std::string severity_mark(const RuleInfo& rule, const Style& style) {
  const std::string id(rule.id);
  switch (rule.severity) {
    case Severity::kError:
      return style.error("error[" + id + "]");
    case Severity::kNotProven:
      return style.unproven("not proven[" + id + "]");
    case Severity::kWarning:
      return style.warning("warning[" + id + "]");
  }
  return "";
}

/// "   = label:   text".
std::string note(std::string_view label, std::string_view text, const Style& style) {
  std::string padded = std::string(label) + ":";
  padded.resize(std::max(padded.size(), kLabelWidth), ' ');
  return "   " + style.frame("=") + " " + style.strong(padded) + " " + std::string(text) + "\n";
}

std::string bar(std::string_view text, const Style& style) {
  return "   " + style.frame("|") + (text.empty() ? "" : " " + std::string(text)) + "\n";
}

std::int64_t iteration_of(const Finding& finding, std::size_t i) {
  return i < finding.iteration.size() ? finding.iteration[i] : 0;
}

/// The access of `op` that a finding means by `tensor`, if the op has one.
const Access* access_to(const Plan& plan, OpId op, TensorId tensor) {
  for (const Access& access : plan.accesses_of(plan.ops[op])) {
    if (access.tensor == tensor) return &access;
  }
  return nullptr;
}

/// "`y`", "[0, 32) of `y`", "`y` of 1 iteration before".
std::string thing_words(const Plan& plan, const Access& access) {
  const bool of_pool = access.tensor == kNone<TensorId>;
  std::string out = of_pool ? "pool " + quoted(plan.pools[access.pool].name)
                            : quoted(plan.tensors[access.tensor].name);
  if (access.part != Access::kWhole) {
    const Part& part = plan.parts[access.part];
    out = (part.bytes ? address_range(plan, part.offset, *part.bytes)
                      : "from byte " + plan.formulas.to_string(part.offset)) +
          " of " + out;
  }
  if (access.distance > 0) out += " of " + counted(access.distance, "iteration") + " before";
  return out;
}

/// "reads and writes `y`", "clobbers [0, 8) of `y`": what the op does to the tensor; kNone: to the
/// bytes of pools.
std::vector<std::string> deeds(const Plan& plan, OpId op, TensorId tensor) {
  static constexpr std::string_view kVerbs[] = {"reads", "writes", "accumulates into", "clobbers"};
  std::vector<std::pair<std::string, std::vector<std::string>>> verbs_by_thing;
  for (const Access& access : plan.accesses_of(plan.ops[op])) {
    if (access.tensor != tensor) continue;
    const std::string thing = thing_words(plan, access);
    const std::string verb(kVerbs[static_cast<std::size_t>(access.kind)]);
    auto entry =
        std::ranges::find_if(verbs_by_thing, [&](const auto& e) { return e.first == thing; });
    if (entry == verbs_by_thing.end()) entry = verbs_by_thing.insert(entry, {thing, {}});
    if (std::ranges::count(entry->second, verb) == 0) entry->second.push_back(verb);
  }
  std::vector<std::string> out;
  for (const auto& [thing, verbs] : verbs_by_thing) out.push_back(listed(verbs) + " " + thing);
  return out;
}

std::int64_t slot_of(const Storage& storage, std::int64_t instance) {
  const auto count = static_cast<std::int64_t>(storage.slots.size());
  return ((instance % count) + count) % count;
}

Expr slot_offset(const Plan& plan, const Storage& storage, std::int64_t slot) {
  return Plan::slice(plan.exprs, storage.slots)[static_cast<std::size_t>(slot)];
}

/// "storage `s` at [0, 64) of pool `hbm`".
std::string storage_words(const Plan& plan, StorageId id, std::int64_t instance) {
  const Storage& storage = plan.storages[id];
  const std::int64_t slot = slot_of(storage, instance);
  std::string out = "storage " + quoted(storage.name);
  if (storage.slots.size() > 1) out += ", slot " + std::to_string(slot);
  out += " at " + address_range(plan, slot_offset(plan, storage, slot), storage.bytes);
  return out + " of pool " + quoted(plan.pools[storage.pool].name);
}

/// Of the accesses of `op` to the tensor, how many iterations back the one goes that has the
/// finding's first byte in its slot; of the first one where that cannot be seen.
std::int64_t distance_meant(const Plan& plan, const Finding& finding, OpId op, TensorId tensor,
                            std::int64_t iteration) {
  const StorageId storage = plan.tensors[tensor].storage;
  for (const Access& access : plan.accesses_of(plan.ops[op])) {
    if (access.tensor != tensor || storage == kNone<StorageId> || finding.bytes.empty()) continue;
    const Storage& s = plan.storages[storage];
    const Expr offset = slot_offset(plan, s, slot_of(s, iteration - access.distance));
    if (!offset.is_constant() || !s.bytes.is_constant()) continue;
    const std::int64_t within = finding.bytes.begin - offset.constant;
    if (0 <= within && within < s.bytes.constant) return access.distance;
  }
  const Access* first = access_to(plan, op, tensor);
  return first == nullptr ? 0 : first->distance;
}

/// The chain from the tensor to its root and the storage under it.
std::string chain_words(const Plan& plan, const Finding& finding, OpId op, TensorId tensor,
                        std::int64_t iteration) {
  std::string out;
  for (const TensorId link : alias_chain(plan, tensor)) {
    out += quoted(plan.tensors[link].name) + " -> ";
  }
  const std::int64_t distance = distance_meant(plan, finding, op, tensor, iteration);
  const StorageId storage = plan.tensors[tensor].storage;
  return storage == kNone<StorageId> ? out + "no storage"
                                     : out + storage_words(plan, storage, iteration - distance);
}

/// Which of the finding's tensors are those of `finding.ops[i]`: one each where there are as many
/// as ops, all for a single op, else those it accesses.
std::vector<TensorId> tensors_of(const Plan& plan, const Finding& finding, std::size_t i) {
  std::vector<TensorId> mine;
  for (std::size_t k = 0; k < finding.tensors.size(); ++k) {
    const TensorId tensor = finding.tensors[k];
    if (tensor == kNone<TensorId> || std::ranges::count(mine, tensor) > 0) continue;
    const bool is_mine =
        finding.ops.size() == 1 || (finding.tensors.size() == finding.ops.size()
                                        ? k == i
                                        : access_to(plan, finding.ops[i], tensor) != nullptr);
    if (is_mine) mine.push_back(tensor);
  }
  return mine;
}

/// Where one op of the finding stands, and what it does there.
std::string op_block(const Plan& plan, const Finding& finding, std::size_t i, const Style& style) {
  const OpId id = finding.ops[i];
  const Op& op = plan.ops[id];
  const std::int64_t iteration = iteration_of(finding, i);
  std::string out;
  if (const OpDetails& details = plan.details_of(op); details.location != OpDetails::kAbsent) {
    const SourceLocation& place = plan.locations[details.location];
    out += "  " + style.frame("-->") + " " + printable(place.file) +
           (place.line > 0 ? ":" + std::to_string(place.line) : "") + "\n";
  }
  std::string line = op_words(plan, id, iteration);
  const std::vector<TensorId> tensors = tensors_of(plan, finding, i);
  std::vector<std::string> done;
  for (const TensorId tensor : tensors)
    std::ranges::move(deeds(plan, id, tensor), std::back_inserter(done));
  if (tensors.empty() && i < finding.tensors.size()) done = deeds(plan, id, kNone<TensorId>);
  if (!done.empty()) line += " " + listed(done);
  out += bar(line, style);
  for (const TensorId tensor : tensors) {
    out += bar("    " + chain_words(plan, finding, id, tensor, iteration), style);
  }
  if (op.storage != kNone<StorageId>) {
    out += bar("    " + storage_words(plan, op.storage, iteration), style);
  }
  return out;
}

std::string when_words(const Plan& plan, const Finding& finding) {
  std::vector<std::string> parts;
  for (const ConditionValue& value : finding.when) {
    std::string text =
        quoted(plan.conditions[value.condition].name) + " is " + (value.value ? "true" : "false");
    if (value.iteration >= 0 && repeats(plan)) {
      text += " in iteration " + std::to_string(value.iteration);
    }
    parts.push_back(std::move(text));
    if (parts.size() == kMostStepsInText) {
      parts.emplace_back("more");
      break;
    }
  }
  return listed(parts);
}

/// True iff the step is of an op that the run passes without its accesses.
bool is_skipped(const Plan& plan, const Finding& finding, const Step& step) {
  return std::ranges::any_of(plan.when_of(plan.ops[step.op]), [&](const WhenTerm& term) {
    return std::ranges::any_of(finding.when, [&](const ConditionValue& value) {
      return value.condition == term.condition && value.value != term.value &&
             (value.iteration < 0 || value.iteration == step.iteration);
    });
  });
}

/// The run in as few words as possible: a bare name starts and completes.
std::string run_words(const Plan& plan, const Finding& finding) {
  const std::vector<Step>& run = finding.witness;
  std::vector<std::string> words;
  const auto instance = [&](const Step& step) {
    std::string text = printable(plan.ops[step.op].name);
    if (repeats(plan)) text += "@" + std::to_string(step.iteration);
    return is_skipped(plan, finding, step) ? text + " (skipped)" : text;
  };
  for (std::size_t i = 0; i < run.size(); ++i) {
    const bool both = !run[i].complete && i + 1 < run.size() && run[i + 1].complete &&
                      run[i + 1].op == run[i].op && run[i + 1].iteration == run[i].iteration;
    if (both) {
      words.push_back(instance(run[i]));
      ++i;
    } else {
      words.push_back((run[i].complete ? "complete " : "start ") + instance(run[i]));
    }
  }
  std::string out;
  std::size_t first = 0;
  if (words.size() > kMostStepsInText) {
    first = words.size() - kMostStepsInText;
    out = "… " + std::to_string(first) + " before, then ";
  }
  for (std::size_t i = first; i < words.size(); ++i) out += (i > first ? ", " : "") + words[i];
  return out;
}

std::string also_words(const Finding& finding) {
  std::vector<std::string> rules;
  for (const Rule also : finding.also) {
    rules.push_back(std::string(info(also).id) + " (" + std::string(info(also).title) + ")");
  }
  return listed(rules);
}

std::string symbol_words(const Plan& plan, const Finding& finding) {
  std::vector<std::string> values;
  for (const SymbolValue& value : finding.symbols) {
    values.push_back(quoted(plan.symbols[value.symbol].name) + " = " + std::to_string(value.value));
  }
  std::string words = listed(values);
  for (const SymbolValue& least : finding.symbols_at_least) {
    words += "; so it is for every " + quoted(plan.symbols[least.symbol].name) +
             " >= " + std::to_string(least.value);
  }
  return words;
}

/// True iff the finding is about two ops that are not ordered.
bool is_unordered_pair(const Plan& plan, const Finding& finding) {
  if (finding.ops.size() != 2) return false;
  if (is_race(finding.rule)) return true;
  const auto kind = [&](std::size_t i) { return plan.ops[finding.ops[i]].kind; };
  return finding.rule == Rule::kLifetime && kind(0) != kind(1) &&
         (kind(0) != OpKind::kFree || kind(1) == OpKind::kAlloc);
}

/// For those: what the second op waits for, and the completion it does not wait for.
std::string order_notes(const Plan& plan, const Finding& finding, const Style& style) {
  const auto instance = [&](std::size_t i) {
    return op_name(plan, finding.ops[i], iteration_of(finding, i));
  };
  return note("now", waits_now(plan, finding), style) +
         note("missing",
              "nothing makes " + instance(1) + " wait for " + instance(0) + " to complete", style);
}

std::string notes_of(const Plan& plan, const Finding& finding, const std::string& title,
                     const Style& style) {
  std::string out;
  const std::int64_t bytes = finding.bytes.end - finding.bytes.begin;
  const std::string range = address_range(plan, finding.bytes.begin, bytes);
  const bool has_place = !finding.bytes.empty() && finding.pool != kNone<PoolId>;
  if (has_place && title.find("bytes " + range) == std::string::npos) {
    out += note("bytes",
                range + " of pool " + quoted(plan.pools[finding.pool].name) + ", " +
                    counted(bytes, "byte") + more_shared_bytes(plan, finding),
                style);
  }
  if (is_unordered_pair(plan, finding)) {
    out += order_notes(plan, finding, style);
  }
  if (!finding.also.empty()) out += note("also", also_words(finding), style);
  if (!finding.when.empty()) out += note("when", when_words(plan, finding), style);
  if (!finding.symbols.empty()) out += note("symbols", symbol_words(plan, finding), style);
  if (!finding.witness.empty()) out += note("run", run_words(plan, finding), style);
  if (!finding.help.empty()) out += note("help", finding.help, style);
  return out;
}

/// "2,300,000".
std::string grouped(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

/// "decided by sim (hb: unknown)".
std::string engine_words(const Report& report) {
  std::vector<std::string> others;
  for (const auto& [engine, verdict] : report.engines) {
    if (engine == report.decided_by) continue;
    others.push_back(std::string(engine) + ": " + std::string(name(verdict)));
  }
  return "decided by " + std::string(report.decided_by) + " (" + listed(others) + ")";
}

std::string random_words(const SearchReport& search) {
  char bound[32];
  std::snprintf(bound, sizeof bound, "%.3g", search.random_bound);
  return std::to_string(search.failing_runs) + " of " + std::to_string(search.runs) +
         " random runs failed (seed " + std::to_string(search.seed) +
         "); each shows a given bug of depth " + std::to_string(search.random_depth) +
         " with probability at least " + bound;
}

}  // namespace

std::string waits_now(const Plan& plan, const Finding& finding) {
  if (!is_unordered_pair(plan, finding)) return "";
  const std::string now =
      what_holds_back(plan, finding.ops[1], iteration_of(finding, 1), finding.ops[0]);
  return quoted(plan.ops[finding.ops[1]].name) + " waits for " + (now.empty() ? "nothing" : now);
}

std::string text_finding(const Plan& plan, const Finding& finding, const Style& style) {
  const std::string title = headline(plan, finding);
  std::string out = severity_mark(info(finding.rule), style) + style.strong(": " + title) + "\n";
  for (std::size_t i = 0; i < finding.ops.size(); ++i) out += op_block(plan, finding, i, style);
  if (const std::string notes = notes_of(plan, finding, title, style); !notes.empty()) {
    out += bar("", style) + notes;
  }
  return out;
}

std::string text_findings(const Report& report, const Style& style) {
  std::string out;
  for (const Finding& finding : report.findings) {
    out += text_finding(report.plan, finding, style);
    if (const std::string* reason = report.accepted_reason(finding)) {
      out += note("accepted", printable(*reason), style);
    }
    out += "\n";
  }
  return out;
}

std::string text_summary(const Report& report, const Style& style) {
  std::string out;
  const std::string head = style.strong("note:") + " ";
  if (report.verdict == Verdict::kSafe) {
    out += head + "safe assumes that " + std::string(kAssumption) + "\n";
  }
  if (report.search && report.search->random_bound > 0) {
    out += head + random_words(*report.search) + "\n";
  }
  if (report.search && !report.search->interleavings.empty()) {
    out += head + "fails in " + grouped(report.search->failing) + " of " +
           grouped(report.search->interleavings) + " interleavings\n";
  }
  if (!report.one_wait.empty()) out += head + report.one_wait + "\n";
  if (report.timed) out += head + timed_words(report) + "\n";
  if (report.engines.size() > 1) out += head + engine_words(report) + "\n";
  return out + "memverify: " + outcome_line(report) + "\n";
}

std::string text_report(const Report& report, const Style& style) {
  return text_findings(report, style) + text_summary(report, style);
}

}  // namespace memverify
