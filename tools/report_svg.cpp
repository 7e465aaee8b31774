// The memory map as a static picture.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "plan/words.h"
#include "tools/console.h"
#include "tools/report_page.h"

namespace memverify {
namespace {

constexpr double kWidth = 960, kHeight = 320;                       ///< Of a plot, pixels.
constexpr double kLeft = 96, kTop = 46, kBottom = 44, kRight = 24;  ///< Around it.
constexpr double kClashLabel = 50;                                  ///< Width of a rule's id.
constexpr double kPerLetter = 6.4;                                  ///< Of the labels, at most.

// Okabe and Ito's palette without vermilion, which is for clashes alone.
constexpr std::array kFamilies = {"#56b4e9", "#009e73", "#f0e442", "#0072b2", "#cc79a7", "#e69f00"};
constexpr std::array kLetters = {"#10151a", "#ffffff", "#10151a", "#ffffff", "#10151a", "#10151a"};

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable(valid_utf8(text))) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string decimal_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

/// "1536 B", "24 KiB", "1.25 GiB".
std::string bytes_words(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", value == std::floor(value) ? 0 : 2, value);
  return std::string(text) + " " + kUnits[unit];
}

/// One pool.
class PoolSvg {
 public:
  PoolSvg(const Drawing& drawing, PoolId pool, double top)
      : report_(drawing.report),
        plan_(drawing.report.plan),
        run_(drawing.run),
        memory_(drawing.memory),
        part_(drawing.part),
        pool_(pool),
        figures_(drawing.memory.pools[pool]),
        top_(top + kTop) {
    const std::int64_t peak = std::max<std::int64_t>(figures_.peak, 1);
    const std::int64_t capacity = figures_.capacity.value_or(0);
    const bool near =
        capacity > peak && static_cast<double>(capacity) <= 1.5 * static_cast<double>(peak);
    most_ = static_cast<double>(near ? capacity : peak) * 1.06;
    time_ = static_cast<double>(std::max<std::int64_t>(run_.end, 1));
  }

  std::string text() {
    add_title();
    add_axes();
    for (std::size_t k = 0; k < memory_.ranges.size(); ++k) {
      if (part_.ranges[k] != 0 && memory_.ranges[k].pool == pool_) add_range(memory_.ranges[k]);
    }
    for (const Finding& finding : report_.findings) add_clash(finding);
    add_limit(figures_.capacity, "capacity", "none");
    add_limit(figures_.peak, "peak", "6 4");
    if (figures_.live_set != figures_.peak) add_limit(figures_.live_set, "largest live set", "2 3");
    return std::move(out_);
  }

 private:
  double x(std::int64_t time) const { return kLeft + static_cast<double>(time) / time_ * kWidth; }
  double y(std::int64_t address) const {
    return top_ + kHeight * (1 - static_cast<double>(address) / most_);
  }

  void label(double at_x, double at_y, std::string_view look, const std::string& text) {
    out_ += "<text x=\"" + decimal_number(at_x) + "\" y=\"" + decimal_number(at_y) + "\" " +
            std::string(look) + ">" + xml_text(text) + "</text>\n";
  }
  void rule(double x0, double y0, double x1, double y1, std::string_view look) {
    out_ += "<path d=\"M" + decimal_number(x0) + " " + decimal_number(y0) + "L" +
            decimal_number(x1) + " " + decimal_number(y1) + "\" " + std::string(look) + "/>\n";
  }

  void add_title() {
    std::string words = "pool " + std::string(plan_.pools[pool_].name) + ": peak " +
                        bytes_words(figures_.peak) + ", " + std::string(name(report_.verdict));
    if (!plan_.name.empty()) words = std::string(plan_.name) + " · " + words;
    label(kLeft, top_ - 20, "font-size=\"14\" font-weight=\"600\"", words);
  }

  void add_axes() {
    std::int64_t step = 1;
    while (static_cast<double>(step) / most_ * kHeight < 32) step *= 2;
    for (std::int64_t at = 0; static_cast<double>(at) <= most_; at += step) {
      rule(kLeft, y(at), kLeft + kWidth, y(at), "stroke=\"#e4e3df\"");
      label(kLeft - 8, y(at) + 4, "text-anchor=\"end\" fill=\"#55585d\"", bytes_words(at));
    }
    std::int64_t tick = 1;
    for (std::int64_t unit = 1; static_cast<double>(tick) / time_ * kWidth < 48; unit *= 10) {
      for (const std::int64_t k : {1, 2, 5, 10}) {
        tick = k * unit;
        if (static_cast<double>(tick) / time_ * kWidth >= 48) break;
      }
    }
    for (std::int64_t at = 0; at <= run_.end; at += tick) {
      rule(x(at), top_ + kHeight, x(at), top_ + kHeight + 4, "stroke=\"#8a8d92\"");
      label(x(at), top_ + kHeight + 17, "text-anchor=\"middle\" fill=\"#55585d\"",
            std::to_string(at));
    }
    rule(kLeft, top_ + kHeight, kLeft + kWidth, top_ + kHeight, "stroke=\"#8a8d92\"");
    label(kLeft + kWidth, top_ + kHeight + 32, "text-anchor=\"end\" fill=\"#55585d\"",
          run_.time == DrawnTime::kLevels ? "level (longest chain of ops before)" : "ticks");
  }

