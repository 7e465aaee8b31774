#include "verify/gather.h"

#include <algorithm>
#include <utility>

namespace memverify {
namespace {

constexpr std::uint64_t kMostSplit = std::uint64_t{1} << 27;  ///< Points: a second or so.
constexpr std::uint32_t kNoPlace = 0xFFFFFFFFU;

void add_ends(std::span<const ByteRange> ranges, std::vector<std::int64_t>& ends) {
  for (const ByteRange& range : ranges) {
    ends.push_back(range.begin);
    ends.push_back(range.end);
  }
}

}  // namespace

Gathering::Gathering(std::vector<std::int64_t> ends)
    : points_(std::move(ends)), place_(points_.sorted().size(), 0) {}

template <typename Visit>
void Gathering::for_each_point(std::span<const ByteRange> runs, Visit&& visit) const {
  for (const ByteRange& run : runs) {
    const std::uint32_t end = points_.number(run.end);
    for (std::uint32_t point = points_.number(run.begin); point < end; ++point) visit(point);
  }
}

std::optional<Gathering> Gathering::make(std::span<const ByteRange> contiguous,
                                         std::span<const std::span<const ByteRange>> strided) {
  std::size_t ranges = contiguous.size();
  for (const auto runs : strided) ranges += runs.size();
  std::vector<std::int64_t> ends;
  ends.reserve(2 * ranges);
  add_ends(contiguous, ends);
  for (const auto runs : strided) add_ends(runs, ends);

  Gathering result(std::move(ends));
  std::uint64_t points = 0;
  for (const auto runs : strided) {
    for (const ByteRange& run : runs) {
      points += result.points_.number(run.end) - result.points_.number(run.begin);
    }
    if (points > kMostSplit) return std::nullopt;
  }
  result.cut_pieces(contiguous);
  for (const auto runs : strided) result.split(runs);
  result.number_places();
  return result;
}

void Gathering::cut_pieces(std::span<const ByteRange> contiguous) {
  for (const ByteRange& range : contiguous) {
    place_[points_.number(range.begin)] = place_[points_.number(range.end)] = 1;
  }
  std::uint32_t piece = 0;
  size_.assign(1, 0);
  for (std::uint32_t& place : place_) {
    if (place != 0) {
      ++piece;
      size_.push_back(0);
    }
    place = piece;
    ++size_[piece];
  }
  stamp_.assign(size_.size(), 0);
  into_.resize(size_.size());
}

void Gathering::split(std::span<const ByteRange> runs) {
  ++regions_;
  for_each_point(runs, [&](std::uint32_t point) {
    const std::uint32_t from = place_[point];
    if (stamp_[from] != regions_) {
      stamp_[from] = regions_;
      if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(size_.size()));
        size_.push_back(0);
        stamp_.push_back(0);
        into_.push_back(0);
      }
      into_[from] = free_.back();
      stamp_[free_.back()] = 0;
      free_.pop_back();
    }
    place_[point] = into_[from];
    ++size_[into_[from]];
    if (--size_[from] == 0) free_.push_back(from);
  });
}

void Gathering::number_places() {
  std::uint32_t next = 0;
  std::ranges::fill(into_, kNoPlace);
  for (std::uint32_t& place : place_) {
    std::uint32_t& number = into_[place];
    if (number == kNoPlace) number = next++;
    place = number;
  }
  stamp_.assign(next, 0);
  regions_ = 0;
}

std::vector<ByteRange> Gathering::of_strided(std::span<const ByteRange> runs) {
  ++regions_;
  std::vector<std::int64_t> places;
  for_each_point(runs, [&](std::uint32_t point) {
    if (std::exchange(stamp_[place_[point]], regions_) != regions_) places.push_back(place_[point]);
  });
  std::ranges::sort(places);
  std::vector<ByteRange> result;
  for (const std::int64_t place : places) {
    if (!result.empty() && result.back().end == place) {
      ++result.back().end;
    } else {
      result.push_back({place, place + 1});
    }
  }
  return result;
}

}  // namespace memverify
