// verify/one_semaphore_run.cpp -- the runs that OneSemaphore shows, deadlocks among them.
#include <algorithm>
#include <set>
#include <utility>

#include "verify/one_semaphore.h"

namespace memverify {
namespace {

constexpr std::uint8_t kStarts = 1, kCompletes = 2;

}  // namespace

std::optional<std::vector<Step>> OneSemaphore::run(const std::vector<Stage>& stages) {
  // What was found must be shown, however much work that took.
  const std::uint64_t work = std::exchange(work_, 0);
  const bool gave_up = std::exchange(gave_up_, false);
  const auto any = routes(stages, all_);
  const auto found = any ? routes(stages, shrink(stages, any->back().state)) : std::nullopt;
  work_ = work;
  gave_up_ = gave_up || gave_up_;
  if (!found) return std::nullopt;
  std::vector<std::uint8_t> done(program_.instances.size(), 0);
  std::vector<Step> steps;
  for (std::size_t k = 0; k < stages.size(); ++k) add_steps((*found)[k], stages[k], done, steps);
  return steps;
}

std::optional<std::vector<OneSemaphore::Route>> OneSemaphore::routes(
    const std::vector<Stage>& stages, const State& caps) {
  std::vector<Route> result;
  for (const Stage& stage : stages) {
    std::optional<Route> route = find(stage, result.empty() ? start_ : result.back().state, caps);
    if (!route) return std::nullopt;
    result.push_back(std::move(*route));
  }
  return result;
}

/// Bounds with which there still is a run, none of which can be lowered alone.
OneSemaphore::State OneSemaphore::shrink(const std::vector<Stage>& stages, const State& end) {
  State goal = start_;
  for (const Stage& stage : stages) {
    const State one = goal_of(stage);
    for (std::size_t q = 0; q < goal.size(); ++q) goal[q] = std::max(goal[q], one[q]);
  }
  State caps = goal;
  for (std::size_t q = 0; q < goal.size(); ++q) caps[q] = std::max(goal[q], end[q]);
  if (!routes(stages, caps)) return all_;
  for (std::size_t q = 0; q < goal.size(); ++q) {
    std::uint32_t low = goal[q];
    while (low < caps[q]) {
      State tried = caps;
      tried[q] = low + (caps[q] - low) / 2;
      if (routes(stages, tried)) {
        caps = std::move(tried);
      } else {
        low = tried[q] + 1;
      }
    }
  }
  return caps;
}

void OneSemaphore::mark_needed(std::vector<std::uint8_t>& wanted, std::vector<Cmd> stack) const {
  while (!stack.empty()) {
    const Cmd cmd = stack.back();
    stack.pop_back();
    for (Cmd other : needed_by(cmd)) {
      if ((wanted[other] & kCompletes) != 0) continue;
      wanted[other] = kStarts | kCompletes;
      stack.push_back(other);
    }
  }
}

void OneSemaphore::emit(Cmd cmd, bool complete, std::vector<std::uint8_t>& done,
                        std::vector<Step>& steps) const {
  const std::uint8_t bit = complete ? kCompletes : kStarts;
  if ((done[cmd] & bit) != 0) return;
  done[cmd] = static_cast<std::uint8_t>(done[cmd] | bit);
  const Instance& instance = program_.instances[cmd];
  if (!instance.gate) steps.push_back({complete, instance.op, std::int64_t{instance.iteration}});
}

void OneSemaphore::add_steps(const Route& route, const Stage& stage,
                             std::vector<std::uint8_t>& done, std::vector<Step>& steps) const {
  std::vector<std::uint8_t> wanted(program_.instances.size(), 0);
  const auto want = [&](Cmd cmd, std::uint8_t what) {
    wanted[cmd] = static_cast<std::uint8_t>(wanted[cmd] | what);
  };
  for (std::size_t q = 0; q < chains_.size(); ++q) {
    for (std::uint32_t at = 0; at < route.state[q]; ++at) {
      want(program_.queue_commands[q][at / 2], at % 2 == 0 ? kStarts : kCompletes);
    }
  }
  for (const Instant& instant : stage.reach) {
    want(instant.cmd, instant.complete ? kStarts | kCompletes : kStarts);
  }
  std::vector<Cmd> stack;
  for (Cmd cmd = 0; cmd < wanted.size(); ++cmd) {
    if (stage.everything) wanted[cmd] = kStarts | kCompletes;
    if (wanted[cmd] != 0) stack.push_back(cmd);
  }
  mark_needed(wanted, std::move(stack));
  struct Timed {
    std::uint32_t time;
    Cmd cmd;
    bool complete;
  };
  std::vector<Timed> first;  // The free ones; the tail comes last.
  std::vector<Timed> last;
  for (Cmd cmd = 0; cmd < wanted.size(); ++cmd) {
    std::vector<Timed>& list = free_walk_.completed[cmd] ? first : last;
    if ((wanted[cmd] & kStarts) != 0) list.push_back({hard_.started[cmd], cmd, false});
    if ((wanted[cmd] & kCompletes) != 0) list.push_back({hard_.completed[cmd], cmd, true});
  }
  std::ranges::sort(first, {}, &Timed::time);
  std::ranges::sort(last, {}, &Timed::time);
  for (const Timed& t : first) emit(t.cmd, t.complete, done, steps);
  for (const Move& move : route.moves) {
    for (std::uint32_t at = chains_[move.queue].free; at < move.to; ++at) {
      emit(program_.queue_commands[move.queue][at / 2], at % 2 == 1, done, steps);
    }
  }
  for (const Timed& t : last) emit(t.cmd, t.complete, done, steps);
}

/// Each queue goes on towards its stop as long as it finds the tokens. Where all is over.
OneSemaphore::State OneSemaphore::run_towards(const State& stops, std::vector<Move>& moves) const {
  State at(chains_.size());
  for (std::size_t q = 0; q < at.size(); ++q) at[q] = chains_[q].free;
  std::int64_t there = tokens(at);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t q = 0; q < at.size(); ++q) {
      const Chain& chain = chains_[q];
      const std::uint32_t from = at[q];
      while (at[q] < stops[q] && chain.need[at[q]] <= there) {
        there += chain.tokens[at[q] + 1] - chain.tokens[at[q]];
        ++at[q];
      }
      if (at[q] == from) continue;
      moves.push_back({q, at[q]});
      moved = true;
    }
  }
  return at;
}

