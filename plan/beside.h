// plan/beside.h -- when a task gets a thread of its own.
#pragma once

#include <cstddef>
#include <future>

namespace memverify {

/// For std::async, of a task over `size` ops, instances or runs of bytes.
inline std::launch beside(std::size_t size) {
  constexpr std::size_t kWorthAThread = 50'000;
  return size >= kWorthAThread ? std::launch::async : std::launch::deferred;
}

}  // namespace memverify
