// cuda_check/cuda/buffers.h -- memory, streams and events of CUDA that free themselves, and errors.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace memverify::device {

inline void cuda_must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

/// An array on the device, or in host memory that the device sees (`mapped`).
template <typename T>
class CudaArray {
 public:
  CudaArray() = default;
  CudaArray(std::size_t size, bool mapped) : size_(size), mapped_(mapped) {
    const std::size_t bytes = (size == 0 ? 1 : size) * sizeof(T);
    if (!mapped) {
      cuda_must(cudaMalloc(reinterpret_cast<void**>(&device_), bytes), "cudaMalloc");
      return;
    }
    cuda_must(cudaHostAlloc(reinterpret_cast<void**>(&host_), bytes, cudaHostAllocMapped),
              "cudaHostAlloc");
    cuda_must(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device_), host_, 0),
              "cudaHostGetDevicePointer");
  }
  CudaArray(CudaArray&& other) noexcept { *this = std::move(other); }
  CudaArray& operator=(CudaArray&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(host_, other.host_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~CudaArray() {
    if (mapped_) {
      cudaFreeHost(host_);
    } else if (device_ != nullptr) {
      cudaFree(device_);
    }
  }
  T* device() const { return device_; }
  T* host() const { return host_; }  ///< nullptr unless mapped.
  std::size_t size() const { return size_; }

 private:
  T* device_ = nullptr;
  T* host_ = nullptr;
  std::size_t size_ = 0;
  bool mapped_ = false;
};

class CudaStream {
 public:
  CudaStream() {
    cuda_must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  CudaStream(CudaStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  CudaStream& operator=(CudaStream&&) = delete;
  ~CudaStream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class CudaEvent {
 public:
  CudaEvent() {
    cuda_must(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
  }
  CudaEvent(CudaEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&&) = delete;
  ~CudaEvent() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace memverify::device
