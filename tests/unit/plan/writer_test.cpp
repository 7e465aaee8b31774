#include "plan/writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "plan/reader.h"

namespace memverify {
namespace {

namespace fs = std::filesystem;

/// What is written for the plan in `text`.
std::string rewritten(const std::string& text) {
  const Result<Plan> plan = read_plan(text, "p.json");
  if (!plan.ok()) return to_string(plan.errors()[0]);
  return write_plan(plan.value());
}

TEST(Writer, OneLineForEachThingAndDefaultsLeftOut) {
  EXPECT_EQ(rewritten(R"({"memverify":1,"iterations":1,"pools":[{"id":"p","alignment":1}],
      "queues":[{"id":"q","order":"serial","delay":[0,0]},{"id":"r","order":"none"}],
      "storages":[{"id":"s","pool":"p","offset":[0],"bytes":64}],
      "tensors":[{"id":"x","storage":"s","offset":0,"bytes":64}],
      "ops":[{"id":"a","kind":"op","queue":"q","thread":"main","writes":[{"tensor":"x","distance":0}],
              "accumulates":[],"signals":[{"event":"e"}],"when":{},"skipped":"drop"},
             {"id":"b","queue":"r","reads":["x"],"waits":[{"event":"e"}],"loc":{"file":"f","line":0}}],
      "outputs":[{"tensor":"x"}]})"),
            R"({
  "memverify": 1,
  "pools": [
    {"id": "p"}
  ],
  "queues": [
    {"id": "q"},
    {"id": "r", "order": "none"}
  ],
  "storages": [
    {"id": "s", "pool": "p", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "bytes": 64}
  ],
  "ops": [
    {"id": "a", "queue": "q", "writes": ["x"], "signals": [{"event": "e"}]},
    {"id": "b", "loc": {"file": "f"}, "queue": "r", "reads": ["x"], "waits": [{"event": "e"}]}
  ],
  "outputs": ["x"]
}
)");
}

/// A plan that uses every key, in the writer's own form: written back byte for byte.
constexpr const char* kEverything = R"({
  "memverify": 1,
  "name": "a \"b\" \\ \n\t\u0001 é",
  "symbols": {"n": {"min": 8, "max": 64, "multiple_of": 8, "x-s": 1}, "m": {}},
  "conditions": ["c", {"id": "d", "per": "run"}, {"id": "f", "x-c": [1, 2]}],
  "iterations": "unbounded",
  "pools": [
    {"id": "p", "bytes": "n*1024", "alignment": 2, "kind": "device", "x-p": {"a":1}},
    {"id": "o"}
  ],
  "queues": [
    {"id": "q", "order": "issue", "depth": 5, "delay": [1, 4]},
    {"id": "h", "order": "host", "thread": "loader"}
  ],
  "semaphores": [
    {"id": "m", "initial": 3},
    {"id": "t", "kind": "timeline"}
  ],
  "storages": [
    {"id": "s", "pool": "p", "offset": [0, "n*8"], "bytes": 128},
    {"id": "s2", "pool": "p", "offset": 4096, "bytes": "n"}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 8, "dtype": "f32", "shape": [2, "n"], "strides": ["n", -1], "alignment": 4},
    {"id": "y", "storage": "s", "bytes": "n"},
    {"id": "z", "view_of": "x", "offset": "n", "bytes": 1},
    {"id": "v", "bytes": 1, "pool": "p", "slots": 2},
    {"id": "u", "dtype": "i8", "shape": [], "pool": ["p", "o"], "x-t": "\u0041"}
  ],
  "ops": [
    {"id": "op", "label": "L", "loc": {"file": "f.py", "line": 7, "x-l": null}, "queue": "q", "thread": "t", "reads": ["x", {"tensor": "y", "offset": "4*n", "bytes": 8, "distance": 2, "from": "w"}, {"tensor": "x", "x-r": 0}, {"tensor": "y", "offset": 4, "from": "initial"}], "writes": ["z"], "accumulates": [{"tensor": "y", "op": "max"}], "clobbers": [{"pool": "p", "offset": 0, "bytes": 4}, {"pool": "o"}, "v"], "in_place": [["x", "z"], ["y", "z", "any"]], "after": ["w", {"op": "w", "distance": 1}, {"op": "w", "x-a": 1}], "waits": [{"event": "e", "x-w": 1}, {"semaphore": "m", "value": 2, "consume": true}, {"queue": "h", "pending": 1}, {"queue": "q", "outstanding": 0}], "signals": [{"event": "e"}, {"semaphore": "m", "value": "iteration+1", "x-g": 2}], "when": {"c": true, "d": false}, "skipped": "pass", "runs": "last", "duration": [2, 3], "x-o": 1},
    {"id": "w", "queue": "q", "writes": ["y"], "runs": "first"},
    {"id": "b", "kind": "barrier", "queues": ["q", "h"], "thread": "loader"},
    {"id": "h1", "kind": "host_wait", "for": "all"},
    {"id": "h2", "kind": "host_wait", "for": {"queue": "q", "x-f": 1}},
    {"id": "h3", "kind": "host_wait", "for": {"queue": "q", "pending": 2}},
    {"id": "h4", "kind": "host_wait", "for": {"semaphore": "t"}},
    {"id": "r", "kind": "record", "queue": "h", "thread": "main", "event": "e"},
    {"id": "a", "kind": "alloc", "queue": "h", "storage": "s2"}
  ],
  "inputs": ["x"],
  "constants": ["v"],
  "donated": ["x"],
  "outputs": ["x", {"tensor": "y", "from": "initial"}, {"tensor": "u", "x-u": 1}],
  "peak_bytes": {"p": "64*n"},
  "x-expect": {"verdict" : "safe"}
}
)";

TEST(Writer, WritesEveryKeyBack) { EXPECT_EQ(rewritten(kEverything), kEverything); }

TEST(Writer, AnEmptyPlan) {
  EXPECT_EQ(rewritten(R"({"memverify":1})"), "{\n  \"memverify\": 1\n}\n");
}

class ReplaceFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "memverify-writer-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::stringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(ReplaceFile, CreatesAndReplaces) {
  EXPECT_EQ(replace_file(path("a"), "one"), "");
  EXPECT_EQ(content(path("a")), "one");
  EXPECT_EQ(replace_file(path("a"), std::string(1'000'000, 'x')), "");
  EXPECT_EQ(content(path("a")).size(), 1'000'000U);
  EXPECT_EQ(files(), 1U);
}

TEST_F(ReplaceFile, KeepsTheRightsOfTheOldFile) {
  std::ofstream(path("a")) << "old";
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  EXPECT_EQ(replace_file(path("a"), "new"), "");
  struct stat status = {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST_F(ReplaceFile, ReplacesWhatALinkNames) {
  std::ofstream(path("a")) << "old";
  fs::create_symlink("a", path("link"));
  EXPECT_EQ(replace_file(path("link"), "new"), "");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("a")), "new");
}

TEST_F(ReplaceFile, ReportsFailureAndLeavesNothingBehind) {
  EXPECT_EQ(replace_file(path("none/a"), "x"),
            "cannot create a file beside " + path("none/a") + ": No such file or directory");
  EXPECT_EQ(replace_file(folder_.string(), "x"),
            "cannot open " + folder_.string() + ": Is a directory");
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace memverify
