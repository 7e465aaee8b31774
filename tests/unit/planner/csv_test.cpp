#include "planner/csv.h"

#include <gtest/gtest.h>

#include "planner/strategy.h"

namespace memverify {
namespace {

CsvProblem csv_of(std::string_view text) {
  Result<CsvProblem> csv = read_csv(text, "a.csv");
  EXPECT_TRUE(csv.ok()) << to_string(csv.errors().front());
  return std::move(csv).value();
}

std::string csv_error(std::string_view text) {
  const Result<CsvProblem> csv = read_csv(text, "a.csv");
  return csv.ok() ? "" : to_string(csv.errors().front());
}

TEST(Csv, LiveRangesAreHalfOpenAndBoundTheBytes) {
  const CsvProblem csv = csv_of("id,lower,upper,size\na,0,3,4\nb,3,9,4\nc,0,9,4\n");
  EXPECT_TRUE(csv.problem.live_ranges_decide);
  EXPECT_EQ(csv.problem.lower_bound, 8);
  EXPECT_EQ(csv.problem.live_ranges[1], (LiveRange{3, 9}));
  EXPECT_EQ(csv.problem.buffers[2].name, "c");
}

TEST(Csv, ColumnsComeInAnyOrderAndLinesEndInAnyWay) {
  const CsvProblem csv =
      csv_of("size,offset,id,alignment,upper,lower\r\n8,16,x,8,5,1\r\n8,,y,2,5,1");
  EXPECT_EQ(csv.problem.buffers[0].offset, 16);
  EXPECT_EQ(csv.problem.buffers[1].offset, std::nullopt);
  EXPECT_EQ(csv.problem.buffers[1].alignment, 2);
}

TEST(Csv, AGapTakesTheClashAway) {
  const CsvProblem csv = csv_of("id,lower,upper,size,gaps\na,0,10,4,2-8\nb,2,8,4,\nc,7,9,4,\n");
  ASSERT_EQ(csv.problem.clashes.size(), 2U);
  EXPECT_EQ(csv.problem.clashes[0].second, 2U);  // a and c in step 8.
  EXPECT_EQ(csv.problem.clashes[1].first, 1U);
  EXPECT_EQ(csv.problem.lower_bound, 8);
}

TEST(Csv, AGapWithAWindowKeepsTheseBytes) {
  const CsvProblem csv = csv_of("id,lower,upper,size,gaps\na,0,10,4,2-8@1:3\nb,2,8,4,\n");
  ASSERT_EQ(csv.problem.clashes.size(), 1U);
  EXPECT_EQ(csv.problem.clashes[0].of_first, (ByteRange{1, 3}));
  EXPECT_EQ(csv.problem.clashes[0].of_second, (ByteRange{0, 4}));
  EXPECT_EQ(csv.problem.lower_bound, 6);
}

TEST(Csv, OffsetsAreAddedToTheRowsOrReplaced) {
  const Placement placement = {.offsets = {0, 4}, .peak = 8};
  EXPECT_EQ(write_csv(csv_of("id,lower,upper,size\na,0,3,4\nb,0,9,4\n"), placement),
            "id,lower,upper,size,offset\na,0,3,4,0\nb,0,9,4,4\n");
  EXPECT_EQ(write_csv(csv_of("id,offset,lower,upper,size\na,,0,3,4\nb,4,0,9,4\n"), placement),
            "id,offset,lower,upper,size\na,0,0,3,4\nb,4,0,9,4\n");
}

TEST(Csv, SaysWhereInputIsWrong) {
  EXPECT_EQ(
      csv_error(""),
      "a.csv:1:1: error: there is no header: expected a line id,lower,upper,size [csv.empty]");
  EXPECT_EQ(csv_error("id,lower,upper\n"),
            "a.csv:1:15: error: there is no column \"size\" [csv.column]");
  EXPECT_NE(csv_error("id,lower,upper,sice\n").find("a.csv:1:16: error: unknown column \"sice\""),
            std::string::npos);
  EXPECT_NE(csv_error("id,lower,upper,size,size\n").find("1:21: error: the column \"size\" is"),
            std::string::npos);
  EXPECT_EQ(csv_error("id,lower,upper,size\na,1,2\n"),
            "a.csv:2:1: error: the row has 3 fields, the header 4 [csv.fields]");
  EXPECT_NE(csv_error("id,lower,upper,size\na,1,2,4x\n").find("a.csv:2:7: error: size is \"4x\""),
            std::string::npos);
  EXPECT_NE(csv_error("id,lower,upper,size\na,5,2,4\n").find("a.csv:2:5: error: upper is \"2\""),
            std::string::npos);
  EXPECT_NE(
      csv_error("id,lower,upper,size,offset,alignment\na,1,2,4,3,2\n").find(":2:9: error: off"),
      std::string::npos);
  EXPECT_NE(csv_error("id,lower,upper,size,gaps\na,1,9,4,2-3 5\n").find(":2:13: error: the gap"),
            std::string::npos);
  EXPECT_NE(csv_error("id,lower,upper,size,gaps\na,1,9,4,5-6 2-3\n").find(":2:13: error: the gap"),
            std::string::npos);
}

TEST(Csv, AnIdNamesOneRow) {
  EXPECT_EQ(csv_error("id,lower,upper,size\na,1,2,4\nb,1,2,4\na,3,4,4\n"),
            "a.csv:4:1: error: the id \"a\" is that of line 2, too [csv.id]");
}

TEST(Csv, AByteOrderMarkIsNoPartOfAName) {
  EXPECT_EQ(csv_of("\xEF\xBB\xBFid,lower,upper,size\na,0,3,4\n").problem.buffers.size(), 1U);
}

TEST(Csv, WhatIsNeverLiveNeedsItsOwnBytes) {
  const CsvProblem csv = csv_of("id,lower,upper,size\na,0,3,4\nb,2,2,9\n");
  EXPECT_EQ(csv.problem.lower_bound, 9);
  const Placement placement = find_strategy("optimal")->place(csv.problem, {});
  EXPECT_EQ(placement.peak, 9);
  EXPECT_TRUE(placement.is_optimal);
}

TEST(Csv, AnAlignmentThatTakesTooMuchIsNamed) {
  EXPECT_NE(csv_error("id,lower,upper,size,alignment\na,1,2,4,1\nb,1,2,4,1152921504606846976\n")
                .find("a.csv:3:9: error: the buffers up to this one, each with a gap"),
            std::string::npos);
}

TEST(Csv, SizesThatDoNotAddUpIn64BitsAreRefused) {
  std::string text = "id,lower,upper,size\n";
  for (int i = 0; i < 20; ++i) text += std::to_string(i) + ",0,1,1000000000000000000\n";
  EXPECT_NE(csv_error(text).find("a.csv:3:7: error: the sizes"), std::string::npos);
}

}  // namespace
}  // namespace memverify
