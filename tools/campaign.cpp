#include "tools/campaign.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"

namespace memverify {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string indented(const std::string& text, std::string_view by) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) result += std::string(by) + text.substr(at, end - at);
    result += "\n";
    at = end + 1;
  }
  return result;
}

std::string file_stem(const FoundCase& found) {
  std::string stem(found.result.outcome == Outcome::kUnsafe ? info(found.result.rule).id
                                                            : name(found.result.outcome));
  std::ranges::transform(stem, stem.begin(), [](char c) {
    return c == ' ' ? '-' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return stem + "-" + found.minimal.fingerprint.substr(0, 8);
}

std::string shape_text(const FoundShape& shape) {
  const FoundCase& found = *shape.first;
  std::string text = file_stem(found) + ": " +
                     counted(static_cast<std::int64_t>(shape.times), "case") + ", first case " +
                     std::to_string(shape.first_case) + ", " +
                     counted(static_cast<std::int64_t>(found.minimal.ops), "op") + ", from " +
                     found.families + "\n";
  if (!found.minimal.expected.empty()) return text + indented(found.minimal.expected, "  ");
  return text + "  " + found.minimal.headline + "\n";
}

std::string mutants_text(const CampaignTotals& totals) {
  std::string text = "mutants\n";
  std::uint64_t killed = 0;
  std::uint64_t equivalent = 0;
  std::uint64_t undecided = 0;
  for (const auto& [key, count] : totals.mutants) {
    if (count.fate.starts_with("killed")) killed += count.times;
    if (count.fate.starts_with("equivalent")) equivalent += count.times;
    if (count.fate == "undecided") undecided += count.times;
    text += "  " + std::to_string(count.times) + " " + count.kind + ", " + count.fate + "\n      " +
            count.first + "\n";
  }
  return text + "  " + std::to_string(killed) + " killed, " + std::to_string(equivalent) +
         " equivalent, " + std::to_string(undecided) + " undecided\n";
}

OrderedJson found_json(const FoundShape& shape) {
  const FoundCase& found = *shape.first;
  OrderedJson json = {{"fingerprint", found.minimal.fingerprint},
                      {"outcome", name(found.result.outcome)},
                      {"cases", shape.times},
                      {"first_case", shape.first_case},
                      {"families", found.families},
                      {"ops", found.minimal.ops},
                      {"headline", found.minimal.headline},
                      {"report", found.minimal.expected},
                      {"plan", found.minimal.plan},
                      {"graph", found.minimal.graph}};
  if (found.result.outcome == Outcome::kUnsafe) json["rule"] = info(found.result.rule).id;
  return json;
}

OrderedJson coverage_json(const Coverage& coverage) {
  OrderedJson cells = OrderedJson::array();
  for (std::size_t cell = 0; cell < kWishes; ++cell) {
    if (coverage.count(cell) == 0) continue;
    const Wish wish = wish_of(cell);
    OrderedJson results = OrderedJson::object();
    for (std::size_t k = 0; k < Coverage::kResults; ++k) {
      if (coverage.count(cell, k) == 0) continue;
      results[describe(Coverage::result_of(k))] = coverage.count(cell, k);
    }
    cells.push_back({{"queue", name(wish.order)},
                     {"sync", name(wish.sync)},
                     {"alias", name(wish.alias)},
                     {"results", results}});
  }
  return cells;
}

/// The plan with what it is and where it comes from.
std::string signed_plan(const CampaignInfo& campaign, const FoundCase& found) {
  OrderedJson json = OrderedJson::parse(found.minimal.plan);
  json["name"] = found.minimal.headline;
  json["x-source"] = "memverify fuzz, " + campaign.planner + ", seed " +
                     std::to_string(campaign.seed) + ", case " + std::to_string(found.number);
  const Result<Plan> plan = read_plan(json.dump(), "");
  return plan.ok() ? write_plan(plan.value()) : found.minimal.plan;
}

}  // namespace

void CampaignTotals::add(const BlockResult& block) {
  blocks.insert(block.block);
  cases += block.cases;
  for (std::size_t k = 0; k < kOutcomes; ++k) counts[k] += block.counts[k];
  coverage.merge(block.coverage);
  found.insert(found.end(), block.found.begin(), block.found.end());
  std::ranges::stable_sort(found, {}, &FoundCase::number);
  for (const MutantCount& mutant : block.mutants) {
    MutantCount& sum = mutants[{mutant.kind, mutant.fate}];
    const std::uint64_t times = sum.times + mutant.times;
    if (sum.times == 0) sum = mutant;
    sum.times = times;
  }
  internal_errors.insert(internal_errors.end(), block.internal_errors.begin(),
                         block.internal_errors.end());
  seconds += block.seconds;
}

std::uint64_t CampaignTotals::findings() const {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < kOutcomes; ++k) {
    if (is_finding(static_cast<Outcome>(k))) sum += counts[k];
  }
  return sum;
}

