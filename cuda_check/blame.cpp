#include "cuda_check/blame.h"

#include <algorithm>

#include "cuda_check/byte_work.h"
#include "cuda_check/machine.h"
#include "cuda_check/run_times.h"
#include "plan/describe.h"
#include "plan/words.h"

namespace memverify::device {

std::vector<Mismatch> Blame::split(const Mismatch& mismatch) const {
  if (mismatch.look == Look::kLifetime) return {mismatch};
  const PoolId pool = job_.work.pieces[mismatch.piece].pool;
  const ByteRange bytes = mismatch.clash.bytes;
  std::vector<std::int64_t> points{bytes.begin, bytes.end};
  const auto cut = [&](Range range) {
    for (const Piece& piece : job_.work.slice(range)) {
      if (!overlap(piece, pool, bytes)) continue;
      for (const std::int64_t point : {piece.bytes.begin, piece.bytes.end}) {
        if (bytes.begin < point && point < bytes.end) points.push_back(point);
      }
    }
  };
  for (const CommandWork& own : job_.work.commands) {
    cut(own.writes);
    for (const Update& update : own.updates) cut(update.pieces);
  }
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  const std::uint64_t code = mismatch.clash.word ^ hash_of(pool, mismatch.clash.address);
  const Piece& looked = job_.work.pieces[mismatch.piece];
  const bool is_own = mismatch.look == Look::kOwnWrite;
  const std::uint64_t wanted = is_own ? entry_code(mismatch.command, looked) : looked.value;
  const bool may_be_right =
      is_own || (mismatch.look != Look::kOwnUpdate &&
                 job_.work.expectations[looked.expected].base != Author::kNobody);
  std::vector<Mismatch> parts;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ByteRange part{points[i - 1], points[i]};
    const std::uint64_t mask = mask_in(part, part.begin & ~(kWordBytes - 1));
    if (may_be_right && ((code ^ wanted) & mask) == 0) continue;  // Right bytes between wrong ones.
    parts.push_back(mismatch);
    Clash& clash = parts.back().clash;
    clash.bytes = part;
    clash.address = part.begin & ~(kWordBytes - 1);
    clash.word = code ^ hash_of(pool, clash.address);
  }
  return parts;
}

bool Blame::unordered(Pair pair, bool is_open) {
  if (pair.a == kNone<CommandId> || pair.b == kNone<CommandId> || pair.a == pair.b) return false;
  if (job_.calls.takes_away) {
    // Exclusion is no order: that each may come first does not mean that both may be open.
    if (report_ == nullptr || report_->instants.empty()) return is_open;
    return Times(job_.calls.commands.size(), report_, report_->instants.size())
        .overlap(pair.a, pair.b);
  }
  const auto [found, is_new] = unordered_.try_emplace({pair.a, pair.b}, false);
  if (is_new) found->second = are_unordered(job_.calls, pair.a, pair.b);
  return found->second;
}

std::vector<Blame::Pair> Blame::suspects(const Mismatch& mismatch, const Found& found) const {
  const CommandId self = mismatch.command;
  const CommandId base = command_of(found.base);
  std::vector<Pair> pairs;
  if (!found.is_known) {  // Torn: by any of those who write there.
    for (const CommandId c : ids(job_.work.commands)) {
      if (writes(c, mismatch)) pairs.push_back({self, c});
    }
  }
  const bool is_own = mismatch.look == Look::kOwnWrite || mismatch.look == Look::kOwnUpdate;
  const std::uint32_t expectation = job_.work.pieces[mismatch.piece].expected;  // Own: none.
  if (is_own || job_.work.expectations[expectation].base == Author::kNobody) {
    pairs.push_back({self, base});
    for (const CommandId c : found.updates) pairs.push_back({self, c});
    for (const CommandId c : found.unfinished) pairs.push_back({self, c});
    return pairs;
  }
  const Expectation& expected = job_.work.expectations[expectation];
  const CommandId meant = command_of(expected.base);
  std::vector<CommandId> odd = found.unfinished;  // Updates that are not as they should be.
  for (const CommandId c : found.updates) {
    if (std::ranges::find(expected.updates, c) == expected.updates.end()) odd.push_back(c);
  }
  for (const CommandId c : expected.updates) {
    if (std::ranges::find(found.updates, c) == found.updates.end()) odd.push_back(c);
  }
  if (found.base != expected.base) {
    pairs.push_back({self, base});
    pairs.push_back({self, meant});
  }
  for (const CommandId c : odd) pairs.push_back({self, c});
  pairs.push_back({base, meant});
  for (const CommandId c : odd) {
    pairs.push_back({base, c});
    pairs.push_back({meant, c});
  }
  return pairs;
}

