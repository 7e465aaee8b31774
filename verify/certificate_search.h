// verify/certificate_search.h -- looking things up from where one is.
// Cost: O(log distance). Tested by tests/unit/verify/certificate_regions_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>

namespace memverify::cert {

/// The first of an ascending list that is not less, looked for from `from` on in growing steps.
template <typename Iterator, typename Less>
Iterator search_from(Iterator begin, Iterator end, Iterator from, Less is_less) {
  if (from != end && is_less(*from)) {
    begin = from + 1;
    for (std::ptrdiff_t step = 1; end - begin > step; step *= 2) {
      if (!is_less(begin[step])) {
        end = begin + step;
        break;
      }
      begin += step + 1;
    }
  } else {
    end = from;
    for (std::ptrdiff_t step = 1; end - begin > step; step *= 2) {
      if (is_less(*(end - step))) {
        begin = end - step + 1;
        break;
      }
      end -= step;
    }
  }
  return std::partition_point(begin, end, is_less);
}

}  // namespace memverify::cert
