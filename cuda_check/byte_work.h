// cuda_check/byte_work.h -- what a command does to its bytes, on the host.
//
// On entry it checks what it reads, then leaves marks: an unfinished value where it writes, half
// the amount where it accumulates. As it leaves it checks again: what it read and does not change
// itself; that its marks are still there and that nothing but updates of the same kind came on top.
// Then it completes them. Of two commands that enter before either leaves, one always notices.
#pragma once

#include <vector>

#include "cuda_check/device.h"

namespace memverify::device {

class ByteWork {
 public:
  ByteWork(const Work& work, HostMemory& memory) : work_(work), memory_(memory) {}

  /// `before` keeps what accumulates found, for `leave`.
  void enter(CommandId command, std::vector<std::uint64_t>& before, std::vector<Mismatch>& out);
  void leave(CommandId command, const std::vector<std::uint64_t>& before,
             std::vector<Mismatch>& out);
  /// Everything has completed.
  void end(std::vector<Mismatch>& out);
  std::vector<Checksum> checksums() const;

 private:
  void check(Look look, CommandId command, Range range, std::vector<Mismatch>& out);
  const Work& work_;
  HostMemory& memory_;
};

/// What a writer leaves on entry where the piece says `value` on completion.
std::uint64_t entry_code(CommandId command, const Piece& piece);

}  // namespace memverify::device
