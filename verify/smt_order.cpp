#include "verify/smt_order.h"

#include <algorithm>
#include <numeric>

namespace memverify::smt {
namespace {

constexpr std::size_t kMaxKnown = 8'000;  ///< Commands.
constexpr int kMaxPasses = 8;
constexpr std::uint64_t kMaxSpent = 200'000'000;
constexpr std::size_t kMaxCounterTerms = 4'000;  ///< Beyond, arithmetic counts.

}  // namespace

Order::Order(const Program& program, Solver& solver, Shortcuts shortcuts)
    : program_(program), solver_(solver), terms_(solver.terms()) {
  every_.resize(program.commands.size());
  std::iota(every_.begin(), every_.end(), Cmd{0});
  sure_.assign(program.commands.size(), 0);
  if (shortcuts == Shortcuts::kKnownOrder) {
    if (program.commands.size() <= kMaxKnown) find_known_order();
    find_sure();
  }
  require_commands();
}

void Order::join(Rows& rows, Cmd from, const Rows& of, Cmd into) const {
  for (std::size_t w = 0; w < row_; ++w) rows[into * row_ + w] |= of[from * row_ + w];
}

/// Facts are learnt from facts until there are no new ones: most in one pass, for needs mostly
/// point backward.
void Order::find_known_order() {
  const std::size_t n = program_.commands.size();
  row_ = (n + 63) / 64;
  known_.assign(n * row_, 0);
  known_started_.assign(n * row_, 0);
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    const Rows before = known_;
    for (Cmd c = 0; c < n; ++c) learn(c);
    if (known_ == before && pass > 0) return;
  }
}

/// What a command that may be dropped needed says nothing when it is.
void Order::learn(Cmd c) {
  for (const Need& need : program_.to_start[c]) {
    if (need.kind == Need::Kind::kSemaphore) {
      learn_signals(c, need);
      continue;
    }
    if (need.kind == Need::Kind::kCount) continue;
    if (need.applies != program_.commands[need.at].present) continue;
    set(known_started_, need.at, c);
    if (need.kind == Need::Kind::kDone) {
      learn_done(c, need.at);
    } else if (program_.always(terms_, need.at)) {
      join(known_, need.at, known_, c);
      join(known_started_, need.at, known_started_, c);
    }
  }
}

void Order::learn_done(Cmd c, Cmd at) {
  set(known_, at, c);
  set(known_started_, at, c);
  if (!program_.always(terms_, at)) return;
  join(known_, at, known_, c);
  join(known_started_, at, known_started_, c);
  for (const Need& need : program_.to_complete[at]) {
    if (need.applies == program_.commands[need.at].present && !get(known_, need.at, c)) {
      learn_done(c, need.at);
    }
  }
}

/// A command is done if the signals that can come without it do not suffice. What others take only
/// makes it worse.
void Order::learn_signals(Cmd c, const Need& need) {
  const SemaphoreUse& use = program_.semaphores[index(need.semaphore)];
  const std::size_t n = program_.commands.size();
  if (use.initial >= need.value || spent_ > kMaxSpent) return;
  spent_ += use.signals.size() * n;
  std::int64_t total = 0;
  std::vector<std::int64_t> with(n, 0);  // By command: what comes only after it.
  for (const Change& signal : use.signals) {
    if (signal.cmd == c || known_started(c, signal.cmd)) continue;
    if (use.timeline && signal.value < need.value) continue;
    const std::int64_t weight = use.timeline ? 1 : signal.value;
    total += weight;
    with[signal.cmd] += get(known_, signal.cmd, signal.cmd) ? 0 : weight;
    for (Cmd a = 0; a < n; ++a) with[a] += get(known_, a, signal.cmd) ? weight : 0;
  }
  const std::int64_t missing = use.timeline ? 1 : need.value - use.initial;
  for (Cmd a = 0; a < n; ++a) {
    if (with[a] != 0 && total - with[a] < missing) {
      set(known_, a, c);
      set(known_started_, a, c);
    }
  }
}

Bool Order::done_before(Cmd a, Cmd b) {
  if (known_before(b, a) || known_started(b, a) || a == b) return terms_.truth(false);
  if (known_before(a, b)) return program_.commands[a].present;
  return terms_.both(program_.commands[a].completed,
                     terms_.at_most(program_.commands[a].complete, program_.commands[b].start));
}

