#include "tests/support/random_draft.h"

namespace memverify::testing {

PlanJson& Sync::op_named(const std::string& id) {
  for (PlanJson& json : plan_["ops"]) {
    if (json["id"] == id) return json;
  }
  return plan_["ops"][0];
}

PlanJson Sync::command(const std::string& kind) { return {{"id", fresh(kind)}, {"kind", kind}}; }

void Sync::join(const CommandDraft& earlier, const CommandDraft& later, PlanJson& json) {
  PlanJson& before = op_named(earlier.id);
  const std::string event = fresh("e");
  switch (draw_.below(12)) {
    case 0:
    case 1:
    case 2:
      json["after"].push_back(draw_.percent(80) ? PlanJson(earlier.id)
                                                : PlanJson{{"op", earlier.id}});
      break;
    case 3:
    case 4:
      before["signals"].push_back({{"event", event}});
      json["waits"].push_back({{"event", event}});
      break;
    case 5: {
      PlanJson record = command("record");
      record["queue"] = earlier.queue, record["event"] = event;
      PlanJson wait = command("wait");
      wait["queue"] = later.queue, wait["event"] = event;
      plan_["ops"].push_back(record);
      plan_["ops"].push_back(wait);
      break;
    }
    case 6:
      join_by_count(before, json, draw_.percent(30));
      break;
    case 7:
      join_by_timeline(before, json);
      break;
    case 8: {
      const PlanJson entry = by_queue(earlier, draw_.percent(60) ? "pending" : "outstanding");
      json["waits"].push_back(entry);
      break;
    }
    case 9:
    case 10:
      host_wait(earlier, before, json);
      break;
    default: {
      PlanJson barrier = command("barrier");
      barrier["queues"] = {earlier.queue};
      if (later.queue != earlier.queue) barrier["queues"].push_back(later.queue);
      plan_["ops"].push_back(barrier);
    }
  }
}

void Sync::join_by_count(PlanJson& before, PlanJson& json, bool consume) {
  const std::string id = fresh("n");
  PlanJson semaphore = {{"id", id}};
  if (draw_.percent(50)) semaphore["kind"] = "counting";
  const std::int64_t initial = draw_.percent(30) ? 1 : 0;
  if (initial != 0) semaphore["initial"] = number(initial);
  plan_["semaphores"].push_back(semaphore);
  const std::int64_t value = draw_.between(1, 2);
  PlanJson signal = {{"semaphore", id}};
  if (value != 1) signal["value"] = value;
  before["signals"].push_back(signal);
  PlanJson wait = {{"semaphore", id}, {"value", value + initial}};
  if (consume) wait["consume"] = true;
  if (!consume && iterations_ > 1) {
    wait["value"] = std::to_string(value) + " * (iteration + 1) + " + std::to_string(initial);
  }
  json["waits"].push_back(wait);
}

void Sync::join_by_timeline(PlanJson& before, PlanJson& json) {
  const std::string id = fresh("n");
  plan_["semaphores"].push_back({{"id", id}, {"kind", "timeline"}});
  const PlanJson value = iterations_ > 1 ? PlanJson("iteration + 1") : PlanJson(1);
  before["signals"].push_back({{"semaphore", id}, {"value", value}});
  json["waits"].push_back({{"semaphore", id}, {"value", value}});
}

PlanJson Sync::by_queue(const CommandDraft& earlier, const std::string& how) {
  std::int64_t since = 0;
  bool seen = false;
  for (const PlanJson& json : plan_["ops"]) {
    const std::string kind = json.value("kind", "op");
    seen = seen || json["id"] == earlier.id;
    if (json["id"] == earlier.id || json.value("queue", "") != earlier.queue) continue;
    if (seen && (kind == "op" || kind == "unknown")) ++since;
  }
  if (how == "outstanding" && !serial(earlier.queue)) since = 0;
  return {{"queue", earlier.queue}, {how, since}};
}

void Sync::host_wait(const CommandDraft& earlier, PlanJson& before, const PlanJson& json) {
  PlanJson wait = command("host_wait");
  if (json.contains("thread"))
    wait["thread"] = json["thread"];
  else if (queue(json["queue"]).contains("thread"))
    wait["thread"] = queue(json["queue"])["thread"];
  switch (draw_.below(5)) {
    case 0:
      wait["for"] = {{"queue", earlier.queue}};
      break;
    case 1:
      wait["for"] = "all";
      break;
    case 2: {
      const std::string event = fresh("e");
      before["signals"].push_back({{"event", event}});
      wait["for"] = {{"event", event}};
      break;
    }
    case 3: {
      PlanJson holder;
      join_by_count(before, holder, false);
      wait["for"] = holder["waits"][0];
      break;
    }
    default:
      wait["for"] = by_queue(earlier, draw_.percent(50) ? "pending" : "outstanding");
  }
  plan_["ops"].push_back(wait);
}

}  // namespace memverify::testing
