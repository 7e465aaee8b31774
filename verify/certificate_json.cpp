// The JSON of certificates (docs/certificate.md).
#include <algorithm>
#include <charconv>
#include <optional>

#include "plan/json_events.h"
#include "verify/certificate.h"

namespace memverify::cert {
namespace {

constexpr std::int64_t kVersion = 1;

// --- writing ---

void add_number(std::string& text, std::int64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(digits, end);
}

void add_list(std::string& text, std::string_view key, std::span<const std::int64_t> numbers) {
  text += "\"" + std::string(key) + "\":[";
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (k > 0) text += ',';
    add_number(text, numbers[k]);
  }
  text += "]";
}

void add_rows(std::string& text, std::string_view key, const Rows& rows) {
  text += ",\n\"" + std::string(key) + "\":[";
  constexpr std::size_t kMostDigits = 20;
  std::string digits;  // Of one row, each number after a comma.
  text.reserve(text.size() + 4 * (rows.numbers.size() + rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto row = rows.row(k);
    digits.resize(std::max(digits.size(), (row.size() + 2) * (kMostDigits + 1)));
    char* at = digits.data();
    char* const end = at + digits.size();
    if (k > 0) *at++ = ',';
    *at++ = '[';
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) *at++ = ',';
      const bool is_digit = row[i] >= 0 && row[i] < 10;
      if (is_digit) {
        *at++ = static_cast<char>('0' + row[i]);
      } else {
        at = std::to_chars(at, end, row[i]).ptr;
      }
    }
    *at++ = ']';
    text.append(digits.data(), at);
  }
  text += "]";
}

void add_number_field(std::string& text, std::string_view key, std::int64_t number) {
  text += ",\"" + std::string(key) + "\":";
  add_number(text, number);
}

// --- reading ---

/// A member of a case or fault, and where it goes.
struct Field {
  std::string_view key;
  std::int64_t* number = nullptr;
  std::string* text = nullptr;
  std::vector<std::int64_t>* list = nullptr;
  Rows* rows = nullptr;
};

std::vector<Field> fields(Case& c) {
  return {{.key = "iterations", .number = &c.iterations}, {.key = "symbols", .list = &c.symbols},
          {.key = "conditions", .list = &c.conditions},   {.key = "pairs", .number = &c.pairs},
          {.key = "postponed", .rows = &c.postponed},     {.key = "orders", .rows = &c.orders},
          {.key = "writers", .rows = &c.writers}};
}

std::vector<Field> fields(Fault& f) {
  return {{.key = "rule", .text = &f.rule},
          {.key = "case", .number = &f.number},
          {.key = "iterations", .number = &f.iterations},
          {.key = "nodes", .list = &f.nodes},
          {.key = "symbols", .list = &f.symbols},
          {.key = "conditions", .list = &f.conditions},
          {.key = "pool", .number = &f.pool},
          {.key = "byte", .number = &f.byte},
          {.key = "run", .rows = &f.run},
          {.key = "blocked", .rows = &f.blocked}};
}

class Reader : public JsonHandler {
 public:
  Reader(std::string_view text, Certificate& certificate)
      : text_(text), certificate_(certificate) {}

  bool on_null(JsonSpan span) override { return fail(span.begin, "null"); }
  bool on_bool(bool, JsonSpan span) override { return fail(span.begin, "a boolean"); }
  bool on_other_number(std::string_view, JsonSpan span) override {
    return fail(span.begin, "a number that is no 64-bit integer");
  }

  bool on_integer(std::int64_t value, JsonSpan span) override {
    if (depth_ == 1 && key_ == "memverify_certificate") {
      version_ = value;
      return true;
    }
    Field* field = depth_ >= 3 ? field_ : nullptr;
    if (field != nullptr && depth_ == 3 && field->number != nullptr) {
      *field->number = value;
    } else if (field != nullptr && depth_ == 4 && field->list != nullptr) {
      field->list->push_back(value);
    } else if (field != nullptr && depth_ == 5 && field->rows != nullptr) {
      field->rows->numbers.push_back(value);
    } else {
      return fail(span.begin, "a number");
    }
    return true;
  }

