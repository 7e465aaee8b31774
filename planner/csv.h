// planner/csv.h -- packing problems as tables, in the format of MiniMalloc's benchmarks.
//
// The first line names the columns: `id`, `lower`, `upper`, `size`, and as far as needed
// `alignment`, `offset` (fixed; an empty field: to be chosen) and `gaps`, in any order. A row is a
// buffer that is live in the steps [lower, upper). Gaps, separated by blanks, are steps in which it
// is not: `5-8`, or `5-8@0:64` if it then keeps only its bytes [0, 64). There are no quotes; a byte
// order mark at the start is left out. A row with `lower` = `upper` is never live, so that it may
// lie anywhere.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"
#include "planner/problem.h"

namespace memverify {

struct CsvProblem {
  Problem problem;                 ///< Buffers in the order of the rows.
  std::vector<std::string> lines;  ///< The header and the rows, without line ends.
  std::optional<std::size_t> offset_column;
};

/// Two buffers clash iff they are live in a common step, with the bytes they keep in it. The lower
/// bound is the largest sum of bytes live in a step, or what one buffer needs. Cost O(n log n),
/// with gaps O(n²).
Result<CsvProblem> read_csv(std::string_view text, const std::string& file);

/// The same rows with the offsets of the placement in the column `offset`, which comes last if it
/// was not there.
std::string write_csv(const CsvProblem& csv, const Placement& placement);

}  // namespace memverify
