#include "tests/fuzz/reader_property.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "plan/plan_events.h"
#include "plan/reader.h"
#include "plan/writer.h"

namespace memverify {
namespace {

std::string check_errors(std::string_view text, const std::vector<Diagnostic>& errors) {
  if (errors.empty() || errors.size() > kMaxReadErrors) {
    return std::to_string(errors.size()) + " errors";
  }
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  auto last = std::tuple<std::size_t, std::size_t>(1, 1);
  for (const Diagnostic& error : errors) {
    const auto place = std::tuple(error.line, error.column);
    if (error.id.empty() || error.message.empty()) return "an incomplete error";
    if (place < last) return "errors out of order: " + to_string(error);
    if (error.line > lines || error.column > text.size() + 1) {
      return "a place outside the text: " + to_string(error);
    }
    last = place;
  }
  return "";
}

constexpr std::string_view kId = "\"id\"";
constexpr std::string_view kEscapedId = "\"\\u0069d\"";

/// The same document with an escape in each item, so that none is read by plan/plain_items.h.
std::string without_plain_items(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with(kId) && (at == 0 || text[at - 1] != '\\')) {
      out += kEscapedId;
      at += kId.size() - 1;
    } else {
      out += text[at];
    }
  }
  return out;
}

/// What `plan` is, or what is wrong with it, without places.
std::string content(const Result<Plan>& plan) {
  if (plan.ok()) return write_plan(plan.value());
  std::string all;
  for (const Diagnostic& error : plan.errors()) {
    const bool shows_text = error.id.starts_with("json.");
    all += error.id + " " + error.pointer + " " + (shows_text ? "" : error.message) + "\n";
  }
  return all;
}

}  // namespace

std::string check_reader(std::string_view text) {
  // In a buffer of its own, so that a sanitizer sees a read past the end.
  const std::vector<char> bytes(text.begin(), text.end());
  const Result<Plan> plan = read_plan({bytes.data(), bytes.size()}, "");
  std::string slowly = content(read_plan(without_plain_items(text), ""));
  for (std::size_t at; (at = slowly.find(kEscapedId)) != std::string::npos;) {
    slowly.replace(at, kEscapedId.size(), kId);  // In keys that are carried along as text.
  }
  if (content(plan) != slowly) {
    return "read differently item by item:\n" + content(plan) + "\nand\n" + slowly;
  }
  if (!plan.ok()) return check_errors(text, plan.errors());
  const std::string written = write_plan(plan.value());
  const Result<Plan> again = read_plan(written, "");
  if (!again.ok()) {
    return "what was written is refused: " + to_string(again.errors()[0]) + "\n" + written;
  }
  if (write_plan(again.value()) != written)
    return "written differently the second time:\n" + written;
  return "";
}

}  // namespace memverify
