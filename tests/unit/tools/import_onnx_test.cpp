// Models written byte by byte, and real ones. The numbers of real files were counted by a reader of
// protobuf in Python, not by the importer.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/writer.h"
#include "planner/apart.h"
#include "support/onnx_bytes.h"
#include "support/process.h"
#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;

std::string real_onnx(const std::string& name) {
  return read_text(MEMVERIFY_CORPUS "/imports/onnx/" + name);
}

/// What comes out, as a plan file. `verdict` is that of the graph with every tensor in bytes of its
/// own: what no placement can change.
struct OnnxOutcome {
  Json plan;
  Verdict verdict = Verdict::kUnknown;
  std::size_t findings = 0;
  std::string errors;

  const Json& tensor(const std::string& id) const { return named("tensors", id); }
  const Json& op(const std::string& id) const { return named("ops", id); }
  std::vector<std::string> ops() const {
    std::vector<std::string> out;
    for (const Json& op : plan["ops"]) {
      if (op.value("kind", "op") == "op") out.push_back(op["id"]);
    }
    return out;
  }

 private:
  const Json& named(const char* list, const std::string& id) const {
    static const Json kNone;
    for (const Json& one : plan[list]) {
      if (one["id"] == id) return one;
    }
    ADD_FAILURE() << "no " << id << " in " << plan[list].dump();
    return kNone;
  }
};

OnnxOutcome import_bytes(const std::string& bytes, const ImportOptions& options = {}) {
  OnnxOutcome out;
  const Result<Imported> imported = import_onnx(bytes, "f.onnx", options);
  if (!imported.ok()) {
    for (const Diagnostic& error : imported.errors()) {
      out.errors += error.id + " " + error.pointer + ": " + error.message + "\n";
    }
    return out;
  }
  const Plan& plan = imported.value().plan;
  out.plan = Json::parse(write_plan(plan));
  const Result<ApartPlan> apart = place_apart(plan);
  if (!apart.ok()) return out;
  const auto result = verify_happens_before(apart.value().plan, {});
  out.verdict = result.verdict;
  out.findings = result.findings.size();
  return out;
}

OnnxOutcome import_graph(const OnnxGraphBytes& graph, const ImportOptions& options = {},
                         std::int64_t opset = 17) {
  return import_bytes(onnx_model(graph, opset), options);
}

ProtoBytes floats(std::string_view name, const std::vector<std::string>& extents) {
  return onnx_value(name, onnx_type(kOnnxFloat, extents));
}
ProtoBytes untyped(std::string_view name) { return ProtoBytes().text(1, name); }

Json list(const std::vector<std::string>& ids) { return ids; }

TEST(ImportOnnx, MakesOpsOfNodesAndInfersTheirShapes) {
  const OnnxOutcome out = import_graph({
      .nodes = {onnx_node("c", "Conv", "x w"), onnx_node("y", "Relu", "c")},
      .inputs = {floats("x", {"1", "3", "8", "8"})},
      .outputs = {untyped("y")},
      .initialisers = {onnx_weights("w", {16, 3, 3, 3})},
  });
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_EQ(out.tensor("y")["shape"], Json({1, 16, 6, 6}));
  EXPECT_EQ(out.op("Conv_0")["reads"], list({"x", "w"}));
  EXPECT_EQ(out.op("Relu_1")["in_place"], Json::parse(R"([["c", "y"]])"));
  EXPECT_EQ(out.plan["constants"], list({"w"}));
  EXPECT_EQ(out.plan["inputs"], list({"x"}));
  EXPECT_EQ(out.plan["outputs"], list({"y"}));
  // 4,800 bytes at 1 KiB a tick; 2 * 16 * 36 * 27 operations would take less.
  EXPECT_EQ(out.op("Conv_0")["duration"], Json({4, 4}));
}

