#include "tools/fingerprint.h"

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace memverify {
namespace {

/// FNV-1a over words, each with its end.
class WordHash {
 public:
  void add(std::string_view word) {
    for (const char c : word) step(static_cast<unsigned char>(c));
    step(0x100);
  }
  std::string digits() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash_));
    return text;
  }

 private:
  void step(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001B3U; }
  std::uint64_t hash_ = 0xCBF29CE484222325U;
};

}  // namespace

std::string fingerprint(const Report& report, const Finding& finding) {
  const Plan& plan = report.plan;
  WordHash hash;
  const auto add = [&](std::string_view what, const auto& list, const auto& table) {
    hash.add(what);
    for (const auto id : list) hash.add(index(id) < table.size() ? table[id].name : "");
  };
  hash.add(info(finding.rule).id);
  for (const Rule also : finding.also) hash.add(info(also).id);
  hash.add(report.file);
  hash.add(plan.name);
  add("ops", finding.ops, plan.ops);
  // A finding stands for all clashes of its ops by its rule: with another access it is another one.
  for (const OpId op : finding.ops) {
    if (op == kNone<OpId>) continue;
    for (const Access& access : plan.accesses_of(plan.ops[op])) {
      hash.add(name(access.kind));
      hash.add(access.tensor == kNone<TensorId> ? "" : plan.tensors[access.tensor].name);
      hash.add(std::to_string(access.distance));
    }
  }
  add("tensors", finding.tensors, plan.tensors);
  if (finding.iteration.size() == 2) {
    hash.add(std::to_string(finding.iteration[1] - finding.iteration[0]));
  }
  if (finding.event != kNone<EventId>) hash.add(plan.events[finding.event]);
  if (finding.semaphore != kNone<SemaphoreId>) hash.add(plan.semaphores[finding.semaphore].name);
  if (finding.queue != kNone<QueueId>) hash.add(plan.queues[finding.queue].name);
  if (finding.pool != kNone<PoolId>) hash.add(plan.pools[finding.pool].name);
  if (finding.ops.empty() && finding.tensors.empty() && finding.pool == kNone<PoolId>) {
    hash.add(finding.message);
  }
  return hash.digits();
}

}  // namespace memverify
