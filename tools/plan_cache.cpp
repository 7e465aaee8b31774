#include "tools/plan_cache.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "plan/input_file.h"
#include "plan/version.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/checksum.h"
#include "tools/json_cursor.h"

namespace memverify {
namespace {

using CacheJson = nlohmann::json;

constexpr std::int64_t kCacheFormat = 1;

CacheJson to_json(const NamedNumbers& numbers) {
  CacheJson json = CacheJson::object();
  for (const auto& [name, number] : numbers) json[name] = number;
  return json;
}

NamedNumbers numbers_of(const CacheJson& json) {
  const auto numbers = json.get<std::map<std::string, std::int64_t>>();
  return {numbers.begin(), numbers.end()};
}

CacheJson to_json(const std::optional<std::int64_t>& number) {
  return number ? CacheJson(*number) : CacheJson();
}

std::optional<std::int64_t> number_of(const CacheJson& json) {
  if (json.is_null()) return std::nullopt;
  return json.get<std::int64_t>();
}

CacheJson to_json(const CacheKey& key) {
  return {{"version", key.version},      {"graph", key.graph},
          {"strategy", key.strategy},    {"seconds", key.seconds},
          {"blocks", key.blocks},        {"pools", key.pools},
          {"available", key.available},  {"capacity", to_json(key.capacity)},
          {"slots", to_json(key.slots)}, {"degrade", key.degrade}};
}

CacheKey key_of(const CacheJson& json) {
  return {.version = json.at("version").get<std::string>(),
          .graph = json.at("graph").get<std::string>(),
          .strategy = json.at("strategy").get<std::string>(),
          .seconds = json.at("seconds").get<double>(),
          .blocks = json.at("blocks").get<std::vector<std::int64_t>>(),
          .pools = json.at("pools").get<std::vector<std::string>>(),
          .available = json.at("available").get<std::vector<std::string>>(),
          .capacity = number_of(json.at("capacity")),
          .slots = number_of(json.at("slots")),
          .degrade = json.at("degrade").get<bool>()};
}

/// The sum of an entry, whose plan is `plan`.
std::string entry_sum(const CacheEntry& entry) {
  return checksum(to_json(entry.bucket).dump() + to_json(entry.peaks).dump() + entry.plan);
}

CacheEntry entry_of(const CacheJson& json) {
  CacheEntry entry;
  try {
    entry.bucket = numbers_of(json.at("bucket"));
    entry.peaks = numbers_of(json.at("peak_bytes"));
    entry.plan = json.at("plan").dump();
    if (json.at("sum").get<std::string>() != entry_sum(entry)) {
      entry.damage = "its sum is not that of its content";
    }
  } catch (const CacheJson::exception&) {
    entry.damage = "a field is missing or of another kind";
  }
  if (!entry.damage.empty()) entry.plan.clear();
  return entry;
}

}  // namespace

CacheKey cache_key(const Plan& graph, const PlanOptions& options) {
  return {.version = MEMVERIFY_VERSION,
          .graph = checksum(write_plan(graph)),
          .strategy = std::string(options.strategy->name),
          .seconds = options.seconds,
          .blocks = options.blocks,
          .pools = options.pools,
          .available = options.available,
          .capacity = options.capacity,
          .slots = options.slots,
          .degrade = options.degrade};
}

std::string difference(const CacheKey& found, const CacheKey& wanted) {
  if (found.graph != wanted.graph) return "it is of another graph";
  if (found.version != wanted.version) return "it is of version " + found.version;
  const CacheJson a = to_json(found);
  const CacheJson b = to_json(wanted);
  for (const auto& [name, value] : a.items()) {
    if (value != b.at(name)) return "it was made with " + name + " " + value.dump();
  }
  return {};
}

Result<PlanCache> read_plan_cache(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return file.errors();
  std::vector<Diagnostic> errors;
  const std::optional<CacheJson> json = parse_json(file.value().text(), path, errors);
  if (!json) return errors;
  PlanCache cache;
  try {
    if (json->at("memverify_plans").get<std::int64_t>() != kCacheFormat) {
      return Diagnostic{.id = "cache.format",
                        .message = "it is a plan cache of a format that this version cannot read",
                        .pointer = "/memverify_plans",
                        .file = path};
    }
    cache.key = key_of(json->at("key"));
    for (const CacheJson& entry : json->at("entries")) cache.entries.push_back(entry_of(entry));
  } catch (const CacheJson::exception&) {
    return Diagnostic{.id = "cache.format",
                      .message =
                          "it is no plan cache: `memverify_plans`, `key` or `entries` is "
                          "missing or of another kind",
                      .file = path};
  }
  return cache;
}

std::string write_plan_cache(const PlanCache& cache) {
  std::string text = "{\n  \"memverify_plans\": " + std::to_string(kCacheFormat) +
                     ",\n  \"key\": " + to_json(cache.key).dump() + ",\n  \"entries\": [";
  for (const CacheEntry& entry : cache.entries) {
    if (&entry != &cache.entries.front()) text += ",";
    text += "\n    {\"bucket\": " + to_json(entry.bucket).dump() +
            ", \"peak_bytes\": " + to_json(entry.peaks).dump() + ", \"sum\": \"" +
            entry_sum(entry) + "\",\n     \"plan\": " + entry.plan + "}";
  }
  return text + "\n  ]\n}\n";
}

std::string bucket_words(const NamedNumbers& bucket) {
  std::vector<std::string> words;
  for (const auto& [symbol, value] : bucket) {
    words.push_back(memverify::quoted(symbol) + " up to " + std::to_string(value));
  }
  return listed(words);
}

std::string peak_words(const NamedNumbers& peaks) {
  std::vector<std::string> words;
  for (const auto& [pool, bytes] : peaks) {
    words.push_back(counted(bytes, "byte") + " of " + memverify::quoted(pool));
  }
  return words.empty() ? "no bytes" : listed(words);
}

CacheEntry cache_entry(NamedNumbers bucket, const Plan& plan) {
  CacheEntry entry{.bucket = std::move(bucket), .plan = CacheJson::parse(write_plan(plan)).dump()};
  std::ranges::sort(entry.bucket);
  for (const Pool& pool : plan.pools) {
    if (!pool.peak_bytes || !pool.peak_bytes->is_constant()) continue;
    entry.peaks.emplace_back(pool.name, pool.peak_bytes->constant);
  }
  std::ranges::sort(entry.peaks);
  return entry;
}

}  // namespace memverify
