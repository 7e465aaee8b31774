#include <algorithm>

#include "tests/support/random_draft.h"

namespace memverify::testing {

void Declarations::symbols_and_conditions() {
  if (draw_.percent(15)) {
    PlanJson symbol = {{"max", 3}};
    if (draw_.percent(70)) symbol["min"] = 1;
    if (draw_.percent(30)) symbol["multiple_of"] = draw_.between(1, 2);
    plan_["symbols"]["n"] = symbol;
  }
  if (draw_.percent(25)) {
    plan_["conditions"] = PlanJson::array();
    if (draw_.percent(70)) plan_["conditions"].push_back("c");
    if (draw_.percent(60)) plan_["conditions"].push_back({{"id", "d"}, {"per", "run"}});
    if (draw_.percent(10)) plan_["conditions"].push_back({{"id", "e"}, {"per", "iteration"}});
  }
}

PlanJson Declarations::number(std::int64_t value) {
  const std::string v = std::to_string(value);
  if (!plan_.contains("symbols") || !draw_.percent(30)) return value;
  switch (draw_.below(9)) {
    case 0:
      return v + " + n - n";
    case 1:
      return v + " + n * 0";
    case 2:
      return "max(" + v + ", n / 4)";
    case 3:
      return "min(n * 8 + 8, " + v + ")";
    case 4:
      return "align(" + v + ", 1) + n % 1";
    case 5:
      return "(" + v + ")";
    case 6:
      return "max(0, " + v + " - 3 + n)";
    case 7:
      return "-(-" + v + ") * 1";
    default:
      return "min(" + v + ", n + 1)";
  }
}

void Declarations::pools() {
  const std::int64_t count = draw_.percent(80) ? 1 : 2;
  for (std::int64_t p = 0; p < count; ++p) {
    PlanJson pool = {{"id", fresh("p")}};
    if (draw_.percent(40)) pool["bytes"] = number(64);
    alignment_.push_back(draw_.percent(75) ? 1 : draw_.between(1, 2) * 2);
    if (alignment_.back() != 1 || draw_.percent(20)) pool["alignment"] = alignment_.back();
    if (draw_.percent(30)) pool["kind"] = "device";
    plan_["pools"].push_back(pool);
    end_.push_back(0);
  }
}

void Declarations::queues() {
  const std::int64_t count = draw_.between(1, 3);
  for (std::int64_t q = 0; q < count; ++q) {
    PlanJson queue = {{"id", fresh("q")}};
    const std::size_t kind = draw_.below(100);
    if (kind >= 50) queue["order"] = kind < 67 ? "issue" : kind < 80 ? "none" : "host";
    if (kind < 5) queue["order"] = "serial";
    if (draw_.percent(15)) queue["depth"] = draw_.between(1, 3);
    if (draw_.percent(10)) queue["delay"] = {draw_.between(0, 1), draw_.between(1, 2)};
    if (queue.value("order", "") == "host" && draw_.percent(30)) queue["thread"] = "worker";
    plan_["queues"].push_back(queue);
  }
}

std::string Declarations::some_queue() {
  return draw_.of(plan_["queues"].get<std::vector<PlanJson>>())["id"];
}

const PlanJson& Declarations::queue(const std::string& id) const {
  for (const PlanJson& q : plan_["queues"]) {
    if (q["id"] == id) return q;
  }
  return plan_["queues"][0];
}

bool Declarations::serial(const std::string& id) const {
  const std::string order = queue(id).value("order", "serial");
  return order == "serial" || order == "host";
}

void Declarations::storages() {
  const std::int64_t count = draw_.between(2, 4);
  for (std::int64_t s = 0; s < count; ++s) {
    StorageDraft storage;
    storage.id = fresh("s");
    storage.pool = draw_.below(end_.size());
    storage.bytes = draw_.between(1, 3) * 2;
    const std::size_t slots = draw_.percent(iterations_ > 1 ? 30 : 5) ? 2 + draw_.below(2) : 1;
    const std::int64_t alignment = alignment_[storage.pool];
    const bool reuse = s > 0 && slots == 1 && draw_.percent(30);
    for (std::size_t k = 0; k < slots; ++k) {
      std::int64_t begin = (end_[storage.pool] + alignment - 1) / alignment * alignment;
      const StorageDraft& other = storages_.empty() ? storage : draw_.of(storages_);
      if (reuse && other.pool == storage.pool) begin = other.slots[0];
      storage.slots.push_back(begin);
      end_[storage.pool] = std::max(end_[storage.pool], begin + storage.bytes);
    }
    PlanJson json = {{"id", storage.id},
                     {"pool", plan_["pools"][storage.pool]["id"]},
                     {"bytes", number(storage.bytes)}};
    json["offset"] = number(storage.slots[0]);
    if (slots > 1) json["offset"] = storage.slots;
    // Symbolic sizes must not shrink a storage below its tensors.
    if (json["bytes"].is_string()) json["bytes"] = std::to_string(storage.bytes) + " + n - n";
    plan_["storages"].push_back(json);
    storages_.push_back(storage);
  }
}

void Declarations::tensors() {
  for (std::size_t s = 0; s < storages_.size(); ++s) {
    add_root(s);
    if (draw_.percent(15)) add_root(s);
  }
}

void Declarations::add_root(std::size_t s) {
  const std::int64_t bytes = storages_[s].bytes;
  TensorDraft root{fresh("t"), s, static_cast<int>(tensors_.size()), false, {}};
  for (std::int64_t b = 0; b < bytes; ++b) root.bytes.push_back(b);
  PlanJson json = {{"id", root.id}, {"storage", storages_[s].id}};
  if (draw_.percent(50)) json["offset"] = 0;
  switch (draw_.below(6)) {
    case 0:
      json["dtype"] = "u8", json["shape"] = {bytes};
      break;
    case 1:
      json["dtype"] = "f16", json["shape"] = {bytes / 2};
      break;
    case 2:
      json["dtype"] = "i4", json["shape"] = {2, bytes};
      break;
    case 3:
      json["dtype"] = "i8", json["shape"] = {2, bytes / 2};
      break;
    default:
      json["bytes"] = number(bytes);
      break;
  }
  if (draw_.percent(10)) json["alignment"] = 1;
  plan_["tensors"].push_back(json);
  tensors_.push_back(root);
  const std::size_t base = tensors_.size() - 1;
  while (draw_.percent(35)) add_view(draw_.percent(70) ? base : tensors_.size() - 1);
}

void Declarations::add_view(std::size_t base_index) {
  const TensorDraft base = tensors_[base_index];
  const auto size = static_cast<std::int64_t>(base.bytes.size());
  const std::int64_t zero = base.bytes.front();
  const bool dense = base.bytes.back() - zero + 1 == size;
  if (!dense || size == 0) return;
  TensorDraft view{fresh("v"), base.storage, base.root, false, {}};
  PlanJson json = {{"id", view.id}, {"view_of", base.id}};
  std::int64_t offset = draw_.between(0, size - 1);
  const std::int64_t room = size - offset;
  switch (draw_.below(5)) {
    case 0: {  // Every other byte.
      const std::int64_t count = (room + 1) / 2;
      json["dtype"] = "u8", json["shape"] = {count}, json["strides"] = {2};
      for (std::int64_t k = 0; k < count; ++k) view.bytes.push_back(zero + offset + 2 * k);
      break;
    }
    case 1: {  // Transposed.
      offset = 0;
      json["dtype"] = "u8", json["shape"] = {size / 2, 2}, json["strides"] = {1, size / 2};
      for (std::int64_t k = 0; k < size / 2 * 2; ++k) view.bytes.push_back(zero + k);
      break;
    }
    case 2: {  // The same element again and again.
      json["dtype"] = "bool", json["shape"] = {2, 2}, json["strides"] = {0, 0};
      view.bytes.push_back(zero + offset);
      view.broadcast = true;
      break;
    }
    default: {
      const std::int64_t count = draw_.between(1, room);
      json["bytes"] = count;
      for (std::int64_t k = 0; k < count; ++k) view.bytes.push_back(zero + offset + k);
    }
  }
  if (view.bytes.empty()) return;
  if (offset != 0 || draw_.percent(20)) json["offset"] = offset;
  if (draw_.percent(10)) json["alignment"] = 1;
  plan_["tensors"].push_back(json);
  tensors_.push_back(view);
}

}  // namespace memverify::testing
