// tools/plan_cache.h -- a file of plans of one graph, one for each bucket of its symbols' values.
//
// The key is everything that changes a layout; an entry of another key is never used. Each entry
// has a sum of its plan's text, so that a damaged one is noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "plan/result.h"
#include "tools/plan_options.h"

namespace memverify {

using NamedNumbers = std::vector<std::pair<std::string, std::int64_t>>;

struct CacheKey {
  std::string version;                 ///< Of memverify.
  std::string graph;                   ///< Sum of all that the graph says.
  std::string strategy;                ///< Its name,
  double seconds = 0;                  ///< … and its time.
  std::vector<std::int64_t> blocks;    ///< --blocks
  std::vector<std::string> pools;      ///< --pool
  std::vector<std::string> available;  ///< --available-bytes
  std::optional<std::int64_t> capacity, slots;
  bool degrade = false;
};

CacheKey cache_key(const Plan& graph, const PlanOptions& options);
/// What differs, in words; "" when nothing does.
std::string difference(const CacheKey& found, const CacheKey& wanted);

struct CacheEntry {
  NamedNumbers bucket;  ///< Greatest value of each symbol, by name of symbol, ascending.
  NamedNumbers peaks;   ///< Bytes, by name of pool.
  std::string plan;     ///< JSON; "": damaged, see `damage`.
  std::string damage;
};

struct PlanCache {
  CacheKey key;
  std::vector<CacheEntry> entries;
};

/// Errors: "file.open", "file.read", "json.syntax"; "cache.format" for a file that is none, or
/// whose key is damaged. A damaged entry is no error.
Result<PlanCache> read_plan_cache(const std::string& path);

std::string write_plan_cache(const PlanCache& cache);

/// "`seq` up to 128 and `batch` up to 4".
std::string bucket_words(const NamedNumbers& bucket);
/// "64 bytes of `hbm`".
std::string peak_words(const NamedNumbers& peaks);

/// The entry of `plan`, whose `peak_bytes` are set.
CacheEntry cache_entry(NamedNumbers bucket, const Plan& plan);

}  // namespace memverify