/// The stops with the fewest tokens, if fewer than `need`: starts that want at least that, and ends
/// of queues, but not the ends of all.
std::optional<OneSemaphore::State> OneSemaphore::stops_below(std::int64_t need) const {
  State stops(chains_.size());
  std::int64_t there = initial_;
  std::optional<std::int64_t> dearer;  // What it costs at least that not all is at its end.
  std::pair<std::size_t, std::uint32_t> instead;
  bool all_end = true;
  for (std::size_t q = 0; q < chains_.size(); ++q) {
    const Chain& chain = chains_[q];
    std::optional<std::uint32_t> best;
    for (std::uint32_t at = chain.free; at < chain.core; ++at) {
      if (chain.need[at] < need) continue;
      if (!best || chain.tokens[at] < chain.tokens[*best]) best = at;
    }
    const std::int64_t end = chain.tokens[chain.core];
    stops[q] = best && chain.tokens[*best] <= end ? *best : chain.core;
    all_end = all_end && stops[q] == chain.core;
    there += chain.tokens[stops[q]];
    if (best && stops[q] == chain.core && (!dearer || chain.tokens[*best] - end < *dearer)) {
      dearer = chain.tokens[*best] - end;
      instead = {q, *best};
    }
  }
  if (all_end) {
    if (!dearer) return std::nullopt;
    there += *dearer;
    stops[instead.first] = instead.second;
  }
  return there < need ? std::optional(stops) : std::nullopt;
}

std::optional<OneSemaphore::Stuck> OneSemaphore::deadlock(bool& is_unknown) {
  State ends(chains_.size());
  std::set<std::int64_t> needs;
  for (std::size_t q = 0; q < chains_.size(); ++q) {
    ends[q] = chains_[q].core;
    needs.insert(chains_[q].need.begin(), chains_[q].need.begin() + ends[q]);
  }
  needs.erase(0);
  Route route;
  bool found = false;
  is_unknown = false;
  for (auto need = needs.begin(); need != needs.end() && !found; ++need) {
    const std::optional<State> stops = stops_below(*need);
    if (!stops) continue;
    route.moves.clear();
    route.state = run_towards(*stops, route.moves);
    const std::int64_t there = tokens(route.state);
    found = route.state != ends;
    for (std::size_t q = 0; q < ends.size() && found; ++q) {
      found = route.state[q] == ends[q] || chains_[q].need[route.state[q]] > there;
    }
    is_unknown = is_unknown || !found;
  }
  if (!found && !walk_.all_completed) {
    route.moves.clear();
    route.state = run_towards(ends, route.moves);
    found = true;
  }
  if (!found) return std::nullopt;
  is_unknown = false;
  Stuck stuck;
  Stage rest;  // All that can happen besides.
  for (Cmd cmd : hard_.order) {
    State goal = goal_of({.reach = {{cmd, true}}});
    for (std::size_t q = 0; q < ends.size(); ++q) goal[q] = std::min(goal[q], ends[q]);
    if (std::ranges::equal(goal, route.state, std::ranges::less_equal())) {
      rest.reach.push_back({cmd, true});
    }
  }
  std::vector<std::uint8_t> done(program_.instances.size(), 0);
  add_steps(route, rest, done, stuck.steps);
  if (!hard_.all_completed) stuck.blocked = blocked_commands(program_, hard_);
  for (std::size_t q = 0; q < ends.size(); ++q) {
    if (route.state[q] == ends[q]) continue;
    const Cmd cmd = program_.queue_commands[q][route.state[q] / 2];
    stuck.blocked.push_back({.cmd = cmd, .semaphore = semaphore()});
  }
  return stuck;
}

}  // namespace memverify