TensorId Blame::tensor_of(CommandId command, const Mismatch& mismatch) const {
  const PoolId pool = job_.work.pieces[mismatch.piece].pool;
  const CommandWork& own = job_.work.commands[command];
  std::vector<Range> ranges{own.writes};
  for (const Update& update : own.updates) ranges.push_back(update.pieces);
  ranges.push_back(own.reads);
  for (const Range range : ranges) {
    for (const Piece& piece : job_.work.slice(range)) {
      if (overlap(piece, pool, mismatch.clash.bytes)) return piece.tensor;
    }
  }
  return kNone<TensorId>;
}

bool Blame::writes(CommandId command, const Mismatch& mismatch) const {
  const PoolId pool = job_.work.pieces[mismatch.piece].pool;
  const CommandWork& own = job_.work.commands[command];
  const auto meets = [&](const Piece& piece) { return overlap(piece, pool, mismatch.clash.bytes); };
  return std::ranges::any_of(job_.work.slice(own.writes), meets) ||
         std::ranges::any_of(own.updates, [&](const Update& update) {
           return std::ranges::any_of(job_.work.slice(update.pieces), meets);
         });
}

void Blame::add_op(CommandId command, TensorId tensor, Finding& finding) const {
  finding.ops.push_back(job_.calls.commands[command].op);
  finding.iteration.push_back(job_.calls.commands[command].iteration);
  finding.tensors.push_back(tensor);
  if (tensor != kNone<TensorId>) finding.storages.push_back(job_.plan.tensors[tensor].storage);
}

Finding Blame::race(Pair pair, const Mismatch& mismatch) const {
  const auto [first, second] = std::minmax(pair.a, pair.b);
  Finding finding;
  finding.rule = !writes(first, mismatch)    ? Rule::kWar
                 : !writes(second, mismatch) ? Rule::kRaw
                                             : Rule::kWaw;
  for (const CommandId c : {first, second}) add_op(c, tensor_of(c, mismatch), finding);
  return finding;
}

Finding Blame::wrong_version(const Mismatch& mismatch, const Found& found) const {
  const Piece& piece = job_.work.pieces[mismatch.piece];
  const Expectation& expected = job_.work.expectations[piece.expected];
  Finding finding;
  finding.expected_initial = expected.base == Author::kInitial;
  if (const CommandId meant = command_of(expected.base); meant != kNone<CommandId>) {
    finding.expected = job_.calls.commands[meant].op;
    finding.expected_iteration = job_.calls.commands[meant].iteration;
  }
  const bool is_nothing = expected.base == Author::kNobody;
  CommandId other = command_of(found.base);
  for (const CommandId c : found.updates) {
    const bool is_expected = std::ranges::find(expected.updates, c) != expected.updates.end();
    if (!is_expected) other = c;
  }
  if (is_nothing) other = kNone<CommandId>;
  if (mismatch.look == Look::kEnd) {
    finding.rule = is_nothing ? Rule::kUnwritten : Rule::kBoundary;
    finding.tensors.push_back(piece.tensor);
    finding.storages.push_back(job_.plan.tensors[piece.tensor].storage);
    if (other != kNone<CommandId>) add_op(other, tensor_of(other, mismatch), finding);
    return finding;
  }
  finding.rule = is_nothing ? Rule::kUnwritten : Rule::kWrongVersion;
  std::vector<CommandId> both{mismatch.command};
  if (other != kNone<CommandId> && other != mismatch.command) both.push_back(other);
  std::ranges::sort(both);
  for (const CommandId c : both) {
    add_op(c, c == mismatch.command ? piece.tensor : tensor_of(c, mismatch), finding);
  }
  return finding;
}

Finding Blame::lifetime(const Mismatch& mismatch) const {
  Finding finding;
  finding.rule = Rule::kLifetime;
  finding.storages.push_back(mismatch.lifetime.storage);
  if (mismatch.lifetime.tensor != kNone<TensorId>) {
    finding.tensors.push_back(mismatch.lifetime.tensor);
  }
  const auto [first, second] = std::minmax(mismatch.command, mismatch.lifetime.other);
  for (const CommandId c : {first, second}) {
    if (c == kNone<CommandId>) continue;
    finding.ops.push_back(job_.calls.commands[c].op);
    finding.iteration.push_back(job_.calls.commands[c].iteration);
  }
  describe(job_.plan, finding);
  return finding;
}

