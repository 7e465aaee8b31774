// SARIF 2.1.0 (OASIS standard): a result for each finding, with its run as code flows.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "plan/version.h"
#include "plan/words.h"
#include "tools/fingerprint.h"
#include "tools/report_format.h"
#include "tools/source_lines.h"

namespace memverify {
namespace {

using SarifJson = nlohmann::ordered_json;

constexpr const char* kSchema = "https://json.schemastore.org/sarif-2.1.0.json";

std::string_view level(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kNotProven:
      return "warning";
    case Severity::kWarning:
      return "note";
  }
  return "none";
}

/// A path as a URI reference (RFC 3986).
std::string uri(std::string_view path) {
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kDigits[byte / 16], kDigits[byte % 16]};
  }
  return out;
}

SarifJson text(std::string message) {
  SarifJson json;
  json["text"] = std::move(message);
  return json;
}

SarifJson physical(const SourceLine& place) {
  SarifJson json;
  json["artifactLocation"]["uri"] = uri(place.file);
  if (!place.file.starts_with('/')) json["artifactLocation"]["uriBaseId"] = "%SRCROOT%";
  json["region"]["startLine"] = place.line;
  return json;
}

/// "start of `U` (MatMul, queue `compute`)".
std::string step_words(const Plan& plan, const Step& step) {
  return std::string(step.complete ? "completion of " : "start of ") +
         op_words(plan, step.op, step.iteration);
}

class Sarif : public ReportFormat {
 public:
  std::string add(const Report& report) override {
    for (const InputError& error : report.errors) notify("error", error.diagnostic);
    for (const std::string& error : report.internal_errors) {
      notify("error", {.id = "internal", .message = error, .file = report.file});
    }
    const SourceLines places(report);
    for (const Finding& finding : report.findings) {
      results_.push_back(result(report, finding, places));
    }
    return "";
  }

  std::string end(ExitCode code) override {
    SarifJson run;
    SarifJson& driver = run["tool"]["driver"];
    driver["name"] = "memverify";
    driver["version"] = MEMVERIFY_VERSION;
    driver["rules"] = SarifJson::array();
    for (const Rule rule : all_rules()) driver["rules"].push_back(descriptor(info(rule)));
    SarifJson invocation;
    invocation["executionSuccessful"] = code != ExitCode::kBadInput && code != ExitCode::kInternal;
    invocation["exitCode"] = static_cast<int>(code);
    invocation["toolExecutionNotifications"] = std::move(notifications_);
    run["invocations"].push_back(std::move(invocation));
    run["columnKind"] = "unicodeCodePoints";
    run["results"] = std::move(results_);
    SarifJson log;
    log["$schema"] = kSchema;
    log["version"] = "2.1.0";
    log["runs"].push_back(std::move(run));
    return log.dump(1, ' ', false, SarifJson::error_handler_t::replace) + "\n";
  }

 private:
  static SarifJson descriptor(const RuleInfo& rule) {
    SarifJson json;
    json["id"] = rule.id;
    json["shortDescription"] = text(std::string(rule.title));
    json["fullDescription"] = text(std::string(rule.summary));
    json["help"] = text("memverify explain " + std::string(rule.id));
    json["defaultConfiguration"]["level"] = level(rule.severity);
    return json;
  }

  void notify(std::string_view how, const Diagnostic& diagnostic) {
    SarifJson json;
    json["level"] = how;
    json["descriptor"]["id"] = diagnostic.id;
    json["message"] = text(diagnostic.message);
    if (!diagnostic.file.empty() && diagnostic.file != "<stdin>") {
      SarifJson place;
      place["physicalLocation"] =
          physical({diagnostic.file, std::max<std::size_t>(diagnostic.line, 1)});
      json["locations"].push_back(std::move(place));
    }
    notifications_.push_back(std::move(json));
  }

