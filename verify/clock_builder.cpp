#include "verify/clock_builder.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace memverify {
namespace {

/// Commands of issue and none queues whose completion somebody may ask for.
bool has_completion_to_track(OpKind kind) {
  return kind == OpKind::kOp || kind == OpKind::kUnknown || kind == OpKind::kAlloc ||
         kind == OpKind::kFree;
}

// Of a fixed number of counts that cannot be the same ones, so that compilers use vectors.
void raise_chunk(std::uint32_t* __restrict counts, const std::uint32_t* __restrict others) {
  for (std::size_t q = 0; q < Clocks::kChunk; ++q) counts[q] = std::max(counts[q], others[q]);
}

bool same_chunk(const std::uint32_t* counts, const std::uint32_t* others) {
  std::uint32_t differ = 0;
  for (std::size_t q = 0; q < Clocks::kChunk; ++q) differ |= counts[q] ^ others[q];
  return differ == 0;
}

/// Whether two counts at the same place are the same.
bool some_same(const std::uint32_t* counts, const std::uint32_t* others) {
  bool same = false;
  for (std::size_t q = 0; q < Clocks::kChunk; ++q) same |= counts[q] == others[q];
  return same;
}

/// Of order statistics, some seconds of them.
constexpr std::uint64_t kMaxWork = std::uint64_t{1} << 26;
constexpr std::uint32_t kNoChunk = 0xFFFFFFFFU;
constexpr std::size_t kPieces = 64, kPiecesMade = 16;  ///< Room for a row's, and those not shared.
constexpr std::size_t kMostReserved = std::size_t{1} << 26;  ///< Entries of clocks.

}  // namespace

ClockBuilder::ClockBuilder(Order& order, const Walk& walk)
    : order_(order),
      program_(*order.program_),
      plan_(*program_.plan),
      walk_(walk),
      width_(plan_.queues.size()) {
  for (QueueId id : ids(plan_.queues)) {
    if (!completes_in_order(plan_.queues[id].order)) unordered_.push_back(index(id));
  }
}

void ClockBuilder::build() {
  const std::size_t n = program_.instances.size();
  order_.chain_.assign(n, kNoChain);
  order_.position_.assign(n, 0);
  if (!program_.thresholds.empty()) pass_of_.assign(n, 0);
  idle_.resize(width_);
  begin_pass();
  for (Cmd cmd : walk_.order) place(cmd, Use::kNone);
  if (!program_.thresholds.empty()) {
    group_signals();
    begin_pass();
    for (Cmd cmd : walk_.order) place(cmd, Use::kPast);
    do {
      begin_pass();
      for (Cmd cmd : walk_.order) place(cmd, Use::kAll);
    } while (work_ < kMaxWork && !same_clocks());
    order_.known_ = work_ < kMaxWork;
  }
  order_.clocks_ = std::move(now_);
}

void ClockBuilder::begin_pass() {
  const std::size_t n = program_.instances.size();
  old_ = std::move(now_);
  now_ = Clocks(width_);
  now_.start_row.assign(n, 0);
  now_.complete_row.assign(n, 0);
  // Address space only: growing a vector of this size touches twice its pages.
  const std::size_t joins = std::min(program_.needs.size() + program_.prefixes.size(), 2 * n) + 1;
  now_.rows.reserve(joins);
  now_.chunk_of.reserve(std::min(joins * now_.chunks, kMostReserved));
  const std::size_t made = now_.chunks + (unordered_.empty() ? 0 : kPiecesMade);
  now_.counts.reserve(std::min(joins * made * Clocks::kChunk, kMostReserved));
  if (!unordered_.empty()) now_.pieces.reserve(std::min(joins * kPieces, kMostReserved));
  dense_.assign(now_.chunks * Clocks::kChunk, 0);
  now_.add_row(dense_.data());  // Row 0: nothing has completed.
  first_own_ = static_cast<std::uint32_t>(now_.chunks);
  joined_.assign(width_, std::vector<JoinedPrefix>(2));
  ++pass_;
}

