#include "tools/given_values.h"

#include "plan/suggest.h"
#include "plan/words.h"
#include "tools/whole_number.h"

namespace memverify {
namespace {

/// Splits "name=value" and finds the name in `table`; "" or what is wrong.
template <typename Id, typename T>
std::string look_up(const Table<Id, T>& table, const std::string& text, const char* what, Id& id,
                    std::string& value) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return memverify::quoted(text) + " is not NAME=VALUE";
  const std::string name = text.substr(0, equals);
  value = text.substr(equals + 1);
  Suggester suggester(name);
  for (Id candidate : ids(table)) {
    id = candidate;
    if (table[candidate].name == name) return "";
    suggester.consider(table[candidate].name);
  }
  return "the plan has no " + std::string(what) + " " + memverify::quoted(name) + suggester.hint();
}

}  // namespace

std::string read_symbols(const Plan& plan, const std::vector<std::string>& texts,
                         std::vector<SymbolValue>& values) {
  std::string value;
  for (const std::string& text : texts) {
    SymbolId id = kNone<SymbolId>;
    if (std::string problem = look_up(plan.symbols, text, "symbol", id, value); !problem.empty()) {
      return problem;
    }
    const auto number = whole_number(value);
    if (!number || !admits(plan.symbols[id], *number)) {
      return memverify::quoted(value) + " is no value of symbol " +
             memverify::quoted(plan.symbols[id].name);
    }
    values.push_back({id, *number});
  }
  return "";
}

std::string read_conditions(const Plan& plan, const std::vector<std::string>& texts,
                            std::vector<ConditionValue>& values) {
  std::string value;
  for (const std::string& text : texts) {
    ConditionId id = kNone<ConditionId>;
    if (std::string problem = look_up(plan.conditions, text, "condition", id, value);
        !problem.empty()) {
      return problem;
    }
    if (value != "true" && value != "false") {
      return memverify::quoted(value) + " is not `true` or `false`";
    }
    values.push_back({id, -1, value == "true"});
  }
  return "";
}

}  // namespace memverify
