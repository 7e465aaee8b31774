#include "tests/support/random_patterns.h"

#include <string>

namespace memverify::testing {
namespace {

/// A storage with one tensor of two bytes in each slot, behind everything else in the first pool.
void add_tensor(PlanJson& plan, const std::string& id, std::int64_t begin, std::int64_t slots) {
  PlanJson offset = begin;
  if (slots > 1) {
    offset = PlanJson::array();
    for (std::int64_t k = 0; k < slots; ++k) offset.push_back(begin + 4 * k);
  }
  plan["storages"].push_back(
      {{"id", id + "_mem"}, {"pool", plan["pools"][0]["id"]}, {"offset", offset}, {"bytes", 2}});
  plan["tensors"].push_back({{"id", id}, {"storage", id + "_mem"}, {"bytes", 2}});
}

PlanJson before(const std::string& tensor, std::int64_t distance) {
  return {{"tensor", tensor}, {"distance", distance}};
}

void add_ring(PlanJson& plan, Draw& draw) {
  const std::int64_t slots = draw.between(1, 3);
  add_tensor(plan, "tile", 64, slots);
  PlanJson fetch = {{"id", "fetch"}, {"queue", "load"}, {"writes", {"tile"}}};
  fetch["after"] = {{{"op", "mma"}, {"distance", slots}}};
  const PlanJson mma = {
      {"id", "mma"}, {"queue", "math"}, {"reads", {"tile"}}, {"after", {"fetch"}}};
  plan["ops"].push_back(fetch);
  plan["ops"].push_back(mma);
}

void add_carried(PlanJson& plan, Draw& draw) {
  add_tensor(plan, "h", 64, draw.percent(30) ? 2 : 1);
  plan["inputs"].push_back("h");
  plan["donated"].push_back("h");
  if (draw.percent(50)) plan["outputs"].push_back("h");
  plan["ops"].push_back({{"id", "cell"},
                         {"queue", "math"},
                         {"reads", PlanJson::array({before("h", 1)})},
                         {"writes", {"h"}},
                         {"in_place", PlanJson::array({PlanJson::array({"h", "h"})})}});
}

void add_sum(PlanJson& plan, Draw& draw) {
  add_tensor(plan, "sum", 64, 1);
  const bool last = draw.percent(70);
  plan["ops"].push_back(
      {{"id", "zero"}, {"queue", "load"}, {"writes", {"sum"}}, {"runs", "first"}});
  plan["ops"].push_back(
      {{"id", "add"}, {"queue", "load"}, {"accumulates", {{{"tensor", "sum"}, {"op", "add"}}}}});
  PlanJson step = {{"id", "step"}, {"queue", "math"}, {"reads", {"sum"}}, {"after", {"add"}}};
  if (last) step["runs"] = "last";
  if (!last) plan["ops"].back()["after"] = {{{"op", "step"}, {"distance", 1}}};
  plan["ops"].push_back(step);
}

void add_prologue(PlanJson& plan, Draw& draw) {
  add_tensor(plan, "tile", 64, 2);
  PlanJson prefetch = {{"id", "prefetch"}, {"queue", "load"}, {"runs", "first"}};
  prefetch["writes"] = PlanJson::array({before("tile", 1)});
  PlanJson mma = {
      {"id", "mma"}, {"queue", "math"}, {"reads", PlanJson::array({before("tile", 1)})}};
  mma["after"] = {"prefetch", {{"op", "fetch"}, {"distance", 1}}};
  PlanJson fetch = {{"id", "fetch"}, {"queue", "load"}, {"writes", {"tile"}}};
  if (!draw.percent(20)) fetch["after"] = {{{"op", "mma"}, {"distance", 1}}};
  for (const PlanJson& op : {prefetch, mma, fetch}) plan["ops"].push_back(op);
}

}  // namespace

void add_random_pattern(PlanJson& plan, Draw& draw) {
  if (plan["pools"][0].contains("bytes")) plan["pools"][0]["bytes"] = 96;
  plan["queues"].push_back({{"id", "load"}});
  plan["queues"].push_back({{"id", "math"}});
  if (draw.percent(30)) plan["queues"].back()["order"] = "host";
  switch (draw.below(4)) {
    case 0:
      add_ring(plan, draw);
      break;
    case 1:
      add_carried(plan, draw);
      break;
    case 2:
      add_sum(plan, draw);
      break;
    default:
      add_prologue(plan, draw);
      break;
  }
}

}  // namespace memverify::testing
