// cuda_check/threads_device.h -- a device made of host threads.
//
// Streams and submitting threads are agents of a Machine (cuda_check/machine.h); workers, real
// threads, step whichever agent can go on, under one lock that gives up only to touch bytes. A
// command that holds still (a delay, a gate) keeps its agent, not its worker, so any number of
// commands can be open at once. The harness itself has no data race; the bytes under test are
// accessed by relaxed atomics and by nothing else while a run is on.
// Nothing can be waited for but an agent, so a run that cannot go on is known at once.
// Tested by tests/unit/cuda_check/threads_device_test.cpp, and in the preset `tsan`.
#pragma once

#include <memory>

#include "cuda_check/device.h"

namespace memverify::device {

/// `workers` >= 1 threads besides the one that calls run(). Throws std::bad_alloc,
/// std::system_error.
std::unique_ptr<Device> make_threads_device(const Job& job, unsigned workers);

}  // namespace memverify::device
