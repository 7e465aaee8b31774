// verify/smt_timed.h -- is a plan safe when its delays and durations are what it says ([S-57])?
//
// Problem: time makes a run definite, but delays and durations come in ranges, and all
//   combinations of them are too many to run.
// Idea: delays and durations are integers of the formula. An instant is a tick, and within the
//   ticks the order of verify/smt_order.h; a start happens at its queue's delay or in the first
//   tick in which all it needs has been met.
// Cost: exponential at worst. Where commands take from a semaphore, takes^2 needs.
// Tested by tests/agreement/timed_test.cpp, which holds it against sim/timed.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"
#include "verify/smt_verify.h"

namespace memverify {

struct SmtTimedResult {
  Verdict verdict = Verdict::kUnknown;
  std::string reason;  ///< kUnknown: why, as a sentence.
  // kUnsafe: one run that fails; where it can be told, the one with the least sum of what delays
  // and durations exceed their least values by.
  std::string fault;                    ///< "`a` and `b`": what goes wrong between whom.
  std::vector<std::int64_t> delays;     ///< By queue; empty, as durations, when none matter.
  std::vector<std::int64_t> durations;  ///< By op.
  std::vector<ConditionValue> when;
  std::vector<SymbolValue> symbols;
};

/// Whether some timed run of `plan` goes wrong. Within a tick, nothing but the rules orders what
/// takes no time: safe holds for every such order, where a simulator tries one.
SmtTimedResult verify_timed(const Plan& plan, const SmtOptions& options);

/// "`dma` delayed by 2 ticks, `load_A` takes 3": what differs from the least values.
std::string lateness_words(const Plan& plan, const SmtTimedResult& result);

}  // namespace memverify
