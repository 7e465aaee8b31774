// The order and the waits that an ONNX model gets on several queues, whatever its tensors lie in.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/writer.h"
#include "planner/apart.h"
#include "support/onnx_bytes.h"
#include "support/process.h"
#include "tools/draw.h"
#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;

/// What is wrong with the order of a model's ops, with every tensor in bytes of its own; "" if
/// nothing is.
std::string fault_of_order(const std::string& bytes, const ImportOptions& options) {
  const Result<Imported> imported = import_onnx(bytes, "f.onnx", options);
  if (!imported.ok()) return imported.errors()[0].message;
  const Result<ApartPlan> apart = place_apart(imported.value().plan);
  if (!apart.ok()) return apart.errors()[0].message;
  const auto result = verify_happens_before(apart.value().plan, {});
  const Json plan = Json::parse(write_plan(imported.value().plan));
  if (result.verdict != Verdict::kSafe || !result.findings.empty()) return plan.dump();
  const Json kNone = Json::array();
  // Where a list of ops is read from first to last, each makes what later ones read.
  std::unordered_map<std::string, std::string> maker;
  for (const Json& op : plan["ops"]) {
    for (const Json& write : op.value("writes", kNone)) {
      if (write.is_string() && op.value("label", "") != "Load") maker[write] = op["id"];
    }
  }
  std::unordered_map<std::string, bool> is_listed;
  for (const Json& op : plan["ops"]) {
    for (const Json& read : op.value("reads", kNone)) {
      const auto made = maker.find(read);
      if (made == maker.end() || is_listed[made->second]) continue;
      return op["id"].dump() + " is before " + made->second + " in " + plan.dump();
    }
    is_listed[op["id"]] = true;
  }
  return "";
}

/// A model of element-wise operators, and of what joins, cuts and looks at tensors in other ways.
class RandomModel {
 public:
  RandomModel(Draw& draw, std::string width) : draw_(draw), width_(std::move(width)) {
    graph_.inputs.push_back(value("x", 4));
    values_.push_back({.name = "x", .channels = 4});
    graph_.initialisers.push_back(onnx_integers("axes", {1}));
    graph_.initialisers.push_back(onnx_weights("weight", {1, 1, 1}));
    for (std::int64_t node = draw_.between(4, 16); node > 0; --node) add_node();
    for (const Value& one : values_) {
      if (one.name != "x" && draw_.percent(20)) outputs_.push_back(one.name);
    }
    outputs_.push_back(values_.back().name);
    for (const std::string& name : outputs_) graph_.outputs.push_back(ProtoBytes().text(1, name));
  }
  std::string bytes() const { return onnx_model(graph_); }

 private:
  struct Value {
    std::string name;
    std::int64_t channels = 0;
  };

  ProtoBytes value(const std::string& name, std::int64_t channels) const {
    return onnx_value(name, onnx_type(kOnnxFloat, {"1", std::to_string(channels), width_}));
  }
  const Value& any() {  // Rather a late one: chains become long.
    const std::size_t back = std::min(draw_.below(4), draw_.below(values_.size()));
    return values_[values_.size() - 1 - back % values_.size()];
  }
  Value fresh(std::int64_t channels) {
    return {.name = "t" + std::to_string(count_++), .channels = channels};
  }
  std::string constant(std::int64_t number) {
    const std::string name = "k" + std::to_string(count_++);
    graph_.initialisers.push_back(onnx_integers(name, {number}));
    return name;
  }

