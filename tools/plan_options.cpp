#include "tools/plan_options.h"

namespace memverify {
namespace {

std::string settle_available(const Plan& graph, const std::string& text, PlanGraphOptions& how) {
  const std::size_t equals = text.rfind('=');
  const std::optional<std::int64_t> bytes =
      whole_number(equals == std::string::npos ? text : text.substr(equals + 1));
  if (!bytes || *bytes < 0) {
    return "--available-bytes takes N or POOL=N, not " + memverify::quoted(text);
  }
  how.available.resize(graph.pools.size());
  if (equals == std::string::npos) {
    if (graph.pools.size() != 1) {
      return "there are " + counted(static_cast<std::int64_t>(graph.pools.size()), "pool") +
             "; say of which: --available-bytes POOL=" + text;
    }
    how.available[0] = bytes;
    return {};
  }
  std::string wrong;
  const PoolId pool = find_named(graph.pools, text.substr(0, equals), "pool", wrong);
  if (wrong.empty()) how.available[index(pool)] = bytes;
  return wrong;
}

}  // namespace

std::string settle_options(const Plan& graph, const PlanOptions& options, PlanGraphOptions& how) {
  how.place = options.strategy->place;
  how.wrong_clashes = options.strategy->wrong_clashes;
  how.slots = options.slots;
  how.capacity = options.capacity;
  how.strategy.max_seconds = options.seconds;
  how.strategy.block_bytes = options.blocks;
  std::string wrong;
  for (const std::string& name : options.pools) {
    how.pools.push_back(find_named(graph.pools, name, "pool", wrong));
    if (!wrong.empty()) return wrong;
  }
  for (const std::string& text : options.available) {
    wrong = settle_available(graph, text, how);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace memverify
