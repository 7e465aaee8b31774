// The numbers of real files were counted by a reader of FlatBuffers in Python, not by the importer.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/pte_file.h"
#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

std::string real_program(const std::string& name) {
  return read_text(MEMVERIFY_CORPUS "/imports/executorch/" + name);
}

Imported imported_pte(const std::string& bytes) {
  Result<Imported> imported = import_executorch(bytes, "f.pte");
  if (imported.ok()) return std::move(imported).value();
  ADD_FAILURE() << to_string(imported.errors().front());
  return {};
}

std::string pte_verdict(const PteFile& file) {
  const Plan plan = imported_pte(pte_bytes(file)).plan;
  return std::string(name(verify_happens_before(plan, {}).verdict));
}

std::string pte_error(const std::string& bytes) {
  const Result<Imported> imported = import_executorch(bytes, "f.pte");
  if (imported.ok()) return "none";
  return imported.errors().front().id + " " + imported.errors().front().pointer;
}

TEST(ImportExecutorch, CountsWhatARealFileHas) {
  const Plan plan = imported_pte(real_program("keyword_spotting.pte")).plan;
  EXPECT_EQ(plan.ops.size(), 16U);
  EXPECT_EQ(plan.constants.size(), 83U);
  EXPECT_EQ(plan.tensors.size(), 83U + 28U);
  const auto placed = [&](std::string_view pool) {
    return std::ranges::count_if(plan.storages, [&](const Storage& storage) {
      return plan.pools[storage.pool].name == pool;
    });
  };
  EXPECT_EQ(placed("file"), 83);
  EXPECT_EQ(placed("memory_1"), 27);  // One of 28 is a view of another.
  const EngineResult result = verify_happens_before(plan, {});
  EXPECT_EQ(result.verdict, Verdict::kSafe);
  EXPECT_EQ(verify_happens_before(imported_pte(real_program("add.pte")).plan, {}).verdict,
            Verdict::kSafe);
}

TEST(ImportExecutorch, AMovedTensorOfARealFileIsFound) {
  Plan plan = imported_pte(real_program("keyword_spotting.pte")).plan;
  // The result of the first convolution moves over the input of that.
  for (const Storage& storage : plan.storages) {
    if (storage.name == "value_91") plan.exprs[storage.slots.begin].constant = 1968 + 256;
  }
  EXPECT_EQ(verify_happens_before(plan, {}).verdict, Verdict::kUnsafe);
}

/// in -> op(in, weights) -> x -> op -> out.
PteFile two_calls() {
  return {.values = {{.offset = 0}, {.data = 1}, {.offset = 16}, {.offset = 32}},
          .calls = {{.args = {0, 1, 2, 2}}, {.args = {2, 3, 3}}},
          .inputs = {0},
          .outputs = {3}};
}

TEST(ImportExecutorch, PlacesMakeAPlanToVerify) {
  PteFile file = two_calls();
  EXPECT_EQ(pte_verdict(file), "safe");
  file.values[3].offset = 0;  // The input is not wanted any more.
  EXPECT_EQ(pte_verdict(file), "safe");
  file.values[3].offset = 24;  // Over what the call reads.
  EXPECT_EQ(pte_verdict(file), "unsafe");
  file.values[3].offset = 1016;
  EXPECT_EQ(pte_verdict(file), "unsafe");  // Beyond the memory.
  file = two_calls();
  file.values.push_back({.sizes = {0, 4}, .offset = 16});  // No bytes, over a live tensor.
  file.calls[1].args = {2, 4, 3, 3};
  EXPECT_EQ(pte_verdict(file), "safe");
}

TEST(ImportExecutorch, AViewThatWasLeftOutIsFound) {
  PteFile file = two_calls();
  file.values.push_back({.sizes = {4, 4}, .offset = 16});
  file.calls[1].args = {4, 3, 3};
  EXPECT_EQ(pte_verdict(file), "safe");
  const Plan plan = imported_pte(pte_bytes(file)).plan;
  EXPECT_EQ(plan.tensors[TensorId{4}].placement, TensorKind::kView);
  file.values.push_back({.offset = 24});  // Written meanwhile, over half of it.
  file.calls.insert(file.calls.begin() + 1, PteFileCall{.args = {1, 5, 5}});
  EXPECT_EQ(pte_verdict(file), "unknown");
}

