#include "verify/smt_findings.h"

#include <algorithm>
#include <bit>
#include <string>

#include "plan/words.h"
#include "verify/cases.h"

namespace memverify::smt {
namespace {

class Adder {
 public:
  Adder(Findings& findings, const Case& of, const Question& question)
      : findings_(findings),
        case_(of),
        program_(of.program),
        plan_(*of.program.listed.plan),
        question_(question) {}

  void add() {
    run_ = read_run(program_, case_.solver);
    switch (question_.kind) {
      case Question::Kind::kRace:
        add_race();
        return;
      case Question::Kind::kUnwritten:
      case Question::Kind::kVersion:
        add_version();
        return;
      case Question::Kind::kLifetime:
        add_lifetime();
        return;
      case Question::Kind::kDeadlock:
        add_deadlock();
        return;
      case Question::Kind::kUnknown:
        add_unknown();
        return;
    }
  }

 private:
  OpId op(Cmd c) const { return program_.listed.instances[c].op; }
  std::uint32_t op_number(Cmd c) const { return c == kNoCmd ? Findings::kNobody : index(op(c)); }

  void put_op(Finding& finding, Cmd c) const {
    finding.ops.push_back(op(c));
    finding.iteration.push_back(program_.listed.instances[c].iteration);
  }

  void show(Finding& finding) {
    run_ = minimal_run(program_, case_.order, case_.solver, question_, std::move(run_));
    finding.witness = steps(program_, run_);
    put_values(finding);
  }

  void put_values(Finding& finding) const {
    finding.symbols = case_.symbols;
    finding.when = condition_values(program_, run_);
  }

  // ---- races ------------------------------------------------------------------------------------

  /// The accesses by which the pair clashes in the way `bit`, on the lowest bytes.
  void put_clash(Finding& finding, int bit) const {
    const Footprints& footprints = case_.bytes.footprints();
    const AccessInstance* chosen[2] = {nullptr, nullptr};
    for (const AccessInstance& x : footprints.of(question_.first)) {
      for (const AccessInstance& y : footprints.of(question_.second)) {
        const bool first = x.kind != AccessKind::kRead;
        const bool second = y.kind != AccessKind::kRead;
        const int way = first ? (second ? 2 : 1) : 0;
        if ((!first && !second) || way != bit) continue;
        if (footprints.pool(x) != footprints.pool(y)) continue;
        if (x.kind == AccessKind::kAccumulate && y.kind == x.kind && x.update == y.update) continue;
        const ByteRange bytes = footprints.first_overlap(x, y);
        if (bytes.empty() || (chosen[0] != nullptr && bytes.begin >= finding.bytes.begin)) continue;
        finding.bytes = bytes;
        chosen[0] = &x;
        chosen[1] = &y;
      }
    }
    finding.pool = footprints.pool(*chosen[0]);
    for (const AccessInstance* access : chosen) {
      if (access->tensor != kNone<TensorId>) findings_.add_tensor(finding, access->tensor);
    }
    findings_.set_chain(finding);
  }

  void add_race() {
    Finding* finding =
        findings_.add_clash(op(question_.first), op(question_.second), question_.clashes);
    if (finding == nullptr) return;
    const int bit = std::countr_zero(question_.clashes);
    finding->rule = static_cast<Rule>(static_cast<int>(Rule::kWar) + bit);
    put_op(*finding, question_.first);
    put_op(*finding, question_.second);
    put_clash(*finding, bit);
    show(*finding);
  }

  // ---- versions ---------------------------------------------------------------------------------

