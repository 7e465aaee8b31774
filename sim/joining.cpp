#include "sim/joining.h"

#include <algorithm>
#include <string>
#include <utility>

namespace memverify::sim {
namespace {

constexpr std::uint64_t kCasesPerPart = 4;

std::string part_name(const SimShard& shard) {
  return "part " + std::to_string(shard.number) + "/" + std::to_string(shard.of);
}

Diagnostic damaged(const SimShard& shard, const std::string& what) {
  return {.id = "parts.damaged",
          .message = part_name(shard) + " does not belong to this plan: " + what};
}

/// Numbers back to what they stand for, checked against the model.
class Reading {
 public:
  Reading(const Model& model, const VersionModel* versions, const Reads& reads)
      : model_(model), versions_(versions), reads_(reads), commands_(model.start_of.size()) {}

  /// Adds what `share` saw. False if it is of another plan.
  bool append(const SimPartCase& share, Search& search) const {
    const auto read = [](const std::vector<SimSighting>& seen, auto& all, const auto& one) {
      return std::ranges::all_of(seen, [&](const SimSighting& numbers) {
        auto sighting = one(numbers);
        if (sighting) all.push_back(*std::move(sighting));
        return sighting.has_value();
      });
    };
    return read(share.hits, search.hits, [this](const auto& one) { return hit(one); }) &&
           read(share.deadlocks, search.deadlocks,
                [this](const auto& one) { return deadlock(one); }) &&
           read(share.wrong, search.wrong, [this](const auto& one) { return wrong(one); });
  }

 private:
  bool is_state(const State& state) const {
    if (state.size() != model_.chains()) return false;
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      if (state[chain] > model_.last[chain]) return false;
    }
    return true;
  }

  std::optional<Hit> hit(const SimSighting& seen) const {
    if (!is_state(seen.state) || seen.what >= model_.suspects.size()) return std::nullopt;
    if (seen.step >= model_.steps()) return std::nullopt;
    return Hit{
        static_cast<std::uint32_t>(seen.what), seen.state, static_cast<StepId>(seen.step), {}};
  }

  std::optional<Deadlock> deadlock(const SimSighting& seen) const {
    if (!is_state(seen.state) || seen.what >= commands_) return std::nullopt;
    const auto blocked = static_cast<CommandId>(seen.what);
    if (first_incomplete(model_, seen.state) != blocked) return std::nullopt;
    return Deadlock{seen.state, blocked, {}};
  }

  std::optional<WrongHit> wrong(const SimSighting& seen) const {
    const std::size_t during = reads_.during.size();
    if (versions_ == nullptr || !is_state(seen.state)) return std::nullopt;
    if (seen.what >= during + reads_.at_end.size() || seen.step > model_.steps()) {
      return std::nullopt;
    }
    if (seen.author > commands_ || seen.versions.size() != versions_->words) return std::nullopt;
    const Demand* demand =
        seen.what < during ? &reads_.during[seen.what] : &reads_.at_end[seen.what - during];
    const auto author =
        seen.author == 0 ? kNone<CommandId> : static_cast<CommandId>(seen.author - 1);
    return WrongHit{
        {demand, author}, seen.state, static_cast<StepId>(seen.step), seen.versions, {}};
  }

  const Model& model_;
  const VersionModel* versions_;
  const Reads& reads_;
  std::uint64_t commands_;
};

std::pair<StepId, std::vector<std::uint64_t>> step_of(const WrongHit& hit) {
  return {hit.step, hit.versions};
}
StepId step_of(const Hit& hit) { return hit.step; }
CommandId step_of(const Deadlock& deadlock) { return deadlock.blocked; }

template <typename T, typename Key>
void keep_nearest_of(std::vector<T>& all, const Key& key) {
  std::ranges::sort(all, [&](const T& a, const T& b) {
    if (key(a) != key(b)) return key(a) < key(b);
    const int steps_a = steps_to(a.state);
    const int steps_b = steps_to(b.state);
    if (steps_a != steps_b) return steps_a < steps_b;
    return a.state != b.state ? is_before(a.state, b.state) : step_of(a) < step_of(b);
  });
  all.erase(
      std::unique(all.begin(), all.end(), [&](const T& a, const T& b) { return key(a) == key(b); }),
      all.end());
}

}  // namespace

bool deals_cases(const SimShard& shard, std::uint64_t cases) {
  return cases / kCasesPerPart >= shard.of;
}

