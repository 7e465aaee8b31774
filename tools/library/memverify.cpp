// The C functions over tools/library/check.h. No exception crosses: each body runs in `guarded`.
#include "tools/library/memverify.h"

#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "plan/reader.h"
#include "plan/writer.h"
#include "tools/diagnostics.h"
#include "tools/exit_code.h"
#include "tools/library/check.h"
#include "tools/library/option_reader.h"
#include "tools/report.h"
#include "tools/report_json.h"
#include "tools/verifiable.h"

using memverify::Diagnostic;
using memverify::Plan;
using memverify::Report;
using memverify::Result;

struct memverify_plan {
  Plan plan;
  std::string file;
  std::string text;  ///< Kept only of what cannot be verified as it is: its errors need places.
};

struct memverify_result {
  memverify_status status = MEMVERIFY_INTERNAL;
  std::string text;
  std::string json;
  std::string plan;
  std::vector<Diagnostic> errors;
};

namespace {

/// What `body` returns. An exception becomes a result with the status MEMVERIFY_INTERNAL, and
/// nullptr when there is no memory for that.
template <typename Body>
memverify_result* guarded(const Body& body) noexcept {
  try {
    try {
      return new memverify_result(body());
    } catch (const std::bad_alloc&) {
      return nullptr;
    } catch (const std::exception& error) {
      Report report;
      report.internal_errors.emplace_back(error.what());
      return new memverify_result{
          .status = MEMVERIFY_INTERNAL,
          .text = std::string("memverify: internal error: ") + error.what() + "\n",
          .json = json_report(report, memverify::JsonLayout::kPretty)};
    }
  } catch (...) {
    return nullptr;
  }
}

memverify_status status_of(int exit_code) { return static_cast<memverify_status>(exit_code); }

memverify_result refused(const std::vector<Diagnostic>& errors, std::string_view text,
                         const std::string& file) {
  const Report report{.file = file, .errors = memverify::with_excerpts(errors, text, file)};
  memverify_result result{.status = MEMVERIFY_BAD_INPUT,
                          .text = text_errors(report.errors, memverify::Style()),
                          .json = json_report(report, memverify::JsonLayout::kPretty)};
  for (const memverify::InputError& error : report.errors) {
    result.errors.push_back(error.diagnostic);
  }
  return result;
}

/// Options have no place in the plan's file.
memverify_result refused_options(const std::vector<Diagnostic>& errors) {
  return refused(errors, "", "");
}

/// What is wrong with a plan, or with the options beside it.
memverify_result refused(const std::vector<Diagnostic>& errors, const memverify_plan& plan) {
  const bool is_option = errors.front().id.starts_with("option.");
  return is_option ? refused_options(errors) : refused(errors, plan.text, plan.file);
}

memverify_result outcome(const memverify_plan& plan,
                         const Result<memverify::Verification>& verified) {
  if (!verified.ok()) return refused(verified.errors(), plan);
  const memverify::Verification& verification = verified.value();
  memverify_result result{.status = status_of(verification.exit_code()),
                          .text = verification.text(),
                          .json = verification.json()};
  return result;
}

}  // namespace

const char* memverify_version(void) { return MEMVERIFY_VERSION; }

int memverify_is_compatible(int major, int minor) {
  return major == MEMVERIFY_VERSION_MAJOR && minor <= MEMVERIFY_VERSION_MINOR ? 1 : 0;
}

memverify_plan* memverify_plan_read(const char* text, size_t bytes, const char* file,
                                    memverify_result** result) {
  memverify_plan* plan = nullptr;
  memverify_result* wrong = guarded([&] {
    const std::string name = file == nullptr ? "" : file;
    const std::string_view whole(text, bytes);
    Result<Plan> read = memverify::read_plan(whole, name);
    if (!read.ok()) return refused(read.errors(), whole, name);
    auto made = std::make_unique<memverify_plan>();
    made->plan = std::move(read).value();
    made->file = name;
    if (!memverify::cannot_be_verified(made->plan).empty()) made->text = whole;
    plan = made.release();
    return memverify_result{};
  });
  if (plan != nullptr || result == nullptr) {
    memverify_result_free(wrong);
    wrong = nullptr;
  }
  if (result != nullptr) *result = wrong;
  return plan;
}

void memverify_plan_free(memverify_plan* plan) { delete plan; }

memverify_result* memverify_verify(const memverify_plan* plan, const char* options) {
  return guarded([&] {
    Result<memverify::VerifyOptions> given = memverify::read_verify_options(options);
    if (!given.ok()) return refused_options(given.errors());
    given.value().file = plan->file;
    return outcome(*plan, memverify::verify(plan->plan, given.value()));
  });
}

memverify_result* memverify_simulate(const memverify_plan* plan, const char* options) {
  return guarded([&] {
    const Result<memverify::SimOptions> given = memverify::read_simulate_options(options);
    if (!given.ok()) return refused_options(given.errors());
    return outcome(*plan, memverify::simulate(plan->plan, given.value(), plan->file));
  });
}

memverify_result* memverify_place(const memverify_plan* graph, const char* options) {
  return guarded([&] {
    Result<memverify::PlaceOptions> given = memverify::read_place_options(options);
    if (!given.ok()) return refused_options(given.errors());
    given.value().file = graph->file;
    const auto placed = memverify::place(graph->plan, given.value());
    if (!placed.ok()) return refused(placed.errors(), *graph);
    memverify_result result{.status = status_of(placed.value().exit_code()),
                            .text = placed.value().text(),
                            .json = placed.value().json()};
    if (placed.value().is_placed()) result.plan = memverify::write_plan(placed.value().plan());
    return result;
  });
}

memverify_status memverify_result_status(const memverify_result* result) { return result->status; }

const char* memverify_result_text(const memverify_result* result) { return result->text.c_str(); }

const char* memverify_result_json(const memverify_result* result) { return result->json.c_str(); }

const char* memverify_result_plan(const memverify_result* result) {
  return result->plan.empty() ? nullptr : result->plan.c_str();
}

size_t memverify_result_errors(const memverify_result* result) { return result->errors.size(); }

memverify_error memverify_result_error(const memverify_result* result, size_t index) {
  if (index >= result->errors.size()) return {"", "", "", "", 0, 0};
  const Diagnostic& error = result->errors[index];
  return {.id = error.id.c_str(),
          .message = error.message.c_str(),
          .file = error.file.c_str(),
          .pointer = error.pointer.c_str(),
          .line = error.line,
          .column = error.column};
}

void memverify_result_free(memverify_result* result) { delete result; }
