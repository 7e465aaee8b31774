#include "verify/certificate_write.h"

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plan/beside.h"
#include "plan/layout.h"
#include "verify/certificate_cases.h"
#include "verify/certificate_check.h"
#include "verify/certificate_model.h"
#include "verify/certificate_run.h"
#include "verify/certificate_touches.h"
#include "verify/certificate_trace.h"
#include "verify/certificate_unsafe.h"
#include "verify/order.h"
#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {
namespace {

using cert::kNoNode;
using cert::Model;
using cert::Node;

/// What the engine's clocks say, in the words of the checker.
class EngineKnowledge final : public cert::Knowledge {
 public:
  EngineKnowledge(const Model& model, const Program& program, const Order& order) : order_(order) {
    Cmd next = 0;
    for (Node node = 0; node < model.size(); ++node) {
      const bool is_extra = model[node].role == cert::Role::kRecorded;
      command_.push_back(is_extra ? kNoCmd : next++);
    }
    agrees_ = next == program.instances.size();
    for (Node node = 0; node < model.size() && agrees_; ++node) {
      if (command_[node] == kNoCmd) continue;
      const Instance& instance = program.instances[command_[node]];
      agrees_ = instance.op == model[node].op && instance.iteration == model[node].iteration;
    }
  }
  /// Both count the same instances.
  bool agrees() const { return agrees_; }

  bool at_start(Node node, Node before) override {
    if (command_[node] != kNoCmd) return order_.before(command_[before], command_[node]);
    return order_.before_completion(command_[before], command_[node - 1]);
  }

 private:
  const Order& order_;
  std::vector<Cmd> command_;
  bool agrees_ = true;
};

/// What the engine knows of a case.
struct EngineCase {
  EngineCase(const Plan& plan, const Layout& layout, const cert::Booleans& values)
      : program(make_program(plan, layout, conditions(plan, values), values.iterations)),
        walked(walk(program)),
        order(program, walked) {}
  EngineCase(const EngineCase&) = delete;
  EngineCase& operator=(const EngineCase&) = delete;

  static ConditionCase conditions(const Plan& plan, const cert::Booleans& values) {
    ConditionCase result(plan, values.iterations);
    for (ConditionId id : ids(plan.conditions)) {
      for (std::uint32_t i = 0; i < values.iterations; ++i) result.set(id, i, values(id, i));
    }
    return result;
  }

