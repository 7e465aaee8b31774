// sim/lanes.h -- the digits of a state side by side in machine words.
//
// Each digit has a lane of 8 or 16 bits whose top bit is always 0. "Every digit is at least its
// threshold" is then one subtraction a word: with the top bits set, no lane borrows from its
// neighbour, and a top bit survives iff its digit is large enough.
// Example with two lanes: 0x05'03 | 0x80'80 - 0x04'04 = 0x81'7F: the first holds, the second does
// not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/model.h"

namespace memverify::sim {

template <unsigned Bits>
struct Lanes {
  static_assert(Bits == 8 || Bits == 16);
  static constexpr unsigned kPerWord = 64 / Bits;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << Bits) - 1;
  static constexpr std::uint64_t kOnes = ~std::uint64_t{0} / kMask;  ///< 1 in every lane.
  static constexpr std::uint64_t kTops = kOnes << (Bits - 1);
  static constexpr Digit kMaxDigit = static_cast<Digit>(kMask / 2);

  static constexpr std::size_t words(std::size_t chains) {
    return (chains + kPerWord - 1) / kPerWord;
  }
  static std::uint64_t one(ChainId chain) {
    return std::uint64_t{1} << (Bits * (chain % kPerWord));
  }
  static Digit get(const std::uint64_t* key, ChainId chain) {
    return static_cast<Digit>((key[chain / kPerWord] >> (Bits * (chain % kPerWord))) & kMask);
  }
  static bool covers(std::uint64_t key, std::uint64_t thresholds) {
    return (((key | kTops) - thresholds) & kTops) == kTops;
  }
  static void unpack(const std::uint64_t* key, std::vector<Digit>& state) {
    for (ChainId chain = 0; chain < state.size(); ++chain) state[chain] = get(key, chain);
  }
};

/// The needs of every step, packed.
template <unsigned Bits>
struct PackedNeeds {
  std::size_t words = 0;
  std::vector<std::uint64_t> thresholds;  ///< `words` for each step.
  std::vector<std::uint8_t> has_more;     ///< By step: quorums or counts besides.
  bool any_more = false;

  explicit PackedNeeds(const Model& model) : words(Lanes<Bits>::words(model.chains())) {
    thresholds.resize(model.steps() * words, 0);
    has_more.resize(model.steps(), 0);
    for (StepId step = 0; step < model.steps(); ++step) {
      for (const Threshold& threshold : model.thresholds_of(step)) {
        thresholds[step * words + threshold.chain / Lanes<Bits>::kPerWord] +=
            threshold.digit * Lanes<Bits>::one(threshold.chain);
      }
      if (!model.quorums_of(step).empty() || !model.counts_of(step).empty()) {
        has_more[step] = 1;
        any_more = true;
      }
    }
  }
};

}  // namespace memverify::sim