void ClockBuilder::place(Cmd cmd, Use use) {
  if (work_ >= kMaxWork) return;  // All is lost.
  const Instance& instance = program_.instances[cmd];
  const bool in_order =
      instance.queue != kNone<QueueId> && completes_in_order(plan_.queues[instance.queue].order);
  place_start(cmd, instance, in_order, use);
  now_.complete_row[cmd] = now_.start_row[cmd];
  if (!pass_of_.empty()) pass_of_[cmd] = pass_;
  if (in_order) {
    order_.chain_[cmd] = index(instance.queue);
    order_.position_[cmd] = instance.queue_index;
    return;
  }
  if (use == Use::kNone) choose_chain(cmd, instance);
  place_completion(cmd, instance);
}

void ClockBuilder::place_start(Cmd cmd, const Instance& instance, bool in_order, Use use) {
  Cmd before = kNoCmd;
  if (instance.queue_index > 0 && (in_order || starts_in_order(instance))) {
    before = program_.queue_commands[index(instance.queue)][instance.queue_index - 1];
  }
  const auto& inherited = in_order ? now_.complete_row : now_.start_row;
  begin(before == kNoCmd ? 0 : inherited[before], in_order ? index(instance.queue) : width_,
        instance.queue_index);
  if (!in_order && instance.fence_before != kNoCmd) join_command(instance.fence_before);
  if (instance.thread_before != kNoCmd) join_command(instance.thread_before);
  const std::span<const Cmd> needs = program_.needs_of(instance);
  for (std::size_t k = needs.size(); k-- > 0;) join_command(needs[k]);
  if (instance.counts != 0) join_counts(instance, use);
  now_.start_row[cmd] = finish();
}

/// Issue queues; commands of serial ones complete in order, too.
bool ClockBuilder::starts_in_order(const Instance& instance) const {
  return instance.queue != kNone<QueueId> &&
         plan_.queues[instance.queue].order != QueueOrder::kNone;
}

void ClockBuilder::join_counts(const Instance& instance, Use use) {
  for (const Prefix& prefix : program_.prefixes_of(instance)) {
    if (!prefix.gates_completion) join_prefix(prefix);
  }
  if (use == Use::kNone) return;
  for (const Threshold& threshold : program_.thresholds_of(instance)) {
    join_threshold(threshold, use);
  }
}

/// Of a command that does not complete in the order of its queue.
void ClockBuilder::place_completion(Cmd cmd, const Instance& instance) {
  const Op& op = plan_.ops[instance.op];
  if (op.kind == OpKind::kBarrier) {
    begin(now_.start_row[cmd], width_, 0);
    for (QueueId queue : plan_.queues_of(op)) {
      if (!completes_in_order(plan_.queues[queue].order)) continue;
      const auto& commands = program_.queue_commands[index(queue)];
      const auto at = std::ranges::lower_bound(commands, cmd) - commands.begin();
      thaw();
      dense_[index(queue)] = std::max(dense_[index(queue)], static_cast<std::uint32_t>(at) + 1);
    }
    now_.complete_row[cmd] = finish();
  } else if (op.kind == OpKind::kRecord && !instance.gate) {
    begin(now_.start_row[cmd], width_, 0);
    for (const Prefix& prefix : program_.prefixes_of(instance)) {
      if (prefix.gates_completion) join_prefix(prefix);
    }
    now_.complete_row[cmd] = finish();
  }
}

void ClockBuilder::choose_chain(Cmd cmd, const Instance& instance) {
  if (instance.queue == kNone<QueueId>) return;
  const OpKind kind = plan_.ops[instance.op].kind;
  if (!has_completion_to_track(kind)) return;
  Chains& chains = order_.chains_;
  const std::uint32_t op_end = is_counted(kind) ? instance.op_index + 1 : Chains::kNeverJoined;
  const bool is_op = is_counted(kind);
  std::uint32_t chain = kNoChain;

  const std::uint32_t row = now_.start_row[cmd];
  const auto goes_on = [&](std::uint32_t other) {
    return chains.queue(other) == instance.queue &&
           (chains.op_end(other) != Chains::kNeverJoined) == is_op &&
           chains.op_end(other) <= op_end;  // Else `after` a later op.
  };
  for (const Clocks::Piece& piece : now_.pieces_of(row)) {
    const std::uint32_t first = piece.place * static_cast<std::uint32_t>(Clocks::kChunk);
    const std::uint32_t* completed = now_.chunk(piece.chunk);
    const std::uint32_t* lengths = chains.lengths(piece.place);
    if (!some_same(completed, lengths)) continue;
    for (std::uint32_t k = 0; k < Clocks::kChunk && chain == kNoChain; ++k) {
      if (completed[k] == lengths[k] && goes_on(first + k)) chain = first + k;
    }
    if (chain != kNoChain) break;
  }
  auto& idle = idle_[index(instance.queue)];
  while (is_op && chain == kNoChain && !idle.empty()) {
    const auto [end, other] = idle.top();
    if (end > now_.at(row, index(instance.queue))) break;
    idle.pop();
    if (end == chains.op_end(other)) chain = other;  // Else it grew since: an entry of its own.
  }
  if (chain == kNoChain) chain = chains.open(instance.queue);
  order_.chain_[cmd] = chain;
  order_.position_[cmd] = chains.length(chain);
  chains.append(chain, op_end);
  if (is_op) idle.emplace(chains.op_end(chain), chain);
}

