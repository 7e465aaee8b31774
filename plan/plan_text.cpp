#include "plan/plan_text.h"

namespace memverify {

void PlanText::value(Expr expr) {
  if (expr.is_constant()) {
    value(expr.constant);
  } else {
    value(std::string_view(plan_.formulas.to_string(expr)));
  }
}

void PlanText::exprs(std::string_view name, Range range) {
  key(name);
  open('[');
  for (const Expr expr : Plan::slice(plan_.exprs, range)) {
    next();
    value(expr);
  }
  close(']');
}

void PlanText::version(OpId from, bool from_initial) {
  if (from_initial) {
    field("from", std::string_view("initial"));
  } else if (from != kNone<OpId>) {
    field("from", plan_.ops[from].name);
  }
}

bool PlanText::has_extras(std::initializer_list<PointerStep> owner) const {
  return !extras_.empty() && extras_.contains(json_pointer(owner));
}

void PlanText::extras(std::initializer_list<PointerStep> owner) {
  if (extras_.empty()) return;
  const auto found = extras_.find(json_pointer(owner));
  if (found == extras_.end()) return;
  for (const Extra* extra : found->second) {
    key(extra->key);
    raw(extra->json);
  }
}

}  // namespace memverify
