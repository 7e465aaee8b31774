// The numbers of real files were counted by a reader of FlatBuffers in Python, not by the importer.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "plan/layout.h"
#include "planner/apart.h"
#include "support/process.h"
#include "support/tflite_file.h"
#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

std::string real_model(const std::string& name) {
  return read_text(MEMVERIFY_CORPUS "/imports/tflite/" + name);
}

Plan tflite_plan_of(const std::string& bytes) {
  Result<Imported> imported = import_tflite(bytes, "f.tflite");
  if (imported.ok()) return std::move(imported).value().plan;
  ADD_FAILURE() << to_string(imported.errors().front());
  return {};
}

std::string tflite_error(const std::string& bytes) {
  const Result<Imported> imported = import_tflite(bytes, "f.tflite");
  if (imported.ok()) return "none";
  const Diagnostic& error = imported.errors().front();
  return error.id + " " + error.pointer;
}

Verdict verdict_when_apart(const Plan& graph) {
  const Result<ApartPlan> apart = place_apart(graph);
  return apart.ok() ? verify_happens_before(apart.value().plan, {}).verdict : Verdict::kUnknown;
}

struct Counts {
  std::string file;
  std::size_t tensors, ops, constants, inputs, outputs, accesses;
  std::int64_t constant_bytes, arena_bytes;
};

TEST(ImportTflite, CountsWhatARealFileHas) {
  // A state is read, written, an input and an output.
  const std::vector<Counts> files = {
      {"truediv.tflite", 3, 1, 0, 2, 1, 3, 0, 384},
      {"simple_add_model.tflite", 3, 1, 0, 2, 1, 3, 0, 49152},
      {"keyword_scrambled_8bit.tflite", 54, 15, 31, 1 + 7, 1 + 7, 53 + 15 + 7, 22728, 5838},
      {"audio_preprocessor_int8.tflite", 43, 22, 18, 1, 1, 43 + 24, 2840, 12128},
      {"test_two_signature_keys_model.tflite", 9, 3, 3, 3, 3, 6 + 3, 12, 48},
  };
  for (const Counts& file : files) {
    SCOPED_TRACE(file.file);
    const Plan plan = tflite_plan_of(real_model(file.file));
    EXPECT_EQ(plan.tensors.size(), file.tensors);
    EXPECT_EQ(plan.ops.size(), file.ops);
    EXPECT_EQ(plan.constants.size(), file.constants);
    EXPECT_EQ(plan.inputs.size(), file.inputs);
    EXPECT_EQ(plan.outputs.size(), file.outputs);
    EXPECT_EQ(plan.accesses.size(), file.accesses);
    const Result<ApartPlan> apart = place_apart(plan);
    ASSERT_TRUE(apart.ok());
    std::int64_t constant_bytes = 0;
    std::int64_t arena_bytes = 0;
    const Result<Layout> layout = Layout::make(apart.value().plan, {});
    ASSERT_TRUE(layout.ok());
    for (const TensorId id : ids<TensorId>(plan.tensors)) {
      const ByteRange hull = layout.value().tensor_region(apart.value().plan, id, 0).hull();
      const std::int64_t bytes = hull.end - hull.begin;
      const bool constant = std::ranges::find(plan.constants, id) != plan.constants.end();
      (constant ? constant_bytes : arena_bytes) += bytes;
    }
    EXPECT_EQ(constant_bytes, file.constant_bytes);
    EXPECT_EQ(arena_bytes, file.arena_bytes);
    EXPECT_EQ(verdict_when_apart(plan), Verdict::kSafe);
  }
}

TEST(ImportTflite, SaysWhichSubgraphsAreLeftOut) {
  const Result<Imported> imported =
      import_tflite(real_model("test_two_signature_keys_model.tflite"), "f");
  ASSERT_TRUE(imported.ok());
  EXPECT_TRUE(std::ranges::any_of(imported.value().assumptions, [](const std::string& sentence) {
    return sentence.find("1 other") != std::string::npos;
  }));
}

/// in -> ADD(in, weights) -> x -> RELU -> out.
TfliteFile two_ops() {
  return {.codes = {{0, ""}, {19, ""}},
          .graphs = {{.tensors = {{.name = "in"},
                                  {.name = "weights", .buffer = 1},
                                  {.name = "x"},
                                  {.name = "out"}},
                      .inputs = {0},
                      .outputs = {3},
                      .ops = {{.code = 0, .inputs = {0, 1}, .outputs = {2}},
                              {.code = 1, .inputs = {2}, .outputs = {3}}}}},
          .buffers = {"", "abcd", ""}};
}

