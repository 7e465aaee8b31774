#include "verify/symbol_search.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/reader.h"
#include "verify/verify.h"

namespace memverify {
namespace {

/// One tensor a storage. `tensors` is a list of JSON objects with "id", "offset", and bytes or
/// shape; the storage is as large as `bytes`.
struct Case {
  std::string symbols;
  std::string storages;
  std::string tensors;
  std::string ops;
  std::string rest;
};

struct Answer {
  EngineResult result;
  std::size_t decisions = 0;
  std::string text;  ///< "MV103 a b n=5 n>=5; ..."
};

Answer decide(const Case& c, const SymbolOptions& options = {}) {
  Answer answer;
  const Result<Plan> plan = read_plan(R"({"memverify": 1, "symbols": {)" + c.symbols + R"(},
    "pools": [{"id": "hbm"}, {"id": "small", "bytes": 1024, "alignment": 16}],
    "queues": [{"id": "q"}, {"id": "r"}],
    "storages": [)" + c.storages + R"(], "tensors": [)" +
                                          c.tensors + R"(], "ops": [)" + c.ops + "]" +
                                          (c.rest.empty() ? "" : ", " + c.rest) + "}",
                                      "test.json");
  if (!plan.ok()) {
    ADD_FAILURE() << to_string(plan.errors().front());
    return answer;
  }
  answer.result = verify_all_symbols(plan.value(), options, [&](const Plan& one) {
    ++answer.decisions;
    return verify_happens_before(one, {});
  });
  const auto name = [&](const SymbolValue& v) {
    return " " + std::string(plan.value().symbols[v.symbol].name);
  };
  for (const Finding& f : answer.result.findings) {
    if (!answer.text.empty()) answer.text += "; ";
    answer.text += info(f.rule).id;
    for (const OpId op : f.ops) answer.text += " " + std::string(plan.value().ops[op].name);
    for (const SymbolValue& v : f.symbols) answer.text += name(v) + "=" + std::to_string(v.value);
    for (const SymbolValue& v : f.symbols_at_least)
      answer.text += name(v) + ">=" + std::to_string(v.value);
  }
  return answer;
}

const char* const kTwoWriters = R"({"id": "a", "queue": "q", "writes": ["A"]},
  {"id": "b", "queue": "r", "writes": ["B"]})";

/// `A` at 0 and `B`, which two queues write without order.
Case two_writers(const std::string& symbols, const std::string& a_bytes,
                 const std::string& b_offset, const std::string& b_bytes = "64") {
  return {symbols,
          R"({"id": "s", "pool": "hbm", "offset": 0, "bytes": ")" + a_bytes +
              R"("}, {"id": "t", "pool": "hbm", "offset": ")" + b_offset + R"(", "bytes": ")" +
              b_bytes + R"("})",
          R"({"id": "A", "storage": "s", "bytes": ")" + a_bytes +
              R"("}, {"id": "B", "storage": "t", "bytes": ")" + b_bytes + R"("})",
          kTwoWriters, ""};
}

TEST(SymbolSearch, NamesTheLeastValueAndThatAllGreaterOnesCollide) {
  const Answer answer = decide(two_writers(R"("seq": {"min": 1})", "64*seq", "24576"));
  EXPECT_EQ(answer.text, "MV103 a b seq=385 seq>=385");
  EXPECT_EQ(answer.result.verdict, Verdict::kUnsafe);
  EXPECT_LE(answer.decisions, 5U);
}

TEST(SymbolSearch, ProvesAllValuesUpToTheLastOneThatFits) {
  EXPECT_EQ(decide(two_writers(R"("seq": {"min": 1, "max": 384})", "64*seq", "24576")).text, "");
  EXPECT_EQ(decide(two_writers(R"("seq": {"min": 1, "max": 385})", "64*seq", "24576")).text,
            "MV103 a b seq=385 seq>=385");
}

