// sim/stage.h -- the commands and the bytes of one case of a plan, made when they are asked for,
// and kept until another case is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/bytes.h"
#include "sim/lifetime.h"
#include "sim/program.h"
#include "sim/reach.h"

namespace memverify::sim {

class Stage {
 public:
  /// `plan` must outlive it and stay as it is.
  explicit Stage(const Plan& plan) : plan_(plan) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// "" or the error of Layout::make(). Cost: nothing if the symbols have the values they had.
  std::string lay_out(const Valuation& symbols);
  /// "" or the error of make_program(). lay_out() was last told `settled.symbols`, and took them.
  /// Cost: nothing if that is the case it had.
  std::string make_commands(const Case& settled);

  // Of the case that make_commands() was last told.
  Setting setting() const { return {plan_, *layout_, *program_}; }
  /// All bytes. Error as of map_bytes(), limit `kMaxRuns`.
  const Result<ByteMap>& bytes();
  /// The bytes in `window`, likewise. Cost: linear in the commands that may touch them.
  Result<ByteMap> bytes_in(const Window& window);
  /// Over all bytes. Precondition: bytes().ok().
  const Lifetimes& lifetimes();

  /// How many commands have been looked at so far, to make any of this.
  std::uint64_t steps() const { return steps_; }

 private:
  static constexpr std::uint64_t kMaxRuns = 50'000'000;  ///< Of bytes, times accesses.

  /// Forgets what depends on the commands.
  void clear();

  const Plan& plan_;
  std::optional<Layout> layout_;
  Case settled_;  ///< That of `program_`.
  std::optional<Program> program_;
  std::optional<Reach> reach_;
  std::optional<Result<ByteMap>> bytes_;
  std::optional<Lifetimes> lifetimes_;
  std::uint64_t steps_ = 0;
};

}  // namespace memverify::sim
