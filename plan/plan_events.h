// plan/plan_events.h -- from the events of a JSON text to calls of a PlanBuilder.
//
// A state machine over the tables of plan/reader_fields.h: a stack of the objects and arrays that
// are open, and the slot that the next value fills. After an error it goes on behind the value at
// fault, and still adds the item, so that the items after it keep their index and their errors are
// found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "plan/json_events.h"
#include "plan/plain_items.h"
#include "plan/reader_fields.h"

namespace memverify {

/// Something wrong with the values of the document. Ids: "json.type" (another type is expected, or
/// a list of another length), "json.integer" (outside 64 bits), "json.empty" (an empty id),
/// "json.key" (unknown), "json.repeated" (a key twice), "json.missing" (a key), "json.entry" (keys
/// or a word that do not go together).
struct ReadError {
  std::string id;
  std::string message;
  std::string pointer;
  std::size_t offset = 0;
  std::string subject;  ///< Pointer of what the builder got no good value for; "" for none.
};

/// Errors reported for one document at most.
inline constexpr std::size_t kMaxReadErrors = 100;

class PlanEvents final : public JsonHandler {
 public:
  /// `text` is what is scanned. The scan stops by itself at `kMaxReadErrors`. The builder works on
  /// another thread while a large text is scanned, and has got everything when its end was reached.
  PlanEvents(std::string_view text, PlanBuilder& builder)
      : text_(text), fields_(builder, text.size() >= kWorthAThread), plain_items_(text, fields_) {}

  const std::vector<ReadError>& errors() const { return errors_; }
  /// The value of "memverify", if it has been seen and is an integer.
  std::optional<std::int64_t> version() const { return fields_.version; }
  /// Offset of the value of "memverify".
  std::size_t version_offset() const { return version_offset_; }

  bool on_null(JsonSpan span) override;
  bool on_bool(bool value, JsonSpan span) override;
  bool on_integer(std::int64_t value, JsonSpan span) override;
  bool on_other_number(std::string_view text, JsonSpan span) override;
  bool on_string(std::string_view value, JsonSpan span) override;
  bool on_key(std::string_view key, JsonSpan span) override;
  bool on_object_begin(std::size_t begin) override;
  bool on_object_end(std::size_t end) override;
  bool on_array_begin(std::size_t begin) override;
  bool on_array_end(std::size_t end) override;
  std::size_t read_on(std::size_t at) override;

 private:
  static constexpr std::size_t kWorthAThread = std::size_t{1} << 20;

  enum class Skip : std::uint8_t {
    kNo,
    kSilently,  ///< What is wrong has been reported.
    kExtra,     ///< Carried along: an `x-` key.
  };

  /// An open object (`object` set) or array (`list` set), and the value in it that is being read.
  struct Frame {
    const ObjectFields* object = nullptr;
    const ListFields* list = nullptr;
    std::size_t begin = 0;        ///< Offset of its bracket.
    std::string_view key = {};    ///< Of the value.
    std::size_t index = 0;        ///< Of the value.
    Hook after = nullptr;         ///< Of the value.
    std::uint32_t seen = 0;       ///< Bit k: key k of the table has occurred.
    std::uint8_t next_field = 0;  ///< Where the search for a key starts: files keep one order.
    std::uint8_t errors = 0;      ///< Reported before the value began.
    Skip skip = Skip::kNo;        ///< The value.
    bool unknown_key = false;     ///< Has one, which may be meant for one that is missing.
  };

  Slot& begin_value(std::size_t begin);
  bool end_value(JsonSpan span);
  void end_document();
  bool mismatch(const Slot& slot, std::string_view found, JsonSpan span);
  void begin_compound(Slot& slot, std::size_t begin, bool is_object);
  void find_field(std::string_view key, JsonSpan span);
  bool is_repeated(std::string_view key, JsonSpan span);
  void report_missing(const Frame& frame);
  void report_fault(std::size_t offset);
  void report(const char* id, std::string message, std::string pointer, std::size_t offset);
  std::string_view keep(std::string_view text, JsonSpan span);
  /// Of the value that is being read in the innermost of the first `depth` frames.
  std::string pointer(std::size_t depth) const;
  bool go_on() const { return errors_.size() < kMaxReadErrors; }

  std::string_view text_;
  PlanFields fields_;
  PlainItems plain_items_;
  std::vector<Frame> frames_;
  Slot slot_;
  std::size_t skip_depth_ = 0;  ///< Open brackets inside a value that is skipped.
  std::size_t skip_begin_ = 0;
  std::vector<ReadError> errors_;
  std::size_t version_offset_ = 0;
  /// Keys of the open frames that are in no table, by depth.
  std::vector<std::unordered_set<std::string_view>> other_keys_;
  std::vector<Extra> extras_;
  std::deque<std::string> kept_;  ///< Strings with escapes outside the items of top-level lists.
};

}  // namespace memverify
