#include "cuda_check/delays.h"

#include <algorithm>
#include <vector>

namespace memverify::device {
namespace {

/// In [0, 1).
double fraction(std::uint64_t mixed) { return static_cast<double>(mixed >> 11) * 0x1p-53; }

std::vector<CommandId> working(const Calls& calls) {
  std::vector<CommandId> all;
  for (const Call& call : calls.calls) {
    if (call.kind == CallKind::kWork) all.push_back(call.command);
  }
  return all;
}

}  // namespace

std::string_view name(DelayKind kind) {
  switch (kind) {
    case DelayKind::kUniform:
      return "uniform";
    case DelayKind::kPerQueue:
      return "per-queue";
    case DelayKind::kAdversarial:
      return "adversarial";
  }
  return "";
}

std::optional<DelayKind> parse_delay_kind(std::string_view text) {
  for (const DelayKind kind :
       {DelayKind::kUniform, DelayKind::kPerQueue, DelayKind::kAdversarial}) {
    if (name(kind) == text) return kind;
  }
  return std::nullopt;
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = seed * 0x9E3779B97F4A7C15U + a;
  for (const std::uint64_t next : {b, std::uint64_t{0}}) {
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9U;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBU;
    h = (h ^ (h >> 31)) + next * 0x9E3779B97F4A7C15U;
  }
  return h;
}

Table<CommandId, Delay> draw_delays(const Plan& plan, const Calls& calls, DelayKind kind,
                                    std::uint64_t seed, std::uint64_t run, Microseconds longest) {
  Table<CommandId, Delay> delays;
  delays.resize(calls.commands.size());
  if (kind == DelayKind::kAdversarial) {
    std::vector<CommandId> order = working(calls);
    std::ranges::sort(order, {}, [&](CommandId c) { return mixed(seed, 3, index(c)); });
    if (!order.empty()) delays[order[run % order.size()]].until_idle = true;
    return delays;
  }
  for (const CommandId c : ids(calls.commands)) {
    const QueueId queue = plan.ops[calls.commands[c].op].queue;
    const bool own = kind == DelayKind::kUniform || queue == kNone<QueueId>;
    const std::uint64_t who =
        own ? std::uint64_t{index(c)} : (std::uint64_t{1} << 32) + index(queue);
    delays[c].before = longest * fraction(mixed(seed, 2 * run, who));
    delays[c].inside = longest * fraction(mixed(seed, 2 * run + 1, who));
  }
  return delays;
}

}  // namespace memverify::device
