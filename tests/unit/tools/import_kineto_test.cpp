#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "support/process.h"
#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;

std::string real_trace(const std::string& name) {
  return read_text(MEMVERIFY_CORPUS "/imports/kineto/" + name);
}

Json two_streams() { return Json::parse(real_trace("two_streams.trace.json")); }

Imported imported_trace(const std::string& text) {
  Result<Imported> imported = import_kineto(text, "t.trace.json");
  if (imported.ok()) return std::move(imported).value();
  ADD_FAILURE() << to_string(imported.errors().front());
  return {};
}

Verdict trace_verdict(const Json& trace) {
  return verify_happens_before(imported_trace(trace.dump()).plan, {}).verdict;
}

std::string trace_error(const std::string& text) {
  const Result<Imported> imported = import_kineto(text, "t.trace.json");
  if (imported.ok()) return "none";
  return imported.errors().front().id + " " + imported.errors().front().pointer;
}

std::ptrdiff_t assumed(const Imported& imported, std::string_view text) {
  return std::ranges::count_if(imported.assumptions, [&](const std::string& sentence) {
    return sentence.find(text) != std::string::npos;
  });
}

TEST(ImportKineto, HasTheOrderOfARealTrace) {
  const Imported imported = imported_trace(real_trace("event_sync_multi_stream.trace.json"));
  const Plan& plan = imported.plan;
  const auto count = [&](OpKind kind) { return std::ranges::count(plan.ops, kind, &Op::kind); };
  EXPECT_EQ(plan.queues.size(), 3U);
  EXPECT_EQ(count(OpKind::kUnknown), 6);  // Three kernels and three memsets, of unknown effect.
  EXPECT_EQ(count(OpKind::kRecord), 1);
  EXPECT_EQ(count(OpKind::kWait), 1);
  EXPECT_EQ(count(OpKind::kHostWait), 1);
  EXPECT_EQ(assumed(imported, "3 questions"), 1);
  EXPECT_EQ(verify_happens_before(plan, {}).verdict, Verdict::kUnknown);
}

TEST(ImportKineto, ABlockThatMovesToAnotherStreamMustWait) {
  EXPECT_EQ(trace_verdict(two_streams()), Verdict::kSafe);
  Json trace = two_streams();
  trace["traceEvents"].erase(7);  // The wait.
  const Imported imported = imported_trace(trace.dump());
  EXPECT_EQ(verify_happens_before(imported.plan, {}).verdict, Verdict::kUnknown);
  EXPECT_EQ(assumed(imported, "Possible: `run_"), 1);
  trace["traceEvents"][5]["args"]["Addr"] = 4096 + 512;  // Another place.
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
}

TEST(ImportKineto, ManyPossibleClashesAreNoneProven) {
  Json events = Json::array();
  for (int i = 0; i < 500; ++i) {
    const int stream = i % 2;
    events.push_back({{"name", "[memory]"},
                      {"ts", 3 * i},
                      {"args", {{"Device Type", 1}, {"Addr", 0}, {"Bytes", 8}}}});
    events.push_back({{"cat", "kernel"},
                      {"name", "k"},
                      {"ts", 3 * i + 1},
                      {"args", {{"device", 0}, {"stream", stream}, {"correlation", i}}}});
    events.push_back({{"name", "[memory]"},
                      {"ts", 3 * i + 2},
                      {"args", {{"Device Type", 1}, {"Addr", 0}, {"Bytes", -8}}}});
  }
  EXPECT_EQ(trace_verdict({{"traceEvents", events}}), Verdict::kUnknown);
}

TEST(ImportKineto, TheHostWaitsToo) {
  Json trace = two_streams();
  trace["traceEvents"][7] = trace["traceEvents"].back();  // Of everything, earlier.
  trace["traceEvents"][7]["args"]["correlation"] = 3;
  trace["traceEvents"].erase(11);
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
  trace["traceEvents"][7]["args"]["cuda_sync_kind"] = "Stream Sync";
  trace["traceEvents"][7]["args"]["stream"] = 7;
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
  trace["traceEvents"][7]["args"]["stream"] = 20;
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
}

TEST(ImportKineto, AGraphHasAnOrderThatIsNotInTheTrace) {
  Json trace = two_streams();
  trace["traceEvents"][8]["name"] = "cudaGraphLaunch";
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
}

TEST(ImportKineto, DevicesMayBeNumberedInTwoWays) {
  Json trace = two_streams();
  for (const std::size_t event : {0U, 4U, 5U}) trace["traceEvents"][event]["args"]["Device Id"] = 3;
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
  trace["traceEvents"][5]["args"]["Device Id"] = 4;  // Which is which?
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
}

TEST(ImportKineto, BlocksMayBeOlderThanTheTrace) {
  Json trace = two_streams();
  trace["traceEvents"].erase(7);
  trace["traceEvents"].erase(0);
  const Imported imported = imported_trace(trace.dump());
  EXPECT_EQ(verify_happens_before(imported.plan, {}).verdict, Verdict::kUnknown);
  EXPECT_EQ(assumed(imported, "1 block freed"), 1);
}

TEST(ImportKineto, NamesThePlaceOfAFault) {
  EXPECT_EQ(trace_error("[1, 2]"), "import.format ");
  EXPECT_EQ(trace_error("{}"), "import.format ");
  EXPECT_EQ(trace_error("{\"traceEvents\": ["), "json.syntax ");
  Json trace = two_streams();
  trace["traceEvents"][2].erase("ts");
  EXPECT_EQ(trace_error(trace.dump()), "import.type /traceEvents/2");
  trace = two_streams();
  trace["traceEvents"][0]["args"].erase("Addr");
  EXPECT_EQ(trace_error(trace.dump()), "import.type /traceEvents/0");
  trace = two_streams();
  trace["traceEvents"][0]["args"]["Addr"] = -1;
  EXPECT_EQ(trace_error(trace.dump()), "import.range /traceEvents/0");
  trace = two_streams();
  trace["traceEvents"][2]["args"].erase("stream");
  EXPECT_EQ(trace_error(trace.dump()), "import.type /traceEvents/2");
}

}  // namespace
}  // namespace memverify::testing
