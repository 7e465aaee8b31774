#include "planner/stack.h"

#include <algorithm>
#include <numeric>

#include "planner/align.h"

namespace memverify {

Stack::Stack(const Problem& problem) {
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.offset && buffer.bytes > 0) {
      fixed_.push_back({*buffer.offset, *buffer.offset + buffer.bytes});
    }
  }
  std::ranges::sort(fixed_, {}, &ByteRange::begin);
}

std::int64_t Stack::push(std::int64_t bytes, std::int64_t alignment) {
  std::int64_t begin = aligned_up(top_, alignment);
  while (next_ < fixed_.size() && fixed_[next_].begin < begin + bytes) {
    begin = aligned_up(std::max(begin, fixed_[next_].end), alignment);
    ++next_;
  }
  top_ = begin + bytes;
  return begin;
}

std::int64_t peak_of(const Problem& problem, const std::vector<std::int64_t>& offsets) {
  std::int64_t peak = 0;
  for (BufferIndex b = 0; b < offsets.size(); ++b) {
    const std::int64_t bytes = problem.buffers[b].bytes;
    if (bytes > 0) peak = std::max(peak, offsets[b] + bytes);
  }
  return peak;
}

std::int64_t grain_of(const Problem& problem) {
  std::int64_t grain = 0;
  for (const Buffer& buffer : problem.buffers) {
    grain = std::gcd(grain, buffer.bytes);
    if (buffer.offset) grain = std::gcd(grain, *buffer.offset);
    if (!buffer.offset && buffer.alignment > 1) grain = std::gcd(grain, buffer.alignment);
  }
  for (const Clash& clash : problem.clashes) {
    for (const ByteRange& part : {clash.of_first, clash.of_second}) {
      grain = std::gcd(std::gcd(grain, part.begin), part.end);
    }
  }
  return std::max<std::int64_t>(grain, 1);
}

}  // namespace memverify
