#include "cuda_check/calls.h"

#include "plan/words.h"

namespace memverify::device {

std::string command_name(const Plan& plan, const Calls& calls, CommandId command) {
  return op_name(plan, calls.commands[command].op, calls.commands[command].iteration);
}

std::string waits_for(const Plan& plan, const Calls& calls, const Call& call) {
  const std::string self = command_name(plan, calls, call.command);
  switch (call.kind) {
    case CallKind::kWaitEvent:
    case CallKind::kWaitFlags:
      if (call.awaited == kNone<CommandId>) {
        return self + " waits for " + std::to_string(call.least) + " of the first " +
               std::to_string(call.flag_end - call.flag) + " ops of queue " +
               quoted(plan.queues[call.queue].name) + " to complete";
      }
      if (call.awaited == call.command) {
        return "thread " + quoted(plan.threads[ThreadId{call.thread}]) + " waits for " + self +
               " to complete";
      }
      return self + " waits for " + command_name(plan, calls, call.awaited) +
             (call.awaits_start ? " to start" : " to complete");
    case CallKind::kStart: {
      std::vector<std::string> wanted;
      for (const Take& take : calls.takes[call.command]) {
        wanted.push_back(quoted(plan.semaphores[take.semaphore].name) + " to reach " +
                         std::to_string(take.value));
      }
      return wanted.empty() ? "" : self + " waits for semaphore " + listed(wanted);
    }
    case CallKind::kRecordEvent:
    case CallKind::kSetFlag:
    case CallKind::kWork:
    case CallKind::kFinish:
      return "";
  }
  return "";
}

}  // namespace memverify::device
