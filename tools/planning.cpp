#include "tools/planning.h"

#include <string>
#include <utility>

#include "plan/words.h"
#include "planner/apart.h"
#include "tools/ask_engines.h"
#include "tools/confirm.h"

namespace memverify {

std::vector<Diagnostic> sizes_without_bound(const Plan& graph, bool takes_dims) {
  for (const TensorId id : ids(graph.tensors)) {
    const Tensor& tensor = graph.tensors[id];
    if (tensor.placement != TensorKind::kUnplaced) continue;
    std::vector<Expr> sizes{tensor.bytes};
    for (const Range range : {tensor.shape, tensor.strides}) {
      const auto exprs = Plan::slice(graph.exprs, range);
      sizes.insert(sizes.end(), exprs.begin(), exprs.end());
    }
    for (const Expr& size : sizes) {
      for (const SymbolId symbol : graph.formulas.symbols(size)) {
        if (graph.symbols[symbol].max) continue;
        const std::string name(graph.symbols[symbol].name);
        const std::string with = takes_dims ? " with --dim " + printable(name) + "=MIN..MAX" : "";
        return {{.id = "graph.unbounded",
                 .message = "the size of tensor " + quoted(tensor.name) + " depends on symbol " +
                            memverify::quoted(name) + ", which has no `max`: give it one" + with +
                            ", or plan for some ranges with --buckets " + printable(name) + "=N,N",
                 .pointer = "/tensors/" + std::to_string(index(id))}};
      }
    }
  }
  return {};
}

Report decide_planned(const std::string& file, Plan plan) {
  Report report{.file = file};
  report.plan = std::move(plan);
  ask_engines(report, select_engines("hb"), {});
  if (report.verdict == Verdict::kUnknown) {
    report.engines.clear();
    ask_engines(report, select_engines("auto"), {});
  }
  confirm_findings(report);
  return report;
}

Planning make_planning(const std::string& file, const Plan& graph, const PlanGraphOptions& how) {
  Planning result;
  result.errors = sizes_without_bound(graph);
  if (!result.errors.empty()) return result;
  const Result<ApartPlan> apart = place_apart(graph, how.slots);
  if (!apart.ok()) {
    result.errors = apart.errors();
    return result;
  }
  result.apart = decide_planned(file, apart.value().plan);
  if (result.apart.verdict != Verdict::kSafe) return result;
  result.planned = plan_graph(graph, apart.value(), how);
  if (result.fits()) result.made = decide_planned(file, result.planned->plan);
  return result;
}

}  // namespace memverify
