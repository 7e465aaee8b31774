#include "verify/smt_questions.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace memverify::smt {
namespace {

class QuestionMaker {
 public:
  QuestionMaker(const Program& program, Order& order, const Bytes& bytes, Terms& terms,
                const Ticks* ticks)
      : program_(program), order_(order), bytes_(bytes), terms_(terms), ticks_(ticks) {}

  Questions make() {
    finished_ = program_.listed.reaches_end ? order_.finished() : terms_.truth(false);
    ask_races();
    for (std::uint32_t k = 0; k < bytes_.cells().size(); ++k) ask_reads(k);
    ask_lifetimes();
    ask_unlisted();
    if (program_.listed.reaches_end) {
      add({.kind = Question::Kind::kDeadlock, .hazard = order_.stuck()});
    }
    result_.finished = finished_;
    return std::move(result_);
  }

 private:
  void add(Question question) {
    if (!terms_.is_false(question.hazard)) result_.all.push_back(question);
  }

  Bool touches(Cmd c) const { return program_.commands[c].touches; }
  /// Between its start and its completion, or for an unknown command the end.
  Bool open(Cmd c) {
    const Command& command = program_.commands[c];
    const Bool begun = terms_.both(command.started, command.touches);
    return bytes_.is_unknown(c) ? begun : terms_.both(begun, terms_.no(command.completed));
  }

  /// Both are open at once: at the end of a prefix, or in some tick of their half-open windows.
  Bool meet(Cmd a, Cmd b) {
    if (ticks_ == nullptr) return terms_.both(open(a), open(b));
    std::vector<Bool> all{touches(a), touches(b), program_.commands[a].started,
                          program_.commands[b].started};
    for (const Cmd x : {a, b}) {
      for (const Cmd y : {a, b}) {
        if (bytes_.is_unknown(y)) continue;
        all.push_back(terms_.less(ticks_->start[x], ticks_->complete[y]));
      }
    }
    return terms_.all(std::move(all));
  }

  /// `a` has not completed when `c` starts, which is in the run.
  Bool late(Cmd a, Cmd c) {
    return terms_.no(ticks_ == nullptr ? program_.commands[a].completed : order_.done_before(a, c));
  }

  // ---- races ------------------------------------------------------------------------------------

  struct Pair {
    Clashes clashes = 0;
    Bool hazard;
  };

  bool never_meet(Cmd a, Cmd b) const {
    return (!bytes_.is_unknown(a) && order_.known_before(a, b)) ||
           (!bytes_.is_unknown(b) && order_.known_before(b, a));
  }

  Clashes clash(const Touch& x, const Touch& y) const {
    const bool first = bytes_.writes(x);
    const bool second = bytes_.writes(y);
    if ((!first && !second) || bytes_.commute(x, y)) return 0;
    return static_cast<Clashes>(1 << (first ? (second ? 2 : 1) : 0));
  }

  void ask_races() {
    std::map<std::pair<Cmd, Cmd>, Pair> pairs;
    for (const Cell& cell : bytes_.cells()) {
      std::vector<Bool>& here = result_.races_of_cell.emplace_back();
      for (std::size_t j = 1; j < cell.touches.size(); ++j) {
        const Touch& y = cell.touches[j];
        if (y.cmd == kEndOfRun) break;
        for (std::size_t i = 0; i < j; ++i) {
          const Touch& x = cell.touches[i];
          const Clashes way = x.cmd == y.cmd ? Clashes{0} : clash(x, y);
          if (way == 0) continue;
          ++result_.pairs;
          if (never_meet(x.cmd, y.cmd)) continue;
          const auto [at, fresh] = pairs.try_emplace({x.cmd, y.cmd});
          if (fresh) at->second.hazard = meet(x.cmd, y.cmd);
          at->second.clashes |= way;
          if (!bytes_.is_unknown(x.cmd) && !bytes_.is_unknown(y.cmd)) {
            here.push_back(at->second.hazard);
          }
        }
      }
    }
    for (const auto& [ops, pair] : pairs) {
      const auto [a, b] = ops;
      const bool unknown = bytes_.is_unknown(a) || bytes_.is_unknown(b);
      Question question{.kind = unknown ? Question::Kind::kUnknown : Question::Kind::kRace,
                        .hazard = pair.hazard,
                        .first = a,
                        .second = b,
                        .clashes = pair.clashes};
      if (unknown && !bytes_.is_unknown(a)) std::swap(question.first, question.second);
      add(question);
    }
  }

