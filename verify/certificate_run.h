// verify/certificate_run.h -- a run that completes everything: there is no deadlock, for nothing
// that happens disables anything; and an order of nodes to look at the bytes in.
//
// The run is program order, but for nodes that cannot start there yet: each is *postponed* until
// right after the node that lets it. So there is one way to write it down.
// Cost: linear in nodes and what they wait for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verify/certificate.h"
#include "verify/certificate_model.h"

namespace memverify::cert {

struct Run {
  std::vector<Node> order;
  std::string problem;  ///< "" or why it is no run.
};

/// The run with these nodes postponed; every entry must be necessary.
Run make_run(Model& model, const Rows& postponed);

/// The run in which everything happens as early as program order allows. Without a problem if all
/// completes; `postponed` receives the entries.
Run find_run(Model& model, Rows& postponed);

}  // namespace memverify::cert
