#include "tools/part_file.h"

#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "plan/version.h"
#include "plan/words.h"
#include "tools/checksum.h"
#include "tools/json_cursor.h"
#include "verify/certificate.h"

namespace memverify {
namespace {

using PartJson = nlohmann::json;

PartJson sightings(const std::vector<SimSighting>& all) {
  PartJson list = PartJson::array();
  for (const SimSighting& one : all) {
    PartJson versions = PartJson::array();
    for (const std::uint64_t word : one.versions) versions.push_back(std::to_string(word));
    list.push_back({{"what", one.what},
                    {"author", one.author},
                    {"step", one.step},
                    {"state", one.state},
                    {"versions", std::move(versions)}});
  }
  return list;
}

std::uint64_t natural(const JsonCursor& at, std::uint64_t most, std::uint64_t least = 0) {
  const auto value = static_cast<std::uint64_t>(at.integer(static_cast<std::int64_t>(least)));
  if (value <= most) return value;
  at.fail("import.range", "expected an integer up to " + std::to_string(most));
  return least;
}

constexpr std::uint64_t kMostCount = std::uint64_t{1} << 62U;

std::uint64_t word(const JsonCursor& at) {
  const std::string digits = at.text();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    at.fail("import.range", "expected 64 bits as a decimal number");
  }
  return value;
}

std::vector<SimSighting> read_sightings(const JsonCursor& list) {
  std::vector<SimSighting> all;
  for (const JsonCursor& at : list.items()) {
    SimSighting one = {.what = natural(at["what"], kMostCount),
                       .author = natural(at["author"], kMostCount),
                       .step = natural(at["step"], kMostCount)};
    for (const JsonCursor& digit : at["state"].items()) {
      one.state.push_back(
          static_cast<std::uint16_t>(natural(digit, std::numeric_limits<std::uint16_t>::max())));
    }
    for (const JsonCursor& bits : at["versions"].items()) one.versions.push_back(word(bits));
    all.push_back(std::move(one));
  }
  return all;
}

SimPartCase read_case(const JsonCursor& at) {
  return {.number = natural(at["number"], kMostCount),
          .common_states = natural(at["common_states"], kMostCount),
          .common_transitions = natural(at["common_transitions"], kMostCount),
          .states = natural(at["states"], kMostCount),
          .transitions = natural(at["transitions"], kMostCount),
          .reaches_end = at["reaches_end"].boolean(),
          .stopped = at["stopped"].text(),
          .hits = read_sightings(at["hits"]),
          .deadlocks = read_sightings(at["deadlocks"]),
          .wrong = read_sightings(at["wrong"])};
}

}  // namespace

std::string search_key(const Plan& plan, const SimOptions& options) {
  std::string key = "plan " + cert::fingerprint(plan) + ", reduction " +
                    std::string(name(options.reduction)) + ", " + MEMVERIFY_VERSION;
  for (const SymbolValue& given : options.symbols) {
    key += ", " + std::string(plan.symbols[given.symbol].name) + "=" + std::to_string(given.value);
  }
  for (const ConditionValue& given : options.when) {
    key += ", " + std::string(plan.conditions[given.condition].name) +
           (given.value ? "=true" : "=false");
  }
  return key;
}

std::string write_part(const SimPart& part, const std::string& key) {
  PartJson json = {{"memverify_part", 1},
                   {"search", key},
                   {"part", part.shard.number},
                   {"of", part.shard.of},
                   {"cases", PartJson::array()}};
  for (const SimPartCase& one : part.cases) {
    json["cases"].push_back({{"number", one.number},
                             {"common_states", one.common_states},
                             {"common_transitions", one.common_transitions},
                             {"states", one.states},
                             {"transitions", one.transitions},
                             {"reaches_end", one.reaches_end},
                             {"stopped", one.stopped},
                             {"hits", sightings(one.hits)},
                             {"deadlocks", sightings(one.deadlocks)},
                             {"wrong", sightings(one.wrong)}});
  }
  const auto dump = [&] { return json.dump(-1, ' ', false, PartJson::error_handler_t::replace); };
  json["check"] = checksum(dump());
  return dump() + "\n";
}

Result<SimPart> read_part(std::string_view text, const std::string& file, const std::string& key) {
  std::vector<Diagnostic> errors;
  auto json = parse_json(text, file, errors);
  if (!json) return errors;
  const JsonCursor at(*json, file, errors);
  if (natural(at["memverify_part"], kMostCount) != 1) {
    at["memverify_part"].fail("import.range", "expected 1, the version of this format");
  }
  const std::string check = at["check"].text();
  SimPart part;
  part.shard.of = natural(at["of"], SimShard::kMostParts, 1);
  part.shard.number = natural(at["part"], part.shard.of, 1);
  for (const JsonCursor& one : at["cases"].items()) part.cases.push_back(read_case(one));
  const std::string search = at["search"].text();
  if (!errors.empty()) return errors;
  json->erase("check");
  if (check != checksum(json->dump(-1, ' ', false, PartJson::error_handler_t::replace))) {
    return Diagnostic{.id = "parts.damaged",
                      .message = "the file is not as it was written",
                      .pointer = "/check",
                      .file = file};
  }
  if (search != key) {
    return Diagnostic{
        .id = "parts.mixed",
        .message = "this is a part of another search (" + search + "; here: " + key + ")",
        .pointer = "/search",
        .file = file};
  }
  return part;
}

}  // namespace memverify
