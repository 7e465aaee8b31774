// tests/cli/plans.h -- one small plan for each verdict, and what is asked of the output.
#pragma once

#include <string>

namespace memverify::testing {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::string two_op_plan(const std::string& name, const std::string& second_op) {
  return R"({
  "memverify": 1,
  "name": ")" +
         name + R"(",
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}, {"id": "dma"}],
  "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}],
  "tensors": [{"id": "x", "storage": "s", "offset": 0, "bytes": 64}],
  "ops": [
    {"id": "make_x", "queue": "compute", "writes": ["x"]},
    )" + second_op +
         R"(
  ]
}
)";
}

inline std::string safe_plan() {
  return two_op_plan("ordered",
                     R"({"id": "send_x", "queue": "dma", "reads": ["x"], "after": ["make_x"]})");
}
inline std::string unsafe_plan() {
  return two_op_plan("racy", R"({"id": "send_x", "queue": "dma", "reads": ["x"]})");
}
inline std::string unknown_plan() {
  return two_op_plan("opaque", R"({"id": "call", "kind": "unknown", "queue": "dma"})");
}
inline std::string bad_plan() {
  return two_op_plan("misspelt", R"({"id": "send_x", "queue": "dma", "reeds": ["x"]})");
}
inline std::string idle_plan() {
  return R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "q"}],
             "ops": [{"id": "tick", "queue": "q"}]})";
}
inline std::string unplaced_plan() {
  return R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "q"}],
             "tensors": [{"id": "x", "bytes": 64}],
             "ops": [{"id": "make_x", "queue": "q", "writes": ["x"]}]})";
}

}  // namespace memverify::testing
