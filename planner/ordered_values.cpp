#include "planner/ordered_values.h"

#include <algorithm>

#include "planner/clashes.h"

namespace memverify {
namespace {

constexpr std::size_t kMostPairs = 50'000'000;  ///< Beyond, all that begin may follow something.

bool begins_late(const LiveValues& live, const LiveValue& value) {
  return !value.from_start && !live.firsts(value).empty();
}

std::vector<std::uint8_t> values_that_end(const LiveValues& live, const Order& order,
                                          std::span<const std::uint32_t> among) {
  std::vector<Cmd> firsts;
  for (const std::uint32_t v : among) {
    if (!begins_late(live, live.values[v])) continue;
    const auto own = live.firsts(live.values[v]);
    firsts.insert(firsts.end(), own.begin(), own.end());
  }
  const std::vector<std::uint32_t> completed = order.most_completed(firsts);
  std::vector<std::uint8_t> ends;
  for (const std::uint32_t v : among) {
    const bool is_before_some = std::ranges::all_of(live.lasts(live.values[v]), [&](Cmd last) {
      return order.position(last) < completed[order.chain(last)];
    });
    ends.push_back(!live.values[v].to_end && is_before_some ? 1 : 0);
  }
  return ends;
}

}  // namespace

OrderedValues ordered_values(const LiveValues& live, const Order& order,
                             std::span<const std::uint32_t> among) {
  OrderedValues result{.ends = values_that_end(live, order, among)};
  std::vector<std::uint32_t> ending;
  for (std::size_t k = 0; k < among.size(); ++k) {
    if (result.ends[k] != 0) ending.push_back(among[k]);
  }
  const bool ask = ending.size() * among.size() <= kMostPairs;
  for (const std::uint32_t v : among) {
    const LiveValue& value = live.values[v];
    const bool follows =
        begins_late(live, value) && (!ask || std::ranges::any_of(ending, [&](std::uint32_t other) {
          return ends_before(live, order, live.values[other], value);
        }));
    result.follows.push_back(follows ? 1 : 0);
  }
  return result;
}

}  // namespace memverify
