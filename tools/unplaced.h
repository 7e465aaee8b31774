// tools/unplaced.h -- plans without their addresses: graphs for a planner.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tools/shrink.h"

namespace memverify {

/// `plan` with its roots unplaced: each asks for the pool and the number of slots it had. Tensors
/// of storages that are alloc'ed stay where they are. Pools have no capacity any more.
inline PlanJson without_addresses(PlanJson plan) {
  std::set<std::string> allocated;
  for (const PlanJson& op : plan["ops"]) {
    const std::string kind = op.value("kind", "op");
    if (kind == "alloc" || kind == "free") allocated.insert(op["storage"].get<std::string>());
  }
  PlanJson kept = PlanJson::array();
  std::map<std::string, PlanJson> storages;
  for (const PlanJson& storage : plan.value("storages", PlanJson::array())) {
    storages[storage["id"]] = storage;
    if (allocated.contains(storage["id"])) kept.push_back(storage);
  }
  plan["storages"] = kept;
  for (PlanJson& tensor : plan["tensors"]) {
    if (!tensor.contains("storage") || allocated.contains(tensor["storage"])) continue;
    const PlanJson& storage = storages.at(tensor["storage"]);
    tensor["pool"] = storage["pool"];
    if (storage["offset"].is_array() && storage["offset"].size() > 1) {
      tensor["slots"] = storage["offset"].size();
    }
    tensor.erase("storage");
    tensor.erase("offset");
  }
  for (PlanJson& pool : plan["pools"]) pool.erase("bytes");
  plan.erase("peak_bytes");
  return plan;
}

}  // namespace memverify
