#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/parse.h"
#include "tools/placed_report.h"
#include "tools/plan_buckets.h"
#include "tools/plan_cache.h"
#include "tools/plan_output.h"
#include "tools/planning.h"

namespace memverify {
namespace {

using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;

/// Splits "seq=200"; "" or what is wrong.
std::string parse_value(const Plan& graph, std::string_view text, SymbolValues& values) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return memverify::quoted(text) + " is not SYMBOL=N";
  std::string wrong;
  const SymbolId symbol = find_named(graph.symbols, text.substr(0, equals), "symbol", wrong);
  if (!wrong.empty()) return wrong;
  const std::optional<std::int64_t> value = whole_number(text.substr(equals + 1));
  if (!value || !admits(graph.symbols[symbol], *value)) {
    return memverify::quoted(text.substr(equals + 1)) + " is no value of symbol " +
           memverify::quoted(graph.symbols[symbol].name);
  }
  values[std::string(graph.symbols[symbol].name)] = *value;
  return {};
}

std::int64_t sum_of_numbers(const NamedNumbers& numbers) {
  std::int64_t sum = 0;
  for (const auto& number : numbers) sum += number.second;
  return sum;
}

bool covers(const CacheEntry& entry, const SymbolValues& values) {
  return std::ranges::all_of(entry.bucket, [&](const auto& bound) {
    const auto at = values.find(bound.first);
    return at != values.end() && at->second <= bound.second;
  });
}

/// The one with the lowest peak, then the least values; nullptr: none covers them.
const CacheEntry* smallest_cover(const PlanCache& cache, const SymbolValues& values) {
  const CacheEntry* best = nullptr;
  const auto rank = [](const CacheEntry& entry) {
    return std::pair(sum_of_numbers(entry.peaks), entry.bucket);
  };
  for (const CacheEntry& entry : cache.entries) {
    if (covers(entry, values) && (best == nullptr || rank(entry) < rank(*best))) best = &entry;
  }
  return best;
}

ExitCode refuse_cache(const PlanOptions& options, const char* id, const std::string& why) {
  return refuse_errors(options, {{.id = id, .message = why, .file = options.lookup}});
}

ExitCode hand_out(const PlanOptions& options, const PlanGraphOptions& how,
                  const CacheEntry& entry) {
  Result<Plan> read = read_plan(entry.plan, options.lookup);
  if (!read.ok()) return refuse_errors(options, read.errors());
  const PlacedPeaks peaks = placed_peaks(read.value(), how);
  if (!peaks.error.empty()) return usage_error("plan", peaks.error);
  const Report report = decide_planned(options.lookup, std::move(read).value());
  if (report.verdict != Verdict::kSafe) return refuse_unproven(options, report);
  const std::string found =
      "bucket " + bucket_words(entry.bucket) + "\n" + placed_text(report.plan, peaks);
  const std::string json = options.json ? placed_json(report, peaks, entry.bucket) : "";
  if (!peaks.fits()) {
    write_error(found + "memverify plan: nothing was written\n");
    if (options.json) print_report(options, json);
    return ExitCode::kUnsafe;
  }
  const std::string output = options.output.empty() ? "-" : options.output;
  const std::string problem = replace_file(output, write_plan(report.plan));
  if (!problem.empty()) {
    write_error("memverify plan: " + problem + "\n");
    return ExitCode::kBadInput;
  }
  if (output == "-") {
    write_error(found);
  } else {
    print_report(options,
                 options.json ? json : found + "memverify: " + outcome_line(report) + "\n");
  }
  return ExitCode::kSafe;
}

}  // namespace

ExitCode look_up_plan(const PlanOptions& options, const Plan& graph, const PlanGraphOptions& how) {
  SymbolValues values;
  for (const std::string& text : options.values) {
    const std::string wrong = parse_value(graph, text, values);
    if (!wrong.empty()) return usage_error("plan", wrong);
  }
  const Result<PlanCache> cache = read_plan_cache(options.lookup);
  if (!cache.ok()) return refuse_errors(options, cache.errors());
  const CacheKey& key = cache.value().key;
  CacheKey wanted = key;  // How it was planned is not asked again.
  wanted.graph = cache_key(graph, options).graph;
  if (const std::string stale = difference(key, wanted); !stale.empty()) {
    return refuse_cache(
        options, "cache.stale",
        "stale: " + stale + " than " + printable(options.file) + "; plan the buckets again");
  }
  if (cache.value().entries.empty()) return refuse_cache(options, "cache.empty", "it has no plans");
  for (const auto& [symbol, bound] : cache.value().entries.front().bucket) {
    if (values.contains(symbol)) continue;
    return usage_error("plan", "no value of symbol " + memverify::quoted(symbol) +
                                   "; say --values " + printable(symbol) + "=N");
  }
  const CacheEntry* entry = smallest_cover(cache.value(), values);
  if (entry == nullptr) {
    return refuse_cache(options, "cache.values", "no bucket covers these values");
  }
  if (!entry->damage.empty()) {
    const std::string which =
        entry->bucket.empty() ? "an entry" : "the entry of bucket " + bucket_words(entry->bucket);
    return refuse_cache(options, "cache.damaged",
                        which + " is damaged: " + entry->damage + "; plan the buckets again");
  }
  return hand_out(options, how, *entry);
}

}  // namespace memverify