TEST(ImportOnnx, SeesThroughWhatMovesNoBytes) {
  const OnnxOutcome out = import_graph({
      .nodes =
          {
              onnx_node("a", "Relu", "x"),
              onnx_node("flat", "Reshape", "a shape"),
              onnx_node("t", "Transpose", "flat",
                        {onnx_attribute("perm", std::vector<std::int64_t>{1, 0, 2})}),
              onnx_node("moved", "Transpose", "flat",
                        {onnx_attribute("perm", std::vector<std::int64_t>{0, 2, 1})}),
              onnx_node("part", "Slice", "flat starts ends axes"),
              onnx_node("first second", "Split", "part", {onnx_attribute("axis", 1)}),
              onnx_node("y", "Add", "first second"),
          },
      .inputs = {floats("x", {"4", "6"})},
      .outputs = {untyped("y"), untyped("t"), untyped("moved")},
      .initialisers = {onnx_integers("shape", {1, 4, 6}), onnx_integers("starts", {1}),
                       onnx_integers("ends", {3}), onnx_integers("axes", {1})},
  });
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_EQ(out.tensor("flat")["view_of"], "a");
  EXPECT_EQ(out.tensor("t")["view_of"], "flat");
  EXPECT_EQ(out.tensor("moved").contains("view_of"), false);
  EXPECT_EQ(out.tensor("part")["view_of"], "flat");
  EXPECT_EQ(out.tensor("part")["offset"], 24);
  EXPECT_EQ(out.tensor("second")["view_of"], "part");
  EXPECT_EQ(out.tensor("second")["offset"], 24);
  EXPECT_EQ(out.ops(), (std::vector<std::string>{"Relu_0", "Transpose_3", "Add_6"}));
}

TEST(ImportOnnx, ASliceOfAnInnerAxisIsAnOp) {
  const OnnxOutcome out = import_graph({
      .nodes = {onnx_node("y", "Slice", "x one two one")},
      .inputs = {floats("x", {"4", "6"})},
      .outputs = {untyped("y")},
      .initialisers = {onnx_integers("one", {1}), onnx_integers("two", {2})},
  });
  EXPECT_EQ(out.ops(), std::vector<std::string>{"Slice_0"}) << out.errors;
  EXPECT_EQ(out.tensor("y")["shape"], Json({4, 1}));
}

OnnxGraphBytes concat_graph() {
  return {
      .nodes = {onnx_node("a", "Relu", "x"), onnx_node("b", "Tanh", "x"),
                onnx_node("ab", "Concat", "a b x", {onnx_attribute("axis", 1)}),
                onnx_node("c", "Relu", "ab"),
                onnx_node("abc", "Concat", "ab c", {onnx_attribute("axis", 1)}),
                onnx_node("y", "Neg", "abc")},
      .inputs = {floats("x", {"1", "4", "5"})},
      .outputs = {untyped("y")},
  };
}

TEST(ImportOnnx, MakesOperandsOfConcatInTheirPlaces) {
  const OnnxOutcome copied = import_graph(concat_graph());
  EXPECT_EQ(copied.verdict, Verdict::kSafe) << copied.errors;
  EXPECT_EQ(copied.tensor("a").contains("view_of"), false);
  const OnnxOutcome out = import_graph(concat_graph(), {.alias_concat = true});
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_EQ(out.tensor("a")["view_of"], "ab");
  EXPECT_EQ(out.tensor("b")["offset"], 80);
  EXPECT_EQ(out.tensor("ab")["view_of"], "abc");
  EXPECT_EQ(out.tensor("c")["offset"], 240);
  // The input has its own bytes: it is copied.
  EXPECT_EQ(out.op("Concat_2")["reads"], list({"x"}));
  EXPECT_EQ(out.op("Concat_2")["writes"],
            Json::parse(R"([{"tensor": "ab", "offset": 160, "bytes": 80}])"));
  EXPECT_EQ(out.op("Concat_4")["kind"], "view");
}

