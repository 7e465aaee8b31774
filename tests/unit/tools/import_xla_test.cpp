// The numbers of real files were counted by a reader of protocol buffers in Python.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "support/hlo_file.h"
#include "support/process.h"
#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

std::string real_module(const std::string& name) {
  return read_text(MEMVERIFY_CORPUS "/imports/xla/" + name);
}

Plan xla_plan_of(const std::string& bytes) {
  Result<Imported> imported = import_xla(bytes, "f.hlo.pb");
  if (imported.ok()) return std::move(imported).value().plan;
  ADD_FAILURE() << to_string(imported.errors().front());
  return {};
}

std::string xla_verdict(const HloFile& file) {
  return std::string(name(verify_happens_before(xla_plan_of(hlo_bytes(file)), {}).verdict));
}

std::string xla_error(const std::string& bytes) {
  const Result<Imported> imported = import_xla(bytes, "f.hlo.pb");
  if (imported.ok()) return "none";
  return imported.errors().front().id + " " + imported.errors().front().pointer;
}

TEST(ImportXla, CountsWhatARealFileHas) {
  const Plan plan = xla_plan_of(real_module("jit_loss_fn.hlo_proto.pb"));
  EXPECT_EQ(plan.name, "jit_loss_fn");
  EXPECT_EQ(plan.inputs.size(), 6U);
  EXPECT_EQ(plan.donated.size(), 0U);
  EXPECT_EQ(plan.outputs.size(), 5U);  // Four results and the table of them.
  // 73 buffers, of which 24 are of reducers and 8 have no bytes.
  EXPECT_EQ(plan.tensors.size(), 73U - 24U - 8U);
  const auto ops = [&](std::string_view label) {
    return std::ranges::count(plan.ops, label,
                              [&](const Op& op) { return plan.details_of(op).label; });
  };
  EXPECT_EQ(ops("fusion"), 15);
  EXPECT_EQ(ops("te_fused_attn_forward_ffi"), 2);
  EXPECT_EQ(ops("get-tuple-element"), 9);  // They read tables.
  const EngineResult result = verify_happens_before(plan, {});
  EXPECT_EQ(result.verdict, Verdict::kSafe);
  EXPECT_EQ(result.stats.pairs_checked, 62U);
}

TEST(ImportXla, AMovedBufferOfARealFileIsFound) {
  Plan plan = xla_plan_of(real_module("jit_loss_fn.hlo_proto.pb"));
  // Scratch at 0 moves over what fusions still read later.
  for (const Storage& storage : plan.storages) {
    if (storage.name == "custom-call.1{1}") plan.exprs[storage.slots.begin].constant = 201326592;
  }
  EXPECT_EQ(verify_happens_before(plan, {}).verdict, Verdict::kUnsafe);
}

/// p -> a -> b -> c, of 64 bytes each.
HloFile chain(const std::string& opcode = "reverse") {
  return {.computations = {{.name = "entry",
                            .instructions = {{.name = "p", .opcode = "parameter"},
                                             {.name = "a", .opcode = opcode, .operands = {"p"}},
                                             {.name = "b", .opcode = opcode, .operands = {"a"}},
                                             {.name = "c", .opcode = opcode, .operands = {"b"}}}}},
          .buffers = {{"p", 0}, {"a", 64}, {"b", 128}, {"c", 192}}};
}

TEST(ImportXla, BuffersAreReusedWhenTheirValuesAreDead) {
  HloFile file = chain();
  EXPECT_EQ(xla_verdict(file), "safe");
  file.buffers[3].offset = 64;  // `a` is dead when `c` is written.
  EXPECT_EQ(xla_verdict(file), "safe");
  file.buffers[3].offset = 128 + 32;  // Half over its operand.
  EXPECT_EQ(xla_verdict(file), "unsafe");
  file.buffers[3].offset = 0;  // The parameter is still wanted,
  EXPECT_EQ(xla_verdict(file), "unsafe");
  file.donated = {0};  // or is not.
  EXPECT_EQ(xla_verdict(file), "safe");
  file.computations[0].instructions[3].operands = {"b", "a"};
  file.buffers[2].offset = 96;
  EXPECT_EQ(xla_verdict(file), "unsafe");
}