void ClockBuilder::begin(std::uint32_t base, std::size_t own_queue, std::uint32_t own_count) {
  base_ = base;
  frozen_ = true;
  own_queue_ = own_queue;
  own_count_ = own_count;
}

std::uint32_t ClockBuilder::dense_at(std::size_t queue) const {
  const std::uint32_t count = frozen_ ? now_.at(base_, queue) : dense_[queue];
  return queue == own_queue_ ? std::max(count, own_count_) : count;
}

/// True if the clock is known to include the completion, and with it all that came before that.
bool ClockBuilder::holds(const Stamp& stamp) const {
  if (frozen_ && stamp.clocks == &now_ && stamp.row == base_ && stamp.chain == kNoChain)
    return true;
  if (stamp.chain == kNoChain || pass_ > 1) return false;
  if (order_.chains_.is_queue(stamp.chain)) return dense_at(stamp.chain) >= stamp.length;
  const std::size_t queue = index(order_.chains_.queue(stamp.chain));
  if (order_.chains_.covers(stamp.chain, dense_at(queue), stamp.length)) return true;
  if (frozen_) return now_.length(base_, stamp.chain) >= stamp.length;
  const std::uint32_t place = stamp.chain / Clocks::kChunk;
  const auto at = std::ranges::lower_bound(pieces_, place, {}, &Clocks::Piece::place);
  return at != pieces_.end() && at->place == place &&
         now_.chunk(at->chunk)[stamp.chain % Clocks::kChunk] >= stamp.length;
}

void ClockBuilder::thaw() {
  if (!frozen_) return;
  frozen_ = false;
  for (std::size_t k = 0; k < now_.chunks; ++k) {
    std::copy_n(now_.chunk(base_, k), Clocks::kChunk, &dense_[k * Clocks::kChunk]);
  }
  joined_row_ = base_;
  const std::span<const Clocks::Piece> pieces = now_.pieces_of(base_);
  pieces_.assign(pieces.begin(), pieces.end());
}

void ClockBuilder::raise(std::uint32_t chain, std::uint32_t length) {
  if (length == 0) return;
  if (order_.chains_.is_queue(chain)) {
    dense_[chain] = std::max(dense_[chain], length);
    return;
  }
  const std::uint32_t place = chain / Clocks::kChunk;
  auto at = std::ranges::lower_bound(pieces_, place, {}, &Clocks::Piece::place);
  std::array<std::uint32_t, Clocks::kChunk> counts{};
  const bool is_new = at == pieces_.end() || at->place != place;
  if (is_new) at = pieces_.insert(at, {place, 0});
  if (!is_new) std::copy_n(now_.chunk(at->chunk), Clocks::kChunk, counts.begin());
  if (counts[chain % Clocks::kChunk] >= length) return;
  counts[chain % Clocks::kChunk] = length;
  at->chunk = own_chunk(at->chunk, counts.data());
}

/// The counts as a chunk of the clock's own: `chunk`, if that is one.
std::uint32_t ClockBuilder::own_chunk(std::uint32_t chunk, const std::uint32_t* counts) {
  if (chunk < first_own_) return now_.add_chunk(counts);
  std::copy_n(counts, Clocks::kChunk, &now_.counts[chunk * Clocks::kChunk]);
  return chunk;
}

void ClockBuilder::join(const Stamp& stamp) {
  if (!holds(stamp)) merge(stamp);
}

