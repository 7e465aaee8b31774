#include "verify/one_semaphore.h"

#include <algorithm>
#include <utility>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::uint64_t kMaxSemaphoreWork = std::uint64_t{1} << 28;  // Instants looked at.
constexpr std::size_t kMaxTops = 256;  // Ends that several queues together are tried with.

bool reaches(const std::vector<std::uint32_t>& state, const std::vector<std::uint32_t>& goal) {
  return std::ranges::equal(goal, state, std::ranges::less_equal());
}

}  // namespace

OneSemaphore::OneSemaphore(const Program& program) : program_(program) {
  if (!has_shape()) return;
  find_order();
}

std::vector<Cmd> OneSemaphore::needed_by(Cmd cmd) const {
  const Instance& instance = program_.instances[cmd];
  const auto needs = program_.needs_of(instance);
  std::vector<Cmd> all(needs.begin(), needs.end());
  if (instance.queue != kNone<QueueId> && instance.queue_index > 0) {
    all.push_back(program_.queue_commands[index(instance.queue)][instance.queue_index - 1]);
  }
  if (instance.thread_before != kNoCmd) all.push_back(instance.thread_before);
  return all;
}

bool OneSemaphore::has_shape() {
  const Plan& plan = *program_.plan;
  const auto refuse = [&](std::string why) {
    obstacle_ = std::move(why);
    return false;
  };
  if (program_.contended.size() > 1) {
    return refuse("the same holds for " + quoted(plan.semaphores[program_.contended[1]].name));
  }
  for (QueueId q : ids(plan.queues)) {
    if (completes_in_order(plan.queues[q].order) || program_.queue_commands[index(q)].empty())
      continue;
    return refuse("queue " + quoted(plan.queues[q].name) + " does not complete in order");
  }
  if (!program_.thresholds.empty()) return refuse("other waits count too");
  std::vector<std::uint8_t> leads_on(program_.instances.size(), 0);
  std::vector<std::uint8_t> only(program_.instances.size(), 1);
  std::int64_t sum = initial_ = program_.layout->value(plan.semaphores[semaphore()].initial);
  const auto uses = [&](Cmd cmd, std::int64_t amount) {
    leads_on[cmd] = 1;
    if (program_.instances[cmd].queue == kNone<QueueId>) {
      return refuse(quoted(program_.op(cmd).name) + " is on no queue");
    }
    return !__builtin_add_overflow(sum, amount, &sum) || refuse("the amounts pass 64 bits");
  };
  for (const Take& take : program_.takes) {
    only[take.cmd] = 0;
    if (!uses(take.cmd, take.value)) return false;
  }
  for (const SignalInstance& signal : program_.signals[index(semaphore())]) {
    if (!uses(signal.cmd, signal.value)) return false;
  }
  hard_ = memverify::walk(program_);
  free_walk_ = memverify::walk(program_, {}, &only);
  for (auto at = hard_.order.rbegin(); at != hard_.order.rend(); ++at) {
    if (program_.op(*at).kind == OpKind::kUnknown) return refuse("an unknown command may run");
    if (!leads_on[*at]) continue;
    for (Cmd other : needed_by(*at)) leads_on[other] = 1;
  }
  for (Cmd cmd : hard_.order) {
    if (!free_walk_.completed[cmd] && leads_on[cmd] && !is_core_fit(cmd)) return false;
  }
  make_chains(leads_on);
  return true;
}

bool OneSemaphore::is_core_fit(Cmd cmd) {
  const QueueId queue = program_.instances[cmd].queue;
  if (queue == kNone<QueueId>) {
    obstacle_ = quoted(program_.op(cmd).name) + " orders several queues between their takes";
  }
  for (Cmd other : needed_by(cmd)) {
    // What is not free here is core: `cmd` leads on.
    if (free_walk_.completed[other] || program_.instances[other].queue == queue) continue;
    obstacle_ = quoted(program_.op(cmd).name) + " waits for " + quoted(program_.op(other).name) +
                " of another queue between takes";
  }
  return obstacle_.empty();
}