TEST(ImportOnnx, ConcatOfAnInnerAxisOrOfTheSameTwiceIsCopied) {
  const OnnxOutcome inner = import_graph(
      {
          .nodes = {onnx_node("a", "Relu", "x"),
                    onnx_node("y", "Concat", "a a", {onnx_attribute("axis", 0)}),
                    onnx_node("b", "Relu", "x"),
                    onnx_node("z", "Concat", "b x", {onnx_attribute("axis", 1)})},
          .inputs = {floats("x", {"4", "5"})},
          .outputs = {untyped("y"), untyped("z")},
      },
      {.alias_concat = true});
  EXPECT_EQ(inner.verdict, Verdict::kSafe) << inner.errors;
  EXPECT_EQ(inner.ops().size(), 4U);
}

TEST(ImportOnnx, NamedExtentsAreSymbols) {
  const OnnxGraphBytes graph{
      .nodes = {onnx_node("s", "Shape", "x"), onnx_node("n", "Gather", "s zero"),
                onnx_node("shape", "Concat", "n rest", {onnx_attribute("axis", 0)}),
                onnx_node("r", "Reshape", "x shape"),
                onnx_node("c", "Concat", "x p", {onnx_attribute("axis", 1)}),
                onnx_node("y", "MatMul", "r w")},
      .inputs = {floats("x", {"batch", "seq", "8"}), floats("p", {"batch", "past seq", "8"})},
      .outputs = {untyped("y"), floats("c", {"batch", "past seq + seq", "8"})},
      .initialisers = {onnx_integers("zero", {0}), onnx_integers("rest", {-1, 4}),
                       onnx_weights("w", {4, 3})},
  };
  const OnnxOutcome out = import_graph(graph, {.dims = {{.name = "batch", .min = 2, .max = 2},
                                                        {.name = "seq", .min = 1, .max = 16}}});
  EXPECT_EQ(out.tensor("r")["shape"], Json({2, "(2*seq)", 4})) << out.errors;
  EXPECT_EQ(out.tensor("r")["view_of"], "x");
  EXPECT_EQ(out.tensor("y")["shape"], Json({2, "(2*seq)", 3}));
  EXPECT_EQ(out.tensor("c")["shape"], Json({2, "(seq+past_seq)", 8}));
  EXPECT_EQ(out.plan["symbols"]["seq"], Json::parse(R"({"min": 1, "max": 16})"));
  EXPECT_EQ(out.plan["symbols"].contains("batch"), false);
  EXPECT_EQ(out.plan["symbols"].contains("past_seq"), true);
  const OnnxOutcome wrong = import_graph(graph, {.dims = {{.name = "size", .min = 1, .max = 1}}});
  EXPECT_NE(wrong.errors.find("import.option"), std::string::npos) << wrong.errors;
  EXPECT_NE(wrong.errors.find("it has `batch`, `seq`"), std::string::npos) << wrong.errors;
}

TEST(ImportOnnx, NamesWhatStaysUnknown) {
  const OnnxGraphBytes graph{
      .nodes = {onnx_node("where", "NonZero", "x"),
                onnx_node("y", "Cast", "where", {onnx_attribute("to", 1)})},
      .inputs = {floats("x", {"4", "5"})},
      .outputs = {untyped("y")},
  };
  const OnnxOutcome out = import_graph(graph);
  EXPECT_EQ(out.errors.substr(0, 36), "import.unsupported /graph/node/0: ex") << out.errors;
  EXPECT_NE(out.errors.find("extent 1 of `where` is not known"), std::string::npos) << out.errors;
  EXPECT_EQ(out.errors.find("`y`"), std::string::npos) << out.errors;
  const OnnxOutcome told =
      import_graph(graph, {.dims = {{.name = "where.1", .min = 0, .max = 20}}});
  EXPECT_EQ(told.verdict, Verdict::kSafe) << told.errors;
  EXPECT_EQ(told.tensor("y")["shape"][0], 2);
  EXPECT_EQ(told.plan["symbols"]["where_1"]["max"], 20);
}