TEST(ImportXla, KnowsWhatWorksInPlace) {
  HloFile file = chain("reverse");
  file.buffers[2].offset = 64;
  EXPECT_EQ(xla_verdict(file), "unknown");  // The backend may allow it: not known here.
  file = chain("negate");
  file.buffers[2].offset = 64;
  EXPECT_EQ(xla_verdict(file), "safe");
  file.buffers[2].offset = 72;
  EXPECT_EQ(xla_verdict(file), "unsafe");
  for (const std::string inner : {"negate", "reverse"}) {
    file = chain("fusion");
    for (HloFileInstruction& one : file.computations[0].instructions) {
      if (one.opcode == "fusion") one.called = {"fused"};
    }
    file.computations.insert(file.computations.begin(),
                             {.name = "fused",
                              .instructions = {{.name = "x", .opcode = "parameter"},
                                               {.name = "y", .opcode = inner, .operands = {"x"}}},
                              .scheduled = false});
    file.buffers[2].offset = 64;
    EXPECT_EQ(xla_verdict(file), inner == "negate" ? "safe" : "unknown");
  }
  file = chain("dynamic-update-slice");
  file.computations[0].instructions[3].operands = {"b", "p"};
  file.buffers[3].offset = 128;
  EXPECT_EQ(xla_verdict(file), "safe");
  file.computations[0].instructions[3].operands = {"p", "b"};  // Over the update.
  EXPECT_EQ(xla_verdict(file), "unknown");
}

/// p -> copy-start … copy-done -> c, beside p -> a -> b.
HloFile with_copy() {
  const HloFileShape started = {.elements = {{}, {}, {.type = 8}}};
  return {.computations =
              {{.name = "entry",
                .instructions = {{.name = "p", .opcode = "parameter"},
                                 {.name = "a", .opcode = "reverse", .operands = {"p"}},
                                 {"start", "copy-start", {"a"}, started},
                                 {.name = "b", .opcode = "reverse", .operands = {"p"}},
                                 {.name = "done", .opcode = "copy-done", .operands = {"start"}},
                                 {.name = "c", .opcode = "reverse", .operands = {"done"}}}}},
          .buffers = {{"p", 0}, {"a", 64}, {"start", 128, {0}}, {"b", 192}, {"c", 256}}};
}

TEST(ImportXla, ACopyThatChangesTheLayoutDoesNotWorkInPlace) {
  for (const char* file : {"copy_layout.hlo.pb", "fused_copy_layout.hlo.pb"}) {
    const Plan plan = xla_plan_of(real_module(file));
    EXPECT_EQ(verify_happens_before(plan, {}).verdict, Verdict::kUnknown) << file;
  }
}

TEST(ImportXla, AsyncOpsRunUntilTheyAreDone) {
  HloFile file = with_copy();
  EXPECT_EQ(xla_verdict(file), "safe");
  const Plan plan = xla_plan_of(hlo_bytes(file));
  ASSERT_EQ(plan.queues.size(), 2U);
  EXPECT_EQ(plan.queues[QueueId{1}].order, QueueOrder::kIssue);
  file.buffers[3].offset = 64;  // `b` over `a`, which the copy may still read.
  EXPECT_EQ(xla_verdict(file), "unsafe");
  file.buffers[3].offset = 192;
  file.buffers[4].offset = 64;  // `c` over `a`: the copy is done.
  EXPECT_EQ(xla_verdict(file), "safe");
  std::vector<HloFileInstruction>& order = file.computations[0].instructions;
  order[5].operands = {"p"};  // Nobody waits for the copy.
  order.erase(order.begin() + 4);
  EXPECT_EQ(xla_verdict(file), "unsafe");
}

TEST(ImportXla, WhatAnAsyncComputationUsesInsideIsTaken) {
  const HloFileShape started = {.elements = {{.elements = {{}, {}}}, {}, {.type = 8}}};
  HloFile file = with_copy();
  file.computations[0].instructions[2] = {"start", "async-start", {"a", "p"}, started, {"inner"}};
  file.computations[0].instructions[4].opcode = "async-done";
  file.computations.insert(
      file.computations.begin(),
      {.name = "inner",
       .instructions = {{.name = "ip", .opcode = "parameter"},
                        {.name = "iq", .opcode = "parameter", .parameter = 1},
                        {.name = "scratch", .opcode = "reverse", .operands = {"ip"}},
                        {.name = "made", .opcode = "add", .operands = {"scratch", "iq"}}}});
  file.buffers[2] = {"made", 128};
  file.buffers.push_back({"scratch", 320});
  EXPECT_EQ(xla_verdict(file), "safe");
  file.buffers[5].offset = 192;  // Over `b`, which is written beside it.
  EXPECT_EQ(xla_verdict(file), "unsafe");
  file.buffers[5].offset = 64;  // Over its operand: in place, perhaps.
  EXPECT_EQ(xla_verdict(file), "unknown");
}

TEST(ImportXla, AnAsyncOpMayBeStartedElsewhere) {
  HloFile file = with_copy();
  file.computations[0].instructions[4].operands = {"p"};
  EXPECT_EQ(xla_verdict(file), "unknown");
}

