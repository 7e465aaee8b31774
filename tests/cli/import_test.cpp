// Files of other tools as a user meets them: verified, planned and imported.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

const std::string kImports = MEMVERIFY_CORPUS "/imports/";
const std::string kModel = kImports + "tflite/keyword_scrambled_8bit.tflite";
const std::string kVela = kImports + "ethos-u/person_detect_vela.tflite";

TEST(CliImport, VerifiesFilesByTheirNameOrContents) {
  const Sandbox box;
  EXPECT_EQ(box.run({kVela}).exit_code, 0);
  EXPECT_EQ(box.run({kImports + "st-edge-ai/sww_c_info.json"}).exit_code, 0);
  EXPECT_EQ(box.run({"-"}, read_text(kVela)).exit_code, 0);
  EXPECT_EQ(box.run({"verify", "--from", "ethos-u", kVela, "-q"}).exit_code, 0);
  const Outcome wrong = box.run({"--from", "tflite", kVela});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "read the file as ethos-u")) << wrong.err;
  EXPECT_EQ(box.run({"--from", "plan", kVela}).exit_code, 2);
  box.write("plan.tflite", safe_plan());
  EXPECT_EQ(box.run({"--from", "plan", "plan.tflite"}).exit_code, 0);
  EXPECT_EQ(box.run({"plan.tflite"}).exit_code, 2);
  EXPECT_EQ(box.run({"--from", "tflight", kVela}).exit_code, 2);
}

TEST(CliImport, FindsWhatTheWaitsOfAStreamProtect) {
  const Sandbox box;
  EXPECT_TRUE(contains(box.run({kVela}).out, "safe, ")) << box.run({kVela}).out;
  const Outcome ignored = box.run({kVela, "--ignore-waits", "kernel"});
  EXPECT_EQ(ignored.exit_code, 1);
  EXPECT_TRUE(contains(ignored.out, "38 findings")) << ignored.out.substr(0, 2000);
  const Outcome deep = box.run({kVela, "--kernel-depth", "3"});
  EXPECT_EQ(deep.exit_code, 1);
  EXPECT_TRUE(contains(deep.out, "error[MV101]: `dma@813` may write")) << deep.out;
  EXPECT_EQ(box.run({kVela, "--ignore-waits", "all"}).exit_code, 2);
  EXPECT_EQ(box.run({kVela, "--kernel-depth", "0"}).exit_code, 2);
}

TEST(CliImport, SaysWhatIsTakenForGranted) {
  const Sandbox box;
  const Outcome asked = box.run({kVela, "--assumptions", "--format", "json"});
  EXPECT_TRUE(contains(asked.err, "At most 2 kernels and 1 DMA transfer are in flight"))
      << asked.err;
  const auto report = nlohmann::json::parse(asked.out);
  EXPECT_GT(report.at("assumptions").size(), 5U);
  EXPECT_EQ(box.run({kVela}).err, "");
}

