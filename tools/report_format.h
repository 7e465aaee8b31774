// tools/report_format.h -- the outputs of `memverify verify`, one table: text and JSON for people
// and programs, SARIF, JUnit and GitHub's for continuous integration (docs/ci.md).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tools/console.h"
#include "tools/exit_code.h"
#include "tools/report.h"

namespace memverify {

/// What a format has to know before the first report.
struct FormatSettings {
  std::size_t files = 1;  ///< That will be reported.
  bool quiet = false;     ///< Text only.
  Style style = Style();
};

/// One output of one command.
class ReportFormat {
 public:
  virtual ~ReportFormat() = default;
  /// The report of the next file. Returns what can be written already.
  virtual std::string add(const Report& report) = 0;
  /// What is left to write; `code` is the exit code of all.
  virtual std::string end(ExitCode code) = 0;
};

struct NamedFormat {
  std::string_view name;
  std::string_view help;
  std::unique_ptr<ReportFormat> (*make)(const FormatSettings& settings);
};
std::span<const NamedFormat> report_formats();
/// nullptr when there is none of that name.
const NamedFormat* find_format(std::string_view name);

std::unique_ptr<ReportFormat> make_sarif(const FormatSettings& settings);
std::unique_ptr<ReportFormat> make_junit(const FormatSettings& settings);
std::unique_ptr<ReportFormat> make_github(const FormatSettings& settings);

}  // namespace memverify
