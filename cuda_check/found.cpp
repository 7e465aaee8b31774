// From the bits of a wrong word to who wrote them.
#include "cuda_check/blame.h"
#include "cuda_check/run_times.h"

namespace memverify::device {
namespace {

/// Who may have left something in some bytes.
struct Candidates {
  std::vector<Author> bases;
  std::vector<std::pair<CommandId, std::uint32_t>> updates;  ///< With their kinds.
};

Candidates candidates_of(const Work& work, PoolId pool, ByteRange bytes, const Times& times) {
  Candidates all{.bases = {Author::kNobody, Author::kInitial}, .updates = {}};
  for (const CommandId c : ids(work.commands)) {
    if (!times.has_started(c)) continue;
    for (const Piece& piece : work.slice(work.commands[c].writes)) {
      if (!overlap(piece, pool, bytes)) continue;
      for (const Mark mark : {Mark::kValue, Mark::kUnfinished, Mark::kClobbered}) {
        all.bases.push_back(author(c, mark));
      }
      break;
    }
    for (const Update& update : work.commands[c].updates) {
      for (const Piece& piece : work.slice(update.pieces)) {
        if (!overlap(piece, pool, bytes)) continue;
        all.updates.emplace_back(c, update.kind);
        break;
      }
    }
  }
  return all;
}

/// Which of the updates, half or whole, make up `residual`: all combinations of a few are tried.
bool explain(std::uint64_t residual, std::uint64_t mask, const Candidates& candidates,
             const Times& times, Found& found) {
  constexpr std::size_t kMostUpdates = 8;
  std::vector<std::pair<CommandId, std::uint32_t>> updates;
  for (const auto& update : candidates.updates) {
    if (times.may_be_on_top(update.first, command_of(found.base))) updates.push_back(update);
  }
  if (updates.size() > kMostUpdates) return false;
  std::size_t combinations = 1;
  for (std::size_t i = 0; i < updates.size(); ++i) combinations *= 3;
  for (std::size_t n = 0; n < combinations; ++n) {
    std::uint64_t sum = 0;
    Found one = found;
    std::size_t digits = n;
    for (const auto& [command, kind] : updates) {
      const Amount amount = amount_of(command, kind);
      const std::size_t digit = digits % 3;
      digits /= 3;
      if (digit == 1) one.updates.push_back(command);
      if (digit == 2) one.unfinished.push_back(command);
      sum ^= digit == 0 ? 0 : digit == 1 ? amount.whole : amount.half;
    }
    if (((sum ^ residual) & mask) != 0) continue;
    found = std::move(one);
    return true;
  }
  return false;
}

Found decode(std::uint64_t code, std::uint64_t mask, const Candidates& candidates,
             const Times& times) {
  for (const Author base : candidates.bases) {
    if (((code ^ code_of(base)) & mask) == 0) return {.is_known = true, .base = base};
  }
  constexpr std::uint64_t kUpdates = update_mask(0) | update_mask(1);
  for (const Author base : candidates.bases) {
    const std::uint64_t residual = (code ^ code_of(base)) & mask;
    Found found{.is_known = true, .base = base};
    if ((residual & ~kUpdates) == 0 && explain(residual, mask, candidates, times, found))
      return found;
  }
  return {};
}

}  // namespace

Found Blame::found(const Mismatch& mismatch) const {
  const Piece& piece = job_.work.pieces[mismatch.piece];
  const Clash& clash = mismatch.clash;
  const Times times(job_.calls.commands.size(), report_, mismatch.at);
  const Candidates candidates = candidates_of(job_.work, piece.pool, clash.bytes, times);
  const std::uint64_t code = clash.word ^ hash_of(piece.pool, clash.address);
  const Found whole = decode(code, mask_in(piece.bytes, clash.address), candidates, times);
  if (whole.is_known) return whole;
  return decode(code, mask_in(clash.bytes, clash.address), candidates, times);
}

}  // namespace memverify::device