/// A loop over (x, y): x is changed, y is not; then x and y are used.
HloFile with_loop(bool pass_y = true) {
  const HloFileShape pair = {.elements = {{}, {}}};
  const auto x = [](const std::string& name, const std::string& of) {
    return HloFileInstruction{.name = name, .opcode = "get-tuple-element", .operands = {of}};
  };
  const auto y = [](const std::string& name, const std::string& of) {
    return HloFileInstruction{
        .name = name, .opcode = "get-tuple-element", .operands = {of}, .tuple_index = 1};
  };
  return {.computations =
              {{.name = "condition",
                .instructions = {{"cp", "parameter", {}, pair},
                                 x("cx", "cp"),
                                 {"go", "compare", {"cx"}, {.type = 1}}}},
               {.name = "body",
                .instructions = {{"bp", "parameter", {}, pair},
                                 x("bx", "bp"),
                                 y("by", "bp"),
                                 {.name = "next", .opcode = "negate", .operands = {"bx"}},
                                 {"turn", "tuple", {"next", pass_y ? "by" : "next"}, pair}}},
               {.name = "entry",
                .instructions = {{.name = "p", .opcode = "parameter"},
                                 {.name = "i", .opcode = "reverse", .operands = {"p"}},
                                 {.name = "j", .opcode = "reverse", .operands = {"p"}},
                                 {"init", "tuple", {"i", "j"}, pair},
                                 {"loop", "while", {"init"}, pair, {"body", "condition"}},
                                 x("rx", "loop"),
                                 y("ry", "loop"),
                                 {.name = "r", .opcode = "add", .operands = {"rx", "ry"}}}}},
          .buffers = {{"p", 0},
                      {"i", 64},
                      {"j", 128},
                      {"cp", 64, {0}},
                      {"go", 192},
                      {"bp", 64, {0}},
                      {"next", 64},
                      {"loop", 64, {0}},
                      {"r", 320}}};
}

TEST(ImportXla, ALoopCarriesItsValues) {
  HloFile file = with_loop();
  EXPECT_EQ(xla_verdict(file), "safe");
  EXPECT_EQ(xla_plan_of(hlo_bytes(file)).conditions.size(), 2U);
  file.buffers[4].offset = 128;  // The condition is written over y, which the loop hands on.
  EXPECT_EQ(xla_verdict(file), "unsafe");
  file = with_loop();
  file.computations[2].instructions[7].operands = {"rx", "i"};  // Overwritten by the loop.
  EXPECT_EQ(xla_verdict(file), "unsafe");
  file = with_loop();
  file.buffers[6].offset = 256;  // What an iteration makes is not where the next one looks.
  EXPECT_EQ(xla_verdict(file), "unknown");
}

/// So many loops inside each other, all over the bytes of `i`; each also writes the bytes at `go`.
HloFile with_nested_loops(int depth, std::int64_t go) {
  HloFile file = {.computations = {}, .buffers = {{"p", 0}, {"i", 64}, {"r", 128}}};
  const auto loop = [](const std::string& n, const std::string& of) {
    return HloFileInstruction{"w" + n, "while", {of}, {}, {"body" + n, "condition" + n}};
  };
  for (int d = depth; d > 0; --d) {
    const std::string n = std::to_string(d);
    file.computations.push_back({.name = "condition" + n,
                                 .instructions = {{.name = "c" + n, .opcode = "parameter"},
                                                  {"go" + n, "compare", {"c" + n}, {.type = 1}}}});
    HloFileComputation body = {
        .name = "body" + n,
        .instructions = {{.name = "b" + n, .opcode = "parameter"},
                         {.name = "m" + n, .opcode = "negate", .operands = {"b" + n}}}};
    if (d < depth) body.instructions.push_back(loop(std::to_string(d + 1), "m" + n));
    body.instructions.push_back(
        {.name = "n" + n, .opcode = "negate", .operands = {body.instructions.back().name}});
    file.computations.push_back(body);
    for (const std::string name : {"c", "b", "m", "n", "w"}) file.buffers.push_back({name + n, 64});
    file.buffers.push_back({"go" + n, d == depth ? go : 192});
  }
  file.computations.push_back(
      {.name = "entry",
       .instructions = {{.name = "p", .opcode = "parameter"},
                        {.name = "i", .opcode = "reverse", .operands = {"p"}},
                        loop("1", "i"),
                        {.name = "r", .opcode = "negate", .operands = {"w1"}}}});
  return file;
}

TEST(ImportXla, DeepLoopsDoNotUnfoldWithoutEnd) {
  EXPECT_EQ(xla_plan_of(hlo_bytes(with_nested_loops(2, 192))).conditions.size(), 2U + 4);
  EXPECT_EQ(xla_plan_of(hlo_bytes(with_nested_loops(4, 192))).conditions.size(), 2U + 4 + 2 + 2);
  EXPECT_EQ(xla_verdict(with_nested_loops(4, 192)), "safe");
  EXPECT_EQ(xla_verdict(with_nested_loops(4, 96)), "unsafe");
}

