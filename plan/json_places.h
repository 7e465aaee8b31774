// plan/json_places.h -- where things are in a JSON text, found when there is something to report.
//
// While a plan is read nothing is stored about where its parts stood; a second scan finds the few
// places that errors name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace memverify {

/// Offset of the value at each JSON pointer (RFC 6901); where there is none, of the innermost value
/// on the way to it that there is. The text must be JSON as far as the pointers reach.
/// One scan, whatever the number of pointers.
std::vector<std::size_t> find_places(std::string_view text,
                                     const std::vector<std::string>& pointers);

struct LineColumn {
  std::size_t line = 0;    ///< 1-based; lines end at LF.
  std::size_t column = 0;  ///< 1-based, in bytes.
};

/// Of each offset; the offsets ascend. One pass over the text up to the last.
std::vector<LineColumn> find_lines(std::string_view text, const std::vector<std::size_t>& offsets);

}  // namespace memverify
