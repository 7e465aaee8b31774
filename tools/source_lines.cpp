#include "tools/source_lines.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "plan/input_file.h"
#include "plan/json_places.h"
#include "plan/pointer.h"

namespace memverify {
namespace {

std::uint32_t location_of(const Plan& plan, OpId op) {
  return plan.details_of(plan.ops[op]).location;
}
bool has_location(const Plan& plan, OpId op) { return location_of(plan, op) != OpDetails::kAbsent; }

}  // namespace

SourceLines::SourceLines(const Report& report) : report_(report) {
  if (report.file == "-" || !report.imported.empty()) return;
  const auto add = [&](OpId op) {
    if (op != kNone<OpId> && !has_location(report.plan, op)) lines_[op] = 1;
  };
  for (const Finding& finding : report.findings) {
    std::ranges::for_each(finding.ops, add);
    const std::size_t steps = finding.witness.size();
    for (std::size_t k = steps - std::min(steps, kMostSteps); k < steps; ++k) {
      add(finding.witness[k].op);
    }
  }
  const Result<InputFile> file = InputFile::open(report.file);
  if (lines_.empty() || !file.ok()) return;
  const std::string_view text = file.value().text();
  std::vector<std::string> pointers;
  for (const auto& [op, line] : lines_) pointers.push_back(json_pointer({"ops", index(op)}));
  const std::vector<std::size_t> offsets = find_places(text, pointers);
  if (!std::ranges::is_sorted(offsets)) return;  // The file is another one by now.
  const std::vector<LineColumn> found = find_lines(text, offsets);
  std::size_t next = 0;
  for (auto& [op, line] : lines_) line = found[next++].line;
}

SourceLine SourceLines::of(OpId op) const {
  if (op != kNone<OpId> && has_location(report_.plan, op)) {
    const SourceLocation& location = report_.plan.locations[location_of(report_.plan, op)];
    const std::int64_t line = std::max<std::int64_t>(location.line, 1);
    return {std::string(location.file), static_cast<std::size_t>(line)};
  }
  const auto known = lines_.find(op);
  return {report_.file == "-" ? "" : report_.file, known == lines_.end() ? 1 : known->second};
}

SourceLine SourceLines::of(const Finding& finding) const {
  return of(finding.ops.empty() ? kNone<OpId> : finding.ops.front());
}

}  // namespace memverify
