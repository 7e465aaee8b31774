#include "verify/certificate_check.h"

#include <algorithm>
#include <future>
#include <optional>

#include "plan/beside.h"
#include "plan/faults.h"
#include "plan/layout.h"
#include "plan/words.h"
#include "verify/certificate_cases.h"
#include "verify/certificate_demands.h"
#include "verify/certificate_facts.h"
#include "verify/certificate_model.h"
#include "verify/certificate_run.h"
#include "verify/certificate_touches.h"
#include "verify/certificate_unsafe.h"

namespace memverify::cert {
namespace {

/// "" or which demand the orders and writers of a certificate do not meet.
std::string unmet(const Subject& subject, Orders& orders, const Case& proof) {
  const Model& model = subject.model;
  const Demands& demands = subject.demands;
  if (!demands.fault.empty()) return "the plan is not safe: " + demands.fault;
  for (const auto& [node, before] : demands.orders) {
    if (orders.use(node, before)) continue;
    return "no order says that " + describe(model, before) + " completes before " +
           describe(model, node) + " starts";
  }
  const std::size_t reads = demands.writers.size();
  for (std::size_t k = 0; k < reads; ++k) {
    const bool same = k < proof.writers.size() &&
                      std::ranges::equal(proof.writers.row(k), demands.writers.row(k));
    if (same) continue;
    return "writers entry " + std::to_string(k) + ", of " +
           describe(model, Touches(model).reader(subject.run, k));
  }
  if (reads != proof.writers.size()) return "writers for reads that there are not";
  if (demands.pairs != proof.pairs) return "pairs: there are " + std::to_string(demands.pairs);
  return "";
}

struct Counts {
  std::int64_t cases = 0, pairs = 0, orders = 0, reads = 0;
};

std::string first_fault(const Plan& plan, const Layout& layout) {
  for (const Finding& finding : static_faults(plan, layout, 1000)) {
    if (info(finding.rule).severity == Severity::kError) {
      return "the plan is not safe: " + std::string(info(finding.rule).id);
    }
  }
  return "";
}

/// "" or why the case is not proven.
std::string check_case(const CaseValues& values, Subject& subject, const Case& proof,
                       Counts& counts) {
  if (proof.iterations != values.conditions.iterations)
    return "another number of iterations than that of this case";
  if (proof.symbols != values.symbol_values) return "other symbol values than those of this case";
  if (proof.conditions != values.condition_values)
    return "other conditions than those of this case";
  Model& model = subject.model;
  if (!model.refused().empty()) return "the checker does not take the plan: " + model.refused();
  Orders orders(model);
  const std::shared_future<std::string> taken =
      std::async(beside(model.size()), [&] { return orders.take(proof.orders); }).share();
  auto held = std::async(beside(model.size()),
                         [&, taken] { return taken.get().empty() ? orders.check() : taken.get(); });
  Run run = make_run(model, proof.postponed);
  if (!run.problem.empty()) return run.problem;
  const Demands& demands = demands_of(subject, std::move(run.order));
  if (!taken.get().empty()) return taken.get();
  std::string problem = unmet(subject, orders, proof);
  if (std::string wrong = held.get(); !wrong.empty()) return wrong;
  if (problem.empty()) problem = orders.idle();
  if (!problem.empty()) return problem;
  ++counts.cases;
  counts.pairs += demands.pairs;
  counts.orders += static_cast<std::int64_t>(orders.size());
  counts.reads += static_cast<std::int64_t>(demands.writers.size());
  return "";
}

std::string check_unsafe(const Plan& plan, const Certificate& certificate) {
  if (!certificate.cases.empty()) return "cases in a certificate of an unsafe plan";
  if (certificate.faults.empty()) return "it shows no fault";
  const Cases cases(plan);
  if (!cases.refused().empty()) return "the checker does not take the plan: " + cases.refused();
  for (std::size_t k = 0; k < certificate.faults.size(); ++k) {
    const Fault& fault = certificate.faults[k];
    const std::string where = "fault " + std::to_string(k) + ": ";
    if (fault.number < 0 || static_cast<std::uint64_t>(fault.number) >= cases.count()) {
      return where + "there is no such case";
    }
    const CaseValues values = cases.at(static_cast<std::uint64_t>(fault.number));
    if (fault.iterations != values.conditions.iterations || fault.symbols != values.symbol_values ||
        fault.conditions != values.condition_values) {
      return where + "other values than those of its case";
    }
    const Result<Layout> layout = Layout::make(plan, values.valuation);
    if (!layout.ok()) return where + "the plan has no layout";
    Model model(plan, layout.value(), values.conditions);
    if (!model.refused().empty()) return where + "the checker does not take it: " + model.refused();
    if (std::string problem = check_fault(model, fault); !problem.empty()) return where + problem;
  }
  return "";
}

std::string check_safe(const Plan& plan, const Certificate& certificate, Subject* first,
                       Counts& counts) {
  if (!certificate.faults.empty()) return "faults in a certificate of a safe plan";
  const bool has_unknown =
      std::ranges::any_of(plan.ops, [](const Op& op) { return op.kind == OpKind::kUnknown; });
  if (has_unknown) return "the checker does not take plans with unknown commands";
  const Cases cases(plan);
  if (!cases.refused().empty()) return "the checker does not take the plan: " + cases.refused();
  if (certificate.cases.size() != cases.count()) {
    return "it proves " + std::to_string(certificate.cases.size()) + " cases of " +
           std::to_string(cases.count());
  }
  for (std::uint64_t k = 0; k < cases.count();) {
    std::shared_ptr<const Layout> layout = first != nullptr && k == 0 ? first->layout : nullptr;
    if (!layout) {
      Result<Layout> made = Layout::make(plan, cases.at(k).valuation);
      if (!made.ok()) return "case " + std::to_string(k) + ": the plan has no layout";
      layout = std::make_shared<const Layout>(std::move(made).value());
    }
    auto fault = std::async(beside(plan.ops.size()), [&] { return first_fault(plan, *layout); });
    std::string problem;
    for (std::uint64_t c = 0; c < cases.condition_cases() && problem.empty(); ++c, ++k) {
      const CaseValues values = cases.at(k);
      std::optional<Subject> own;
      Subject& subject = first != nullptr && k == 0 ? *first : own.emplace(plan, layout, values);
      problem = check_case(values, subject, certificate.cases[k], counts);
      if (!problem.empty()) problem = "case " + std::to_string(k) + ": " + problem;
    }
    if (std::string found = fault.get(); !found.empty()) return found;
    if (!problem.empty()) return problem;
  }
  return "";
}

CheckResult check_verdict(const Plan& plan, const Certificate& certificate, Subject* first) {
  CheckResult result;
  if (certificate.verdict == "unsafe") {
    result.message = check_unsafe(plan, certificate);
    result.summary = counted(static_cast<std::int64_t>(certificate.faults.size()), "fault");
  } else if (certificate.verdict == "safe") {
    Counts counts;
    result.message = check_safe(plan, certificate, first, counts);
    result.summary = counted(counts.cases, "case") + ", " + counted(counts.pairs, "pair") + ", " +
                     counted(counts.orders, "order") + ", " + counted(counts.reads, "read");
  } else {
    result.message = "there are no certificates of the verdict \"" + certificate.verdict + "\"";
  }
  if (result.message.empty()) result.kind = CheckResult::Kind::kAccepted;
  return result;
}

}  // namespace

const Demands& demands_of(Subject& subject, std::vector<Node> run) {
  if (subject.run.empty() || subject.run != run) {
    subject.demands = find_demands(subject.model, run);
    subject.run = std::move(run);
  }
  return subject.demands;
}

CheckResult check_certificate(const Plan& plan, const Certificate& certificate,
                              const CheckOptions& options) {
  auto own = std::async(beside(plan.ops.size()),
                        [&] { return options.any_plan ? certificate.plan : fingerprint(plan); });
  CheckResult result = check_verdict(plan, certificate, options.first);
  if (own.get() == certificate.plan) return result;
  return {.kind = CheckResult::Kind::kOtherPlan, .message = "the certificate is of another plan"};
}

}  // namespace memverify::cert
