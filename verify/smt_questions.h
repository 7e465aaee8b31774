// verify/smt_questions.h -- what can go wrong, each as a formula that only a run that shows it
// satisfies.
//
// Races need no arithmetic: since every prefix of a run is a run, two windows overlap in some run
// iff in some run both commands have started and neither has completed.
//
// Cost: the pairs of accesses of each cell.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/races.h"
#include "verify/smt_bytes.h"
#include "verify/smt_order.h"

namespace memverify::smt {

struct Question {
  enum class Kind : std::uint8_t {
    kRace,       ///< MV101-103 by `first` and `second`.
    kUnwritten,  ///< MV105 by touch `reader` of `cell`.
    kVersion,    ///< MV104, or at the end MV106, likewise.
    kLifetime,   ///< MV112.
    kDeadlock,   ///< MV111. The last of all, if it is asked.
    kUnknown,    ///< MV201: `first` is an unknown command, `second` what it meets, if anything.
  };
  Kind kind = Kind::kRace;
  Bool hazard;
  Cmd first = kNoCmd;  ///< In program order.
  Cmd second = kNoCmd;
  Clashes clashes = 0;
  std::uint32_t cell = 0;
  std::size_t reader = 0;
  StorageId storage = kNone<StorageId>;  ///< kLifetime.
  TensorId tensor = kNone<TensorId>;     ///< kLifetime: of the access.
  bool at_end = false;                   ///< Everything must have completed.
};

struct Questions {
  std::vector<Question> all;
  Bool finished;  ///< A part of each hazard with `at_end`: everything has completed.
  std::vector<std::vector<Bool>> races_of_cell;  ///< Of known commands: the hazards.
  std::uint64_t pairs = 0;                       ///< Conflicting pairs looked at.
};

/// Ticks of the commands of a timed run, which is maximal: nothing is left out at its end.
struct Ticks {
  std::vector<Int> start;  ///< By command.
  std::vector<Int> complete;
};

/// Those that the known order does not answer with no. With `ticks`, of timed runs ([S-57]).
Questions make_questions(const Program& program, Order& order, const Bytes& bytes, Terms& terms,
                         const Ticks* ticks = nullptr);

}  // namespace memverify::smt
