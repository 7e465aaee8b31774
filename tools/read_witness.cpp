#include "tools/read_witness.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "plan/words.h"

namespace memverify {
namespace {

using Json = nlohmann::ordered_json;

/// Reads one finding; remembers what is wrong with it.
class WitnessReader {
 public:
  explicit WitnessReader(const Plan& plan) : plan_(plan) {}

  Result<Finding> read(const Json& json) {
    Finding finding;
    const RuleInfo* rule = find_rule(text(json, "rule"));
    if (rule == nullptr) return fail("witness.field", "`rule` is no rule that memverify knows");
    finding.rule = rule->rule;
    for (const Json& name : list(json, "ops")) finding.ops.push_back(find(plan_.ops, name, "op"));
    for (const Json& name : list(json, "tensors")) {
      finding.tensors.push_back(find(plan_.tensors, name, "tensor"));
    }
    for (const Json& number : list(json, "iteration")) finding.iteration.push_back(integer(number));
    if (json.contains("pool")) finding.pool = find(plan_.pools, json["pool"], "pool");
    if (const Json& bytes = list(json, "bytes"); bytes.size() == 2) {
      finding.bytes = {integer(bytes[0]), integer(bytes[1])};
    }
    read_conditions(json, finding);
    read_symbols(json, finding);
    for (const Json& step : list(json, "witness")) read_step(step, finding);
    if (error_) return *error_;
    return finding;
  }

 private:
  static Diagnostic fail(std::string id, std::string message) {
    return {.id = std::move(id), .message = std::move(message)};
  }
  void note(std::string id, std::string message) {
    if (!error_) error_ = fail(std::move(id), std::move(message));
  }

  /// The string at `key`, or "".
  static std::string text(const Json& json, const char* key) {
    const bool is_there = json.is_object() && json.contains(key) && json[key].is_string();
    return is_there ? json[key].get<std::string>() : "";
  }

  const Json& list(const Json& json, const char* key) {
    static const Json kEmpty = Json::array();
    if (!json.is_object() || !json.contains(key)) return kEmpty;
    if (json[key].is_array()) return json[key];
    note("witness.field", "`" + std::string(key) + "` must be an array");
    return kEmpty;
  }

  std::int64_t integer(const Json& json) {
    if (json.is_number_integer()) return json.get<std::int64_t>();
    note("witness.field", "an integer is expected in place of " + json.dump());
    return 0;
  }

  template <typename Id, typename T>
  Id find(const Table<Id, T>& table, const Json& name, const char* what) {
    if (!name.is_string()) {
      note("witness.field", "the name of a " + std::string(what) + " must be a string");
      return Id{0};
    }
    for (Id id : ids(table)) {
      if (table[id].name == name.get_ref<const std::string&>()) return id;
    }
    note("witness.name", "the plan has no " + std::string(what) + " " +
                             memverify::quoted(name.get_ref<const std::string&>()));
    return Id{0};
  }

  void read_symbols(const Json& json, Finding& finding) {
    if (!json.contains("symbols") || !json["symbols"].is_object()) return;
    for (const auto& [name, json_value] : json["symbols"].items()) {
      const SymbolId symbol = find(plan_.symbols, Json(name), "symbol");
      const std::int64_t value = integer(json_value);
      finding.symbols.push_back({symbol, value});
      if (error_ || admits(plan_.symbols[symbol], value)) continue;
      note("witness.symbol", std::to_string(value) + " is no value of symbol " +
                                 memverify::quoted(plan_.symbols[symbol].name));
    }
  }

  void read_conditions(const Json& json, Finding& finding) {
    if (!json.contains("when") || !json["when"].is_object()) return;
    for (const auto& [name, value] : json["when"].items()) {
      const ConditionId condition = find(plan_.conditions, Json(name), "condition");
      if (value.is_boolean()) {
        finding.when.push_back({condition, -1, value.get<bool>()});
      } else if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
          if (!value[i].is_boolean()) continue;  // null: the run does not say.
          finding.when.push_back({condition, static_cast<std::int64_t>(i), value[i].get<bool>()});
        }
      }
    }
  }

  void read_step(const Json& json, Finding& finding) {
    const std::string at = text(json, "at");
    if (at != "start" && at != "complete") {
      note("witness.field", "a step must be an object with \"at\": \"start\" or \"complete\"");
      return;
    }
    finding.witness.push_back({at == "complete", find(plan_.ops, json.value("op", Json()), "op"),
                               json.contains("iteration") ? integer(json["iteration"]) : 0});
  }

  const Plan& plan_;
  std::optional<Diagnostic> error_;
};

}  // namespace

Result<Finding> read_witness(const Plan& plan, std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Diagnostic{.id = "json.syntax", .message = "this is no JSON"};
  if (json.is_object() && json.contains("rule")) return WitnessReader(plan).read(json);
  if (json.is_object() && json.contains("findings") && json["findings"].is_array()) {
    for (const Json& finding : json["findings"]) {
      if (!finding.is_object() || !finding.contains("witness")) continue;
      if (!finding["witness"].empty()) return WitnessReader(plan).read(finding);
    }
  }
  return Diagnostic{.id = "witness.finding",
                    .message = "there is no finding with a run in this file"};
}

}  // namespace memverify
