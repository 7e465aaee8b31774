#include "verify/certificate_check.h"

#include <algorithm>
#include <future>

#include "plan/beside.h"
#include "plan/faults.h"
#include "plan/layout.h"
#include "plan/words.h"
#include "verify/certificate_bytes.h"
#include "verify/certificate_cases.h"
#include "verify/certificate_facts.h"
#include "verify/certificate_model.h"
#include "verify/certificate_run.h"
#include "verify/certificate_unsafe.h"

namespace memverify::cert {
namespace {

/// Asks the orders of a certificate for what the bytes need.
class Judge : public ByteVisitor {
 public:
  Judge(const Model& model, Orders& orders, const Rows& writers)
      : model_(model), orders_(orders), writers_(writers) {}

  void order(Node node, Node before) override {
    ++pairs_;
    if (!problem_.empty() || orders_.use(node, before)) return;
    problem_ = "no order says that " + describe(model_, before) + " completes before " +
               describe(model_, node) + " starts";
  }

  void again(std::uint32_t orders) override { pairs_ += orders; }

  void read(Node node, std::span<const Node> writers) override {
    const std::size_t k = reads_++;
    if (!problem_.empty()) return;
    const auto row = k < writers_.size() ? writers_.row(k) : std::span<const std::int64_t>();
    const bool same = k < writers_.size() && std::ranges::equal(row, writers, {}, {}, [&](Node w) {
                        return w == kNoNode ? 0 : std::int64_t{node} - std::int64_t{w};
                      });
    if (!same) problem_ = "writers entry " + std::to_string(k) + ", of " + describe(model_, node);
  }

  void fault(const std::string& what) override {
    if (problem_.empty()) problem_ = "the plan is not safe: " + what;
  }

  const std::string& problem() const { return problem_; }
  std::int64_t pairs() const { return pairs_; }
  std::size_t reads() const { return reads_; }

 private:
  const Model& model_;
  Orders& orders_;
  const Rows& writers_;
  std::string problem_;
  std::int64_t pairs_ = 0;
  std::size_t reads_ = 0;
};

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
  auto taken = std::async(beside(model.size()), [&] { return orders.take(proof.orders); });
  const Run run = make_run(model, proof.postponed);
  if (!run.problem.empty()) return run.problem;
  if (!subject.bytes) subject.bytes.emplace(model);
  if (std::string problem = taken.get(); !problem.empty()) return problem;
  Judge judge(model, orders, proof.writers);
  subject.bytes->go(run.order, judge);
  if (!judge.problem().empty()) return judge.problem();
  if (judge.reads() != proof.writers.size()) return "writers for reads that there are not";
  if (std::string problem = orders.idle(); !problem.empty()) return problem;
  if (judge.pairs() != proof.pairs) {
    return "pairs: there are " + std::to_string(judge.pairs());
  }
  ++counts.cases;
  counts.pairs += judge.pairs();
  counts.orders += static_cast<std::int64_t>(orders.size());
  counts.reads += static_cast<std::int64_t>(judge.reads());
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

CheckResult check_certificate(const Plan& plan, const Certificate& certificate,
                              const CheckOptions& options) {
  auto own = std::async(beside(plan.ops.size()),
                        [&] { return options.any_plan ? certificate.plan : fingerprint(plan); });
  CheckResult result = check_verdict(plan, certificate, options.first);
  if (own.get() == certificate.plan) return result;
  return {.kind = CheckResult::Kind::kOtherPlan, .message = "the certificate is of another plan"};
}

}  // namespace memverify::cert