  void add_version() {
    const Cell& cell = case_.bytes.cells()[question_.cell];
    const AccessInstance& read = case_.bytes.access(cell.touches[question_.reader]);
    const auto expected = case_.bytes.expected(case_.solver.terms(), cell, question_.reader);
    const Found found =
        found_version(program_, case_.bytes, case_.solver, expected, question_, run_);
    const bool unwritten = question_.kind == Question::Kind::kUnwritten;
    const AccessInstance* writer = unwritten ? nullptr : found.writer;
    const bool at_end = question_.at_end;
    if (at_end && writer != nullptr && findings_.is_static_boundary(read.tensor, op(writer->cmd))) {
      return;
    }
    const Rule rule = unwritten ? Rule::kUnwritten : at_end ? Rule::kBoundary : Rule::kWrongVersion;
    Cmd pair[2] = {at_end ? kNoCmd : read.cmd, kNoCmd};
    if (rule == Rule::kWrongVersion && writer != nullptr) {
      pair[0] = std::min(read.cmd, writer->cmd);
      pair[1] = std::max(read.cmd, writer->cmd);
    }
    Finding* finding =
        at_end ? findings_.add_new(rule, index(read.tensor), unwritten ? 0 : Findings::kNobody)
               : findings_.add_new(rule, op_number(pair[0]), op_number(pair[1]));
    if (finding == nullptr) return;
    finding->pool = cell.pool;
    finding->bytes = cell.bytes;
    const bool reader_first = writer == nullptr || at_end || read.cmd < writer->cmd;
    if (!reader_first) put(*finding, *writer);
    if (at_end) {
      findings_.add_tensor(*finding, read.tensor);
    } else {
      put(*finding, read);
    }
    if (reader_first && writer != nullptr) put(*finding, *writer);
    findings_.set_chain(*finding);
    finding->expected_initial = found.expected_initial;
    if (found.expected != kNoCmd && !unwritten) {
      finding->expected = op(found.expected);
      finding->expected_iteration = program_.listed.instances[found.expected].iteration;
    }
    show_reading(*finding, writer);
  }

  void put(Finding& finding, const AccessInstance& a) const {
    put_op(finding, a.cmd);
    if (a.tensor != kNone<TensorId>) findings_.add_tensor(finding, a.tensor);
  }

  /// The run must show this writer, not just another one: it is named to the minimizer.
  void show_reading(Finding& finding, const AccessInstance* writer) {
    if (question_.at_end || writer == nullptr) {
      show(finding);
      return;
    }
    Question named = question_;
    named.second = writer->cmd;
    Terms& terms = case_.solver.terms();
    std::vector<Bool> all{question_.hazard, program_.commands[writer->cmd].completed,
                          terms.at_most(program_.commands[writer->cmd].complete,
                                        program_.commands[question_.first].start)};
    const Cell& cell = case_.bytes.cells()[question_.cell];
    for (const Touch& t : cell.touches) {
      if (t.cmd == kEndOfRun || !case_.bytes.overwrites(t) || t.cmd == writer->cmd) continue;
      const Command& other = program_.commands[t.cmd];
      const Int then = program_.commands[writer->cmd].complete;
      all.push_back(terms.any(
          {terms.no(other.completed), terms.no(other.touches), terms.less(other.complete, then),
           terms.less(program_.commands[question_.first].start, other.complete)}));
    }
    named.hazard = terms.all(std::move(all));
    const Question original = std::exchange(question_, named);
    show(finding);
    question_ = original;
  }

  // ---- the rest ---------------------------------------------------------------------------------

  void add_lifetime() {
    Finding* finding =
        question_.at_end ? findings_.add_new(Rule::kLifetime, index(question_.tensor) | 0x80000000U,
                                             op_number(question_.first))
                         : findings_.add_new(Rule::kLifetime, op_number(question_.first),
                                             op_number(question_.second));
    if (finding == nullptr) return;
    for (const Cmd c : {question_.first, question_.second}) {
      if (c != kNoCmd) put_op(*finding, c);
    }
    if (question_.tensor != kNone<TensorId>) {
      findings_.add_tensor(*finding, question_.tensor);
      findings_.set_chain(*finding);
    } else {
      finding->storages.push_back(question_.storage);
      finding->pool = plan_.storages[question_.storage].pool;
    }
    show(*finding);
  }