TEST(ImportTflite, ConstantsLieInTheFile) {
  const std::string bytes = tflite_bytes(two_ops());
  const Plan plan = tflite_plan_of(bytes);
  ASSERT_EQ(plan.storages.size(), 1U);
  const Storage& weights = plan.storages[StorageId{0}];
  EXPECT_EQ(plan.pools[weights.pool].name, "file");
  const std::int64_t offset = plan.exprs[weights.slots.begin].constant;
  EXPECT_EQ(bytes.substr(static_cast<std::size_t>(offset), 4), "abcd");
}

TEST(ImportTflite, ElementwiseOperatorsMayWorkInPlace) {
  const Plan plan = tflite_plan_of(tflite_bytes(two_ops()));
  ASSERT_EQ(plan.ops.size(), 2U);
  ASSERT_EQ(plan.in_place_of(plan.ops[OpId{0}]).size(), 1U);  // Not over the weights.
  EXPECT_EQ(plan.tensors[plan.in_place_of(plan.ops[OpId{0}])[0].read].name, "in");
  EXPECT_EQ(plan.in_place_of(plan.ops[OpId{1}]).size(), 1U);

  TfliteFile other = two_ops();
  other.codes[1].first = 3;                // CONV_2D
  other.graphs[0].tensors[2].type = 17;    // INT4: half the bytes,
  other.graphs[0].tensors[2].shape = {8};  // as many bytes, but other elements.
  const Plan changed = tflite_plan_of(tflite_bytes(other));
  EXPECT_TRUE(changed.in_place_of(changed.ops[OpId{0}]).empty());
  EXPECT_TRUE(changed.in_place_of(changed.ops[OpId{1}]).empty());
}

TEST(ImportTflite, OffsetsMakeAPlanToVerify) {
  TfliteFile file = two_ops();
  file.metadata = {{"OfflineMemoryAllocation", 2}};
  const auto verdict = [&](std::uint32_t x) {
    constexpr auto kNone = static_cast<std::uint32_t>(-1);
    file.buffers[2] = words({0, 0, 4, 0, kNone, x, 32});
    return verify_happens_before(tflite_plan_of(tflite_bytes(file)), {}).verdict;
  };
  EXPECT_EQ(verdict(16), Verdict::kSafe);
  EXPECT_EQ(verdict(0), Verdict::kSafe);    // In place.
  EXPECT_EQ(verdict(2), Verdict::kUnsafe);  // Halfway over the input.
  EXPECT_EQ(verdict(32), Verdict::kSafe);   // RELU in place.
}

TEST(ImportTflite, AVariableSurvives) {
  TfliteFile file = two_ops();
  file.graphs[0].tensors.push_back({.name = "state", .variable = true});
  file.graphs[0].ops[0].inputs.push_back(4);
  file.metadata = {{"OfflineMemoryAllocation", 2}};
  const auto verdict = [&](std::uint32_t state) {
    constexpr auto kNone = static_cast<std::uint32_t>(-1);
    file.buffers[2] = words({0, 0, 5, 0, kNone, 16, 32, state});
    return verify_happens_before(tflite_plan_of(tflite_bytes(file)), {}).verdict;
  };
  EXPECT_EQ(verdict(48), Verdict::kSafe);
  EXPECT_EQ(verdict(32), Verdict::kUnsafe);  // `out` is made when `state` is done, but not dead.
}

TEST(ImportTflite, TensorsWithoutElementsTakeNoBytes) {
  TfliteFile file = two_ops();
  file.graphs[0].tensors[2].shape = {4, 0};
  file.metadata = {{"OfflineMemoryAllocation", 2}};
  file.buffers[2] = words({0, 0, 4, 0, static_cast<std::uint32_t>(-1), 2, 32});
  EXPECT_EQ(verify_happens_before(tflite_plan_of(tflite_bytes(file)), {}).verdict, Verdict::kSafe);
}

/// out = condition ? RELU(in) : in + in, by subgraphs of one input.
TfliteFile with_if() {
  const std::vector<TfliteFileTensor> pair = {{.name = "a"}, {.name = "b"}};
  return {.codes = {{118, ""}, {19, ""}, {0, ""}},
          .graphs = {{.tensors = {{.name = "condition", .shape = {}, .type = 6},
                                  {.name = "in"},
                                  {.name = "out"}},
                      .inputs = {0, 1},
                      .outputs = {2},
                      .ops = {{.code = 0, .inputs = {0, 1}, .outputs = {2}, .branches = {1, 2}}}},
                     {.tensors = pair,
                      .inputs = {0},
                      .outputs = {1},
                      .ops = {{.code = 1, .inputs = {0}, .outputs = {1}}}},
                     {.tensors = pair,
                      .inputs = {0},
                      .outputs = {1},
                      .ops = {{.code = 2, .inputs = {0, 0}, .outputs = {1}}}}}};
}

