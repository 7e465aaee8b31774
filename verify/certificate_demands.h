// verify/certificate_demands.h -- which accesses a safe plan must order, and which writer each read
// must find: the checker's own count, so that a certificate cannot leave one out.
//
// Idea: accesses are listed with their bytes (certificate_touches.h). Along a run, who touched each
//   byte last must be ordered before who touches it next (certificate_groups.h); and what a read
//   finds must be what it expects by program order (certificate_versions.h). The two share nothing
//   but the list and go beside each other.
// Cost: O(log) for each access and each piece of bytes it touches, times the members of a group.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "verify/certificate.h"
#include "verify/certificate_model.h"

namespace memverify::cert {

/// What a proof must show.
struct Demands {
  std::vector<std::pair<Node, Node>> orders;  ///< (node, what must be done when it starts).
  std::int64_t pairs = 0;                     ///< Those, and as often as other bytes ask again.
  /// One row for each read in the order of the run, then for each output: the distances back to the
  /// writers it expects, in order of points; 0 is the start.
  Rows writers;
  std::string fault;  ///< "" or why the plan is not safe.
};

/// `run` holds every node, in an order in which they can happen.
Demands find_demands(const Model& model, std::span<const Node> run);

}  // namespace memverify::cert
