#include <string>
#include <vector>

#include "tests/unit/plan/faults_support.h"

namespace memverify {
namespace {

struct Roles {
  std::vector<std::string_view> inputs = {};
  std::vector<std::string_view> constants = {};
  std::vector<std::string_view> donated = {};
  std::vector<std::string_view> outputs = {};
};

Strings faults_of(std::vector<TensorSpec> tensors, std::vector<OpSpec> ops, const Roles& roles) {
  PlanBuilder b = with(std::move(tensors), std::move(ops));
  for (const std::string_view name : roles.inputs) b.add_input(name);
  for (const std::string_view name : roles.constants) b.add_constant(name);
  for (const std::string_view name : roles.donated) b.add_donated(name);
  for (const std::string_view name : roles.outputs) b.add_output({name});
  return faults(std::move(b));
}

const TensorSpec kX{.name = "x", .bytes = 64};
const TensorSpec kV{.name = "v", .view_of = "x", .offset = 32, .bytes = 32};
const std::vector<OpSpec> kWritesView{{.name = "w", .writes = {{"v"}}}};

// --- MV106: written by their own family

TEST(Faults, InputsAreNotWrittenByTheirFamily) {
  EXPECT_EQ(faults_of({kX, kV}, kWritesView, {.inputs = {"x"}}), Strings{"MV106 w: x v [32,64)"});
  EXPECT_EQ(faults_of({kX, kV}, {{.name = "w", .accumulates = {{"x"}}}}, {.inputs = {"x"}}),
            Strings{"MV106 w: x [0,64)"});
  EXPECT_EQ(faults_of({kX, kV}, {{.name = "w", .clobbers = {{"x"}}}}, {.inputs = {"x"}}),
            Strings{"MV106 w: x [0,64)"});
  EXPECT_EQ(faults_of({kX, kV}, kWritesView, {.inputs = {"x"}, .donated = {"x"}}), Strings{});
  EXPECT_EQ(faults_of({kX, kV}, kWritesView, {.inputs = {"x"}, .outputs = {"x"}}), Strings{});
  EXPECT_EQ(faults_of({kX, kV}, {{.name = "r", .reads = {{"v"}}}}, {.inputs = {"x"}}), Strings{});
  EXPECT_EQ(
      faults_of({kX, kV}, {{.name = "w", .kind = "unknown", .writes = {{"v"}}}}, {.inputs = {"x"}}),
      Strings{});
}

TEST(Faults, WritingAnotherPartOfTheFamilyLeavesTheInputAlone) {
  const TensorSpec low{.name = "low", .view_of = "x", .offset = 0, .bytes = 32};
  EXPECT_EQ(faults_of({kX, kV, low}, kWritesView, {.inputs = {"low"}}), Strings{});
  EXPECT_EQ(faults_of({kX, kV, low},
                      {{.name = "w", .writes = {{.tensor = "x", .offset = 31, .bytes = 2}}}},
                      {.inputs = {"low"}}),
            Strings{"MV106 w: low x [31,32)"});
}

TEST(Faults, ConstantsAreNeverWritten) {
  EXPECT_EQ(faults_of({kX, kV}, kWritesView, {.constants = {"x"}}),
            Strings{"MV106 w: x v [32,64)"});
  EXPECT_EQ(faults_of({kX, kV}, kWritesView, {.constants = {"x"}, .outputs = {"x"}}),
            Strings{"MV106 w: x v [32,64)"});
  EXPECT_EQ(faults_of({kX, kV}, {{.name = "r", .reads = {{"v"}}}}, {.constants = {"x"}}),
            Strings{});
}

TEST(Faults, TheFirstWriterIsNamedOncePerInput) {
  EXPECT_EQ(faults_of({kX, kV},
                      {{.name = "a", .reads = {{"x"}}},
                       {.name = "b", .writes = {{"x"}}},
                       {.name = "c", .writes = {{"v"}}}},
                      {.inputs = {"x"}}),
            Strings{"MV106 b: x [0,64)"});
}

// --- MV106 and MV301: shared bytes

TEST(Faults, ConstantsMayShareBytesAndInputsAreWarnedOf) {
  const std::vector<TensorSpec> tied{{.name = "a", .bytes = 64},
                                     {.name = "b", .offset = 32, .bytes = 64}};
  const std::vector<OpSpec> reads{{.name = "r", .reads = {{"a"}, {"b"}}}};
  EXPECT_EQ(faults_of(tied, reads, {.constants = {"a", "b"}}), Strings{});
  EXPECT_EQ(faults_of(tied, reads, {.inputs = {"a", "b"}}), Strings{"MV301: a b [32,64)"});
  EXPECT_EQ(faults_of(tied, reads, {.inputs = {"b"}, .constants = {"a"}}),
            Strings{"MV301: b a [32,64)"});
  EXPECT_EQ(
      faults_of({tied[0], {.name = "b", .offset = 64, .bytes = 64}}, reads, {.inputs = {"a", "b"}}),
      Strings{});
  EXPECT_EQ(faults_of({tied[0], {.name = "b", .view_of = "a", .bytes = 64}}, reads,
                      {.inputs = {"a", "b"}}),
            Strings{})
      << "one family";
}

TEST(Faults, SharedInputsMustNotBeWritten) {
  const std::vector<TensorSpec> tied{{.name = "a", .bytes = 64},
                                     {.name = "b", .offset = 32, .bytes = 64}};
  const std::vector<OpSpec> reads{{.name = "r", .reads = {{"a"}, {"b"}}}};
  EXPECT_EQ(faults_of(tied, reads, {.inputs = {"a", "b"}, .donated = {"b"}}),
            Strings{"MV106: b a [32,64)"});
  EXPECT_EQ(
      faults_of(tied, {{.name = "w", .writes = {{"a"}}}}, {.inputs = {"a", "b"}, .outputs = {"a"}}),
      Strings{"MV106: a b [32,64)"});
  EXPECT_EQ(faults_of(tied, reads, {.inputs = {"a"}, .constants = {"b"}, .donated = {"a"}}),
            Strings{"MV106: a b [32,64)"});
}

TEST(Faults, SharedBytesMustNotBeWrittenByAnyone) {
  const std::vector<TensorSpec> tied{{.name = "a", .bytes = 64},
                                     {.name = "b", .offset = 32, .bytes = 64},
                                     {.name = "c", .offset = 40, .bytes = 8},
                                     {.name = "d", .offset = 0, .bytes = 32}};
  const auto writes = [](std::string_view name) {
    return std::vector<OpSpec>{{.name = "w", .writes = {{name}}}};
  };
  EXPECT_EQ(faults_of(tied, writes("c"), {.inputs = {"a", "b"}}), Strings{"MV106: a b [32,64)"});
  EXPECT_EQ(faults_of(tied, writes("c"), {.constants = {"a", "b"}}), Strings{"MV106: a b [32,64)"});
  EXPECT_EQ(faults_of(tied, writes("d"), {.inputs = {"a", "b"}}), Strings{"MV301: a b [32,64)"})
      << "written, but not where they share";
  EXPECT_EQ(faults_of(tied, writes("d"), {.constants = {"a", "b"}}), Strings{});
}

TEST(Faults, SharingIsSoughtInEverySlot) {
  PlanBuilder b = base();
  b.add_storage({.name = "ring",
                 .pool = "hbm",
                 .slots = {2048, 4096, 512},
                 .slots_are_array = true,
                 .bytes = 64});
  b.add_tensor({.name = "a", .storage = "s", .bytes = 1024});
  b.add_tensor({.name = "b", .storage = "ring", .bytes = 64});
  b.add_op({.name = "r", .queue = "q", .reads = {{"a"}, {"b"}}});
  b.add_input("a");
  b.add_input("b");
  EXPECT_EQ(faults(std::move(b)), Strings{"MV301: a b [512,576)"});
}

// --- MV112

TEST(Faults, InputsAndConstantsDoNotLiveInAllocatedStorage) {
  const std::vector<OpSpec> ops{{.name = "get", .kind = "alloc", .storage = "s"},
                                {.name = "r", .reads = {{"x"}}}};
  EXPECT_EQ(faults_of({kX}, ops, {.inputs = {"x"}}), Strings{"MV112 get: x [0,64)"});
  EXPECT_EQ(faults_of({kX}, ops, {.constants = {"x"}}), Strings{"MV112 get: x [0,64)"});
  EXPECT_EQ(faults_of({kX}, ops, {}), Strings{});
  EXPECT_EQ(faults_of({kX}, {ops[1]}, {.inputs = {"x"}}), Strings{});
}

}  // namespace
}  // namespace memverify