TEST(ImportTflite, AnIfIsBothItsSubgraphsUnderAConditionEach) {
  const Plan plan = tflite_plan_of(tflite_bytes(with_if()));
  ASSERT_EQ(plan.conditions.size(), 1U);
  EXPECT_EQ(plan.conditions[ConditionId{0}].name, "IF_0");
  EXPECT_EQ(plan.ops.size(), 2U * 3U);
  EXPECT_EQ(plan.tensors.size(), 3U + 2U + 2U);
  for (const Op& op : plan.ops) EXPECT_FALSE(plan.when_of(op).empty()) << op.name;
  EXPECT_EQ(verdict_when_apart(plan), Verdict::kSafe);
  // Without one of its subgraphs, the result is not always written.
  TfliteFile broken = with_if();
  broken.graphs[2].ops.clear();
  EXPECT_EQ(verdict_when_apart(tflite_plan_of(tflite_bytes(broken))), Verdict::kUnsafe);
}

TEST(ImportTflite, BoundsWhatIfsUnfoldTo) {
  TfliteFile file = with_if();  // Each subgraph runs the next twice: 2^30 ops.
  file.graphs.resize(1);
  for (int k = 1; k <= 30; ++k) {
    TfliteFileGraph graph = file.graphs[0];
    graph.inputs = {1};
    graph.ops[0].branches = {k + 1, k + 1};
    file.graphs.push_back(graph);
  }
  file.graphs.back().ops.clear();
  EXPECT_EQ(tflite_error(tflite_bytes(file)), "import.unsupported ");
  file = with_if();
  file.graphs[1] = file.graphs[0];  // Runs itself.
  file.graphs[1].inputs = {1};
  EXPECT_EQ(tflite_error(tflite_bytes(file)), "import.unsupported ");
}

TEST(ImportTflite, NamesThePlaceOfAFault) {
  struct Fault {
    std::function<void(TfliteFile&)> break_it;
    std::string error;
  };
  const auto tensor = [](TfliteFile& file) -> TfliteFileTensor& {
    return file.graphs[0].tensors[2];
  };
  const std::vector<Fault> faults = {
      {[&](TfliteFile& f) { tensor(f).buffer = 9; }, "import.unknown /subgraphs/0/tensors/2"},
      {[&](TfliteFile& f) { tensor(f).type = 99; }, "import.unsupported /subgraphs/0/tensors/2"},
      {[&](TfliteFile& f) { tensor(f).type = 5; },  // STRING
       "import.unsupported /subgraphs/0/tensors/2"},
      {[&](TfliteFile& f) { tensor(f).sparse = true; },
       "import.unsupported /subgraphs/0/tensors/2"},
      {[&](TfliteFile& f) {
         tensor(f).shape = {1, -1};
       },
       "import.unsupported /subgraphs/0/tensors/2"},
      {[&](TfliteFile& f) {
         tensor(f).shape = {2147483647, 2147483647};
       },
       "import.range /subgraphs/0/tensors/2"},
      {[&](TfliteFile& f) { tensor(f).shape.assign(17, 1); },
       "import.unsupported /subgraphs/0/tensors/2"},
      {[](TfliteFile& f) { f.buffers[1] = "abc"; }, "import.contradiction /subgraphs/0/tensors/1"},
      {[](TfliteFile& f) { f.graphs[0].outputs = {4}; }, "import.unknown /subgraphs/0"},
      {[](TfliteFile& f) { f.graphs[0].ops[1].inputs = {-2}; },
       "import.unknown /subgraphs/0/operators/1"},
      {[](TfliteFile& f) { f.graphs[0].ops[1].code = 2; },
       "import.unknown /subgraphs/0/operators/1"},
      {[](TfliteFile& f) { f.codes[1].first = 119; },  // WHILE
       "import.unsupported /subgraphs/0/operators/1"},
      {[](TfliteFile& f) {
         f.codes[1] = {32, "ethos-u"};
       },
       "import.format /subgraphs/0/operators/1"},
      {[](TfliteFile& f) { f.graphs.clear(); }, "import.format "},
      {[](TfliteFile& f) {
         f.metadata = {{"OfflineMemoryAllocation", 9}};
       },
       "import.unknown /metadata/0"},
      {[](TfliteFile& f) {
         f.metadata = {{"OfflineMemoryAllocation", 2}};
         f.buffers[2] = words({0, 0, 3, 0, 0, 0});
       },
       "import.contradiction /metadata/0"},
      {[](TfliteFile& f) {
         f.metadata = {{"OfflineMemoryAllocation", 2}};
         f.buffers[2] = words({0, 0, 4, 0, 0, static_cast<std::uint32_t>(-2), 0});
       },
       "import.range /metadata/0"},
  };
  for (const Fault& fault : faults) {
    TfliteFile file = two_ops();
    fault.break_it(file);
    EXPECT_EQ(tflite_error(tflite_bytes(file)), fault.error);
  }
  EXPECT_EQ(tflite_error(tflite_bytes(two_ops())), "none");
  TfliteFile uneven = with_if();
  uneven.graphs[1].inputs = {0, 1};
  EXPECT_EQ(tflite_error(tflite_bytes(uneven)), "import.contradiction ");
  TfliteFile nowhere = with_if();
  nowhere.graphs[0].ops[0].branches = {1, 7};
  EXPECT_EQ(tflite_error(tflite_bytes(nowhere)), "import.unknown /subgraphs/0/operators/0");
}

