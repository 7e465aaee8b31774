#include "sim/search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace memverify::sim {
namespace {

/// Puts `what` where `is_same` holds if it is better, or at the end.
template <typename T, typename Same, typename Better>
void keep_better(std::vector<T>& list, T what, const Same& is_same, const Better& is_better) {
  const auto known = std::ranges::find_if(list, is_same);
  if (known == list.end()) {
    list.push_back(std::move(what));
  } else if (is_better(*known)) {
    *known = std::move(what);
  }
}

}  // namespace

int steps_to(const State& state) { return std::accumulate(state.begin(), state.end(), 0); }

bool is_before(const State& a, const State& b) {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

bool is_before(const Hit& a, const Hit& b) {
  return a.state != b.state ? is_before(a.state, b.state) : a.step < b.step;
}

void Search::add(Deadlock deadlock) {
  const auto is_same = [&](const Deadlock& other) { return other.blocked == deadlock.blocked; };
  const auto is_better = [&](const Deadlock& other) {
    const int mine = steps_to(deadlock.state);
    const int theirs = steps_to(other.state);
    return mine != theirs ? mine < theirs : is_before(deadlock.state, other.state);
  };
  keep_better(deadlocks, deadlock, is_same, is_better);
}

void Search::add(Hit hit) {
  keep_better(
      hits, hit, [&](const Hit& other) { return other.suspect == hit.suspect; },
      [&](const Hit& other) { return is_before(hit, other); });
}

void Search::add(WrongHit what) {
  keep_better(
      wrong, what, [&](const WrongHit& other) { return other.wrong == what.wrong; },
      [&](const WrongHit& other) {
        if (what.state != other.state) return is_before(what.state, other.state);
        return std::pair(what.step, what.versions) < std::pair(other.step, other.versions);
      });
}

void Search::take(Search other) {
  for (Hit& hit : std::exchange(other.hits, {})) add(std::move(hit));
  for (Deadlock& deadlock : std::exchange(other.deadlocks, {})) add(std::move(deadlock));
  for (WrongHit& what : std::exchange(other.wrong, {})) add(std::move(what));
  append(std::move(other));
}

void Search::append(Search other) {
  const auto move_to = [](auto& all, auto& more) {
    all.insert(all.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  };
  states += other.states;
  transitions += other.transitions;
  common_states += other.common_states;
  common_transitions += other.common_transitions;
  runs += other.runs;
  failing_runs += other.failing_runs;
  if (stopped.empty()) stopped = std::move(other.stopped);
  move_to(hits, other.hits);
  move_to(deadlocks, other.deadlocks);
  move_to(wrong, other.wrong);
  reaches_end |= other.reaches_end;
}

CommandId first_incomplete(const Model& model, const State& state) {
  CommandId first = kNone<CommandId>;
  for (ChainId chain = 0; chain < model.chains(); ++chain) {
    if (state[chain] == model.last[chain]) continue;
    first = std::min(first, model.command_of_step[model.first_step[chain] + state[chain]]);
  }
  return first;
}

}  // namespace memverify::sim