  void add_node() {
    const Value from = any();
    switch (draw_.below(7)) {
      case 0:
      case 1:
        return add_concat();
      case 2:
        return from.channels > 1 ? add_split(from) : add_same(from, "Identity");
      case 3:
        return from.channels > 1 ? add_slice(from) : add_same(from, "Dropout");
      case 4:
        return add_same(from, draw_.percent(50) ? "Identity" : "Dropout");
      case 5:
        return add_same(from, draw_.percent(50) ? "Relu" : "Softmax");
      default:
        return add_same(from, "Mul", " weight");
    }
  }
  void add_same(const Value& from, const char* op, const std::string& more = "") {
    const Value to = fresh(from.channels);
    graph_.nodes.push_back(onnx_node(to.name, op, from.name + more));
    values_.push_back(to);
  }
  void add_concat() {
    std::string names;
    std::int64_t channels = 0;
    for (std::int64_t part = draw_.between(2, 3); part > 0; --part) {
      const Value& one = any();
      names += (names.empty() ? "" : " ") + one.name;
      channels += one.channels;
    }
    if (channels > 64) return;
    const Value to = fresh(channels);
    graph_.nodes.push_back(onnx_node(to.name, "Concat", names, {onnx_attribute("axis", 1)}));
    values_.push_back(to);
  }
  void add_split(const Value& from) {
    const std::int64_t first = draw_.between(1, from.channels - 1);
    const Value a = fresh(first);
    const Value b = fresh(from.channels - first);
    const std::string sizes = "k" + std::to_string(count_++);
    graph_.initialisers.push_back(onnx_integers(sizes, {first, from.channels - first}));
    graph_.nodes.push_back(onnx_node(a.name + " " + b.name, "Split", from.name + " " + sizes,
                                     {onnx_attribute("axis", 1)}));
    values_.push_back(a);
    values_.push_back(b);
  }
  void add_slice(const Value& from) {
    const std::int64_t start = draw_.between(0, from.channels - 1);
    const std::int64_t end = draw_.between(start + 1, from.channels);
    const Value to = fresh(end - start);
    const std::string starts = constant(start);
    graph_.nodes.push_back(
        onnx_node(to.name, "Slice", from.name + " " + starts + " " + constant(end) + " axes"));
    values_.push_back(to);
  }

  Draw& draw_;
  std::string width_;
  OnnxGraphBytes graph_;
  std::vector<Value> values_;
  std::vector<std::string> outputs_;
  int count_ = 0;
};

TEST(ImportOnnxOrder, AViewOfPartsThatOperatorsMakeThereWaitsForThem) {
  const auto floats = [](const char* name) {
    return onnx_value(name, onnx_type(kOnnxFloat, {"1", "64"}));
  };
  for (const char* view : {"Identity", "Dropout"}) {
    const OnnxGraphBytes graph{
        .nodes = {onnx_node("a", "Relu", "x"), onnx_node("b", "Exp", "x"),
                  onnx_node("y", "Concat", "a b", {onnx_attribute("axis", 1)}),
                  onnx_node("z", view, "y"), onnx_node("out", "Softmax", "z")},
        .inputs = {floats("x")},
        .outputs = {ProtoBytes().text(1, "out")},
    };
    for (const std::int64_t dma : {0, 1}) {
      const ImportOptions options{.queues = 2, .dma = dma, .alias_concat = true};
      EXPECT_EQ(fault_of_order(onnx_model(graph), options), "");
    }
  }
}

TEST(ImportOnnxOrder, AnyChainOfPartsAndViewsIsSafe) {
  constexpr std::uint64_t kModels = 150;
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    Draw draw(mixed(20'230, seed));
    const bool has_symbol = draw.percent(30);
    const std::string model = RandomModel(draw, has_symbol ? "n" : "8").bytes();
    for (const bool alias : {false, true}) {
      for (std::int64_t queues = 1; queues <= 3; ++queues) {
        ImportOptions options{
            .queues = queues, .dma = static_cast<std::int64_t>(seed % 3), .alias_concat = alias};
        if (has_symbol) options.dims = {{.name = "n", .min = 1, .max = 64}};
        ASSERT_EQ(fault_of_order(model, options), "")
            << "seed " << seed << ", " << queues << " queues, alias " << alias;
      }
    }
  }
}

TEST(ImportOnnxOrder, RealModelsAreSafeOnSeveralQueues) {
  for (const char* name : {"light_squeezenet", "light_inception_v1", "nested_if"}) {
    const std::string bytes =
        read_text(std::string(MEMVERIFY_CORPUS "/imports/onnx/") + name + ".onnx");
    for (const std::int64_t dma : {0, 1}) {
      const ImportOptions options{.queues = 2, .dma = dma, .alias_concat = true};
      EXPECT_EQ(fault_of_order(bytes, options), "") << name;
    }
  }
}

}  // namespace
}  // namespace memverify::testing
