#include "verify/clock_builder.h"

#include <algorithm>
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

/// Of order statistics, some seconds of them.
constexpr std::uint64_t kMaxWork = std::uint64_t{1} << 26;
constexpr std::size_t kMostReserved = std::size_t{1} << 26;  ///< Entries of clocks.

}  // namespace

ClockBuilder::ClockBuilder(Order& order, const Walk& walk)
    : order_(order),
      program_(*order.program_),
      plan_(*program_.plan),
      walk_(walk),
      width_(plan_.queues.size()) {}

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
  now_.counts.reserve(std::min(joins * now_.chunks * Clocks::kChunk, kMostReserved));
  dense_.assign(now_.chunks * Clocks::kChunk, 0);
  now_.add_row(dense_.data());  // Row 0: nothing has completed.
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
  for (Cmd other : program_.needs_of(instance)) join_command(other);
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
  for (std::size_t k = now_.rows[row].sparse_begin; k < now_.rows[row].sparse_end; ++k) {
    const auto [other, length] = now_.sparse[k];
    if (chains.queue(other) != instance.queue || chains.length(other) != length) continue;
    if ((chains.op_end(other) != Chains::kNeverJoined) != is_op) continue;
    if (chains.op_end(other) > op_end) continue;  // `after` a later op.
    chain = other;
    break;
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
  if (order_.chains_.covered(stamp.chain, dense_at(queue)) >= stamp.length) return true;
  if (frozen_) return now_.length(base_, stamp.chain) >= stamp.length;
  const auto at = std::ranges::lower_bound(sparse_, Clocks::Entry{stamp.chain, 0});
  return at != sparse_.end() && at->first == stamp.chain && at->second >= stamp.length;
}

void ClockBuilder::thaw() {
  if (!frozen_) return;
  frozen_ = false;
  const Clocks::Row& row = now_.rows[base_];
  for (std::size_t k = 0; k < now_.chunks; ++k) {
    std::copy_n(now_.chunk(base_, k), Clocks::kChunk, &dense_[k * Clocks::kChunk]);
  }
  joined_row_ = base_;
  sparse_.assign(now_.sparse.begin() + static_cast<std::ptrdiff_t>(row.sparse_begin),
                 now_.sparse.begin() + static_cast<std::ptrdiff_t>(row.sparse_end));
}

void ClockBuilder::raise(std::uint32_t chain, std::uint32_t length) {
  if (length == 0) return;
  if (order_.chains_.is_queue(chain)) {
    dense_[chain] = std::max(dense_[chain], length);
    return;
  }
  const auto at = std::ranges::lower_bound(sparse_, Clocks::Entry{chain, 0});
  if (at != sparse_.end() && at->first == chain) {
    at->second = std::max(at->second, length);
  } else {
    sparse_.insert(at, {chain, length});
  }
}

void ClockBuilder::join(const Stamp& stamp) {
  if (!holds(stamp)) merge(stamp);
}

void ClockBuilder::merge(const Stamp& stamp) {
  thaw();
  const Clocks& from = *stamp.clocks;
  const Clocks::Row& row = from.rows[stamp.row];
  const std::uint32_t* its = from.chunk_of.data() + stamp.row * from.chunks;
  const std::uint32_t* base = now_.chunk_of.data() + base_ * now_.chunks;
  for (std::size_t k = 0; k < from.chunks; ++k) {
    if (its[k] == base[k] && &from == &now_) continue;
    raise_chunk(&dense_[k * Clocks::kChunk], &from.counts[its[k] * Clocks::kChunk]);
  }
  if (&from == &now_) joined_row_ = stamp.row;
  if (row.sparse_begin != row.sparse_end) {
    merged_.clear();
    auto a = sparse_.cbegin();
    for (std::size_t k = row.sparse_begin; k < row.sparse_end; ++k) {
      const Clocks::Entry& b = from.sparse[k];
      while (a != sparse_.cend() && a->first < b.first) merged_.push_back(*a++);
      if (a != sparse_.cend() && a->first == b.first) {
        merged_.emplace_back(b.first, std::max(a++->second, b.second));
      } else {
        merged_.push_back(b);
      }
    }
    merged_.insert(merged_.end(), a, sparse_.cend());
    sparse_.swap(merged_);
  }
  if (stamp.chain != kNoChain) raise(stamp.chain, stamp.length);
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
    const auto sparse = sparse_;
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
    sparse_ = sparse;
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
  std::erase_if(sparse_, [&](const Clocks::Entry& entry) {
    const std::uint32_t ops = dense_[index(order_.chains_.queue(entry.first))];
    return order_.chains_.covered(entry.first, ops) >= entry.second;
  });
  const std::size_t first = now_.chunk_of.size();
  bool is_base = true;
  for (std::size_t k = 0; k < now_.chunks; ++k) {
    const std::uint32_t base_chunk = now_.chunk_of[base_ * now_.chunks + k];
    const bool same = same_chunk(&dense_[k * Clocks::kChunk], now_.chunk(base_, k));
    now_.chunk_of.push_back(same ? base_chunk : shared_chunk(k));
    is_base = is_base && same;
  }
  const Clocks::Row& base = now_.rows[base_];
  if (is_base && std::equal(sparse_.begin(), sparse_.end(),
                            now_.sparse.begin() + static_cast<std::ptrdiff_t>(base.sparse_begin),
                            now_.sparse.begin() + static_cast<std::ptrdiff_t>(base.sparse_end))) {
    now_.chunk_of.resize(first);
    return base_;
  }
  now_.rows.push_back({now_.sparse.size(), now_.sparse.size() + sparse_.size()});
  now_.sparse.insert(now_.sparse.end(), sparse_.begin(), sparse_.end());
  return static_cast<std::uint32_t>(now_.rows.size() - 1);
}

bool ClockBuilder::same_clocks() const {
  const auto same_row = [&](std::uint32_t a, std::uint32_t b) {
    const Clocks::Row& x = now_.rows[a];
    const Clocks::Row& y = old_.rows[b];
    for (std::size_t k = 0; k < now_.chunks; ++k) {
      if (!same_chunk(now_.chunk(a, k), old_.chunk(b, k))) return false;
    }
    return std::equal(now_.sparse.begin() + static_cast<std::ptrdiff_t>(x.sparse_begin),
                      now_.sparse.begin() + static_cast<std::ptrdiff_t>(x.sparse_end),
                      old_.sparse.begin() + static_cast<std::ptrdiff_t>(y.sparse_begin),
                      old_.sparse.begin() + static_cast<std::ptrdiff_t>(y.sparse_end));
  };
  return std::ranges::all_of(walk_.order, [&](Cmd cmd) {
    return same_row(now_.start_row[cmd], old_.start_row[cmd]) &&
           same_row(now_.complete_row[cmd], old_.complete_row[cmd]);
  });
}

}  // namespace memverify
