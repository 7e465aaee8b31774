// sim/model.h -- a Program compiled for search: chains of commands, digits, thresholds.
//
// Problem: a search visits millions of states, and each visit asks what may happen next. Idea:
// commands that can never overlap because their queue (or thread) runs them one by one form a
// *chain*; where a chain stands is one digit, twice the number of commands done, plus one if the
// next is open. A state is one digit per chain, and almost every need is "that digit is at least so
// much". Example: two serial queues with one op each have the states 00 10 01 20 11 02 21 12 22.
// Semaphore counts follow from the digits, so that a state needs nothing else.
//
// Tested by tests/unit/sim/explore_test.cpp against sim/state.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/bytes.h"
#include "sim/lifetime.h"
#include "sim/program.h"
#include "sim/reads.h"

namespace memverify::sim {

using Digit = std::uint16_t;
inline constexpr Digit kMaxDigit = 0x7FFE;  ///< Leaves a bit of each lane free (sim/lanes.h).
using ChainId = std::uint32_t;

/// Index of a step: chain r going from digit d to d + 1 is step `first_step[r] + d`. Even digits
/// start a command, odd ones complete it.
using StepId = std::uint32_t;

/// The digit of `chain` must be at least `digit`.
struct Threshold {
  ChainId chain = 0;
  Digit digit = 0;
};

/// At least `least` of the `of` hold.
struct Quorum {
  std::vector<Threshold> of;
  std::uint32_t least = 0;
};

/// Count of `semaphore` >= value.
struct CountNeed {
  std::uint32_t semaphore = 0;
  std::int64_t value = 0;
};

/// A check with from > 0 has a mirror on the other side: whichever of the two commands starts
/// first, the start of the other looks at it. A fault shows when the step is taken while the digit
/// of `chain` lies in [from, to]. The range of one that watches the chain of its own step holds
/// that step's digit.
struct Check {
  ChainId chain = 0;
  Digit from = 0;
  Digit to = 0;
  std::uint32_t suspect = 0;
};

/// Something that would be a finding if a check of it ever fires.
struct Suspect {
  enum class Kind : std::uint8_t {
    kRace,       ///< `first` and `second` are open at once.
    kLifetime,   ///< Lifetimes::checks[index].
    kUnwritten,  ///< Reads::during[index]: `first` reads what nothing has written.
    kNotProven,  ///< Unknown command `first` comes too near to an access of `second`.
  };
  Kind kind = Kind::kRace;
  CommandId first = kNone<CommandId>;
  CommandId second = kNone<CommandId>;
  std::uint32_t index = 0;
};

struct Model {
  std::vector<Digit> last;         ///< By chain: twice its commands; where it ends.
  std::vector<StepId> first_step;  ///< By chain; one more at the end.
  std::vector<CommandId> command_of_step;
  std::vector<ChainId> chain_of_step;
  Table<CommandId, StepId> start_of;  ///< Step that starts a command; the next one completes it.

  // What a step needs: slices by step.
  std::vector<std::uint32_t> threshold_begin;
  std::vector<Threshold> thresholds;
  std::vector<std::uint32_t> quorum_begin;
  std::vector<std::uint32_t> quorums_of_steps;  ///< In `quorums`.
  std::vector<Quorum> quorums;
  std::vector<std::uint32_t> count_begin;
  std::vector<CountNeed> counts;
  std::vector<std::uint32_t> check_begin;
  std::vector<Check> checks;

  /// Of semaphore s: what chain r at digit d has added (or, of a timeline, its maximum), at
  /// `effects[s][first_digit(r) + d]`.
  std::vector<std::vector<std::int64_t>> effects;
  std::vector<std::vector<ChainId>> affecting;  ///< By semaphore: chains that change it.
  std::vector<std::int64_t> initial;
  std::vector<std::uint8_t> timeline;
  bool consumes = false;  ///< A step may disable one of another chain.

  std::vector<Suspect> suspects;

  std::size_t chains() const { return last.size(); }
  std::size_t steps() const { return command_of_step.size(); }
  /// One more than the steps of the chains before: digits are one more than steps.
  std::size_t first_digit(ChainId chain) const { return first_step[chain] + chain; }
  Digit digit_of_step(StepId step) const {
    return static_cast<Digit>(step - first_step[chain_of_step[step]]);
  }
  bool is_start(StepId step) const { return digit_of_step(step) % 2 == 0; }

  std::span<const Threshold> thresholds_of(StepId step) const {
    return slice(thresholds, threshold_begin, step);
  }
  std::span<const std::uint32_t> quorums_of(StepId step) const {
    return slice(quorums_of_steps, quorum_begin, step);
  }
  std::span<const CountNeed> counts_of(StepId step) const {
    return slice(counts, count_begin, step);
  }
  std::span<const Check> checks_of(StepId step) const { return slice(checks, check_begin, step); }

  template <typename T>
  static std::span<const T> slice(const std::vector<T>& all,
                                  const std::vector<std::uint32_t>& begin, StepId step) {
    return std::span(all).subspan(begin[step], begin[step + 1] - begin[step]);
  }
};

/// What the model is made from.
struct Material {
  const Setting& setting;
  const ByteMap& map;
  const Lifetimes& lifetimes;
  const Reads& reads;
};

/// Errors: "model.size" when a chain has 2^14 commands or more, or when thresholds or checks are
/// more than `limit`. Cost: linear in the result; conflicting pairs are found cell by cell.
Result<Model> make_model(const Material& material, std::uint64_t limit);

/// Everything that the digits `state` (one per chain) decide about the next step of a chain.
/// True iff `step` may be taken; precondition: the chain of `step` stands at its digit.
bool is_enabled(const Model& model, std::span<const Digit> state, StepId step);

/// The count of a semaphore in a state.
std::int64_t count_of(const Model& model, std::span<const Digit> state, std::uint32_t semaphore);

/// True iff `check` fires in `state`.
inline bool fires(const Check& check, std::span<const Digit> state) {
  return state[check.chain] >= check.from && state[check.chain] <= check.to;
}

}  // namespace memverify::sim
