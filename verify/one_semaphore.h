// verify/one_semaphore.h -- exact order where several queues take from one semaphore.
//
// Problem: a start that takes may disable another start, so the greedy run no longer reaches all
//   that some run reaches. For one semaphore, and parallel chains without an order of their own
//   while they take, what can be reached is still decidable in polynomial time.
// Idea: a *state* says how far each serial queue has come, in instants; its tokens are a sum over
//   the queues, whatever the way to it. Everything is one question, `find`: is there a run that
//   does these instants and none of those? What must not happen bounds every queue (what needs it
//   may not happen either), what must happen is at least so far on every queue.
//   - Up: while some queue can go on to an instant with no fewer tokens than now, it does. That
//     never hurts: any run can be done from there on, each queue with at least the tokens it had.
//   - Down: from there on every reachable instant of every queue costs tokens, on balance. So the
//     queues that are not far enough go exactly as far as they must, and others stand still. If
//     only one is left, or none can regain tokens beyond its goal, the end is known, and the way
//     to it is found backwards, where the same argument holds: going back to an instant with no
//     fewer tokens never hurts. If several are left, each may also end where it has the most
//     tokens so far beyond its goal: all combinations are tried, up to a limit.
// Shape: all queues complete in order; no other counts; a command that needs a token (some command
//   before it takes) and from which a take or signal can be reached needs of the commands that
//   need tokens only those of its own queue. So commands are *free* (they need no token), *core*
//   (on such chains) or *tail* (nothing depends on them that takes or signals).
// Order: a must come before b iff no run starts b without completing a. Two commands of which
//   neither must come first may, unlike in monotone plans, still never be open together (a mutex):
//   `both_open` asks.
// Deadlock: of starts that all want k tokens, some run gets stuck iff there are stops (starts that
//   take, or the ends of the queues; not all ends) with fewer than k tokens. Walk towards them,
//   no queue further than its stop: while there are k tokens a queue that has not arrived goes on,
//   and when there are not, the run is stuck there. With several amounts the walk may fail; then
//   it is not known.
// Cost: O(instants) a question; for the clocks O(queues) questions an instant.
// Example: two permits, and on three queues take, work, signal. No `work` must come before another;
//   any two are open together; a fourth command that waits for all three comes after all.
// Reference: Klein, Lu, Netzer, Detecting race conditions in parallel programs that use semaphores,
//   Algorithmica 35, 2003; Abdel-Wahab, Kameda, Scheduling to minimize maximum cumulative cost
//   subject to series-parallel precedence constraints, Operations Research 26, 1978.
// Tested by tests/unit/verify/one_semaphore_test.cpp, tests/agreement/one_semaphore_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/finding.h"
#include "verify/order.h"
#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {

class OneSemaphore {
 public:
  /// Of a program with contended semaphores, which must outlive the result.
  explicit OneSemaphore(const Program& program);

  /// Not empty: the program has not the shape that is decided, and why. Nothing else may be asked.
  const std::string& obstacle() const { return obstacle_; }
  SemaphoreId semaphore() const { return program_.contended.front(); }
  /// Some question took too long: what was answered since may be wrong.
  bool gave_up() const { return gave_up_; }

  /// What some run reaches, in an order that keeps `order`; no run need have all of it.
  /// `all_completed`: some run does everything.
  const Walk& walk() const { return walk_; }
  const Order& order() const { return *order_; }

  /// One instant of a command of a queue, or the start of any command.
  struct Instant {
    Cmd cmd = kNoCmd;
    bool complete = false;
  };
  /// A part of a run: it does `reach` and nothing of `avoid`.
  struct Stage {
    std::vector<Instant> reach;
    std::vector<Instant> avoid;
    bool everything = false;  ///< It completes everything.
  };
  /// A run with these parts, one after the other, each from where the one before happened to end:
  /// with several parts nullopt does not say that there is none. No queue could stop earlier.
  std::optional<std::vector<Step>> run(const std::vector<Stage>& stages);
  /// Exact: is there a run of this one part?
  bool can(const Stage& stage);
  /// Some run has both commands started and neither completed.
  bool both_open(Cmd a, Cmd b);

  struct Stuck {
    std::vector<Step> steps;
    std::vector<Blocked> blocked;
  };
  /// A run that gets stuck. nullopt: there is none, or `is_unknown` is set.
  std::optional<Stuck> deadlock(bool& is_unknown);

 private:
  using State = std::vector<std::uint32_t>;  ///< By queue: how many instants have happened.
  struct Chain {
    std::vector<std::int64_t> need;    ///< By instant: tokens that must be there before it.
    std::vector<std::int64_t> tokens;  ///< Before each instant, and at the end: the sum of changes.
    std::uint32_t free = 0;            ///< Instants that need no token.
    std::uint32_t core = 0;            ///< Instants up to the last one of the core.
    std::uint32_t end = 0;             ///< Instants that need nothing that never happens.
  };
  struct Move {
    std::size_t queue = 0;
    std::uint32_t to = 0;
  };
  struct Route {
    std::vector<Move> moves;
    State state;
  };
  struct Segment {
    std::uint32_t end = 0;  ///< Where there are as many tokens again; as far as looked if nowhere.
    std::int64_t need = 0;
    bool found = false;
  };

  bool has_shape();
  bool is_core_fit(Cmd cmd);
  void make_chains(const std::vector<std::uint8_t>& leads_on);
  void find_order();
  /// What must complete before `cmd` starts, tokens aside.
  std::vector<Cmd> needed_by(Cmd cmd) const;

  void bound(State& limit, std::size_t queue, std::uint32_t instants) const;
  std::optional<State> limit_of(const Stage& stage, const State& caps) const;
  State goal_of(const Stage& stage) const;
  std::optional<Route> find(const Stage& stage, const State& from, const State& caps);
  std::optional<Route> find(const State& goal, State limit, const State& from);
  Segment up(std::size_t queue, std::uint32_t from, std::uint32_t limit);
  Segment down(std::size_t queue, std::uint32_t from, std::uint32_t limit);
  std::optional<std::vector<Move>> descend(const State& top, const State& goal);
  std::optional<Route> descend_to_any(Route route, const State& goal, const State& limit);
  std::int64_t tokens(const State& state) const;
  std::optional<std::vector<Route>> routes(const std::vector<Stage>& stages, const State& caps);
  State shrink(const std::vector<Stage>& stages, const State& end);
  State run_towards(const State& stops, std::vector<Move>& moves) const;
  std::optional<State> stops_below(std::int64_t need) const;

  /// Appends to `steps` what of `route` and of `stage` is not in `done` yet.
  void add_steps(const Route& route, const Stage& stage, std::vector<std::uint8_t>& done,
                 std::vector<Step>& steps) const;
  void mark_needed(std::vector<std::uint8_t>& wanted, std::vector<Cmd> stack) const;
  void emit(Cmd cmd, bool complete, std::vector<std::uint8_t>& done,
            std::vector<Step>& steps) const;

  const Program& program_;
  std::string obstacle_;
  Walk hard_;       ///< As if there were always tokens.
  Walk free_walk_;  ///< As if there were never any.
  std::optional<Order> hard_order_;
  std::vector<Chain> chains_;  ///< By queue.
  std::int64_t initial_ = 0;
  State start_, all_;  ///< Nothing has happened; everything has.
  Walk walk_;
  std::optional<Order> order_;
  std::uint64_t work_ = 0;
  bool gave_up_ = false;
  std::map<std::pair<Cmd, Cmd>, bool> open_;
};

}  // namespace memverify
