#include "tools/report_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "plan/reader.h"
#include "tools/decide.h"
#include "tools/report_page.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

using DataJson = nlohmann::json;

Report verified(const std::string& text) {
  Report report{.file = "plan.json"};
  report.plan = read_plan(text, "plan.json").value();
  decide(report, select_engines("auto"), {});
  confirm_findings(report);
  return report;
}

Report of_corpus(const std::string& name) {
  std::ifstream file(MEMVERIFY_CORPUS "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return verified(text.str());
}

Drawing drawing_of(const Report& report, DrawnTime time = DrawnTime::kLevels,
                   DrawnLimits limits = {}) {
  return draw(report, time, limits).value();
}

DataJson data_of(const Report& report, DrawnLimits limits = {}) {
  return DataJson::parse(drawing_json(drawing_of(report, DrawnTime::kLevels, limits)));
}

/// The column's entry for the thing of that name.
DataJson entry(const DataJson& table, const std::string& column, const std::string& name) {
  const auto& names = table["name"];
  const auto at = std::find(names.begin(), names.end(), name) - names.begin();
  return table[column].at(static_cast<std::size_t>(at));
}

/// Start and end of a command of one iteration.
std::pair<int, int> span_of(const DataJson& data, const std::string& op, int iteration = 0) {
  const DataJson& commands = data["commands"];
  for (std::size_t k = 0; k < commands["op"].size(); ++k) {
    if (data["ops"]["name"][commands["op"][k].get<std::size_t>()] == op &&
        commands["iteration"][k] == iteration) {
      return {commands["start"][k], commands["end"][k]};
    }
  }
  return {-2, -2};
}

std::string chain_of(int ops) {
  std::string plan = R"({"memverify": 1, "pools": [{"id": "m", "bytes": 1024}],
    "queues": [{"id": "q"}, {"id": "r"}],
    "storages": [{"id": "s", "pool": "m", "offset": 0, "bytes": 64}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 64}], "ops": [)";
  for (int k = 0; k < ops; ++k) {
    plan += std::string(k == 0 ? "" : ",") + R"({"id": "o)" + std::to_string(k) +
            R"(", "queue": "q", "writes": ["t"]})";
  }
  return plan + "]}";
}

TEST(ReportData, SaysWhatThePlanSays) {
  const Report report = of_corpus("readme/two_branches.unsafe.json");
  const DataJson data = data_of(report);
  EXPECT_EQ(data["verdict"], "unsafe");
  EXPECT_EQ(data["line"], "unsafe, 51 pairs checked, 1 finding");
  EXPECT_EQ(data["counts"]["ops"], 10);
  EXPECT_EQ(data["counts"]["tensors"], 11);
  EXPECT_EQ(data["tensors"]["name"].size(), 11U);
  EXPECT_EQ(data["ranges"]["root"].size(), 6U);
  EXPECT_EQ(data["pools"][0]["capacity"], 65536);
  EXPECT_EQ(data["pools"][0]["peak"], 24576);
  EXPECT_EQ(data["pools"][0]["total"], 4096 * 4 + 8192 * 2);
  EXPECT_EQ(entry(data["storages"], "at", "s_b"), 4096);
  EXPECT_EQ(entry(data["tensors"], "bytes", "a_head1"), 15 * 512 + 256);
  // make_a, then use_a and make_b at once, which clash, then use_b, then merge.
  EXPECT_EQ(span_of(data, "make_a"), std::pair(0, 1));
  EXPECT_EQ(span_of(data, "use_a"), std::pair(1, 2));
  EXPECT_EQ(span_of(data, "make_b"), std::pair(1, 2));
  EXPECT_EQ(span_of(data, "merge"), std::pair(3, 4));
  // a, b of the same bytes, x, and p are alive there; y is not yet.
  EXPECT_EQ(data["pools"][0]["live_set"], 4096 + 8192 + 8192 + 4096);
}