TEST(ImportXla, EachBranchHandsOnItsResult) {
  HloFile file = {
      .computations = {{.name = "yes",
                        .instructions = {{.name = "yp", .opcode = "parameter"},
                                         {.name = "yr", .opcode = "reverse", .operands = {"yp"}}}},
                       {.name = "no",
                        .instructions = {{.name = "np", .opcode = "parameter"},
                                         {.name = "nr", .opcode = "negate", .operands = {"np"}}}},
                       {.name = "entry",
                        .instructions = {{"q", "parameter", {}, {.type = 1}, {}, 1},
                                         {.name = "p", .opcode = "parameter"},
                                         {.name = "a", .opcode = "reverse", .operands = {"p"}},
                                         {"if", "conditional", {"q", "a", "a"}, {}, {"yes", "no"}},
                                         {.name = "b", .opcode = "add", .operands = {"if", "p"}}}}},
      .buffers = {
          {"q", 0}, {"p", 64}, {"a", 128}, {"yr", 192}, {"nr", 192}, {"if", 192}, {"b", 256}}};
  EXPECT_EQ(xla_verdict(file), "safe");
  EXPECT_EQ(xla_plan_of(hlo_bytes(file)).conditions.size(), 1U);
  file.computations[2].instructions[4].operands = {"if", "a"};
  EXPECT_EQ(xla_verdict(file), "safe");
  file.buffers[4].offset = 128;  // One branch works in place, on what is still wanted.
  file.buffers[5].offset = 128;
  EXPECT_NE(xla_verdict(file), "safe");
}

TEST(ImportXla, NamesThePlaceOfAFault) {
  struct Fault {
    std::function<void(HloFile&)> break_it;
    std::string error;
  };
  const std::vector<Fault> faults = {
      {[](HloFile& f) { f.computations[0].instructions[1].operands = {"x"}; },
       "import.unknown /hlo_module/computations/0/instructions/1"},
      {[](HloFile& f) { f.computations[0].instructions[1].called = {"x"}; },
       "import.unknown /hlo_module/computations/0/instructions/1"},
      {[](HloFile& f) { f.buffers[1].index = {1}; },
       "import.unknown /buffer_assignment/logical_buffers/1/defined_at"},
      {[](HloFile& f) { f.buffers[1].offset = -1; },
       "import.range /buffer_assignment/buffer_allocations/0/assigned/1"},
      {[](HloFile& f) { f.computations[0].scheduled = false; }, "import.unsupported "},
      {[](HloFile& f) { f.computations.clear(); }, "import.unknown /hlo_module"},
  };
  for (const Fault& fault : faults) {
    HloFile file = chain();
    fault.break_it(file);
    EXPECT_EQ(xla_error(hlo_bytes(file)), fault.error);
  }
  EXPECT_EQ(xla_error(hlo_bytes(chain())), "none");
}

TEST(ImportXla, BoundsWhatCallsUnfoldTo) {
  HloFile file = chain();  // Each computation calls the one before twice: 2^40 ops.
  const HloFileComputation last = file.computations[0];
  file.computations = {{.name = "f0",
                        .instructions = {{.name = "p0", .opcode = "parameter"},
                                         {.name = "r0", .opcode = "reverse", .operands = {"p0"}}}}};
  for (int k = 1; k <= 40; ++k) {
    const std::string n = std::to_string(k);
    const std::string called = "f" + std::to_string(k - 1);
    file.computations.push_back({.name = "f" + n,
                                 .instructions = {{.name = "p" + n, .opcode = "parameter"},
                                                  {"x" + n, "call", {"p" + n}, {}, {called}},
                                                  {"y" + n, "call", {"x" + n}, {}, {called}}}});
  }
  file.buffers = {{"p0", 0}, {"r0", 64}};
  EXPECT_EQ(xla_error(hlo_bytes(file)), "import.unsupported ");
}

TEST(ImportXla, RefusesOtherFilesAndTruncatedOnes) {
  EXPECT_EQ(xla_error(""), "import.format ");
  EXPECT_EQ(xla_error("{}"), "import.damaged ");
  EXPECT_EQ(xla_error(ProtoText().text(1, ProtoText().text(1, "m").bytes()).bytes()),
            "import.format ");  // No buffer assignment.
  const std::string bytes = real_module("jit_loss_fn.hlo_proto.pb");
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 97, ++tried) {
    if (!import_xla(bytes.substr(0, size), "f").ok()) ++refused;
  }
  EXPECT_EQ(refused, tried);
}

}  // namespace
}  // namespace memverify::testing
