// tools/given_values.h -- values of symbols and conditions as they are given on a command line.
#pragma once

#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// Looks up "n=64" and the like and appends the values. "" or what is wrong with them.
std::string read_symbols(const Plan& plan, const std::vector<std::string>& texts,
                         std::vector<SymbolValue>& values);

/// The same of "training=true"; each value is for all iterations.
std::string read_conditions(const Plan& plan, const std::vector<std::string>& texts,
                            std::vector<ConditionValue>& values);

}  // namespace memverify
