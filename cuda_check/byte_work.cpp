#include "cuda_check/byte_work.h"

#include <algorithm>

namespace memverify::device {
namespace {

void add_clashes(Look look, CommandId command, std::uint32_t piece,
                 const std::vector<Clash>& clashes, std::vector<Mismatch>& out) {
  for (const Clash& clash : clashes) {
    out.push_back({.look = look, .command = command, .piece = piece, .clash = clash});
  }
}

}  // namespace

std::uint64_t entry_code(CommandId command, const Piece& piece) {
  const std::uint64_t clobbered = code_of(author(command, Mark::kClobbered));
  return piece.value == clobbered ? clobbered : code_of(author(command, Mark::kUnfinished));
}

void ByteWork::check(Look look, CommandId command, Range range, std::vector<Mismatch>& out) {
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const Piece& piece = work_.pieces[i];
    const Author base = work_.expectations[piece.expected].base;
    // Where nothing was written no value is right: one that no memory holds is asked for.
    const std::uint64_t code = base == Author::kNobody ? ~piece.value : piece.value;
    add_clashes(look, command, i, memory_.check(piece, code), out);
  }
}

void ByteWork::enter(CommandId command, std::vector<std::uint64_t>& before,
                     std::vector<Mismatch>& out) {
  const CommandWork& own = work_.commands[command];
  check(Look::kEntry, command, own.reads, out);
  for (const Piece& piece : work_.slice(own.writes)) {
    memory_.write(piece, entry_code(command, piece));
  }
  before.clear();
  for (const Update& update : own.updates) {
    const Amount amount = amount_of(command, update.kind);
    for (const Piece& piece : work_.slice(update.pieces)) {
      memory_.add(piece, amount.half, &before);
    }
  }
}

void ByteWork::leave(CommandId command, const std::vector<std::uint64_t>& before,
                     std::vector<Mismatch>& out) {
  const CommandWork& own = work_.commands[command];
  check(Look::kLeave, command, own.steady_reads, out);
  for (std::uint32_t i = own.writes.begin; i < own.writes.end; ++i) {
    const Piece& piece = work_.pieces[i];
    add_clashes(Look::kOwnWrite, command, i, memory_.check(piece, entry_code(command, piece)), out);
  }
  for (const Piece& piece : work_.slice(own.writes)) memory_.write(piece, piece.value);
  const std::uint64_t* old = before.data();
  for (const Update& update : own.updates) {
    const Amount amount = amount_of(command, update.kind);
    for (std::uint32_t i = update.pieces.begin; i < update.pieces.end; ++i) {
      const Piece& piece = work_.pieces[i];
      const auto clashes = memory_.check_since(piece, old, amount.half, update_mask(update.kind));
      add_clashes(Look::kOwnUpdate, command, i, clashes, out);
      memory_.add(piece, amount.half ^ amount.whole, nullptr);
      old += words_of(piece);
    }
  }
}

void ByteWork::end(std::vector<Mismatch>& out) {
  check(Look::kEnd, kNone<CommandId>, work_.end, out);
}

std::vector<Checksum> ByteWork::checksums() const {
  std::vector<Checksum> sums;
  for (const Piece& piece : work_.slice(work_.end)) {
    if (sums.empty() || sums.back().tensor != piece.tensor) {
      sums.push_back({piece.tensor, 0xCBF29CE484222325U});
    }
    sums.back().value = memory_.checksum(piece, sums.back().value);
  }
  return sums;
}

}  // namespace memverify::device
