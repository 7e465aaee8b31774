// verify/certificate_unsafe.h -- the part of the checker for *unsafe*: a run that opens two ops
// which clash, or a set of nodes that wait for each other for ever.
//
// A set of nodes none of which can start before another of the set has completed never starts: so
// no run completes everything.
#pragma once

#include <string>

#include "verify/certificate.h"
#include "verify/certificate_model.h"

namespace memverify::cert {

/// "" or why the fault is not shown.
std::string check_fault(Model& model, const Fault& fault);

/// The rows of a set that waits for itself, with `from` or what it waits for; empty if there is
/// none.
Rows blocked_set(Model& model, Node from);

}  // namespace memverify::cert
