// plan/json_events.h -- JSON text as a sequence of events.
//
// The one place that knows the JSON library. There is no tree: the scan calls the handler as it
// goes and needs memory for one string with escapes, and stack for kMaxJsonDepth levels at most.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace memverify {

/// The bytes `[begin, end)` of the text.
struct JsonSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// What went wrong in a text. Ids: "json.syntax", "json.encoding", "json.depth".
struct JsonError {
  std::string id;
  std::string message;
  std::size_t offset = 0;  ///< Bytes from the start of the text.
};

/// Receives the events in the order of the text. Each returns whether to go on.
///
/// A string or key without escapes is a view of the text itself (then it is two bytes shorter than
/// its span, which includes the quotes); any other is valid only during the call.
class JsonHandler {
 public:
  virtual ~JsonHandler() = default;
  virtual bool on_null(JsonSpan span) = 0;
  virtual bool on_bool(bool value, JsonSpan span) = 0;
  /// A number written without fraction and exponent that fits in 64 bits.
  virtual bool on_integer(std::int64_t value, JsonSpan span) = 0;
  /// Every other number, as written.
  virtual bool on_other_number(std::string_view text, JsonSpan span) = 0;
  virtual bool on_string(std::string_view value, JsonSpan span) = 0;
  virtual bool on_key(std::string_view key, JsonSpan span) = 0;
  virtual bool on_object_begin(std::size_t begin) = 0;
  virtual bool on_object_end(std::size_t end) = 0;  ///< One past the brace.
  virtual bool on_array_begin(std::size_t begin) = 0;
  virtual bool on_array_end(std::size_t end) = 0;  ///< One past the bracket.

  /// Behind an object or array that ended at `at`: where the scan goes on. A handler may read the
  /// text itself, as far as the end of a later value in the same array.
  virtual std::size_t read_on(std::size_t at) { return at; }
};

/// Arrays and objects may be nested this deep.
inline constexpr std::size_t kMaxJsonDepth = 1000;

/// Length of the UTF-8 byte order mark that `text` starts with: 3 or 0.
std::size_t byte_order_mark(std::string_view text) noexcept;

/// Index of the first byte that is not UTF-8 (RFC 3629), or npos. Cost: linear.
std::size_t find_invalid_utf8(std::string_view text);

/// The first byte in `[at, end)` that ends a string or does not stand for itself: a quote, a
/// backslash, a control character, or one that is not ASCII. May stop early. Eight at a time.
inline const char* skip_plain(const char* at, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighs = 0x80 * kOnes;
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    // A high bit for each byte that is zero, or below 0x20. The lowest one is exact.
    const auto zeros = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes; };
    const std::uint64_t found = (zeros(word ^ ('"' * kOnes)) | zeros(word ^ ('\\' * kOnes)) |
                                 ((word - 0x20 * kOnes) & ~word) | word) &
                                kHighs;
    if (found == 0) continue;
    if constexpr (std::endian::native == std::endian::little) at += std::countr_zero(found) / 8;
    return at;
  }
  return at;
}

/// Scans one JSON document, RFC 8259, UTF-8, a byte order mark skipped. Returns the error that
/// ended the scan; nullopt when it came to the end or the handler stopped it. Repeated keys are
/// passed on. Cost: linear.
std::optional<JsonError> scan_json(std::string_view text, JsonHandler& handler);

/// The same for text of which nothing is wanted.
std::optional<JsonError> check_json(std::string_view text);

}  // namespace memverify