  /// Commands that wait for more than the end of another one that waits itself; else the first.
  void add_deadlock() {
    std::vector<Cmd> waiting;
    std::vector<Cmd> blamed;
    for (Cmd c = 0; c < program_.commands.size(); ++c) {
      const Command& command = program_.commands[c];
      if (run_.completed[c] || !case_.solver.value(command.present)) continue;
      waiting.push_back(c);
      if (semaphore_of(c) != kNone<SemaphoreId>) blamed.push_back(c);
    }
    if (blamed.empty() && !waiting.empty()) blamed.push_back(waiting.front());
    for (const Cmd c : blamed) {
      Finding* finding = findings_.add_new(Rule::kDeadlock, op_number(c), Findings::kNobody);
      if (finding == nullptr) continue;
      put_op(*finding, c);
      finding->semaphore = semaphore_of(c);
      const Cmd on = finding->semaphore == kNone<SemaphoreId> ? waits_for(c) : kNoCmd;
      if (on != kNoCmd && op(on) != op(c)) put_op(*finding, on);
      show(*finding);
    }
  }

  SemaphoreId semaphore_of(Cmd c) const {
    for (const Need& need : program_.to_start[c]) {
      if (need.kind != Need::Kind::kSemaphore) continue;
      if (count_of(need.semaphore) < need.value) return need.semaphore;
    }
    return kNone<SemaphoreId>;
  }
  std::int64_t count_of(SemaphoreId id) const {
    const SemaphoreUse& use = program_.semaphores[index(id)];
    std::int64_t count = use.initial;
    for (const Change& signal : use.signals) {
      if (!run_.completed[signal.cmd]) continue;
      count = use.timeline ? std::max(count, signal.value) : count + signal.value;
    }
    for (const Change& take : use.takes) count -= run_.started[take.cmd] ? take.value : 0;
    return count;
  }
  Cmd waits_for(Cmd c) const {
    for (const Need& need : program_.to_start[c]) {
      if (need.kind != Need::Kind::kDone || run_.completed[need.at]) continue;
      if (case_.solver.value(need.applies)) return need.at;
    }
    return kNoCmd;
  }

  void add_unknown() {
    Finding* finding =
        findings_.add_new(Rule::kNotProven, op_number(question_.first), Findings::kNobody);
    if (finding == nullptr) return;
    put_op(*finding, question_.first);
    if (question_.second != kNoCmd) put_op(*finding, question_.second);
    put_values(*finding);
  }

  Findings& findings_;
  const Case& case_;
  const Program& program_;
  const Plan& plan_;
  Question question_;
  Run run_;
};

}  // namespace

std::vector<ConditionValue> condition_values(const Program& program, const Run& run) {
  const Plan& plan = *program.listed.plan;
  ConditionCase values(plan, program.listed.iterations);
  for (std::size_t k = 0; k < program.conditions.size(); ++k) {
    const Program::ConditionTerm& term = program.conditions[k];
    const bool holds = run.conditions[k] == term.holds;
    const bool per_run = plan.conditions[term.condition].per_run;
    for (std::uint32_t i = per_run ? 0 : term.iteration;
         i < (per_run ? program.listed.iterations : term.iteration + 1); ++i) {
      values.set(term.condition, i, holds);
    }
  }
  return ConditionCases(plan, program.listed.iterations).values(values);
}

void add_finding(Findings& findings, const Case& of, const Question& question) {
  Adder(findings, of, question).add();
}

std::string subject(const Program& program, const Bytes& bytes, const Question& question) {
  const Plan& plan = *program.listed.plan;
  if (question.kind == Question::Kind::kDeadlock) return "a deadlock";
  std::vector<std::string> names;
  for (const Cmd c : {question.first, question.second}) {
    if (c == kNoCmd || c >= program.commands.size()) continue;
    const Instance& instance = program.listed.instances[c];
    names.push_back(op_name(plan, instance.op, instance.iteration));
  }
  if (question.kind == Question::Kind::kVersion || question.kind == Question::Kind::kUnwritten) {
    const Cell& cell = bytes.cells()[question.cell];
    names.push_back("tensor " +
                    quoted(plan.tensors[bytes.access(cell.touches[question.reader]).tensor].name));
  } else if (question.tensor != kNone<TensorId>) {
    names.push_back("tensor " + quoted(plan.tensors[question.tensor].name));
  }
  return listed(names);
}

}  // namespace memverify::smt