TEST(CliImport, PlansAModel) {
  const Sandbox box;
  const Outcome graph = box.run({kModel});
  EXPECT_EQ(graph.exit_code, 2);
  EXPECT_TRUE(contains(graph.err, "place it with `memverify plan")) << graph.err;
  const Outcome made = box.run({"plan", kModel, "-o", "plan.json", "--assumptions"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(contains(made.err, "variables keep their bytes")) << made.err;
  const auto plan = nlohmann::json::parse(read_text(box.path("plan.json")));
  // The seven states are live from start to end: 5,120 bytes.
  EXPECT_EQ(plan.at("peak_bytes").at("arena"), 5408);
  EXPECT_EQ(box.run({"plan.json"}).exit_code, 0);
}

TEST(CliImport, ImportsForLater) {
  const Sandbox box;
  EXPECT_EQ(box.run({"import", "ethos-u", kVela, "--kernel-depth", "3", "-o", "p.json"}).exit_code,
            0);
  const Outcome verified = box.run({"p.json"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_TRUE(contains(verified.out, "2 findings")) << verified.out;
  EXPECT_EQ(box.run({"show", kModel}).exit_code, 0);
}

TEST(CliImport, RefusesOptionsOfOtherFormatsAndBrokenFiles) {
  const Sandbox box;
  box.write("plan.json", safe_plan());
  const Outcome own = box.run({"plan.json", "--kernel-depth", "2"});
  EXPECT_EQ(own.exit_code, 2);
  EXPECT_TRUE(contains(own.err, "--kernel-depth is not for files of the format plan")) << own.err;
  EXPECT_EQ(box.run({"plan", kModel, "-o", "p.json", "--ignore-waits", "kernel"}).exit_code, 2);
  box.write("cut.tflite", read_text(kModel).substr(0, 5000));
  const Outcome cut = box.run({"cut.tflite"});
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_TRUE(contains(cut.err, "import.damaged")) << cut.err;
  EXPECT_TRUE(contains(cut.err, "cut.tflite")) << cut.err;
}

TEST(CliImport, VerifiesProgramsModulesGraphsAndTraces) {
  const Sandbox box;
  const std::string program = kImports + "executorch/keyword_spotting.pte";
  const std::string module = kImports + "xla/jit_loss_fn.hlo_proto.pb";
  const std::string graph = kImports + "tvm-graph/chain.json";
  const std::string trace = kImports + "kineto/two_streams.trace.json";
  const std::string dump = kImports + "xla/step-buffer-assignment.txt";
  for (const std::string& file : {program, module, dump, graph, trace}) {
    EXPECT_EQ(box.run({file}).exit_code, 0) << file;
    EXPECT_EQ(box.run({"-"}, read_text(file)).exit_code, 0) << file;  // Known by its contents.
    EXPECT_EQ(box.run({"show", file}).exit_code, 0) << file;
    EXPECT_EQ(box.run({file, "--kernel-depth", "2"}).exit_code, 2) << file;
  }
  const Outcome asked = box.run({program, "--assumptions"});
  EXPECT_TRUE(contains(asked.err, "`value_271` of `value_257`")) << asked.err;
  box.write("cut.pte", read_text(program).substr(0, 9000));
  const Outcome cut = box.run({"cut.pte"});
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_TRUE(contains(cut.err, "import.damaged")) << cut.err;
  box.write("cut.hlo.pb", read_text(module).substr(0, 9000));
  EXPECT_TRUE(contains(box.run({"cut.hlo.pb"}).err, "import.damaged"));
  const std::string text = read_text(dump);
  box.write("cut-buffer-assignment.txt", text.substr(0, text.find("HloLiveRange")));
  EXPECT_EQ(box.run({"cut-buffer-assignment.txt"}).exit_code, 3);
  box.write("bad-buffer-assignment.txt", text.substr(0, 300));
  const Outcome bad = box.run({"bad-buffer-assignment.txt"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(contains(bad.err, "bad-buffer-assignment.txt:")) << bad.err;
}

TEST(CliImport, WhatATraceDoesNotOrderIsPossible) {
  const Sandbox box;
  const Outcome order =
      box.run({kImports + "kineto/event_sync_multi_stream.trace.json", "--assumptions"});
  EXPECT_EQ(order.exit_code, 3);
  EXPECT_TRUE(contains(order.err, "no memory events")) << order.err;
  auto trace = nlohmann::json::parse(read_text(kImports + "kineto/two_streams.trace.json"));
  trace["traceEvents"].erase(7);  // The wait.
  box.write("unordered.json", trace.dump());
  const Outcome possible = box.run({"unordered.json", "--assumptions"});
  EXPECT_EQ(possible.exit_code, 3) << possible.out;
  EXPECT_TRUE(contains(possible.err, "Possible: `run_")) << possible.err;
}

TEST(CliImport, AFaultInJsonHasALine) {
  const Sandbox box;
  auto graph = nlohmann::json::parse(read_text(kImports + "tvm-graph/chain.json"));
  graph["heads"][0][0] = 70;
  box.write("graph.json", graph.dump(1));
  const Outcome wrong = box.run({"graph.json"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "graph.json:")) << wrong.err;
  EXPECT_TRUE(contains(wrong.err, "import.unknown")) << wrong.err;
}

TEST(CliImport, GzipFilesAreUnpacked) {
  Sandbox box;
  const std::string trace = kImports + "kineto/two_streams.trace.json";
  const Outcome plain = box.run({trace, "--format", "json"});
  box.run_shell("gzip -c '" + trace + "' >whole.trace.json.gz");
  box.run_shell("for k in 1 2; do head -c $((k * 999)) '" + trace +
                "' | tail -c +$((k * 999 - 998)) | gzip -c; done >parts.json.gz; tail -c +1999 '" +
                trace + "' | gzip -c >>parts.json.gz");
  box.run_shell("head -c 100 whole.trace.json.gz >cut.trace.json.gz");
  box.run_shell("(cat whole.trace.json.gz; echo more) >long.trace.json.gz");
  for (const char* file : {"whole.trace.json.gz", "parts.json.gz"}) {
    const Outcome run = box.run({file, "--from", "kineto", "--format", "json"});
    EXPECT_EQ(run.exit_code, plain.exit_code) << file << run.err;
    EXPECT_EQ(nlohmann::json::parse(run.out)["findings"],
              nlohmann::json::parse(plain.out)["findings"]);
  }
  EXPECT_EQ(box.run({"whole.trace.json.gz"}).exit_code, plain.exit_code);
  for (const char* file : {"cut.trace.json.gz", "long.trace.json.gz"}) {
    const Outcome run = box.run({file});
    EXPECT_EQ(run.exit_code, 2) << file;
    EXPECT_TRUE(contains(run.err, "gzip.format")) << run.err;
  }
}

TEST(CliImport, PlansRealNetworksInOneCommand) {
  const Sandbox box;
  for (const char* name : {"light_resnet50.onnx", "light_inception_v1.onnx"}) {
    for (const bool spread : {false, true}) {
      std::vector<std::string> words = {
          "plan", kImports + "onnx/" + name, "-o", "plan.json", "--seconds", "1"};
      if (spread) words.insert(words.end(), {"--queues", "2", "--dma", "1", "--concat", "alias"});
      const Outcome made = box.run(words);
      EXPECT_EQ(made.exit_code, 0) << made.err;
      const Outcome verified = box.run({"plan.json"});
      EXPECT_EQ(verified.exit_code, 0) << verified.out;
      EXPECT_TRUE(contains(verified.out, "0 findings")) << verified.out;
    }
  }
}

TEST(CliImport, AsksForTheExtentsThatAnOnnxFileLeavesOpen) {
  const Sandbox box;
  const std::string model = kImports + "onnx/multimodal-decoder-with-input-ids_dummy_text.onnx";
  const Outcome open = box.run({"plan", model, "-o", "plan.json"});
  EXPECT_EQ(open.exit_code, 2) << open.out;
  EXPECT_TRUE(contains(open.err, "with --dim batch=MIN..MAX")) << open.err;
  const Outcome bound = box.run({"plan", model, "-o", "plan.json", "--dim", "batch=1", "--dim",
                                 "seq=1..32", "--dim", "past_seq=0..32"});
  EXPECT_EQ(bound.exit_code, 0) << bound.err;
  EXPECT_EQ(box.run({"plan.json"}).exit_code, 0);
  for (const char* wrong : {"batch", "=1", "batch=-1", "batch=2..1", "batch=1x", "batch=1..",
                            "batch=99999999999999999999"}) {
    const Outcome refused = box.run({"plan", model, "-o", "plan.json", "--dim", wrong});
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_TRUE(contains(refused.err, "is not NAME=N or NAME=MIN..MAX")) << refused.err;
  }
  const Outcome unknown = box.run({"import", "onnx", model, "--dim", "sequence=1"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.err, "it has `batch`, `seq`, `past_seq`")) << unknown.err;
  EXPECT_EQ(box.run({"plan", kModel, "-o", "plan.json", "--queues", "2"}).exit_code, 2);
}

}  // namespace
}  // namespace memverify::testing