  // ---- versions ---------------------------------------------------------------------------------

  /// The reader has its accesses and is in the run.
  Bool reads_now(const Touch& r) {
    if (r.cmd == kEndOfRun) return finished_;
    return terms_.both(program_.commands[r.cmd].started, touches(r.cmd));
  }

  /// `x` has left its bytes before the reader looks.
  Bool done(Cmd x, const Touch& r) {
    if (r.cmd == kEndOfRun) return touches(x);
    return terms_.both(touches(x), order_.done_before(x, r.cmd));
  }

  /// A later overwrite of `x` by another.
  Bool after(Cmd x, Cmd base) {
    return base == kNoCmd ? terms_.truth(true) : order_.completes_after(x, base);
  }

  Bool finds_another(const Cell& cell, const Touch& r, const Expectation& expected) {
    std::vector<Bool> ways;
    const Cmd base = expected.base == Expectation::Base::kWriter ? expected.writer : kNoCmd;
    if (base != kNoCmd) ways.push_back(terms_.no(done(base, r)));
    std::map<Cmd, Bool> wanted;
    for (const Expectation::Update& update : expected.updates) wanted[update.cmd] = update.expected;
    for (const Touch& t : cell.touches) {
      if (t.cmd == kEndOfRun || t.cmd == r.cmd || t.cmd == base || !bytes_.writes(t)) continue;
      const Bool seen = terms_.both(done(t.cmd, r), after(t.cmd, base));
      const auto update = wanted.find(t.cmd);
      if (bytes_.overwrites(t) || update == wanted.end()) {
        ways.push_back(seen);
      } else {
        ways.push_back(terms_.no(terms_.iff(seen, update->second)));
      }
    }
    // A clobber of the writer itself spoils what it writes.
    for (const Touch& t : cell.touches) {
      if (t.cmd != base || t.access == Touch::kAll || bytes_.is_unknown(base)) continue;
      if (bytes_.access(t).kind == AccessKind::kClobber) ways.push_back(terms_.truth(true));
    }
    return terms_.any(std::move(ways));
  }

  /// An input that is also an output: what its own family left is as good.
  Bool finds_foreign(const Cell& cell, const Touch& r) {
    std::map<Cmd, bool> own;
    std::vector<Cmd> overwriters;
    for (const Touch& t : cell.touches) {
      if (t.cmd == kEndOfRun || !bytes_.writes(t)) continue;
      own[t.cmd] = own[t.cmd] || bytes_.same_family(t, r);
      if (bytes_.overwrites(t)) overwriters.push_back(t.cmd);
    }
    std::vector<Bool> ways;
    for (const auto& [x, is_own] : own) {
      if (is_own) continue;
      std::vector<Bool> stays{touches(x)};
      for (Cmd y : overwriters) {
        if (y == x) continue;
        stays.push_back(terms_.no(terms_.both(touches(y), order_.completes_after(y, x))));
      }
      ways.push_back(terms_.all(std::move(stays)));
    }
    return terms_.any(std::move(ways));
  }