  static SarifJson location(const Plan& plan, OpId op, const SourceLine& place,
                            std::string message) {
    SarifJson json;
    if (!place.file.empty()) json["physicalLocation"] = physical(place);
    if (op != kNone<OpId>) {
      SarifJson logical;
      logical["name"] = plan.ops[op].name;
      const std::string queue = queue_words(plan, op);
      logical["fullyQualifiedName"] =
          (queue.empty() ? "" : queue + ", ") + "op " + std::string(plan.ops[op].name);
      json["logicalLocations"].push_back(std::move(logical));
    }
    if (!message.empty()) json["message"] = text(std::move(message));
    return json;
  }

  static SarifJson result(const Report& report, const Finding& finding, const SourceLines& places) {
    const Plan& plan = report.plan;
    const std::vector<Rule> rules = all_rules();
    SarifJson json;
    json["ruleId"] = info(finding.rule).id;
    json["ruleIndex"] = std::ranges::find(rules, finding.rule) - rules.begin();
    json["level"] = level(info(finding.rule).severity);
    json["message"] =
        text(finding.message + (finding.help.empty() ? "" : "\nhelp: " + finding.help));
    const OpId first = finding.ops.empty() ? kNone<OpId> : finding.ops.front();
    json["locations"].push_back(location(plan, first, places.of(finding), ""));
    for (std::size_t k = 1; k < finding.ops.size(); ++k) {
      const OpId op = finding.ops[k];
      const std::int64_t iteration = k < finding.iteration.size() ? finding.iteration[k] : 0;
      json["relatedLocations"].push_back(
          location(plan, op, places.of(op), op_words(plan, op, iteration)));
    }
    json["partialFingerprints"]["primaryLocationLineHash"] = fingerprint(report, finding);
    if (!finding.witness.empty()) json["codeFlows"] = code_flows(plan, finding.witness, places);
    if (const std::string* reason = report.accepted_reason(finding)) {
      SarifJson suppression;
      suppression["kind"] = "external";
      suppression["justification"] = *reason;
      json["suppressions"].push_back(std::move(suppression));
    }
    return json;
  }

  /// The run as it goes, then the same steps with a thread for each queue.
  static SarifJson code_flows(const Plan& plan, const std::vector<Step>& witness,
                              const SourceLines& places) {
    const std::size_t omitted = witness.size() > kMostSteps ? witness.size() - kMostSteps : 0;
    SarifJson run = SarifJson::array();
    std::map<std::string, SarifJson> lanes;
    for (std::size_t k = omitted; k < witness.size(); ++k) {
      const Step& step = witness[k];
      SarifJson entry;
      entry["location"] = location(plan, step.op, places.of(step.op), step_words(plan, step));
      entry["executionOrder"] = k + 1;
      const std::string queue = queue_words(plan, step.op);
      lanes[queue.empty() ? "host" : queue].push_back(entry);
      run.push_back(std::move(entry));
    }
    SarifJson flows = SarifJson::array();
    flows.push_back(
        flow("a run that shows it" +
             (omitted == 0 ? "" : ", its last " + std::to_string(kMostSteps) + " steps")));
    flows[0]["threadFlows"].push_back(thread("run", std::move(run)));
    flows.push_back(flow("the same, queue by queue"));
    for (auto& [queue, steps] : lanes) {
      flows[1]["threadFlows"].push_back(thread(queue, std::move(steps)));
    }
    return flows;
  }
  static SarifJson flow(std::string message) {
    SarifJson json;
    json["message"] = text(std::move(message));
    return json;
  }
  static SarifJson thread(const std::string& id, SarifJson steps) {
    SarifJson json;
    json["id"] = id;
    json["locations"] = std::move(steps);
    return json;
  }

  SarifJson results_ = SarifJson::array();
  SarifJson notifications_ = SarifJson::array();
};

}  // namespace

std::unique_ptr<ReportFormat> make_sarif(const FormatSettings&) {
  return std::make_unique<Sarif>();
}

}  // namespace memverify