TEST(ReportData, FindingsComeWithTheirRunAndWhatTheBytesHold) {
  const DataJson data = data_of(of_corpus("readme/two_branches.unsafe.json"));
  ASSERT_EQ(data["findings"].size(), 1U);
  const DataJson& finding = data["findings"][0];
  EXPECT_EQ(finding["rule"], "MV101");
  EXPECT_EQ(finding["ops"], (DataJson{"use_a", "make_b"}));
  EXPECT_EQ(finding["alias_chain"], (DataJson{"a_t", "a_head1", "a_heads", "a"}));
  EXPECT_EQ(finding["bytes"], (DataJson{4352, 4608}));
  EXPECT_EQ(finding["run"].size(), 4U);
  EXPECT_EQ(finding["run"][1], (DataJson{"make_a", 0, 1, 0}));
  const DataJson& versions = finding["rows"][0]["versions"];
  ASSERT_EQ(versions.size(), 4U);
  EXPECT_EQ(versions[0][2], "nothing");
  EXPECT_EQ(versions[1][2], "being written by `make_a`");
  EXPECT_EQ(versions[2][2], "bytes of `make_a`");
  EXPECT_EQ(versions[3], (DataJson{4, 3, "being written by `make_b`"}));
  EXPECT_EQ(finding["reads"][0]["expects"], "it should find the bytes of `make_a`");
  EXPECT_TRUE(finding["reads"][0]["meets"]);
}

TEST(ReportData, AReadThatFindsAnotherVersionSaysWhatItMeans) {
  const DataJson data = data_of(verified(R"({"memverify": 1, "pools": [{"id": "m"}],
    "queues": [{"id": "q"}],
    "storages": [{"id": "s", "pool": "m", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}, {"id": "u", "storage": "s", "bytes": 8}],
    "ops": [{"id": "w", "queue": "q", "writes": ["t"]}, {"id": "v", "queue": "q", "writes": ["u"]},
            {"id": "r", "queue": "q", "reads": ["t"]}]})"));
  const DataJson& read = data["findings"][0]["reads"][0];
  EXPECT_FALSE(read["meets"]);
  EXPECT_EQ(read["expects"], "it should find the bytes of `w`");
  EXPECT_EQ(data["reuse"]["from"].size(), 1U);
}

TEST(ReportData, BothOfTwoUnorderedWritersWrite) {
  Report report = verified(R"({"memverify": 1, "pools": [{"id": "m"}],
    "queues": [{"id": "q"}, {"id": "p"}],
    "storages": [{"id": "s", "pool": "m", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}, {"id": "u", "storage": "s", "bytes": 8}],
    "ops": [{"id": "w", "queue": "q", "writes": ["t"]}, {"id": "v", "queue": "p", "writes": ["u"]}]})");
  report.one_wait = "add `v`";
  const DataJson data = data_of(report);
  const DataJson& finding = data["findings"][0];
  EXPECT_EQ(finding["rule"], "MV103");
  EXPECT_EQ(finding["now"], "`v` waits for nothing");
  EXPECT_EQ(data["one_wait"], "add `v`");
  const std::string words = finding["rows"][0]["versions"].back()[2];
  EXPECT_EQ(words.rfind("being written by `", 0), 0U) << words;
  EXPECT_NE(words.find("`w`"), std::string::npos) << words;
  EXPECT_NE(words.find(" and `"), std::string::npos) << words;
  EXPECT_NE(words.find("`v`"), std::string::npos) << words;
}

TEST(ReportData, NamesStayText) {
  const std::string hostile = "</script><b>&\xE2\x80\xA8\xE2\x80\xA9";
  Report report = verified(R"({"memverify": 1, "name": ")" + hostile + R"(",
    "pools": [{"id": "m"}], "queues": [{"id": "q"}],
    "storages": [{"id": "s", "pool": "m", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}],
    "ops": [{"id": "w", "queue": "q", "writes": ["t"]}]})");
  report.file = "bad\xff.json";
  const std::string text = drawing_json(drawing_of(report));
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80"), std::string::npos);
  const DataJson data = DataJson::parse(text);
  EXPECT_EQ(data["plan"], hostile);
  EXPECT_EQ(data["file"], "bad\xEF\xBF\xBD.json");
  const std::vector<Drawing> one = [&] {
    std::vector<Drawing> drawings;
    drawings.push_back(drawing_of(report));
    return drawings;
  }();
  const std::string page = html_page(one);
  EXPECT_NE(page.find(text), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_EQ(page.find("http"), page.find("http-equiv"));
  const std::string dot = order_dot(one[0]);
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '"') % 2, 0);
  EXPECT_EQ(arena_svg(one[0]).find("<b>"), std::string::npos);
}

