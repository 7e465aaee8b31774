#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/json_text.h"
#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/repair_offers.h"

namespace memverify {
namespace {

constexpr std::size_t kMostOpsToPatch = 10'000;

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

/// "5 ticks", of a plan that goes on "5 ticks of the first 4 iterations".
std::string ticks_words(const Price& price) {
  return counted(*price.makespan, "tick") +
         (price.of_iterations == 0 ? ""
                                   : " of the first " + counted(price.of_iterations, "iteration"));
}

std::string makespan_words(const Price& before, const Price& after) {
  if (!after.makespan) return "";
  const std::string now = ticks_words(after);
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
      return offer.is_least && offer.repair.changes.size() > 1 ? "to move fewer is not enough" : "";
    case Repair::Kind::kOrder:
    case Repair::Kind::kCopy:
      return "";
  }
  return "";
}

// RFC 6902. Whole members are added, which replaces those that are there: what a plan file may
// say in several ways (`after`) is then right whichever it used.

using PatchJson = nlohmann::ordered_json;

/// Lists of objects with an id each: pools, storages, tensors, ops.
bool is_list_of_ids(const PatchJson& list) {
  return list.is_array() && std::ranges::all_of(list, [](const PatchJson& item) {
           return item.is_object() && item.contains("id");
         });
}

std::string pointer_to(const std::string& at, std::size_t k) {
  return at + "/" + std::to_string(k);
}

void diff(const PatchJson& from, const PatchJson& to, const std::string& at, PatchJson& patch);

/// Items go, come and move until the ids are those of `to`, in its order; then each is compared.
void diff_lists(const PatchJson& from, const PatchJson& to, const std::string& at,
                PatchJson& patch) {
  std::vector<PatchJson> now(from.begin(), from.end());
  const auto has_id = [](const auto& id) {
    return [&id](const PatchJson& item) { return item["id"] == id; };
  };
  const auto where = [&](const auto& list, const PatchJson& id, std::size_t first) {
    const auto found =
        std::find_if(list.begin() + static_cast<std::ptrdiff_t>(first), list.end(), has_id(id));
    return static_cast<std::size_t>(found - list.begin());
  };
  const auto move = [&](std::size_t source, std::size_t target) {
    patch.push_back(
        {{"op", "move"}, {"from", pointer_to(at, source)}, {"path", pointer_to(at, target)}});
    PatchJson item = std::move(now[source]);
    now.erase(now.begin() + static_cast<std::ptrdiff_t>(source));
    now.insert(now.begin() + static_cast<std::ptrdiff_t>(target), std::move(item));
  };
  for (std::size_t k = 0; k < to.size(); ++k) {
    const PatchJson& id = to[k]["id"];
    if (k < now.size() && now[k]["id"] == id) continue;
    const std::size_t source = where(now, id, k);
    if (source == now.size()) {
      patch.push_back({{"op", "add"}, {"path", pointer_to(at, k)}, {"value", to[k]}});
      now.insert(now.begin() + static_cast<std::ptrdiff_t>(k), to[k]);
    } else if (source == k + 1 && where(to, now[k]["id"], k) < now.size()) {
      move(k, where(to, now[k]["id"], k));  // One that goes back, not all those before it.
      --k;
    } else {
      move(source, k);
    }
  }
  while (now.size() > to.size()) {
    now.pop_back();
    patch.push_back({{"op", "remove"}, {"path", pointer_to(at, now.size())}});
  }
  for (std::size_t k = 0; k < to.size(); ++k) diff(now[k], to[k], pointer_to(at, k), patch);
}

void diff(const PatchJson& from, const PatchJson& to, const std::string& at, PatchJson& patch) {
  for (const auto& [key, value] : from.items()) {
    if (!to.contains(key)) patch.push_back({{"op", "remove"}, {"path", at + "/" + key}});
  }
  for (const auto& [key, value] : to.items()) {
    const std::string path = at + "/" + key;  // No key of a plan has `~` or `/`.
    const auto old = from.find(key);
    if (old != from.end() && *old == value) continue;
    if (old == from.end() || !is_list_of_ids(*old) || !is_list_of_ids(value)) {
      patch.push_back({{"op", "add"}, {"path", path}, {"value", value}});
    } else {
      diff_lists(*old, value, path, patch);
    }
  }
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
  if (price.of_iterations > 0) json.field("of_iterations", price.of_iterations);
}

/// What makes `text`, from which `now` was read, a file of `mended`; nullopt if that cannot be
/// said, which is found out by doing it.
std::optional<std::string> patch_of(const std::string& text, const Plan& now, const Plan& mended) {
  if (text.empty() || mended.ops.size() > kMostOpsToPatch) return std::nullopt;
  PatchJson patch = PatchJson::array();
  try {
    const PatchJson wanted = PatchJson::parse(write_plan(mended));
    diff(PatchJson::parse(write_plan(now)), wanted, "", patch);
    const Result<Plan> made = read_plan(PatchJson::parse(text).patch(patch).dump(), "");
    if (!made.ok() || PatchJson::parse(write_plan(made.value())) != wanted) return std::nullopt;
  } catch (const PatchJson::exception&) {
    return std::nullopt;
  }
  return patch.dump();
}

std::string last_line(const RepairOffers& found) {
  const auto count = static_cast<std::int64_t>(found.offers.size());
  const bool is_safe = found.report.verdict == Verdict::kSafe;
  if (count == 0 && !is_safe) {
    return "memverify: unsafe; none of the waits, moves, orders and copies that were tried "
           "makes it safe: see the help of the findings (memverify verify)\n";
  }
  const std::string aim = is_safe ? " to a smaller peak" : " to safety";
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
                    makespan_words({}, found.price) + "\n";
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

std::string repair_json(const RepairOffers& found, const std::string& text) {
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
    if (const auto patch = patch_of(text, plan, offer.repair.plan)) {
      json.key("patch");
      json.raw(*patch);
    }
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
