// The numbers were counted in corpus/imports/st-edge-ai by a few lines of Python, not by the
// importer.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify {
namespace {

std::string corpus_file(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(MEMVERIFY_CORPUS "/imports/st-edge-ai/" + name).rdbuf();
  return text.str();
}

Result<Imported> import_text(const std::string& text) { return import_st_edge_ai(text, "f.json"); }

Plan plan_of(const std::string& text) {
  Result<Imported> imported = import_text(text);
  if (!imported.ok()) {
    ADD_FAILURE() << to_string(imported.errors().front());
    return {};
  }
  return std::move(imported).value().plan;
}

/// `text` with the first `from` at or after the first `anchor` replaced.
std::string edited(std::string text, const std::string& anchor, const std::string& from,
                   const std::string& to) {
  const std::size_t start = text.find(anchor);
  const std::size_t at = start == std::string::npos ? start : text.find(from, start);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no " << from << " after " << anchor;
    return text;
  }
  return text.replace(at, from.size(), to);
}

/// One line per op and storage: everything that decides a verdict.
std::multiset<std::string> content(const Plan& plan) {
  std::multiset<std::string> lines;
  for (const Storage& storage : plan.storages) {
    lines.insert(std::string(storage.name) + " in " + std::string(plan.pools[storage.pool].name) +
                 " at " + std::to_string(plan.exprs[storage.slots.begin].constant) + " bytes " +
                 std::to_string(storage.bytes.constant));
  }
  for (const Op& op : plan.ops) {
    std::multiset<std::string> accesses;
    for (const Access& access : plan.accesses_of(op)) {
      accesses.insert(std::string(name(access.kind)) + " " +
                      std::string(plan.tensors[access.tensor].name));
    }
    std::string line = std::string(op.name) + " " + std::string(plan.details_of(op).label);
    for (const std::string& access : accesses) line += ", " + access;
    for (const InPlace& pair : plan.in_place_of(op)) {
      line += ", in place " + std::string(plan.tensors[pair.read].name) + " " +
              std::string(plan.tensors[pair.written].name);
    }
    lines.insert(line);
  }
  return lines;
}

std::set<std::string> in_place_ops(const Plan& plan) {
  std::set<std::string> names;
  for (const Op& op : plan.ops) {
    if (!plan.in_place_of(op).empty()) names.emplace(op.name);
  }
  return names;
}

TEST(ImportStEdgeAi, ReadsPoolsBuffersAndNodes) {
  const Plan plan = plan_of(corpus_file("sww_c_info.json"));
  EXPECT_EQ(plan.name, "strm_ww_int8");
  ASSERT_EQ(plan.pools.size(), 2U);
  EXPECT_EQ(plan.pools[PoolId{0}].bytes->constant, 5836);
  EXPECT_EQ(plan.pools[PoolId{0}].alignment, 4);
  EXPECT_EQ(plan.queues.size(), 1U);
  EXPECT_EQ(plan.storages.size(), 39U);
  EXPECT_EQ(plan.tensors.size(), 39U);
  EXPECT_EQ(plan.ops.size(), 10U);
  EXPECT_EQ(plan.constants.size(), 18U);
  EXPECT_EQ(plan.inputs.size(), 1U);
  EXPECT_EQ(plan.donated.size(), 1U);
  EXPECT_EQ(plan.outputs.size(), 1U);
  EXPECT_EQ(plan.accesses.size(), 28U + 10U + 10U);
  std::int64_t bytes = 0;
  for (const Storage& storage : plan.storages) bytes += storage.bytes.constant;
  EXPECT_EQ(bytes, 49461);
  EXPECT_EQ(plan.ops[OpId{0}].name, "conv2d_0");
  EXPECT_EQ(plan.ops[OpId{9}].name, "nl_10");
}

TEST(ImportStEdgeAi, BothReportsGiveTheSamePlan) {
  EXPECT_EQ(content(plan_of(corpus_file("sww_c_info.json"))),
            content(plan_of(corpus_file("sww_c_graph.json"))));
}

TEST(ImportStEdgeAi, OnlyConvolutionsThatStayBehindTheirInputWorkInPlace) {
  const std::string text = corpus_file("sww_c_info.json");
  EXPECT_EQ(in_place_ops(plan_of(text)),
            (std::set<std::string>{"conv2d_0", "conv2d_1", "conv2d_2", "conv2d_4"}));
  // conv2d_1 fits with 68 bytes to spare between its last output row and its last input row.
  const std::string buffer = "\"name\": \"conv2d_1_output_array\"";
  EXPECT_TRUE(in_place_ops(plan_of(edited(text, buffer, ": 108", ": 176"))).contains("conv2d_1"));
  EXPECT_FALSE(in_place_ops(plan_of(edited(text, buffer, ": 108", ": 177"))).contains("conv2d_1"));
  EXPECT_FALSE(
      in_place_ops(plan_of(edited(text, "forward_pw_sssa8_ch", "forward_pw", "forward_xx")))
          .contains("conv2d_1"));
}

TEST(ImportStEdgeAi, TheRealPlanIsSafe) {
  for (const char* file : {"sww_c_info.json", "sww_c_graph.json"}) {
    const EngineResult result = verify_happens_before(plan_of(corpus_file(file)), {});
    EXPECT_EQ(result.verdict, Verdict::kSafe) << file;
    EXPECT_TRUE(result.findings.empty()) << file;
    EXPECT_GT(result.stats.pairs_checked, 0U) << file;
  }
}