  void ask_reads(std::uint32_t k) {
    const Cell& cell = bytes_.cells()[k];
    for (std::size_t reader = 0; reader < cell.touches.size(); ++reader) {
      const Touch& r = cell.touches[reader];
      if (r.access == Touch::kAll || bytes_.access(r).tensor == kNone<TensorId>) continue;
      if (r.cmd != kEndOfRun && !bytes_.reads(r)) continue;
      if (r.cmd == kEndOfRun && terms_.is_false(finished_)) continue;
      Question question{.kind = Question::Kind::kVersion,
                        .first = r.cmd,
                        .cell = k,
                        .reader = reader,
                        .at_end = r.cmd == kEndOfRun};
      if (r.cmd == kEndOfRun && bytes_.access(r).or_own) {
        question.hazard = terms_.both(finished_, finds_foreign(cell, r));
        add_version(cell, question);
        continue;
      }
      std::vector<Bool> wrong;
      for (const Expectation& expected : bytes_.expected(terms_, cell, reader)) {
        if (expected.base != Expectation::Base::kNothing) {
          wrong.push_back(terms_.both(expected.applies, finds_another(cell, r, expected)));
          continue;
        }
        Question unwritten = question;
        unwritten.kind = Question::Kind::kUnwritten;
        unwritten.hazard = terms_.both(reads_now(r), expected.applies);
        add_version(cell, unwritten);
      }
      question.hazard = terms_.both(reads_now(r), terms_.any(std::move(wrong)));
      add_version(cell, question);
    }
  }

  /// [S-37]: where an unknown command may have put what is found, nothing is proven.
  void add_version(const Cell& cell, Question question) {
    if (!cell.unknown) {
      add(question);
      return;
    }
    // At the end such a command is still at it, whatever it has done so far ([S-36]).
    const Bool hazard = question.hazard;
    const Bool met = question.at_end ? finished_ : hazard;
    std::vector<Bool> nobody;
    for (const Touch& t : cell.touches) {
      if (!bytes_.is_unknown(t.cmd)) continue;
      nobody.push_back(terms_.no(touches(t.cmd)));
      Question open{.kind = Question::Kind::kUnknown,
                    .hazard = terms_.both(met, touches(t.cmd)),
                    .first = t.cmd,
                    .second = question.first == t.cmd ? kNoCmd : question.first,
                    .at_end = question.at_end};
      add(open);
    }
    question.hazard = terms_.both(hazard, terms_.all(std::move(nobody)));
    if (!bytes_.is_unknown(question.first)) add(question);
  }

  /// Who lists nothing may read what nobody has written.
  void ask_unlisted() {
    for (Cmd c = 0; c < program_.commands.size(); ++c) {
      if (!bytes_.is_unknown(c) || !program_.listed.op(c).accesses.empty()) continue;
      add({.kind = Question::Kind::kUnknown, .hazard = open(c), .first = c});
    }
  }

  // ---- lifetimes --------------------------------------------------------------------------------

  bool is_alloc(Cmd c) const { return program_.listed.op(c).kind == OpKind::kAlloc; }

  void add_lifetime(Question question) {
    question.kind = Question::Kind::kLifetime;
    for (const Cmd c : {question.first, question.second}) {
      if (c == kNoCmd || !bytes_.is_unknown(c)) continue;
      const Cmd other = c == question.first ? question.second : question.first;
      question = {
          .kind = Question::Kind::kUnknown, .hazard = question.hazard, .first = c, .second = other};
      break;
    }
    add(question);
  }

  /// `f` is the first executed free after `alloc` (kNoCmd: of all).
  Bool next_free(const std::vector<Cmd>& events, Cmd alloc, Cmd f) {
    std::vector<Bool> all{touches(f)};
    for (const Cmd e : events) {
      if (e >= f || (alloc != kNoCmd && e <= alloc) || is_alloc(e)) continue;
      all.push_back(terms_.no(touches(e)));
    }
    return terms_.all(std::move(all));
  }

  /// Calls use(alloc, condition) for each alloc that may be the latest executed one before `c`, and
  /// for kNoCmd.
  template <typename Use>
  void latest_allocs(const std::vector<Cmd>& events, Cmd c, Use&& use) {
    Bool rest = terms_.truth(true);
    for (std::size_t k = events.size(); k-- > 0;) {
      if (events[k] >= c || !is_alloc(events[k])) continue;
      use(events[k], terms_.both(rest, touches(events[k])));
      rest = terms_.both(rest, terms_.no(touches(events[k])));
    }
    if (!terms_.is_false(rest)) use(kNoCmd, rest);
  }

