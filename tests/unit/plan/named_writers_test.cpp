#include "plan/named_writers.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/reader.h"

namespace memverify {
namespace {

/// "from.bytes /ops/2/reads/0/from": every error of a layout of the plan for n = 4.
std::string errors_of(const std::string& ops, const std::string& outputs = "") {
  Result<Plan> plan = read_plan(R"({"memverify": 1, "symbols": {"n": {"min": 4, "max": 8}},
    "pools": [{"id": "p"}], "queues": [{"id": "q"}],
    "storages": [{"id": "s", "pool": "p", "offset": [64, 128], "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}, {"id": "low", "view_of": "t", "bytes": "n"},
      {"id": "high", "view_of": "t", "offset": 4, "bytes": 4},
      {"id": "even", "view_of": "t", "dtype": "u8", "shape": [4], "strides": [2]},
      {"id": "odd", "view_of": "t", "offset": 1, "dtype": "u8", "shape": [4], "strides": [2]}],
    "ops": [)" + ops + "], \"outputs\": [" +
                                    outputs + "]}",
                                "test.json");
  if (!plan.ok()) return to_string(plan.errors().front());
  const Result<Layout> layout = Layout::make(plan.value(), {.symbols = {4}});
  std::string text;
  if (!layout.ok()) {
    for (const Diagnostic& error : layout.errors()) {
      text += error.id + " " + error.pointer + " " + error.message + "\n";
    }
  }
  return text;
}

std::string read_of(const std::string& written, const std::string& read) {
  return errors_of(R"({"id": "w", "queue": "q", "writes": [)" + written + R"(]},
    {"id": "u", "queue": "q", "reads": [{"tensor": ")" +
                   read + R"(", "from": "w"}]})");
}

TEST(NamedWriters, WriteEveryByteThatIsRead) {
  EXPECT_EQ(read_of(R"("t")", "high"), "");
  EXPECT_EQ(read_of(R"("low", "high")", "t"), "");
  EXPECT_EQ(read_of(R"("even", "odd")", "t"), "");
  EXPECT_EQ(read_of(R"("even")", "even"), "");
  EXPECT_EQ(read_of(R"({"tensor": "t", "offset": 4})", "high"), "");
}

TEST(NamedWriters, TheFirstMissingBytesAreNamed) {
  const std::string head = "from.bytes /ops/1/reads/0/from `w` does not write bytes ";
  const std::string tail = " of pool `p`, which are read here\n";
  EXPECT_EQ(read_of(R"("low")", "high"), head + "[68, 72)" + tail);
  EXPECT_EQ(read_of(R"("low")", "t"), head + "[68, 72)" + tail);
  EXPECT_EQ(read_of(R"("high")", "t"), head + "[64, 68)" + tail);
  EXPECT_EQ(read_of(R"("even")", "t"), head + "[65, 66)" + tail);
  EXPECT_EQ(read_of(R"("even")", "odd"), head + "[65, 66)" + tail);
  EXPECT_EQ(errors_of(R"({"id": "w", "queue": "q", "writes": ["low"]})",
                      R"({"tensor": "high", "from": "w"})"),
            "from.bytes /outputs/0/from `w` does not write bytes [68, 72)" + tail);
}

TEST(NamedWriters, UnknownCommandsMayWriteAllThatTheyTouch) {
  const std::string read =
      R"(, {"id": "u", "queue": "q", "reads": [{"tensor": "t", "from": "f"}]})";
  EXPECT_EQ(errors_of(R"({"id": "f", "kind": "unknown", "queue": "q"})" + read), "");
  EXPECT_EQ(errors_of(R"({"id": "f", "kind": "unknown", "queue": "q", "reads": ["t"]})" + read),
            "");
}

}  // namespace
}  // namespace memverify