TEST(SymbolSearch, ProvesAnUnboundedSymbolWhoseTensorsMoveApart) {
  for (const char* offset : {"64*seq", "align(64*seq, 256)", "max(64*seq, 4096)", "64*(seq+1)",
                             "(64*seq*2+1)/2", "128*seq - 64*seq"}) {
    const Answer answer = decide(two_writers(R"("seq": {"min": 1})", "64*seq", offset));
    EXPECT_EQ(answer.text, "") << offset;
    EXPECT_EQ(answer.result.verdict, Verdict::kSafe) << offset;
  }
}

TEST(SymbolSearch, MinBoundsWhatASymbolReaches) {
  EXPECT_EQ(decide(two_writers(R"("seq": {"min": 1})", "64*min(seq, 384)", "24576")).text, "");
  EXPECT_EQ(decide(two_writers(R"("seq": {"min": 1})", "64*min(seq, 385)", "24576")).text,
            "MV103 a b seq=385 seq>=385");
}

TEST(SymbolSearch, KeepsToMultiples) {
  EXPECT_EQ(decide(two_writers(R"("seq": {"min": 1, "multiple_of": 8})", "64*seq", "24577")).text,
            "MV103 a b seq=392 seq>=392");
}

TEST(SymbolSearch, ARemainderIsNotAThreshold) {
  EXPECT_EQ(decide(two_writers(R"("seq": {"min": 1})", "64 + seq % 4", "66")).text,
            "MV103 a b seq=3");
  EXPECT_EQ(decide(two_writers(R"("seq": {"min": 1})", "64 + seq % 4", "67")).text, "");
}

TEST(SymbolSearch, TwoSymbols) {
  const std::string both = R"("b": {"min": 1}, "s": {"min": 1})";
  EXPECT_EQ(decide(two_writers(both, "4*b + 8*s", "align(8*s + 4*b, 64)")).text, "");
  EXPECT_EQ(decide(two_writers(both, "4*b + 8*s", "1024")).text, "MV103 a b b=1 s=128 s>=128");
  EXPECT_EQ(decide(two_writers(both, "b*s*2", "2*b*s")).text, "");
  EXPECT_EQ(decide(two_writers(both, "b*s*2", "b*s + b*s + 16*b")).text, "");
}

TEST(SymbolSearch, ASizeThatTurnsNegativeHasNoLayout) {
  const Answer answer = decide(two_writers(R"("n": {"min": 0})", "64 - n", "64"));
  EXPECT_EQ(answer.result.verdict, Verdict::kUnknown);
  ASSERT_EQ(answer.result.findings.size(), 1U);
  EXPECT_NE(answer.result.findings[0].message.find("no layout for `n` = 65"), std::string::npos);
}

TEST(SymbolSearch, CapacityAndAlignment) {
  const auto in_small = [](const std::string& symbols, const std::string& offset,
                           const std::string& bytes) {
    Case c = two_writers(symbols, "64", offset, bytes);
    c.storages.replace(c.storages.rfind("hbm"), 3, "small");
    return decide(c).text;
  };
  EXPECT_EQ(in_small(R"("n": {"min": 1})", "0", "n"),
            "MV108 b n=1025 n>=1025; MV110 n=1025 n>=1025");
  EXPECT_EQ(in_small(R"("n": {"min": 0, "max": 60})", "16*n", "64"), "");
  EXPECT_EQ(in_small(R"("n": {"min": 0, "max": 60})", "8*n", "64"), "MV109 n=1; MV109 n=1");
  EXPECT_EQ(in_small(R"("n": {"min": 0, "max": 60, "multiple_of": 2})", "8*n", "64"), "");
}

