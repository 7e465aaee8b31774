#include "sim/tiles.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace memverify::sim {
namespace {

constexpr std::uint64_t kTilesPerPart = 8;

/// Raises `state` to the least cut that it is contained in: what its steps need has happened.
void close_below(const Model& model, State& state) {
  std::vector<std::pair<ChainId, Digit>> open;  // The steps of a chain up to a digit.
  for (ChainId chain = 0; chain < model.chains(); ++chain) open.emplace_back(chain, state[chain]);
  State closed(model.chains(), 0);
  while (!open.empty()) {
    const auto [chain, digit] = open.back();
    open.pop_back();
    for (; closed[chain] < digit; ++closed[chain]) {
      for (const Threshold& need : model.thresholds_of(model.first_step[chain] + closed[chain])) {
        open.emplace_back(need.chain, need.digit);
      }
    }
  }
  state = std::move(closed);
}

/// True iff some run leads to `goal`; it may wait for itself.
bool is_reached(const Model& model, const State& goal) {
  State state(model.chains(), 0);
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (ChainId chain = 0; chain < model.chains(); ++chain) {
      while (state[chain] < goal[chain] &&
             is_enabled(model, state, model.first_step[chain] + state[chain])) {
        ++state[chain];
        goes_on = true;
      }
    }
  }
  return state == goal;
}

}  // namespace

std::optional<std::vector<Tile>> tiles_of(const Model& model, const SimShard& shard) {
  if (!model.quorums_of_steps.empty() || !model.counts.empty()) return std::nullopt;
  std::vector<ChainId> chains(model.chains());
  std::iota(chains.begin(), chains.end(), 0U);
  std::ranges::stable_sort(chains, std::greater(), [&](ChainId c) { return model.last[c]; });
  std::uint64_t tiles = 1;
  std::size_t fixed = 0;  // Chains of which a tile has one digit.
  for (; fixed < chains.size() && tiles < kTilesPerPart * shard.of; ++fixed) {
    tiles *= model.last[chains[fixed]] + std::uint64_t{1};
  }
  std::vector<Tile> mine;
  for (std::uint64_t number = shard.number - 1; number < tiles; number += shard.of) {
    Tile tile = {.begin = State(model.chains(), 0), .end = model.last};
    std::uint64_t rest = number;
    for (std::size_t k = 0; k < fixed; ++k) {
      const std::uint64_t digits = model.last[chains[k]] + std::uint64_t{1};
      tile.begin[chains[k]] = tile.end[chains[k]] = static_cast<Digit>(rest % digits);
      rest /= digits;
    }
    close_below(model, tile.begin);
    const bool is_inside = std::ranges::equal(tile.begin, tile.end, std::less_equal());
    if (is_inside && is_reached(model, tile.begin)) mine.push_back(std::move(tile));
  }
  return mine;
}

}  // namespace memverify::sim
