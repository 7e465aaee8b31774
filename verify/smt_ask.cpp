#include "verify/smt_ask.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "verify/in_turn.h"
#include "verify/smt_findings.h"
#include "verify/smt_parts.h"

namespace memverify::smt {
namespace {

constexpr std::size_t kMaxRacyConditions = 256;  ///< Of one cell, before its versions are given up.
constexpr std::size_t kAhead = 4;        ///< So many slices at most are asked at the same time.
constexpr std::size_t kMostSlices = 16;  ///< Of pairs and reads, about.

Limits limits_of(const SmtOptions& options) {
  return {.query_steps = options.query_steps,
          .total_steps = options.total_steps,
          .total_seconds = options.max_seconds,
          .memory_mb = options.memory_mb};
}

/// Asks questions of one solver.
class Asker {
 public:
  /// `first_steps` > 0: questions are left open that need more of the solver in all.
  Asker(Findings& findings, Case of, const Questions& questions, const Limits& limits,
        std::uint32_t first_steps)
      : findings_(findings),
        case_(std::move(of)),
        solver_(case_.solver),
        questions_(questions),
        limits_(limits),
        first_steps_(first_steps),
        racy_(case_.bytes.cells().size()) {}

  enum class Reply : std::uint8_t {
    kDone,
    kOpen,   ///< The first steps did not suffice.
    kOfAll,  ///< Possible here; now the whole plan is to be asked.
  };

  Reply ask(const Question& question, bool of_all = false) {
    if (first_steps_ != 0) limit_steps();
    switch (question.kind == Question::Kind::kVersion ? version(question) : check(question)) {
      case Answer::kUnsat:
        return Reply::kDone;
      case Answer::kUnknown:
        if (first_steps_ != 0) return Reply::kOpen;
        give_up(question);
        return Reply::kDone;
      case Answer::kSat:
        break;
    }
    if (of_all) return Reply::kOfAll;
    solver_.set_limits(limits_);  // Whatever it takes to show it well.
    add_finding(findings_, case_, question);
    return Reply::kDone;
  }

 private:
  /// What is known of a cell's races: under which conditions there are some.
  struct Racy {
    Answer some = Answer::kUnknown;  ///< kUnknown: `reason`, or if there is none not asked.
    std::string reason;
    bool given_up = false;
    std::vector<Bool> excluded;  ///< Each false under conditions that let two accesses race.
  };

  /// Of a question to what is left of the first steps.
  void limit_steps() {
    Limits limits = limits_;
    const std::uint64_t left =
        first_steps_ - std::min<std::uint64_t>(first_steps_, solver_.steps());
    const auto most = static_cast<std::uint32_t>(std::max<std::uint64_t>(left, 1));
    limits.query_steps = limits.query_steps == 0 ? most : std::min(limits.query_steps, most);
    solver_.set_limits(limits);
  }

  Answer answer(const std::vector<Bool>& assumed) {
    const Answer answer = solver_.check(assumed);
    if (answer == Answer::kUnknown) reason_ = solver_.reason();
    return answer;
  }

  Answer check(const Question& question) { return answer({question.hazard}); }

  /// [S-52]: where a pair races, under the same conditions, versions are not asked.
  Answer version(const Question& question) {
    Racy& racy = racy_[question.cell];
    const std::vector<Bool>& races = questions_.races_of_cell[question.cell];
    if (racy.some == Answer::kUnknown && !look_for_races(racy, races)) return Answer::kUnknown;
    while (!racy.given_up) {
      std::vector<Bool> assumed = racy.excluded;
      assumed.push_back(question.hazard);
      const Answer found = answer(assumed);
      if (found != Answer::kSat || racy.some == Answer::kUnsat) return found;
      std::vector<Bool> here = read_run(case_.program, solver_).conditions;
      const Answer race = race_under(here, races);
      if (race == Answer::kUnknown) return race;
      if (race == Answer::kUnsat) {
        here.push_back(question.hazard);
        return answer(here) == Answer::kSat ? Answer::kSat : Answer::kUnknown;
      }
      racy.excluded.push_back(solver_.terms().no(solver_.terms().all(here)));
      racy.given_up = racy.excluded.size() > kMaxRacyConditions;
    }
    return Answer::kUnsat;
  }

  /// false: not known.
  bool look_for_races(Racy& racy, const std::vector<Bool>& races) {
    if (!racy.reason.empty()) {
      reason_ = racy.reason;
      return false;
    }
    racy.some = races.empty() ? Answer::kUnsat : race_under({}, races);
    if (racy.some == Answer::kUnknown && first_steps_ == 0) racy.reason = reason_;
    // Without conditions one race decides.
    racy.given_up = racy.some == Answer::kSat && case_.program.conditions.empty();
    return racy.some != Answer::kUnknown;
  }

