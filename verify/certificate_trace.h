// verify/certificate_trace.h -- orders that are needed, traced back to their reasons.
//
// Idea: in the reverse order of a run, each order is moved to where on its line it starts to hold,
//   and from there to the first thing waited for that makes sure of it, which needs orders of
//   earlier nodes in turn. What holds where is asked of `truth`.
// Cost: O(log nodes) questions for each order.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "verify/certificate.h"
#include "verify/certificate_facts.h"
#include "verify/certificate_model.h"

namespace memverify::cert {

/// The rows of a certificate (Case::orders) for the orders (node, before). nullopt: some order has
/// no reason, or the reasons do not come to rest.
std::optional<Rows> trace_orders(Model& model, Knowledge& truth, std::span<const Node> run,
                                 std::span<const std::pair<Node, Node>> orders);

}  // namespace memverify::cert
