// sim/bytes.h -- which bytes the commands of a Program touch, and whose values they should find.
//
// Problem: versions live on single bytes, plans speak of gigabytes. Idea: two bytes that lie in the
// same accesses always have the same history, so the bytes of all exact regions are cut at every
// boundary and bytes with equal signatures become one *cell*. A plan has few cells.
//
// Example: w writes [0, 8), u reads [4, 12). Three cells: {w}, {w, u}, {u}; a race needs the
// second.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "plan/layout.h"
#include "sim/program.h"

namespace memverify::sim {

using CellId = std::uint32_t;

/// Of cells and accesses, needs and checks: what a search may prepare.
inline constexpr std::uint64_t kMaxIncidences = 50'000'000;

/// An input or constant of a family that has its value in a slot of its storage at the start.
struct InitialValue {
  TensorId root = kNone<TensorId>;
  std::uint32_t slot = 0;
  bool operator==(const InitialValue&) const = default;
};

/// A class of bytes that lie in the same accesses.
struct Cell {
  PoolId pool = kNone<PoolId>;
  ByteRange first;                    ///< Its first maximal range of bytes.
  std::vector<InitialValue> initial;  ///< What it holds at the start.
  std::vector<CommandId> unknowns;    ///< Unknown commands that may touch it, ascending.
};

/// How a command touches bytes, the stronger the later: where one command touches a byte in several
/// ways, the strongest tells what it leaves there. `kOpaque` is an access of an unknown command
/// ([S-36]).
enum class TouchKind : std::uint8_t { kRead, kAccumulate, kWrite, kClobber, kOpaque };

struct Touch {
  TouchKind kind = TouchKind::kRead;
  std::uint32_t access = kEverything;  ///< In Plan::accesses, or kEverything.
  std::uint32_t update = 0;            ///< kAccumulate: equal numbers commute ([S-40]).
  std::int64_t instance = 0;           ///< Of the alias family ([S-29], [S-30]).
  std::uint32_t footprint = 0;
  static constexpr std::uint32_t kEverything = 0xFFFFFFFFU;
};

/// What a command leaves in one cell. Never a kRead.
struct Effect {
  CellId cell = 0;
  TouchKind kind = TouchKind::kWrite;
  std::uint32_t update = 0;  ///< kAccumulate: as in Touch.
};

/// A read after everything has completed: of an output, or of an input or constant that must
/// survive.
struct EndRead {
  TensorId tensor = kNone<TensorId>;
  std::int64_t instance = 0;
  std::uint32_t footprint = 0;
  const Output* output = nullptr;     ///< nullptr: the initial value must still be there.
  bool own_family_may_write = false;  ///< Or else what the tensor's own family left ([S-46]).
};

/// A write or accumulate in the life of one byte of one instance of one alias family. An unknown
/// command counts as a writer of what it lists.
struct HistoryEntry {
  CommandId command = kNone<CommandId>;
  bool is_update = false;  ///< It only accumulates.
};

/// The value that a reader should find ([S-42], [S-43]).
struct Expected {
  enum class Base : std::uint8_t {
    kNothing,  ///< Neither a writer nor an initial value: MV105.
    kInitial,
    kCommand,
    kOpaque,  ///< What `command`, an unknown one, may have written.
  };
  Base base = Base::kNothing;
  CommandId command = kNone<CommandId>;
  std::vector<CommandId> updates;  ///< Accumulates on top of it, in program order.
};

struct ByteMap {
  struct Key {
    CellId cell;
    TensorId root;
    std::int64_t instance;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      std::uint64_t h = (std::uint64_t{key.cell} << 32) ^ index(key.root);
      h = (h ^ (static_cast<std::uint64_t>(key.instance) * 0x9E3779B97F4A7C15U)) *
          0xD6E8FEB86659FD93U;
      return static_cast<std::size_t>(h ^ (h >> 32));
    }
  };

  std::vector<Cell> cells;
  std::vector<std::vector<CellId>> footprints;  ///< The cells of each, ascending.
  std::vector<std::uint32_t> touch_begin;       ///< By command; one more at the end.
  std::vector<Touch> touches;
  std::vector<std::uint32_t> effect_begin;  ///< By command; one more at the end.
  std::vector<Effect> effects;              ///< Of each command by cell, one for each.
  std::vector<EndRead> end_reads;
  std::unordered_map<Key, std::vector<HistoryEntry>, KeyHash> histories;
  std::unordered_map<std::uint64_t, std::vector<CommandId>> allocs;  ///< By slot_key().
  Table<TensorId, std::uint8_t> one_for_all;                         ///< By root: [S-30].

  std::span<const Touch> touches_of(CommandId c) const {
    return std::span(touches).subspan(touch_begin[index(c)],
                                      touch_begin[index(c) + 1] - touch_begin[index(c)]);
  }
  std::span<const Effect> effects_of(CommandId c) const {
    return std::span(effects).subspan(effect_begin[index(c)],
                                      effect_begin[index(c) + 1] - effect_begin[index(c)]);
  }
  static std::uint64_t slot_key(StorageId storage, std::uint32_t slot) {
    return (std::uint64_t{index(storage)} << 32) | slot;
  }
};

/// Which bytes matter; nothing else gets a cell.
struct Window {
  PoolId pool = kNone<PoolId>;
  ByteRange bytes;
};

/// Everything that is wanted to be known of a case, tied together. All outlive whoever uses it.
struct Setting {
  const Plan& plan;
  const Layout& layout;
  const Program& program;
};

/// By root tensor, 1 iff its family is one instance for all iterations ([S-30], by the text: what
/// an unknown command reads or accumulates is no write). Cost: linear in the accesses.
Table<TensorId, std::uint8_t> one_for_all(const Plan& plan);

/// The cells and accesses of `program`, of the bytes in `window` only if there is one.
/// Errors: "bytes.size" when the regions have more than `limit` (runs of bytes x accesses) in all.
/// Cost: O(p log p) for p boundaries, plus the incidences.
Result<ByteMap> map_bytes(const Setting& setting, const std::optional<Window>& window,
                          std::uint64_t limit);

/// The bytes in `window`, told what that takes a look at the whole plan to know: `commands`,
/// ascending, are all that may touch them, and all allocs (sim/reach.h); `one_for_all` is
/// one_for_all(). Errors likewise. Cost: that of those commands, and some bytes for each other one.
Result<ByteMap> map_bytes(const Setting& setting, const Window& window,
                          std::span<const CommandId> commands,
                          const Table<TensorId, std::uint8_t>& one_for_all, std::uint64_t limit);

/// What the read `touch` of command `reader` should find in `cell`.
Expected expected_value(const Setting& setting, const ByteMap& map, CommandId reader,
                        const Touch& touch, CellId cell);
/// What `read` should find in `cell`.
Expected expected_at_end(const Setting& setting, const ByteMap& map, const EndRead& read,
                         CellId cell);

/// [S-40] of two touches of different commands that share a byte.
bool conflict(const Touch& a, const Touch& b);

/// The instance of the tensor's family that an access in `iteration` means ([S-29], [S-30]).
std::int64_t instance_of(const Plan& plan, const ByteMap& map, TensorId tensor,
                         std::int64_t iteration);

}  // namespace memverify::sim