OnnxGraphBytes if_graph() {
  const OnnxGraphBytes yes{.nodes = {onnx_node("big", "Exp", "x"), onnx_node("t", "Relu", "big")},
                           .outputs = {untyped("t")}};
  const OnnxGraphBytes no{.outputs = {untyped("x")}};
  return {
      .nodes = {onnx_node("x", "Relu", "in"),
                onnx_node("r", "If", "c",
                          {onnx_attribute("then_branch", yes.bytes()),
                           onnx_attribute("else_branch", no.bytes())}),
                onnx_node("y", "Neg", "r")},
      .inputs = {floats("in", {"4"}), onnx_value("c", onnx_type(kOnnxBool, {}))},
      .outputs = {untyped("y")},
  };
}

TEST(ImportOnnx, BranchesAreConditions) {
  for (const std::int64_t queues : {1, 3}) {
    const OnnxOutcome out = import_graph(if_graph(), {.queues = queues});
    EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
    EXPECT_EQ(out.findings, 0U);
    EXPECT_EQ(out.plan["conditions"], list({"If_1"}));
    EXPECT_EQ(out.op("If_1")["reads"], list({"c"}));
    // What the branch makes is the result; what it only captures is copied.
    EXPECT_EQ(out.op("If_1.then/Relu_1")["writes"], list({"r"}));
    EXPECT_EQ(out.op("If_1.then/Relu_1")["when"], Json::parse(R"({"If_1": true})"));
    EXPECT_EQ(out.op("If_1.else.results")["reads"], list({"x"}));
    EXPECT_EQ(out.op("If_1.else.results")["writes"], list({"r"}));
  }
}

TEST(ImportOnnx, ABranchThatIsKnownIsTaken) {
  OnnxGraphBytes graph = if_graph();
  graph.inputs.pop_back();
  graph.initialisers = {ProtoBytes().number(2, kOnnxBool).number(5, 1).text(8, "c")};
  const OnnxOutcome out = import_graph(graph);
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_EQ(out.plan.contains("conditions"), false);
  EXPECT_EQ(out.ops().size(), 4U);
}

ProtoBytes loop_body() {
  return OnnxGraphBytes{
      .nodes = {onnx_node("goes_on", "Identity", "cond"), onnx_node("next", "Add", "state step"),
                onnx_node("row", "Neg", "next")},
      .inputs = {onnx_value("i", onnx_type(kOnnxInt64, {})),
                 onnx_value("cond", onnx_type(kOnnxBool, {})), untyped("state")},
      .outputs = {untyped("goes_on"), untyped("next"), untyped("row")},
  }
      .bytes();
}

TEST(ImportOnnx, LoopsOfAKnownNumberAreUnfolded) {
  OnnxGraphBytes graph{
      .nodes = {onnx_node("last rows", "Loop", "trips _ x", {onnx_attribute("body", loop_body())})},
      .inputs = {floats("x", {"5"}), floats("step", {"5"})},
      .outputs = {untyped("last"), untyped("rows")},
      .initialisers = {onnx_integer("trips", 3)},
  };
  const OnnxOutcome out = import_graph(graph);
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_EQ(out.tensor("rows")["shape"], Json({3, 5}));
  EXPECT_EQ(out.op("Loop_0[1]/Add_1")["reads"], list({"Loop_0[0]/next", "step"}));
  EXPECT_EQ(out.op("Loop_0[1]/Neg_2")["writes"], list({"rows[1]"}));
  EXPECT_EQ(out.tensor("rows[2]")["offset"], 40);
  EXPECT_EQ(out.plan["outputs"], list({"Loop_0[2]/next", "rows"}));
  graph.initialisers = {};
  graph.inputs.push_back(onnx_value("trips", onnx_type(kOnnxInt64, {})));
  const OnnxOutcome open = import_graph(graph);
  EXPECT_NE(open.errors.find("`Loop_0` is a Loop that runs as often as"), std::string::npos)
      << open.errors;
}