  void ask_lifetimes() {
    const Footprints& footprints = bytes_.footprints();
    std::set<std::tuple<Cmd, std::uint32_t, TensorId>> asked;
    for (const AccessInstance& a : footprints.accesses()) {
      if (a.tensor == kNone<TensorId> || footprints.runs(a).empty()) continue;
      const std::uint32_t slot = footprints.slot(a.tensor, a.instance);
      const TensorId about = a.cmd == kEndOfRun ? a.tensor : kNone<TensorId>;
      if (asked.insert({a.cmd, slot, about}).second) ask_access(a, slot);
    }
    for (std::uint32_t slot = 0; slot < footprints.slots(); ++slot) ask_events(bytes_.events(slot));
  }

  void ask_access(const AccessInstance& a, std::uint32_t slot) {
    const std::vector<Cmd>& events = bytes_.events(slot);
    const StorageId storage = program_.listed.plan->tensors[a.tensor].storage;
    const bool at_end = a.cmd == kEndOfRun;
    if (events.empty() && !bytes_.is_allocated(storage)) return;
    const Question base{.storage = storage, .tensor = a.tensor, .at_end = at_end};
    const Bool now = reads_now({.access = 0, .cmd = a.cmd});
    const auto fault = [&](Cmd other, Bool hazard) {
      Question question = base;
      question.hazard = terms_.both(now, hazard);
      question.first = at_end ? other : std::min(a.cmd, other);
      question.second = at_end || other == kNoCmd ? kNoCmd : std::max(a.cmd, other);
      add_lifetime(question);
    };
    latest_allocs(events, a.cmd, [&](Cmd alloc, Bool latest) {
      if (alloc == kNoCmd) {
        if (bytes_.is_allocated(storage)) fault(kNoCmd, latest);
      } else if (!at_end && !order_.known_before(alloc, a.cmd)) {
        fault(alloc, terms_.both(latest, late(alloc, a.cmd)));
      }
      for (const Cmd f : events) {
        if (is_alloc(f) || (alloc != kNoCmd && f <= alloc)) continue;
        const Bool next = terms_.both(latest, next_free(events, alloc, f));
        if (at_end) {
          fault(f, next);
        } else if (bytes_.is_unknown(a.cmd) || !order_.known_before(a.cmd, f)) {
          const Bool unfinished = bytes_.is_unknown(a.cmd) ? terms_.truth(true)
                                  : ticks_ == nullptr      ? open(a.cmd)
                                                           : late(a.cmd, f);
          fault(f, terms_.all({next, unfinished, program_.commands[f].started}));
        }
      }
    });
  }

  /// Allocs and frees of a slot take turns, each complete before the next one starts.
  void ask_events(const std::vector<Cmd>& events) {
    for (std::size_t k = 0; k < events.size(); ++k) {
      const Cmd c = events[k];
      const StorageId storage = program_.listed.op(c).storage;
      Bool rest = terms_.both(program_.commands[c].started, touches(c));
      for (std::size_t j = k; j-- > 0;) {
        const Cmd p = events[j];
        const Bool previous = terms_.both(rest, touches(p));
        rest = terms_.both(rest, terms_.no(touches(p)));
        const bool wrong = is_alloc(p) == is_alloc(c);
        if (!wrong && order_.known_before(p, c)) continue;
        add_lifetime({.hazard = wrong ? previous : terms_.both(previous, late(p, c)),
                      .first = p,
                      .second = c,
                      .storage = storage});
      }
      if (bytes_.is_allocated(storage) != is_alloc(c)) {
        add_lifetime({.hazard = rest, .first = c, .storage = storage});
      }
    }
  }

  const Program& program_;
  Order& order_;
  const Bytes& bytes_;
  Terms& terms_;
  const Ticks* ticks_;
  Bool finished_;
  Questions result_;
};

}  // namespace

Questions make_questions(const Program& program, Order& order, const Bytes& bytes, Terms& terms,
                         const Ticks* ticks) {
  return QuestionMaker(program, order, bytes, terms, ticks).make();
}

}  // namespace memverify::smt
