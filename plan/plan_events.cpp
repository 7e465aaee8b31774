#include "plan/plan_events.h"

#include <utility>

#include "plan/pointer.h"
#include "plan/suggest.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::string_view kExtraPrefix = "x-";

bool is_whole(std::string_view number) {
  return number.find_first_of(".eE") == std::string_view::npos;
}

}  // namespace

// Values.

bool PlanEvents::on_null(JsonSpan span) {
  return skip_depth_ != 0 || mismatch(begin_value(span.begin), "null", span);
}

bool PlanEvents::on_bool(bool value, JsonSpan span) {
  if (skip_depth_ != 0) return true;
  const Slot& slot = begin_value(span.begin);
  if (slot.boolean == nullptr) return mismatch(slot, value ? "true" : "false", span);
  *slot.boolean = value;
  return end_value(span);
}

bool PlanEvents::on_integer(std::int64_t value, JsonSpan span) {
  if (skip_depth_ != 0) return true;
  const Slot& slot = begin_value(span.begin);
  if (slot.integer != nullptr) {
    *slot.integer = value;
  } else if (slot.expr != nullptr) {
    *slot.expr = value;
  } else {
    return mismatch(slot, "an integer", span);
  }
  return end_value(span);
}

bool PlanEvents::on_other_number(std::string_view text, JsonSpan span) {
  if (skip_depth_ != 0) return true;
  const Slot& slot = begin_value(span.begin);
  constexpr std::size_t kShown = 40;
  std::string shown(text.substr(0, kShown));
  if (text.size() > kShown) shown += "...";
  if ((slot.integer == nullptr && slot.expr == nullptr) || !is_whole(text)) {
    std::string found = "the number " + shown;
    if (slot.integer != nullptr || slot.expr != nullptr) {
      found += " (write integers without fraction and exponent)";
    }
    return mismatch(slot, found, span);
  }
  report("json.integer",
         "the integer " + shown + " is outside -9223372036854775808 ... 9223372036854775807",
         pointer(frames_.size()), span.begin);
  return end_value(span);
}

bool PlanEvents::on_string(std::string_view value, JsonSpan span) {
  if (skip_depth_ != 0) return true;
  const Slot& slot = begin_value(span.begin);
  if (slot.string != nullptr) {
    if (value.empty() && !slot.may_be_empty) {
      report("json.empty", "the string must not be empty", pointer(frames_.size()), span.begin);
    }
    *slot.string = keep(value, span);
  } else if (slot.expr != nullptr) {
    *slot.expr = keep(value, span);
  } else {
    return mismatch(slot, "a string", span);
  }
  return end_value(span);
}

bool PlanEvents::on_object_begin(std::size_t begin) {
  if (skip_depth_ != 0) {
    ++skip_depth_;
  } else {
    begin_compound(begin_value(begin), begin, true);
  }
  return go_on();
}

bool PlanEvents::on_array_begin(std::size_t begin) {
  if (skip_depth_ != 0) {
    ++skip_depth_;
  } else {
    begin_compound(begin_value(begin), begin, false);
  }
  return go_on();
}

bool PlanEvents::on_object_end(std::size_t end) {
  if (skip_depth_ != 0) return --skip_depth_ != 0 || end_value({skip_begin_, end});
  const Frame frame = frames_.back();
  frames_.pop_back();
  report_missing(frame);
  if (frame.object->end != nullptr) {
    frame.object->end(fields_);
    report_fault(frame.begin);
  }
  return end_value({frame.begin, end});
}

bool PlanEvents::on_array_end(std::size_t end) {
  if (skip_depth_ != 0) return --skip_depth_ != 0 || end_value({skip_begin_, end});
  const Frame frame = frames_.back();
  frames_.pop_back();
  if (frame.index < frame.list->min) {
    report("json.type",
           std::string("expected ") + frame.list->expected + ", found an array of " +
               std::to_string(frame.index),
           pointer(frames_.size()), frame.begin);
  }
  return end_value({frame.begin, end});
}

