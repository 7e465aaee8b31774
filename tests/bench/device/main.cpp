// What the CUDA device costs: the bytes per second of filling and checking against those of a copy
// on the device, and the time of launching a plan's graph against a bare launch. Needs a GPU.
//
//   device_bench [MEGABYTES]
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cuda_check/cuda/buffers.h"
#include "cuda_check/cuda/kernels.h"
#include "cuda_check/cuda_device.h"

namespace memverify::device {
namespace {

constexpr int kRounds = 20;

/// Milliseconds of one round, the best of some.
template <typename Launch>
double best_ms(cudaStream_t stream, Launch launch) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  cuda_must(cudaEventCreate(&begin), "cudaEventCreate");
  cuda_must(cudaEventCreate(&end), "cudaEventCreate");
  float best = 1e30F;
  for (int i = 0; i < kRounds; ++i) {
    cuda_must(cudaEventRecord(begin, stream), "cudaEventRecord");
    launch();
    cuda_must(cudaEventRecord(end, stream), "cudaEventRecord");
    cuda_must(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    cuda_must(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    best = std::min(best, ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return static_cast<double>(best);
}

std::vector<Chunk> chunks_over(std::uint8_t* at, std::int64_t bytes) {
  std::vector<Chunk> all;
  for (std::int64_t begin = 0; begin < bytes; begin += kChunkBytes) {
    all.push_back({.line = at + begin,
                   .begin = begin,
                   .end = std::min(bytes, begin + kChunkBytes),
                   .code = code_of(Author::kInitial)});
  }
  return all;
}

/// A copy reads and writes each byte, filling and checking move it once.
void bandwidth(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const CudaArray<std::uint8_t> a(size, false);
  const CudaArray<std::uint8_t> b(size, false);
  const CudaArray<WrongList> wrong(1, true);
  wrong.host()->count = 0;
  const std::vector<Chunk> table = chunks_over(a.device(), bytes);
  const auto count = static_cast<std::uint32_t>(table.size());
  const CudaArray<Chunk> chunks(table.size(), false);
  cuda_must(cudaMemcpy(chunks.device(), table.data(), table.size() * sizeof(Chunk),
                       cudaMemcpyHostToDevice),
            "cudaMemcpy");
  const CudaStream stream;
  const double copy = best_ms(stream.get(), [&] {
    cuda_must(cudaMemcpyAsync(b.device(), a.device(), size, cudaMemcpyDeviceToDevice, stream.get()),
              "cudaMemcpyAsync");
  });
  const double fill =
      best_ms(stream.get(), [&] { launch_fill(chunks.device(), count, stream.get()); });
  const double check = best_ms(stream.get(), [&] {
    launch_check(chunks.device(), count, 0, 0, wrong.device(), stream.get());
  });
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  const auto print = [&](const char* what, double ms, double moved) {
    const double rate = moved * gigabytes / (ms / 1e3);
    std::printf("%-6s %8.1f GB/s  %5.1f %% of a copy\n", what, rate,
                100 * rate / (2 * gigabytes / (copy / 1e3)));
  };
  print("copy", copy, 2);
  print("fill", fill, 1);
  print("check", check, 1);
  std::printf("wrong words: %u\n", wrong.host()->count);
}

/// One kernel after another in one stream: as calls, and as a graph.
void launches() {
  constexpr int kKernels = 100;
  const CudaArray<std::uint32_t> flag(1, false);
  const CudaStream stream;
  const auto all = [&] {
    for (int i = 0; i < kKernels; ++i) launch_set(flag.device(), stream.get());
  };
  const double calls = best_ms(stream.get(), all);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cuda_must(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "capturing");
  all();
  cuda_must(cudaStreamEndCapture(stream.get(), &graph), "capturing");
  cuda_must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  const double bare = best_ms(
      stream.get(), [&] { cuda_must(cudaGraphLaunch(exec, stream.get()), "cudaGraphLaunch"); });
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  std::printf("%d kernels: %.3f ms by calls, %.3f ms as a graph\n", kKernels, calls, bare);
}

}  // namespace
}  // namespace memverify::device

int main(int argc, char** argv) {
  const std::string problem = memverify::device::cuda_problem();
  if (!problem.empty()) {
    std::fprintf(stderr, "device_bench: no GPU can be used: %s\n", problem.c_str());
    return 2;
  }
  const std::int64_t megabytes = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 1024;
  memverify::device::bandwidth(megabytes << 20);
  memverify::device::launches();
  return 0;
}
