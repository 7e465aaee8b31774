#include "plan/builder_impl.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <tuple>

#include "plan/suggest.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMostErrors = 1000;

constexpr std::array<std::string_view, kNameKinds> kKindNames = {
    "symbol", "condition", "pool",    "queue",  "thread",
    "event",  "semaphore", "storage", "tensor", "op"};

constexpr std::array<std::string_view, 14> kSections = {
    "name",     "symbols", "conditions", "iterations", "pools",     "queues",  "semaphores",
    "storages", "tensors", "ops",        "inputs",     "constants", "donated", "outputs"};

// Section and index of the thing that a pointer leads to.
std::pair<std::ptrdiff_t, std::uint64_t> place(const Diagnostic& error) {
  std::string_view rest = std::string_view(error.pointer).substr(error.pointer.empty() ? 0 : 1);
  const std::string_view section = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(rest.size(), section.size() + 1));
  const std::string_view item = rest.substr(0, rest.find('/'));
  std::uint64_t number = 0;
  const char* end = item.data() + item.size();
  if (std::from_chars(item.data(), end, number).ptr != end) number = 0;  // A key: as it came.
  return {std::ranges::find(kSections, section) - kSections.begin(), number};
}

}  // namespace

std::string_view name(NameKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::string with_article(NameKind kind) {
  const std::string_view word = name(kind);
  const bool vowel = std::string_view("aeio").find(word.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(word);
}

std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> words) {
  std::string message = "unknown " + std::string(what) + " " + quoted(word);
  const std::string hint = did_you_mean(word, words);
  if (!hint.empty()) return message + hint;
  message += "; known are";
  for (const std::string_view known : words) message += " " + std::string(known);
  return message;
}

PlanBuilder::Impl::Impl() {
  thread("main");
  update("add");
}

void PlanBuilder::Impl::fail(Faults& found, std::string_view id, std::string message,
                             std::string pointer) {
  if (found.errors.size() >= kMostErrors) return;
  found.errors.push_back(
      {.id = std::string(id), .message = std::move(message), .pointer = std::move(pointer)});
}

void PlanBuilder::Impl::unknown_name(Faults& found, NameKind kind, StringId name,
                                     std::string pointer) {
  if (found.errors.size() >= kMostErrors) return;
  const std::string_view text = names.text(name);
  const std::string kind_name(memverify::name(kind));
  std::string message = "no " + kind_name + " has the id " + quoted(text);
  const std::string hint = nearest(found, kind, text);
  if (!hint.empty()) {
    message += hint;
  } else {
    for (std::size_t other = 0; other < kNameKinds; ++other) {
      if (find(static_cast<NameKind>(other), index(name)) == kNoId) continue;
      message += "; it is the id of " + with_article(static_cast<NameKind>(other));
      break;
    }
  }
  fail(found, kind_name + ".unknown", std::move(message), std::move(pointer));
}

std::string PlanBuilder::Impl::nearest(Faults& found, NameKind kind, std::string_view name) const {
  const std::vector<std::uint32_t>& ids = by_string[static_cast<std::size_t>(kind)];
  Suggester suggester(name);
  for (std::uint32_t at = 0; at < ids.size() && found.suggestions_left > 0; ++at) {
    if (ids[at] == kNoId) continue;
    --found.suggestions_left;
    suggester.consider(names.text(static_cast<StringId>(at)));
  }
  return suggester.hint();
}

std::vector<Diagnostic> PlanBuilder::Impl::sorted_errors() {
  std::vector<Diagnostic> errors = std::move(faults.errors);
  errors.insert(errors.end(), std::make_move_iterator(op_faults.errors.begin()),
                std::make_move_iterator(op_faults.errors.end()));
  std::ranges::stable_sort(errors, {}, place);
  if (errors.size() > kMostErrors) errors.resize(kMostErrors);
  return errors;
}

}  // namespace memverify
