#include "verify/order.h"

#include <algorithm>
#include <cassert>

#include "verify/clock_builder.h"

namespace memverify {

std::uint32_t Clocks::add_chunk(const std::uint32_t* first) {
  counts.insert(counts.end(), first, first + kChunk);
  return static_cast<std::uint32_t>(counts.size() / kChunk - 1);
}

void Clocks::add_row(const std::uint32_t* first) {
  for (std::size_t k = 0; k < chunks; ++k) chunk_of.push_back(add_chunk(first + k * kChunk));
  rows.push_back({pieces.size(), pieces.size()});
}

std::uint32_t Clocks::length(std::uint32_t row, std::uint32_t chain) const {
  const std::span<const Piece> all = pieces_of(row);
  const auto at = std::ranges::lower_bound(all, chain / kChunk, {}, &Piece::place);
  return at != all.end() && at->place == chain / kChunk ? chunk(at->chunk)[chain % kChunk] : 0;
}

Chains::Chains(std::size_t queues)
    : queues_(queues),
      lengths_((queues + Clocks::kChunk - 1) / Clocks::kChunk * Clocks::kChunk, kNoLength) {}

std::uint32_t Chains::open(QueueId queue) {
  const auto chain = static_cast<std::uint32_t>(count());
  chains_.push_back({queue, {}});
  if (chain == lengths_.size()) lengths_.resize(chain + Clocks::kChunk, kNoLength);
  lengths_[chain] = 0;
  return chain;
}

void Chains::append(std::uint32_t chain, std::uint32_t op_end) {
  auto& ends = chains_[chain - queues_].op_end;
  assert(ends.empty() || ends.back() <= op_end);
  ends.push_back(op_end);
  ++lengths_[chain];
}

std::uint32_t Chains::covered(std::uint32_t chain, std::uint32_t ops) const {
  const auto& ends = chains_[chain - queues_].op_end;
  return static_cast<std::uint32_t>(std::ranges::upper_bound(ends, ops) - ends.begin());
}

Order::Order(const Program& program, const Walk& walk)
    : program_(&program), chains_(program.plan->queues.size()) {
  ClockBuilder(*this, walk).build();
}

Order::Order(const Order& chains, Clocks clocks)
    : program_(chains.program_),
      clocks_(std::move(clocks)),
      chains_(chains.chains_),
      chain_(chains.chain_),
      position_(chains.position_) {}

std::uint32_t Order::completed(Cmd cmd, std::uint32_t chain) const {
  return completed(cmd, chain, clocks_.start_row[cmd]);
}

std::vector<std::uint32_t> Order::most_completed(std::span<const Cmd> cmds) const {
  std::vector<std::uint32_t> joined(program_->plan->queues.size(), 0);
  std::vector<std::uint32_t> most(chains_.count(), 0);
  for (const Cmd cmd : cmds) {
    const std::uint32_t row = clocks_.start_row[cmd];
    for (std::size_t queue = 0; queue < joined.size(); ++queue) {
      joined[queue] = std::max(joined[queue], clocks_.at(row, queue));
    }
    if (chains_.is_queue(chain_[cmd]))
      most[chain_[cmd]] = std::max(most[chain_[cmd]], position_[cmd]);
    clocks_.for_each_length(row, [&](std::uint32_t chain, std::uint32_t length) {
      most[chain] = std::max(most[chain], length);
    });
  }
  for (std::uint32_t chain = 0; chain < most.size(); ++chain) {
    const std::uint32_t by_queue =
        chains_.is_queue(chain) ? joined[chain]
                                : chains_.covered(chain, joined[index(chains_.queue(chain))]);
    most[chain] = std::max(most[chain], by_queue);
  }
  return most;
}

bool Order::before_on_chain(Cmd a, Cmd b) const {
  const std::uint32_t chain = chain_[a];
  const std::uint32_t row = clocks_.start_row[b];
  return clocks_.length(row, chain) > position_[a] ||
         chains_.covers(chain, clocks_.at(row, index(chains_.queue(chain))), position_[a] + 1);
}

std::uint32_t Order::completed(Cmd cmd, std::uint32_t chain, std::uint32_t row) const {
  if (chains_.is_queue(chain)) {
    const std::uint32_t joined = clocks_.at(row, chain);
    return chain_[cmd] == chain ? std::max(joined, position_[cmd]) : joined;
  }
  const std::uint32_t joined = clocks_.at(row, index(chains_.queue(chain)));
  return std::max(clocks_.length(row, chain), chains_.covered(chain, joined));
}

}  // namespace memverify
