// The table of rules (docs/semantics.md, "Rules"). Ids are stable for ever.
#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>

#include "plan/finding.h"

namespace memverify {
namespace {

constexpr std::array<RuleInfo, 15> kRules = {{
    {Rule::kWar, "MV101", "reuse before the last read",
     "a later writer of the same bytes may start before an earlier reader completes (WAR)",
     Severity::kError},
    {Rule::kRaw, "MV102", "read before written",
     "a reader may start before an earlier writer of the same bytes completes (RAW)",
     Severity::kError},
    {Rule::kWaw, "MV103", "unordered writers", "two writers of the same bytes are unordered (WAW)",
     Severity::kError},
    {Rule::kWrongVersion, "MV104", "wrong version",
     "everything is ordered, yet a read finds a value that was overwritten or is stale",
     Severity::kError},
    {Rule::kUnwritten, "MV105", "read of unwritten bytes",
     "an op reads bytes that nothing has written", Severity::kError},
    {Rule::kBoundary, "MV106", "boundary value lost",
     "an input, constant or output does not hold its value at the end", Severity::kError},
    {Rule::kInPlace, "MV107", "in-place use the op does not allow",
     "an op reads and writes the same bytes, or writes a byte twice, without saying it may",
     Severity::kError},
    {Rule::kOutOfBounds, "MV108", "out of bounds",
     "an access, view, tensor or storage leaves the bytes it lies in", Severity::kError},
    {Rule::kMisaligned, "MV109", "misaligned",
     "a storage or tensor does not start at a multiple of its alignment", Severity::kError},
    {Rule::kCapacity, "MV110", "pool capacity exceeded",
     "more bytes are used than the pool has, or than `peak_bytes` claims", Severity::kError},
    {Rule::kDeadlock, "MV111", "deadlock", "a reachable state in which a command waits for ever",
     Severity::kError},
    {Rule::kLifetime, "MV112", "use outside alloc and free",
     "an access, alloc or free outside the life of its storage", Severity::kError},
    {Rule::kIncoherent, "MV113", "incoherent view",
     "a `view` op whose operands and results are not one alias family", Severity::kError},
    {Rule::kNotProven, "MV201", "not proven",
     "an op of unknown effect, or a limit was reached: neither safe nor unsafe",
     Severity::kNotProven},
    {Rule::kWarning, "MV301", "suspicious but harmless",
     "a wait without effect, an unused sync, inputs that share bytes, or too high a claimed peak",
     Severity::kWarning},
}};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::toupper(x) == std::toupper(y); });
}

}  // namespace

const RuleInfo& info(Rule rule) {
  const RuleInfo& row = kRules.at(static_cast<std::size_t>(rule));
  assert(row.rule == rule);
  return row;
}

const RuleInfo* find_rule(std::string_view id) {
  for (const RuleInfo& row : kRules) {
    if (equal_ignoring_case(row.id, id)) return &row;
  }
  return nullptr;
}

std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const RuleInfo& row : kRules) rules.push_back(row.rule);
  return rules;
}

}  // namespace memverify
