#include "tools/plan_draft.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMostDraftName = 100;

}  // namespace

std::string short_name(std::string_view name) {
  std::string out(name.substr(0, kMostDraftName));
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

void PlanDraft::assume(std::string sentence) {
  if (std::ranges::find(assumptions_, sentence) == assumptions_.end()) {
    assumptions_.push_back(std::move(sentence));
  }
}

std::string PlanDraft::unique(std::string_view name) {
  const std::string wanted = name.empty() ? "unnamed" : short_name(name);
  for (std::string candidate = wanted;;) {
    if (used_.try_emplace(candidate).second) return candidate;
    candidate = wanted + "#" + std::to_string(++used_[wanted]);
  }
}

void PlanDraft::drop(std::string_view after, std::string_view queue,
                     std::vector<AccessSpec> accesses) {
  dropped_ += std::max<std::size_t>(accesses.size(), 1);
  const std::string name = unique(std::string(after) + ".unknown");
  OpSpec op{.name = name, .kind = "unknown", .queue = queue};
  op.reads = accesses;
  op.writes = std::move(accesses);
  builder_.add_op(op);
}

Result<Imported> PlanDraft::finish() {
  if (dropped_ > 0) {
    assume("Not known: " + counted(static_cast<std::int64_t>(dropped_), "access") +
           ", by ops of kind `unknown`: what may depend on these is not proven.");
  }
  builder_.add_extra("", "x-assumptions", nlohmann::json(assumptions_).dump());
  Result<Plan> plan = std::move(builder_).build();
  if (!plan.ok()) return plan.errors();
  return Imported{.plan = std::move(plan).value(), .assumptions = std::move(assumptions_)};
}

}  // namespace memverify