TEST(ImportOnnx, ScansGoAlongAnyAxisInBothDirections) {
  const ProtoBytes body =
      OnnxGraphBytes{
          .nodes = {onnx_node("next", "Add", "sum part"), onnx_node("out", "Identity", "next")},
          .inputs = {untyped("sum"), untyped("part")},
          .outputs = {untyped("next"), untyped("out")},
      }
          .bytes();
  const std::vector<std::int64_t> one = {1};
  const OnnxOutcome out = import_graph({
      .nodes = {onnx_node(
          "last all", "Scan", "zero x",
          {onnx_attribute("body", body), onnx_attribute("num_scan_inputs", 1),
           onnx_attribute("scan_input_axes", one), onnx_attribute("scan_output_axes", one),
           onnx_attribute("scan_input_directions", one)})},
      .inputs = {floats("zero", {"4"}), floats("x", {"4", "3"})},
      .outputs = {untyped("last"), untyped("all")},
  });
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_EQ(out.tensor("all")["shape"], Json({4, 3}));
  EXPECT_EQ(out.tensor("Scan_0[0]/part")["offset"], 8);
  EXPECT_EQ(out.tensor("Scan_0[0]/part")["strides"], Json({3}));
  EXPECT_EQ(out.tensor("all[1]")["offset"], 4);
}

TEST(ImportOnnx, RefusesByName) {
  const auto refused = [](const ProtoBytes& input, const char* op) {
    return import_graph(
               {.nodes = {onnx_node("y", op, "x")}, .inputs = {input}, .outputs = {untyped("y")}})
        .errors;
  };
  EXPECT_NE(
      refused(onnx_value("x", onnx_type(8, {"4"})), "Identity").find("`x` is a tensor of STRING"),
      std::string::npos);
  const ProtoBytes sequence =
      ProtoBytes().add(4, ProtoBytes().add(1, onnx_type(kOnnxFloat, {"4"})));
  EXPECT_NE(refused(onnx_value("x", sequence), "SequenceLength").find("`x` is a sequence"),
            std::string::npos);
  EXPECT_NE(
      refused(floats("z", {"4"}), "Relu").find("it reads `x`, which no input, initialiser or "),
      std::string::npos);
  EXPECT_NE(refused(floats("x", {"4"}), "Frobnicate").find("the type of `y` is not known"),
            std::string::npos);
  EXPECT_NE(refused(floats("x", {"16777216", "16777216", "16777216"}), "Relu").find("import.range"),
            std::string::npos);
}

TEST(ImportOnnx, KnowsTypesOfLessThanAByteAndNewerOperatorSets) {
  const OnnxOutcome out = import_graph(
      {
          .nodes = {onnx_node("q", "Cast", "x", {onnx_attribute("to", 22)}),
                    onnx_node("b", "Cast", "q", {onnx_attribute("to", 16)}),
                    onnx_node("g", "Gelu", "b"), onnx_node("m", "ReduceMean", "g axes"),
                    onnx_node("h k", "Split", "m",
                              {onnx_attribute("num_outputs", 2), onnx_attribute("axis", 1)}),
                    onnx_node("y", "RMSNormalization", "h w")},
          .inputs = {floats("x", {"3", "5", "7"})},
          .outputs = {untyped("y")},
          .initialisers = {onnx_integers("axes", {2}), onnx_weights("w", {1}, 16)},
      },
      {}, 23);
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_EQ(out.tensor("q")["dtype"], "i4");
  EXPECT_EQ(out.tensor("g")["dtype"], "bf16");
  EXPECT_EQ(out.tensor("m")["shape"], Json({3, 5, 1}));
  EXPECT_EQ(out.tensor("h")["shape"], Json({3, 3, 1}));
  EXPECT_EQ(out.tensor("y")["shape"], Json({3, 3, 1}));
}

