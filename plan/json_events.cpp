#include "plan/json_events.h"

#include <bit>
#include <charconv>
#include <cstring>

// Strings longer than 4 GiB must not wrap around, and RapidJSON's asserts say that they do.
#define RAPIDJSON_NO_SIZETYPEDEFINE
#define RAPIDJSON_ASSERT(condition) static_cast<void>(0)
namespace rapidjson {
using SizeType = std::size_t;
}
#include <rapidjson/reader.h>

namespace memverify {

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t i = 0;
  const auto byte = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
  };
  const auto continues = [&](std::size_t k) { return (byte(k) & 0xC0U) == 0x80U; };
  while (i < text.size()) {
    if (std::uint64_t word = 0; text.size() - i >= sizeof word) {
      std::memcpy(&word, text.data() + i, sizeof word);
      if ((word & 0x8080808080808080U) == 0) {
        i += sizeof word;
        continue;
      }
    }
    const unsigned lead = byte(i);
    const unsigned next = byte(i + 1);
    if (lead < 0x80) {
      i += 1;
    } else if (lead >= 0xC2 && lead <= 0xDF && continues(i + 1)) {
      i += 2;
    } else if ((lead & 0xF0U) == 0xE0 && continues(i + 1) && continues(i + 2) &&
               (lead != 0xE0 || next >= 0xA0) && (lead != 0xED || next < 0xA0)) {
      i += 3;
    } else if (lead >= 0xF0 && lead <= 0xF4 && continues(i + 1) && continues(i + 2) &&
               continues(i + 3) && (lead != 0xF0 || next >= 0x90) &&
               (lead != 0xF4 || next < 0x90)) {
      i += 4;
    } else {
      return i;
    }
  }
  return std::string_view::npos;
}

namespace {

/// The string that the scan is in, when its bytes are not those of the text.
struct Unescaped {
  std::string bytes;
  bool used = false;
  bool ascii = true;
  const char* end = nullptr;  ///< One past the closing quote in the text.
};

/// A stream for RapidJSON's in-situ mode that leaves the text alone: what is put is compared with
/// the text by place, and goes to a buffer only from the first escape of a string on.
class TextStream {
 public:
  using Ch = char;
  TextStream(std::string_view text, std::size_t start, Unescaped& unescaped)
      : begin_(text.data()),
        at_(text.data() + start),
        end_(text.data() + text.size()),
        unescaped_(&unescaped) {}

  char Peek() const { return at_ == end_ ? '\0' : *at_; }
  char Take() { return *at_++; }
  void seek(std::size_t offset) { at_ = begin_ + offset; }
  std::size_t Tell() const { return static_cast<std::size_t>(at_ - begin_); }

  /// At the first byte of a string; RapidJSON also calls it behind a number, where it does nothing.
  char* PutBegin() {
    head_ = at_;
    if (at_ != begin_ && at_[-1] == '"') at_ = skip_plain(at_, end_);
    out_ = at_;
    bits_ = 0;
    unescaped_->used = false;
    return const_cast<char*>(head_);  // RapidJSON only hands it back.
  }
  void Put(char byte) {
    if (out_ + 1 != at_) put_unescaped(byte);
    bits_ |= static_cast<unsigned char>(byte);
    ++out_;
  }
  std::size_t PutEnd(char* head) {
    unescaped_->ascii = bits_ < 0x80;
    unescaped_->end = at_;
    return static_cast<std::size_t>(out_ - head);
  }
  void Flush() {}

 private:
  void put_unescaped(char byte) {
    if (!unescaped_->used) unescaped_->bytes.assign(head_, out_);
    unescaped_->used = true;
    unescaped_->bytes.push_back(byte);
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* head_ = nullptr;  ///< First byte of the string.
  const char* out_ = nullptr;   ///< head_ + bytes put.
  unsigned bits_ = 0;           ///< Of all bytes put one by one, or'ed.
  Unescaped* unescaped_;
};

std::string hex(unsigned char byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

/// RapidJSON's events, checked and passed on.
class Adapter {
 public:
  Adapter(std::string_view text, JsonHandler& handler, TextStream& stream,
          const Unescaped& unescaped)
      : text_(text), handler_(handler), stream_(stream), unescaped_(unescaped) {}

  std::optional<JsonError> error;

  bool Null() { return handler_.on_null(before(4)); }
  bool Bool(bool value) { return handler_.on_bool(value, before(value ? 4 : 5)); }

  bool RawNumber(const char* /*data*/, std::size_t length, bool /*copy*/) {
    const JsonSpan span = before(length);
    const std::string_view text = text_.substr(span.begin, length);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.begin(), text.end(), value);
    if (code == std::errc() && end == text.end()) return handler_.on_integer(value, span);
    return handler_.on_other_number(text, span);
  }

  bool String(const char* data, std::size_t length, bool /*copy*/) {
    const JsonSpan span{offset_of(data) - 1, offset_of(unescaped_.end)};
    const std::string_view value = string(data, length);
    return valid_utf8(value, span) && handler_.on_string(value, span);
  }
  bool Key(const char* data, std::size_t length, bool /*copy*/) {
    const JsonSpan span{offset_of(data) - 1, offset_of(unescaped_.end)};
    const std::string_view value = string(data, length);
    return valid_utf8(value, span) && handler_.on_key(value, span);
  }

  bool StartObject() { return deeper() && handler_.on_object_begin(stream_.Tell() - 1); }
  bool StartArray() { return deeper() && handler_.on_array_begin(stream_.Tell() - 1); }
  bool EndObject(std::size_t /*members*/) {
    --depth_;
    return handler_.on_object_end(stream_.Tell()) && read_on();
  }
  bool EndArray(std::size_t /*elements*/) {
    --depth_;
    return handler_.on_array_end(stream_.Tell()) && read_on();
  }

  // Never called: numbers come as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  std::size_t offset_of(const char* at) const {
    return static_cast<std::size_t>(at - text_.data());
  }
  /// The `length` bytes just taken.
  JsonSpan before(std::size_t length) const { return {stream_.Tell() - length, stream_.Tell()}; }
  std::string_view string(const char* data, std::size_t length) const {
    if (!unescaped_.used) return {data, length};
    return std::string_view(unescaped_.bytes).substr(0, length);  // Without the NUL put last.
  }