std::vector<Finding> Blame::findings(const Mismatch& mismatch) {
  if (mismatch.look == Look::kLifetime) return {lifetime(mismatch)};
  const Piece& piece = job_.work.pieces[mismatch.piece];
  const Found what = found(mismatch);
  const bool is_own = mismatch.look == Look::kOwnWrite || mismatch.look == Look::kOwnUpdate;
  const bool is_open =
      is_own || !what.unfinished.empty() ||
      (command_of(what.base) != kNone<CommandId> && mark_of(what.base) == Mark::kUnfinished);
  std::vector<Finding> all;
  for (const Pair pair : suspects(mismatch, what)) {
    if (!unordered(pair, is_open)) continue;
    all.push_back(race(pair, mismatch));
    break;
  }
  if (all.empty() && is_own) {
    all.emplace_back().rule = Rule::kWaw;  // By whom, the bytes do not tell.
    add_op(mismatch.command, piece.tensor, all.back());
  } else if (!is_own &&
             (all.empty() || job_.work.expectations[piece.expected].base == Author::kNobody)) {
    all.push_back(wrong_version(mismatch, what));
  }
  for (Finding& finding : all) {
    finding.pool = piece.pool;
    finding.bytes = mismatch.clash.bytes;
    if (piece.tensor != kNone<TensorId>) finding.alias_chain = alias_chain(job_.plan, piece.tensor);
    describe(job_.plan, finding);
  }
  return all;
}

Finding Blame::deadlock(const RunReport& report) const {
  Finding finding;
  finding.rule = Rule::kDeadlock;
  if (report.stuck != kNone<CommandId>) {
    finding.ops.push_back(job_.calls.commands[report.stuck].op);
    finding.iteration.push_back(job_.calls.commands[report.stuck].iteration);
  }
  describe(job_.plan, finding);
  return finding;
}

std::string Blame::words(const Found& found) const {
  if (!found.is_known) return "bytes of several writers";
  std::string text;
  const CommandId base = command_of(found.base);
  if (base == kNone<CommandId>) {
    text = found.base == Author::kInitial ? "the initial value" : "bytes that nothing has written";
  } else {
    const std::string name = command_name(job_.plan, job_.calls, base);
    switch (mark_of(found.base)) {
      case Mark::kValue:
        text = "what " + name + " wrote";
        break;
      case Mark::kUnfinished:
        text = "what " + name + " has not finished writing";
        break;
      case Mark::kClobbered:
        text = "what " + name + " clobbered";
        break;
    }
  }
  std::vector<std::string> updates;
  for (const CommandId c : found.updates) updates.push_back(command_name(job_.plan, job_.calls, c));
  for (const CommandId c : found.unfinished) {
    updates.push_back("half of " + command_name(job_.plan, job_.calls, c));
  }
  return updates.empty() ? text : text + " with the updates of " + listed(updates);
}

std::string Blame::sentence(const Mismatch& mismatch) const {
  const std::string self = mismatch.command == kNone<CommandId>
                               ? "the end of the run"
                               : command_name(job_.plan, job_.calls, mismatch.command);
  if (mismatch.look == Look::kLifetime) {
    return self + " finds storage " + quoted(job_.plan.storages[mismatch.lifetime.storage].name) +
           " not allocated";
  }
  const Piece& piece = job_.work.pieces[mismatch.piece];
  const std::string place = place_words(job_.plan, piece.pool, mismatch.clash.bytes);
  const std::string holds = words(found(mismatch));
  switch (mismatch.look) {
    case Look::kOwnWrite:
      return self + " finds " + holds + " in " + place + ", which it has written itself meanwhile";
    case Look::kOwnUpdate:
      return self + " finds " + holds + " in " + place + ", which it is updating meanwhile";
    case Look::kEntry:
    case Look::kLeave:
    case Look::kEnd:
    case Look::kLifetime:
      break;
  }
  const Expectation& expected = job_.work.expectations[piece.expected];
  const Found meant{.is_known = true, .base = expected.base, .updates = expected.updates};
  return self + " finds " + holds + " in " + place + " (" +
         (piece.tensor == kNone<TensorId> ? "" : quoted(job_.plan.tensors[piece.tensor].name)) +
         (expected.base == Author::kNobody ? "), where nothing is ever written"
                                           : ") instead of " + words(meant));
}

}  // namespace memverify::device
