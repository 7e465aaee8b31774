// JUnit XML as Jenkins reads it: a test suite, a test case for each plan.
#include "plan/json_events.h"
#include "tools/report_format.h"
#include "tools/report_text.h"

namespace memverify {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Text of XML 1.0; what no XML can hold is replaced.
std::string xml(std::string_view raw) {
  std::string out;
  std::size_t invalid = find_invalid_utf8(raw);
  for (std::size_t at = 0; at < raw.size(); ++at) {
    const char c = raw[at];
    const bool is_control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    const std::string_view three = raw.substr(at, 3);
    if (at == invalid || is_control) {
      out += kReplacement;
      if (at != invalid) continue;
      const std::size_t next = find_invalid_utf8(raw.substr(at + 1));
      invalid = next == std::string_view::npos ? next : at + 1 + next;
    } else if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {  // U+FFFE, U+FFFF.
      out += kReplacement;
      at += 2;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

class Junit : public ReportFormat {
 public:
  std::string add(const Report& report) override {
    ++tests_;
    cases_ += "    <testcase classname=\"memverify\" name=\"" + xml(report.file) + "\"";
    const Style plain;
    const ExitCode code = exit_code(report);
    if (code == ExitCode::kSafe) {
      cases_ += "/>\n";
      return "";
    }
    cases_ += ">\n";
    if (code == ExitCode::kBadInput || code == ExitCode::kInternal) {
      ++errors_;
      std::string message = text_errors(report.errors, plain);
      for (const std::string& error : report.internal_errors) message += error + "\n";
      element("error", code == ExitCode::kBadInput ? "bad input" : "internal error",
              outcome_line(report), message);
    } else {
      ++failures_;
      element("failure", std::string(name(report.verdict)), outcome_line(report),
              text_findings(report, plain));
    }
    cases_ += "    </testcase>\n";
    return "";
  }

  std::string end(ExitCode) override {
    const std::string counts = " name=\"memverify\" tests=\"" + std::to_string(tests_) +
                               "\" failures=\"" + std::to_string(failures_) + "\" errors=\"" +
                               std::to_string(errors_) + "\"";
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" +
           counts + ">\n" + cases_ + "  </testsuite>\n</testsuites>\n";
  }

 private:
  void element(std::string_view kind, std::string_view type, const std::string& message,
               const std::string& body) {
    cases_ += "      <" + std::string(kind) + " type=\"" + std::string(type) + "\" message=\"" +
              xml(message) + "\">" + xml(body) + "</" + std::string(kind) + ">\n";
  }

  std::string cases_;
  std::size_t tests_ = 0;
  std::size_t failures_ = 0;
  std::size_t errors_ = 0;
};

}  // namespace

std::unique_ptr<ReportFormat> make_junit(const FormatSettings&) {
  return std::make_unique<Junit>();
}

}  // namespace memverify
