#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_plan.h"

namespace memverify::testing {
namespace {

/// Every value in the tree for which `wanted` holds, in document order.
template <typename Wanted>
void collect(PlanJson& node, const Wanted& wanted, std::vector<PlanJson*>& found) {
  if (wanted(node)) found.push_back(&node);
  if (!node.is_structured()) return;
  for (auto& [key, child] : node.items()) {
    if (!key.starts_with("x-") && key != "memverify" && key != "iterations") {
      collect(child, wanted, found);
    }
  }
}

void alter_number(PlanJson& plan, Draw& draw) {
  std::vector<PlanJson*> numbers;
  collect(
      plan, [](const PlanJson& node) { return node.is_number_integer(); }, numbers);
  if (numbers.empty()) return;
  PlanJson& number = *draw.of(numbers);
  const std::vector<std::int64_t> changes = {-2, -1, 1, 2, 8};
  number = number.get<std::int64_t>() + draw.of(changes);
}

void drop_entry(PlanJson& plan, Draw& draw) {
  std::vector<PlanJson*> lists;
  collect(
      plan, [](const PlanJson& node) { return node.is_array() && !node.empty(); }, lists);
  PlanJson& list = *draw.of(lists);
  list.erase(draw.below(list.size()));
}

void drop_key(PlanJson& plan, Draw& draw) {
  std::vector<PlanJson*> objects;
  collect(
      plan, [](const PlanJson& node) { return node.is_object() && !node.empty(); }, objects);
  PlanJson& object = *draw.of(objects);
  object.erase(std::next(object.begin(), static_cast<std::ptrdiff_t>(draw.below(object.size()))));
}

/// One of the ids of a list of declarations; null when there is none.
PlanJson some_id(const PlanJson& plan, const std::string& list, Draw& draw) {
  if (!plan.contains(list) || plan[list].empty()) return nullptr;
  const PlanJson& entry = plan[list][draw.below(plan[list].size())];
  return entry.is_object() ? entry.value("id", PlanJson()) : entry;
}

void add_access(PlanJson& plan, PlanJson& op, Draw& draw) {
  PlanJson entry = {{"tensor", some_id(plan, "tensors", draw)}};
  const std::vector<std::string> lists = {"reads", "reads", "writes", "accumulates", "clobbers"};
  const std::string list = draw.of(lists);
  if (draw.percent(25)) entry["offset"] = draw.between(0, 2);
  if (draw.percent(25)) entry["bytes"] = draw.between(1, 2);
  if (draw.percent(20)) entry["distance"] = draw.between(0, 2);
  if (list == "accumulates" && draw.percent(30)) entry["op"] = "max";
  if (list == "reads" && draw.percent(10)) entry["from"] = "initial";
  op[list].push_back(entry);
}

void alter_op(PlanJson& plan, Draw& draw) {
  PlanJson& op = plan["ops"][draw.below(plan["ops"].size())];
  const PlanJson condition = some_id(plan, "conditions", draw);
  switch (draw.below(12)) {
    case 0:
      op["runs"] = draw.percent(50) ? "first" : "last";
      break;
    case 1:
      op["thread"] = draw.percent(70) ? "worker" : "main";
      break;
    case 2:
      op["kind"] = "unknown";
      break;
    case 3:
      op["after"].push_back({{"op", some_id(plan, "ops", draw)}, {"distance", 1}});
      break;
    case 4:
      op["after"].push_back(some_id(plan, "ops", draw));
      break;
    case 5:
      if (op.contains("waits")) op["waits"][0]["consume"] = true;
      break;
    case 6:
      if (condition.is_string()) op["when"][condition.get<std::string>()] = draw.percent(50);
      break;
    case 7:
      op["skipped"] = "pass";
      break;
    case 8:
      op["queue"] = some_id(plan, "queues", draw);
      break;
    case 9:
      op["waits"].push_back({{"queue", some_id(plan, "queues", draw)}, {"outstanding", 1}});
      break;
    default:
      add_access(plan, op, draw);
      break;
  }
}

void reorder_ops(PlanJson& plan, Draw& draw) {
  const std::size_t a = draw.below(plan["ops"].size());
  const std::size_t b = draw.below(plan["ops"].size());
  std::swap(plan["ops"][a], plan["ops"][b]);
}

void repeat_op(PlanJson& plan, Draw& draw) {
  PlanJson op = plan["ops"][draw.below(plan["ops"].size())];
  op["id"] = op.value("id", "op") + "_again";
  plan["ops"].push_back(op);
}

void alter_declarations(PlanJson& plan, Draw& draw) {
  const PlanJson tensor = some_id(plan, "tensors", draw);
  if (plan["storages"].empty()) return;
  PlanJson& storage = plan["storages"][draw.below(plan["storages"].size())];
  const std::vector<std::string> lists = {"inputs", "constants", "donated", "outputs"};
  switch (draw.below(7)) {
    case 0:
    case 1:
    case 2:
      plan[draw.of(lists)].push_back(tensor);
      break;
    case 3:
      storage["offset"] = plan["storages"][0]["offset"];
      break;
    case 4: {
      if (plan["queues"].empty()) break;
      const std::vector<std::string> orders = {"serial", "issue", "none", "host"};
      plan["queues"][draw.below(plan["queues"].size())]["order"] = draw.of(orders);
      break;
    }
    case 5:
      plan["tensors"][draw.below(plan["tensors"].size())]["alignment"] = 2;
      break;
    default:
      plan["tensors"][draw.below(plan["tensors"].size())]["storage"] = storage["id"];
      break;
  }
}

}  // namespace

void mutate(PlanJson& plan, Draw& draw) {
  if (plan["ops"].empty()) return;
  switch (draw.below(10)) {
    case 0:
      alter_number(plan, draw);
      break;
    case 1:
    case 2:
      drop_entry(plan, draw);
      break;
    case 3:
      drop_key(plan, draw);
      break;
    case 4:
      reorder_ops(plan, draw);
      break;
    case 5:
      repeat_op(plan, draw);
      break;
    case 6:
      alter_declarations(plan, draw);
      break;
    default:
      alter_op(plan, draw);
      break;
  }
}

}  // namespace memverify::testing
