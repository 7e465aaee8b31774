#include "cuda_check/scale.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace memverify::device {
namespace {

constexpr std::int64_t kLine = 16;

/// Of a stretch of `length` bytes what is kept: no more than `most` and what keeps the rest of its
/// line.
std::int64_t kept(std::int64_t length, std::int64_t most) {
  return length <= most ? length : most / kLine * kLine + length % kLine;
}

/// Where pieces of one pool begin and end, ascending.
std::vector<std::int64_t> ends_of(const Work& work, PoolId pool) {
  std::vector<std::int64_t> points;
  for (const Piece& piece : work.pieces) {
    if (piece.pool != pool) continue;
    points.push_back(piece.bytes.begin);
    points.push_back(piece.bytes.end);
  }
  points.push_back(work.pools[pool].begin);
  points.push_back(work.pools[pool].end);
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

std::int64_t total(const std::vector<std::vector<std::int64_t>>& pools, std::int64_t most) {
  std::int64_t sum = 0;
  for (const std::vector<std::int64_t>& points : pools) {
    for (std::size_t i = 1; i < points.size(); ++i) sum += kept(points[i] - points[i - 1], most);
  }
  return sum;
}

}  // namespace

void scale(Work& work, std::int64_t bytes) {
  if (pool_bytes(work) <= bytes) return;
  std::vector<std::vector<std::int64_t>> pools;
  for (const PoolId pool : ids(work.pools)) pools.push_back(ends_of(work, pool));
  std::int64_t low = 1;  // In lines.
  std::int64_t high = std::max<std::int64_t>(bytes, 0) / kLine + 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (total(pools, middle * kLine) <= bytes ? low : high) = middle;
  }
  std::vector<std::vector<std::int64_t>> moved = pools;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    for (std::size_t i = 1; i < pools[p].size(); ++i) {
      moved[p][i] = moved[p][i - 1] + kept(pools[p][i] - pools[p][i - 1], low * kLine);
    }
  }
  const auto move = [&](PoolId pool, std::int64_t& address) {
    const std::vector<std::int64_t>& points = pools[index(pool)];
    const auto at = std::ranges::lower_bound(points, address) - points.begin();
    address = moved[index(pool)][static_cast<std::size_t>(at)];
  };
  for (Piece& piece : work.pieces) {
    move(piece.pool, piece.bytes.begin);
    move(piece.pool, piece.bytes.end);
  }
  for (const PoolId pool : ids(work.pools)) {
    ByteRange& range = work.pools[pool];
    if (range.empty()) continue;
    move(pool, range.begin);
    move(pool, range.end);
    range.end += (kLine - range.end % kLine) % kLine;
  }
}

}  // namespace memverify::device
