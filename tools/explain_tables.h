// tools/explain_tables.h -- the two halves of the explanations; private to explain_texts*.cpp.
#pragma once

#include <span>

#include "tools/explain_texts.h"

namespace memverify {

std::span<const ExplainText> explain_texts_of_runs();
std::span<const ExplainText> explain_texts_of_plans();

}  // namespace memverify