void ClockBuilder::merge(const Stamp& stamp) {
  thaw();
  const Clocks& from = *stamp.clocks;
  const std::uint32_t* its = from.chunk_of.data() + stamp.row * from.chunks;
  const std::uint32_t* base = now_.chunk_of.data() + base_ * now_.chunks;
  for (std::size_t k = 0; k < from.chunks; ++k) {
    if (its[k] == base[k] && &from == &now_) continue;
    raise_chunk(&dense_[k * Clocks::kChunk], &from.counts[its[k] * Clocks::kChunk]);
  }
  if (&from == &now_ && joined_row_ == base_) joined_row_ = stamp.row;
  merge_pieces(from, from.pieces_of(stamp.row));
  if (stamp.chain != kNoChain) raise(stamp.chain, stamp.length);
}

void ClockBuilder::merge_pieces(const Clocks& from, std::span<const Clocks::Piece> others) {
  added_.clear();
  auto at = pieces_.begin();
  for (const Clocks::Piece& other : others) {
    const std::uint32_t number = &from == &now_ ? other.chunk : kNoChunk;
    while (at != pieces_.end() && at->place < other.place) ++at;
    if (at == pieces_.end() || at->place != other.place) {
      added_.push_back(
          {other.place, number == kNoChunk ? now_.add_chunk(from.chunk(other.chunk)) : number});
    } else if (at->chunk != number) {
      at->chunk = joined_chunk(at->chunk, from.chunk(other.chunk), number);
    }
  }
  const auto known = static_cast<std::ptrdiff_t>(pieces_.size());
  pieces_.insert(pieces_.end(), added_.begin(), added_.end());
  if (known == 0 || added_.empty()) return;
  std::ranges::inplace_merge(pieces_, pieces_.begin() + known, {}, &Clocks::Piece::place);
}

/// A chunk with the greater ones of the counts: one of the two, if that has them all. `number` is
/// the others' in `now_`, kNoChunk if they are not there.
std::uint32_t ClockBuilder::joined_chunk(std::uint32_t chunk, const std::uint32_t* others,
                                         std::uint32_t number) {
  std::array<std::uint32_t, Clocks::kChunk> counts;
  std::copy_n(now_.chunk(chunk), Clocks::kChunk, counts.begin());
  raise_chunk(counts.data(), others);
  if (same_chunk(counts.data(), now_.chunk(chunk))) return chunk;
  if (number != kNoChunk && same_chunk(counts.data(), others)) return number;
  return own_chunk(chunk, counts.data());
}

ClockBuilder::Stamp ClockBuilder::stamp_of(Cmd cmd) const {
  const Clocks& clocks = pass_of_.empty() || pass_of_[cmd] == pass_ ? now_ : old_;
  const std::uint32_t chain = order_.chain_[cmd];
  return {clocks.complete_row[cmd], chain, chain == kNoChain ? 0 : order_.position_[cmd] + 1,
          &clocks};
}

// Flat: most needs are met already, which is seen at once (1/10 of the instructions of clocks).
[[gnu::flatten]] void ClockBuilder::join_command(Cmd cmd) { join(stamp_of(cmd)); }

void ClockBuilder::join_prefix(const Prefix& prefix) {
  JoinedPrefix& joined = joined_[index(prefix.queue)][prefix.ops_only ? 1 : 0];
  const auto& members = program_.members_of(prefix);
  if (joined.count > prefix.count) joined = {};
  if (joined.count < prefix.count) {
    // Made on the side: the clock under construction is put away meanwhile.
    const std::uint32_t base = base_;
    const bool frozen = frozen_;
    const std::size_t own_queue = own_queue_;
    const std::uint32_t own_count = own_count_;
    const auto dense = dense_;
    const auto pieces = pieces_;
    begin(joined.row, width_, 0);
    thaw();
    std::uint32_t ops = dense_[index(prefix.queue)];
    Stamp last;
    for (std::uint32_t k = joined.count; k < prefix.count; ++k) {
      const Instance& member = program_.instances[members[k]];
      Stamp stamp = stamp_of(members[k]);
      if (member.queue == prefix.queue && is_counted(plan_.ops[member.op].kind)) {
        ops = std::max(ops, member.op_index + 1);  // The prefix itself says that it has completed.
        stamp.chain = kNoChain;
      }
      if (stamp.chain != kNoChain || stamp.row != last.row || stamp.clocks != last.clocks)
        join(stamp);
      last = stamp;
    }
    dense_[index(prefix.queue)] = std::max(ops, dense_[index(prefix.queue)]);
    joined = {prefix.count, finish()};
    base_ = base;
    frozen_ = frozen;
    own_queue_ = own_queue;
    own_count_ = own_count;
    dense_ = dense;
    pieces_ = pieces;
  }
  join({joined.row, kNoChain, 0, &now_});
}