std::size_t PlanEvents::read_on(std::size_t at) {
  if (frames_.size() != 2 || skip_depth_ != 0 || !errors_.empty()) return at;
  Frame& frame = frames_.back();
  if (frame.list == nullptr || !frame.list->feeds) return at;
  const PlainItems::Read read = plain_items_.read(*frame.list, frame.index, at);
  frame.index += read.items;
  return read.end;
}

Slot& PlanEvents::begin_value(std::size_t begin) {
  if (frames_.empty()) {
    slot_ = {.expected = "a JSON object", .object = &kPlanFields};
    return slot_;
  }
  Frame& frame = frames_.back();
  frame.errors = static_cast<std::uint8_t>(errors_.size());
  if (frame.list == nullptr) return slot_;
  frame.after = frame.list->after;
  frame.skip = Skip::kNo;
  if (frame.index >= frame.list->max) {
    if (frame.index == frame.list->max) {
      report("json.type",
             std::string("expected ") + frame.list->expected + ", found one entry more",
             pointer(frames_.size()), begin);
    }
    frame.skip = Skip::kSilently;
    slot_ = {};
  } else {
    slot_ = frame.list->element(fields_, frame.index);
  }
  return slot_;
}

bool PlanEvents::end_value(JsonSpan span) {
  if (frames_.empty()) {
    end_document();
    return go_on();
  }
  Frame& frame = frames_.back();
  if (frame.skip == Skip::kExtra) {
    extras_.push_back({pointer(frames_.size() - 1), std::string(frame.key),
                       std::string(text_.substr(span.begin, span.end - span.begin))});
  } else if (frame.after != nullptr && frame.skip == Skip::kNo) {
    frame.after(fields_);
    report_fault(span.begin);
  }
  if (frame.list != nullptr) {
    ++frame.index;
    if (frames_.size() == 2) fields_.feed.end_item();
  } else if (frames_.size() == 1) {
    fields_.feed.end_section();
    if (frame.key == "memverify") version_offset_ = span.begin;
  }
  return go_on();
}

void PlanEvents::end_document() {
  PlanBuilder& builder = fields_.feed.builder();
  for (const Extra& extra : extras_) builder.add_extra(extra.owner, extra.key, extra.json);
}

bool PlanEvents::mismatch(const Slot& slot, std::string_view found, JsonSpan span) {
  if (frames_.empty() || frames_.back().skip == Skip::kNo) {
    report("json.type", std::string("expected ") + slot.expected + ", found " + std::string(found),
           pointer(frames_.size()), span.begin);
    if (frames_.empty()) return false;
  }
  return end_value(span);
}

void PlanEvents::begin_compound(Slot& slot, std::size_t begin, bool is_object) {
  if (is_object ? slot.object != nullptr : slot.list != nullptr) {
    frames_.push_back({.object = is_object ? slot.object : nullptr,
                       .list = is_object ? nullptr : slot.list,
                       .begin = begin});
    if (other_keys_.size() < frames_.size()) other_keys_.resize(frames_.size());
    if (!other_keys_[frames_.size() - 1].empty()) other_keys_[frames_.size() - 1].clear();
    return;
  }
  if (frames_.empty() || frames_.back().skip == Skip::kNo) {
    report("json.type",
           std::string("expected ") + slot.expected + ", found " +
               (is_object ? "an object" : "an array"),
           pointer(frames_.size()), begin);
  }
  skip_depth_ = 1;
  skip_begin_ = begin;
}

// Keys.

bool PlanEvents::on_key(std::string_view key, JsonSpan span) {
  if (skip_depth_ != 0) return true;
  Frame& frame = frames_.back();
  frame.after = nullptr;
  frame.skip = Skip::kNo;
  if (frame.object->entry == nullptr) {
    find_field(key, span);
    return go_on();
  }
  frame.key = keep(key, span);
  if (key.empty()) {
    report("json.empty", "the key must not be empty", pointer(frames_.size()), span.begin);
  }
  if (is_repeated(frame.key, span)) return go_on();
  frame.after = frame.object->after_entry;
  slot_ = frame.object->entry(fields_, frame.key);
  return go_on();
}

