// Workflow commands of GitHub Actions on standard output, and a Markdown summary of the step in the
// file that GITHUB_STEP_SUMMARY names.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "plan/words.h"
#include "tools/report_format.h"
#include "tools/report_text.h"
#include "tools/source_lines.h"

namespace memverify {
namespace {

/// GitHub shows so many of each kind a step.
constexpr std::size_t kMostAnnotations = 10;
/// Findings that the summary has in full; the file may have a mebibyte.
constexpr std::size_t kMostInSummary = 50;

/// The data of a workflow command; `property`: the value of one of its properties.
std::string command_text(std::string_view raw, bool property) {
  std::string out;
  for (const char c : property ? printable(raw) : std::string(raw)) {
    switch (c) {
      case '%':
        out += "%25";
        break;
      case '\r':
        out += "%0D";
        break;
      case '\n':
        out += "%0A";
        break;
      case ':':
        out += property ? "%3A" : ":";
        break;
      case ',':
        out += property ? "%2C" : ",";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Text between fences that are longer than any run of backquotes in it.
std::string fenced(const std::string& text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fence + "text\n" + text + fence + "\n";
}

/// Text in a cell of a table.
std::string cell(std::string_view raw) {
  std::string out;
  for (const char c : printable(raw)) {
    if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

class Github : public ReportFormat {
 public:
  std::string add(const Report& report) override {
    std::string commands;
    for (const InputError& error : report.errors) {
      const Diagnostic& d = error.diagnostic;
      commands += annotation("error", {d.file == "<stdin>" ? "" : d.file, d.line}, d.id, d.message);
    }
    for (const std::string& error : report.internal_errors) {
      commands += annotation("error", {}, "internal error", error);
    }
    const SourceLines places(report);
    for (const Finding& finding : report.findings) {
      if (report.accepted_reason(finding) != nullptr) continue;
      const RuleInfo& rule = info(finding.rule);
      commands +=
          annotation(rule.severity == Severity::kError ? "error" : "warning", places.of(finding),
                     std::string(rule.id) + " " + std::string(rule.title),
                     finding.message + (finding.help.empty() ? "" : "\nhelp: " + finding.help));
    }
    rows_ += "| " + cell(report.file) + " | " + cell(outcome_line(report)) + " |\n";
    for (const Finding& finding : report.findings) {
      if (++in_summary_ > kMostInSummary) continue;
      details_ += fenced(text_finding(report.plan, finding, Style()));
    }
    return commands + "memverify: " + printable(report.file) + ": " + outcome_line(report) + "\n";
  }

  std::string end(ExitCode) override {
    const char* const path = std::getenv("GITHUB_STEP_SUMMARY");
    if (path == nullptr || *path == '\0') return "";
    std::ofstream summary(path, std::ios::app);
    summary << "### memverify\n\n| plan | verdict |\n| --- | --- |\n" << rows_ << "\n" << details_;
    if (in_summary_ > kMostInSummary) {
      summary << "\n" << in_summary_ - kMostInSummary << " more findings are not shown.\n";
    }
    return summary.flush() ? "" : "::warning::memverify cannot write the step summary\n";
  }

 private:
  std::string annotation(std::string_view kind, const SourceLine& place, const std::string& title,
                         const std::string& message) {
    std::size_t& shown = kind == "error" ? errors_ : warnings_;
    if (++shown > kMostAnnotations) return "";
    std::string out = "::" + std::string(kind) + " ";
    if (!place.file.empty()) {
      out += "file=" + command_text(place.file, true) +
             ",line=" + std::to_string(std::max<std::size_t>(place.line, 1)) + ",";
    }
    return out + "title=" + command_text(title, true) + "::" + command_text(message, false) + "\n";
  }

  std::string rows_;
  std::string details_;
  std::size_t in_summary_ = 0;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

}  // namespace

std::unique_ptr<ReportFormat> make_github(const FormatSettings&) {
  return std::make_unique<Github>();
}

}  // namespace memverify