/// Rows of a matrix with 128 bytes a row, of which `A` and `B` are column blocks.
Case columns(const std::string& symbols, int b_column, const std::string& rows,
             const std::string& b_rows) {
  return {symbols, R"({"id": "s", "pool": "hbm", "offset": 0, "bytes": "128 * )" + rows + R"("})",
          R"({"id": "M", "storage": "s", "dtype": "u8", "shape": [")" + rows + R"(", 128]},
             {"id": "A", "view_of": "M", "dtype": "u8", "shape": [")" +
              rows + R"(", 64], "strides": [128, 1]},
             {"id": "B", "view_of": "M", "offset": )" +
              std::to_string(b_column) + R"(, "dtype": "u8", "shape": [")" + b_rows +
              R"(", 64], "strides": [128, 1]})",
          kTwoWriters, ""};
}

TEST(SymbolSearch, StridedColumnsOfAnyNumberOfRowsAreApart) {
  EXPECT_EQ(decide(columns(R"("rows": {"min": 1})", 64, "rows", "rows")).text, "");
  EXPECT_EQ(decide(columns(R"("rows": {"min": 1})", 0, "rows", "rows")).text,
            "MV103 a b rows=1 rows>=1");
}

TEST(SymbolSearch, ColumnsCoverTheirMatrixOrDoNot) {
  Case c = columns(R"("rows": {"min": 2})", 64, "rows", "rows");
  c.ops += R"(, {"id": "read", "queue": "q", "reads": ["M"], "after": ["a", "b"]})";
  EXPECT_EQ(decide(c).text, "");
  Case less = columns(R"("rows": {"min": 2})", 64, "rows", "rows - 1");
  less.ops = c.ops;
  EXPECT_EQ(decide(less).text, "MV105 read rows=2 rows>=2");
  Case up_to_five = columns(R"("rows": {"min": 2})", 64, "rows", "min(rows, 5)");
  up_to_five.ops = c.ops;
  EXPECT_EQ(decide(up_to_five).text, "MV105 read rows=6 rows>=6");
}

TEST(SymbolSearch, AStrideMayBeASymbol) {
  Case c = columns(R"("w": {"min": 64})", 64, "w", "w");
  for (std::size_t at; (at = c.tensors.find("[128, 1]")) != std::string::npos;) {
    c.tensors.replace(at, 8, R"(["w+64", 1])");
  }
  c.storages = R"({"id": "s", "pool": "hbm", "offset": 0, "bytes": "(w+64)*w*2"})";
  c.tensors.replace(c.tensors.find("128]"), 4, R"("2*w+128"])");
  EXPECT_EQ(decide(c).text, "");
}

TEST(SymbolSearch, ValuesOfSemaphoresAreDecidedOneByOne) {
  Case c = two_writers(R"("n": {"min": 1, "max": 4})", "64", "0");
  c.ops =
      R"({"id": "a", "queue": "q", "writes": ["A"], "signals": [{"semaphore": "k", "value": 2}]},
    {"id": "b", "queue": "r", "writes": ["B"], "waits": [{"semaphore": "k", "value": "n"}]})";
  c.rest = R"("semaphores": [{"id": "k"}])";
  const Answer few = decide(c);
  EXPECT_EQ(few.text, "MV111 b n=3 n>=3");
  EXPECT_EQ(few.decisions, 4U);
  c.symbols = R"("n": {"min": 1})";
  const Answer many = decide(c, {.max_classes = 10});
  EXPECT_EQ(many.text, "MV111 b n=3; MV201");
  EXPECT_NE(many.result.findings[1].message.find("`n`"), std::string::npos);
  EXPECT_NE(many.result.findings[1].message.find("10 that were decided"), std::string::npos);
}

TEST(SymbolSearch, WithoutAValueThatFitsNothingIsProven) {
  const Answer answer = decide(two_writers(R"("n": {"min": 1})", "64", "n + 5000000000000000000"));
  EXPECT_EQ(answer.text, "MV201");
  EXPECT_EQ(answer.decisions, 0U);
}

TEST(SymbolSearch, APlanWithoutSymbolsIsDecidedOnce) {
  const Answer answer = decide(two_writers("", "64", "64"));
  EXPECT_EQ(answer.decisions, 1U);
  EXPECT_EQ(answer.result.verdict, Verdict::kSafe);
}

}  // namespace
}  // namespace memverify
