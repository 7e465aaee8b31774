// Ten cases of the corpus blown up to 10^5 ops: idle work of other tensors before, between and
// after the ops of the case, on every queue. The same rules must be found on the same ops, by
// clocks alone.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kOps = 100'000;

/// The case with `kOps` more ops: between any two of its own, some for each queue in turn. Each
/// reads what the last one of its queue wrote; they share no bytes with the case.
Json blown_up(const Json& plan) {
  Json big = plan;
  std::vector<std::string> queues;
  for (const Json& queue : plan["queues"]) queues.push_back(queue["id"]);
  big["pools"].push_back({{"id", "idle"}});
  for (std::size_t q = 0; q < queues.size(); ++q) {
    const std::string name = "idle" + std::to_string(q);
    big["storages"].push_back({{"id", name}, {"pool", "idle"}, {"offset", 64 * q}, {"bytes", 64}});
    big["tensors"].push_back({{"id", name}, {"storage", name}, {"offset", 0}, {"bytes", 64}});
    big["inputs"].push_back(name);
  }
  std::size_t made = 0;
  Json ops = Json::array();
  const std::size_t each = kOps / (plan["ops"].size() + 1);
  const auto idle = [&] {
    for (std::size_t k = 0; k < each; ++k, ++made) {
      const std::string name = "idle" + std::to_string(made % queues.size());
      ops.push_back(
          {{"id", "idle_op" + std::to_string(made)}, {"queue", queues[made % queues.size()]}});
      ops.back()["reads"] = {name};
    }
  };
  for (const Json& op : plan["ops"]) {
    idle();
    ops.push_back(op);
  }
  idle();
  big["ops"] = ops;
  return big;
}

std::multiset<std::string> told(const std::string& text) {
  const Result<Plan> plan = read_plan(text, "case.json");
  if (!plan.ok()) {
    ADD_FAILURE() << to_string(plan.errors().front());
    return {};
  }
  std::multiset<std::string> result;
  for (const Finding& finding : verify_happens_before(plan.value(), {}).findings) {
    std::string line(info(finding.rule).id);
    for (OpId op : finding.ops) line += " " + std::string(plan.value().ops[op].name);
    for (TensorId tensor : finding.tensors)
      line += " " + std::string(plan.value().tensors[tensor].name);
    result.insert(line);
  }
  return result;
}

class BlownUp : public testing::TestWithParam<const char*> {};

TEST_P(BlownUp, FindsTheSameRulesOnTheSameOps) {
  std::ifstream file(std::string(MEMVERIFY_CORPUS) + "/" + GetParam());
  const Json plan = Json::parse(file);
  const std::multiset<std::string> expected = told(plan.dump());
  EXPECT_EQ(told(blown_up(plan).dump()), expected);
  EXPECT_EQ(expected.empty(), std::string(GetParam()).find("unsafe") == std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, BlownUp,
    testing::Values("bugs/b02-view-chain-hides-reader.unsafe.json",
                    "bugs/b04-reuse-chain-crosses-queues.unsafe.json",
                    "bugs/b04-reuse-chain-crosses-queues.safe.json",
                    "bugs/b46-completion-joined-into-wrong-queue.unsafe.json",
                    "bugs/b48-one-event-recorded-on-two-queues.unsafe.json",
                    "bugs/b50-rerecord-lower-timeline-value.unsafe.json",
                    "bugs/b58-host-frees-while-queue-runs.unsafe.json",
                    "bugs/b76-control-edge-dropped.unsafe.json",
                    "peers/th-02-one-of-two.unsafe.json",
                    "peers/vk-38-two-dependencies-that-only-together-suffice.unsafe.json",
                    "peers/vk-38-two-dependencies-that-only-together-suffice.safe.json"),
    [](const auto& param) {
      std::string name = param.param;
      std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
      return name;
    });

}  // namespace
}  // namespace memverify
