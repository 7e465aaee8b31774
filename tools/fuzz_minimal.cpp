#include "tools/fuzz_minimal.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "plan/describe.h"
#include "plan/reader.h"
#include "plan/writer.h"
#include "tools/decide.h"
#include "tools/report_text.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

/// What a finding is about, in names, which shrinking keeps.
using Mark = std::pair<Rule, std::vector<std::string>>;

Mark mark_of(const Plan& plan, const Finding& finding) {
  Mark mark{finding.rule, {}};
  for (const OpId op : finding.ops) mark.second.emplace_back(plan.ops[op].name);
  if (!mark.second.empty()) return mark;
  for (const TensorId tensor : finding.tensors) {
    mark.second.emplace_back(plan.tensors[tensor].name);
  }
  return mark;
}

std::set<Mark> marks_of(const Tried& tried) {
  std::set<Mark> marks;
  for (const Finding& finding : tried.findings) marks.insert(mark_of(*tried.plan, finding));
  return marks;
}

std::optional<Plan> read_tree(const PlanJson& json) {
  Result<Plan> plan = read_plan(json.dump(), "");
  if (!plan.ok()) return std::nullopt;
  return std::move(plan).value();
}

/// A plan that can be verified, or nothing.
std::optional<Plan> read_placed(const PlanJson& json) {
  std::optional<Plan> plan = read_tree(json);
  if (plan && !cannot_be_verified(*plan).empty()) plan.reset();
  return plan;
}

PlanJson json_of(const Plan& plan) { return PlanJson::parse(write_plan(plan)); }

/// Shrinking asks the one engine that decided: what that one cannot decide is not smaller, and no
/// other one, which may take long, is asked thousands of times.
EngineChoice decider_of(const Tried& tried, const EngineChoice& engines) {
  return tried.decided_by.empty() ? engines : select_engines(tried.decided_by);
}

/// The plan as a labelled one: `x-expect` says what was found.
std::string labelled(const Plan& plan, const std::vector<Finding>& findings) {
  PlanJson json = json_of(plan);
  PlanJson list = PlanJson::array();
  for (const Finding& finding : findings) {
    if (info(finding.rule).severity != Severity::kError) continue;
    const Mark mark = mark_of(plan, finding);
    PlanJson entry = {info(mark.first).id};
    for (const std::string& name : mark.second) entry.push_back(name);
    list.push_back(entry);
  }
  json["x-expect"] = {{"verdict", "unsafe"}, {"findings", list}};
  const std::optional<Plan> with_label = read_tree(json);
  return write_plan(with_label ? *with_label : plan);
}

void fill_plan(const PlanJson& small, const EngineChoice& engines, const CaseResult& result,
               MinimalCase& made) {
  Report report;
  report.plan = read_placed(small).value();
  decide(report, engines, {});
  confirm_findings(report);
  note_one_wait(report);
  made.internal_errors = report.internal_errors;
  made.plan = labelled(report.plan, report.findings);
  made.expected = text_report(report, Style());
  made.ops = report.plan.ops.size();
  made.fingerprint = fingerprint_of(small, result);
  for (const Finding& finding : report.findings) {
    if (finding.rule != result.rule) continue;
    made.headline = std::string(info(finding.rule).id) + ": " + headline(report.plan, finding);
    break;
  }
}

std::string hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t k = 16; k-- > 0; value >>= 4U) text[k] = kDigits[value & 15U];
  return text;
}

/// Writes the tree with declared ids as the numbers in which they first occur, without numbers and
/// the words that are for people.
class ShapeWriter {
 public:
  explicit ShapeWriter(const PlanJson& plan) {
    for (const auto& [key, list] : plan.items()) {
      if (!list.is_array()) continue;
      for (const PlanJson& entry : list) {
        if (entry.is_object() && entry.contains("id")) declared_[entry["id"]].push_back(&entry);
      }
    }
    for (const PlanJson& op : plan.value("ops", PlanJson::array())) write(op);
    for (const char* key : {"inputs", "constants", "donated", "outputs", "iterations"}) {
      if (plan.contains(key)) text_ += key, write(plan[key]);
    }
    for (std::size_t k = 0; k < order_.size(); ++k) {  // Grows as declarations name others.
      for (const PlanJson* entry : declared_[order_[k]]) {
        if (!entry->contains("reads") && !entry->contains("writes")) write(*entry);
      }
    }
  }
  const std::string& text() const { return text_; }

 private:
  void write(const PlanJson& node) {
    if (node.is_string()) {
      write_word(node.get<std::string>());
    } else if (node.is_boolean()) {
      text_ += node.get<bool>() ? "t" : "f";
    } else if (node.is_number()) {
      text_ += "n";
    } else if (node.is_structured()) {
      text_ += node.is_object() ? "{" : "[";
      for (const auto& [key, child] : node.items()) {
        if (key == "label" || key == "loc" || key == "dtype" || key.starts_with("x-")) continue;
        if (node.is_object()) text_ += key + ":";
        write(child);
        text_ += ",";
      }
      text_ += node.is_object() ? "}" : "]";
    }
  }