  Program program;
  Walk walked;
  Order order;
};

std::string prove_case(const Plan& plan, cert::Subject& subject, cert::Case& proof) {
  const cert::CaseValues& values = subject.values;
  proof.iterations = values.conditions.iterations;
  proof.symbols = values.symbol_values;
  proof.conditions = values.condition_values;
  Model& model = subject.model;
  if (!model.refused().empty()) return model.refused();
  auto engine = std::async(beside(model.size()), [&] {
    return std::make_unique<EngineCase>(plan, *subject.layout, values.conditions);
  });
  cert::Run run = find_run(model, proof.postponed);
  if (!run.problem.empty()) return run.problem;
  const cert::Demands& demands = demands_of(subject, std::move(run.order));
  if (!demands.fault.empty()) return demands.fault;
  const std::unique_ptr<const EngineCase> clocks = engine.get();
  if (!clocks->order.is_known()) return "the clocks take too long to find";
  EngineKnowledge truth(model, clocks->program, clocks->order);
  if (!truth.agrees()) return "engine and checker count different commands";
  std::optional<cert::Rows> orders = trace_orders(model, truth, subject.run, demands.orders);
  if (!orders) return "an order has no reason that the checker knows";
  proof.orders = *std::move(orders);
  proof.pairs = demands.pairs;
  proof.writers = demands.writers;
  return "";
}

/// `first` receives the subject of case 0.
std::string prove_safe(const Plan& plan, cert::Certificate& certificate,
                       std::unique_ptr<cert::Subject>& first) {
  if (std::ranges::any_of(plan.ops, [](const Op& op) { return op.kind == OpKind::kUnknown; })) {
    return "the plan has unknown commands";
  }
  const cert::Cases cases(plan);
  if (!cases.refused().empty()) return cases.refused();
  for (std::uint64_t k = 0; k < cases.count();) {
    Result<Layout> made = Layout::make(plan, cases.at(k).valuation);
    if (!made.ok()) return "the plan has no layout for some symbol values";
    const auto layout = std::make_shared<const Layout>(std::move(made).value());
    for (std::uint64_t c = 0; c < cases.condition_cases(); ++c, ++k) {
      certificate.cases.emplace_back();
      auto subject = std::make_unique<cert::Subject>(plan, layout, cases.at(k));
      std::string problem = prove_case(plan, *subject, certificate.cases.back());
      if (k == 0) first = std::move(subject);
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

/// The first case in which a finding shows.
std::uint64_t case_of(const cert::Cases& cases, const Finding& finding) {
  for (std::uint64_t k = 0; k < cases.count(); ++k) {
    const cert::CaseValues values = cases.at(k);
    const bool symbols = std::ranges::all_of(finding.symbols, [&](const SymbolValue& v) {
      return values.valuation.symbols[index(v.symbol)] == v.value;
    });
    const bool conditions = std::ranges::all_of(finding.when, [&](const ConditionValue& v) {
      const std::int64_t iteration = std::max<std::int64_t>(v.iteration, 0);
      return values.conditions.iterations > iteration &&
             values.conditions(v.condition, static_cast<std::uint32_t>(iteration)) == v.value;
    });
    const bool reached = std::ranges::all_of(
        finding.iteration, [&](std::int64_t i) { return i < values.conditions.iterations; });
    if (reached && symbols && conditions) return k;
  }
  return cases.count();
}

/// False for a finding whose rule has no certificate.
bool fill_fault(Model& model, const Finding& finding, cert::Fault& fault) {
  fault.rule = info(finding.rule).id;
  if (finding.ops.empty() || finding.iteration.size() != finding.ops.size()) return false;
  const auto node = [&](std::size_t k) { return model.find(finding.ops[k], finding.iteration[k]); };
  if (finding.rule == Rule::kDeadlock) {
    if (node(0) == kNoNode) return false;
    fault.blocked = cert::blocked_set(model, node(0));
    return fault.blocked.size() > 0;
  }
  if (!is_race(finding.rule) || finding.witness.empty() || node(0) == kNoNode || node(1) == kNoNode)
    return false;
  fault.nodes = {std::min(node(0), node(1)), std::max(node(0), node(1))};
  for (const Step& step : finding.witness) {
    Node at = model.find(step.op, step.iteration);
    if (at == kNoNode) return false;
    const bool has_recorded = at + 1 < model.size() && model[at + 1].role == cert::Role::kRecorded;
    if (step.complete && has_recorded) ++at;
    fault.run.push_back({at, step.complete ? 1 : 0});
  }
  const auto clash = cert::Touches(model).clash(static_cast<Node>(fault.nodes[0]),
                                                static_cast<Node>(fault.nodes[1]));
  if (!clash) return false;
  fault.pool = index(clash->pool);
  fault.byte = clash->byte;
  return true;
}

/// Those of the findings that a run of the checker, or a set that waits for itself, shows.
std::string show_faults(const Plan& plan, const std::vector<Finding>& findings,
                        cert::Certificate& certificate) {
  const cert::Cases cases(plan);
  if (!cases.refused().empty()) return cases.refused();
  for (const Finding& finding : findings) {
    const std::uint64_t k = case_of(cases, finding);
    if (k == cases.count()) continue;
    const cert::CaseValues values = cases.at(k);
    const Result<Layout> layout = Layout::make(plan, values.valuation);
    if (!layout.ok()) continue;
    Model model(plan, layout.value(), values.conditions);
    if (!model.refused().empty()) return model.refused();
    cert::Fault fault{.number = static_cast<std::int64_t>(k),
                      .iterations = values.conditions.iterations,
                      .symbols = values.symbol_values,
                      .conditions = values.condition_values};
    if (fill_fault(model, finding, fault) && check_fault(model, fault).empty()) {
      certificate.faults.push_back(std::move(fault));
    }
  }
  return certificate.faults.empty() ? "none of the findings is a race or a deadlock that the "
                                      "checker can be shown"
                                    : "";
}

}  // namespace

CertificateResult certify(const Plan& plan, const EngineResult& result) {
  CertificateResult made;
  if (result.verdict == Verdict::kUnknown) {
    made.refused = "the verdict is " + std::string(name(result.verdict));
    return made;
  }
  auto fingerprint = std::async(beside(plan.ops.size()), [&] { return cert::fingerprint(plan); });
  made.certificate.verdict = name(result.verdict);
  std::unique_ptr<cert::Subject> first;
  made.refused = result.verdict == Verdict::kSafe
                     ? prove_safe(plan, made.certificate, first)
                     : show_faults(plan, result.findings, made.certificate);
  if (!made.refused.empty()) return made;
  made.certificate.plan = fingerprint.get();
  auto text = std::async(beside(plan.ops.size()),
                         [&] { return cert::write_certificate(made.certificate); });
  const cert::CheckResult checked =
      check_certificate(plan, made.certificate, {.any_plan = true, .first = first.get()});
  made.text = text.get();
  if (checked.kind != cert::CheckResult::Kind::kAccepted) {
    made.refused = "the checker does not accept it: " + checked.message;
  }
  return made;
}

}  // namespace memverify