void PlanEvents::find_field(std::string_view key, JsonSpan span) {
  Frame& frame = frames_.back();
  const std::span<const Field> fields = frame.object->fields;
  for (std::size_t tried = 0; tried < fields.size(); ++tried) {
    std::size_t k = frame.next_field + tried;
    if (k >= fields.size()) k -= fields.size();
    const Field& field = fields[k];
    if (field.key.size() != key.size() || field.key.front() != key.front() || field.key != key) {
      continue;
    }
    frame.key = field.key;
    frame.next_field = static_cast<std::uint8_t>(k + 1 == fields.size() ? 0 : k + 1);
    const std::uint32_t bit = std::uint32_t{1} << k;
    if ((frame.seen & bit) != 0) {
      report("json.repeated", "the key " + quoted(key) + " occurs twice in this object",
             pointer(frames_.size()), span.begin);
      frame.skip = Skip::kSilently;
      slot_ = {};
      return;
    }
    frame.seen |= bit;
    frame.after = field.after;
    slot_ = field.slot(fields_);
    return;
  }
  frame.key = keep(key, span);
  slot_ = {};
  if (key.starts_with(kExtraPrefix)) {
    if (!is_repeated(frame.key, span)) frame.skip = Skip::kExtra;
    return;
  }
  frame.skip = Skip::kSilently;
  frame.unknown_key = true;
  Suggester suggester(key);
  for (const Field& field : fields) suggester.consider(field.key);
  std::string message = "unknown key " + quoted(key) + suggester.hint();
  if (suggester.best().empty()) {
    message += std::string("; ") + frame.object->what + " has";
    const char* separator = " ";
    for (const Field& field : fields) {
      message += separator + quoted(field.key);
      separator = ", ";
    }
  }
  report("json.key", std::move(message), pointer(frames_.size()), span.begin);
}

bool PlanEvents::is_repeated(std::string_view key, JsonSpan span) {
  if (other_keys_[frames_.size() - 1].insert(key).second) return false;
  report("json.repeated", "the key " + quoted(key) + " occurs twice in this object",
         pointer(frames_.size()), span.begin);
  frames_.back().skip = Skip::kSilently;
  slot_ = {};
  return true;
}

// Errors.

void PlanEvents::report_missing(const Frame& frame) {
  if ((frame.seen & frame.object->required) == frame.object->required) return;
  for (std::size_t k = 0; k < frame.object->fields.size(); ++k) {
    const Field& field = frame.object->fields[k];
    if (!field.required || ((frame.seen >> k) & 1U) != 0) continue;
    if (errors_.size() >= kMaxReadErrors) return;
    const std::string owner = pointer(frames_.size());
    std::string subject = owner + json_pointer({field.key});
    if (frame.unknown_key) {
      // Most likely this one, misspelt: said once.
      for (ReadError& error : errors_) {
        if (error.id == "json.key" && error.pointer.starts_with(owner + "/")) {
          error.subject = subject;
        }
      }
      continue;
    }
    errors_.push_back({"json.missing",
                       std::string(frame.object->what) + " needs " + quoted(field.key), owner,
                       frame.begin, std::move(subject)});
  }
}

void PlanEvents::report_fault(std::size_t offset) {
  if (fields_.fault.empty()) return;
  std::string fault = std::exchange(fields_.fault, {});
  // A fault of a value that has been reported already is a consequence.
  if (!frames_.empty() && errors_.size() > frames_.back().errors) return;
  report("json.entry", std::move(fault), pointer(frames_.size()), offset);
}

void PlanEvents::report(const char* id, std::string message, std::string at, std::size_t offset) {
  if (errors_.size() >= kMaxReadErrors) return;
  errors_.push_back({id, std::move(message), at, offset, at});
}

std::string PlanEvents::pointer(std::size_t depth) const {
  std::string result;
  for (std::size_t k = 0; k < depth; ++k) {
    const Frame& frame = frames_[k];
    result += frame.object != nullptr ? json_pointer({frame.key}) : json_pointer({frame.index});
  }
  return result;
}

std::string_view PlanEvents::keep(std::string_view text, JsonSpan span) {
  if (text.size() + 2 == span.end - span.begin) return text;
  const bool in_item = frames_.size() >= 2 && frames_[1].list != nullptr;
  if (in_item) return fields_.feed.keep(text);
  return kept_.emplace_back(text);
}

}  // namespace memverify
