#include "tests/support/reference_explore.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

namespace memverify::testing {
namespace {

enum Phase : char { kWaiting = '0', kOpen = '1', kDone = '2' };

/// What one byte holds: who wrote it last, and who accumulated to it since.
struct Version {
  int base = kNobody;  ///< A command that clobbered the byte counts from `count()` on.
  std::set<int> accumulates;
  auto operator<=>(const Version&) const = default;
};

struct State {
  std::string phase;       ///< One Phase per command.
  std::u16string version;  ///< Number of the Version of each watched byte; empty in the first pass.
  auto operator<=>(const State&) const = default;
};

struct StateHash {
  std::size_t operator()(const State& state) const {
    return std::hash<std::string>()(state.phase) * 31 + std::hash<std::u16string>()(state.version);
  }
};

class Explorer {
 public:
  Explorer(const Program& program, std::uint64_t max_states)
      : program_(program), plan_(*program.plan), max_states_(max_states) {}

  Exploration run() {
    const std::size_t n = program_.commands.size();
    together_.assign(n, std::vector<bool>(n, false));
    racy_.assign(program_.bytes, false);
    State first;
    first.phase.assign(n, kWaiting);
    visit_all(first, [this](const State& state, bool stuck) { observe(state, stuck); });
    races();
    if (result_.complete) {
      watch_bytes();
      for (const std::size_t byte : watched_) {
        first.version.push_back(number_of({program_.initial_version[byte], {}}));
      }
      visit_all(first, [this](const State& state, bool) { observe_versions(state); });
    }
    return std::move(result_);
  }

 private:
  const Command& at(int c) const { return program_.commands[static_cast<std::size_t>(c)]; }
  static Phase phase(const State& state, int c) {
    return static_cast<Phase>(state.phase[static_cast<std::size_t>(c)]);
  }
  int count() const { return static_cast<int>(program_.commands.size()); }

  // ---- steps ------------------------------------------------------------------------------------

  std::int64_t semaphore(const State& state, SemaphoreId id) const {
    const bool timeline = plan_.semaphores[id].timeline;
    std::int64_t value = program_.initial_semaphore[index(id)];
    for (int c = 0; c < count(); ++c) {
      for (const SemaphoreSignal& signal : at(c).signals) {
        if (signal.semaphore != id || phase(state, c) != kDone) continue;
        value = timeline ? std::max(value, signal.value) : value + signal.value;
      }
      for (const SemaphoreWait& wait : at(c).waits) {
        if (wait.semaphore == id && wait.consume && phase(state, c) != kWaiting)
          value -= wait.value;
      }
    }
    return value;
  }

  bool may_start(const State& state, int c) const {
    const Command& command = at(c);
    for (const int b : command.complete_before_start) {
      if (phase(state, b) != kDone) return false;
    }
    for (const int b : command.start_before_start) {
      if (phase(state, b) == kWaiting) return false;
    }
    for (const Threshold& threshold : command.thresholds) {
      const auto incomplete =
          std::ranges::count_if(threshold.of, [&](int b) { return phase(state, b) != kDone; });
      if (incomplete > threshold.max_incomplete) return false;
    }
    for (const SemaphoreWait& wait : command.waits) {
      std::int64_t needed = wait.value;
      for (const SemaphoreWait& before : command.waits) {
        if (&before == &wait) break;
        if (before.semaphore == wait.semaphore && before.consume) needed += before.value;
      }
      if (semaphore(state, wait.semaphore) < needed) return false;
    }
    return true;
  }

  bool may_complete(const State& state, int c) const {
    return std::ranges::all_of(at(c).complete_before_complete,
                               [&](int b) { return phase(state, b) == kDone; });
  }

  /// The state after the next instant of command `c`, if that may happen.
  std::optional<State> step(const State& state, int c) {
    State next = state;
    char& phase_of_c = next.phase[static_cast<std::size_t>(c)];
    if (phase_of_c == kDone) return std::nullopt;
    if (phase_of_c == kWaiting) {
      if (!may_start(state, c)) return std::nullopt;
      phase_of_c = kOpen;
      return next;
    }
    if (!may_complete(state, c)) return std::nullopt;
    phase_of_c = kDone;
    if (!next.version.empty()) write(next, c);
    return next;
  }

