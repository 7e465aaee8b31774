// verify/certificate_lifetimes.h -- allocs and frees of storages ([S-33], [S-34]), and that
// accesses lie between them.
//
// Cost: linear in nodes and accesses, times O(log events) of a slot.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/certificate_demands.h"
#include "verify/certificate_touches.h"

namespace memverify::cert {

class Lifetimes {
 public:
  /// Adds to `demands` what they need.
  Lifetimes(const Touches& touches, Demands& demands);
  /// The last alloc of a slot up to `node` in program order, kNoNode if there is none.
  Node last_alloc(StorageId storage, std::uint32_t slot, Node node) const;
  /// False: there is no alloc and no free.
  bool any() const { return !events_.empty(); }

 private:
  void list();
  void check();
  void check_bracket(const Touch& touch, StorageId storage, const std::vector<Node>& events);
  bool is_alive(StorageId storage, const std::vector<Node>& events) const;
  void fault(const std::string& what);

  const Touches& touches_;
  const Model& model_;
  Demands& demands_;
  std::vector<std::vector<std::vector<Node>>> events_;  ///< By storage and slot.
  std::vector<std::uint8_t> has_alloc_;                 ///< By storage.
};

}  // namespace memverify::cert
