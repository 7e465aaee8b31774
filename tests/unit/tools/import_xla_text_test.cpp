// Text dumps: the same plans as from protos, and nothing proven where they say too little.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "plan/writer.h"
#include "support/process.h"
#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

const std::string kXlaCorpus = MEMVERIFY_CORPUS "/imports/xla/";

/// The text of a dump made by hand, with changes: each first text, which must be there, by the
/// second.
std::string step_dump(const std::vector<std::pair<std::string, std::string>>& changes = {}) {
  std::string text = read_text(kXlaCorpus + "step-buffer-assignment.txt");
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

Imported imported_dump(const std::string& text, const std::string& file = "f.txt") {
  Result<Imported> imported = import_xla(text, file);
  if (imported.ok()) return std::move(imported).value();
  ADD_FAILURE() << to_string(imported.errors().front());
  return {};
}

std::string dump_verdict(const std::string& text) {
  return std::string(name(verify_happens_before(imported_dump(text).plan, {}).verdict));
}

/// "not proven", and the sentence that says why begins so.
::testing::AssertionResult is_unclear(const std::string& text, const std::string& why) {
  const Imported imported = imported_dump(text);
  const std::string verdict(name(verify_happens_before(imported.plan, {}).verdict));
  if (verdict != "unknown") return ::testing::AssertionFailure() << verdict;
  std::string all;
  for (const std::string& sentence : imported.assumptions) all += sentence + "\n";
  if (all.find(why) == std::string::npos) return ::testing::AssertionFailure() << all;
  return ::testing::AssertionSuccess();
}

std::string dump_error(const std::string& text) {
  const Result<Imported> imported = import_xla(text, "f.txt");
  if (imported.ok()) return "none";
  const Diagnostic& error = imported.errors().front();
  return error.id + " " + std::to_string(error.line) + ":" + std::to_string(error.column);
}

/// The plan as text, its outputs in order: dumps do not say in which order they are.
std::string plan_with_sorted_outputs(Imported imported) {
  std::ranges::sort(imported.plan.outputs, {}, &Output::tensor);
  return write_plan(imported.plan);
}

TEST(ImportXlaText, GivesThePlanOfTheProto) {
  for (const std::string name : {"jit_loss_fn", "jit__threefry_seed"}) {
    const std::string stem = kXlaCorpus + name;
    Imported proto = imported_dump(read_text(stem + ".hlo_proto.pb"));
    const std::string file = "dump/" + name + "-buffer-assignment.txt";
    Imported text = imported_dump(read_text(stem + "-buffer-assignment.txt"), file);
    EXPECT_EQ(text.plan.name, name);
    EXPECT_EQ(text.assumptions, proto.assumptions);
    EXPECT_GT(text.plan.ops.size(), 0U);
    EXPECT_EQ(verify_happens_before(text.plan, {}).verdict, Verdict::kSafe);
    EXPECT_EQ(plan_with_sorted_outputs(std::move(text)),
              plan_with_sorted_outputs(std::move(proto)));
  }
}

TEST(ImportXlaText, FindsWrongReuse) {
  EXPECT_EQ(dump_verdict(step_dump()), "safe");
  const Imported step = imported_dump(step_dump());
  EXPECT_EQ(step.plan.inputs.size(), 2U);
  EXPECT_EQ(step.plan.donated.size(), 1U);
  EXPECT_EQ(step.plan.outputs.size(), 3U);
  EXPECT_EQ(step.plan.queues.size(), 2U);
  const std::string product = "<7 product @0> (size=64,offset=";
  // Over what `next` still reads; half over its operand; where the copy may still write.
  EXPECT_EQ(dump_verdict(step_dump({{product + "64", product + "128"}})), "unsafe");
  EXPECT_EQ(dump_verdict(step_dump({{product + "64", product + "32"}})), "unsafe");
  EXPECT_EQ(dump_verdict(step_dump(
                {{"<5 pair{0} @0> (size=64,offset=64", "<5 pair{0} @0> (size=64,offset=0"}})),
            "unsafe");
  // In another order the copy is done before it is used, or the state is overwritten too early.
  EXPECT_EQ(dump_verdict(step_dump({{"4:pair", "4:copy-done"},
                                    {"7:copy-done", "7:pair"},
                                    {"5:left", "5:pair"},
                                    {"7:pair", "7:left"}})),
            "safe");
  // A state that the caller wants back must not be overwritten.
  EXPECT_EQ(dump_verdict(step_dump({{"{}, maybe-live-out:", "{}:"}})), "unsafe");
}

TEST(ImportXlaText, DoesNotKnowWhatFusionsAndOthersDoInPlace) {
  const std::string add = "%next = f32[16]{0} add(f32[16]{0} %product";
  const std::string place = "<8 next @0> (size=64,offset=0)";
  // `next` over `product`.
  const std::pair<std::string, std::string> moved = {" value: " + place + ": f32[16]{0}\n", ""};
  const std::pair<std::string, std::string> here = {
      " value: <7 product",
      " value: <8 next @0> (size=64,offset=64): f32[16]{0}\n value: <7 product"};
  const std::string kept = step_dump({moved, here, {"{}, maybe-live-out:", "{}:"}});
  EXPECT_EQ(dump_verdict(kept), "safe");
  std::string fused = kept;
  fused.replace(fused.find(add), add.size(), "%next = f32[16]{0} fusion(f32[16]{0} %product");
  fused.insert(fused.find("%flat)") + 6, ", kind=kLoop, calls=%added");
  EXPECT_EQ(dump_verdict(fused), "unknown");
  fused.insert(fused.find(", kind=kLoop, calls=%added"),
               ", output_to_operand_aliasing={{}: (0, {})}");
  EXPECT_EQ(dump_verdict(fused), "safe");
}

TEST(ImportXlaText, ReadsNewerAndOlderLayouts) {
  // Operands without shapes, no `%`, and uses that are said to be none.
  EXPECT_EQ(dump_verdict(step_dump(
                {{"multiply(f32[16]{0} %left, f32[16]{0} %copy-done)",
                  "multiply(f32[16]{0} %left, /*index=1*/%copy-done)"},
                 {"%next = f32[16]{0} add(f32[16]{0} %product,", "next = f32[16]{0} add(product,"},
                 {" uses:\n from instruction: %sum", " uses:\n  (none)\n from instruction:%sum"},
                 {"allocation 7: ", "allocation 7: 0x55d0c0ffee00, "}})),
            "safe");
  // Where `left` has no layout, nobody knows whether `product` may lie in its place.
  EXPECT_EQ(dump_verdict(step_dump({{"multiply(f32[16]{0} %left,", "multiply(%left,"}})),
            "unknown");
  // The three files of a newer dump, one after the other.
  const std::string text = step_dump();
  const std::size_t values = text.find("Used values:\n");
  const std::size_t ranges = text.find("HloLiveRange");
  const std::string told = text.substr(values + 13, ranges - values - 13);
  EXPECT_EQ(dump_verdict(text.substr(0, values) + told + text.substr(ranges)), "safe");
}

TEST(ImportXlaText, NothingIsProvenWithoutAnOrder) {
  const std::string text = step_dump();
  EXPECT_TRUE(is_unclear(text.substr(0, text.find("HloLiveRange")), "in which order"));
  EXPECT_TRUE(is_unclear(text.substr(0, text.find("Used values")), "in which order"));
  EXPECT_TRUE(
      is_unclear(step_dump({{"    results{}:12-13\n", ""}}), "whether `results` is a result"));
  EXPECT_TRUE(is_unclear(step_dump({{"    12:results", "    12:sum"}}), "are called `sum`"));
}

TEST(ImportXlaText, NothingIsProvenOfLoopsAndBranches) {
  EXPECT_TRUE(is_unclear(step_dump({{"<8 next @0>", "<8 next (phi) @0>"}}), "several sides"));
  EXPECT_TRUE(is_unclear(step_dump({{"add(f32[16]{0} %product", "call(f32[16]{0} %product"}}),
                         "instructions of another computation"));
  EXPECT_TRUE(is_unclear(step_dump({{"copy-start(f32[16]{0} %input)",
                                     "copy-start(f32[16]{0} %input), calls=%copied"}}),
                         "instructions of another computation"));
  // A `conditional` that defines nothing.
  EXPECT_TRUE(
      is_unclear(step_dump({{"  flat, operand 0\n", "  flat, operand 0\n  flat, operand 1\n"},
                            {"  right\n  flat\n", "  right\n"}}),
                 "how `flat` uses its operand"));
  EXPECT_TRUE(is_unclear(
      step_dump({{", parameter 1, shape |f32[16]| at ShapeIndex {}:", ", preallocated-temp:"}}),
      "a computation that is called"));
  EXPECT_TRUE(
      is_unclear(step_dump({{"%product, f32[16]{0} %flat)", "%product, f32[16]{0} %lost)"}}),
                 "Operand 1 of `next`"));
}

TEST(ImportXlaText, NamesThePlaceOfAFault) {
  EXPECT_EQ(dump_error(step_dump({{"size 64", "size -4"}})), "import.damaged 2:20");
  EXPECT_EQ(dump_error(step_dump({{"allocation 1", "alocation 1"}})), "import.damaged 5:1");
  EXPECT_EQ(dump_error(step_dump({{"allocation 1", "allocation 0"}})), "import.contradiction 5:22");
  EXPECT_EQ(dump_error(step_dump({{"(size=64,offset=0)", "(size=64,offset=9223372036854775807)"}})),
            "import.range 3:59");
  EXPECT_EQ(dump_error(step_dump({{"offset=0", "offset=99999999999999999999"}})),
            "import.damaged 3:38");
  EXPECT_EQ(dump_error(step_dump({{"<8 next", "<0 next"}})), "import.contradiction 4:40");
  EXPECT_EQ(dump_error(step_dump({{"pair, operand 0", "pair, operand x"}})),
            "import.damaged 31:17");
  EXPECT_EQ(dump_error(step_dump({{"    3:copy-start", "    4:copy-start"}})).substr(0, 14),
            "import.damaged");
  EXPECT_EQ(dump_error("BufferAssignment\n"), "import.damaged 0:0");
  EXPECT_EQ(dump_error("BufferAssignment:\n"), "import.format 0:0");
}

TEST(ImportXlaText, ATruncatedDumpIsNeverSafe) {
  const std::string text = step_dump();
  const std::size_t complete = text.find("  Live ranges at");
  std::size_t safe = 0;
  for (std::size_t size = 0; size < complete; size += size + 600 < complete ? 13 : 1) {
    const Result<Imported> imported = import_xla(text.substr(0, size), "f.txt");
    if (!imported.ok()) continue;
    if (verify_happens_before(imported.value().plan, {}).verdict == Verdict::kSafe) ++safe;
  }
  EXPECT_EQ(safe, 0U);
}

TEST(ImportXlaText, WideTuplesAreBounded) {
  // An index that is far larger than the file.
  EXPECT_TRUE(
      is_unclear(step_dump({{"  right\n  flat\n", "  right {4000000000}\n  flat\n"}}), "too wide"));
}

}  // namespace
}  // namespace memverify::testing