  /// The bytes on which nobody races and whose version somebody looks at.
  void watch_bytes() {
    std::set<std::size_t> bytes;
    auto look = [&](const Touch& touch) {
      for (const int byte : touch.bytes) {
        if (!racy_[index_of(byte)]) bytes.insert(index_of(byte));
      }
    };
    for (const Command& command : program_.commands) {
      for (const Touch& touch : command.touches) {
        if (reads(command, touch)) look(touch);
      }
    }
    for (const EndTouch& end : program_.ends) look(end.touch);
    watched_.assign(bytes.begin(), bytes.end());
  }

  char16_t number_of(const Version& version) {
    const auto [entry, fresh] =
        numbers_.try_emplace(version, static_cast<char16_t>(versions_.size()));
    if (fresh) versions_.push_back(version);
    return entry->second;
  }

  /// nullptr when the byte is not watched.
  const Version* version_of(const State& state, int byte) const {
    const auto found = std::ranges::lower_bound(watched_, index_of(byte));
    if (found == watched_.end() || *found != index_of(byte)) return nullptr;
    return &versions_[state.version[static_cast<std::size_t>(found - watched_.begin())]];
  }

  /// On a byte without a race nobody sees a write that is under way: it is enough that bytes change
  /// when the writer completes.
  void write(State& state, int c) {
    for (const bool accumulates : {true, false}) {  // A write over it in the same command counts.
      for (const Touch& touch : at(c).touches) {
        if (!writes_bytes(touch.kind)) continue;
        if (accumulates != (touch.kind == AccessKind::kAccumulate)) continue;
        write(state, c, touch);
      }
    }
  }
  void write(State& state, int c, const Touch& touch) {
    for (std::size_t k = 0; k < watched_.size(); ++k) {
      if (!std::ranges::binary_search(touch.bytes, static_cast<int>(watched_[k]))) continue;
      Version version = versions_[state.version[k]];
      if (touch.kind == AccessKind::kAccumulate) {
        version.accumulates.insert(c);
      } else if (version.base != c + count()) {  // Its own clobbers spoil what it writes.
        version = {touch.kind == AccessKind::kClobber ? c + count() : c, {}};
      }
      state.version[k] = number_of(version);
    }
  }

  void visit_all(const State& first, const std::function<void(const State&, bool stuck)>& look) {
    std::unordered_set<State, StateHash> seen{first};
    std::deque<State> queue{first};
    while (!queue.empty()) {
      const State state = std::move(queue.front());
      queue.pop_front();
      bool moved = false;
      for (int c = 0; c < count(); ++c) {
        std::optional<State> next = step(state, c);
        if (!next) continue;
        moved = true;
        if (seen.insert(*next).second) queue.push_back(std::move(*next));
      }
      ++result_.states;
      look(state, !moved && !all_done(state));
      if (seen.size() > max_states_) {
        result_.complete = false;
        return;
      }
    }
  }

  bool all_done(const State& state) const {
    return std::ranges::all_of(state.phase, [](char p) { return p == kDone; });
  }

  // ---- first pass -------------------------------------------------------------------------------

  void observe(const State& state, bool stuck) {
    for (int a = 0; a < count(); ++a) {
      if (!is_open(state, a)) continue;
      for (int b = 0; b < count(); ++b) {
        if (b != a && is_open(state, b)) together_[index_of(a)][index_of(b)] = true;
      }
      lifetimes(state, a);
    }
    if (stuck) {
      for (int c = 0; c < count(); ++c) {
        if (phase(state, c) != kDone) report(Rule::kDeadlock, {at(c).op}, {});
      }
    }
    if (all_done(state)) end_lifetimes();
  }

  static std::size_t index_of(int c) { return static_cast<std::size_t>(c); }

  /// An unknown command may touch its bytes until the end of the plan.
  bool is_open(const State& state, int c) const {
    return phase(state, c) == kOpen || (at(c).unknown && phase(state, c) == kDone);
  }

