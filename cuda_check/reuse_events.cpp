#include <cstddef>
#include <vector>

#include "cuda_check/lower.h"

namespace memverify::device {

void reuse_events(Calls& calls) {
  constexpr std::size_t kNever = ~std::size_t{0};
  std::vector<std::size_t> last_wait(calls.events, kNever);
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    if (calls.calls[i].kind == CallKind::kWaitEvent) last_wait[calls.calls[i].event] = i;
  }
  std::vector<std::vector<std::uint32_t>> free(calls.threads);
  std::vector<std::uint32_t> number(calls.events, 0);
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    Call& call = calls.calls[i];
    if (call.kind == CallKind::kRecordEvent) {
      std::vector<std::uint32_t>& own = free[call.thread];
      number[call.event] = own.empty() ? used++ : own.back();
      if (!own.empty()) own.pop_back();
      call.event = number[call.event];
    } else if (call.kind == CallKind::kWaitEvent) {
      const std::uint32_t before = call.event;
      call.event = number[before];
      if (last_wait[before] == i) free[call.thread].push_back(call.event);
    }
  }
  calls.events = used;
}

}  // namespace memverify::device
