#include "tools/load.h"

#include <utility>

#include "plan/input_file.h"
#include "plan/reader.h"

namespace memverify {

Loaded load_plan(const std::string& path, std::vector<Diagnostic> (*check)(const Plan&)) {
  const std::string name = path == "-" ? "<stdin>" : path;
  const Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return {.errors = with_excerpts(file.errors(), "", name)};
  const std::string_view text = file.value().text();
  Result<Plan> plan = read_plan(text, name);
  if (!plan.ok()) return {.errors = with_excerpts(plan.errors(), text, name)};
  if (check != nullptr) {
    if (std::vector<Diagnostic> wrong = check(plan.value()); !wrong.empty()) {
      return {.errors = with_excerpts(std::move(wrong), text, name)};
    }
  }
  return {.plan = std::move(plan).value()};
}

}  // namespace memverify
