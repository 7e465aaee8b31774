// cuda_check/lower.h -- a plan as calls to a driver.
//
// Problem: queues of a plan may start in order and complete in any, or order nothing; threads
// block;
//   waits count. Drivers have streams (in order), events (bound when the wait is submitted) and
//   memory that a stream can wait for.
// Idea: commands of a serial or host queue go to one stream per submitting thread, those of the
//   other queues to a stream each while they may be in flight. An order that the streams do not
//   give by themselves becomes an event where one thread submits both in this order, and a flag
//   where it does not: an event that is not recorded yet would not be waited for. "n of these" is a
//   wait for n flags out of a range.
// Cost: linear in the command instances and in the waits; "all earlier ones" of an unordered queue
//   costs those since its last record or barrier.
// Example: `w` on a, signals e; `u` on b, waits e: start w, work w, finish w, record 0 | wait 0,
//   start u, work u, finish u.
// Tested by tests/unit/cuda_check/lower_test.cpp and tests/device/order_test.cpp.
#pragma once

#include "cuda_check/calls.h"
#include "cuda_check/settled.h"
#include "plan/result.h"

namespace memverify::device {

/// Errors, without a pointer: "expr.overflow" and "expr.negative" for values of waits and signals,
/// "device.size" for more than kMaxCommands instances.
Result<Calls> lower(const Plan& plan, const Settled& settled);

/// Lets events be recorded again once every wait for their last record was submitted, so that as
/// few as possible exist. Changes the numbers of events only. Cost: linear.
void reuse_events(Calls& calls);

}  // namespace memverify::device
