// cuda_check/cuda_device.h -- the device that is a GPU.
//
// Streams are non-blocking CUDA streams, events CUDA events, flags 32-bit words in host-mapped
// memory; what sets a flag, waits for one, takes from or signals a semaphore is a kernel of one
// thread; bytes are filled and checked by kernels in 16-byte accesses
// that bypass caches (cuda_check/cuda/kernels.cu). Pools are one allocation each. Built where nvcc
// is found (CMake option MEMVERIFY_CUDA); elsewhere cuda_problem() says so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cuda_check/device.h"

namespace memverify::device {

enum class Launch : std::uint8_t {
  kStreams,  ///< Call by call.
  kGraph,    ///< Captured once into a CUDA graph, then launched for each run.
};

/// Why no plan can run on a GPU here: built without CUDA, no driver, no GPU. "" when one can.
std::string cuda_problem();

/// Bytes of memory that are free on the GPU. Precondition: cuda_problem() is "".
std::int64_t cuda_free_bytes();

/// Why these calls cannot be captured into a graph: a thread that blocks, or one of several. ""
/// when they can.
std::string graph_problem(const Calls& calls);

/// Throws std::runtime_error with CUDA's message. Precondition: cuda_problem() is "".
std::unique_ptr<Device> make_cuda_device(const Job& job, Launch launch);

}  // namespace memverify::device