void OneSemaphore::make_chains(const std::vector<std::uint8_t>& leads_on) {
  std::vector<std::int64_t> need(program_.instances.size(), 0);
  std::vector<std::int64_t> taken(program_.instances.size(), 0);
  std::vector<std::int64_t> given(program_.instances.size(), 0);
  for (const Take& take : program_.takes) {
    need[take.cmd] = std::max(need[take.cmd], taken[take.cmd] + take.value);
    if (take.consume) taken[take.cmd] += take.value;
  }
  for (const SignalInstance& signal : program_.signals[index(semaphore())]) {
    given[signal.cmd] += signal.value;
  }
  for (const std::vector<Cmd>& commands : program_.queue_commands) {
    Chain chain{.tokens = {0}};
    for (Cmd cmd : commands) {
      if (!hard_.completed[cmd]) break;
      chain.need.insert(chain.need.end(), {need[cmd], 0});
      chain.tokens.push_back(chain.tokens.back() - taken[cmd]);
      chain.tokens.push_back(chain.tokens.back() + given[cmd]);
      chain.end += 2;
      if (free_walk_.completed[cmd]) {
        chain.free = chain.core = chain.end;
      } else if (leads_on[cmd]) {
        chain.core = chain.end;
      }
    }
    start_.push_back(0);
    all_.push_back(chain.end);
    chains_.push_back(std::move(chain));
  }
  hard_order_.emplace(program_, hard_);
}

/// Nothing of a queue happens that needs more than the first `instants` of `queue`.
void OneSemaphore::bound(State& limit, std::size_t queue, std::uint32_t instants) const {
  limit[queue] = std::min(limit[queue], instants);
  if (instants >= all_[queue]) return;
  for (std::size_t q = 0; q < chains_.size(); ++q) {
    if (q == queue) continue;
    const auto first = program_.queue_commands[q].begin();
    const auto at = std::partition_point(first, first + limit[q] / 2, [&](Cmd cmd) {
      return hard_order_->completed(cmd, static_cast<std::uint32_t>(queue)) <= instants / 2;
    });
    const auto allowed = static_cast<std::uint32_t>(at - first);
    if (allowed < (limit[q] + 1) / 2) {
      // The command at `limit` may be bound to start only: it is looked at too.
      const bool is_half = allowed == limit[q] / 2;
      if (!is_half || hard_order_->completed(*at, static_cast<std::uint32_t>(queue)) > instants / 2)
        limit[q] = 2 * allowed;
    }
  }
}

std::optional<OneSemaphore::State> OneSemaphore::limit_of(const Stage& stage,
                                                          const State& caps) const {
  State limit = all_;
  for (std::size_t q = 0; q < caps.size(); ++q) bound(limit, q, caps[q]);
  for (const Instant& instant : stage.avoid) {
    const Instance& instance = program_.instances[instant.cmd];
    bound(limit, index(instance.queue), 2 * instance.queue_index + (instant.complete ? 1 : 0));
  }
  return reaches(limit, goal_of(stage)) ? std::optional(limit) : std::nullopt;
}

OneSemaphore::State OneSemaphore::goal_of(const Stage& stage) const {
  if (stage.everything) return all_;
  State goal = start_;
  for (const Instant& instant : stage.reach) {
    for (std::uint32_t q = 0; q < goal.size(); ++q) {
      goal[q] = std::max(goal[q], 2 * hard_order_->completed(instant.cmd, q));
    }
    const Instance& instance = program_.instances[instant.cmd];
    if (instance.queue == kNone<QueueId>) continue;
    std::uint32_t& own = goal[index(instance.queue)];
    own = std::max(own, 2 * instance.queue_index + (instant.complete ? 2 : 1));
  }
  return goal;
}

std::optional<OneSemaphore::Route> OneSemaphore::find(const Stage& stage, const State& from,
                                                      const State& caps) {
  const std::optional<State> limit = limit_of(stage, caps);
  if (!limit || !reaches(*limit, from)) return std::nullopt;
  return find(goal_of(stage), *limit, from);
}