  void lifetimes(const State& state, int c) {
    const Command& command = at(c);
    for (const Touch& touch : command.touches) {
      if (touch.never_allocated) report_access(Rule::kLifetime, c, kNobody, touch.tensor);
      if (touch.alloc != kNobody && phase(state, touch.alloc) != kDone) {
        report_access(Rule::kLifetime, c, touch.alloc, touch.tensor);
      }
      if (touch.free != kNobody && phase(state, touch.free) != kWaiting) {
        report_access(Rule::kLifetime, c, touch.free, touch.tensor);
      }
      for (std::size_t k = 0; k < touch.expects.size(); ++k) {
        if (!reads(command, touch) || touch.expects[k].base != kNobody) continue;
        if (!murky(c, touch.bytes[k])) report_access(Rule::kUnwritten, c, kNobody, touch.tensor);
      }
    }
    if (command.touches_everything) report(Rule::kNotProven, {command.op}, {});  // Unwritten bytes.
    const int previous = command.previous_lifetime;
    if (command.wrong_lifetime || (previous != kNobody && phase(state, previous) != kDone)) {
      report_access(Rule::kLifetime, c, previous, kNone<TensorId>);
    }
  }

  void end_lifetimes() {
    for (const EndTouch& end : program_.ends) {
      if (end.touch.never_allocated) report(Rule::kLifetime, {}, {end.touch.tensor});
      if (end.touch.free != kNobody) {
        report(Rule::kLifetime, {at(end.touch.free).op}, {end.touch.tensor});
      }
      for (std::size_t k = 0; k < end.touch.bytes.size(); ++k) {
        if (end.touch.expects[k].base != kNobody || murky(kNobody, end.touch.bytes[k])) continue;
        report(Rule::kUnwritten, {}, {end.touch.tensor});
      }
    }
  }

  /// An unknown command is taken to read and write all that it lists.
  static bool reads(const Command& command, const Touch& touch) {
    return command.unknown || touch.kind == AccessKind::kRead;
  }
  static bool writes(const Command& command, const Touch& touch) {
    return command.unknown || writes_bytes(touch.kind);
  }

  bool commute(const Touch& a, const Touch& b) const {
    return a.kind == AccessKind::kAccumulate && b.kind == AccessKind::kAccumulate &&
           a.update == b.update && plan_.tensors[a.tensor].dtype == plan_.tensors[b.tensor].dtype;
  }

  void races() {
    for (int a = 0; a < count(); ++a) {
      for (int b = a + 1; b < count(); ++b) {
        if (together_[index_of(a)][index_of(b)]) race(a, b);
      }
    }
  }

  void race(int a, int b) {
    const bool unknown = at(a).unknown || at(b).unknown;
    std::set<Rule> ways;
    for (const Touch& x : at(a).touches) {
      for (const Touch& y : at(b).touches) {
        const bool x_writes = writes(at(a), x);
        const bool y_writes = writes(at(b), y);
        if ((!x_writes && !y_writes) || (!unknown && commute(x, y))) continue;
        for (const int byte : x.bytes) {
          if (std::ranges::count(y.bytes, byte) == 0) continue;
          ways.insert(!x_writes ? Rule::kWar : !y_writes ? Rule::kRaw : Rule::kWaw);
          if (!unknown) racy_[static_cast<std::size_t>(byte)] = true;
        }
      }
    }
    if (ways.empty()) return;
    if (at(a).unknown) report(Rule::kNotProven, {at(a).op}, {});
    if (at(b).unknown) report(Rule::kNotProven, {at(b).op}, {});
    if (unknown) return;
    Finding finding;
    finding.rule = *ways.begin();
    finding.also.assign(std::next(ways.begin()), ways.end());
    finding.ops = {at(a).op, at(b).op};
    result_.findings.add(finding);
  }

  // ---- second pass ------------------------------------------------------------------------------

  void observe_versions(const State& state) {
    for (int c = 0; c < count(); ++c) {
      if (phase(state, c) != kOpen) continue;
      for (const Touch& touch : at(c).touches) {
        if (!reads(at(c), touch)) continue;
        for (std::size_t k = 0; k < touch.expects.size(); ++k) {
          check_read(state, c, touch.bytes[k], touch.expects[k]);
        }
      }
    }
    if (!all_done(state)) return;
    for (const EndTouch& end : program_.ends) {
      for (std::size_t k = 0; k < end.touch.bytes.size(); ++k) check_end(state, end, k);
    }
  }

