#include "verify/smt_parts.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace memverify::smt {
namespace {

constexpr std::uint32_t kNoPart = 0xFFFFFFFFU;

bool is_at_end(const Question& question) {
  return question.at_end || question.kind == Question::Kind::kDeadlock;
}

class Splitter {
 public:
  Splitter(const Program& program, Order& order, const Bytes& bytes, Terms& terms,
           const std::vector<Bool>& required, const Questions& questions, std::uint32_t from)
      : program_(program),
        order_(order),
        bytes_(bytes),
        terms_(terms),
        required_(required),
        questions_(questions),
        from_(from) {}

  std::vector<Part> split() {
    for (std::uint32_t k = from_; k < questions_.all.size(); ++k) {
      own_.push_back(own_hazard(questions_.all[k]));
    }
    join_formulas();
    join_cells();
    make_parts();
    ask();
    std::erase_if(parts_, [](const Part& part) { return part.questions.empty(); });
    std::ranges::sort(parts_, {}, [](const Part& part) { return part.questions.front().number; });
    return std::move(parts_);
  }

 private:
  /// What a hazard says besides that everything has completed; of a deadlock nothing.
  Bool own_hazard(const Question& question) {
    if (question.kind == Question::Kind::kDeadlock) return terms_.truth(true);
    return question.at_end ? without_finished(question.hazard) : question.hazard;
  }

  Bool without_finished(Bool formula) {
    if (formula == questions_.finished) return terms_.truth(true);
    if (terms_.terms()[formula.id].kind != TermKind::kAnd) return formula;
    std::vector<Bool> rest;
    const std::vector<std::uint32_t> args = terms_.terms()[formula.id].args;
    for (const std::uint32_t arg : args) rest.push_back(without_finished(Bool{arg}));
    return terms_.all(std::move(rest));
  }

  // ---- what belongs together --------------------------------------------------------------------

  std::uint32_t find(std::uint32_t term) {
    while (leader_[term] != term) term = leader_[term] = leader_[leader_[term]];
    return term;
  }
  void join(std::uint32_t a, std::uint32_t b) { leader_[find(a)] = find(b); }
  std::uint32_t part_of(Cmd c) { return find(program_.commands[c].started.id); }

  /// A free term of what the formula is made of that is no condition; kNoPart: there is none.
  std::uint32_t part_of(Bool formula) {
    return any_of_[formula.id] == kNoPart ? kNoPart : find(any_of_[formula.id]);
  }

  /// The free terms of each formula, conditions left out, are of one part.
  void join_formulas() {
    leader_.resize(terms_.terms().size());
    std::iota(leader_.begin(), leader_.end(), 0U);
    std::vector<Bool> roots = required_;
    roots.insert(roots.end(), own_.begin(), own_.end());
    for (const std::vector<Bool>& races : questions_.races_of_cell) {
      roots.insert(roots.end(), races.begin(), races.end());
    }
    const std::vector<std::uint8_t> needed = terms_.needed(roots);
    std::vector<std::uint8_t> is_condition(leader_.size(), 0);
    for (const Program::ConditionTerm& c : program_.conditions) is_condition[c.holds.id] = 1;
    any_of_.assign(leader_.size(), kNoPart);
    for (std::uint32_t id = 0; id < leader_.size(); ++id) {
      if (!needed[id]) continue;
      const Term& term = terms_.terms()[id];
      const bool is_free = term.kind == TermKind::kBoolean || term.kind == TermKind::kInteger;
      if (is_free && !is_condition[id]) any_of_[id] = id;
      for (const std::uint32_t arg : term.args) {
        if (any_of_[arg] == kNoPart) continue;
        if (any_of_[id] != kNoPart) join(any_of_[arg], any_of_[id]);
        any_of_[id] = any_of_[arg];
      }
    }
  }

  /// Versions are not asked where a pair of the cell races, and a run that shows one says of every
  /// writer when it comes.
  void join_cells() {
    for (std::uint32_t k = from_; k < questions_.all.size(); ++k) {
      const Question& question = questions_.all[k];
      if (question.kind != Question::Kind::kVersion) continue;
      const Cell& cell = bytes_.cells()[question.cell];
      std::uint32_t all = part_of(own_[k - from_]);
      const auto add = [&](std::uint32_t part) {
        if (part == kNoPart) return;
        if (all != kNoPart) join(part, all);
        all = part;
      };
      for (const Touch& t : cell.touches) {
        if (t.cmd != kEndOfRun && bytes_.writes(t)) add(part_of(t.cmd));
      }
      for (const Bool race : questions_.races_of_cell[question.cell]) add(part_of(race));
    }
  }

  // ---- the parts --------------------------------------------------------------------------------

  void make_parts() {
    std::map<std::uint32_t, std::uint32_t> numbers;
    const auto part = [&](std::uint32_t leader) -> Part& {
      const auto [at, fresh] = numbers.try_emplace(leader, std::uint32_t(parts_.size()));
      if (fresh) parts_.emplace_back();
      return parts_[at->second];
    };
    for (Cmd c = 0; c < program_.commands.size(); ++c) part(part_of(c)).commands.push_back(c);
    if (parts_.empty()) parts_.emplace_back();  // No command: what is asked is asked of nothing.
    for (const Bool formula : required_) {
      const std::uint32_t of = part_of(formula);
      if (of != kNoPart) {
        part(of).required.push_back(formula);
      } else {
        for (Part& each : parts_) each.required.push_back(formula);
      }
    }
    number_of_ = std::move(numbers);
  }

  void ask() {
    for (std::uint32_t k = from_; k < questions_.all.size(); ++k) {
      const Question& question = questions_.all[k];
      if (question.kind == Question::Kind::kDeadlock) {
        for (Part& part : parts_) add(part, k, order_.stuck(part.commands));
        continue;
      }
      const Bool own = own_[k - from_];
      const std::uint32_t of = part_of(own);
      // What conditions alone decide is asked of any part; at the end, of the first that ends.
      Part& part = parts_[of == kNoPart ? 0 : number_of_.at(of)];
      add(part, k, question.at_end ? terms_.both(own, order_.finished(part.commands)) : own);
    }
  }

  void add(Part& part, std::uint32_t number, Bool hazard) {
    if (terms_.is_false(hazard)) return;
    const bool of_all = is_at_end(questions_.all[number]) && parts_.size() > 1;
    part.questions.push_back({.number = number, .hazard = hazard, .of_all = of_all});
  }

  const Program& program_;
  Order& order_;
  const Bytes& bytes_;
  Terms& terms_;
  const std::vector<Bool>& required_;
  const Questions& questions_;
  std::uint32_t from_;
  std::vector<Bool> own_;              ///< By question from `from_` on.
  std::vector<std::uint32_t> leader_;  ///< By term.
  std::vector<std::uint32_t> any_of_;  ///< By term: a free term in it, kNoPart if none is needed.
  std::map<std::uint32_t, std::uint32_t> number_of_;  ///< By leader: in parts_.
  std::vector<Part> parts_;
};

}  // namespace

std::vector<Part> split(const Program& program, Order& order, const Bytes& bytes, Terms& terms,
                        const std::vector<Bool>& required, const Questions& questions,
                        std::uint32_t from) {
  return Splitter(program, order, bytes, terms, required, questions, from).split();
}

}  // namespace memverify::smt
