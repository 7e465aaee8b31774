// tools/report_data.h -- what a picture of a plan is drawn from, as JSON (tools/report/data.ts).
#pragma once

#include <string>

#include "tools/drawn_part.h"
#include "tools/report.h"

namespace memverify {

/// A verified plan with the run that is drawn of it. `report` must outlive it.
struct Drawing {
  const Report& report;
  DrawnRun run;
  DrawnMemory memory;
  DrawnPart part;
};

/// `report` must hold a plan. Errors: those of draw_run. Cost: n log n in the commands drawn.
Result<Drawing> draw(const Report& report, DrawnTime time, const DrawnLimits& limits = {});

/// One JSON object, in which no `<`, `>`, `&`, U+2028 or U+2029 stands as such, so that it can be
/// the text of an HTML element; text that is no UTF-8 comes out with U+FFFD. Lists of the same kind
/// of thing are columns; what names a thing in another list is its index there. Findings have the
/// last `kMostSteps` steps of their run.
std::string drawing_json(const Drawing& drawing);

/// Replaces what is no UTF-8 by U+FFFD. Cost: linear.
std::string valid_utf8(std::string_view text);

}  // namespace memverify
