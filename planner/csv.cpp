#include "planner/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "planner/align.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;  // Of all buffers: sums stay exact.

constexpr std::array<std::string_view, 7> kColumns = {"id",        "lower",  "upper", "size",
                                                      "alignment", "offset", "gaps"};
enum Column { kId, kLower, kUpper, kSize, kAlignment, kOffset, kGaps };

struct Field {
  std::string_view text;
  std::size_t column;  ///< 1-based, in bytes.
};

std::vector<Field> split(std::string_view line, char separator) {
  std::vector<Field> fields;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    fields.push_back({line.substr(begin, end - begin), begin + 1});
    if (end == line.size()) return fields;
    begin = end + 1;
  }
}

/// Steps in which the bytes `bytes` of a buffer are in use.
struct Piece {
  LiveRange steps;
  ByteRange bytes;
};

struct Row {
  std::vector<Piece> pieces;  ///< Their steps are disjoint.
};

class CsvReader {
 public:
  explicit CsvReader(const std::string& file) : file_(file) {}

  Result<CsvProblem> read(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string_view line = text.substr(begin, end - begin);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ++line_;
      begin = end + 1;
      if (line.empty()) continue;
      const bool good = csv_.lines.empty() ? read_header(line) : read_row(line);
      if (!good && errors_.size() >= kMostErrors) break;
      if (!good && csv_.lines.empty()) break;
      csv_.lines.emplace_back(line);
    }
    if (csv_.lines.empty() && errors_.empty()) {
      line_ = 1;
      fail("csv.empty", "there is no header: expected a line id,lower,upper,size", 1);
    }
    if (!errors_.empty()) return std::move(errors_);
    finish();
    return std::move(csv_);
  }

 private:
  static constexpr std::size_t kMostErrors = 20;

  bool fail(const char* id, std::string message, std::size_t column) {
    errors_.push_back({id, std::move(message), "", file_, line_, column});
    return false;
  }

  bool read_header(std::string_view line) {
    width_ = 0;
    for (const Field& field : split(line, ',')) {
      const auto known = std::ranges::find(kColumns, field.text);
      if (known == kColumns.end()) {
        return fail("csv.column",
                    "unknown column \"" + std::string(field.text) +
                        "\": expected id, lower, upper, size, alignment, offset or gaps",
                    field.column);
      }
      auto& place = columns_[static_cast<std::size_t>(known - kColumns.begin())];
      if (place) {
        return fail("csv.column", "the column \"" + std::string(*known) + "\" is there twice",
                    field.column);
      }
      place = width_++;
    }
    for (const Column needed : {kId, kLower, kUpper, kSize}) {
      if (!columns_[needed]) {
        return fail("csv.column", "there is no column \"" + std::string(kColumns[needed]) + "\"",
                    line.size() + 1);
      }
    }
    csv_.offset_column = columns_[kOffset];
    return true;
  }

  bool number(const Field& field, std::string_view what, std::int64_t least, std::int64_t most,
              std::int64_t& value) {
    const char* end = field.text.data() + field.text.size();
    const auto [stop, error] = std::from_chars(field.text.data(), end, value);
    if (error == std::errc() && stop == end && least <= value && value <= most) return true;
    return fail("csv.number",
                std::string(what) + " is \"" + std::string(field.text) +
                    "\": expected an integer from " + std::to_string(least) + " to " +
                    std::to_string(most),
                field.column);
  }

  bool read_row(std::string_view line) {
    const std::vector<Field> fields = split(line, ',');
    if (fields.size() != width_) {
      return fail("csv.fields",
                  "the row has " + std::to_string(fields.size()) + " fields, the header " +
                      std::to_string(width_),
                  1);
    }
    constexpr std::int64_t kMostSteps = std::int64_t{1} << 62;
    Buffer buffer;
    LiveRange live;
    buffer.name = fields[*columns_[kId]].text;
    if (const auto [first, is_new] = line_of_.try_emplace(buffer.name, line_); !is_new) {
      return fail("csv.id",
                  "the id \"" + buffer.name + "\" is that of line " +
                      std::to_string(first->second) + ", too",
                  fields[*columns_[kId]].column);
    }
    if (!number(fields[*columns_[kLower]], "lower", -kMostSteps, kMostSteps, live.begin) ||
        !number(fields[*columns_[kUpper]], "upper", live.begin, kMostSteps, live.end) ||
        !number(fields[*columns_[kSize]], "size", 0, kMostBytes, buffer.bytes)) {
      return false;
    }
    if (columns_[kAlignment] &&
        !number(fields[*columns_[kAlignment]], "alignment", 1, kMostBytes, buffer.alignment)) {
      return false;
    }
    if (columns_[kOffset] && !fields[*columns_[kOffset]].text.empty()) {
      const Field& field = fields[*columns_[kOffset]];
      std::int64_t offset = 0;
      if (!number(field, "offset", 0, kMostBytes, offset)) return false;
      if (offset % buffer.alignment != 0) {
        return fail("csv.offset",
                    "offset " + std::to_string(offset) + " is not a multiple of the alignment " +
                        std::to_string(buffer.alignment),
                    field.column);
      }
      buffer.offset = offset;
    }
    if (buffer.bytes > kMostBytes - total_) {
      return fail("csv.size", "the sizes of all buffers add up to more than 2^60 bytes",
                  fields[*columns_[kSize]].column);
    }
    total_ += buffer.bytes;
    const std::optional<std::int64_t> common = common_multiple(alignment_, buffer.alignment);
    const auto rows = static_cast<std::int64_t>(rows_.size()) + 1;
    if (!common || *common - 1 > (kMostBytes - total_) / rows) {
      return fail("csv.alignment",
                  "the buffers up to this one, each with a gap for a common multiple of all "
                  "alignments, may take more than 2^60 bytes",
                  fields[*columns_[columns_[kAlignment] ? kAlignment : kSize]].column);
    }
    alignment_ = *common;
    Row row;
    if (!read_gaps(columns_[kGaps] ? fields[*columns_[kGaps]] : Field{}, buffer, live, row)) {
      return false;
    }
    csv_.problem.buffers.push_back(std::move(buffer));
    csv_.problem.live_ranges.push_back(live);
    rows_.push_back(std::move(row));
    return true;
  }

  bool read_gaps(const Field& field, const Buffer& buffer, LiveRange live, Row& row) {
    const ByteRange whole = {0, buffer.bytes};
    std::int64_t next = live.begin;
    for (const Field& part : split(field.text, ' ')) {
      if (part.text.empty()) continue;
      const std::size_t column = field.column + part.column - 1;
      LiveRange gap;
      ByteRange kept;
      if (!parse_gap(part.text, gap, kept)) {
        return fail("csv.gap",
                    "the gap \"" + std::string(part.text) + "\" is not like 5-8 or 5-8@0:64",
                    column);
      }
      if (gap.begin < next || gap.end < gap.begin || gap.end > live.end || kept.begin < 0 ||
          kept.end < kept.begin || kept.end > buffer.bytes) {
        return fail("csv.gap",
                    "the gap \"" + std::string(part.text) +
                        "\" is not inside the buffer, after the gap before it",
                    column);
      }
      has_gaps_ = true;
      add_piece(row, {{next, gap.begin}, whole});
      add_piece(row, {gap, kept});
      next = gap.end;
    }
    add_piece(row, {{next, live.end}, whole});
    return true;
  }

  static void add_piece(Row& row, const Piece& piece) {
    if (piece.steps.begin < piece.steps.end && !piece.bytes.empty()) row.pieces.push_back(piece);
  }

  /// `begin-end` or `begin-end@begin:end`; steps in gaps are not negative.
  static bool parse_gap(std::string_view text, LiveRange& gap, ByteRange& kept) {
    const std::array<std::pair<char, std::int64_t*>, 4> parts = {
        {{'-', &gap.begin}, {'@', &gap.end}, {':', &kept.begin}, {'\0', &kept.end}}};
    const char* at = text.data();
    const char* end = at + text.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto [stop, error] = std::from_chars(at, end, *parts[i].second);
      if (error != std::errc() || *parts[i].second < 0) return false;
      at = stop;
      if (at == end) return i == 1 || i == 3;
      if (*at != parts[i].first) return false;
      ++at;
    }
    return false;
  }

  void finish() {
    std::map<std::int64_t, std::int64_t> change;  // Of live bytes, by step.
    for (const Row& row : rows_) {
      for (const Piece& piece : row.pieces) {
        change[piece.steps.begin] += piece.bytes.end - piece.bytes.begin;
        change[piece.steps.end] -= piece.bytes.end - piece.bytes.begin;
      }
    }
    // Alone, too: what is never live has its place all the same.
    for (const Buffer& buffer : csv_.problem.buffers) {
      if (buffer.bytes == 0) continue;
      csv_.problem.lower_bound =
          std::max(csv_.problem.lower_bound, buffer.offset.value_or(0) + buffer.bytes);
    }
    std::int64_t live = 0;
    for (const auto& [step, bytes] : change) {
      live += bytes;
      csv_.problem.lower_bound = std::max(csv_.problem.lower_bound, live);
    }
    csv_.problem.live_ranges_decide = !has_gaps_;
    if (!has_gaps_) return;
    for (BufferIndex first = 0; first < rows_.size(); ++first) {
      for (BufferIndex second = first + 1; second < rows_.size(); ++second) {
        add_clashes(first, second);
      }
    }
  }

  void add_clashes(BufferIndex first, BufferIndex second) {
    std::vector<Clash>& clashes = csv_.problem.clashes;
    const std::size_t begin = clashes.size();
    for (const Piece& a : rows_[first].pieces) {
      for (const Piece& b : rows_[second].pieces) {
        if (a.steps.begin >= b.steps.end || b.steps.begin >= a.steps.end) continue;
        const bool is_known =
            std::any_of(clashes.begin() + static_cast<std::ptrdiff_t>(begin), clashes.end(),
                        [&](const Clash& clash) {
                          return clash.of_first == a.bytes && clash.of_second == b.bytes;
                        });
        if (!is_known) clashes.push_back({first, second, a.bytes, b.bytes});
      }
    }
  }

  const std::string& file_;
  std::size_t line_ = 0;
  std::size_t width_ = 0;
  std::array<std::optional<std::size_t>, kColumns.size()> columns_;
  std::int64_t total_ = 0;      ///< Of all sizes so far.
  std::int64_t alignment_ = 1;  ///< Least common multiple so far.
  bool has_gaps_ = false;
  std::map<std::string, std::size_t> line_of_;  ///< By id.
  std::vector<Row> rows_;
  CsvProblem csv_;
  std::vector<Diagnostic> errors_;
};

}  // namespace

Result<CsvProblem> read_csv(std::string_view text, const std::string& file) {
  return CsvReader(file).read(text);
}

std::string write_csv(const CsvProblem& csv, const Placement& placement) {
  std::string text;
  for (std::size_t i = 0; i < csv.lines.size(); ++i) {
    const std::string offset =
        i == 0 ? std::string("offset") : std::to_string(placement.offsets[i - 1]);
    if (!csv.offset_column) {
      text += csv.lines[i] + "," + offset + "\n";
      continue;
    }
    const std::vector<Field> fields = split(csv.lines[i], ',');
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (f > 0) text += ',';
      text += f == *csv.offset_column ? std::string_view(offset) : fields[f].text;
    }
    text += '\n';
  }
  return text;
}

}  // namespace memverify