TEST(ImportStEdgeAi, ABufferMovedOntoALiveOneIsFound) {
  // The scratch of conv2d_3 goes from byte 2592 to byte 0, where conv2d_3 finds its input.
  const Plan plan = plan_of(edited(corpus_file("sww_c_info.json"),
                                   "\"name\": \"conv2d_3_scratch0_array\"", ": 2592", ": 0"));
  const EngineResult result = verify_happens_before(plan, {});
  EXPECT_EQ(result.verdict, Verdict::kUnsafe);
  ASSERT_EQ(result.findings.size(), 1U);
  const Finding& finding = result.findings.front();
  EXPECT_EQ(finding.rule, Rule::kInPlace);
  EXPECT_EQ(plan.ops[finding.ops.at(0)].name, "conv2d_3");
  ASSERT_EQ(finding.tensors.size(), 2U);
  EXPECT_EQ(plan.tensors[finding.tensors[0]].name, "conv2d_2_output_array");
  EXPECT_EQ(plan.tensors[finding.tensors[1]].name, "conv2d_3_scratch0_array");
  EXPECT_EQ(finding.bytes, (ByteRange{0, 1242}));
}

TEST(ImportStEdgeAi, AnOutputThatSlidesTooFarIsFound) {
  // Four bytes up, each row of conv2d_2's output reaches into the input row it is made from.
  const std::string buffer = "\"name\": \"conv2d_2_output_array\"";
  const Plan plan = plan_of(edited(corpus_file("sww_c_info.json"), buffer, ": 0", ": 4"));
  const EngineResult result = verify_happens_before(plan, {});
  EXPECT_EQ(result.verdict, Verdict::kUnsafe);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.front().rule, Rule::kInPlace);
  EXPECT_EQ(plan.ops[result.findings.front().ops.at(0)].name, "conv2d_2");
}

TEST(ImportStEdgeAi, SaysWhatItTakesForGranted) {
  const Result<Imported> imported = import_text(corpus_file("sww_c_graph.json"));
  ASSERT_TRUE(imported.ok());
  // Order, scratch, two capacities, four convolutions in place, one donated input.
  EXPECT_EQ(imported.value().assumptions.size(), 2U + 2U + 4U + 1U);
  ASSERT_EQ(imported.value().plan.extras.size(), 1U);
  EXPECT_EQ(imported.value().plan.extras.front().key, "x-assumptions");
}

TEST(ImportStEdgeAi, RefusesEveryTruncatedFile) {
  for (const std::string file : {"sww_c_info.json", "sww_c_graph.json"}) {
    const std::string text = corpus_file(file);
    for (std::size_t size = 0; size + 2 < text.size(); size += 997) {
      const Result<Imported> imported = import_text(text.substr(0, size));
      ASSERT_FALSE(imported.ok()) << size;
      EXPECT_EQ(imported.errors().front().id, "json.syntax");
      EXPECT_GT(imported.errors().front().line, 0U);
    }
  }
}

struct Fault {
  std::string anchor, from, to, id, pointer;
};

TEST(ImportStEdgeAi, NamesThePlaceOfAFault) {
  const std::string text = corpus_file("sww_c_info.json");
  const std::vector<Fault> faults = {
      {"\"buffers\"", "\"offset_start\": 120", "\"offset_start\": -4", "import.range",
       "/buffers/0/offset_start"},
      {"\"buffers\"", "\"size_bytes\": 160", "\"size_bytes\": 99999999999999999999", "import.type",
       "/buffers/0/size_bytes"},
      {"\"buffers\"", "\"size_bytes\": 160", "\"size_bytes\": 9223372036854775807", "import.range",
       "/buffers/0"},
      {"\"buffers\"", "\"size_bytes\"", "\"size\"", "import.missing", "/buffers/0"},
      {"\"buffers\"", "\"mpool_id\": 1", "\"mpool_id\": 7", "import.unknown",
       "/buffers/0/mpool_id"},
      {"\"buffers\"", "\"id\": 213", "\"id\": 236", "import.duplicate", "/buffers/1/id"},
      {"\"nodes\"", "\"NODE_SW\"", "\"NODE_HW\"", "import.unsupported",
       "/graphs/0/nodes/0/mapping"},
      {"\"nodes\"", "\"outputs\": [", "\"outputs\": [99999,", "import.unknown",
       "/graphs/0/nodes/0/outputs/0"},
  };
  for (const Fault& fault : faults) {
    const Result<Imported> imported = import_text(edited(text, fault.anchor, fault.from, fault.to));
    ASSERT_FALSE(imported.ok()) << fault.to;
    const Diagnostic& error = imported.errors().front();
    EXPECT_EQ(error.id, fault.id) << to_string(error);
    EXPECT_EQ(error.pointer, fault.pointer) << to_string(error);
    EXPECT_EQ(error.file, "f.json");
  }
}

TEST(ImportStEdgeAi, ReportsAnArrayThatLiesElsewhereInItsPool) {
  const Result<Imported> imported = import_text(edited(
      corpus_file("sww_c_graph.json"), "\"c_arrays\"", "\"offset\": 120", "\"offset\": 124"));
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.errors().front().id, "import.contradiction");
}

TEST(ImportStEdgeAi, RefusesOtherJson) {
  for (const char* text : {"{}", "[]", "null", R"({"layers": [], "rom_size": 1})"}) {
    const Result<Imported> imported = import_text(text);
    ASSERT_FALSE(imported.ok()) << text;
    EXPECT_EQ(imported.errors().front().id, "import.format");
  }
  EXPECT_FALSE(import_text(std::string(100'000, '[')).ok());
}

TEST(Importers, AreFoundByName) {
  ASSERT_NE(find_importer("st-edge-ai"), nullptr);
  EXPECT_EQ(find_importer("st-edge-ai")->name, "st-edge-ai");
  EXPECT_EQ(find_importer("st-edge"), nullptr);
}

}  // namespace
}  // namespace memverify
