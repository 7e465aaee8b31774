#include "plan/reader.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "plan/builder.h"
#include "plan/input_file.h"
#include "plan/json_events.h"
#include "plan/json_places.h"
#include "plan/plan_events.h"

namespace memverify {
namespace {

constexpr std::int64_t kVersion = 1;

struct Placed {
  std::size_t offset = 0;
  Diagnostic diagnostic;
};

/// Fills in file, line and column, in the order of the document.
std::vector<Diagnostic> in_order(std::vector<Placed> errors, std::string_view text,
                                 std::string_view file) {
  std::ranges::stable_sort(errors, {}, &Placed::offset);
  std::vector<std::size_t> offsets;
  for (const Placed& error : errors) offsets.push_back(error.offset);
  const std::vector<LineColumn> lines = find_lines(text, offsets);
  std::vector<Diagnostic> diagnostics;
  for (std::size_t k = 0; k < errors.size(); ++k) {
    Diagnostic& diagnostic = errors[k].diagnostic;
    diagnostic.file = file;
    diagnostic.line = lines[k].line;
    diagnostic.column = lines[k].column;
    diagnostics.push_back(std::move(diagnostic));
  }
  return diagnostics;
}

std::string_view parent(std::string_view pointer) {
  return pointer.substr(0, std::min(pointer.rfind('/'), pointer.size()));
}

/// What the builder did not get, so that what it says of it is a consequence of the reader's
/// errors.
class Lost {
 public:
  explicit Lost(const std::vector<ReadError>& read) {
    for (const ReadError& error : read) {
      const std::string_view subject = error.subject;
      subjects_.emplace(subject);
      const bool is_just_unknown = error.id == "json.key" && error.subject == error.pointer;
      const std::string_view owner = parent(subject);
      if (!owner.empty() && !is_just_unknown) owners_.emplace(owner);
      // "/tensors", "/tensors/3" and "/tensors/3/id": a tensor's id.
      const auto steps = std::ranges::count(subject, '/');
      if (steps == 1 || steps == 2 || (steps == 3 && subject.ends_with("/id"))) {
        const std::string_view section = subject.substr(1, subject.find('/', 1) - 1);
        unknown_ids_.insert(std::string(section.substr(0, section.size() - 1)) + ".unknown");
      }
    }
  }

  bool explains(const Diagnostic& built) const {
    if (unknown_ids_.contains(built.id) || owners_.contains(built.pointer)) return true;
    for (std::string_view at = built.pointer; !at.empty(); at = parent(at)) {
      if (subjects_.contains(at)) return true;
    }
    return false;
  }

 private:
  std::set<std::string, std::less<>> subjects_;     ///< Values that could not be handed on.
  std::set<std::string, std::less<>> owners_;       ///< Objects that lack one.
  std::set<std::string, std::less<>> unknown_ids_;  ///< "tensor.unknown": an id is lost.
};

/// The builder's errors that stand by themselves, in the order of the text.
std::vector<Placed> independent(const std::vector<Diagnostic>& built,
                                const std::vector<ReadError>& read, std::string_view text) {
  const Lost lost(read);
  std::vector<Placed> errors;
  std::vector<std::string> pointers;
  for (const Diagnostic& diagnostic : built) {
    if (lost.explains(diagnostic)) continue;
    errors.push_back({0, diagnostic});
    pointers.push_back(diagnostic.pointer);
  }
  const std::vector<std::size_t> offsets = find_places(text, pointers);
  for (std::size_t k = 0; k < errors.size(); ++k) errors[k].offset = offsets[k];
  std::ranges::stable_sort(errors, {}, &Placed::offset);
  return errors;
}

}  // namespace

Result<Plan> read_plan(std::string_view text, std::string_view file) {
  PlanBuilder builder;
  builder.expect_text(text.size());
  PlanEvents events(text, builder);
  const std::optional<JsonError> broken = scan_json(text, events);
  const std::vector<ReadError>& read = events.errors();

  std::vector<Placed> errors;
  bool is_plan = true;
  bool version_read = events.version().has_value();
  for (const ReadError& error : read) {
    errors.push_back(
        {error.offset, {.id = error.id, .message = error.message, .pointer = error.pointer}});
    if (error.pointer.empty() && error.id == "json.type") is_plan = false;
    if (error.pointer == "/memverify") version_read = false;
  }
  if (version_read && *events.version() != kVersion) {
    // Another version may have any keys: what else was found means nothing.
    errors = {{events.version_offset(),
               {.id = "plan.version",
                .message = "this is version " + std::to_string(*events.version()) +
                           " of the plan format; this memverify reads version 1",
                .pointer = "/memverify"}}};
    return in_order(std::move(errors), text, file);
  }
  if (broken) {
    if (errors.size() == kMaxReadErrors) errors.pop_back();
    errors.push_back({broken->offset, {.id = broken->id, .message = broken->message}});
  }
  if (broken || !is_plan || read.size() >= kMaxReadErrors) {
    return in_order(std::move(errors), text, file);
  }
  Result<Plan> plan = std::move(builder).build();
  if (plan.ok() && errors.empty()) return plan;
  if (!plan.ok()) {
    for (Placed& error : independent(plan.errors(), read, text)) {
      if (errors.size() < kMaxReadErrors) errors.push_back(std::move(error));
    }
  }
  return in_order(std::move(errors), text, file);
}

Result<Plan> read_plan_file(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return file.errors();
  return read_plan(file.value().text(), path == "-" ? "<stdin>" : path);
}

}  // namespace memverify
