// tools/source_lines.h -- the source lines that a report can point to.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "tools/report.h"

namespace memverify {

struct SourceLine {
  std::string file;      ///< "" when there is none: a plan from standard input.
  std::size_t line = 1;  ///< 1-based.
};

/// Where ops stand: at their `loc`, else in the plan file.
class SourceLines {
 public:
  /// Looks up the ops of the findings and of their runs. Reads the plan file once more, if it is
  /// one of JSON.
  explicit SourceLines(const Report& report);
  SourceLine of(OpId op) const;
  /// Of the finding's first op; of one without ops, the plan file.
  SourceLine of(const Finding& finding) const;

 private:
  const Report& report_;
  std::map<OpId, std::size_t> lines_;  ///< In the plan file.
};

}  // namespace memverify