  void write_word(const std::string& word) {
    if (!declared_.contains(word)) {
      // A keyword, an expression, or an event, which nothing declares.
      static const std::set<std::string> kWords = {
          "op",      "view",   "record", "wait", "barrier", "host_wait", "alloc",    "free",
          "unknown", "serial", "issue",  "none", "host",    "counting",  "timeline", "all",
          "first",   "last",   "drop",   "pass", "initial", "add"};
      if (kWords.contains(word)) {
        text_ += word;
        return;
      }
    }
    const auto [at, is_new] = number_.emplace(word, number_.size());
    if (is_new) order_.push_back(word);
    text_ += "#" + std::to_string(at->second);
  }

  std::map<std::string, std::vector<const PlanJson*>> declared_;
  std::map<std::string, std::size_t> number_;
  std::vector<std::string> order_;
  std::string text_;
};

}  // namespace

std::string fingerprint_of(const PlanJson& plan, const CaseResult& result) {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
  const std::string text = describe(result) + ShapeWriter(plan).text();
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hex(hash);
}

std::string signature_of(const Tried& tried) {
  std::string text = describe(tried.result);
  if (tried.result.outcome == Outcome::kCrashed) text += " " + tried.detail;
  if (tried.findings.empty()) return text;
  const Plan& plan = *tried.plan;
  const Finding& finding = tried.findings.front();
  std::vector<QueueId> queues;
  for (const OpId op : finding.ops) {
    queues.push_back(plan.ops[op].queue);
    const bool has_queue = plan.ops[op].queue != kNone<QueueId>;
    text += has_queue ? " " + std::string(name(plan.queues[plan.ops[op].queue].order)) : " -";
  }
  if (queues.size() == 2) text += queues[0] == queues[1] ? " same" : " other";
  for (const TensorId id : finding.tensors) {
    if (id == kNone<TensorId>) continue;
    const Tensor& tensor = plan.tensors[id];
    const bool is_view = tensor.placement == TensorKind::kView;
    text += tensor.has_strides ? " strided" : is_view ? " view" : " root";
  }
  return text;
}

MinimalCase minimal_plan(const Tried& tried, const EngineChoice& all, std::size_t max_calls) {
  const EngineChoice engines = decider_of(tried, all);
  const Mark sought = mark_of(*tried.plan, tried.findings.front());
  const std::set<Mark> allowed = marks_of(tried);
  const PlanJson small = shrink(
      json_of(*tried.plan),
      [&](const PlanJson& candidate) {
        std::optional<Plan> plan = read_placed(candidate);
        if (!plan) return false;
        const Tried again = try_plan(std::move(*plan), engines);
        const std::set<Mark> marks = marks_of(again);
        return marks.contains(sought) && std::ranges::includes(allowed, marks);
      },
      max_calls);
  MinimalCase made;
  fill_plan(small, engines, {.outcome = Outcome::kUnsafe, .rule = sought.first}, made);
  return made;
}

MinimalCase minimal_case(const Plan& graph, const Tried& tried, FuzzTarget& target,
                         const EngineChoice& all, std::size_t max_calls) {
  const EngineChoice engines = decider_of(tried, all);
  const bool has_plan = tried.result.outcome == Outcome::kUnsafe;
  const Mark sought = has_plan ? mark_of(*tried.plan, tried.findings.front()) : Mark();
  const auto retry = [&](const PlanJson& candidate) {
    const std::optional<Plan> smaller = read_tree(candidate);
    return smaller ? try_graph(*smaller, target, engines) : Tried{};
  };
  const PlanJson small = shrink(
      json_of(graph),
      [&](const PlanJson& candidate) {
        const Tried again = retry(candidate);
        if (again.result.outcome != tried.result.outcome) return false;
        const bool crashed = tried.result.outcome == Outcome::kCrashed;
        if (crashed && again.detail != tried.detail) return false;
        return !has_plan || marks_of(again).contains(sought);
      },
      max_calls);
  MinimalCase made;
  const Tried last = retry(small);
  if (has_plan && marks_of(last).contains(sought)) {
    Tried only = last;
    std::stable_partition(only.findings.begin(), only.findings.end(),
                          [&](const Finding& f) { return mark_of(*only.plan, f) == sought; });
    made = minimal_plan(only, engines, max_calls);
  } else {
    made.fingerprint = fingerprint_of(small, tried.result);
    made.ops = small.value("ops", PlanJson::array()).size();
    made.headline = std::string(name(tried.result.outcome)) + ": " +
                    (last.detail.empty() ? tried.detail : last.detail);
  }
  made.graph = write_plan(read_tree(small).value());
  return made;
}

}  // namespace memverify
