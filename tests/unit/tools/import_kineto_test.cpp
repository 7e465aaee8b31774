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

/// Work on device 0, too, and all that `two_streams` has happens on device 1.
Json two_devices() {
  Json trace = two_streams();
  Json& events = trace["traceEvents"];
  const Json launch = events[1];
  const Json kernel = events[2];
  for (Json& event : events) {
    if (event["args"].contains("device")) event["args"]["device"] = 1;
    if (event["args"].contains("Device Id")) event["args"]["Device Id"] = 1;
  }
  Json memory = events[0];
  memory["args"]["Device Id"] = 0;
  events.push_back(memory);
  events.push_back(launch);
  events.back()["args"]["correlation"] = 9;
  events.push_back(kernel);
  events.back()["args"]["correlation"] = 9;
  events.back()["args"]["stream"] = 9;
  return trace;
}

TEST(ImportKineto, ASyncIsOfOneDevice) {
  Json trace = two_devices();
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
  trace["traceEvents"][14]["args"]["stream"] = 7;  // As on device 1: where was it recorded?
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
  trace = two_devices();
  trace["traceEvents"][7] = trace["traceEvents"][11];  // No wait, but the host waits.
  trace["traceEvents"][7]["args"]["correlation"] = 3;
  trace["traceEvents"].erase(11);
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
  Json& sync = trace["traceEvents"][7]["args"];
  sync["device"] = 0;
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
  sync.erase("device");
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
  EXPECT_EQ(assumed(imported_trace(trace.dump()), "1 sync left out"), 1);
  sync["cuda_sync_kind"] = "Stream Sync";
  sync["stream"] = 7;
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
  sync["device"] = 1;
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
}

TEST(ImportKineto, WhatSpansDevicesIsUnknown) {
  Json trace = two_devices();
  Json& event = trace["traceEvents"][14];  // On device 0.
  event["cat"] = "gpu_memcpy";
  const auto verdict = [&](const char* name) {
    event["name"] = name;
    return trace_verdict(trace);
  };
  EXPECT_EQ(verdict("Memcpy DtoD (Device -> Device)"), Verdict::kSafe);
  EXPECT_EQ(verdict("Memcpy PtoP (Device -> Device)"), Verdict::kUnknown);
  EXPECT_EQ(verdict("Memcpy Unknown (Unknown -> Unknown)"), Verdict::kUnknown);
  event["cat"] = "kernel";
  EXPECT_EQ(verdict("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), Verdict::kUnknown);
  EXPECT_EQ(verdict("gemm"), Verdict::kSafe);
  event["args"].erase("device");
  EXPECT_EQ(verdict("gemm"), Verdict::kUnknown);
  trace = two_streams();  // Only one device has blocks.
  trace["traceEvents"][2]["name"] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
}

TEST(ImportKineto, ASyncOfAnotherDeviceIsNone) {
  Json trace = two_streams();
  trace["traceEvents"][7] = trace["traceEvents"].back();
  trace["traceEvents"][7]["args"]["correlation"] = 3;
  trace["traceEvents"].erase(11);
  for (const char* kind : {"Context Sync", "Stream Sync"}) {
    trace["traceEvents"][7]["args"]["cuda_sync_kind"] = kind;
    trace["traceEvents"][7]["args"]["stream"] = 7;
    trace["traceEvents"][7]["args"]["device"] = 0;
    EXPECT_EQ(trace_verdict(trace), Verdict::kSafe) << kind;
    trace["traceEvents"][7]["args"]["device"] = 1;
    EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown) << kind;
  }
}

TEST(ImportKineto, ACallDoesNotSayOfWhichDevice) {
  Json trace = two_devices();
  for (std::size_t event = trace["traceEvents"].size(); event-- > 0;) {
    if (trace["traceEvents"][event].value("cat", "") == "cuda_sync") {
      trace["traceEvents"].erase(event);
    }
  }
  trace["traceEvents"][6]["name"] = "cudaDeviceSynchronize";  // In place of the wait.
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
  for (Json& event : trace["traceEvents"]) {
    if (event["args"].contains("device")) event["args"]["device"] = 1;
    if (event["args"].contains("Device Id")) event["args"]["Device Id"] = 1;
  }
  trace["traceEvents"].erase(10);  // The block of device 0.
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
}

TEST(ImportKineto, OfOneTimeTheOrderIsNotKnown) {
  const auto moved = [](std::size_t event, double ts) {
    Json trace = two_streams();
    trace["traceEvents"][event]["ts"] = ts;
    return trace;
  };
  Json trace = moved(3, 20);  // The record: before or after the launch?
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
  trace["traceEvents"][3]["ts"] = 20.001;
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
  EXPECT_EQ(trace_verdict(moved(6, 80)), Verdict::kUnknown);  // The wait.
  for (const std::size_t event : {0U, 4U}) {  // The block begins, or ends, as the first is launched.
    trace = moved(event, 20);
    EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
    trace["traceEvents"][event]["ts"] = 20.0004;  // Less than a nanosecond.
    trace["traceEvents"].erase(7);
    EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
    trace["traceEvents"][event]["ts"] = event == 0 ? 20.001 : 19.999;
    EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
  }
}

TEST(ImportKineto, ABlockReplacedAtOnceGoesOn) {
  Json trace = two_streams();
  trace["traceEvents"][5]["args"]["Addr"] = 4096;
  std::swap(trace["traceEvents"][4], trace["traceEvents"][5]);
  trace["traceEvents"][4]["ts"] = trace["traceEvents"][5]["ts"];  // Begins before the other ends.
  trace["traceEvents"].erase(7);
  EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
  EXPECT_EQ(assumed(imported_trace(trace.dump()), "block freed"), 0);
  EXPECT_EQ(assumed(imported_trace(trace.dump()), "allocated over it"), 0);
}

TEST(ImportKineto, ASyncAtTheTimeOfWorkIsLeftOut) {
  Json trace = two_streams();
  trace["traceEvents"][7] = trace["traceEvents"].back();
  trace["traceEvents"][7]["args"]["correlation"] = 3;
  trace["traceEvents"].erase(11);
  EXPECT_EQ(trace_verdict(trace), Verdict::kSafe);
  for (const int ts : {20, 80}) {
    trace["traceEvents"][6]["ts"] = ts;
    EXPECT_EQ(trace_verdict(trace), Verdict::kUnknown);
    EXPECT_EQ(assumed(imported_trace(trace.dump()), "1 sync left out: work has"), 1);
  }
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
  trace["traceEvents"][0]["args"].erase("Device Type");
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