OnnxGraphBytes branching_graph() {
  return {
      .nodes = {onnx_node("a", "MatMul", "x w"), onnx_node("b", "MatMul", "x v"),
                onnx_node("c", "Relu", "a"), onnx_node("y", "Add", "c b")},
      .inputs = {floats("x", {"64", "64"})},
      .outputs = {untyped("y")},
      .initialisers = {onnx_weights("w", {64, 64}), onnx_weights("v", {64, 64})},
  };
}

TEST(ImportOnnx, SpreadsOpsOverQueuesWithTheEventsThatTakes) {
  const OnnxOutcome out = import_graph(branching_graph(), {.queues = 2});
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_EQ(out.findings, 0U);
  EXPECT_NE(out.op("MatMul_0")["queue"], out.op("MatMul_1")["queue"]);
  EXPECT_EQ(out.op("Relu_2")["queue"], out.op("MatMul_0")["queue"]);
  EXPECT_EQ(out.op("Relu_2").contains("waits"), false);
  EXPECT_EQ(out.op("Add_3")["waits"].size(), 1U);
}

TEST(ImportOnnx, LoadsConstantsAheadOfTheirUse) {
  const OnnxOutcome out = import_graph(branching_graph(), {.dma = 1});
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_EQ(out.findings, 0U);
  EXPECT_EQ(out.op("load w")["queue"], "dma");
  EXPECT_EQ(out.op("load w")["reads"], list({"w@host"}));
  EXPECT_EQ(out.op("MatMul_0")["waits"], Json::parse(R"([{"event": "load w"}])"));
  EXPECT_EQ(out.plan["constants"], list({"w@host", "v@host"}));
}

struct OnnxCounts {
  std::string file;
  std::size_t nodes, accesses;
};

TEST(ImportOnnx, HasAllThatARealFileHas) {
  // Without the operands of views that are only numbers, and masks of Dropout that nobody reads.
  const std::vector<OnnxCounts> files = {
      {"light_resnet50.onnx", 176, 636 - 1},
      {"light_inception_v1.onnx", 143, 431 - 1 - 1},
      {"light_squeezenet.onnx", 66, 193 - 1},
      {"outer_scope_scan.onnx", 5, 2 + 4 * 3},
  };
  for (const OnnxCounts& file : files) {
    const OnnxOutcome out = import_bytes(real_onnx(file.file));
    EXPECT_EQ(out.verdict, Verdict::kSafe) << file.file << out.errors;
    std::size_t accesses = 0;
    for (const Json& op : out.plan["ops"]) accesses += op["reads"].size() + op["writes"].size();
    EXPECT_EQ(out.plan["ops"].size(), file.nodes) << file.file;
    EXPECT_EQ(accesses, file.accesses) << file.file;
  }
}

TEST(ImportOnnx, RealModelsWithNamesAndBranchesAreSafe) {
  const OnnxOutcome decoder = import_bytes(real_onnx("engine_synthetic-paged_decoder.onnx"),
                                           {.dims = {{.name = "num_tokens", .min = 16, .max = 16},
                                                     {.name = "batch", .min = 2, .max = 2},
                                                     {.name = "batch_plus_1", .min = 3, .max = 3},
                                                     {.name = "max_blocks", .min = 4, .max = 4}}});
  EXPECT_EQ(decoder.verdict, Verdict::kSafe) << decoder.errors;
  EXPECT_EQ(decoder.plan["ops"].size(), 52U);
  const OnnxOutcome branches = import_bytes(real_onnx("nested_if.onnx"), {.queues = 2});
  EXPECT_EQ(branches.verdict, Verdict::kSafe) << branches.errors;
  EXPECT_GT(branches.plan["conditions"].size(), 2U);
  const OnnxOutcome loop = import_bytes(real_onnx("loop_scan_outputs.onnx"),
                                        {.dims = {{.name = "Loop_0.trips", .min = 3, .max = 3}}});
  EXPECT_EQ(loop.verdict, Verdict::kSafe) << loop.errors;
}