  /// Reports every unknown command but `reader` that may touch the byte in this run.
  bool murky(int reader, int byte) {
    bool found = false;
    for (int c = 0; c < count(); ++c) {
      if (c == reader || !at(c).unknown) continue;
      for (const Touch& touch : at(c).touches) {
        if (!std::ranges::binary_search(touch.bytes, byte)) continue;
        report(Rule::kNotProven, {at(c).op}, {});
        found = true;
      }
    }
    return found;
  }

  void check_read(const State& state, int reader, int byte, const Expected& expected) {
    const Version* found = version_of(state, byte);
    if (found == nullptr || expected.base == kNobody) return;
    const Version& version = *found;
    const std::set<int> wanted(expected.accumulates.begin(), expected.accumulates.end());
    if (version.base == expected.base && version.accumulates == wanted) return;
    if (murky(reader, byte)) return;
    bool named = false;
    for (const int a : version.accumulates) {
      if (version.base == expected.base && wanted.contains(a)) continue;
      wrong_version(reader, a, expected);
      named = true;
    }
    if (version.base != expected.base || !named) wrong_version(reader, version.base, expected);
  }

  /// Called for every op that has a part in what the reader finds and should not, or for the writer
  /// where an accumulate is missing: the format asks for one op, an engine may name any.
  void wrong_version(int reader, int found, const Expected& expected) {
    const bool needs_unknown =
        at(reader).unknown || (expected.base >= 0 && at(expected.base).unknown);
    if (needs_unknown) {
      const OpId op = at(reader).unknown ? at(reader).op : at(expected.base).op;
      return report(Rule::kNotProven, {op}, {});
    }
    if (found < 0) return report(Rule::kWrongVersion, {at(reader).op}, {});
    found %= count();
    const int first = std::min(reader, found);
    report(Rule::kWrongVersion, {at(first).op, at(reader + found - first).op}, {});
  }

  void check_end(const State& state, const EndTouch& end, std::size_t k) {
    const int byte = end.touch.bytes[k];
    const Expected& expected = end.touch.expects[k];
    const Version* found = version_of(state, byte);
    if (found == nullptr || expected.base == kNobody || murky(kNobody, byte)) return;
    const Version& version = *found;
    const std::set<int> wanted(expected.accumulates.begin(), expected.accumulates.end());
    if (version.base == expected.base && version.accumulates == wanted) return;
    if (end.own_family_may_write && only_own_family(version, end.touch, byte)) return;
    report(Rule::kBoundary, {}, {end.touch.tensor});
  }

  bool only_own_family(const Version& version, const Touch& end, int byte) const {
    std::set<int> authors = version.accumulates;
    if (version.base >= 0) authors.insert(version.base % count());
    if (version.base == kNobody) return false;
    return std::ranges::all_of(authors, [&](int c) {
      return std::ranges::any_of(at(c).touches, [&](const Touch& touch) {
        return writes_bytes(touch.kind) && touch.tensor != kNone<TensorId> &&
               plan_.tensors[touch.tensor].root == plan_.tensors[end.tensor].root &&
               std::ranges::count(touch.bytes, byte) > 0;
      });
    });
  }

  // ---- findings ---------------------------------------------------------------------------------

  /// `other` is the alloc or free, or kNobody.
  void report_access(Rule rule, int c, int other, TensorId tensor) {
    if (at(c).unknown) return report(Rule::kNotProven, {at(c).op}, {});
    std::vector<OpId> ops{at(c).op};
    if (other != kNobody) ops.push_back(at(other).op);
    report(rule, ops, tensor == kNone<TensorId> ? std::vector<TensorId>{} : std::vector{tensor});
  }

  void report(Rule rule, std::vector<OpId> ops, std::vector<TensorId> tensors) {
    result_.findings.add(rule, std::move(ops), std::move(tensors));
  }

  const Program& program_;
  const Plan& plan_;
  std::uint64_t max_states_;
  Exploration result_;
  std::vector<std::vector<bool>> together_;  ///< Open at once in some state.
  std::vector<bool> racy_;                   ///< Per byte.
  std::vector<std::size_t> watched_;         ///< Bytes, ascending.
  std::vector<Version> versions_;            ///< By number.
  std::map<Version, char16_t> numbers_;
};

}  // namespace

Exploration explore(const Program& program, std::uint64_t max_states) {
  return Explorer(program, max_states).run();
}

}  // namespace memverify::testing
