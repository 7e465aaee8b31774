// Plans in a few lines, for the tests of cuda_check.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "cuda_check/lower.h"
#include "plan/reader.h"

namespace memverify::device_test {

/// A plan of 64-byte tensors `x`, `y` and `z`, each in a storage of its own, with the members and
/// ops given. Queues a and b are serial, i `issue`, n `none`, h `host`.
inline Plan plan_with(const std::string& ops, const std::string& members = "") {
  const std::string text = R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "a"},
    {"id": "b"}, {"id": "i", "order": "issue"}, {"id": "n", "order": "none"},
    {"id": "h", "order": "host"}, {"id": "d", "order": "none", "depth": 2}],
    "semaphores": [{"id": "s", "initial": 1}, {"id": "t", "kind": "timeline"}],
    "storages": [{"id": "sx", "pool": "hbm", "offset": 0, "bytes": 64},
                 {"id": "sy", "pool": "hbm", "offset": 64, "bytes": 64},
                 {"id": "sz", "pool": "hbm", "offset": [128, 192], "bytes": 64}],
    "tensors": [{"id": "x", "storage": "sx", "bytes": 64}, {"id": "y", "storage": "sy", "bytes": 64},
                {"id": "z", "storage": "sz", "bytes": 64}],
    )" + members + R"("ops": [)" +
                           ops + "]}";
  Result<Plan> plan = read_plan(text, "test");
  if (!plan.ok()) {
    for (const Diagnostic& error : plan.errors()) ADD_FAILURE() << to_string(error);
    std::abort();
  }
  return std::move(plan).value();
}

/// "0: wait 1", "main: set 2", "0: start w", …: the calls, by stream or by the thread itself.
inline std::vector<std::string> told(const Plan& plan, const device::Calls& calls) {
  std::vector<std::string> lines;
  for (const device::Call& call : calls.calls) {
    std::string line = call.stream == device::kNoStream
                           ? std::string(plan.threads[ThreadId{call.thread}])
                           : std::to_string(call.stream);
    const std::string name(plan.ops[calls.commands[call.command].op].name);
    switch (call.kind) {
      case device::CallKind::kRecordEvent:
        line += ": record " + std::to_string(call.event);
        break;
      case device::CallKind::kWaitEvent:
        line += ": wait " + std::to_string(call.event);
        break;
      case device::CallKind::kSetFlag:
        line += ": set " + std::to_string(call.flag);
        break;
      case device::CallKind::kWaitFlags:
        line += ": wait for " + std::to_string(call.least) + " of flags " +
                std::to_string(call.flag) + ".." + std::to_string(call.flag_end);
        break;
      case device::CallKind::kStart:
        line += ": start " + name;
        break;
      case device::CallKind::kWork:
        line += ": work " + name;
        break;
      case device::CallKind::kFinish:
        line += ": finish " + name;
        break;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace memverify::device_test
