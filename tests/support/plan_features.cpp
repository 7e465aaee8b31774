#include "tests/support/plan_features.h"

#include <string_view>

namespace memverify::testing {
namespace {

/// Values of these keys are features of their own.
bool is_enumeration(const std::string& key) {
  return key == "kind" || key == "order" || key == "skipped" || key == "runs" || key == "per";
}

class Collector {
 public:
  std::set<std::string> collect(const PlanJson& plan) {
    for (const auto& [key, value] : plan.items()) {
      features_.insert(key.starts_with("x-") ? "x-" : key);
      if (key == "symbols") {
        for (const PlanJson& symbol : value) object("symbol", symbol);
      } else if (key == "outputs") {
        for (const PlanJson& output : value) object("output", output);
      } else if (key == "ops") {
        for (const PlanJson& op : value) this->op(op);
      } else if (value.is_array()) {
        for (const PlanJson& entry : value) object(key, entry);
      }
    }
    for (const PlanJson& tensor : plan.value("tensors", PlanJson::array())) {
      if (tensor.contains("view_of")) views_.insert(tensor["id"]);
    }
    for (const PlanJson& tensor : plan.value("tensors", PlanJson::array())) {
      if (views_.contains(tensor.value("view_of", PlanJson()))) features_.insert("view of a view");
    }
    expressions(plan);
    return features_;
  }

 private:
  void object(const std::string& owner, const PlanJson& entry) {
    if (!entry.is_object()) return;
    for (const auto& [key, value] : entry.items()) {
      if (key == "id") continue;
      std::string feature = owner + "." + key;
      if (value.is_string() && is_enumeration(key) && owner != "pools") {
        feature += "=" + value.get<std::string>();
      }
      features_.insert(feature);
      if (owner == "storages" && value.is_array()) features_.insert("storages.offset=slots");
      if (owner == "reads" && key == "from" && value == "initial") features_.insert("from initial");
    }
  }

  void op(const PlanJson& op) {
    object("ops", op);
    for (const char* list :
         {"reads", "writes", "accumulates", "clobbers", "after", "waits", "signals"}) {
      for (const PlanJson& entry : op.value(list, PlanJson::array())) object(list, entry);
    }
    for (const PlanJson& pair : op.value("in_place", PlanJson::array())) {
      if (pair.size() == 3) features_.insert("in_place.any");
    }
    if (!op.contains("for")) return;
    if (op["for"].is_string()) features_.insert("for=all");
    object("for", op["for"]);
  }

  void expressions(const PlanJson& node) {
    if (node.is_string()) {
      const auto text = node.get<std::string>();
      for (const char* word : {"min(", "max(", "align(", "iteration", " / ", " % ", " * ", "-("}) {
        if (text.find(word) != std::string::npos)
          features_.insert("expression " + std::string(word));
      }
    }
    if (node.is_structured()) {
      for (const PlanJson& child : node) expressions(child);
    }
  }

  std::set<std::string> features_;
  std::set<PlanJson> views_;
};

}  // namespace

std::set<std::string> plan_features(const PlanJson& plan) { return Collector().collect(plan); }

std::vector<std::string> all_plan_features() {
  return {
      "memverify",
      "name",
      "symbols",
      "conditions",
      "iterations",
      "pools",
      "queues",
      "semaphores",
      "storages",
      "tensors",
      "ops",
      "inputs",
      "constants",
      "donated",
      "outputs",
      "peak_bytes",
      "x-",
      "symbol.min",
      "symbol.max",
      "symbol.multiple_of",
      "conditions.per=run",
      "conditions.per=iteration",
      "pools.bytes",
      "pools.alignment",
      "pools.kind",
      "queues.order=serial",
      "queues.order=issue",
      "queues.order=none",
      "queues.order=host",
      "queues.depth",
      "queues.delay",
      "queues.thread",
      "semaphores.kind=counting",
      "semaphores.kind=timeline",
      "semaphores.initial",
      "storages.pool",
      "storages.offset",
      "storages.offset=slots",
      "storages.bytes",
      "tensors.storage",
      "tensors.view_of",
      "tensors.offset",
      "tensors.bytes",
      "tensors.dtype",
      "tensors.shape",
      "tensors.strides",
      "tensors.alignment",
      "view of a view",
      "output.tensor",
      "output.from",
      "ops.kind=op",
      "ops.kind=view",
      "ops.kind=record",
      "ops.kind=wait",
      "ops.kind=barrier",
      "ops.kind=host_wait",
      "ops.kind=alloc",
      "ops.kind=free",
      "ops.kind=unknown",
      "ops.label",
      "ops.loc",
      "ops.queue",
      "ops.thread",
      "ops.reads",
      "ops.writes",
      "ops.accumulates",
      "ops.clobbers",
      "ops.in_place",
      "in_place.any",
      "ops.after",
      "ops.waits",
      "ops.signals",
      "ops.when",
      "ops.skipped=drop",
      "ops.skipped=pass",
      "ops.runs=first",
      "ops.runs=last",
      "ops.duration",
      "ops.queues",
      "ops.event",
      "ops.storage",
      "ops.for",
      "reads.tensor",
      "reads.offset",
      "reads.bytes",
      "reads.distance",
      "reads.from",
      "from initial",
      "writes.distance",
      "writes.offset",
      "writes.bytes",
      "accumulates.op",
      "accumulates.distance",
      "accumulates.offset",
      "accumulates.bytes",
      "clobbers.tensor",
      "clobbers.pool",
      "clobbers.offset",
      "clobbers.bytes",
      "clobbers.distance",
      "after.op",
      "after.distance",
      "waits.event",
      "waits.semaphore",
      "waits.value",
      "waits.consume",
      "waits.queue",
      "waits.pending",
      "waits.outstanding",
      "signals.event",
      "signals.semaphore",
      "signals.value",
      "for.queue",
      "for.pending",
      "for.outstanding",
      "for.event",
      "for.semaphore",
      "for.value",
      "for=all",
      "expression min(",
      "expression max(",
      "expression align(",
      "expression iteration",
      "expression  / ",
      "expression  % ",
      "expression  * ",
      "expression -(",
  };
}

}  // namespace memverify::testing
