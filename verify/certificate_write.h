// verify/certificate_write.h -- from the clocks of the happens-before engine to a certificate.
//
// Problem: of all that the clocks know, a certificate holds only what the verdict needs.
// Idea: the checker's own pass over the bytes says which orders are needed; each is traced back, in
//   the reverse order of a run, to where on its line it starts to hold, and from there to the first
//   thing waited for that makes sure of it. The engine's clocks answer what holds where.
// Cost: O(log commands) clock lookups for each order.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <string>

#include "plan/finding.h"
#include "plan/plan.h"
#include "verify/certificate.h"

namespace memverify {

struct CertificateResult {
  cert::Certificate certificate;
  std::string text;     ///< Of the certificate.
  std::string refused;  ///< "" or why there is none; then the certificate says nothing.
};

/// A certificate of `result`, which the happens-before engine gave for `plan`. What is written has
/// passed check_certificate().
CertificateResult certify(const Plan& plan, const EngineResult& result);

}  // namespace memverify
