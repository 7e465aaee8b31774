// tools/ethos_u_stream.h -- the command stream of an Arm Ethos-U55 or U65, as far as memory goes.
//
// A stream sets registers and starts DMA transfers and kernels, which run beside it; waits hold it
// until at most so many of them are left. What a start touches follows from the registers then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "plan/result.h"

namespace memverify {

/// The NPU's own memory, in which tables for activations lie; beside regions 0 to 7.
inline constexpr int kNpuInternal = 8;

/// Bytes of a region: one for each combination of indices, `strides` bytes apart.
struct NpuBytes {
  std::string_view what;  ///< "ifm", "weights"; for people.
  int region = 0;
  std::int64_t offset = 0;  ///< From the start of the region.
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< The last is 1.
};

struct NpuCommand {
  enum class Kind { kDma, kKernel, kDmaWait, kKernelWait, kStop };
  Kind kind = Kind::kStop;
  std::string_view label;  ///< "conv", "dma".
  std::size_t word = 0;    ///< Its place in the stream, in words of 4 bytes.
  std::int64_t count = 0;  ///< Of a wait: this many may be left.
  bool in_place = false;   ///< A kernel that may write an element where it read it.
  std::vector<NpuBytes> reads;
  std::vector<NpuBytes> writes;
};

/// Which NPU a stream is for.
struct NpuTarget {
  int product = 0;  ///< 0: Ethos-U55, 1: Ethos-U65.
  std::int64_t internal_bytes = 0;
  /// DMA transfers in flight at most: the next one blocks.
  std::int64_t dma_depth() const { return product == 0 ? 1 : 2; }
};

/// Reads the driver's actions in `bytes`, which start with "COP1", and the command streams among
/// them; calls `visit` for each command that starts something or waits, in order. Returns what the
/// stream is for. Errors: "import.format", "import.damaged", "import.unknown" (a command that is
/// not known), "import.unsupported" (another NPU). Cost: linear in `bytes`, and little memory.
Result<NpuTarget> read_ethos_u(std::string_view bytes,
                               const std::function<void(const NpuCommand&)>& visit);

}  // namespace memverify
