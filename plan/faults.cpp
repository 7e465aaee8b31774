#include "plan/faults.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "plan/faults_impl.h"

namespace memverify {

void add_tensor(const Plan& plan, TensorId tensor, Finding& finding) {
  finding.tensors.push_back(tensor);
  finding.storages.push_back(plan.tensors[tensor].storage);
}

std::int64_t end_of(std::int64_t begin, std::int64_t bytes) {
  std::int64_t end = 0;
  if (__builtin_add_overflow(begin, bytes, &end)) return std::numeric_limits<std::int64_t>::max();
  return end;
}

std::vector<Finding> static_faults(const Plan& plan, const Layout& layout, std::size_t limit) {
  FaultSearch search{plan, layout, {}, std::vector<bool>(plan.storages.size())};
  find_op_faults(search);
  find_placement_faults(search);
  find_boundary_faults(search);
  std::ranges::stable_sort(search.faults, {}, [](const Fault& fault) {
    const Finding& finding = fault.finding;
    return std::tie(finding.rule, finding.ops, finding.tensors, finding.storages, finding.pool);
  });
  if (search.faults.size() > limit) search.faults.resize(limit);
  std::vector<Finding> findings;
  findings.reserve(search.faults.size());
  for (Fault& fault : search.faults) {
    tell_fault(plan, layout, fault);
    findings.push_back(std::move(fault.finding));
  }
  return findings;
}

}  // namespace memverify
