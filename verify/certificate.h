// verify/certificate.h -- what is written down to prove a verdict, and its JSON
// (docs/certificate.md).
//
// Plain data, without meaning: the numbers are those of the nodes in verify/certificate_model.h.
// All files of this name but certificate_write are the checker, or like it: they include plan/ and
// each other, nothing else (a test says so).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "plan/result.h"

namespace memverify::cert {

/// A list of lists of numbers, flat.
struct Rows {
  std::vector<std::int64_t> numbers;
  std::vector<std::size_t> ends;  ///< One past the last number of each row.
  std::size_t size() const { return ends.size(); }
  std::span<const std::int64_t> row(std::size_t k) const {
    const std::size_t begin = k == 0 ? 0 : ends[k - 1];
    return std::span(numbers).subspan(begin, ends[k] - begin);
  }
  void push_back(std::initializer_list<std::int64_t> row) {
    numbers.insert(numbers.end(), row);
    ends.push_back(numbers.size());
  }
};

/// The proof of one case: a number of iterations, and one value for every symbol that is used and
/// every condition.
struct Case {
  std::int64_t iterations = 0;
  std::vector<std::int64_t> symbols;
  std::vector<std::int64_t> conditions;  ///< 0 or 1.
  std::int64_t pairs = 0;                ///< Neighbouring accesses whose order was asked for.
  Rows postponed;                        ///< [node, after]: the run is program order but for these.
  Rows orders;   ///< [node, before, via] or [node, before, via, signal...]; relative numbers.
  Rows writers;  ///< One row for each read: who wrote what it finds; relative, 0 is the start.
};

/// One fault, shown by a run.
struct Fault {
  std::string rule;
  std::int64_t number = 0;  ///< Of the case.
  std::int64_t iterations = 0;
  std::vector<std::int64_t> symbols, conditions;
  std::vector<std::int64_t> nodes;  ///< MV101 to MV103: the two, in program order.
  std::int64_t pool = 0, byte = 0;  ///< The first that both touch; 0 for MV111.
  Rows run;                         ///< [node, 0 start or 1 completion]: after it both are open.
  Rows blocked;  ///< MV111: [node, other] or [node, -1 - count]: a set that waits for itself.
};

struct Certificate {
  std::string plan;           ///< fingerprint() of the plan.
  std::string verdict;        ///< "safe" or "unsafe".
  std::vector<Case> cases;    ///< safe: one for each case, in the order of the enumeration.
  std::vector<Fault> faults;  ///< unsafe: at least one.
};

/// A hash of what the plan means: everything but names, labels, places, durations and `x-` keys.
/// 32 hexadecimal digits. Cost: linear.
std::string fingerprint(const Plan& plan);

std::string write_certificate(const Certificate& certificate);
/// Diagnostics "certificate.syntax", "certificate.version", "certificate.format".
Result<Certificate> read_certificate(std::string_view text, const std::string& name);

}  // namespace memverify::cert