TEST(ImportExecutorch, AViewOfOneOfTwoIsUnknown) {
  PteFile file = two_calls();
  file.values.push_back({.sizes = {4, 4}, .offset = 16});
  file.calls[1].args = {4, 3, 3};
  file.values.push_back({.offset = 48});
  file.values.push_back({.offset = 16});
  file.calls.insert(file.calls.begin() + 1, PteFileCall{.args = {2, 5, 5}});
  EXPECT_EQ(pte_verdict(file), "safe");
  file.calls.insert(file.calls.begin() + 2, PteFileCall{.args = {5, 6, 6}});
  EXPECT_EQ(pte_verdict(file), "unknown");  // Of 2, or of 6?
  file.outputs = {4};
  file.calls.pop_back();
  EXPECT_EQ(pte_verdict(file), "unknown");
  file.values.push_back({.sizes = {2, 8}});
  file.values.push_back({.list = {1}});
  file.calls.push_back({.args = {4, 8, 7}, .op = 1});
  file.outputs = {7};
  EXPECT_EQ(pte_verdict(file), "unknown");
}

/// As `two_calls`, but the second one is given a view of what the first one returns.
PteFile a_view_call() {
  PteFile file = two_calls();
  file.values.push_back({.sizes = {4, 4}});
  file.values.push_back({.list = {1}});
  file.calls.insert(file.calls.begin() + 1, PteFileCall{.args = {2, 5, 4}, .op = 1});
  file.calls[2].args = {4, 3, 3};
  return file;
}

TEST(ImportExecutorch, AViewCallRunsNothing) {
  PteFile file = a_view_call();
  const Plan plan = imported_pte(pte_bytes(file)).plan;
  EXPECT_EQ(plan.ops.size(), 2U);
  EXPECT_EQ(plan.tensors[TensorId{4}].placement, TensorKind::kView);
  EXPECT_EQ(pte_verdict(file), "safe");
  file.values.push_back({.offset = 16});  // Written before the view is read.
  file.calls.insert(file.calls.begin() + 2, PteFileCall{.args = {1, 6, 6}});
  EXPECT_EQ(pte_verdict(file), "unsafe");
}

TEST(ImportExecutorch, OneViewHasOneBase) {
  const std::string refused = "import.unsupported /execution_plan/0/chains";
  PteFile file = a_view_call();
  file.calls.insert(file.calls.begin() + 2, PteFileCall{.args = {0, 5, 4}, .op = 1});
  EXPECT_EQ(pte_error(pte_bytes(file)), refused);
  file = a_view_call();  // A call has written it.
  file.values[4].offset = 48;
  file.calls.insert(file.calls.begin(), PteFileCall{.args = {0, 4, 4}});
  EXPECT_EQ(pte_error(pte_bytes(file)), refused);
}

TEST(ImportExecutorch, WhatIsFreedHasNoValue) {
  PteFile file = a_view_call();
  file.values[2].offset.reset();
  file.calls.push_back({.kind = 5, .op = 2});
  EXPECT_EQ(pte_verdict(file), "safe");
  std::swap(file.calls[2], file.calls[3]);  // Before the view of it is read.
  EXPECT_EQ(pte_verdict(file), "unsafe");
  file.calls[3].args = {2, 3, 3};
  EXPECT_EQ(pte_verdict(file), "unsafe");
  file.calls[3].args = {0, 3, 3};
  EXPECT_EQ(pte_verdict(file), "safe");
}

TEST(ImportExecutorch, ScratchIsOverwritten) {
  PteFile file = two_calls();
  file.values.push_back({.sizes = {8}, .offset = 48});
  file.calls[1].args = {2, 4, 3, 3};
  EXPECT_EQ(pte_verdict(file), "safe");
  file.values[4].offset = 20;  // Over what the call reads.
  EXPECT_EQ(pte_verdict(file), "unsafe");
}

TEST(ImportExecutorch, StateSurvivesTheRun) {
  PteFile file = two_calls();  // x is read before it is written: left by the run before.
  file.values.push_back({.offset = 48});
  file.calls.insert(file.calls.begin(), PteFileCall{.args = {2, 4, 4}});
  EXPECT_EQ(pte_verdict(file), "safe");
  const Plan plan = imported_pte(pte_bytes(file)).plan;
  EXPECT_EQ(plan.inputs.size(), 2U);
  EXPECT_EQ(plan.outputs.size(), 2U);
  file.values[3].offset = 16;
  EXPECT_EQ(pte_verdict(file), "unsafe");
  file = two_calls();
  file.values[0].data = 1;  // An initial value, and a place.
  EXPECT_EQ(imported_pte(pte_bytes(file)).plan.donated.size(), 0U);
}

