#include "tools/report_format.h"

#include <algorithm>
#include <array>
#include <map>

#include "plan/words.h"
#include "tools/report_json.h"
#include "tools/report_text.h"

namespace memverify {
namespace {

class TextFormat : public ReportFormat {
 public:
  explicit TextFormat(const FormatSettings& settings) : settings_(settings) {}

  std::string add(const Report& report) override {
    ++counts_[report.errors.empty() ? name(report.verdict) : "error"];
    if (settings_.files > 1) return printable(report.file) + ": " + outcome_line(report) + "\n";
    if (!report.errors.empty() || settings_.quiet) {
      return "memverify: " + outcome_line(report) + "\n";
    }
    return text_report(report, settings_.style);
  }

  std::string end(ExitCode) override {
    if (settings_.files == 1) return "";
    std::string line = "memverify: " + counted(static_cast<std::int64_t>(settings_.files), "file");
    std::string_view separator = ": ";
    for (const std::string_view outcome : {"unsafe", "error", "unknown", "safe"}) {
      const auto found = counts_.find(outcome);
      if (found == counts_.end()) continue;
      line += std::string(separator) + std::to_string(found->second) + " " + std::string(outcome);
      separator = ", ";
    }
    return line + "\n";
  }

 private:
  FormatSettings settings_;
  std::map<std::string_view, std::int64_t> counts_;
};

class JsonFormat : public ReportFormat {
 public:
  explicit JsonFormat(const FormatSettings& settings)
      : layout_(settings.files == 1 ? JsonLayout::kPretty : JsonLayout::kOneLine) {}
  std::string add(const Report& report) override { return json_report(report, layout_); }
  std::string end(ExitCode) override { return ""; }

 private:
  JsonLayout layout_;
};

template <typename Format>
std::unique_ptr<ReportFormat> make(const FormatSettings& settings) {
  return std::make_unique<Format>(settings);
}

constexpr std::array<NamedFormat, 5> kFormats = {{
    {"text", "for people", make<TextFormat>},
    {"json", "for programs", make<JsonFormat>},
    {"sarif", "SARIF 2.1.0, for code scanning", make_sarif},
    {"junit", "JUnit XML, for test reports", make_junit},
    {"github", "annotations and a step summary of GitHub Actions", make_github},
}};

}  // namespace

std::span<const NamedFormat> report_formats() { return kFormats; }

const NamedFormat* find_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &NamedFormat::name);
  return found == kFormats.end() ? nullptr : &*found;
}

}  // namespace memverify
