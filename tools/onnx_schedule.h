// tools/onnx_schedule.h -- which op of an ONNX program runs where, when and after what.
//
// Problem: ONNX gives an order that works, not queues. For several queues an assignment is needed,
//   and the waits that it implies.
// Idea: list scheduling. Of the ops whose operands are there, the one with the longest way to the
//   end goes first, on the queue where it starts earliest. An op's operands are there when all have
//   run that write bytes of them, through whatever views and parts of results. Loads of constants
//   (`--dma`) go on queues of their own, in the order of their first uses, and at most two ops
//   ahead of them. A wait is left out where another one, or the order of a queue, says it already.
// Cost: O(ops * (queues + log ops) + accesses * (views above + parts and writes of a tensor)); one
//   queue is used where that would be more than 20 million looks.
// Tested by tests/unit/tools/import_onnx_test.cpp and import_onnx_order_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/onnx_program.h"

namespace memverify {

struct OnnxStep {
  std::size_t op = 0;     ///< Of the program.
  std::size_t queue = 0;  ///< Queues for loads come after the others. Not for views.
  std::int64_t ticks = 1;
  std::vector<std::size_t> waits;  ///< Steps, on other queues, that must have completed.
  bool signals = false;            ///< Some step waits for it.
};

/// A tick is the time to move 1 KiB, or for 16,384 floating-point operations; an op takes the
/// longer of both, and at least one. `number` is what an extent counts for.
std::int64_t onnx_ticks(const OnnxProgram& program, const OnnxOp& op,
                        const std::function<std::int64_t(const OnnxExtent&)>& number);

/// The program's ops in the order of their submission. With `dma` queues, an op that loads it is
/// added to the program for each constant that an op reads: from another constant, with "@host" in
/// its id.
std::vector<OnnxStep> schedule_onnx(OnnxProgram& program, std::size_t queues, std::size_t dma,
                                    const std::function<std::int64_t(const OnnxExtent&)>& number);

}  // namespace memverify
