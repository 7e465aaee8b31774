#include "tools/plan_buckets.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/json_text.h"
#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/parse.h"
#include "tools/plan_advice.h"
#include "tools/plan_cache.h"
#include "tools/plan_output.h"
#include "tools/planning.h"

namespace memverify {
namespace {

constexpr std::size_t kMostBuckets = 1000;

/// The values of one symbol, ascending.
struct BucketAxis {
  SymbolId symbol = kNone<SymbolId>;
  std::vector<std::int64_t> values;
};

std::string value_error(const Symbol& symbol, std::string_view text) {
  return memverify::quoted(text) + " is no value of symbol " + memverify::quoted(symbol.name);
}

/// Splits "seq=128,256"; "" or what is wrong.
std::string parse_axis(const Plan& graph, std::string_view text, BucketAxis& axis) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return memverify::quoted(text) + " is not SYMBOL=N or SYMBOL=N,N";
  }
  std::string wrong;
  axis.symbol = find_named(graph.symbols, text.substr(0, equals), "symbol", wrong);
  if (!wrong.empty()) return wrong;
  const Symbol& symbol = graph.symbols[axis.symbol];
  for (std::size_t begin = equals + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const std::optional<std::int64_t> value = whole_number(word);
    if (!value || !admits(symbol, *value)) return value_error(symbol, word);
    axis.values.push_back(*value);
    begin = end + 1;
  }
  return {};
}

std::string parse_axes(const Plan& graph, const std::vector<std::string>& texts,
                       std::vector<BucketAxis>& axes) {
  for (const std::string& text : texts) {
    BucketAxis axis;
    if (std::string wrong = parse_axis(graph, text, axis); !wrong.empty()) return wrong;
    if (std::ranges::count(axes, axis.symbol, &BucketAxis::symbol) != 0) {
      return "symbol " + memverify::quoted(graph.symbols[axis.symbol].name) + " is named twice";
    }
    axes.push_back(std::move(axis));
  }
  return {};
}

/// The greatest value that the symbol takes.
std::optional<std::int64_t> greatest_value(const Symbol& symbol) {
  if (!symbol.max) return std::nullopt;
  std::int64_t rest = *symbol.max % symbol.multiple_of;
  if (rest < 0) rest += symbol.multiple_of;
  return std::max(*symbol.max - rest, least_value(symbol));
}

/// Every combination, the first axis slowest; each is by symbol of `axes`.
std::vector<std::vector<std::int64_t>> combinations(const std::vector<BucketAxis>& axes) {
  std::vector<std::vector<std::int64_t>> all{{}};
  for (const BucketAxis& axis : axes) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const std::vector<std::int64_t>& head : all) {
      for (const std::int64_t value : axis.values) {
        longer.push_back(head);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
    if (all.size() > kMostBuckets) break;
  }
  return all;
}

void add_numbers(JsonText& json, std::string_view key, const NamedNumbers& numbers) {
  json.key(key);
  json.open('{');
  for (const auto& [name, number] : numbers) json.field(name, number);
  json.close('}');
}

class BucketPlanner {
 public:
  BucketPlanner(const PlanOptions& options, const Plan& graph, const PlanGraphOptions& how,
                std::vector<BucketAxis> axes)
      : options_(options),
        graph_(graph),
        how_(how),
        axes_(std::move(axes)),
        allowance_(options.seconds) {
    cache_.key = cache_key(graph, options);
  }

  ExitCode run() {
    if (!read_old()) return ExitCode::kBadInput;
    const std::vector<std::vector<std::int64_t>> all = combinations(axes_);
    for (std::size_t k = 0; k < all.size(); ++k) {
      // As if all that follow, and advice, were to take as much.
      const std::size_t parts = all.size() - k + (may_not_fit(graph_, how_) ? 1 : 0);
      if (const auto end = plan_bucket(all[k], 1.0 / static_cast<double>(parts))) return *end;
    }
    if (too_large_ && (!options_.degrade || cache_.entries.empty())) return refuse();
    const std::string problem = replace_file(options_.output, write_plan_cache(cache_));
    if (!problem.empty()) {
      write_error("memverify plan: " + problem + "\n");
      return ExitCode::kBadInput;
    }
    print_report(options_, options_.json ? json() : text());
    return ExitCode::kSafe;
  }

 private:
  struct TooLarge {
    NamedNumbers bucket;
    Plan graph;
    Planning planning;
  };

  /// False: the file at the output is no plan cache, and not to be overwritten.
  bool read_old() {
    if (options_.output == "-" || !std::filesystem::exists(options_.output)) return true;
    Result<PlanCache> old = read_plan_cache(options_.output);
    if (!old.ok()) {
      refuse_errors(options_, old.errors());
      write_error("memverify plan: " + printable(options_.output) +
                  " is left as it is: with --buckets, -o is a plan cache or a new file\n");
      return false;
    }
    const std::string stale = difference(old.value().key, cache_.key);
    if (!stale.empty()) {
      notes_.push_back("the old " + options_.output + " is stale: " + stale +
                       "; nothing is taken from it");
      return true;
    }
    old_ = std::move(old.value().entries);
    return true;
  }

