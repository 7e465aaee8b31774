// What stands in for the CUDA device where there is no CUDA.
#ifndef MEMVERIFY_HAS_CUDA
#include <stdexcept>

#include "cuda_check/cuda_device.h"

namespace memverify::device {

std::string cuda_problem() { return "this memverify was built without CUDA"; }

std::int64_t cuda_free_bytes() { throw std::logic_error(cuda_problem()); }

std::unique_ptr<Device> make_cuda_device(const Job&, Launch) {
  throw std::logic_error(cuda_problem());
}

}  // namespace memverify::device
#endif
