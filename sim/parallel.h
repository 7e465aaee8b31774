// sim/parallel.h -- the same work on several cores.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace memverify::sim {

/// Calls work(0) … work(cores - 1) at the same time; returns when all have.
template <typename Work>
void in_parallel(std::size_t cores, const Work& work) {
  std::vector<std::jthread> threads;
  for (std::size_t core = 1; core < cores; ++core) threads.emplace_back(work, core);
  work(std::size_t{0});
}

}  // namespace memverify::sim