Bool Order::completes_after(Cmd a, Cmd b) {
  if (known_before(a, b) || a == b) return terms_.truth(false);
  if (known_before(b, a)) return terms_.truth(true);
  return terms_.less(program_.commands[b].complete, program_.commands[a].complete);
}

Bool Order::finished(std::span<const Cmd> of) {
  std::vector<Bool> all;
  for (const Cmd c : of) {
    const Command& command = program_.commands[c];
    all.push_back(terms_.implies(command.present, command.completed));
  }
  return terms_.all(std::move(all));
}

/// [S-7], and what every instant needs.
void Order::require_commands() {
  for (std::uint32_t k = 0; k < program_.counts.size(); ++k) {
    met_.push_back({terms_.boolean("count met"), terms_.integer("count met at")});
  }
  require_counts();
  // No count is ever below 0, or below what it was at first. That follows from the rest, but only
  // step by step.
  for (SemaphoreId id : ids<SemaphoreId>(program_.semaphores.size())) {
    const SemaphoreUse& use = program_.semaphores[index(id)];
    if (use.takes.empty()) continue;
    const std::int64_t least = std::min<std::int64_t>(use.initial, 0) - use.initial;
    solver_.require(terms_.at_most(terms_.number(least), balance_now(id)));
  }
  for (Cmd c = 0; c < program_.commands.size(); ++c) {
    const Command& command = program_.commands[c];
    solver_.require(terms_.implies(command.started, command.present));
    solver_.require(terms_.implies(command.completed, command.started));
    solver_.require(
        terms_.implies(command.completed, terms_.less(command.start, command.complete)));
    for (const Need& need : program_.to_start[c]) {
      if (need.kind == Need::Kind::kSemaphore) {
        solver_.require(terms_.implies(command.started, reached(c, need)));
      } else {
        require_need(c, need, command.started, command.start);
      }
    }
    for (const Need& need : program_.to_complete[c]) {
      require_need(c, need, command.completed, command.complete);
    }
  }
}

void Order::require_counts() {
  for (std::size_t k = 0; k < met_.size(); ++k) {
    std::vector<Bool> incomplete;
    for (Cmd c : program_.counts[k].of) {
      const Command& command = program_.commands[c];
      const Bool done =
          terms_.both(command.completed, terms_.at_most(command.complete, met_[k].when));
      incomplete.push_back(terms_.both(command.present, terms_.no(done)));
    }
    solver_.require(terms_.implies(met_[k].holds, few(incomplete, program_.counts[k].most)));
  }
}

Bool Order::few(const std::vector<Bool>& of, std::int64_t most) {
  const std::size_t n = of.size();
  if (most < 0) return terms_.truth(false);
  const auto k = static_cast<std::size_t>(most);
  if (n <= k) return terms_.truth(true);
  if (n * (k + 1) <= kMaxCounterTerms) return terms_.hold_at_most(of, k);
  std::vector<Weighted> not_so;
  for (const Bool a : of) not_so.push_back({terms_.no(a), 1});
  return terms_.weigh_at_least(not_so, static_cast<std::int64_t>(n - k));
}

void Order::require_need(Cmd c, const Need& need, Bool happens, Int when) {
  const Bool asked = terms_.both(happens, need.applies);
  switch (need.kind) {
    case Need::Kind::kDone: {
      const Command& at = program_.commands[need.at];
      solver_.require(terms_.implies(asked, at.completed));
      solver_.require(terms_.implies(asked, terms_.at_most(at.complete, when)));
      return;
    }
    case Need::Kind::kStarted: {
      const Command& at = program_.commands[need.at];
      solver_.require(terms_.implies(asked, at.started));
      solver_.require(terms_.implies(asked, terms_.less(at.start, when)));
      return;
    }
    case Need::Kind::kCount:
      solver_.require(terms_.implies(asked, met_[need.count].holds));
      solver_.require(terms_.implies(asked, terms_.at_most(met_[need.count].when, when)));
      return;
    case Need::Kind::kSemaphore:
      solver_.require(terms_.implies(asked, reached(c, need)));
      return;
  }
}

/// As done_before, without what is known to be done: the needs that taught it must not be read in
/// its light, or they would say nothing.
Bool Order::signalled(Cmd a, Cmd b) {
  if (a == b || known_started(b, a)) return terms_.truth(false);
  return terms_.both(program_.commands[a].completed,
                     terms_.at_most(program_.commands[a].complete, program_.commands[b].start));
}

