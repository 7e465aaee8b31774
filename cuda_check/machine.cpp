#include "cuda_check/machine.h"

#include <algorithm>

namespace memverify::device {

Machine::Machine(const Calls& calls)
    : calls_(calls),
      of_thread_(calls.threads),
      at_(calls.threads + calls.streams.size(), 0),
      of_stream_(calls.streams.size()),
      last_record_(calls.events, kNoRecord),
      recorded_(calls.calls.size(), false),
      flags_(calls.flags, false),
      left_(calls.calls.size()) {
  for (std::uint32_t i = 0; i < calls.calls.size(); ++i) {
    of_thread_[calls.calls[i].thread].push_back(i);
  }
  for (const SemaphoreStart& semaphore : calls.semaphores) counts_.push_back(semaphore.value);
  phases_.resize(calls.commands.size(), Phase::kWaiting);
}

const Call* Machine::next(std::size_t agent) const {
  if (is_stream(agent)) {
    const std::vector<Submitted>& given = of_stream_[agent - calls_.threads];
    return at_[agent] < given.size() ? &calls_.calls[given[at_[agent]].call] : nullptr;
  }
  const std::vector<std::uint32_t>& own = of_thread_[agent];
  return at_[agent] < own.size() ? &calls_.calls[own[at_[agent]]] : nullptr;
}

bool Machine::submits(std::size_t agent) const {
  const Call* call = next(agent);
  return call != nullptr && !is_stream(agent) && call->stream != kNoStream;
}

bool Machine::is_ready(std::size_t agent) const {
  const Call* call = next(agent);
  if (call == nullptr) return false;
  if (submits(agent)) return true;
  std::uint32_t record = kNoRecord;
  if (is_stream(agent)) {
    record = of_stream_[agent - calls_.threads][at_[agent]].record;
  } else if (call->kind == CallKind::kWaitEvent) {
    record = last_record_[call->event];
  }
  return can(*call, record);
}

bool Machine::can(const Call& call, std::uint32_t record) const {
  switch (call.kind) {
    case CallKind::kWaitEvent:
      return record == kNoRecord || recorded_[record];
    case CallKind::kWaitFlags: {
      const auto set = std::count(flags_.begin() + call.flag, flags_.begin() + call.flag_end, true);
      return set >= static_cast<std::ptrdiff_t>(call.least);
    }
    case CallKind::kStart:
      return can_start(call.command);
    case CallKind::kRecordEvent:
    case CallKind::kSetFlag:
    case CallKind::kWork:
    case CallKind::kFinish:
      return true;
  }
  return true;
}

/// [S-23]: all its takes are possible in one instant.
bool Machine::can_start(CommandId command) const {
  const std::vector<Take>& takes = calls_.takes[command];
  for (std::size_t i = 0; i < takes.size(); ++i) {
    std::int64_t wanted = takes[i].value;
    for (std::size_t k = 0; k < i; ++k) {
      if (takes[k].consume && takes[k].semaphore == takes[i].semaphore) wanted += takes[k].value;
    }
    if (counts_[takes[i].semaphore] < wanted) return false;
  }
  return true;
}

void Machine::step(std::size_t agent) {
  if (is_stream(agent)) {
    const Submitted given = of_stream_[agent - calls_.threads][at_[agent]++];
    apply(calls_.calls[given.call], given.call);
    return;
  }
  const std::uint32_t index = of_thread_[agent][at_[agent]++];
  const Call& call = calls_.calls[index];
  if (call.stream == kNoStream) {
    apply(call, index);
    return;
  }
  std::uint32_t record = kNoRecord;
  if (call.kind == CallKind::kWaitEvent) record = last_record_[call.event];
  if (call.kind == CallKind::kRecordEvent) last_record_[call.event] = index;
  of_stream_[call.stream].push_back({index, record});
}

void Machine::apply(const Call& call, std::uint32_t index) {
  --left_;
  switch (call.kind) {
    case CallKind::kRecordEvent:
      recorded_[index] = true;
      return;
    case CallKind::kSetFlag:
      flags_[call.flag] = true;
      return;
    case CallKind::kStart:
      phases_[call.command] = Phase::kOpen;
      for (const Take& take : calls_.takes[call.command]) {
        if (take.consume) counts_[take.semaphore] -= take.value;
      }
      return;
    case CallKind::kFinish:
      phases_[call.command] = Phase::kDone;
      ++done_;
      for (const Give& give : calls_.gives[call.command]) {
        std::int64_t& count = counts_[give.semaphore];
        count = calls_.semaphores[give.semaphore].timeline ? std::max(count, give.value)
                                                           : count + give.value;
      }
      return;
    case CallKind::kWaitEvent:
    case CallKind::kWaitFlags:
    case CallKind::kWork:
      return;
  }
}

bool can_start_without(const Calls& calls, CommandId b, CommandId a) {
  Machine machine(calls);
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t agent = 0; agent < machine.agents(); ++agent) {
      while (machine.is_ready(agent)) {
        const Call& call = *machine.next(agent);
        if (!machine.submits(agent) && call.kind == CallKind::kFinish && call.command == a) break;
        machine.step(agent);
        moved = true;
        if (machine.phase(b) != Phase::kWaiting) return true;
      }
    }
  }
  return false;
}

bool are_unordered(const Calls& calls, CommandId a, CommandId b) {
  return can_start_without(calls, b, a) && can_start_without(calls, a, b);
}

}  // namespace memverify::device
