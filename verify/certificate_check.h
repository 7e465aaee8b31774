// verify/certificate_check.h -- accepts or refuses a certificate (docs/certificate.md).
//
// What a verdict rests on is computed here once more, from the plan alone: which instants there
// are, what each waits for, which bytes are touched. The certificate only says why the orders that
// are needed hold. Nothing of the engines is used, so a fault of theirs does not pass.
// Cost: one pass over the nodes, O(log orders) for each neighbouring pair.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"
#include "verify/certificate.h"
#include "verify/certificate_cases.h"
#include "verify/certificate_demands.h"
#include "verify/certificate_model.h"

namespace memverify::cert {

/// What the checker knows of a case before it looks at a certificate: of the plan alone.
struct Subject {
  Subject(const Plan& plan, std::shared_ptr<const Layout> of_plan, CaseValues of_case)
      : layout(std::move(of_plan)),
        values(std::move(of_case)),
        model(plan, *layout, values.conditions) {}
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  std::shared_ptr<const Layout> layout;
  CaseValues values;
  Model model;
  std::vector<Node> run;  ///< That demands_of() was asked about last, and its answer.
  Demands demands;
};

/// What a proof must show, by a run of the subject's model. Taken from it if known.
const Demands& demands_of(Subject& subject, std::vector<Node> run);

struct CheckOptions {
  bool any_plan = false;     ///< Do not compare the fingerprint: the caller has just taken it.
  Subject* first = nullptr;  ///< Of case 0, if there is one already; otherwise it is made.
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
