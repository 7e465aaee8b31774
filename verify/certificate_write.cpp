#include "verify/certificate_write.h"

#include <algorithm>
#include <cassert>
#include <compare>
#include <future>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/beside.h"
#include "plan/layout.h"
#include "verify/certificate_bytes.h"
#include "verify/certificate_cases.h"
#include "verify/certificate_check.h"
#include "verify/certificate_facts.h"
#include "verify/certificate_model.h"
#include "verify/certificate_run.h"
#include "verify/certificate_unsafe.h"
#include "verify/order.h"
#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {
namespace {

using cert::kNoNode;
using cert::Model;
using cert::Node;
using cert::Reason;

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

/// Traces needed orders back to their reasons.
class Tracer {
 public:
  Tracer(Model& model, cert::Knowledge& truth, std::span<const Node> run)
      : model_(model), truth_(truth), run_(run), rank_(model.size()) {
    for (std::size_t k = 0; k < run.size(); ++k) rank_[run[k]] = static_cast<std::uint32_t>(k);
  }

  /// False if some order has no reason, or the reasons do not come to rest.
  bool trace(std::span<const std::pair<Node, Node>> orders) {
    const std::vector<std::pair<Node, Node>> needed = not_implied(orders);
    for (int round = 0; round < kMostRounds; ++round) {
      needed_of_.assign(run_.size(), kNothing);
      orders_of_.assign(run_.size(), {});
      needed_.clear();
      reached_ = static_cast<std::uint32_t>(run_.size());
      orders_.clear();
      signals_.clear();
      for (const auto& [node, before] : needed) need(node, before);
      for (const auto& [node, before] : std::set(late_)) need(node, before);
      const std::size_t late = late_.size();
      if (!trace_back()) return false;
      if (late_.size() == late) return true;
    }
    return false;
  }

  cert::Rows rows() {
    cert::Rows rows;
    rows.numbers.reserve(3 * orders_.size());
    rows.ends.reserve(orders_.size());
    Node previous = 0;
    for (Node node = 0; node < model_.size(); ++node) {
      const Range of_node = orders_of_[rank_[node]];
      const auto orders = std::span(orders_).subspan(of_node.begin, of_node.size());
      std::ranges::sort(orders, {}, &Traced::before);
      for (const Traced& order : orders) {
        cert::add_order(rows, previous, node, order.before, order.via, order.count,
                        Plan::slice(signals_, order.signals));
        previous = node;
      }
    }
    return rows;
  }

 private:
  static constexpr int kMostRounds = 50;
  struct Traced {
    Node before, via;
    std::uint32_t count;
    Range signals;  ///< In `signals_`.
  };
  struct Needed {
    std::uint32_t line, at;  ///< The chain of `before`.
    Node before;
    auto operator<=>(const Needed&) const = default;
  };

  /// Without those that follow from the one before of the same line and chain: of an earlier node
  /// on the line, and of a later completion on the chain.
  std::vector<std::pair<Node, Node>> not_implied(std::span<const std::pair<Node, Node>> orders) {
    std::vector<std::pair<Node, Node>> result;
    struct Places {
      std::uint32_t on_line, on_chain;
    };
    std::unordered_map<std::uint64_t, Places> last;  // By line and chain.
    for (const auto& [node, before] : orders) {
      const cert::NodeInfo& info = model_[node];
      const Model::Place chain = model_.chain(before);
      if (info.line == chain.line) continue;
      const Places places{info.at, chain.at};
      const auto [at, is_new] =
          last.try_emplace(std::uint64_t{info.line} << 32 | chain.line, places);
      Places& known = at->second;
      if (!is_new && known.on_line <= info.at && chain.at <= known.on_chain) continue;
      known = places;
      result.emplace_back(node, before);
    }
    return result;
  }

  bool trace_back() {
    while (reached_ > 0) {
      std::uint32_t at = needed_of_[--reached_];
      if (at == kNothing) continue;
      const Node node = run_[reached_];
      auto& needed = of_node_;
      for (needed.clear(); at != kNothing; at = needed_[at].next) {
        const Node before = needed_[at].before;
        const Model::Place chain = model_.chain(before);
        needed.push_back({chain.line, chain.at, before});
      }
      std::ranges::sort(needed);
      const auto begin = static_cast<std::uint32_t>(orders_.size());
      orders_of_[reached_] = {begin, begin};
      for (std::size_t k = 0; k < needed.size(); ++k) {
        // Of a queue the last completion speaks for the others.
        if (k + 1 < needed.size() && needed[k].line == needed[k + 1].line) continue;
        if (!explain(node, needed[k].before)) return false;
        orders_of_[reached_].end = static_cast<std::uint32_t>(orders_.size());
      }
    }
    return true;
  }