/// [S-23], [S-24]: at the start of `c`. What others take in the same instant counts as taken, so
/// that starts at one instant may be put in any order.
Bool Order::reached(Cmd c, const Need& need) {
  const SemaphoreUse& use = program_.semaphores[index(need.semaphore)];
  if (use.timeline) {
    std::vector<Bool> some{terms_.truth(use.initial >= need.value)};
    for (const Change& signal : use.signals) {
      if (signal.value >= need.value) some.push_back(signalled(signal.cmd, c));
    }
    return terms_.any(std::move(some));
  }
  if (use.takes.empty() && use.initial >= need.value) return terms_.truth(true);
  std::vector<Bool> missing;
  std::int64_t total = use.initial;
  bool ones = true;
  for (const Change& signal : use.signals) {
    if (signal.value == 0) continue;
    missing.push_back(terms_.no(signalled(signal.cmd, c)));
    total += signal.value;
    ones = ones && signal.value == 1;
  }
  if (use.takes.empty() && ones) return few(missing, total - need.value);
  if (use.takes.empty() && total == need.value) return few(missing, 0);
  const auto taken = [&](Cmd u) {
    if (u == c || known_before(c, u)) return terms_.truth(false);
    const Command& other = program_.commands[u];
    if (known_before(u, c)) return other.present;
    return terms_.both(other.started, terms_.at_most(other.start, program_.commands[c].start));
  };
  const Int balance = sum_up(
      need.semaphore, [&](Cmd x) { return signalled(x, c); }, taken);
  return terms_.at_most(terms_.number(need.value - use.initial), balance);
}

/// What the signals for which `done` holds add, less what the takes for which `taken` holds take. A
/// take and a signal that comes only after it, as of a lock, are one summand: else the solver would
/// have to try which of the many are between the two.
template <typename Done, typename Taken>
Int Order::sum_up(SemaphoreId id, Done&& done, Taken&& taken) {
  const SemaphoreUse& use = program_.semaphores[index(id)];
  std::vector<std::uint8_t> paired(use.signals.size(), 0);
  std::vector<Int> parts;
  const Int nothing = terms_.number(0);
  for (const Change& take : use.takes) {
    const Bool takes = taken(take.cmd);
    const Int less = terms_.number(-take.value);
    Int part = terms_.choose(takes, less, nothing);
    for (std::size_t k = 0; k < use.signals.size(); ++k) {
      const Change& signal = use.signals[k];
      if (paired[k] || signal.value != take.value) continue;
      if (signal.cmd != take.cmd && !known_before(take.cmd, signal.cmd)) continue;
      paired[k] = 1;
      const Bool gives = done(signal.cmd);
      part = terms_.choose(
          terms_.both(takes, gives), nothing,
          terms_.choose(takes, less, terms_.choose(gives, terms_.number(signal.value), nothing)));
      // A signal of the same command, or after it, is not there without the take.
      if (signal.cmd == take.cmd || program_.always(terms_, take.cmd)) {
        part = terms_.choose(terms_.both(takes, terms_.no(gives)), less, nothing);
      }
      break;
    }
    parts.push_back(part);
  }
  for (std::size_t k = 0; k < use.signals.size(); ++k) {
    if (paired[k] || use.signals[k].value == 0) continue;
    parts.push_back(
        terms_.choose(done(use.signals[k].cmd), terms_.number(use.signals[k].value), nothing));
  }
  return terms_.sum(std::move(parts));
}

/// The count of now.
Int Order::balance_now(SemaphoreId id) {
  return sum_up(
      id, [&](Cmd x) { return program_.commands[x].completed; },
      [&](Cmd u) { return program_.commands[u].started; });
}

Bool Order::is_met(const Need& need) {
  switch (need.kind) {
    case Need::Kind::kDone:
      return terms_.implies(need.applies, program_.commands[need.at].completed);
    case Need::Kind::kStarted:
      return terms_.implies(need.applies, program_.commands[need.at].started);
    case Need::Kind::kCount: {
      std::vector<Bool> incomplete;
      for (Cmd c : program_.counts[need.count].of) {
        const Command& command = program_.commands[c];
        incomplete.push_back(terms_.both(command.present, terms_.no(command.completed)));
      }
      return terms_.implies(need.applies, few(incomplete, program_.counts[need.count].most));
    }
    case Need::Kind::kSemaphore:
      break;
  }
  const SemaphoreUse& use = program_.semaphores[index(need.semaphore)];
  if (!use.timeline) {
    return terms_.at_most(terms_.number(need.value - use.initial), balance_now(need.semaphore));
  }
  std::vector<Bool> enough{terms_.truth(use.initial >= need.value)};
  for (const Change& signal : use.signals) {
    if (signal.value >= need.value) enough.push_back(program_.commands[signal.cmd].completed);
  }
  return terms_.any(std::move(enough));
}

