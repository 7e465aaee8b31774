#include "tools/library/option_reader.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/suggest.h"
#include "plan/words.h"

namespace memverify {
namespace {

using OptionJson = nlohmann::json;

constexpr std::int64_t kMostWhole = std::numeric_limits<std::int64_t>::max();
constexpr double kLongest = 1e9;  ///< Seconds.

/// Takes options out of an object one by one; what is left over is not known.
class OptionReader {
 public:
  explicit OptionReader(const char* json) {
    if (json == nullptr) return;
    options_ = OptionJson::parse(json, nullptr, false);
    if (options_.is_object()) return;
    errors_.push_back({.id = "option.json",
                       .message = options_.is_discarded() ? "the options are not valid JSON"
                                                          : "the options are no JSON object"});
    options_ = OptionJson::object();
  }

  void take(std::string_view key, std::string& value) {
    const OptionJson* found = find(key);
    if (found == nullptr) return;
    if (!found->is_string()) return wrong(key, "a string");
    value = found->get<std::string>();
  }

  void take(std::string_view key, bool& value) {
    const OptionJson* found = find(key);
    if (found == nullptr) return;
    if (!found->is_boolean()) return wrong(key, "true or false");
    value = found->get<bool>();
  }

  void take_seconds(std::string_view key, double& value) {
    const OptionJson* found = find(key);
    if (found == nullptr) return;
    const double seconds = found->is_number() ? found->get<double>() : -1;
    if (!(seconds >= 0 && seconds <= kLongest)) {
      return wrong(key, "a number of seconds from 0 to a milliard");
    }
    value = seconds;
  }

  /// `T` takes any whole number from `least` >= 0 on.
  template <typename T>
  void take_whole(std::string_view key, std::int64_t least, T& value) {
    const OptionJson* found = find(key);
    if (found == nullptr) return;
    const bool fits = found->is_number_integer() &&
                      !(found->is_number_unsigned() &&
                        found->get<std::uint64_t>() > static_cast<std::uint64_t>(kMostWhole)) &&
                      found->get<std::int64_t>() >= least;
    if (!fits) return wrong(key, "a whole number from " + std::to_string(least) + " on");
    value = static_cast<T>(found->get<std::int64_t>());
  }

  /// The errors, with one for each key that nobody asked for.
  std::vector<Diagnostic> end() {
    for (const auto& [key, value] : options_.items()) {
      Suggester suggester(key);
      bool known = false;
      for (const std::string_view one : known_) {
        known = known || one == key;
        suggester.consider(one);
      }
      if (known) continue;
      errors_.push_back(
          {.id = "option.unknown",
           .message = "there is no option " + memverify::quoted(key) + suggester.hint()});
    }
    return std::move(errors_);
  }

 private:
  const OptionJson* find(std::string_view key) {
    known_.push_back(key);
    const auto found = options_.find(std::string(key));
    return found == options_.end() ? nullptr : &*found;
  }

  void wrong(std::string_view key, const std::string& expected) {
    errors_.push_back({.id = "option.value",
                       .message = "the option " + memverify::quoted(key) + " is " + expected});
  }

  OptionJson options_ = OptionJson::object();
  std::vector<std::string_view> known_;  ///< Literals.
  std::vector<Diagnostic> errors_;
};

template <typename Options>
Result<Options> ended(OptionReader& reader, Options options) {
  std::vector<Diagnostic> errors = reader.end();
  if (!errors.empty()) return errors;
  return options;
}

}  // namespace

Result<VerifyOptions> read_verify_options(const char* json) {
  VerifyOptions options;
  OptionReader reader(json);
  reader.take("engine", options.engine);
  reader.take_whole("max_findings", 1, options.max_findings);
  reader.take_seconds("max_seconds", options.max_seconds);
  return ended(reader, std::move(options));
}

Result<SimOptions> read_simulate_options(const char* json) {
  SimOptions options;
  OptionReader reader(json);
  std::string reduction(name(options.reduction));
  reader.take("reduction", reduction);
  reader.take("count", options.count);
  reader.take_whole("max_findings", 1, options.max_findings);
  reader.take_whole("max_states", 1, options.max_states);
  reader.take_seconds("max_seconds", options.max_seconds);
  reader.take_whole("threads", 0, options.threads);
  reader.take_whole("random_runs", 0, options.random_runs);
  reader.take_whole("seed", 0, options.seed);
  Result<SimOptions> result = ended(reader, options);
  if (!result.ok()) return result;
  for (const Reduction known : {Reduction::kNone, Reduction::kSleep, Reduction::kClasses}) {
    if (name(known) != reduction) continue;
    result.value().reduction = known;
    return result;
  }
  return Diagnostic{.id = "option.value",
                    .message = "the option `reduction` is \"none\", \"sleep\" or \"classes\""};
}

Result<PlaceOptions> read_place_options(const char* json) {
  PlaceOptions options;
  std::int64_t capacity = -1;
  std::int64_t slots = 0;
  OptionReader reader(json);
  reader.take("strategy", options.strategy);
  reader.take_seconds("max_seconds", options.max_seconds);
  reader.take_whole("max_nodes", 0, options.max_nodes);
  reader.take_whole("capacity", 0, capacity);
  reader.take_whole("slots", 1, slots);
  if (capacity >= 0) options.capacity = capacity;
  if (slots > 0) options.slots = slots;
  return ended(reader, std::move(options));
}

}  // namespace memverify
