// verify/smt_bytes.h -- who touches which bytes, and which version a read expects there.
//
// Problem: with conditions free, the expected writer of a byte depends on what is dropped.
// Idea: bytes that the same accesses touch are one *cell*; a reader's expected version in a cell is
//   a list of alternatives, each with the condition under which it is the one.
// Cost: cells times their accesses; alternatives stop at the first writer that is never dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/region.h"
#include "verify/footprint.h"
#include "verify/smt_program.h"

namespace memverify::smt {

/// An access that covers a cell.
struct Touch {
  std::uint32_t access = kAll;  ///< In Footprints::accesses(); kAll: of a command that lists none.
  Cmd cmd = kEndOfRun;
  static constexpr std::uint32_t kAll = 0xFFFFFFFFU;
};

/// Bytes that the same accesses touch.
struct Cell {
  PoolId pool = kNone<PoolId>;
  ByteRange bytes;             ///< The first of its ranges.
  std::vector<Touch> touches;  ///< In program order, those of the end last.
  bool unknown = false;        ///< An unknown command touches it.
};

/// One of the versions that a read may expect.
struct Expectation {
  enum class Base : std::uint8_t { kNothing, kInitial, kWriter };
  Bool applies;  ///< Given that the reader has its accesses.
  Base base = Base::kNothing;
  Cmd writer = kNoCmd;  ///< kWriter.
  struct Update {
    Cmd cmd = kNoCmd;
    Bool expected;  ///< Given `applies`.
  };
  std::vector<Update> updates;  ///< Accumulates of the family, in program order.
};

class Bytes {
 public:
  /// nullopt if the tensors have more than `max_runs` contiguous runs.
  static std::optional<Bytes> make(const Program& program, std::size_t max_runs);

  const Footprints& footprints() const { return *footprints_; }
  const std::vector<Cell>& cells() const { return cells_; }

  const AccessInstance& access(const Touch& touch) const {
    return footprints_->accesses()[touch.access];
  }
  bool is_unknown(Cmd c) const {
    return c != kEndOfRun && program_->listed.op(c).kind == OpKind::kUnknown;
  }
  /// As [S-36] has it: an unknown command reads and writes all it touches.
  bool reads(const Touch& touch) const;
  bool writes(const Touch& touch) const;
  /// Writes that are no accumulates.
  bool overwrites(const Touch& touch) const;
  bool commute(const Touch& a, const Touch& b) const;
  bool same_family(const Touch& a, const Touch& b) const;
  bool same_instance(const Touch& a, const Touch& b) const;

  /// For `cell.touches[reader]`, which must read and name a tensor.
  std::vector<Expectation> expected(Terms& terms, const Cell& cell, std::size_t reader) const;

  /// The allocs and frees of a slot in program order.
  const std::vector<Cmd>& events(std::uint32_t slot) const { return events_[slot]; }
  bool is_allocated(StorageId storage) const { return allocated_[index(storage)] != 0; }

 private:
  explicit Bytes(const Program& program) : program_(&program) {}
  void list_events();
  std::vector<Region> initial_regions() const;
  void cut();
  bool has_initial(const Cell& cell, const AccessInstance& reader) const;
  Bool no_alloc_between(Terms& terms, const AccessInstance& reader, Cmd from, Cmd to) const;
  Expectation alternative(Terms& terms, const Cell& cell, std::size_t reader, Expectation what,
                          Cmd from) const;

  const Program* program_;
  std::optional<Footprints> footprints_;
  std::vector<Cell> cells_;
  std::vector<std::vector<Cmd>> events_;
  std::vector<std::uint8_t> allocated_;  ///< By storage: some op allocs it.
};

}  // namespace memverify::smt
