#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/process.h"
#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;

Json tvm_chain() {
  return Json::parse(read_text(MEMVERIFY_CORPUS "/imports/tvm-graph/chain.json"));
}

Plan tvm_plan_of(const Json& graph) {
  Result<Imported> imported = import_tvm_graph(graph.dump(), "g.json");
  if (imported.ok()) return std::move(imported).value().plan;
  ADD_FAILURE() << to_string(imported.errors().front());
  return {};
}

Verdict tvm_verdict(const Json& graph) {
  return verify_happens_before(tvm_plan_of(graph), {}).verdict;
}

std::string tvm_error(const std::string& text) {
  const Result<Imported> imported = import_tvm_graph(text, "g.json");
  if (imported.ok()) return "none";
  return imported.errors().front().id + " " + imported.errors().front().pointer;
}

TEST(ImportTvmGraph, SharedStoragesMakeAPlanToVerify) {
  const Plan plan = tvm_plan_of(tvm_chain());
  EXPECT_EQ(plan.ops.size(), 4U);  // The reshape runs nothing.
  EXPECT_EQ(plan.tensors.size(), 8U);
  ASSERT_EQ(plan.storages.size(), 5U);
  EXPECT_EQ(plan.storages[StorageId{2}].bytes.constant, 4 * 32);  // The largest of four.
  EXPECT_EQ(plan.inputs.size(), 2U);
  EXPECT_EQ(tvm_verdict(tvm_chain()), Verdict::kSafe);
}

TEST(ImportTvmGraph, FindsWhatIsSharedTooEarly) {
  Json graph = tvm_chain();
  graph["attrs"]["storage_id"][1][5] = 3;  // A result of `split` over what `split` reads.
  EXPECT_EQ(tvm_verdict(graph), Verdict::kUnsafe);
  graph = tvm_chain();
  graph["nodes"][6]["inputs"][1] = {3, 0, 0};  // The reshape, when `split` was written over it.
  EXPECT_EQ(tvm_verdict(graph), Verdict::kUnsafe);
  graph = tvm_chain();
  graph["attrs"]["storage_id"][1][7] = 1;  // Over a parameter.
  EXPECT_EQ(tvm_verdict(graph), Verdict::kUnsafe);
}

TEST(ImportTvmGraph, NamesThePlaceOfAFault) {
  struct Fault {
    std::function<void(Json&)> break_it;
    std::string error;
  };
  const std::vector<Fault> faults = {
      {[](Json& g) { g["node_row_ptr"][1] = 9; }, "import.contradiction /node_row_ptr"},
      {[](Json& g) { g["attrs"]["shape"][1].erase(0); }, "import.contradiction /attrs"},
      {[](Json& g) { g["attrs"]["shape"] = 3; }, "import.type /attrs/shape"},
      {[](Json& g) { g["attrs"]["dltype"][1][2] = "handle"; },
       "import.unsupported /attrs/dltype/1/2"},
      {[](Json& g) { g["attrs"]["storage_id"][1][2] = -1; }, "import.range /attrs/storage_id/1/2"},
      {[](Json& g) {
         g["attrs"]["shape"][1][2] = {1 << 30, 1 << 30};
       },
       "import.range /attrs/shape/1/2"},
      {[](Json& g) {
         g["nodes"][2]["inputs"][0] = {2, 0, 0};
       },
       "import.unknown /nodes/2/inputs/0"},
      {[](Json& g) { g["nodes"][2]["op"] = "If"; }, "import.unsupported /nodes/2/op"},
      {[](Json& g) { g["attrs"]["storage_id"][1][3] = 4; }, "import.contradiction /nodes/3"},
      {[](Json& g) {
         g["heads"][0] = {7, 0, 0};
       },
       "import.unknown /heads/0"},
      {[](Json& g) { g.erase("node_row_ptr"); }, "import.format "},
  };
  for (const Fault& fault : faults) {
    Json graph = tvm_chain();
    fault.break_it(graph);
    EXPECT_EQ(tvm_error(graph.dump()), fault.error);
  }
  EXPECT_EQ(tvm_error(tvm_chain().dump().substr(0, 400)), "json.syntax ");
}

TEST(ImportTvmGraph, KnowsTheSizeOfItsTypes) {
  const std::vector<std::pair<std::string, std::int64_t>> types = {
      {"float32", 32 * 4}, {"int8", 32}, {"uint8x4", 32 * 4}, {"bool", 32}, {"float16", 64}};
  for (const auto& [type, bytes] : types) {
    Json graph = tvm_chain();
    for (const std::size_t entry : {2U, 3U, 5U}) graph["attrs"]["dltype"][1][entry] = type;
    EXPECT_EQ(tvm_plan_of(graph).storages[StorageId{2}].bytes.constant, bytes) << type;
  }
}

}  // namespace
}  // namespace memverify::testing
