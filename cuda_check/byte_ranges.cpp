#include "cuda_check/byte_ranges.h"

#include <algorithm>

namespace memverify::device {

Ranges common(const Ranges& a, const Ranges& b) {
  Ranges out;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const ByteRange both{std::max(x->begin, y->begin), std::min(x->end, y->end)};
    if (!both.empty()) out.push_back(both);
    if (x->end < y->end) {
      ++x;
    } else {
      ++y;
    }
  }
  return out;
}

Ranges without(const Ranges& a, const Ranges& b) {
  Ranges out;
  auto hole = b.begin();
  for (ByteRange left : a) {
    while (hole != b.end() && hole->end <= left.begin) ++hole;
    for (auto h = hole; h != b.end() && h->begin < left.end; ++h) {
      if (left.begin < h->begin) out.push_back({left.begin, h->begin});
      left.begin = std::max(left.begin, h->end);
    }
    if (!left.empty()) out.push_back(left);
  }
  return out;
}

Ranges united(Ranges all) {
  std::ranges::sort(all, {}, &ByteRange::begin);
  Ranges out;
  for (const ByteRange& range : all) {
    if (range.empty()) continue;
    if (out.empty() || out.back().end < range.begin) {
      out.push_back(range);
    } else {
      out.back().end = std::max(out.back().end, range.end);
    }
  }
  return out;
}

}  // namespace memverify::device
