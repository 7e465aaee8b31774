#include "tools/explain_texts.h"

#include <algorithm>
#include <cassert>

#include "tools/explain_tables.h"

namespace memverify {

const ExplainText& explain_text(Rule rule) {
  for (const auto table : {explain_texts_of_runs(), explain_texts_of_plans()}) {
    const auto found = std::ranges::find(table, rule, &ExplainText::rule);
    if (found != table.end()) return *found;
  }
  assert(false && "every rule has an explanation");
  return explain_texts_of_runs().front();
}

std::string passing_plan(const ExplainText& text) {
  std::string plan(text.failing);
  return plan.replace(plan.find(text.broken), text.broken.size(), text.mended);
}

}  // namespace memverify
