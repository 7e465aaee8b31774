// Reads pairs of strided boxes from standard input and prints for each pair whether they share a
// byte (1 or 0). A line is `base run dims (count stride)* base run dims (count stride)*`. Driven by
// region_numpy.py.
#include <iostream>
#include <optional>
#include <vector>

#include "plan/region.h"

namespace {

std::optional<memverify::Region> read_region(std::istream& in) {
  std::int64_t base = 0;
  std::int64_t run = 0;
  std::size_t rank = 0;
  if (!(in >> base >> run >> rank)) return std::nullopt;
  std::vector<memverify::Dim> dims(rank);
  for (memverify::Dim& dim : dims) in >> dim.count >> dim.stride;
  if (!in) return std::nullopt;
  return memverify::Region::strided(memverify::PoolId{0}, base, run, dims);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  while (const auto a = read_region(std::cin)) {
    const auto b = read_region(std::cin);
    if (!b) return 1;
    std::cout << (a->overlaps(*b) ? "1\n" : "0\n");
  }
  return std::cin.eof() ? 0 : 1;
}