TEST(ImportOnnx, EveryBeginningOfAFileIsReadOrRefused) {
  for (const char* name : {"test_if.onnx", "test_scan9_sum.onnx", "outer_scope_scan.onnx"}) {
    const std::string bytes = real_onnx(name);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const Result<Imported> imported = import_onnx(bytes.substr(0, size), "f.onnx");
      if (imported.ok()) continue;
      for (const Diagnostic& error : imported.errors()) {
        EXPECT_TRUE(error.id.starts_with("import.")) << name << " " << size << " " << error.id;
      }
    }
  }
}

TEST(ImportOnnx, HostileModelsAreRefused) {
  const auto errors = [](const OnnxGraphBytes& graph) { return import_graph(graph).errors; };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const std::string cyclic =
      errors({.nodes = {onnx_node("a", "Relu", "b"), onnx_node("b", "Relu", "a")},
              .outputs = {untyped("a")}});
  EXPECT_TRUE(has(cyclic, "import.unknown /graph/node/0: it reads `b`")) << cyclic;
  const std::string twice =
      errors({.nodes = {onnx_node("a", "Relu", "x"), onnx_node("a", "Relu", "x")},
              .inputs = {floats("x", {"4"})},
              .outputs = {untyped("a")}});
  EXPECT_TRUE(has(twice, "`a` is made twice")) << twice;
  const std::string endless = errors({.nodes = {onnx_node("last rows", "Loop", "trips _ x",
                                                          {onnx_attribute("body", loop_body())})},
                                      .inputs = {floats("x", {"5"}), floats("step", {"5"})},
                                      .outputs = {untyped("last"), untyped("rows")},
                                      .initialisers = {onnx_integer("trips", 1'000'000'000'000)}});
  EXPECT_TRUE(has(endless, "too large for such a file")) << endless;
  const std::string huge = errors({.nodes = {onnx_node("y", "Relu", "w")},
                                   .outputs = {untyped("y")},
                                   .initialisers = {onnx_weights("w", {1LL << 62, 1LL << 62})}});
  EXPECT_TRUE(has(huge, "import.range")) << huge;
  const std::string negative =
      errors({.outputs = {untyped("w")}, .initialisers = {onnx_weights("w", {-3})}});
  EXPECT_TRUE(has(negative, "an extent is negative")) << negative;
  ProtoBytes graph =
      OnnxGraphBytes{.inputs = {floats("c", {"1"})}, .outputs = {untyped("c")}}.bytes();
  for (int depth = 0; depth < 200; ++depth) {
    graph =
        OnnxGraphBytes{.nodes = {onnx_node("y", "If", "c", {onnx_attribute("then_branch", graph)})},
                       .outputs = {untyped("y")}}
            .bytes();
  }
  const std::string nested = ProtoBytes().number(1, 8).add(7, graph).bytes();
  const std::string deep = import_bytes(nested).errors;
  EXPECT_TRUE(has(deep, "import.unsupported")) << deep;
  EXPECT_TRUE(has(deep, "nested too deep")) << deep;
  const std::string cut = import_bytes(nested.substr(0, 100)).errors;
  EXPECT_TRUE(has(cut, "import.damaged")) << cut;
}

TEST(ImportOnnx, SurvivesACrashOfTheLibrary) {
  // The library divides by the stride.
  const std::vector<std::int64_t> none = {0, 0};
  const OnnxOutcome out = import_graph({
      .nodes = {onnx_node("r", "Relu", "x"),
                onnx_node("y", "Conv", "r w", {onnx_attribute("strides", none)})},
      .inputs = {floats("x", {"1", "3", "8", "8"})},
      .outputs = {floats("y", {"1", "16", "6", "6"})},
      .initialisers = {onnx_weights("w", {16, 3, 3, 3})},
  });
  EXPECT_EQ(out.verdict, Verdict::kSafe) << out.errors;
  EXPECT_NE(out.plan["x-assumptions"].dump().find("The onnx library crashed"), std::string::npos);
}

}  // namespace
}  // namespace memverify::testing
