#include "tests/support/graph.h"

#include <string>
#include <vector>

namespace memverify::testing {

PlanJson random_small_graph(std::uint64_t seed, std::size_t most_tensors) {
  Draw draw(seed);
  const std::size_t queues = 1 + draw.below(3);
  const std::size_t tensors = 2 + draw.below(most_tensors - 1);
  PlanJson plan = {{"memverify", 1}, {"pools", {{{"id", "p"}}}}};
  for (std::size_t q = 0; q < queues; ++q) {
    plan["queues"].push_back({{"id", "q" + std::to_string(q)}});
  }
  std::vector<std::int64_t> bytes;
  for (std::size_t t = 0; t < tensors; ++t) {
    bytes.push_back(draw.between(1, 3));
    plan["tensors"].push_back({{"id", "t" + std::to_string(t)}, {"bytes", bytes.back()}});
  }
  const auto entry = [&](std::size_t t) {
    PlanJson whole = "t" + std::to_string(t);
    if (bytes[t] == 1 || draw.percent(70)) return whole;
    const std::int64_t offset = draw.between(0, bytes[t] - 1);
    return PlanJson{{"tensor", whole}, {"offset", offset}, {"bytes", 1}};
  };
  std::vector<std::uint8_t> written(tensors, 0);
  const std::size_t ops = tensors + 1 + draw.below(4);
  for (std::size_t k = 0; k < ops; ++k) {
    PlanJson op = {{"id", "op" + std::to_string(k)},
                   {"queue", "q" + std::to_string(draw.below(queues))}};
    const std::size_t from = draw.below(tensors);
    const std::size_t to = k < tensors ? k : draw.below(tensors);
    if (written[from] != 0) op["reads"].push_back(entry(from));
    if (to != from && (written[to] == 0 || draw.percent(50))) {
      op["writes"].push_back(written[to] == 0 ? PlanJson("t" + std::to_string(to)) : entry(to));
      written[to] = 1;
      const bool suits = bytes[from] == bytes[to] || draw.percent(20);
      if (op.contains("reads") && suits && draw.percent(50)) {
        op["in_place"].push_back({"t" + std::to_string(from), "t" + std::to_string(to)});
      }
    }
    for (std::size_t before = 0; before < k; ++before) {
      if (draw.percent(30)) op["after"].push_back("op" + std::to_string(before));
    }
    plan["ops"].push_back(op);
  }
  if (draw.percent(30)) plan["outputs"].push_back("t" + std::to_string(tensors - 1));
  for (std::size_t t = 0; t < tensors; ++t) {
    if (draw.percent(15)) plan["tensors"][t]["alignment"] = draw.percent(50) ? 2 : 4;
  }
  if (!draw.percent(20)) return plan;
  plan["tensors"].push_back({{"id", "in"}, {"bytes", draw.between(1, 3)}});
  if (draw.percent(50)) plan["tensors"][tensors]["alignment"] = 2;
  plan["inputs"].push_back("in");
  plan["ops"][draw.below(ops)]["reads"].push_back("in");
  return plan;
}

}  // namespace memverify::testing
