#include "tools/baseline.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "plan/json_places.h"
#include "plan/pointer.h"
#include "plan/words.h"
#include "tools/fingerprint.h"

namespace memverify {
namespace {

using BaselineJson = nlohmann::ordered_json;

constexpr std::size_t kFingerprintDigits = 16;
constexpr int kMostDepth = 8;

struct TooDeep {};
struct KeyTwice {
  std::string key;
};

bool is_fingerprint(std::string_view text) {
  return text.size() == kFingerprintDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_date(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int end = 0;
  if (text.size() != 10 ||
      std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &end) != 3)
    return false;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  return end == 10 && date.ok();
}

/// Reads the entries; an error for each that is none.
class BaselineReader {
 public:
  std::vector<AcceptedFinding> entries;
  std::vector<Diagnostic> errors;

  void read(const BaselineJson& json) {
    if (!json.is_object() || json.value("memverify_baseline", BaselineJson()) != 1) {
      return fail("a baseline is an object with \"memverify_baseline\": 1", "");
    }
    for (const auto& [key, value] : json.items()) {
      if (key != "memverify_baseline" && key != "accepted") {
        fail("unknown key " + memverify::quoted(key), json_pointer({std::string_view(key)}));
      }
    }
    const BaselineJson accepted = json.value("accepted", BaselineJson::array());
    if (!accepted.is_array()) return fail("expected an array", "/accepted");
    for (std::size_t k = 0; k < accepted.size(); ++k) read_entry(accepted[k], k);
  }

 private:
  void fail(std::string message, std::string pointer) {
    errors.push_back(
        {.id = "baseline.format", .message = std::move(message), .pointer = std::move(pointer)});
  }

  void read_entry(const BaselineJson& json, std::size_t k) {
    const std::string at = json_pointer({"accepted", k});
    if (!json.is_object()) return fail("expected an object", at);
    AcceptedFinding entry;
    for (const auto& [key, value] : json.items()) {
      std::string* const field = key == "fingerprint" ? &entry.fingerprint
                                 : key == "reason"    ? &entry.reason
                                 : key == "expires"   ? &entry.expires
                                 : key == "rule"      ? &entry.rule
                                 : key == "plan"      ? &entry.plan
                                 : key == "message"   ? &entry.message
                                                      : nullptr;
      if (field == nullptr) {
        fail("unknown key " + memverify::quoted(key), at + json_pointer({std::string_view(key)}));
      } else if (!value.is_string()) {
        fail("expected a string", at + json_pointer({std::string_view(key)}));
      } else {
        *field = value.get<std::string>();
      }
    }
    if (!is_fingerprint(entry.fingerprint)) {
      fail("an accepted finding needs its \"fingerprint\", 16 hexadecimal digits", at);
    }
    if (is_blank(entry.reason)) fail("an accepted finding needs a \"reason\"", at);
    if (!entry.expires.empty() && !is_date(entry.expires)) {
      fail("expected a day, YYYY-MM-DD", at + "/expires");
    }
    entries.push_back(std::move(entry));
  }
};

}  // namespace

Result<Baseline> Baseline::read(std::string_view text) {
  try {
    BaselineReader reader;
    std::vector<std::set<std::string>> keys(kMostDepth + 2);  // Of the objects around.
    const auto watch = [&](int depth, BaselineJson::parse_event_t event, BaselineJson& value) {
      if (depth > kMostDepth) throw TooDeep();
      std::set<std::string>& seen = keys[static_cast<std::size_t>(depth)];
      if (event == BaselineJson::parse_event_t::object_start) {
        keys[static_cast<std::size_t>(depth) + 1].clear();
      }
      if (event == BaselineJson::parse_event_t::key) {
        const auto key = value.get<std::string>();
        if (!seen.insert(key).second) throw KeyTwice{key};
      }
      return true;
    };
    reader.read(BaselineJson::parse(text, watch));
    if (!reader.errors.empty()) return std::move(reader.errors);
    Baseline baseline;
    baseline.entries_ = std::move(reader.entries);
    return baseline;
  } catch (const TooDeep&) {
    return Diagnostic{.id = "baseline.format", .message = "this is nested too deep for a baseline"};
  } catch (const KeyTwice& twice) {
    return Diagnostic{.id = "json.duplicate_key",
                      .message = "key " + memverify::quoted(twice.key) + " is there twice"};
  } catch (const BaselineJson::parse_error& error) {
    const LineColumn at = find_lines(text, {std::max<std::size_t>(error.byte, 1) - 1}).front();
    return Diagnostic{
        .id = "json.syntax", .message = "this is no JSON", .line = at.line, .column = at.column};
  }
}

std::string Baseline::write() const {
  BaselineJson json;
  json["memverify_baseline"] = 1;
  json["accepted"] = BaselineJson::array();
  for (const AcceptedFinding& entry : entries_) {
    BaselineJson out;
    out["fingerprint"] = entry.fingerprint;
    out["reason"] = entry.reason;
    if (!entry.expires.empty()) out["expires"] = entry.expires;
    if (!entry.rule.empty()) out["rule"] = entry.rule;
    if (!entry.plan.empty()) out["plan"] = entry.plan;
    if (!entry.message.empty()) out["message"] = entry.message;
    json["accepted"].push_back(std::move(out));
  }
  return json.dump(2, ' ', false, BaselineJson::error_handler_t::replace) + "\n";
}

void Baseline::accept(Report& report, std::string_view day) {
  if (!report.stopped_at_max_findings) whole_.insert(report.file);
  for (std::size_t k = 0; k < report.findings.size(); ++k) {
    const std::string mine = fingerprint(report, report.findings[k]);
    for (AcceptedFinding& entry : entries_) {
      if (entry.fingerprint != mine) continue;
      entry.seen = true;
      if (!expired(entry, day)) report.accepted.try_emplace(k, entry.reason);
    }
  }
}

void Baseline::add(const Report& report, const std::string& reason) {
  for (const Finding& finding : report.findings) {
    if (info(finding.rule).severity == Severity::kWarning) continue;
    if (report.accepted_reason(finding) != nullptr) continue;
    const std::string mine = fingerprint(report, finding);
    std::erase_if(entries_, [&](const AcceptedFinding& e) { return e.fingerprint == mine; });
    entries_.push_back({.fingerprint = mine,
                        .reason = reason,
                        .rule = std::string(info(finding.rule).id),
                        .plan = report.file,
                        .message = finding.message,
                        .seen = true});
  }
}

bool Baseline::is_over(const AcceptedFinding& entry, std::string_view day) const {
  return expired(entry, day) || (!entry.seen && whole_.contains(entry.plan));
}

void Baseline::shrink(std::string_view day) {
  std::erase_if(entries_, [&](const AcceptedFinding& entry) { return is_over(entry, day); });
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

}  // namespace memverify
