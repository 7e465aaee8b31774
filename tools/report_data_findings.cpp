// The findings of a picture's data: their words, their places, and their runs with what the bytes
// hold at each step.
#include <algorithm>

#include "plan/words.h"
#include "tools/report_numbers.h"
#include "tools/report_text.h"
#include "tools/stepped_run.h"

namespace memverify {
namespace {

constexpr std::uint64_t kSteppedCommands = 4'000'000;  ///< Of all findings whose run is executed.

class FindingsData {
 public:
  FindingsData(JsonText& json, const Drawing& drawing, const Numbers& numbers)
      : json_(json),
        report_(drawing.report),
        plan_(drawing.report.plan),
        run_(drawing.run),
        numbers_(numbers) {}

  void write() {
    std::uint64_t stepped = 0;
    json_.key("findings");
    json_.open_lines();
    for (const Finding& finding : report_.findings) {
      json_.next();
      json_.open('{');
      add_words(finding);
      add_place(finding);
      stepped += plan_.ops.size() * static_cast<std::uint64_t>(run_.settled.unrolled);
      add_run(finding, stepped <= kSteppedCommands || &finding == &report_.findings.front());
      json_.close('}');
    }
    json_.close_lines();
  }

 private:
  void add_text(std::string_view text) {
    json_.next();
    json_.value(text);
  }

  void add_words(const Finding& finding) {
    const RuleInfo& rule = info(finding.rule);
    json_.field("rule", rule.id);
    json_.field("title", rule.title);
    json_.field("severity", name(rule.severity));
    json_.field("message", std::string_view(finding.message));
    json_.field("help", std::string_view(finding.help));
    json_.field("now", std::string_view(waits_now(plan_, finding)));
    json_.key("also");
    json_.open('[');
    for (const Rule also : finding.also) add_text(info(also).id);
    json_.close(']');
    json_.names("ops", plan_.ops, finding.ops);
    json_.names("tensors", plan_.tensors, finding.tensors);
    json_.names("alias_chain", plan_.tensors, finding.alias_chain);
    json_.key("iteration");
    json_.open('[');
    for (const std::int64_t iteration : finding.iteration) {
      json_.next();
      json_.value(iteration);
    }
    json_.close(']');
    if (const std::string* reason = report_.accepted_reason(finding)) {
      json_.field("accepted", std::string_view(*reason));
    }
  }

  /// The bytes, and the commands that clash on them as far as they are drawn.
  void add_place(const Finding& finding) {
    if (!finding.bytes.empty() && finding.pool != kNone<PoolId>) {
      json_.field("pool", std::int64_t{index(finding.pool)});
      json_.pair("bytes", finding.bytes.begin, finding.bytes.end);
    }
    Column commands, tensors;
    for (std::size_t k = 0; k < finding.ops.size(); ++k) {
      const std::int64_t iteration = k < finding.iteration.size() ? finding.iteration[k] : 0;
      const sim::CommandId c = run_.program.find(finding.ops[k], iteration);
      commands.add(numbers_.of(c));
    }
    for (const TensorId tensor : finding.tensors) tensors.add(numbers_.of(tensor));
    commands.write(json_, "at");
    tensors.write(json_, "of");
  }

  void add_run(const Finding& finding, bool versions) {
    const std::vector<Step>& steps = finding.witness;
    const std::size_t omitted = steps.size() > kMostSteps ? steps.size() - kMostSteps : 0;
    json_.field("omitted", static_cast<std::int64_t>(omitted));
    json_.key("run");
    json_.open('[');
    for (std::size_t k = omitted; k < steps.size(); ++k) {
      const Op& op = plan_.ops[steps[k].op];
      json_.next();
      json_.open('[');
      add_text(op.name);
      for (const std::int64_t part : {steps[k].iteration, std::int64_t{steps[k].complete ? 1 : 0},
                                      op.kind == OpKind::kView ? -1 : lane_of(plan_, op)}) {
        json_.next();
        json_.value(part);
      }
      json_.close(']');
    }
    json_.close(']');
    if (versions && !steps.empty()) add_versions(finding, stepped_run(plan_, finding), omitted);
  }

