// cuda_check/delays.h -- how long commands of a fuzzed run hold still, drawn from a seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cuda_check/calls.h"

namespace memverify::device {

using Microseconds = std::chrono::duration<double, std::micro>;

enum class DelayKind : std::uint8_t {
  kUniform,      ///< Every command its own, before it touches its bytes and inside.
  kPerQueue,     ///< Every queue its own: engines that are slow and fast.
  kAdversarial,  ///< One command stays open as long as anything else can go on; in another run
                 ///< another one, in turn.
};
std::string_view name(DelayKind kind);  ///< "uniform", "per-queue", "adversarial".
std::optional<DelayKind> parse_delay_kind(std::string_view name);

struct Delay {
  Microseconds before{0};
  Microseconds inside{0};
  bool until_idle = false;  ///< Inside until nothing else can go on.
};

/// The delays of run `run`; each at most `longest`. The same arguments give the same delays, on
/// every machine.
Table<CommandId, Delay> draw_delays(const Plan& plan, const Calls& calls, DelayKind kind,
                                    std::uint64_t seed, std::uint64_t run, Microseconds longest);

/// A well-mixed number of `seed` and the two others.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t a, std::uint64_t b);

}  // namespace memverify::device