Bool Order::cannot_start(Cmd c) {
  std::vector<Bool> unmet;
  for (const Need& need : program_.to_start[c]) unmet.push_back(terms_.no(is_met(need)));
  return terms_.any(std::move(unmet));
}

/// What only ever waits for what is submitted earlier goes on in the end.
bool Order::may_get_stuck() const {
  for (Cmd c = 0; c < program_.commands.size(); ++c) {
    for (const Need& need : program_.to_start[c]) {
      if (need.kind == Need::Kind::kSemaphore) return true;
      if (need.kind == Need::Kind::kDone && need.at >= c) return true;
    }
  }
  return false;
}

Bool Order::maximal() { return may_get_stuck() ? cannot_go_on(every_) : finished(); }

Bool Order::cannot_go_on(std::span<const Cmd> of) {
  std::vector<Bool> all;
  for (const Cmd c : of) {
    const Command& command = program_.commands[c];
    std::vector<Bool> unmet;
    for (const Need& need : program_.to_complete[c]) unmet.push_back(terms_.no(is_met(need)));
    const Bool waits = terms_.either(
        terms_.both(terms_.no(command.started), cannot_start(c)),
        terms_.all({command.started, terms_.no(command.completed), terms_.any(std::move(unmet))}));
    all.push_back(terms_.any({terms_.no(command.present), command.completed, waits}));
  }
  return terms_.all(std::move(all));
}

Bool Order::stuck() {
  if (row_ != 0 && !may_get_stuck()) return terms_.truth(false);
  if (std::ranges::count(sure_, 0) == 0) return terms_.truth(false);
  return terms_.both(maximal(), terms_.no(finished()));
}

Bool Order::stuck(std::span<const Cmd> of) {
  if (std::ranges::all_of(of, [&](Cmd c) { return sure_[c] != 0; })) return terms_.truth(false);
  return terms_.both(cannot_go_on(of), terms_.no(finished(of)));
}

/// Where nobody takes, what happens never keeps anything else from happening: a command whose needs
/// are for sure ones is sure.
void Order::find_sure() {
  std::vector<std::vector<std::pair<SemaphoreId, std::int64_t>>> signals(program_.commands.size());
  for (const SemaphoreId id : ids<SemaphoreId>(program_.semaphores.size())) {
    const SemaphoreUse& use = program_.semaphores[index(id)];
    sure_signals_.push_back({.sum = use.initial, .most = use.initial});
    for (const Change& signal : use.signals) signals[signal.cmd].emplace_back(id, signal.value);
  }
  bool more = true;
  for (int pass = 0; more && pass < kMaxPasses; ++pass) {
    more = false;
    for (const Cmd c : every_) {
      const auto met = [&](const Need& need) { return is_sure(need); };
      if (sure_[c] || !std::ranges::all_of(program_.to_start[c], met) ||
          !std::ranges::all_of(program_.to_complete[c], met)) {
        continue;
      }
      sure_[c] = 1;
      more = true;
      if (!program_.always(terms_, c)) continue;
      for (const auto& [id, value] : signals[c]) {
        Sure& sure = sure_signals_[index(id)];
        sure.sum += value;
        sure.most = std::max(sure.most, value);
      }
    }
  }
}

/// If it applies, it is met in every run that cannot go on.
bool Order::is_sure(const Need& need) const {
  switch (need.kind) {
    case Need::Kind::kDone:
    case Need::Kind::kStarted:
      return sure_[need.at] != 0;
    case Need::Kind::kCount: {
      const Count& count = program_.counts[need.count];
      return std::ranges::count_if(count.of, [&](Cmd c) { return !sure_[c]; }) <= count.most;
    }
    case Need::Kind::kSemaphore:
      break;
  }
  const SemaphoreUse& use = program_.semaphores[index(need.semaphore)];
  const Sure& sure = sure_signals_[index(need.semaphore)];
  return use.takes.empty() && (use.timeline ? sure.most : sure.sum) >= need.value;
}

}  // namespace memverify::smt