/// A chunk of `now_` with the counts of `dense_` at that place of the row, which are not the
/// base's.
std::uint32_t ClockBuilder::shared_chunk(std::size_t place) {
  const std::uint32_t* counts = &dense_[place * Clocks::kChunk];
  if (same_chunk(counts, now_.chunk(joined_row_, place)))
    return now_.chunk_of[joined_row_ * now_.chunks + place];
  return now_.add_chunk(counts);
}

[[gnu::flatten]] std::uint32_t ClockBuilder::finish() {
  if (frozen_) return base_;
  drop_covered();
  const std::size_t first = now_.chunk_of.size();
  bool is_base = true;
  for (std::size_t k = 0; k < now_.chunks; ++k) {
    const std::uint32_t base_chunk = now_.chunk_of[base_ * now_.chunks + k];
    const bool same = same_chunk(&dense_[k * Clocks::kChunk], now_.chunk(base_, k));
    now_.chunk_of.push_back(same ? base_chunk : shared_chunk(k));
    is_base = is_base && same;
  }
  const std::span<const Clocks::Piece> pieces = now_.pieces_of(base_);
  if (is_base && std::ranges::equal(pieces_, pieces, [&](const auto& a, const auto& b) {
        return a.place == b.place && same_chunk(now_.chunk(a.chunk), now_.chunk(b.chunk));
      })) {
    now_.chunk_of.resize(first);
    return base_;
  }
  now_.rows.push_back({now_.pieces.size(), now_.pieces.size() + pieces_.size()});
  now_.pieces.insert(now_.pieces.end(), pieces_.begin(), pieces_.end());
  first_own_ = static_cast<std::uint32_t>(now_.counts.size() / Clocks::kChunk);
  return static_cast<std::uint32_t>(now_.rows.size() - 1);
}

/// Chains need no count of their own where the joined prefix of their queue says as much.
void ClockBuilder::drop_covered() {
  if (pieces_.empty()) return;
  if (std::ranges::none_of(unordered_, [&](std::size_t q) { return dense_[q] != 0; })) return;
  for (Clocks::Piece& piece : pieces_) {
    std::array<std::uint32_t, Clocks::kChunk> counts;
    std::copy_n(now_.chunk(piece.chunk), Clocks::kChunk, counts.begin());
    bool covered = false;
    for (std::uint32_t k = 0; k < Clocks::kChunk; ++k) {
      if (counts[k] == 0) continue;
      const auto chain = static_cast<std::uint32_t>(piece.place * Clocks::kChunk + k);
      const std::uint32_t ops = dense_[index(order_.chains_.queue(chain))];
      if (!order_.chains_.covers(chain, ops, counts[k])) continue;
      counts[k] = 0;
      covered = true;
    }
    if (covered) piece.chunk = own_chunk(piece.chunk, counts.data());
  }
  std::erase_if(pieces_, [&](const Clocks::Piece& piece) {
    const std::uint32_t* counts = now_.chunk(piece.chunk);
    return std::all_of(counts, counts + Clocks::kChunk, [](std::uint32_t c) { return c == 0; });
  });
}

bool ClockBuilder::same_clocks() const {
  const auto same_row = [&](std::uint32_t a, std::uint32_t b) {
    for (std::size_t k = 0; k < now_.chunks; ++k) {
      if (!same_chunk(now_.chunk(a, k), old_.chunk(b, k))) return false;
    }
    return std::ranges::equal(
        now_.pieces_of(a), old_.pieces_of(b), [&](const auto& x, const auto& y) {
          return x.place == y.place && same_chunk(now_.chunk(x.chunk), old_.chunk(y.chunk));
        });
  };
  return std::ranges::all_of(walk_.order, [&](Cmd cmd) {
    return same_row(now_.start_row[cmd], old_.start_row[cmd]) &&
           same_row(now_.complete_row[cmd], old_.complete_row[cmd]);
  });
}

}  // namespace memverify