std::vector<FoundShape> shapes_of(const CampaignTotals& totals) {
  std::vector<FoundShape> shapes;
  for (const FoundCase& found : totals.found) {
    auto shape = std::ranges::find_if(shapes, [&](const FoundShape& s) {
      return s.first->minimal.fingerprint == found.minimal.fingerprint;
    });
    if (shape == shapes.end()) {
      shapes.push_back({.first = &found, .first_case = found.number, .times = found.times});
      continue;
    }
    shape->times += found.times;
    if (found.minimal.ops < shape->first->minimal.ops) shape->first = &found;
  }
  return shapes;
}

std::string campaign_line(const CampaignTotals& totals) {
  const auto amount = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  std::string text = counted(amount(totals.cases), "case");
  for (std::size_t k = 0; k < kOutcomes; ++k) {
    if (totals.counts[k] == 0) continue;
    text +=
        ", " + std::to_string(totals.counts[k]) + " " + std::string(name(static_cast<Outcome>(k)));
  }
  text += "; " + counted(amount(shapes_of(totals).size()), "shape") + " of findings; " +
          std::to_string(totals.coverage.cells_seen()) + " of " + std::to_string(kWishes) +
          " combinations seen";
  return text;
}

std::string campaign_text(const CampaignInfo& info, const CampaignTotals& totals,
                          bool with_coverage) {
  std::string text = "planner: " + info.planner + "\nmode: " + info.mode +
                     "\nseed: " + std::to_string(info.seed) + "\n\n";
  for (const FoundShape& shape : shapes_of(totals)) text += shape_text(shape) + "\n";
  if (!totals.mutants.empty()) text += mutants_text(totals) + "\n";
  if (with_coverage)
    text += "coverage: cases/with findings\n" + coverage_text(totals.coverage) + "\n";
  for (const std::string& error : totals.internal_errors) text += "internal error: " + error + "\n";
  return text + "memverify fuzz: " + campaign_line(totals) + "\n";
}

std::string campaign_json(const CampaignInfo& info, const CampaignTotals& totals) {
  OrderedJson outcomes = OrderedJson::object();
  for (std::size_t k = 0; k < kOutcomes; ++k) {
    outcomes[std::string(name(static_cast<Outcome>(k)))] = totals.counts[k];
  }
  OrderedJson found = OrderedJson::array();
  for (const FoundShape& shape : shapes_of(totals)) found.push_back(found_json(shape));
  OrderedJson mutants = OrderedJson::array();
  for (const auto& [key, count] : totals.mutants) {
    mutants.push_back({{"kind", count.kind},
                       {"fate", count.fate},
                       {"times", count.times},
                       {"first", count.first}});
  }
  const OrderedJson json = {{"memverify", 1},
                            {"version", info.version},
                            {"planner", info.planner},
                            {"mode", info.mode},
                            {"seed", info.seed},
                            {"cases_wanted", info.cases},
                            {"cases", totals.cases},
                            {"seconds", totals.seconds},
                            {"outcomes", outcomes},
                            {"findings", found},
                            {"mutants", mutants},
                            {"combinations_seen", totals.coverage.cells_seen()},
                            {"combinations", kWishes},
                            {"coverage", coverage_json(totals.coverage)},
                            {"internal_errors", totals.internal_errors}};
  return json.dump(1) + "\n";
}

std::string save_cases(const CampaignInfo& info, const CampaignTotals& totals,
                       const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return "cannot make the folder " + memverify::quoted(folder) + ": " + error.message();
  for (const FoundShape& shape : shapes_of(totals)) {
    const MinimalCase& minimal = shape.first->minimal;
    const std::string stem = (std::filesystem::path(folder) / file_stem(*shape.first)).string();
    std::vector<std::pair<std::string, std::string>> files;
    if (!minimal.plan.empty()) {
      files.emplace_back(".unsafe.json", signed_plan(info, *shape.first));
      files.emplace_back(".unsafe.expected", minimal.expected);
    }
    if (!minimal.graph.empty()) files.emplace_back(".graph.json", minimal.graph);
    for (const auto& [suffix, text] : files) {
      if (std::string problem = replace_file(stem + suffix, text); !problem.empty()) return problem;
    }
  }
  return "";
}

}  // namespace memverify
