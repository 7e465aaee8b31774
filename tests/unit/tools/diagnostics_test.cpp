#include "tools/diagnostics.h"

#include <gtest/gtest.h>

namespace memverify {
namespace {

std::string shown(Diagnostic diagnostic, std::string_view text) {
  return text_errors(with_excerpts({std::move(diagnostic)}, text, "f.json"), Style());
}

TEST(Diagnostics, ShowTheLineWithACaretUnderTheColumn) {
  EXPECT_EQ(shown({.id = "x.y", .message = "wrong", .pointer = "/b", .line = 2, .column = 4},
                  "{\n  \"b\": 1\n}\n"),
            "error[x.y]: wrong\n"
            "  --> f.json:2:4, at /b\n"
            "  |\n"
            "2 |   \"b\": 1\n"
            "  |    ^\n\n");
}

TEST(Diagnostics, FindThePlaceOfAPointer) {
  EXPECT_EQ(shown({.id = "x.y", .message = "wrong", .pointer = "/b/1"}, "{\"b\": [10, 20]}"),
            "error[x.y]: wrong\n"
            "  --> f.json:1:12, at /b/1\n"
            "  |\n"
            "1 | {\"b\": [10, 20]}\n"
            "  |            ^\n\n");
}

TEST(Diagnostics, CountCodePointsAndEscapeControls) {
  // The first column is that of a four-byte quote; the tab becomes a blank, the escape is shown.
  const std::string text = "\"\xC3\xA9\"\t\x1b!";
  EXPECT_EQ(shown({.id = "a", .message = "m", .line = 1, .column = 7}, text),
            "error[a]: m\n"
            "  --> f.json:1:7\n"
            "  |\n"
            "1 | \"\xC3\xA9\" \\x1b!\n"
            "  |         ^\n\n");
}

TEST(Diagnostics, CutVeryLongLines) {
  const std::string text = std::string(500, 'a') + "!" + std::string(500, 'b') + "\n";
  const std::string out = shown({.id = "a", .message = "m", .line = 1, .column = 501}, text);
  EXPECT_NE(out.find("…" + std::string(60, 'a') + "!" + std::string(39, 'b') + "\n"),
            std::string::npos)
      << out;
}

TEST(Diagnostics, DoWithoutAPlace) {
  EXPECT_EQ(shown({.id = "file.open", .message = "cannot open", .file = "x"}, ""),
            "error[file.open]: cannot open\n  --> x\n\n");
}

TEST(Diagnostics, KeepTheirOrderAndSurviveColumnsPastTheEnd) {
  const std::string out =
      text_errors(with_excerpts({{.id = "b", .message = "second", .line = 9, .column = 1},
                                 {.id = "a", .message = "first", .line = 1, .column = 99}},
                                "short\n", "f"),
                  Style());
  EXPECT_EQ(out, "error[b]: second\n  --> f:9:1\n\nerror[a]: first\n  --> f:1:99\n\n");
}

}  // namespace
}  // namespace memverify