  void add_versions(const Finding& finding, const SteppedRun& run, std::size_t omitted) {
    json_.key("rows");
    json_.open('[');
    for (const VersionRow& row : run.rows) add_row(finding, row, omitted);
    json_.close(']');
    json_.key("reads");
    json_.open('[');
    for (const StepRead& read : run.reads) {
      if (read.step <= omitted) continue;
      json_.next();
      json_.open('{');
      json_.field("step", static_cast<std::int64_t>(read.step - omitted));
      json_.field("row", static_cast<std::int64_t>(read.row));
      json_.field("tensor", plan_.tensors[read.tensor].name);
      json_.flag("meets", read.meets);
      json_.field("expects", std::string_view(expected_words(read)));
      json_.close('}');
    }
    json_.close(']');
    if (!run.problem.empty()) json_.field("problem", std::string_view(run.problem));
  }
  std::string expected_words(const StepRead& read) const {
    if (read.expects_nothing) return "no op has written it";
    if (read.expected == kNone<OpId>) return "it should find the initial value";
    return "it should find the bytes of " + op_name(plan_, read.expected, read.expected_iteration);
  }

  /// Versions whose end lies in what is left out become one.
  void add_row(const Finding& finding, const VersionRow& row, std::size_t omitted) {
    json_.next();
    json_.open('{');
    json_.pair("bytes", row.bytes.begin, row.bytes.end);
    json_.key("versions");
    json_.open('[');
    for (std::size_t k = 0; k < row.versions.size(); ++k) {
      if (k + 1 < row.versions.size() && row.versions[k + 1].step <= omitted) continue;
      const VersionStep& version = row.versions[k];
      json_.next();
      json_.open('[');
      json_.next();
      json_.value(static_cast<std::int64_t>(std::max(version.step, omitted) - omitted));
      json_.next();
      json_.value(static_cast<std::int64_t>(version.base));
      add_text(version_words(finding, version));
      json_.close(']');
    }
    json_.close(']');
    json_.close('}');
  }
  /// "`gelu` and ": where two write at once, the run ends with both under way.
  std::string other_writer(const Finding& finding, const VersionStep& version) const {
    const bool both = finding.rule == Rule::kWaw && version.base == sim::Value::Base::kTorn &&
                      version.step == finding.witness.size();
    for (std::size_t k = 0; both && k < finding.ops.size(); ++k) {
      const std::int64_t iteration = k < finding.iteration.size() ? finding.iteration[k] : 0;
      if (finding.ops[k] == version.op && iteration == version.iteration) continue;
      return op_name(plan_, finding.ops[k], iteration) + " and ";
    }
    return "";
  }
  std::string version_words(const Finding& finding, const VersionStep& version) const {
    std::string words;
    switch (version.base) {
      case sim::Value::Base::kNothing:
        words = "nothing";
        break;
      case sim::Value::Base::kInitial:
        words = "initial value of " + quoted(plan_.tensors[version.given].name);
        break;
      case sim::Value::Base::kCommand:
        words = (version.clobbered ? "scratch of " : "bytes of ") +
                op_name(plan_, version.op, version.iteration);
        break;
      case sim::Value::Base::kTorn:
        words = "being written by " + other_writer(finding, version) +
                op_name(plan_, version.op, version.iteration);
        break;
      case sim::Value::Base::kOpaque:
        words = "what an op of unknown effect left";
        break;
    }
    if (version.updates > 0) {
      words += " + " + counted(static_cast<std::int64_t>(version.updates), "update");
    }
    return words;
  }

  JsonText& json_;
  const Report& report_;
  const Plan& plan_;
  const DrawnRun& run_;
  const Numbers& numbers_;
};

}  // namespace

void write_findings(JsonText& json, const Drawing& drawing, const Numbers& numbers) {
  FindingsData(json, drawing, numbers).write();
}

}  // namespace memverify