TEST(ReportData, SettlesWhatThePlanLeavesOpen) {
  const DataJson data = data_of(verified(R"({"memverify": 1, "iterations": "unbounded",
    "symbols": {"n": {"max": 10, "multiple_of": 4}}, "conditions": [{"id": "c", "per": "run"}],
    "pools": [{"id": "m"}], "queues": [{"id": "q"}],
    "storages": [{"id": "s", "pool": "m", "offset": [0, 1024], "bytes": "n * 8"}],
    "tensors": [{"id": "t", "storage": "s", "bytes": "n * 8"}],
    "ops": [{"id": "w", "queue": "q", "writes": ["t"], "when": {"c": true}},
            {"id": "x", "queue": "q", "writes": ["t"], "when": {"c": false}},
            {"id": "last", "queue": "q", "writes": ["t"], "runs": "last"}]})"));
  EXPECT_EQ(data["drawn"]["case"], (DataJson{"n = 8", "c = true"}));
  EXPECT_EQ(data["drawn"]["iterations"], 3);
  EXPECT_EQ(data["drawn"]["of"], 0);
  EXPECT_EQ(data["commands"]["op"].size(), 4U);  // w three times, and last in the third.
  EXPECT_EQ(span_of(data, "x"), std::pair(-2, -2));
  EXPECT_EQ(span_of(data, "last", 2), std::pair(3, 4));
  EXPECT_EQ(data["ranges"]["at"], (DataJson{0, 1024, 0}));
  EXPECT_EQ(data["pools"][0]["peak"], 1024 + 64);
}

TEST(ReportData, SyncsOfAllKindsAreEdges) {
  const Report report = verified(R"({"memverify": 1, "pools": [{"id": "m"}],
    "queues": [{"id": "a"}, {"id": "b"}, {"id": "n", "order": "none"}],
    "semaphores": [{"id": "sem", "kind": "counting"}],
    "storages": [{"id": "s", "pool": "m", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}],
    "ops": [{"id": "o1", "queue": "a", "writes": ["t"], "signals": [{"event": "e"}, {"semaphore": "sem"}]},
            {"id": "o2", "queue": "b", "waits": [{"event": "e"}]},
            {"id": "o3", "queue": "n", "waits": [{"semaphore": "sem", "consume": true}]},
            {"id": "o4", "queue": "n", "after": ["o2"]},
            {"id": "bar", "kind": "barrier", "queues": ["n", "b"]},
            {"id": "host", "kind": "host_wait", "for": {"queue": "b"}},
            {"id": "o5", "queue": "b", "reads": ["t"]}]})");
  const DataJson data = data_of(report);
  std::set<int> reasons(data["syncs"]["reason"].begin(), data["syncs"]["reason"].end());
  EXPECT_EQ(reasons, (std::set<int>{0, 1, 2, 3}));
  EXPECT_EQ(span_of(data, "o1"), std::pair(0, 1));
  EXPECT_EQ(span_of(data, "o3"), std::pair(1, 2));
  EXPECT_EQ(span_of(data, "o4"), std::pair(2, 3));
  EXPECT_EQ(span_of(data, "bar"), std::pair(3, 3));
  EXPECT_EQ(span_of(data, "o5"), std::pair(3, 4));
  const std::string dot = order_dot(drawing_of(report));
  EXPECT_NE(dot.find("label=\"semaphore\""), std::string::npos);
}

