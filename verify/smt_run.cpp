#include "verify/smt_run.h"

#include <algorithm>
#include <tuple>

namespace memverify::smt {
namespace {

constexpr std::size_t kMaxTrials = 400;  ///< Commands that are tried one by one.

bool needs_everything(const Question& question) {
  return question.at_end || question.kind == Question::Kind::kDeadlock;
}

class Minimizer {
 public:
  Minimizer(const Program& program, const Order& order, Solver& solver, const Question& question,
            Run run)
      : program_(program),
        order_(order),
        solver_(solver),
        question_(question),
        run_(std::move(run)) {}

  Run minimize() {
    const std::size_t n = program_.commands.size();
    std::vector<std::uint8_t> keep(n, 0);
    for (Cmd c = 0; c < n; ++c) keep[c] = is_needed(c) ? 1 : 0;
    attempt(keep, kNoCmd);
    std::vector<Cmd> trials;
    for (Cmd c = 0; c < n; ++c) {
      if (run_.started[c] && !is_needed(c)) trials.push_back(c);
    }
    std::ranges::sort(trials, [&](Cmd a, Cmd b) { return run_.start[a] > run_.start[b]; });
    if (trials.size() > kMaxTrials) trials.resize(kMaxTrials);
    for (const Cmd c : trials) {
      if (!run_.started[c]) continue;
      keep = run_.started;
      keep[c] = 0;
      attempt(keep, kNoCmd);
    }
    for (const Cmd c : trials) {
      if (run_.completed[c]) attempt(run_.started, c);
    }
    finish_nothing_in_vain();
    return std::move(run_);
  }

 private:
  bool is_named(Cmd c) const { return c == question_.first || c == question_.second; }
  bool is_needed(Cmd c) const {
    const auto before = [&](Cmd named) {
      return named != kNoCmd && named < program_.commands.size() &&
             program_.always(solver_.terms(), c) && order_.known_before(c, named);
    };
    return is_named(c) || before(question_.first) || before(question_.second);
  }

  /// Takes the run of a model in which nothing starts that `keep` leaves out, if there is one.
  void attempt(const std::vector<std::uint8_t>& keep, Cmd open) {
    std::vector<Bool> assumed = run_.conditions;
    assumed.push_back(question_.hazard);
    Terms& terms = solver_.terms();
    for (Cmd c = 0; c < keep.size(); ++c) {
      if (!keep[c]) assumed.push_back(terms.no(program_.commands[c].started));
      if (c == open || (keep[c] && run_.started[c] && !run_.completed[c])) {
        assumed.push_back(terms.no(program_.commands[c].completed));
      }
    }
    if (solver_.check(assumed) == Answer::kSat) run_ = read_run(program_, solver_);
  }

  /// The named commands end only where something waits for that.
  void finish_nothing_in_vain() {
    for (const Cmd c : {question_.first, question_.second}) {
      if (c != kNoCmd && c < program_.commands.size() && run_.completed[c]) {
        attempt(run_.started, c);
      }
    }
  }

  const Program& program_;
  const Order& order_;
  Solver& solver_;
  const Question& question_;
  Run run_;
};

}  // namespace

Run read_run(const Program& program, Solver& solver) {
  Run run;
  for (const Command& c : program.commands) {
    run.started.push_back(solver.value(c.started) ? 1 : 0);
    run.completed.push_back(solver.value(c.completed) ? 1 : 0);
    run.start.push_back(solver.value(c.start));
    run.complete.push_back(solver.value(c.complete));
  }
  for (const Program::ConditionTerm& condition : program.conditions) {
    const bool holds = solver.value(condition.holds);
    run.conditions.push_back(holds ? condition.holds : solver.terms().no(condition.holds));
  }
  return run;
}

std::vector<Step> steps(const Program& program, const Run& run) {
  std::vector<std::tuple<std::int64_t, bool, Cmd>> instants;  // Time, is it a start, command.
  for (Cmd c = 0; c < program.commands.size(); ++c) {
    if (run.started[c]) instants.emplace_back(run.start[c], true, c);
    if (run.completed[c]) instants.emplace_back(run.complete[c], false, c);
  }
  std::ranges::sort(instants);
  std::vector<Step> result;
  for (const auto& [time, start, c] : instants) {
    const Instance& instance = program.listed.instances[c];
    result.push_back({.complete = !start, .op = instance.op, .iteration = instance.iteration});
  }
  return result;
}

Run minimal_run(const Program& program, const Order& order, Solver& solver,
                const Question& question, Run run) {
  if (needs_everything(question)) return run;
  return Minimizer(program, order, solver, question, std::move(run)).minimize();
}

Found found_version(const Program& program, const Bytes& bytes, const Solver& solver,
                    const std::vector<Expectation>& expected, const Question& question,
                    const Run& run) {
  Found found;
  const Cell& cell = bytes.cells()[question.cell];
  const Touch& r = cell.touches[question.reader];
  std::vector<Cmd> wanted;
  for (const Expectation& e : expected) {
    if (!solver.value(e.applies)) continue;
    found.expected_initial = e.base == Expectation::Base::kInitial;
    found.expected = e.base == Expectation::Base::kWriter ? e.writer : kNoCmd;
    wanted.push_back(found.expected);
    for (const Expectation::Update& update : e.updates) {
      if (solver.value(update.expected)) wanted.push_back(update.cmd);
    }
    break;
  }
  // What is there, the base first; a command that also overwrites leaves no update.
  const auto seen = [&](const Touch& t) {
    if (t.cmd == kEndOfRun || t.cmd == r.cmd || !bytes.writes(t)) return false;
    if (!run.completed[t.cmd] || !solver.value(program.commands[t.cmd].touches)) return false;
    return r.cmd == kEndOfRun || run.complete[t.cmd] <= run.start[r.cmd];
  };
  const Touch* base = nullptr;
  for (const Touch& t : cell.touches) {
    if (!seen(t) || !bytes.overwrites(t)) continue;
    if (base == nullptr || run.complete[t.cmd] > run.complete[base->cmd]) base = &t;
  }
  std::vector<const Touch*> there;
  if (base != nullptr) there.push_back(base);
  for (const Touch& t : cell.touches) {
    if (!seen(t) || bytes.overwrites(t)) continue;
    if (base == nullptr || run.complete[t.cmd] > run.complete[base->cmd]) there.push_back(&t);
  }
  const Touch* named = there.empty() ? nullptr : there.back();
  for (std::size_t k = there.size(); k-- > 0;) {
    if (std::ranges::find(wanted, there[k]->cmd) != wanted.end()) continue;
    named = there[k];
    break;
  }
  if (named != nullptr && named->access != Touch::kAll) found.writer = &bytes.access(*named);
  return found;
}

}  // namespace memverify::smt