  /// An exit code where the whole ends.
  std::optional<ExitCode> plan_bucket(const std::vector<std::int64_t>& values, double part) {
    NamedNumbers bucket;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      bucket.emplace_back(graph_.symbols[axes_[k].symbol].name, values[k]);
    }
    std::ranges::sort(bucket);
    if (take_old(bucket)) return std::nullopt;
    Plan graph = graph_;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      graph = with_symbol_max(std::move(graph), axes_[k].symbol, values[k]);
    }
    Planning planning = make_planning(options_.file, graph, allowance_.part(part, how_));
    if (!planning.errors.empty()) return refuse_errors(options_, planning.errors);
    if (planning.is_refused()) return refuse_graph(options_, planning.apart);
    if (!planning.fits() && options_.degrade && most_slots(graph, how_) > 1) {
      if (auto fewer = find_fewer_slots(options_.file, graph, how_, allowance_)) {
        notes_.push_back(bucket_words(bucket) + ": " + counted(fewer->slots, "slot") +
                         " instead of " + std::to_string(most_slots(graph, how_)));
        planning = std::move(fewer->planning);
      }
    }
    if (!planning.fits()) {
      if (options_.degrade) {
        notes_.push_back("left out, for it does not fit: " + bucket_words(bucket));
      }
      if (!too_large_) too_large_ = {std::move(bucket), std::move(graph), std::move(planning)};
      return std::nullopt;
    }
    if (!planning.is_good()) return refuse_unproven(options_, planning.made);
    cache_.entries.push_back(cache_entry(std::move(bucket), planning.planned->plan));
    is_taken_.push_back(false);
    return std::nullopt;
  }

  bool take_old(const NamedNumbers& bucket) {
    const auto found = std::ranges::find(old_, bucket, &CacheEntry::bucket);
    if (found == old_.end()) return false;
    if (!found->damage.empty()) {
      notes_.push_back("the old entry for " + bucket_words(bucket) + " is damaged (" +
                       found->damage + "); it is planned anew");
      return false;
    }
    cache_.entries.push_back(*found);
    is_taken_.push_back(true);
    return true;
  }

  ExitCode refuse() const {
    std::string note = "bucket " + bucket_words(too_large_->bucket) + " does not fit";
    write_error(note + "\n");
    if (!cache_.entries.empty()) {
      write_error("these do, and --degrade takes them:\n" + entries_text());
      std::vector<std::string> words;
      for (const CacheEntry& entry : cache_.entries) words.push_back(bucket_words(entry.bucket));
      note += "; with --degrade these do: " + listed(words, "or");
    }
    return refuse_size(options_, too_large_->graph, how_, *too_large_->planning.planned, allowance_,
                       note);
  }

  std::string entries_text() const {
    std::string out;
    for (std::size_t k = 0; k < cache_.entries.size(); ++k) {
      const CacheEntry& entry = cache_.entries[k];
      out += "bucket " + bucket_words(entry.bucket) + ": peak " + peak_words(entry.peaks) +
             (is_taken_[k] ? ", from the cache\n" : "\n");
    }
    return out;
  }

  std::string text() const {
    std::string out = entries_text();
    for (const std::string& note : notes_) out += "note: " + note + "\n";
    const auto taken = std::ranges::count(is_taken_, true);
    const auto all = static_cast<std::int64_t>(is_taken_.size());
    return out + "memverify: " + counted(all, "bucket") + ", " + std::to_string(all - taken) +
           " planned by " + std::string(options_.strategy->name) + ", safe, " +
           std::to_string(taken) + " from the cache\n";
  }

  std::string json() const {
    JsonText json;
    json.open('{');
    json.field("memverify", std::int64_t{1});
    json.field("plan", graph_.name);
    json.field("strategy", options_.strategy->name);
    json.key("buckets");
    json.open_lines();
    for (std::size_t k = 0; k < cache_.entries.size(); ++k) {
      json.next();
      json.open('{');
      add_numbers(json, "bucket", cache_.entries[k].bucket);
      add_numbers(json, "peak_bytes", cache_.entries[k].peaks);
      json.flag("cached", is_taken_[k]);
      json.close('}');
    }
    json.close_lines();
    json.key("notes");
    json.open('[');
    for (const std::string& note : notes_) {
      json.next();
      json.value(note);
    }
    json.close(']');
    json.close('}');
    return json.take() + "\n";
  }

  const PlanOptions& options_;
  const Plan& graph_;
  const PlanGraphOptions& how_;
  const std::vector<BucketAxis> axes_;
  const Allowance allowance_;
  std::vector<CacheEntry> old_;
  PlanCache cache_;
  std::vector<bool> is_taken_;  ///< By entry: from the old file.
  std::vector<std::string> notes_;
  std::optional<TooLarge> too_large_;  ///< The first that does not fit.
};

}  // namespace

ExitCode plan_buckets(const PlanOptions& options, const Plan& graph, const PlanGraphOptions& how) {
  std::vector<BucketAxis> axes;
  if (const std::string wrong = parse_axes(graph, options.buckets, axes); !wrong.empty()) {
    return usage_error("plan", wrong);
  }
  for (BucketAxis& axis : axes) {
    const std::optional<std::int64_t> greatest = greatest_value(graph.symbols[axis.symbol]);
    if (greatest) axis.values.push_back(*greatest);
    std::ranges::sort(axis.values);
    axis.values.erase(std::unique(axis.values.begin(), axis.values.end()), axis.values.end());
  }
  if (combinations(axes).size() > kMostBuckets) {
    return usage_error("plan", "there are more than " + std::to_string(kMostBuckets) + " buckets");
  }
  return BucketPlanner(options, graph, how, std::move(axes)).run();
}

}  // namespace memverify