TEST(ReportData, ADeadlockLeavesCommandsWithoutATime) {
  const DataJson data = data_of(verified(R"({"memverify": 1, "pools": [{"id": "m"}],
    "queues": [{"id": "a"}, {"id": "b"}],
    "storages": [{"id": "s", "pool": "m", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}],
    "ops": [{"id": "o1", "queue": "a", "writes": ["t"], "after": ["o2"]},
            {"id": "o2", "queue": "b", "after": ["o1"]}]})"));
  EXPECT_EQ(data["drawn"]["stuck"], 2);
  EXPECT_EQ(span_of(data, "o1"), std::pair(-1, -1));
}

TEST(ReportData, TicksAreTheLongestDurations) {
  const Report report =
      verified(R"({"memverify": 1, "pools": [{"id": "m"}], "queues": [{"id": "q"}],
    "storages": [{"id": "s", "pool": "m", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}],
    "ops": [{"id": "w", "queue": "q", "writes": ["t"], "duration": [2, 5]},
            {"id": "r", "queue": "q", "reads": ["t"]}]})");
  const DataJson data = DataJson::parse(drawing_json(drawing_of(report, DrawnTime::kTicks)));
  EXPECT_EQ(span_of(data, "w"), std::pair(0, 5));
  EXPECT_EQ(span_of(data, "r"), std::pair(5, 6));
}

TEST(ReportData, InPlaceAndTiedConstantsCountOnce) {
  const DataJson data = data_of(verified(R"({"memverify": 1, "pools": [{"id": "m"}],
    "queues": [{"id": "q"}],
    "storages": [{"id": "s", "pool": "m", "offset": 0, "bytes": 64},
                 {"id": "w", "pool": "m", "offset": 64, "bytes": 32}],
    "tensors": [{"id": "a", "storage": "s", "bytes": 64}, {"id": "b", "storage": "s", "bytes": 64},
                {"id": "c1", "storage": "w", "bytes": 32}, {"id": "c2", "storage": "w", "bytes": 32}],
    "constants": ["c1", "c2"], "outputs": ["b"],
    "ops": [{"id": "make", "queue": "q", "reads": ["c1"], "writes": ["a"]},
            {"id": "relu", "queue": "q", "reads": ["a", "c2"], "writes": ["b"],
             "in_place": [["a", "b"]]}]})"));
  EXPECT_EQ(data["verdict"], "safe");
  EXPECT_EQ(data["pools"][0]["live_set"], 64 + 32);
  EXPECT_EQ(data["pools"][0]["peak"], 96);
  EXPECT_EQ(data["pools"][0]["total"], 64 + 64 + 32 + 32);
}

TEST(ReportData, ALargePlanKeepsItsNeighbourhoodsAndSumsUpTheRest) {
  Report report = verified(chain_of(1000));
  const DataJson whole = data_of(report);
  EXPECT_EQ(whole["counts"]["kept_commands"], 1000);
  EXPECT_FALSE(whole["lanes"][0].contains("busy"));
  report.findings.push_back(
      {.rule = Rule::kWaw, .ops = {OpId{500}, OpId{501}}, .iteration = {0, 0}});
  const DataJson part = data_of(report, {.commands = 50, .ranges = 100});
  EXPECT_EQ(part["counts"]["commands"], 1000);
  EXPECT_EQ(part["counts"]["kept_commands"], 50);
  EXPECT_EQ(part["ops"]["name"].size(), 50U);
  EXPECT_EQ(span_of(part, "o500"), std::pair(500, 501));
  EXPECT_EQ(span_of(part, "o100"), std::pair(-2, -2));
  EXPECT_EQ(part["findings"][0]["at"].size(), 2U);
  EXPECT_GE(part["findings"][0]["at"][0], 0);
  const std::string busy = part["lanes"][0]["busy"];
  EXPECT_EQ(busy.size(), kRasterWidth);
  EXPECT_NE(busy[120], kShades.front());  // Level 250.
  EXPECT_EQ(busy[240], kShades.front());  // There all are drawn one by one.
}

