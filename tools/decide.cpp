#include "tools/decide.h"

#include <chrono>
#include <string>

#include "plan/reader.h"
#include "plan/writer.h"
#include "tools/shrink.h"
#include "tools/verifiable.h"

namespace memverify {
namespace {

constexpr const char* kDisagreementFile = "memverify-disagreement.json";
constexpr auto kShrinkTime = std::chrono::seconds(10);
constexpr std::size_t kMostOpsToShrink = 1000;

/// A smaller plan on which the two engines contradict each other as well.
std::string shrunk(const Plan& plan, const Engine& one, const Engine& other,
                   const EngineOptions& options) {
  const std::string text = write_plan(plan);
  if (plan.ops.size() > kMostOpsToShrink) return text;
  const auto end = std::chrono::steady_clock::now() + kShrinkTime;
  const PlanJson small = shrink(PlanJson::parse(text), [&](const PlanJson& candidate) {
    if (std::chrono::steady_clock::now() > end) return false;
    const Result<Plan> smaller = read_plan(candidate.dump(), "");
    return smaller.ok() && cannot_be_verified(smaller.value()).empty() &&
           contradict(one.run(smaller.value(), options, nullptr).verdict,
                      other.run(smaller.value(), options, nullptr).verdict);
  });
  return small.dump(1) + "\n";
}

std::string keep_disagreement(const Plan& plan, const Engine& one, const Engine& other,
                              const EngineOptions& options) {
  const std::string problem = replace_file(kDisagreementFile, shrunk(plan, one, other, options));
  return problem.empty() ? std::string("a small such plan is in ") + kDisagreementFile : problem;
}

}  // namespace

void decide(Report& report, const EngineChoice& choice, const EngineOptions& options,
            const Layout* least) {
  ask_engines(report, choice, options, keep_disagreement, least);
}

}  // namespace memverify