  bool valid_utf8(std::string_view value, JsonSpan span) {
    if (unescaped_.ascii || find_invalid_utf8(value) == std::string_view::npos) return true;
    const std::size_t content = span.begin + 1;
    const std::size_t bad = find_invalid_utf8(text_.substr(content, span.end - 1 - content));
    if (bad == std::string_view::npos) {
      error = {"json.encoding", "a \\u escape is half of a surrogate pair", span.begin};
    } else {
      error = {
          "json.encoding",
          "byte " + hex(static_cast<unsigned char>(text_[content + bad])) + " is not valid UTF-8",
          content + bad};
    }
    return false;
  }

  bool read_on() {
    stream_.seek(handler_.read_on(stream_.Tell()));
    return true;
  }
  bool deeper() {
    if (++depth_ <= kMaxJsonDepth) return true;
    error = {"json.depth", "nested deeper than " + std::to_string(kMaxJsonDepth) + " levels",
             stream_.Tell() - 1};
    return false;
  }

  std::string_view text_;
  JsonHandler& handler_;
  TextStream& stream_;
  const Unescaped& unescaped_;
  std::size_t depth_ = 0;
};

std::string found_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return "the end of the text";
  const auto byte = static_cast<unsigned char>(text[offset]);
  if (byte == 0) return "a NUL byte";
  if (byte < 0x20 || byte >= 0x7F) return "byte " + hex(byte);
  return std::string("'") + text[offset] + "'";
}

std::string syntax_message(rapidjson::ParseErrorCode code, std::string_view text,
                           std::size_t offset) {
  const std::string found = ", found " + found_at(text, offset);
  switch (code) {
    case rapidjson::kParseErrorDocumentEmpty:
      return "expected a JSON object" + found;
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return "expected the end of the text after the document" + found;
    case rapidjson::kParseErrorValueInvalid:
      return "expected a value" + found;
    case rapidjson::kParseErrorObjectMissName:
      return "expected a key in double quotes" + found;
    case rapidjson::kParseErrorObjectMissColon:
      return "expected ':' after the key" + found;
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return "expected ',' or '}'" + found;
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return "expected ',' or ']'" + found;
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      return "expected four hexadecimal digits after \\u";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return "a \\u escape is half of a surrogate pair";
    case rapidjson::kParseErrorStringEscapeInvalid:
      if (text[offset] == '\\') return "unknown escape sequence";
      return "a control character must be escaped" + found;
    case rapidjson::kParseErrorStringMissQuotationMark:
      return "expected '\"' to end the string" + found;
    case rapidjson::kParseErrorNumberTooBig:
      return "the number is too large";
    case rapidjson::kParseErrorNumberMissFraction:
      return "expected a digit after the decimal point" + found;
    case rapidjson::kParseErrorNumberMissExponent:
      return "expected a digit in the exponent" + found;
    case rapidjson::kParseErrorNone:
    case rapidjson::kParseErrorStringInvalidEncoding:
    case rapidjson::kParseErrorTermination:
    case rapidjson::kParseErrorUnspecificSyntaxError:
      break;
  }
  return "not JSON" + found;
}

class Ignore final : public JsonHandler {
  bool on_null(JsonSpan) override { return true; }
  bool on_bool(bool, JsonSpan) override { return true; }
  bool on_integer(std::int64_t, JsonSpan) override { return true; }
  bool on_other_number(std::string_view, JsonSpan) override { return true; }
  bool on_string(std::string_view, JsonSpan) override { return true; }
  bool on_key(std::string_view, JsonSpan) override { return true; }
  bool on_object_begin(std::size_t) override { return true; }
  bool on_object_end(std::size_t) override { return true; }
  bool on_array_begin(std::size_t) override { return true; }
  bool on_array_end(std::size_t) override { return true; }
};

}  // namespace

std::size_t byte_order_mark(std::string_view text) noexcept {
  return text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
}

std::optional<JsonError> scan_json(std::string_view text, JsonHandler& handler) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return JsonError{"json.encoding", "the text is UTF-16 or UTF-32; save it as UTF-8", 0};
  }
  Unescaped unescaped;
  TextStream stream(text, byte_order_mark(text), unescaped);
  Adapter adapter(text, handler, stream, unescaped);
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>> reader;
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, adapter);
  if (adapter.error) return adapter.error;
  if (result.Code() == rapidjson::kParseErrorTermination) return std::nullopt;
  if (result.IsError()) {
    return JsonError{"json.syntax", syntax_message(result.Code(), text, result.Offset()),
                     result.Offset()};
  }
  if (stream.Tell() != text.size()) {
    return JsonError{
        "json.syntax",
        syntax_message(rapidjson::kParseErrorDocumentRootNotSingular, text, stream.Tell()),
        stream.Tell()};
  }
  return std::nullopt;
}

std::optional<JsonError> check_json(std::string_view text) {
  Ignore ignore;
  return scan_json(text, ignore);
}

}  // namespace memverify