TEST(ImportTflite, NamesNeedNotBeUniqueOrText) {
  TfliteFile file = two_ops();
  for (TfliteFileTensor& tensor : file.graphs[0].tensors) tensor.name = "\xff\n";
  file.graphs[0].tensors[3].name = "";
  const Plan plan = tflite_plan_of(tflite_bytes(file));
  ASSERT_EQ(plan.tensors.size(), 4U);
  EXPECT_EQ(plan.tensors[TensorId{0}].name, "??");
  EXPECT_EQ(plan.tensors[TensorId{3}].name, "tensor_3");
}

TEST(ImportTflite, RefusesOtherFilesAndTruncatedOnes) {
  EXPECT_EQ(tflite_error(""), "import.format ");
  EXPECT_EQ(tflite_error(std::string(4, '\0') + "TFL3"), "import.format ");
  EXPECT_EQ(tflite_error(std::string(4, '\0') + "TFL3" + std::string(99, '\0')), "import.damaged ");
  EXPECT_EQ(tflite_error(words({9}) + "TFL3" + std::string(99, '\0')), "import.damaged ");
  const std::string bytes = real_model("keyword_scrambled_8bit.tflite");
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 61, ++tried) {
    if (!import_tflite(bytes.substr(0, size), "f").ok()) ++refused;
  }
  EXPECT_EQ(refused, tried);
}

TEST(ImportTflite, ReadsNoMoreThanTheFileHolds) {
  // 2,000 ops of one table with 2,000 inputs each: 16 kB of offsets for 4 million operands.
  TfliteFile file = two_ops();
  file.graphs[0].ops[1].inputs.assign(2000, 2);
  std::string bytes = tflite_bytes(file);
  ASSERT_EQ(tflite_error(bytes), "none");
  flatbuffers::FlatBufferBuilder builder;
  const auto code = [&](int number) {
    const auto start = builder.StartTable();
    builder.AddElement<std::int32_t>(10, number, -1);
    return flatbuffers::Offset<void>(builder.EndTable(start));
  };
  const std::vector codes = {code(19)};
  const auto inputs = builder.CreateVector(std::vector<std::int32_t>(2000, -1));
  auto start = builder.StartTable();
  builder.AddOffset(6, inputs);
  const flatbuffers::Offset<void> op(builder.EndTable(start));
  const auto ops = builder.CreateVector(std::vector(2000, op));
  const auto all_codes = builder.CreateVector(codes);
  start = builder.StartTable();
  builder.AddOffset(10, ops);
  const std::vector graphs = {flatbuffers::Offset<void>(builder.EndTable(start))};
  const auto all_graphs = builder.CreateVector(graphs);
  start = builder.StartTable();
  builder.AddOffset(6, all_codes);
  builder.AddOffset(8, all_graphs);
  builder.Finish(flatbuffers::Offset<void>(builder.EndTable(start)), "TFL3");
  bytes.assign(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  EXPECT_TRUE(tflite_error(bytes).starts_with("import.damaged /subgraphs/0/operators/"));
}

}  // namespace
}  // namespace memverify::testing
