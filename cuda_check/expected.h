// cuda_check/expected.h -- the expected writers of byte ranges ([S-42], [S-43]).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cuda_check/byte_ranges.h"
#include "cuda_check/calls.h"
#include "cuda_check/stamp.h"
#include "plan/layout.h"

namespace memverify::device {

/// The reader of a value.
struct Reader {
  TensorId tensor = kNone<TensorId>;
  std::int64_t instance = 0;
  CommandId before = kNone<CommandId>;  ///< Itself; one past the last for a read at the end.
  OpId from = kNone<OpId>;
  bool from_initial = false;
};

struct ExpectedPart {
  ByteRange bytes;
  Author base = Author::kNobody;
  bool is_opaque = false;  ///< What an unknown command may have written.
  std::vector<CommandId> updates;
};

/// All writes and accumulates, by the instance of the alias family that they go to.
class History {
 public:
  History(const Plan& plan, const Layout& layout, const Calls& calls)
      : plan_(plan), layout_(layout), calls_(calls) {}

  /// In program order.
  void add(CommandId command, TensorId tensor, std::int64_t instance, bool is_update,
           Ranges ranges);
  void add_alloc(CommandId command, StorageId storage, std::uint32_t slot);
  void add_initial(TensorId tensor, std::uint32_t slot, const Ranges& ranges);

  /// What `reader` should find in `ranges`: parts that are these ranges together.
  std::vector<ExpectedPart> expected(const Reader& reader, const Ranges& ranges) const;

 private:
  struct Entry {
    CommandId command;
    bool is_update;
    Ranges ranges;
  };
  struct View;
  std::uint64_t slot_key(StorageId storage, std::uint32_t slot) const {
    return (std::uint64_t{index(storage)} << 32) | slot;
  }

  const Plan& plan_;
  const Layout& layout_;
  const Calls& calls_;
  std::map<std::pair<TensorId, std::int64_t>, std::vector<Entry>> entries_;  ///< By root.
  std::map<std::uint64_t, std::vector<CommandId>> allocs_;
  std::map<std::pair<TensorId, std::uint32_t>, Ranges> initial_;  ///< By root and slot.
};

}  // namespace memverify::device