bool looks_at(const SimShard& shard, std::uint64_t number, std::uint64_t cases) {
  return !deals_cases(shard, cases) || number % shard.of + 1 == shard.number;
}

void keep_nearest(Search& search) {
  keep_nearest_of(search.hits, [](const Hit& hit) { return hit.suspect; });
  keep_nearest_of(search.deadlocks, [](const Deadlock& deadlock) { return deadlock.blocked; });
  keep_nearest_of(search.wrong,
                  [](const WrongHit& hit) { return std::pair(hit.wrong.demand, hit.wrong.found); });
}

SimPartCase part_case(std::uint64_t number, const Search& search, const Reads& reads) {
  SimPartCase part = {.number = number,
                      .common_states = search.common_states,
                      .common_transitions = search.common_transitions,
                      .states = search.states,
                      .transitions = search.transitions,
                      .reaches_end = search.reaches_end,
                      .stopped = search.stopped};
  for (const Hit& hit : search.hits) {
    part.hits.push_back({.what = hit.suspect, .step = hit.step, .state = hit.state});
  }
  for (const Deadlock& deadlock : search.deadlocks) {
    part.deadlocks.push_back({.what = index(deadlock.blocked), .state = deadlock.state});
  }
  for (const WrongHit& hit : search.wrong) {
    const auto all = [&](const std::vector<Demand>& demands) {
      return static_cast<std::uint64_t>(hit.wrong.demand - demands.data());
    };
    const bool is_during = hit.wrong.demand->reader != kNone<CommandId>;
    part.wrong.push_back(
        {.what = is_during ? all(reads.during) : reads.during.size() + all(reads.at_end),
         .author =
             hit.wrong.found == kNone<CommandId> ? 0 : std::uint64_t{index(hit.wrong.found)} + 1,
         .step = hit.step,
         .state = hit.state,
         .versions = hit.versions});
  }
  return part;
}

std::optional<Diagnostic> fault_of(const std::vector<SimPart>& parts) {
  if (parts.empty()) return Diagnostic{.id = "parts.none", .message = "there are no parts"};
  const std::uint64_t number = parts.front().shard.of;
  std::vector<bool> is_there(number, false);
  for (const SimPart& part : parts) {
    if (part.shard.of != number) {
      return Diagnostic{.id = "parts.mixed",
                        .message = part_name(parts.front().shard) + " and " +
                                   part_name(part.shard) + " are not of one search"};
    }
    if (is_there[part.shard.number - 1]) {
      return Diagnostic{.id = "parts.overlap",
                        .message = part_name(part.shard) + " is there twice"};
    }
    is_there[part.shard.number - 1] = true;
  }
  const auto missing = std::ranges::find(is_there, false);
  if (missing == is_there.end()) return std::nullopt;
  const auto gap = static_cast<std::uint64_t>(missing - is_there.begin()) + 1;
  return Diagnostic{.id = "parts.gap", .message = part_name({gap, number}) + " is missing"};
}

Result<Search> joined(const std::vector<SimPart>& parts, std::uint64_t number, std::uint64_t cases,
                      const Model& model, const VersionModel* versions, const Reads& reads) {
  const Reading reading(model, versions, reads);
  const std::string name = "case " + std::to_string(number);
  Search search;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> common;  // States and transitions.
  for (const SimPart& part : parts) {
    if (!looks_at(part.shard, number, cases)) continue;
    const auto share = std::ranges::lower_bound(part.cases, number, {}, &SimPartCase::number);
    if (share == part.cases.end() || share->number != number) {
      if (part.cases.empty() || part.cases.back().stopped.empty()) {
        return Diagnostic{.id = "parts.gap",
                          .message = name + " is missing in " + part_name(part.shard)};
      }
      search.stopped = part.cases.back().stopped;
      continue;
    }
    if (!reading.append(*share, search)) return damaged(part.shard, name + " has other numbers");
    search.reaches_end |= share->reaches_end;
    const std::pair begun(share->common_states, share->common_transitions);
    search.states += share->states - begun.first;
    search.transitions += share->transitions - begun.second;
    if (!share->stopped.empty()) {
      search.stopped = share->stopped;
    } else if (common.value_or(begun) != begun) {
      return damaged(part.shard, name + " began differently in the parts before");
    } else {
      common = begun;
    }
  }
  if (common) search.states += common->first;
  if (common) search.transitions += common->second;
  keep_nearest(search);
  return search;
}

}  // namespace memverify::sim
