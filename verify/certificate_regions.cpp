#include "verify/certificate_regions.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace memverify::cert {

Regions::Regions() : begin_(1, 0), slots_(1024, 0) {}

Regions::Id Regions::add(const Region& region) {
  if (region.is_contiguous()) return add_contiguous({region.pool(), region.hull()});
  const auto [at, is_new] = strided_.try_emplace(region, static_cast<Id>(count()));
  if (is_new) {
    for (const ByteRange& run : region.runs()) runs_.push_back({region.pool(), run});
    begin_.push_back(static_cast<std::uint32_t>(runs_.size()));
  }
  return at->second;
}

/// The place of a contiguous region in the table.
std::uint32_t& Regions::slot_of(const Run& run) {
  const std::size_t mask = slots_.size() - 1;
  std::uint64_t hash = static_cast<std::uint64_t>(run.bytes.begin) * 0x9E3779B97F4A7C15U;
  hash = (hash ^ static_cast<std::uint64_t>(run.bytes.end) ^ index(run.pool)) * 0xC2B2AE3D27D4EB4FU;
  std::size_t slot = (hash >> 32) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Run& other = runs_[begin_[slots_[slot] - 1]];
    if (other.pool == run.pool && other.bytes == run.bytes) break;
  }
  return slots_[slot];
}

Regions::Id Regions::add_contiguous(const Run& run) {
  if (count() >= slots_.size() / 2) {
    slots_.assign(4 * slots_.size(), 0);
    for (Id id = 0; id < count(); ++id) {
      if (begin_[id + 1] - begin_[id] == 1) slot_of(runs_[begin_[id]]) = id + 1;
    }
  }
  std::uint32_t& slot = slot_of(run);
  if (slot == 0) {
    runs_.push_back(run);
    begin_.push_back(static_cast<std::uint32_t>(runs_.size()));
    slot = static_cast<std::uint32_t>(count());
  }
  return slot - 1;
}

void Regions::number() {
  std::vector<std::pair<PoolId, std::int64_t>> ends;
  ends.reserve(2 * runs_.size());
  for (const Run& run : runs_) {
    ends.emplace_back(run.pool, run.bytes.begin);
    ends.emplace_back(run.pool, run.bytes.end);
  }
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const auto number = [&](PoolId pool, std::int64_t address) {
    return static_cast<Point>(std::ranges::lower_bound(ends, std::pair(pool, address)) -
                              ends.begin());
  };
  ranges_.reserve(runs_.size());
  for (const Run& run : runs_) {
    ranges_.push_back({number(run.pool, run.bytes.begin), number(run.pool, run.bytes.end)});
  }
  addresses_.reserve(ends.size());
  for (const auto& [pool, address] : ends) addresses_.push_back(address);
  runs_ = {};
  slots_ = {};
  if (strided_.empty()) return;
  strided_ = {};
  if (const auto class_of = classes(); !class_of.empty()) join_classes(class_of);
}

/// By piece, with numbers as they come; empty if there is too much to look at.
std::vector<std::uint32_t> Regions::classes() const {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 26;
  std::vector<std::uint32_t> class_of(size(), 0);
  std::uint64_t held = 0;
  for (Id id = 0; id < count(); ++id) {
    if (begin_[id + 1] - begin_[id] == 1) {
      class_of[ranges_[begin_[id]].begin] = class_of[ranges_[begin_[id]].end] = 1;
      continue;
    }
    for (std::uint32_t k = begin_[id]; k < begin_[id + 1]; ++k) {
      held += ranges_[k].end - ranges_[k].begin;
    }
  }
  if (held > kMost) return {};
  std::partial_sum(class_of.begin(), class_of.end(), class_of.begin());
  std::uint32_t next = class_of.back() + 1;
  std::unordered_map<std::uint32_t, std::uint32_t> into;
  for (Id id = 0; id < count(); ++id) {
    if (begin_[id + 1] - begin_[id] == 1) continue;
    into.clear();
    for (std::uint32_t k = begin_[id]; k < begin_[id + 1]; ++k) {
      for (Point piece = ranges_[k].begin; piece < ranges_[k].end; ++piece) {
        const auto [at, is_new] = into.try_emplace(class_of[piece], next);
        if (is_new) ++next;
        class_of[piece] = at->second;
      }
    }
  }
  return class_of;
}

void Regions::join_classes(const std::vector<std::uint32_t>& class_of) {
  std::vector<Point> point_of;  // By piece: the classes that start before it.
  std::vector<std::uint8_t> is_known(std::ranges::max(class_of) + std::size_t{1}, 0);
  std::size_t classes = 0;
  for (std::size_t piece = 0; piece < class_of.size(); ++piece) {
    point_of.push_back(static_cast<Point>(classes));
    if (std::exchange(is_known[class_of[piece]], 1) == 0) addresses_[classes++] = addresses_[piece];
  }
  addresses_.resize(classes + 1);  // The last is an end of some range.
  std::vector<PointRange> joined;
  for (Id id = 0; id < count(); ++id) {
    const auto pieces = std::span(ranges_).subspan(begin_[id], begin_[id + 1] - begin_[id]);
    begin_[id] = static_cast<std::uint32_t>(joined.size());
    for (const PointRange& range : pieces) {
      const PointRange points{point_of[range.begin], point_of[range.end]};
      const bool is_first = joined.size() == begin_[id];
      if (!is_first && points.begin == points.end) continue;
      if (!is_first && joined.back().end == points.begin) {
        joined.back().end = points.end;
      } else {
        joined.push_back(points);
      }
    }
  }
  begin_.back() = static_cast<std::uint32_t>(joined.size());
  ranges_ = std::move(joined);
}

}  // namespace memverify::cert