  Answer race_under(std::vector<Bool> conditions, const std::vector<Bool>& races) {
    conditions.push_back(solver_.terms().any(races));
    return answer(conditions);
  }

  void give_up(const Question& question) {
    const std::string about = subject(case_.program, case_.bytes, question);
    findings_.add_not_proven(
        "The solver has not decided the question about " + about + ": " + reason_ + ".",
        "ask another engine, or raise the limit of the solver");
  }

  Findings& findings_;
  Case case_;
  Solver& solver_;
  const Questions& questions_;
  Limits limits_;
  std::uint32_t first_steps_;
  std::string reason_;      ///< Of the last kUnknown.
  std::vector<Racy> racy_;  ///< By cell.
};

// ---- slices -------------------------------------------------------------------------------------

/// Questions for one solver, and the parts that it must know.
struct Slice {
  std::vector<const Part*> parts;
  std::vector<PartQuestion> questions;
};

/// Small parts share a slice until it has `enough` questions.
class Packer {
 public:
  explicit Packer(std::size_t enough) : enough_(enough) {}

  void put(const Part& part, const std::vector<PartQuestion>& questions) {
    if (questions.empty()) return;
    if (slices_.empty() || slices_.back().questions.size() >= enough_) slices_.emplace_back();
    Slice& slice = slices_.back();
    slice.parts.push_back(&part);
    slice.questions.insert(slice.questions.end(), questions.begin(), questions.end());
  }
  std::vector<Slice> take() { return std::move(slices_); }

 private:
  std::size_t enough_;
  std::vector<Slice> slices_;
};

std::vector<Slice> cut(const std::vector<Part>& parts, const Questions& questions) {
  std::size_t all = 0;
  for (const Part& part : parts) all += part.questions.size();
  Packer packer(std::max<std::size_t>(all / kMostSlices, 1));
  Packer deadlocks(std::max<std::size_t>(parts.size() / kAhead, 1));
  for (const Part& part : parts) {
    std::vector<PartQuestion> pairs = part.questions;
    if (questions.all[pairs.back().number].kind == Question::Kind::kDeadlock) {
      deadlocks.put(part, {pairs.back()});
      pairs.pop_back();
    }
    packer.put(part, pairs);
  }
  std::vector<Slice> slices = packer.take();
  for (Slice& slice : deadlocks.take()) slices.push_back(std::move(slice));
  return slices;
}

/// What is known after some slices.
struct State {
  Findings findings;
  std::uint64_t steps = 0;  ///< Spent so far, by all.
  std::uint64_t spent = 0;  ///< Of one slice.
  std::vector<PartQuestion> of_all;
};

/// Asks slices, each by a solver of its own.
class SliceAsker {
 public:
  SliceAsker(const Encoding& encoding, const std::vector<SymbolValue>& symbols,
             const SmtOptions& options, std::chrono::steady_clock::time_point begin,
             std::vector<Slice> slices)
      : encoding_(encoding),
        symbols_(symbols),
        options_(options),
        begin_(begin),
        slices_(std::move(slices)),
        running_(slices_.size(), nullptr) {}

  /// What is known after all, or after those that were enough.
  State run(State state) {
    const std::size_t cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
    InTurn<State> turns(std::move(state), slices_.size(), kAhead);
    std::size_t joined = 0;
    return turns.run(
        options_.threads != 0 ? options_.threads : cores,
        [&](std::size_t k, State& known) { ask(k, known, turns); },
        [&](State& all, State&& result) {
          all.findings.merge(std::move(result.findings));
          all.steps += result.spent;
          all.of_all.insert(all.of_all.end(), result.of_all.begin(), result.of_all.end());
          ++joined;
          if (!all.findings.full()) return false;
          if (joined < slices_.size()) all.findings.stop();
          interrupt();
          return true;
        });
  }

