#include "tools/drawn_part.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace memverify {
namespace {

using sim::CommandId;

constexpr std::size_t kMostCentres = 64;

std::int64_t end_of(DrawnSpan span, const DrawnRun& run) {
  return span.end < 0 ? run.end : span.end;
}

/// The times around which everything is kept, ascending.
std::vector<std::int64_t> centres_of(const std::vector<Finding>& findings, const DrawnRun& run,
                                     const DrawnMemory& memory) {
  std::vector<std::int64_t> centres;
  for (const Finding& finding : findings) {
    for (std::size_t k = 0; k < finding.ops.size(); ++k) {
      if (centres.size() == kMostCentres) break;
      const std::int64_t iteration = k < finding.iteration.size() ? finding.iteration[k] : 0;
      const CommandId c = run.program.find(finding.ops[k], iteration);
      if (c != kNone<CommandId> && run.spans[c].start >= 0) centres.push_back(run.spans[c].start);
    }
  }
  for (const PoolFigures& figures : memory.pools) centres.push_back(figures.live_at);
  std::ranges::sort(centres);
  return centres;
}

/// Between [start, end) and the nearest centre; 0 if one lies inside.
std::int64_t distance(const std::vector<std::int64_t>& centres, std::int64_t start,
                      std::int64_t end) {
  const auto after = std::ranges::lower_bound(centres, start);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  if (after != centres.end()) least = std::max<std::int64_t>(*after - end, 0);
  if (after != centres.begin()) least = std::min(least, start - *std::prev(after));
  return least;
}

/// Marks the `most` items of least score, ties by index.
void keep_least(const std::vector<std::int64_t>& scores, std::size_t most,
                std::vector<std::uint8_t>& kept) {
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  most = std::min(most, order.size());
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(scores[a], a) < std::pair(scores[b], b);
  };
  std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(most), less);
  for (std::size_t k = 0; k < most; ++k) kept[order[k]] = 1;
}

/// Shares of fields on a raster, as shades.
class Raster {
 public:
  Raster(std::size_t width, std::size_t height) : width_(width), sums_(width * height, 0) {}

  /// Adds the rectangle; the raster is 1 wide and 1 high.
  void add(double left, double right, double low, double high) {
    const double width = static_cast<double>(width_);
    const double height = static_cast<double>(sums_.size() / width_);
    for_fields(left * width, right * width, [&](std::size_t x, double part_x) {
      for_fields(low * height, high * height, [&](std::size_t y, double part_y) {
        if (y * width_ + x < sums_.size()) {
          sums_[y * width_ + x] += static_cast<float>(part_x * part_y);
        }
      });
    });
  }

  /// `full` is the sum of a field in the darkest shade; what is there at all is not in the
  /// lightest.
  std::string shades(float full) const {
    std::string out;
    out.reserve(sums_.size());
    const auto darkest = static_cast<float>(kShades.size() - 1);
    for (const float sum : sums_) {
      const float shade = sum <= 0 ? 0 : std::clamp(sum / full * darkest, 1.0F, darkest);
      out += kShades[static_cast<std::size_t>(shade)];
    }
    return out;
  }
  float greatest() const { return *std::ranges::max_element(sums_); }

 private:
  template <typename Visit>
  static void for_fields(double from, double to, const Visit& visit) {
    for (auto field = static_cast<std::size_t>(std::max(from, 0.0));
         static_cast<double>(field) < to; ++field) {
      const double begin = std::max(from, static_cast<double>(field));
      const double end = std::min(to, static_cast<double>(field) + 1);
      visit(field, end - begin);
    }
  }
  std::size_t width_;
  std::vector<float> sums_;
};

void draw_ranges_left_out(const Plan& plan, const DrawnRun& run, const DrawnMemory& memory,
                          DrawnPart& part) {
  std::vector<Raster> rasters(plan.pools.size(), Raster(kRasterWidth, kRasterHeight));
  const double time = static_cast<double>(std::max<std::int64_t>(run.end, 1));
  for (std::size_t k = 0; k < memory.ranges.size(); ++k) {
    const DrawnRange& range = memory.ranges[k];
    const std::int64_t peak = memory.pools[range.pool].peak;
    if (part.ranges[k] != 0 || range.bytes.empty() || peak <= 0) continue;
    const double bytes = static_cast<double>(peak);
    rasters[index(range.pool)].add(static_cast<double>(range.start) / time,
                                   static_cast<double>(range.end) / time,
                                   static_cast<double>(range.bytes.begin) / bytes,
                                   static_cast<double>(range.bytes.end) / bytes);
  }
  for (const Raster& raster : rasters) part.rasters.push_back(raster.shades(1.0F));
}

void draw_commands_left_out(const Plan& plan, const DrawnRun& run, DrawnPart& part) {
  std::vector<Raster> rasters(plan.queues.size(), Raster(kRasterWidth, 1));
  const double time = static_cast<double>(std::max<std::int64_t>(run.end, 1));
  for (const CommandId c : ids(run.program.commands)) {
    const Op& op = plan.ops[run.program.commands[c].op];
    const DrawnSpan span = run.spans[c];
    if (part.commands[index(c)] != 0 || span.start < 0 || op.queue == kNone<QueueId>) continue;
    rasters[index(op.queue)].add(static_cast<double>(span.start) / time,
                                 static_cast<double>(end_of(span, run)) / time, 0, 1);
  }
  for (const Raster& raster : rasters) {
    part.busy.push_back(raster.shades(std::max(raster.greatest(), 1.0F)));
  }
}

}  // namespace

DrawnPart drawn_part(const Plan& plan, const std::vector<Finding>& findings, const DrawnRun& run,
                     const DrawnMemory& memory, const DrawnLimits& limits) {
  DrawnPart part;
  const std::size_t commands = run.program.commands.size();
  const std::size_t ranges = memory.ranges.size();
  part.commands.assign(commands, commands <= limits.commands ? 1 : 0);
  part.ranges.assign(ranges, ranges <= limits.ranges ? 1 : 0);
  const std::vector<std::int64_t> centres = centres_of(findings, run, memory);
  if (commands > limits.commands) {
    std::vector<std::int64_t> scores;
    for (const DrawnSpan& span : run.spans) {
      scores.push_back(distance(centres, span.start, end_of(span, run)));
    }
    keep_least(scores, limits.commands, part.commands);
    draw_commands_left_out(plan, run, part);
  }
  if (ranges > limits.ranges) {
    std::vector<std::int64_t> near, large;
    for (const DrawnRange& range : memory.ranges) {
      near.push_back(distance(centres, range.start, range.end));
      large.push_back(range.bytes.begin - range.bytes.end);
    }
    keep_least(near, limits.ranges / 2, part.ranges);
    keep_least(large, limits.ranges / 2, part.ranges);
    draw_ranges_left_out(plan, run, memory, part);
  }
  part.kept_commands = static_cast<std::size_t>(std::ranges::count(part.commands, 1));
  part.kept_ranges = static_cast<std::size_t>(std::ranges::count(part.ranges, 1));
  return part;
}

}  // namespace memverify
