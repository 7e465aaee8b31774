#include "tools/fuzz_block.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

#include "tools/draw.h"
#include "tools/fuzz_families.h"
#include "tools/plan_mutants.h"

namespace memverify {
namespace {

constexpr std::size_t kShrinkCalls = 20'000;
constexpr std::size_t kShrinkCallsOfTimeOut = 100;  ///< Each of them may take one.

/// Asks for what the block has seen least, or tried least where it cannot be had.
class Steering {
 public:
  explicit Steering(std::uint64_t seed) : draw_(seed) {}

  Wish next(const Coverage& coverage) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::size_t> cells;
    for (std::size_t cell = 0; cell < kWishes; ++cell) {
      const std::uint64_t count = coverage.count(cell) + tries_[cell];
      if (count > least) continue;
      if (count < least) cells.clear();
      least = count;
      cells.push_back(cell);
    }
    const std::size_t cell = draw_.of(cells);
    ++tries_[cell];
    return wish_of(cell);
  }

 private:
  Draw draw_;
  std::array<std::uint64_t, kWishes> tries_{};
};

class BlockRun {
 public:
  BlockRun(std::uint64_t block, const BlockOptions& options, FuzzTarget& target,
           const EngineChoice& engines)
      : options_(options),
        target_(target),
        engines_(engines),
        seed_(mixed(options.seed, block)),
        steering_(mixed(seed_, kCasesInBlock)) {
    result_.block = block;
  }

  BlockResult run(const std::function<void()>& after_case) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t first = result_.block * kCasesInBlock;
    const std::uint64_t end = std::min(first + kCasesInBlock, options_.cases);
    for (std::uint64_t number = first; number < end; ++number) {
      run_case(number, mixed(seed_, number - first));
      after_case();
      if (options_.max_findings > 0 && findings_ >= options_.max_findings) break;
    }
    for (auto& [key, count] : mutants_) result_.mutants.push_back(std::move(count));
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(result_);
  }

 private:
  RandomGraph graph_of_case(std::uint64_t seed) {
    const Wish wish = steering_.next(result_.coverage);
    if (options_.sources == nullptr || options_.sources->empty() || seed % 2 == 0) {
      return random_graph(seed, wish);
    }
    Draw draw(seed);
    const std::size_t k = draw.below(options_.sources->size());
    RandomGraph made{.plan = (*options_.sources)[k], .families = (*options_.source_names)[k]};
    for (std::int64_t edits = draw.between(0, 2); edits > 0; --edits) {
      if (std::optional<Mutant> mutant = random_mutant(made.plan, draw)) {
        made.plan = std::move(mutant->plan);
      }
    }
    return made;
  }

  void run_case(std::uint64_t number, std::uint64_t seed) {
    const RandomGraph graph = graph_of_case(seed);
    Tried tried = try_graph(graph.plan, target_, engines_);
    if (options_.mutates_plans && tried.result.outcome == Outcome::kSafe) {
      mutate_plan(seed, tried);
    }
    note_errors(tried.internal_errors);
    ++result_.cases;
    ++result_.counts[static_cast<std::size_t>(tried.result.outcome)];
    result_.coverage.add(features_of(graph.plan), tried.result);
    if (!is_finding(tried.result.outcome)) return;
    ++findings_;
    const auto [known, is_new] = by_signature_.emplace(signature_of(tried), result_.found.size());
    if (!is_new) {
      ++result_.found[known->second].times;
      return;
    }
    FoundCase found{.number = number, .families = graph.families, .result = tried.result};
    const bool is_slow = tried.result.outcome == Outcome::kTimedOut;
    const std::size_t calls = is_slow ? kShrinkCallsOfTimeOut : kShrinkCalls;
    found.minimal =
        minimal_case(graph.plan, tried, target_, engines_, options_.shrinks ? calls : 1);
    note_errors(found.minimal.internal_errors);
    result_.found.push_back(std::move(found));
  }

  /// Makes a mutant of the safe plan and of `tried` what became of it.
  void mutate_plan(std::uint64_t seed, Tried& tried) {
    Draw draw(mixed(seed, 1));
    std::optional<Mutant> mutant = random_mutant(*tried.plan, draw);
    if (!mutant) return;
    const MutantFate fate = decide_mutant(*mutant);
    note_errors(fate.internal_errors);
    tried = {.result = fate.result};
    MutantCount& count = mutants_[{std::string(name(mutant->kind)), fate.text}];
    if (count.times++ > 0) return;
    count.kind = name(mutant->kind);
    count.fate = fate.text;
    count.first = mutant->what + (fate.why.empty() ? "" : ": " + fate.why);
  }

  void note_errors(const std::vector<std::string>& errors) {
    result_.internal_errors.insert(result_.internal_errors.end(), errors.begin(), errors.end());
  }

  const BlockOptions& options_;
  FuzzTarget& target_;
  const EngineChoice& engines_;
  std::uint64_t seed_;
  Steering steering_;
  BlockResult result_;
  std::uint64_t findings_ = 0;
  std::map<std::string, std::size_t> by_signature_;
  std::map<std::pair<std::string, std::string>, MutantCount> mutants_;
};

}  // namespace

BlockResult run_block(std::uint64_t block, const BlockOptions& options, FuzzTarget& target,
                      const EngineChoice& engines, const std::function<void()>& after_case) {
  return BlockRun(block, options, target, engines).run(after_case);
}

}  // namespace memverify