TEST(ReportData, RangesLeftOutAreOnTheRaster) {
  std::string plan = R"({"memverify": 1, "pools": [{"id": "m"}], "queues": [{"id": "q"}], )";
  std::string storages, tensors, ops;
  for (int k = 0; k < 40; ++k) {
    const std::string id = std::to_string(k), comma = k == 0 ? "" : ",";
    storages += comma + R"({"id": "s)" + id + R"(", "pool": "m", "bytes": 64, "offset": )" +
                std::to_string(64 * k) + "}";
    tensors += comma + R"({"id": "t)" + id + R"(", "storage": "s)" + id + R"(", "bytes": 64})";
    ops += comma + R"({"id": "o)" + id + R"(", "queue": "q", "writes": ["t)" + id + R"("]})";
  }
  const Report report = verified(plan + R"("storages": [)" + storages + R"(], "tensors": [)" +
                                 tensors + R"(], "ops": [)" + ops + "]}");
  const DataJson data = data_of(report, {.commands = 1000, .ranges = 10});
  EXPECT_LE(data["counts"]["kept_ranges"], 10);
  const std::string raster = data["pools"][0]["raster"];
  ASSERT_EQ(raster.size(), kRasterWidth * kRasterHeight);
  // The last tensor is alive at the end, at the top.
  EXPECT_EQ(raster.back(), kShades.back());
  EXPECT_EQ(raster[kRasterWidth - 1], kShades.front());
}

TEST(ReportPage, APerfettoTraceHasTracksSlicesFlowsAndCounters) {
  const Report report = of_corpus("readme/two_branches.unsafe.json");
  const DataJson trace = DataJson::parse(perfetto_trace(drawing_of(report)));
  std::map<std::string, int> phases;
  std::map<std::int64_t, int> flows, live;
  for (const DataJson& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    ++phases[phase];
    if (phase == "s" || phase == "f") flows[event["id"]] += phase == "s" ? 1 : -1;
    if (phase == "b" || phase == "e") live[event["id"]] += phase == "b" ? 1 : -1;
  }
  EXPECT_EQ(phases["X"], 5);  // Views run nothing.
  EXPECT_EQ(phases["b"], 6);
  EXPECT_EQ(phases["s"], 2);
  EXPECT_GE(phases["C"], 4);
  for (const auto& [id, balance] : flows) EXPECT_EQ(balance, 0) << id;
  for (const auto& [id, balance] : live) EXPECT_EQ(balance, 0) << id;
}

TEST(ReportPage, TheGraphShowsTheClash) {
  const Report report = of_corpus("readme/two_branches.unsafe.json");
  const std::string dot = order_dot(drawing_of(report));
  EXPECT_NE(dot.find("label=\"use_a (Softmax)\", color=\"#d55e00\""), std::string::npos);
  EXPECT_NE(dot.find("label=\"MV101\""), std::string::npos);
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
}

TEST(ReportPage, TheMapAsSvgShowsTensorsAndLimits) {
  const Report report = of_corpus("readme/two_branches.unsafe.json");
  const std::string svg = arena_svg(drawing_of(report));
  for (const char* part :
       {">peak 24 KiB<", "a: 8 KiB at [4096, 12288)", "url(#clash)", ">MV101<"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
}

TEST(ReportPage, MarksOfOnePlaceInTheSvgStandSideBySide) {
  Report report = of_corpus("readme/two_branches.unsafe.json");
  report.findings.resize(3, report.findings.front());
  const std::string svg = arena_svg(drawing_of(report));
  std::set<double> places;
  for (std::size_t at = svg.find(">MV101<"); at != std::string::npos;
       at = svg.find(">MV101<", at + 1)) {
    const std::size_t text = svg.rfind("<text x=\"", at);
    places.insert(std::stod(svg.substr(text + 9)));
  }
  ASSERT_EQ(places.size(), 3U);
  EXPECT_GE(*std::next(places.begin()) - *places.begin(), 40);
  EXPECT_GE(*places.rbegin() - *std::next(places.begin()), 40);
}

}  // namespace
}  // namespace memverify
