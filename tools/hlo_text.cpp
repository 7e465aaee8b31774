#include "tools/hlo_text.h"

#include <limits>
#include <unordered_map>
#include <utility>

#include "plan/words.h"
#include "tools/hlo_text_cursor.h"

namespace memverify {
namespace {

constexpr std::string_view kHloTextStart = "BufferAssignment:";
constexpr std::string_view kHloRangeStart = "HloLiveRange (max ";

/// Reads a dump line by line, up to the first fault.
class HloTextReader {
 public:
  HloTextReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<HloText> read() {
    std::string_view left = text_;
    while (!left.empty() && errors_.empty()) {
      const std::size_t end = left.find('\n');
      std::string_view line = left.substr(0, end);
      left = end == std::string_view::npos ? std::string_view() : left.substr(end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++line_;
      HloTextCursor cursor(line);
      if (!header(cursor)) read_line(cursor);
    }
    if (errors_.empty()) finish();
    if (!errors_.empty()) return errors_;
    return std::move(dump_);
  }

 private:
  enum class Section {
    kNone,
    kAllocations,
    kValues,
    kPositions,
    kUses,
    kOther,
    kSequence,
    kRanges
  };

  bool header(HloTextCursor& line) {
    if (line.accept(kHloTextStart)) {
      if (line.at_end()) enter(Section::kAllocations);
      return true;
    }
    if (line.accept(kHloRangeStart)) {
      const std::optional<std::int64_t> end = line.number();
      if (!end || !line.accept("):")) fail(line, "expected a number and `):`");
      if (has_ranges_) fail(line, "a second sequence of instructions", "import.contradiction");
      has_ranges_ = true;
      dump_.end = end.value_or(0);
      enter(Section::kNone);
      return true;
    }
    if (line.rest() == "Used values:") return enter(Section::kValues);
    if (has_ranges_ && line.rest() == "  InstructionSequence:") return enter(Section::kSequence);
    if (has_ranges_ && line.rest() == "  BufferLiveRange:") return enter(Section::kRanges);
    if (section_ == Section::kRanges && line.rest().starts_with("  Live ranges at")) {
      return enter(Section::kNone);
    }
    return false;
  }

  bool enter(Section section) {
    if (section == Section::kAllocations) has_assignment_ = true;
    section_ = section;
    value_ = nullptr;
    return true;
  }

  void read_line(HloTextCursor& line) {
    const bool starts_value = line.rest().starts_with("<");
    switch (section_) {
      case Section::kAllocations:
        if (line.rest().empty()) return void(enter(Section::kNone));
        return line.accept(" value: ") ? place(line) : allocation(line);
      case Section::kSequence:
        return line.rest().empty() ? void() : scheduled(line);
      case Section::kRanges:
        return line.rest().empty() ? void() : range(line);
      case Section::kOther:
        return starts_value ? told(line) : void();  // Literals have lines of their own.
      case Section::kNone:
        return starts_value && has_assignment_ ? told(line) : void();
      case Section::kValues:
      case Section::kPositions:
      case Section::kUses:
        return of_value(line);
    }
  }

  /// "allocation 2: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}, maybe-live-out:"
  void allocation(HloTextCursor& line) {
    HloTextAllocation made;
    const bool starts = line.accept("allocation ");
    const std::optional<std::int64_t> index = starts ? line.number() : std::nullopt;
    if (!index || !line.accept(": ")) return fail(line, "expected `allocation NUMBER: `");
    if (line.accept("0x")) line.skip_past(", ");  // Older dumps say where it was described.
    const std::optional<std::int64_t> size = line.accept("size ") ? line.number() : std::nullopt;
    if (!size) return fail(line, "expected `size NUMBER`, below 2^63");
    if (!line.rest().ends_with(":")) return fail(line, "this line does not end with `:`");
    made.allocation.index = *index;
    made.allocation.bytes = *size;
    const std::string_view rest = line.rest();
    made.is_parameter = has_word(rest, ", parameter ");
    made.may_live_out = has_word(rest, ", maybe-live-out");
    made.allocation.thread_local_ = has_word(rest, ", thread-local");
    if (!allocations_.try_emplace(*index, true).second) {
      return fail(line, "a second allocation " + std::to_string(*index), "import.contradiction");
    }
    dump_.allocations.push_back(made);
  }

  static bool has_word(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
  }

  /// "<3 add.1{0} (phi) @0>"
  bool name_of(HloTextCursor& line, HloTextValue& value) {
    const std::optional<std::int64_t> id = line.accept("<") ? line.number() : std::nullopt;
    if (!id || !line.accept(" ")) return fail(line, "expected `<NUMBER NAME`"), false;
    value.id = *id;
    value.defined.instruction = line.until(" {>");
    if (line.rest().starts_with("{")) {
      std::optional<std::vector<std::int64_t>> index = line.index();
      if (!index) return fail(line, "expected an index, as in {0,1}"), false;
      value.defined.index = *std::move(index);
    }
    value.is_phi = line.accept(" (phi)");
    if (line.accept(" @")) line.number();
    if (value.defined.instruction.empty() || !line.accept(">")) {
      return fail(line, "expected a name and `>`"), false;
    }
    return true;
  }

  /// "<3 add.1 @0> (size=64,offset=128): f32[16]{0}"
  void place(HloTextCursor& line) {
    HloTextValue value{.line = line_};
    if (!name_of(line, value)) return;
    if (dump_.allocations.empty()) return fail(line, "a value before the first allocation");
    const std::optional<std::int64_t> size = line.accept(" (size=") ? line.number() : std::nullopt;
    const std::optional<std::int64_t> offset =
        size && line.accept(",offset=") ? line.number() : std::nullopt;
    if (!offset || !line.accept("):")) {
      return fail(line, "expected ` (size=NUMBER,offset=NUMBER):`, of numbers below 2^63");
    }
    if (*offset > std::numeric_limits<std::int64_t>::max() - *size) {
      return fail(line, "this place ends beyond 2^63 - 1", "import.range");
    }
    value.buffer = {.id = value.id,
                    .bytes = *size,
                    .allocation = dump_.allocations.size() - 1,
                    .offset = *offset};
    if (!values_.try_emplace(value.id, dump_.values.size()).second) {
      return fail(line, "value " + std::to_string(value.id) + " has two places",
                  "import.contradiction");
    }
    dump_.values.push_back(std::move(value));
  }

  /// The start of what the file says of a value.
  void told(HloTextCursor& line) {
    HloTextValue named;
    if (!name_of(line, named)) return;
    const auto found = values_.find(named.id);
    if (found == values_.end()) {
      return fail(line, "value " + std::to_string(named.id) + " has no place", "import.unknown");
    }
    value_ = &dump_.values[found->second];
    if (value_->is_told || value_->defined.instruction != named.defined.instruction) {
      return fail(line, "something else was said of value " + std::to_string(named.id),
                  "import.contradiction");
    }
    section_ = Section::kValues;
  }

  void of_value(HloTextCursor& line) {
    if (value_ == nullptr) return line.rest().empty() ? void() : told(line);
    if (line.rest() == " positions:") return void(section_ = Section::kPositions);
    if (line.rest() == " uses:") return void(section_ = Section::kUses);
    if (line.accept(" from instruction:")) {
      line.accept(" ");
      value_->source = line.rest();
      value_->line = line_;
      value_->is_told = section_ == Section::kUses;
      section_ = Section::kOther;
      return;
    }
    if (line.accept(" uses are not")) return void(section_ = Section::kPositions);
    if (section_ == Section::kUses && line.accept("  (none)")) return;
    if (section_ == Section::kValues || !line.accept("  ")) {
      return fail(line, "expected positions, uses or the instruction of a value");
    }
    section_ == Section::kPositions ? position(line) : use(line);
  }

  /// "tuple.2 {0}"
  void position(HloTextCursor& line) {
    HloTextPosition at{.instruction = line.until(" {")};
    line.accept(" ");
    if (!end_with_index(line, at.index) || at.instruction.empty()) {
      return fail(line, "expected `NAME` or `NAME {INDEX}`");
    }
    value_->positions.push_back(std::move(at));
  }

  /// "fusion.1, operand 0 {1}"
  void use(HloTextCursor& line) {
    HloTextUse made{.instruction = line.until(", ")};
    const std::optional<std::int64_t> operand =
        line.accept(", operand ") ? line.number() : std::nullopt;
    if (!operand || made.instruction.empty()) return fail(line, "expected `NAME, operand NUMBER`");
    made.operand = *operand;
    line.accept(" ");
    if (!end_with_index(line, made.index)) return fail(line, "expected an index, as in {0,1}");
    value_->uses.push_back(std::move(made));
  }

  static bool end_with_index(HloTextCursor& line, std::vector<std::int64_t>& index) {
    if (line.at_end()) return true;
    std::optional<std::vector<std::int64_t>> read = line.index();
    if (!read || !line.at_end()) return false;
    index = *std::move(read);
    return true;
  }

  /// "    3:fusion.1"
  void scheduled(HloTextCursor& line) {
    const std::optional<std::int64_t> number = line.accept("    ") ? line.number() : std::nullopt;
    const auto expected = static_cast<std::int64_t>(dump_.sequence.size());
    if (number != expected || !line.accept(":") || line.at_end()) {
      return fail(line, "expected `    " + std::to_string(expected) + ":NAME`");
    }
    dump_.sequence.push_back(line.rest());
  }

  /// "    fusion.1{0}:3-5"
  void range(HloTextCursor& line) {
    const std::string_view name = line.accept("    ") ? line.until("{") : std::string_view();
    const std::optional<std::vector<std::int64_t>> index = line.index();
    const bool starts = index && line.accept(":") && line.number() && line.accept("-");
    const std::optional<std::int64_t> end = starts ? line.number() : std::nullopt;
    if (name.empty() || !end || !line.at_end()) return fail(line, "expected `NAME{INDEX}:FROM-TO`");
    ends_[key_of(name, *index)] = *end;
  }

  static std::string key_of(std::string_view name, const std::vector<std::int64_t>& index) {
    std::string key(name);
    for (const std::int64_t which : index) key += "," + std::to_string(which);
    return key;
  }

  void finish() {
    if (dump_.values.empty()) {
      errors_.push_back({.id = "import.format",
                         .message = "not a text dump of XLA, or its buffer assignment has no value",
                         .file = std::string(file_)});
      return;
    }
    const HloTextCursor end("");
    if (has_ranges_ && std::cmp_not_equal(dump_.sequence.size(), dump_.end)) {
      return fail(end, "the file has " + std::to_string(dump_.sequence.size()) + " of " +
                           std::to_string(dump_.end) + " instructions in sequence");
    }
    if (value_ != nullptr && section_ != Section::kOther) {
      return fail(end, "the file ends in the middle of a value");
    }
    if (section_ == Section::kRanges && !text_.ends_with('\n')) {
      return fail(end, "the file ends in the middle of a line");
    }
    for (HloTextValue& value : dump_.values) {
      const auto found = ends_.find(key_of(value.defined.instruction, value.defined.index));
      if (found != ends_.end()) value.end = found->second;
    }
  }

  void fail(const HloTextCursor& line, std::string message,
            std::string_view id = "import.damaged") {
    if (!errors_.empty()) return;
    errors_.push_back({.id = std::string(id),
                       .message = std::move(message),
                       .file = std::string(file_),
                       .line = line_,
                       .column = line.column()});
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t line_ = 0;
  Section section_ = Section::kNone;
  bool has_assignment_ = false;
  bool has_ranges_ = false;
  HloText dump_;
  HloTextValue* value_ = nullptr;  ///< The one that the lines are about.
  std::unordered_map<std::int64_t, bool> allocations_;
  std::unordered_map<std::int64_t, std::size_t> values_;  ///< By id.
  std::unordered_map<std::string, std::int64_t> ends_;    ///< By name and index.
  std::vector<Diagnostic> errors_;
};

}  // namespace

Result<HloText> parse_hlo_text(std::string_view text, std::string_view file) {
  return HloTextReader(text, file).read();
}

bool is_hlo_text(std::string_view text) { return text.starts_with(kHloTextStart); }

}  // namespace memverify