TEST(ImportExecutorch, WhatSeveralCallsAreGivenIsNoScratch) {
  PteFile file = two_calls();
  file.values.push_back({.sizes = {8}, .offset = 48});
  file.calls[1].args = {2, 4, 3, 3};
  file.values[3].offset = 48;  // The result takes the place of scratch later.
  file.values.push_back({.offset = 64});
  file.outputs = {5};
  file.calls[1].args = {2, 4, 5, 5};
  file.calls.push_back({.args = {5, 3, 3}});
  EXPECT_EQ(pte_verdict(file), "safe");
  file.calls.push_back({.args = {4, 3, 3}});
  EXPECT_EQ(pte_verdict(file), "unsafe");  // It keeps something from call to call.
}

TEST(ImportExecutorch, ACallReturnsAList) {
  PteFile file = two_calls();
  file.values.push_back({.offset = 64});
  file.values.push_back({.list = {2, 4}});
  file.calls[0].args = {0, 1, 2, 4, 5};
  file.calls[1].args = {2, 4, 3, 3};
  EXPECT_EQ(pte_verdict(file), "safe");
  file.values[4].offset = 20;
  EXPECT_EQ(pte_verdict(file), "unsafe");
}

TEST(ImportExecutorch, ADelegateWritesWhatHasNoValue) {
  PteFile file = two_calls();
  file.calls[0] = {.args = {0, 2}, .kind = 2};
  EXPECT_EQ(pte_verdict(file), "safe");
  file.values[3].offset = 24;
  EXPECT_EQ(pte_verdict(file), "unsafe");
  file = two_calls();
  file.calls[1] = {.args = {2, 3}, .kind = 2};
  file.values[3].offset = 0;  // A view of the input, or a result in its place?
  EXPECT_EQ(pte_verdict(file), "unknown");
}

TEST(ImportExecutorch, NamesThePlaceOfAFault) {
  struct Fault {
    std::function<void(PteFile&)> break_it;
    std::string error;
  };
  const std::string values = "/execution_plan/0/values/";
  const std::string calls = "/execution_plan/0/chains/0/instructions/";
  const std::vector<Fault> faults = {
      {[](PteFile& f) { f.values[2].type = 17; }, "import.unsupported " + values + "2/val"},
      {[](PteFile& f) { f.values[2].sizes = {-1}; }, "import.range " + values + "2/val"},
      {[](PteFile& f) { f.values[1].data = 2; }, "import.unknown " + values + "1/val"},
      {[](PteFile& f) { f.values[1].sizes = {1 << 20}; }, "import.range " + values + "1/val"},
      {[](PteFile& f) { f.values[2].memory = 2; },
       "import.contradiction " + values + "2/val/allocation_info"},
      {[](PteFile& f) { f.values[1].list = {7}; }, "import.unknown /execution_plan/0"},
      {[](PteFile& f) { f.calls[1].args = {9}; }, "import.unknown " + calls + "1/instr_args"},
      {[](PteFile& f) { f.calls[1].op = 2; }, "import.unknown " + calls + "1/instr_args"},
      {[](PteFile& f) { f.calls[1].kind = 4; }, "import.unsupported " + calls + "1"},
      {[](PteFile& f) { f.calls[1] = {.kind = 5, .op = 4}; },
       "import.unknown " + calls + "1/instr_args"},
      {[](PteFile& f) { f.outputs = {4}; }, "import.unknown /execution_plan/0"},
  };
  for (const Fault& fault : faults) {
    PteFile file = two_calls();
    fault.break_it(file);
    EXPECT_EQ(pte_error(pte_bytes(file)), fault.error);
  }
  EXPECT_EQ(pte_error(pte_bytes(two_calls())), "none");
}

TEST(ImportExecutorch, ReadsNoMoreThanTheFileHolds) {
  PteFile file = two_calls();  // 500 calls that name a list of 500 a hundred times.
  file.values.push_back({.list = std::vector<std::int32_t>(500, 0)});
  file.calls.assign(500, {.args = std::vector<std::int32_t>(100, 4)});
  EXPECT_EQ(pte_error(pte_bytes(file)), "import.damaged /execution_plan/0/chains");
}

TEST(ImportExecutorch, RefusesOtherFilesAndTruncatedOnes) {
  EXPECT_EQ(pte_error(""), "import.format ");
  EXPECT_EQ(pte_error(std::string(4, '\0') + "ET12" + std::string(99, '\0')), "import.damaged ");
  const std::string bytes = real_program("keyword_spotting.pte");
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 61, ++tried) {
    if (!import_executorch(bytes.substr(0, size), "f").ok()) ++refused;
  }
  EXPECT_EQ(refused, tried);
}

}  // namespace
}  // namespace memverify::testing