std::optional<OneSemaphore::Route> OneSemaphore::find(const State& whole_goal, State limit,
                                                      const State& from) {
  State goal = whole_goal;
  Route route;
  route.state = from;
  for (std::size_t q = 0; q < chains_.size(); ++q) {
    goal[q] = std::min(goal[q], chains_[q].core);
    limit[q] = std::min(limit[q], chains_[q].core);
    route.state[q] = std::max(from[q], std::min(limit[q], chains_[q].free));
  }
  std::int64_t there = tokens(route.state);
  std::vector<Segment> next;
  for (std::size_t q = 0; q < chains_.size(); ++q) next.push_back(up(q, route.state[q], limit[q]));
  for (bool moved = true; moved && !gave_up_;) {
    moved = false;
    for (std::size_t q = 0; q < chains_.size(); ++q) {
      while (next[q].found && next[q].need <= there) {
        there += chains_[q].tokens[next[q].end] - chains_[q].tokens[route.state[q]];
        route.state[q] = next[q].end;
        route.moves.push_back({q, route.state[q]});
        next[q] = up(q, route.state[q], limit[q]);
        moved = true;
      }
    }
  }
  if (gave_up_) return std::nullopt;
  return descend_to_any(std::move(route), goal, limit);
}

std::int64_t OneSemaphore::tokens(const State& state) const {
  std::int64_t sum = initial_;
  for (std::size_t q = 0; q < chains_.size(); ++q) sum += chains_[q].tokens[state[q]];
  return sum;
}

/// The shortest way on to where there are at least as many tokens.
OneSemaphore::Segment OneSemaphore::up(std::size_t queue, std::uint32_t from, std::uint32_t limit) {
  const Chain& chain = chains_[queue];
  Segment segment{.end = from};
  while (!segment.found && segment.end < limit) {
    const std::uint32_t at = segment.end++;
    segment.need = std::max(segment.need, chain.need[at] - chain.tokens[at] + chain.tokens[from]);
    segment.found = chain.tokens[segment.end] >= chain.tokens[from];
  }
  work_ += segment.end - from + 1;
  gave_up_ = gave_up_ || work_ > kMaxSemaphoreWork;
  return segment;
}

/// The shortest way back to where there are at least as many tokens; `need` counts those at `from`.
OneSemaphore::Segment OneSemaphore::down(std::size_t queue, std::uint32_t from,
                                         std::uint32_t limit) {
  const Chain& chain = chains_[queue];
  Segment segment{.end = from};
  while (!segment.found && segment.end > limit) {
    const std::uint32_t at = --segment.end;
    segment.need = std::max(segment.need, chain.need[at] - chain.tokens[at] + chain.tokens[from]);
    segment.found = chain.tokens[at] >= chain.tokens[from];
  }
  work_ += from - segment.end + 1;
  gave_up_ = gave_up_ || work_ > kMaxSemaphoreWork;
  return segment;
}

/// From `top`, where every queue has the most tokens within its bounds, down to exactly `goal`.
std::optional<std::vector<OneSemaphore::Move>> OneSemaphore::descend(const State& top,
                                                                     const State& goal) {
  std::vector<Move> moves;
  State at = goal;
  std::int64_t there = tokens(goal);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t q = 0; q < chains_.size(); ++q) {
      if (at[q] == top[q]) continue;
      const Segment back = down(q, at[q], top[q]);
      if (!back.found) return std::nullopt;
      if (back.need > there) continue;
      moves.push_back({q, at[q]});
      there += chains_[q].tokens[back.end] - chains_[q].tokens[at[q]];
      at[q] = back.end;
      moved = true;
    }
  }
  if (at != top) return std::nullopt;
  std::ranges::reverse(moves);
  return moves;
}

