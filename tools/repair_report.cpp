#include "plan/json_text.h"
#include "plan/words.h"
#include "tools/repair_offers.h"

namespace memverify {
namespace {

/// "peak 8192 bytes of `hbm`", of several pools joined; "as before" where it is.
std::string peak_words(const Plan& plan, const Price& price) {
  std::vector<std::string> parts;
  for (const PoolId pool : ids(plan.pools)) {
    if (price.peaks[index(pool)] == 0) continue;
    parts.push_back(counted(price.peaks[index(pool)], "byte") + " of " +
                    quoted(plan.pools[pool].name));
  }
  return "peak " + (parts.empty() ? "0 bytes" : listed(parts));
}

std::string makespan_words(const Price& before, const Price& after) {
  if (!after.makespan) return "";
  const std::string now = counted(*after.makespan, "tick");
  if (!before.makespan || *before.makespan == *after.makespan) return ", makespan " + now;
  return ", makespan " + std::to_string(*before.makespan) + " -> " + now;
}

std::string price_words(const RepairOffers& found, const Offer& offer) {
  std::string text = peak_words(offer.repair.plan, offer.price);
  const bool is_safe = found.report.verdict == Verdict::kSafe;  // Else its peak is worth nothing.
  if (is_safe && offer.price.peak() == found.price.peak()) text += " (as now)";
  text +=
      ", " + (offer.price.added_waits == 0 ? std::string("no wait more")
                                           : counted(offer.price.added_waits, "wait") + " more");
  if (offer.price.copied_bytes > 0) {
    text += ", " + counted(offer.price.copied_bytes, "byte") + " copied";
  }
  return text + makespan_words(found.price, offer.price);
}

std::string_view least_words(const Offer& offer) {
  switch (offer.repair.kind) {
    case Repair::Kind::kWait:
      return offer.is_least ? "no set of fewer waits does" : "none of these waits can go";
    case Repair::Kind::kMove:
      return offer.is_least ? "no fewer storages do" : "";
    case Repair::Kind::kOrder:
    case Repair::Kind::kCopy:
      return "";
  }
  return "";
}

void add_price(JsonText& json, const Plan& plan, const Price& price) {
  json.key("peak_bytes");
  json.open('{');
  for (const PoolId pool : ids(plan.pools)) {
    json.field(plan.pools[pool].name, price.peaks[index(pool)]);
  }
  json.close('}');
  json.field("added_waits", price.added_waits);
  json.field("copied_bytes", price.copied_bytes);
  if (price.makespan) json.field("makespan", *price.makespan);
}

std::string last_line(const RepairOffers& found) {
  const auto count = static_cast<std::int64_t>(found.offers.size());
  const std::string aim =
      found.report.verdict == Verdict::kSafe ? " to a smaller peak" : " to safety";
  const std::string ways = count == 0 ? "no way" : counted(count, "way");
  return "memverify: " + std::string(name(found.report.verdict)) + ", " + ways + aim +
         (count == 0 ? "" : "; --apply K -o FILE writes one") + "\n";
}

}  // namespace

std::string repair_text(const RepairOffers& found, const Style& style) {
  const Plan& plan = found.report.plan;
  if (found.report.verdict == Verdict::kUnknown) {
    return "memverify: unknown: a plan that is not proven cannot be mended; see memverify verify\n";
  }
  const bool is_safe = found.report.verdict == Verdict::kSafe;
  std::string out = (is_safe ? "now: " : "now, unsafe: ") + peak_words(plan, found.price) +
                    (found.price.makespan ? ", makespan " + counted(*found.price.makespan, "tick")
                                          : std::string()) +
                    "\n";
  for (std::size_t k = 0; k < found.offers.size(); ++k) {
    const Offer& offer = found.offers[k];
    const std::string number = std::to_string(k + 1);
    out += "\n" + style.strong(number + ". " + std::string(name(offer.repair.kind))) + ": ";
    for (std::size_t c = 0; c < offer.repair.changes.size(); ++c) {
      out += (c > 0 ? ";\n   " : "") + offer.repair.changes[c];
    }
    out += "\n   " + price_words(found, offer) + "\n";
    if (const std::string_view least = least_words(offer); !is_safe && !least.empty()) {
      out += "   (" + std::string(least) + ")\n";
    }
  }
  if (!found.none.empty()) out += "\n";
  for (const auto& [kind, why] : found.none) {
    out += "no " + std::string(name(kind)) + ": " + why + "\n";
  }
  return out + "\n" + last_line(found);
}

std::string repair_json(const RepairOffers& found) {
  const Plan& plan = found.report.plan;
  JsonText json;
  json.open('{');
  json.field("memverify", std::int64_t{1});
  json.field("plan", plan.name);
  json.field("verdict", name(found.report.verdict));
  json.key("price");
  json.open('{');
  add_price(json, plan, found.price);
  json.close('}');
  json.key("repairs");
  json.open_lines();
  for (const Offer& offer : found.offers) {
    json.next();
    json.open('{');
    json.field("kind", name(offer.repair.kind));
    json.key("changes");
    json.open('[');
    for (const std::string& change : offer.repair.changes) {
      json.next();
      json.value(std::string_view(change));
    }
    json.close(']');
    add_price(json, offer.repair.plan, offer.price);
    json.flag("exact", offer.is_least);
    json.close('}');
  }
  json.close_lines();
  json.key("none");
  json.open('{');
  for (const auto& [kind, why] : found.none) json.field(name(kind), std::string_view(why));
  json.close('}');
  json.close('}');
  return json.take() + "\n";
}

}  // namespace memverify
