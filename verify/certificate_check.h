// verify/certificate_check.h -- accepts or refuses a certificate (docs/certificate.md).
//
// What a verdict rests on is computed here once more, from the plan alone: which instants there
// are, what each waits for, which bytes are touched. The certificate only says why the orders that
// are needed hold. Nothing of the engines is used, so a fault of theirs does not pass.
// Cost: one pass over the nodes, O(log orders) for each neighbouring pair.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"
#include "verify/certificate.h"

namespace memverify::cert {

struct CheckOptions {
  bool any_plan = false;  ///< Do not compare the fingerprint (tests of the check itself).
};

struct CheckResult {
  enum class Kind : std::uint8_t {
    kAccepted,
    kRefused,    ///< It proves nothing: `message` says which entry, and why.
    kOtherPlan,  ///< It is a certificate of another plan.
  };
  Kind kind = Kind::kRefused;
  std::string message;
  std::string summary;  ///< Accepted: "1 case, 12 pairs, 7 orders, 9 reads".
};

/// All tensors must be placed.
CheckResult check_certificate(const Plan& plan, const Certificate& certificate,
                              const CheckOptions& options = {});

}  // namespace memverify::cert
