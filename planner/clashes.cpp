#include "planner/clashes.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace memverify {
namespace {

bool ended(const LiveValues& live, const Order& order, const LiveValue& value, Cmd at) {
  return !value.to_end &&
         std::ranges::all_of(live.lasts(value), [&](Cmd last) { return order.before(last, at); });
}

/// What a chain knows.
struct Watch {
  std::vector<std::uint32_t> open;  ///< Ranks of values that have not ended.
  std::uint32_t seen = 0;           ///< Ranks below were looked at.
};

}  // namespace

bool ends_before(const LiveValues& live, const Order& order, const LiveValue& a,
                 const LiveValue& b) {
  return !b.from_start && std::ranges::all_of(live.firsts(b), [&](Cmd first) {
    return ended(live, order, a, first);
  });
}

void for_each_clash(const LiveValues& live, const Order& order, const Walk& walk,
                    const std::function<void(std::uint32_t, std::uint32_t)>& visit) {
  struct Event {
    std::uint32_t time = 0;
    std::uint32_t rank = 0;
    Cmd cmd = kNoCmd;
  };
  const auto count = static_cast<std::uint32_t>(live.values.size());
  std::vector<std::uint32_t> starts(count, 0);
  for (std::uint32_t v = 0; v < count; ++v) {
    for (const Cmd cmd : live.firsts(live.values[v])) {
      const std::uint32_t time = walk.started[cmd];
      starts[v] = starts[v] == 0 ? time : std::min(starts[v], time);
    }
  }
  std::vector<std::uint32_t> by_rank(count);
  std::iota(by_rank.begin(), by_rank.end(), 0U);
  std::ranges::stable_sort(by_rank, {}, [&](std::uint32_t v) { return starts[v]; });
  std::vector<Event> events;
  std::uint32_t initial = 0;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const LiveValue& value = live.values[by_rank[rank]];
    if (value.from_start) ++initial;
    for (const Cmd cmd : live.firsts(value)) events.push_back({walk.started[cmd], rank, cmd});
  }
  std::ranges::stable_sort(events, {}, &Event::time);
  for (std::uint32_t b = 0; b < initial; ++b) {
    for (std::uint32_t a = 0; a < b; ++a) visit(by_rank[a], by_rank[b]);
  }
  std::unordered_map<std::uint32_t, Watch> watches;
  std::uint32_t begun = initial;
  for (const Event& event : events) {
    begun = std::max(begun, event.rank + 1);
    Watch& watch = watches[order.chain(event.cmd)];
    for (; watch.seen < begun; ++watch.seen) watch.open.push_back(watch.seen);
    std::erase_if(watch.open, [&](std::uint32_t rank) {
      if (ended(live, order, live.values[by_rank[rank]], event.cmd)) return true;
      if (rank < event.rank) visit(by_rank[rank], by_rank[event.rank]);
      return false;
    });
  }
}

}  // namespace memverify