  void rectangle(double x0, double y0, double x1, double y1, const std::string& look,
                 const std::string& title) {
    out_ += "<rect x=\"" + decimal_number(x0) + "\" y=\"" + decimal_number(y0) + "\" width=\"" +
            decimal_number(std::max(x1 - x0, 0.5)) + "\" height=\"" +
            decimal_number(std::max(y1 - y0, 0.5)) + "\" " + look + "><title>" + xml_text(title) +
            "</title></rect>\n";
  }

  void add_range(const DrawnRange& range) {
    if (range.bytes.empty() || range.start >= range.end) return;
    std::string words = "workspace";
    std::size_t color = 0;
    const bool is_tensor = range.root != kNone<TensorId>;
    if (is_tensor) {
      words = plan_.tensors[range.root].name;
      if (repeats(plan_)) words += "@" + std::to_string(range.instance);
      color = index(range.root) % kFamilies.size();
    }
    const double left = x(range.start), right = x(range.end);
    const double upper = y(range.bytes.end), lower = y(range.bytes.begin);
    const std::string fill = is_tensor ? kFamilies[color] : "#8a8d92";
    rectangle(left, upper, right, lower,
              "fill=\"" + fill + "\" fill-opacity=\"" + (range.is_given ? "0.45" : "0.85") +
                  "\" stroke=\"#ffffff\"",
              words + ": " + bytes_words(range.bytes.end - range.bytes.begin) + " at [" +
                  std::to_string(range.bytes.begin) + ", " + std::to_string(range.bytes.end) + ")");
    const auto letters = static_cast<std::size_t>(std::max(right - left - 8, 0.0) / kPerLetter);
    if (lower - upper < 13 || columns_of(words) > letters) return;
    const bool is_light = !is_tensor || range.is_given;
    label(left + 5, (upper + lower) / 2 + 4,
          "fill=\"" + std::string(is_light ? "#10151a" : kLetters[color]) + "\"", words);
  }

  void add_clash(const Finding& finding) {
    if (finding.pool != pool_ || finding.bytes.empty()) return;
    std::int64_t start = run_.end, end = 0;
    for (std::size_t k = 0; k < finding.ops.size(); ++k) {
      const std::int64_t iteration = k < finding.iteration.size() ? finding.iteration[k] : 0;
      const sim::CommandId c = run_.program.find(finding.ops[k], iteration);
      if (c == kNone<sim::CommandId> || run_.spans[c].start < 0) continue;
      start = std::min(start, run_.spans[c].start);
      end = std::max(end, run_.spans[c].end < 0 ? run_.end : run_.spans[c].end);
    }
    if (start >= end) return;
    rectangle(x(start), y(finding.bytes.end), x(end), y(finding.bytes.begin),
              "fill=\"url(#clash)\" stroke=\"#d55e00\" stroke-width=\"2\"", finding.message);
    const double place_y = y(finding.bytes.end) - 4;
    double place_x = x(start) + 3;
    for (const auto& [other_x, other_y] : clash_labels_) {  // Sorted: a later one may be met next.
      const bool is_hidden =
          std::abs(other_x - place_x) < kClashLabel && std::abs(other_y - place_y) < 11;
      if (is_hidden) place_x = other_x + kClashLabel;
    }
    clash_labels_.emplace(place_x, place_y);
    label(place_x, place_y, "fill=\"#b03f00\" font-weight=\"700\"",
          std::string(info(finding.rule).id));
  }

  void add_limit(std::optional<std::int64_t> at, std::string_view what, std::string_view dashes) {
    if (!at || static_cast<double>(*at) > most_) return;
    rule(
        kLeft, y(*at), kLeft + kWidth, y(*at),
        "stroke=\"#1b1d20\" stroke-width=\"1.3\" stroke-dasharray=\"" + std::string(dashes) + "\"");
    double place = y(*at) - 4;
    if (std::abs(place - last_label_) < 13) place = y(*at) + 12;
    last_label_ = place;
    label(kLeft + kWidth - 4, place, "text-anchor=\"end\" class=\"limit\"",
          std::string(what) + " " + bytes_words(*at));
  }

  const Report& report_;
  const Plan& plan_;
  const DrawnRun& run_;
  const DrawnMemory& memory_;
  const DrawnPart& part_;
  PoolId pool_;
  const PoolFigures& figures_;
  double top_;
  double most_ = 1, time_ = 1;  ///< Bytes and time that the plot is high and wide.
  double last_label_ = -100;
  std::set<std::pair<double, double>> clash_labels_;
  std::string out_;
};

}  // namespace

std::string arena_svg(const Drawing& drawing) {
  std::string pools;
  double height = 0;
  for (const PoolId pool : ids(drawing.memory.pools)) {
    if (drawing.memory.pools[pool].peak == 0) continue;
    pools += PoolSvg(drawing, pool, height).text();
    height += kTop + kHeight + kBottom;
  }
  const std::string size = decimal_number(kLeft + kWidth + kRight) + " " + decimal_number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size +
         "\" font-family=\"system-ui, sans-serif\" font-size=\"11\" fill=\"#1b1d20\">\n"
         "<style>.limit{paint-order:stroke;stroke:#fff;stroke-width:3px}</style>\n"
         "<pattern id=\"clash\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
         "patternTransform=\"rotate(45)\"><path d=\"M0 0V7\" stroke=\"#d55e00\" "
         "stroke-width=\"2.5\"/></pattern>\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         pools + "</svg>\n";
}

}  // namespace memverify