  bool explain(Node node, Node before) {
    const auto reason = first_reason(model_, node, before, truth_);
    if (!reason) return false;
    if (reason->via != kNoNode) {
      need_completion(reason->via, before);
    } else {
      const cert::Count& count = model_.counts(node)[reason->count];
      const bool by_start = count.queue != kNone<QueueId> &&
                            model_.plan().queues[count.queue].order == QueueOrder::kIssue;
      for (Node signal : reason->signals) {
        if (by_start) {
          need(signal, before);
        } else {
          need_completion(signal, before);
        }
      }
    }
    const auto begin = static_cast<std::uint32_t>(signals_.size());
    signals_.insert(signals_.end(), reason->signals.begin(), reason->signals.end());
    orders_.push_back(
        {before, reason->via, reason->count, {begin, static_cast<std::uint32_t>(signals_.size())}});
    return true;
  }

  void need_completion(Node node, Node before) {
    if (node != before) need(node, before, true);
  }

  /// Enters the order where on the line of `node` it starts to hold.
  void need(Node node, Node before, bool or_same = false) {
    const Model::Place chain = model_.chain(before);
    const cert::NodeInfo& info = model_[node];
    if (info.line == chain.line) {
      assert(chain.at < info.at || (or_same && chain.at == info.at));
      return;
    }
    const Node entry = model_.is_queue(info.line) ? first_on_line(info, before) : node;
    if (rank_[entry] < reached_) {
      needed_.push_back({before, needed_of_[rank_[entry]]});
      needed_of_[rank_[entry]] = static_cast<std::uint32_t>(needed_.size() - 1);
    } else if (!has_order(rank_[entry], before)) {
      late_.emplace(entry, before);
    }
  }

  bool has_order(std::uint32_t rank, Node before) const {
    const Range of_node = orders_of_[rank];
    const auto orders = std::span(orders_).subspan(of_node.begin, of_node.size());
    return std::ranges::find(orders, before, &Traced::before) != orders.end();
  }

  /// Looked for from the node back in growing steps: it is mostly near.
  Node first_on_line(const cert::NodeInfo& info, Node before) {
    const std::vector<Node>& line = model_.line(QueueId{info.line});
    const auto holds = [&](std::size_t at) { return truth_.at_start(line[at], before); };
    std::size_t end = info.at;  // Holds there.
    std::size_t begin = 0;      // Holds nowhere below.
    for (std::size_t step = 1; end > 0; step *= 2) {
      const std::size_t at = end - std::min(step, end);
      if (!holds(at)) {
        begin = at + 1;
        break;
      }
      end = at;
    }
    const auto found =
        std::partition_point(line.begin() + static_cast<std::ptrdiff_t>(begin),
                             line.begin() + static_cast<std::ptrdiff_t>(end),
                             [&](Node other) { return !truth_.at_start(other, before); });
    return *found;
  }

  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};
  struct Linked {
    Node before;
    std::uint32_t next;  ///< Of the same node, in `needed_`.
  };

  Model& model_;
  cert::Knowledge& truth_;
  std::span<const Node> run_;
  std::vector<std::uint32_t> rank_;       ///< By node: its place in the run.
  std::vector<std::uint32_t> needed_of_;  ///< By rank, in `needed_`: what that node needs done.
  std::vector<Linked> needed_;
  std::vector<Needed> of_node_;
  std::uint32_t reached_ = 0;             ///< Nodes from here on in the run are explained.
  std::set<std::pair<Node, Node>> late_;  ///< Needed of nodes that had been explained.
  std::vector<Traced> orders_;
  std::vector<Node> signals_;
  std::vector<Range> orders_of_;  ///< By rank, in `orders_`.
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
  Tracer tracer(model, truth, subject.run);
  if (!tracer.trace(demands.orders)) return "an order has no reason that the checker knows";
  proof.orders = tracer.rows();
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
  const auto clash = cert::BytePass(model).clash(static_cast<Node>(fault.nodes[0]),
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