  bool on_string(std::string_view value, JsonSpan span) override {
    if (depth_ == 1 && key_ == "plan") {
      certificate_.plan = value;
    } else if (depth_ == 1 && key_ == "verdict") {
      certificate_.verdict = value;
    } else if (depth_ == 3 && field_ != nullptr && field_->text != nullptr) {
      *field_->text = value;
    } else {
      return fail(span.begin, "a string");
    }
    return true;
  }

  bool on_key(std::string_view key, JsonSpan span) override {
    if (depth_ == 1) {
      const bool is_known = std::ranges::find(kKeys, key) != std::end(kKeys);
      if (!is_known || std::ranges::find(seen_, key) != seen_.end())
        return fail_key(span.begin, key);
      seen_.emplace_back(key);
      key_ = key;
      return true;
    }
    const auto field = std::ranges::find(fields_, key, &Field::key);
    if (field == fields_.end() || std::ranges::find(field_seen_, key) != field_seen_.end()) {
      return fail_key(span.begin, key);
    }
    field_seen_.emplace_back(key);
    field_ = &*field;
    return true;
  }

  bool on_object_begin(std::size_t at) override {
    if (depth_ == 2 && key_ == "cases") {
      certificate_.cases.emplace_back();
      fields_ = fields(certificate_.cases.back());
    } else if (depth_ == 2 && key_ == "faults") {
      certificate_.faults.emplace_back();
      fields_ = fields(certificate_.faults.back());
    } else if (depth_ != 0) {
      return fail(at, "an object");
    }
    field_ = nullptr;
    field_seen_.clear();
    ++depth_;
    return true;
  }
  bool on_object_end(std::size_t at) override {
    if (depth_ == 3 && field_seen_.size() != fields_.size()) {
      for (const Field& field : fields_) {
        if (std::ranges::find(field_seen_, field.key) != field_seen_.end()) continue;
        return fail_missing(at, field.key);
      }
    }
    --depth_;
    return true;
  }
  bool on_array_begin(std::size_t at) override {
    const bool fits = (depth_ == 1 && (key_ == "cases" || key_ == "faults")) ||
                      (depth_ == 3 && field_ != nullptr &&
                       (field_->list != nullptr || field_->rows != nullptr)) ||
                      (depth_ == 4 && field_ != nullptr && field_->rows != nullptr);
    if (!fits) return fail(at, "an array");
    ++depth_;
    return true;
  }
  bool on_array_end(std::size_t) override {
    if (depth_ == 5) field_->rows->ends.push_back(field_->rows->numbers.size());
    --depth_;
    return true;
  }

  /// Rows of plain numbers are most of a certificate.
  std::size_t read_on(std::size_t at) override {
    if (depth_ != 4 || field_->rows == nullptr) return at;
    const std::string_view left = text_.substr(at);
    const char* row = left.data();
    const char* const end = row + left.size();
    while (end - row > 2 && row[0] == ',' && row[1] == '[') {
      const char* const behind = read_row(row + 2, end, *field_->rows);
      if (behind == nullptr) break;
      row = behind;
    }
    return at + static_cast<std::size_t>(row - left.data());
  }

  std::optional<JsonError> finish(std::size_t at) {
    if (error_) return error_;
    for (std::string_view key : kKeys) {
      if (std::ranges::find(seen_, key) == seen_.end()) fail_missing(at, key);
      if (error_) return error_;
    }
    if (version_ != kVersion) {
      return JsonError{
          "certificate.version",
          "this is version " + std::to_string(version_) + ", not " + std::to_string(kVersion), 0};
    }
    return std::nullopt;
  }