 private:
  void ask(std::size_t k, State& state, const InTurn<State>& turns) {
    Limits limits = limits_of(options_);
    limits.steps_before = state.steps;
    if (limits.total_seconds > 0) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
      limits.total_seconds = std::max(limits.total_seconds - passed.count(), 0.001);
    }
    state.of_all.clear();
    Solver solver(limits, encoding_.solver.terms());
    for (const Part* part : slices_[k].parts) {
      for (const Bool formula : part->required) solver.require(formula);
    }
    const Running running(*this, k, solver);
    Asker asker(state.findings,
                {encoding_.program, *encoding_.order, *encoding_.bytes, solver, symbols_},
                encoding_.questions, limits, 0);
    for (const PartQuestion& q : slices_[k].questions) {
      if (state.findings.full()) state.findings.stop();
      if (state.findings.full() || turns.is_over()) break;
      Question question = encoding_.questions.all[q.number];
      question.hazard = q.hazard;
      if (asker.ask(question, q.of_all) == Asker::Reply::kOfAll) state.of_all.push_back(q);
    }
    state.spent = solver.steps();
  }

  /// While it lives, interrupt() reaches the solver of slice `k`.
  class Running {
   public:
    Running(SliceAsker& asker, std::size_t k, Solver& solver) : asker_(asker), k_(k) {
      set(&solver);
    }
    ~Running() { set(nullptr); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    void set(Solver* solver) {
      const std::lock_guard lock(asker_.lock_);
      asker_.running_[k_] = solver;
    }
    SliceAsker& asker_;
    std::size_t k_;
  };

  void interrupt() {
    const std::lock_guard lock(lock_);
    for (Solver* solver : running_) {
      if (solver != nullptr) solver->interrupt();
    }
  }

  const Encoding& encoding_;
  const std::vector<SymbolValue>& symbols_;
  const SmtOptions& options_;
  std::chrono::steady_clock::time_point begin_;
  std::vector<Slice> slices_;
  std::mutex lock_;
  std::vector<Solver*> running_;  ///< By slice; nullptr: it does not run.
};

}  // namespace

Encoding::Encoding(const Plan& plan, const Layout& layout, std::uint32_t iterations,
                   bool reaches_end, const SmtOptions& options, Shortcuts shortcuts)
    : solver(limits_of(options)),
      program(make_program(plan, layout, iterations, reaches_end, solver.terms())) {
  if (program.bad_value) return;
  if (options.max_seconds > 0) {
    const auto budget = std::chrono::duration<double>(std::min(options.max_seconds, 1e9));
    solver.terms().set_deadline(std::chrono::steady_clock::now() +
                                std::chrono::duration_cast<std::chrono::nanoseconds>(budget));
  }
  order.emplace(program, solver, shortcuts);
  bytes = Bytes::make(program, kMaxRuns);
  if (bytes) questions = make_questions(program, *order, *bytes, solver.terms());
  solver.terms().set_deadline(std::nullopt);
}

void ask_all(Findings& findings, Encoding& encoding, const std::vector<SymbolValue>& symbols,
             const SmtOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Solver& solver = encoding.solver;
  const Questions& questions = encoding.questions;
  const Case whole{encoding.program, *encoding.order, *encoding.bytes, solver, symbols};
  Limits limits = limits_of(options);
  const auto open = [&](std::uint32_t k) { return k < questions.all.size() && !findings.full(); };
  const auto parts_from = [&](std::uint32_t k) {
    return split(encoding.program, *encoding.order, *encoding.bytes, solver.terms(),
                 solver.required(), questions, k);
  };
  std::uint32_t k = 0;
  Asker first(findings, whole, questions, limits, options.first_steps);
  for (; open(k) && solver.steps() < options.first_steps; ++k) {
    if (first.ask(questions.all[k]) == Asker::Reply::kOpen) break;
  }
  solver.set_limits(limits);
  if (k == questions.all.size()) return;
  if (findings.full()) return findings.stop();
  std::vector<Part> parts = parts_from(k);
  if (parts.size() == 1) {  // A second solver would have to learn the same again.
    Asker alone(findings, whole, questions, limits, 0);
    for (; open(k) && questions.all[k].kind != Question::Kind::kDeadlock; ++k) {
      alone.ask(questions.all[k]);
    }
    if (k == questions.all.size()) return;
    if (findings.full()) return findings.stop();
    parts = parts_from(k);
  }
  const std::uint64_t spent = solver.steps();
  State state = SliceAsker(encoding, symbols, options, begin, cut(parts, questions))
                    .run({.findings = findings, .steps = spent, .of_all = {}});
  findings.merge(std::move(state.findings));
  limits.steps_before = state.steps - spent;
  solver.set_limits(limits);
  Asker last(findings, whole, questions, limits, 0);
  for (const PartQuestion& q : state.of_all) {
    if (findings.full()) return findings.stop();
    Question question = questions.all[q.number];
    if (question.kind == Question::Kind::kDeadlock) {
      question.hazard = solver.terms().both(q.hazard, encoding.order->maximal());
    }
    last.ask(question);
  }
}

}  // namespace memverify::smt
