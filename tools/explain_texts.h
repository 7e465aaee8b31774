// tools/explain_texts.h -- what `memverify explain` says about each rule.
#pragma once

#include <string>
#include <string_view>

#include "plan/finding.h"

namespace memverify {

struct ExplainText {
  Rule rule;
  std::string_view meaning;
  std::string_view danger;  ///< What goes wrong in practice.
  std::string_view remedy;
  std::string_view failing;  ///< A plan that has exactly this finding.
  std::string_view broken;   ///< The piece of it that is at fault …
  std::string_view mended;   ///< … and what to put there for a plan without findings.
};

const ExplainText& explain_text(Rule rule);

/// The failing plan with its fault mended.
std::string passing_plan(const ExplainText& text);

}  // namespace memverify
