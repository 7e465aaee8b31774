// verify/storage_next.h -- who writes or frees the bytes of a use: next, and in a race with it.
//
// Idea: the writers of a plan sorted by the first point that they touch, with the furthest end of
//   those before: the ones that meet a range are found by walking back from its end. *Next* are in
//   program order the nearest for each byte that wait for the use; a writer that does not wait for
//   it races with it however late it comes.
// Cost: O(n log n) for n accesses, then for a use the writers of its bytes.
// Tested by tests/unit/verify/storage_view_test.cpp.
#pragma once

#include <vector>

#include "verify/footprint.h"
#include "verify/order.h"
#include "verify/storage_view.h"
#include "verify/walk.h"

namespace memverify {

class NextUses {
 public:
  /// All must outlive this one.
  NextUses(const Program& program, const Walk& walked, const Order& order,
           const Footprints& footprints);

  /// Races with what is earlier in program order, nearest first; then what is later, nearest first.
  /// Of those that do not wait the nearest eight each way, and of the iterations of an op one.
  /// `storage`: of the use.
  std::vector<NextUse> of(const AccessInstance& use, StorageId storage) const;

 private:
  struct Writer {
    std::uint32_t begin = 0, end = 0;  ///< Points.
    std::uint32_t furthest = 0;        ///< Greatest end up to this one.
    std::uint32_t access = 0;
  };

  /// Accesses that write bytes of the use, not those of its own command, in program order.
  std::vector<std::uint32_t> writers_of(const AccessInstance& use) const;
  bool meet(Cmd a, Cmd b) const { return walked_.completed[a] != 0 && walked_.started[b] != 0; }
  NextUse next_by(const AccessInstance& use, Cmd cmd) const;
  NextUse write_by(const AccessInstance& use, const AccessInstance& other) const;
  /// Of the same slot; kNoCmd if there is none.
  Cmd next_free(const AccessInstance& use, StorageId storage) const;

  const Program& program_;
  const Walk& walked_;
  const Order& order_;
  const Footprints& footprints_;
  std::vector<Writer> writers_;  ///< By `begin`.
  Table<StorageId, std::vector<Cmd>> frees_;
};

}  // namespace memverify
