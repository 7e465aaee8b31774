#include "tools/verify_file.h"

#include <optional>
#include <utility>

#include "tools/decide.h"
#include "tools/load.h"

namespace memverify {

Report verify_file(const std::string& path, const EngineChoice& engines,
                   const EngineOptions& options, const ImportRequest& request) {
  Report report{.file = path};
  std::optional<Layout> least;
  Loaded loaded = load_plan(
      path, [&](const Plan& plan) { return find_obstacles(plan, least); }, request);
  if (!loaded.plan) {
    report.errors = std::move(loaded.errors);
    return report;
  }
  report.plan = std::move(*loaded.plan);
  report.imported = std::move(loaded.assumptions);
  decide(report, engines, options, &*least);
  confirm_findings(report);
  note_one_wait(report);
  return report;
}

}  // namespace memverify