 private:
  static constexpr std::string_view kKeys[] = {"memverify_certificate", "plan", "verdict", "cases",
                                               "faults"};
  /// The place behind the row; nullptr, and nothing read, if it is anything but numbers and commas.
  static const char* read_row(const char* at, const char* end, Rows& rows) {
    const std::size_t size = rows.numbers.size();
    for (bool more = true; more;) {
      std::int64_t number = 0;
      const auto [behind, error] = std::from_chars(at, end, number);
      bool is_plain = error == std::errc() && behind != end && (*behind == ',' || *behind == ']');
      if (is_plain) {
        const char* const digits = *at == '-' ? at + 1 : at;
        is_plain = *digits != '0' || behind == digits + 1;
      }
      if (!is_plain) {
        rows.numbers.resize(size);
        return nullptr;
      }
      rows.numbers.push_back(number);
      more = *behind == ',';
      at = behind + 1;
    }
    rows.ends.push_back(rows.numbers.size());
    return at;
  }
  bool fail(std::size_t at, std::string_view what) {
    error_ = JsonError{"certificate.format", std::string(what) + " has no place here", at};
    return false;
  }
  bool fail_key(std::size_t at, std::string_view key) {
    return fail(at, "the key \"" + std::string(key) + "\", unknown or repeated,");
  }
  bool fail_missing(std::size_t at, std::string_view key) {
    error_ = JsonError{"certificate.format", "\"" + std::string(key) + "\" is missing", at};
    return false;
  }

  std::string_view text_;
  Certificate& certificate_;
  int depth_ = 0;
  std::int64_t version_ = 0;
  std::string key_;                ///< Of the document.
  std::vector<std::string> seen_;  ///< Keys of the document, and of the case or fault.
  std::vector<std::string> field_seen_;
  std::vector<Field> fields_;
  Field* field_ = nullptr;
  std::optional<JsonError> error_;
};

}  // namespace

std::string write_certificate(const Certificate& certificate) {
  std::string text = "{\n\"memverify_certificate\":" + std::to_string(kVersion) + ",\n\"plan\":\"" +
                     certificate.plan + "\",\n\"verdict\":\"" + certificate.verdict +
                     "\",\n\"cases\":[";
  for (const Case& c : certificate.cases) {
    text += &c == certificate.cases.data() ? "\n{" : ",\n{";
    add_list(text, "symbols", c.symbols);
    text += ',';
    add_list(text, "conditions", c.conditions);
    add_number_field(text, "iterations", c.iterations);
    add_number_field(text, "pairs", c.pairs);
    add_rows(text, "postponed", c.postponed);
    add_rows(text, "orders", c.orders);
    add_rows(text, "writers", c.writers);
    text += "}";
  }
  text += "],\n\"faults\":[";
  for (const Fault& f : certificate.faults) {
    text += &f == certificate.faults.data() ? "\n{" : ",\n{";
    text += "\"rule\":\"" + f.rule + "\",";
    add_list(text, "nodes", f.nodes);
    text += ',';
    add_list(text, "symbols", f.symbols);
    text += ',';
    add_list(text, "conditions", f.conditions);
    add_number_field(text, "case", f.number);
    add_number_field(text, "iterations", f.iterations);
    add_number_field(text, "pool", f.pool);
    add_number_field(text, "byte", f.byte);
    add_rows(text, "run", f.run);
    add_rows(text, "blocked", f.blocked);
    text += "}";
  }
  return text + "]\n}\n";
}

Result<Certificate> read_certificate(std::string_view text, const std::string& name) {
  Certificate certificate;
  Reader reader(text, certificate);
  std::optional<JsonError> error = scan_json(text, reader);
  if (!error) error = reader.finish(text.size());
  if (!error) return certificate;
  const std::string_view before = text.substr(0, std::min(error->offset, text.size()));
  const std::size_t line_begin =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return Diagnostic{.id = error->id,
                    .message = error->message,
                    .file = name,
                    .line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1,
                    .column = before.size() - line_begin + 1};
}

}  // namespace memverify::cert