std::optional<OneSemaphore::Route> OneSemaphore::descend_to_any(Route route, const State& goal,
                                                                const State& limit) {
  const std::int64_t there = tokens(route.state);
  std::vector<std::size_t> behind;
  for (std::size_t q = 0; q < chains_.size(); ++q) {
    if (route.state[q] < goal[q]) behind.push_back(q);
  }
  // By queue that is behind: where it may end, its goal first.
  std::vector<std::vector<std::uint32_t>> ends;
  std::size_t tops = 1;
  for (std::size_t q : behind) {
    const Chain& chain = chains_[q];
    ends.emplace_back();
    const std::int64_t others = there - chain.tokens[route.state[q]];
    const std::uint32_t last = behind.size() == 1 ? goal[q] : limit[q];
    std::uint32_t at = route.state[q];
    for (; at <= last; ++at) {
      const bool is_more =
          !ends.back().empty() && chain.tokens[at] > chain.tokens[ends.back().back()];
      if (at == goal[q] || is_more) ends.back().push_back(at);
      if (at == last || others + chain.tokens[at] < chain.need[at]) break;
    }
    if (ends.back().empty()) return std::nullopt;
    tops *= ends.back().size();
    if (tops > kMaxTops) {
      gave_up_ = true;
      return std::nullopt;
    }
  }
  for (std::size_t choice = 0; choice < tops; ++choice) {
    State end = route.state;
    std::size_t rest = choice;
    for (std::size_t k = 0; k < behind.size(); ++k) {
      end[behind[k]] = ends[k][rest % ends[k].size()];
      rest /= ends[k].size();
    }
    if (const auto moves = descend(route.state, end)) {
      route.moves.insert(route.moves.end(), moves->begin(), moves->end());
      route.state = std::move(end);
      return route;
    }
  }
  return std::nullopt;
}

bool OneSemaphore::can(const Stage& stage) { return find(stage, start_, all_).has_value(); }

bool OneSemaphore::both_open(Cmd a, Cmd b) {
  const auto [at, is_new] = open_.try_emplace(std::minmax(a, b), false);
  if (is_new) at->second = can({.reach = {{a}, {b}}, .avoid = {{a, true}, {b, true}}});
  return at->second;
}

/// By queue, as much as must come before each command; what does not start in any run has no place.
void OneSemaphore::find_order() {
  const std::size_t width = chains_.size();
  Clocks clocks(width);
  const std::size_t padded = clocks.chunks * Clocks::kChunk;
  clocks.start_row.assign(program_.instances.size(), 0);
  clocks.add_row(std::vector<std::uint32_t>(padded, 0).data());
  walk_.started.assign(program_.instances.size(), 0);
  walk_.completed.assign(program_.instances.size(), 0);
  std::vector<std::pair<std::uint64_t, Cmd>> ranked;
  for (std::size_t own = 0; own < width; ++own) {
    State before = start_;  // The goal of the command before, and what must come before that one.
    std::vector<std::uint32_t> row(padded, 0);
    for (std::uint32_t k = 0; 2 * k < all_[own] && !gave_up_; ++k) {
      const Cmd cmd = program_.queue_commands[own][k];
      const State goal = goal_of({.reach = {{cmd}}});
      State core = goal;
      for (std::size_t q = 0; q < width; ++q) core[q] = std::min(core[q], chains_[q].core);
      const bool is_same = std::exchange(before, core) == core || free_walk_.completed[cmd];
      if (!is_same && !find(goal, all_, start_)) break;
      std::uint64_t rank = k;
      for (std::size_t q = 0; q < width; ++q) {
        if (q == own) continue;
        row[q] = std::max(row[q], hard_order_->completed(cmd, static_cast<std::uint32_t>(q)));
        while (!is_same && 2 * row[q] < all_[q]) {
          State limit = all_;
          bound(limit, q, 2 * row[q] + 1);
          if (find(goal, limit, start_) || gave_up_) break;
          ++row[q];
        }
        rank += row[q];
      }
      if (program_.instances[cmd].queue == kNone<QueueId>) continue;
      clocks.start_row[cmd] = static_cast<std::uint32_t>(clocks.rows.size());
      clocks.add_row(row.data());
      ranked.emplace_back(rank, cmd);
    }
  }
  std::ranges::sort(ranked);
  std::uint32_t time = 0;
  for (const auto& [rank, cmd] : ranked) {
    walk_.order.push_back(cmd);
    walk_.started[cmd] = ++time;
    walk_.completed[cmd] = ++time;
  }
  walk_.all_completed = hard_.all_completed && can({.everything = true});
  clocks.complete_row = clocks.start_row;
  order_.emplace(*hard_order_, std::move(clocks));
}

}  // namespace memverify
