// planner/cases.h -- the programs that a graph may turn out to be when it runs.
#pragma once

#include <functional>
#include <string>

#include "plan/layout.h"
#include "plan/plan.h"
#include "verify/program.h"

namespace memverify {

/// Calls `visit` with the program of each case of `plan`, all of whose tensors are placed apart:
/// all values of symbols and conditions, and of the iterations as many as show every way in which
/// two tensors can meet, whichever storages they come to share. Returns why not every case could be
/// looked at, "" otherwise; that symbols have too many values is no reason if `few_values` will do.
std::string for_each_case(const Plan& plan, const std::function<void(const Program&)>& visit,
                          bool few_values = false);

/// True iff `size_valuations` are not all that there are.
bool has_many_valuations(const Plan& plan);

/// The symbol values whose layouts bound the size of a tensor: all of them where they are few, else
/// the least and the greatest of each.
std::vector<Valuation> size_valuations(const Plan& plan);

}  // namespace memverify
