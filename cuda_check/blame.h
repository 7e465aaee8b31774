// cuda_check/blame.h -- what a mismatch says about the plan: who wrote the wrong bytes, and which
// rule was broken by whom.
//
// A wrong word names its author (cuda_check/stamp.h). Of the reader, that author and the expected
// one, the first pair that the calls do not order is a race; where all are ordered, it is a wrong
// version (MV104, at the end MV106), and where nothing was expected MV105.
// Tested by tests/device/corpus_test.cpp.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cuda_check/device.h"
#include "plan/finding.h"

namespace memverify::device {

/// Who wrote what is in a word.
struct Found {
  bool is_known = false;  ///< False: of several authors, or of none that the plan has.
  Author base = Author::kNobody;
  std::vector<CommandId> updates;     ///< Accumulates on top of it …
  std::vector<CommandId> unfinished;  ///< … and those that are only half there.
};

class Blame {
 public:
  explicit Blame(const Job& job) : job_(job) {}

  /// The run that the following mismatches are of. Its instants tell which explanations of a few
  /// bytes are possible; the report must stay until the next call.
  void look_at(const RunReport& report) { report_ = &report; }

  /// The same wrong bytes, cut where what else writes there begins and ends: each of the results
  /// has one author, or is torn. Cost: linear in the pieces.
  std::vector<Mismatch> split(const Mismatch& mismatch) const;
  /// The author of the wrong bytes. Cost: linear in the pieces.
  Found found(const Mismatch& mismatch) const;
  /// One finding, or two where bytes are read that nothing writes and that are raced for; in the
  /// words of plan/describe.h. Cost: some runs of the mock driver, once for each pair.
  std::vector<Finding> findings(const Mismatch& mismatch);
  /// The finding of a run that ended as `report` says, without finishing.
  Finding deadlock(const RunReport& report) const;

  /// "bytes [0, 64) of pool `hbm` hold `y`, unfinished, instead of `x`": what was seen.
  std::string sentence(const Mismatch& mismatch) const;

 private:
  struct Pair {
    CommandId a = kNone<CommandId>;
    CommandId b = kNone<CommandId>;
  };
  bool unordered(Pair pair, bool is_open);
  std::vector<Pair> suspects(const Mismatch& mismatch, const Found& found) const;
  bool writes(CommandId command, const Mismatch& mismatch) const;
  TensorId tensor_of(CommandId command, const Mismatch& mismatch) const;
  Finding race(Pair pair, const Mismatch& mismatch) const;
  Finding wrong_version(const Mismatch& mismatch, const Found& found) const;
  Finding lifetime(const Mismatch& mismatch) const;
  void add_op(CommandId command, TensorId tensor, Finding& finding) const;
  std::string words(const Found& found) const;

  const Job& job_;
  const RunReport* report_ = nullptr;
  std::map<std::pair<CommandId, CommandId>, bool> unordered_;
};

}  // namespace memverify::device
