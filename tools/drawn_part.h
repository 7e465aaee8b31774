// tools/drawn_part.h -- what of a large plan a picture holds in full: the neighbourhoods of its
// findings and peaks, and its largest tensors. The rest is drawn as sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/live_ranges.h"

namespace memverify {

struct DrawnLimits {
  std::size_t commands = 60'000;
  std::size_t ranges = 100'000;
};

inline constexpr std::size_t kRasterWidth = 480;   ///< Fields over the time of the run.
inline constexpr std::size_t kRasterHeight = 240;  ///< Over the addresses below a pool's peak.
/// From none to full, a character for each field.
inline constexpr std::string_view kShades =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

struct DrawnPart {
  std::vector<std::uint8_t> commands;  ///< By command: it is kept.
  std::vector<std::uint8_t> ranges;    ///< By range.
  std::size_t kept_commands = 0, kept_ranges = 0;
  /// By pool, rows from address 0 up: the bytes of ranges left out; empty if none are.
  std::vector<std::string> rasters;
  std::vector<std::string> busy;  ///< By queue, one row: its commands left out; empty if none are.
  bool is_whole(const DrawnMemory& memory) const {
    return kept_commands == commands.size() && kept_ranges == memory.ranges.size();
  }
};

/// Cost: linear, but for a sort by distance.
DrawnPart drawn_part(const Plan& plan, const std::vector<Finding>& findings, const DrawnRun& run,
                     const DrawnMemory& memory, const DrawnLimits& limits);

}  // namespace memverify
