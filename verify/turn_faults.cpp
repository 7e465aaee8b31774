#include "verify/turn_faults.h"

#include <algorithm>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMaxLater = 6;  // Writes of which all subsets are tried.

class TurnChecker {
 public:
  TurnChecker(const Program& program, const Walk& walk, const Order& order,
              const Footprints& footprints, const Expected& expected, const Versions& versions,
              OneSemaphore& semaphore)
      : program_(program),
        walk_(walk),
        order_(order),
        footprints_(footprints),
        expected_(expected),
        versions_(versions),
        semaphore_(semaphore) {}

  TurnFaults run(const std::vector<TurnPoints>& points) {
    for (const TurnPoints& turn : points) {
      writers_.clear();
      adds_ = false;
      for (std::uint32_t id : turn.accesses) {
        const AccessKind kind = access(id).kind;
        adds_ = adds_ || kind == AccessKind::kAccumulate;
        if (kind == AccessKind::kWrite || kind == AccessKind::kClobber) writers_.push_back(id);
      }
      for (std::uint32_t id : turn.accesses) {
        if (access(id).kind == AccessKind::kRead) look(turn, id);
      }
      if (!walk_.all_completed) continue;
      for (const AccessInstance& a : footprints_.at_end()) look(turn, footprints_.index_of(a));
    }
    return std::move(result_);
  }

 private:
  using Stage = OneSemaphore::Stage;
  const AccessInstance& access(std::uint32_t id) const { return footprints_.accesses()[id]; }
  std::int64_t address(std::uint32_t point) const { return footprints_.address(point); }

  void look(const TurnPoints& turn, std::uint32_t read) {
    const AccessInstance& r = access(read);
    for (const Run& run : footprints_.runs(r)) {
      const std::uint32_t begin = std::max(run.begin, turn.begin);
      const std::uint32_t end = std::min(run.end, turn.end);
      if (begin >= end) continue;
      const Suspect whole{.access = read,
                          .begin = begin,
                          .end = end,
                          .bytes = {address(begin), address(end)},
                          .expected = kInitialVersion};
      if (r.keeps_initial) {
        judge(whole);
        continue;
      }
      for (const ExpectedPiece& piece : expected_.of(read)) {
        if (piece.begin < run.family_begin || piece.end > run.family_end) continue;
        Suspect suspect = whole;
        suspect.expected = piece.version;
        suspect.bytes.begin =
            std::max(whole.bytes.begin, footprints_.family_address(r, piece.begin));
        suspect.bytes.end = std::min(whole.bytes.end, footprints_.family_address(r, piece.end));
        if (!suspect.bytes.empty()) judge(suspect);
      }
    }
  }

  /// Looks for runs in which the read of `suspect` finds something else than it expects.
  void judge(Suspect suspect) {
    const AccessInstance& r = access(suspect.access);
    if (versions_.base(suspect.expected) == kUnwrittenVersion) return;  // MV105 in any case.
    if (adds_) return give_up(r, "where accumulates take turns");
    const std::uint32_t meant = versions_.access(suspect.expected);
    const Cmd e = meant == Versions::kNoAccess ? kNoCmd : access(meant).cmd;
    if (e != kNoCmd && r.cmd != kEndOfRun) look_for_none(r, suspect);
    for (std::uint32_t id : writers_) {
      const AccessInstance& w = access(id);
      if (w.cmd == e || w.cmd == r.cmd || is_own(r, w)) continue;
      suspect.actual = Versions::written(id);
      look_for(r, w, suspect);
    }
  }

  /// What a kept input's own family writes is as good.
  bool is_own(const AccessInstance& r, const AccessInstance& w) const {
    const auto& tensors = program_.plan->tensors;
    return r.or_own && w.tensor != kNone<TensorId> &&
           tensors[w.tensor].root == tensors[r.tensor].root;
  }

  /// Exact: the read may come before all writes.
  void look_for_none(const AccessInstance& r, Suspect& suspect) {
    Stage alone{.reach = {{r.cmd}}};
    for (std::uint32_t id : writers_) {
      if (access(id).cmd != r.cmd) alone.avoid.push_back({access(id).cmd});
    }
    suspect.actual = kInitialVersion;
    if (auto run = semaphore_.run({alone})) show(suspect, std::move(*run));
  }

  void look_for(const AccessInstance& r, const AccessInstance& w, Suspect& suspect) {
    const bool at_end = r.cmd == kEndOfRun;
    const auto before_r = [&](Cmd u) { return at_end || order_.before(u, r.cmd); };
    if (!at_end && order_.before(r.cmd, w.cmd)) return;
    Stage to_w{.reach = {{w.cmd}}, .avoid = {{w.cmd, true}}};
    Stage to_r{.reach = {{w.cmd, true}}, .everything = at_end};
    if (!at_end) {
      to_w.avoid.push_back({r.cmd});
      to_r.reach.push_back({r.cmd});
    }
    std::vector<Cmd> later;  // Those that may come before w, or after r.
    for (std::uint32_t id : writers_) {
      const Cmd u = access(id).cmd;
      if (u == w.cmd || u == r.cmd) continue;
      if (before_r(u)) {
        if (order_.before(w.cmd, u)) return;
        to_w.reach.push_back({u, true});
      } else if (!order_.before(u, w.cmd)) {
        later.push_back(u);
      }
    }
    if (!semaphore_.can(to_w)) return;  // They come after w, if it comes before r.
    if (later.size() > kMaxLater) return give_up(r, "what is found");
    bool is_known = true;
    for (std::size_t before = 0; before < std::size_t{1} << later.size(); ++before) {
      Stage first = to_w;
      Stage second = to_r;
      for (std::size_t k = 0; k < later.size(); ++k) {
        if ((before >> k & 1) != 0) {
          first.reach.push_back({later[k], true});
        } else {
          first.avoid.push_back({later[k]});
          second.avoid.push_back({later[k]});
        }
      }
      Stage both = second;
      both.reach.insert(both.reach.end(), first.reach.begin(), first.reach.end());
      if (!semaphore_.can(first) || !semaphore_.can(both)) continue;
      if (auto run = semaphore_.run({first, second})) return show(suspect, std::move(*run));
      is_known = false;
    }
    if (!is_known) give_up(r, "what is found");
  }

  void show(const Suspect& suspect, std::vector<Step> run) {
    result_.suspects.push_back(suspect);
    result_.suspects.back().run = std::move(run);
  }

  void give_up(const AccessInstance& r, const char* what) {
    if (!result_.not_known.empty()) return;
    const std::string reader =
        r.cmd == kEndOfRun ? "the end of the plan" : quoted(program_.op(r.cmd).name);
    result_.not_known = std::string(what) + " by " + reader;
  }

  const Program& program_;
  const Walk& walk_;
  const Order& order_;
  const Footprints& footprints_;
  const Expected& expected_;
  const Versions& versions_;
  OneSemaphore& semaphore_;
  std::vector<std::uint32_t> writers_;  ///< Accesses at the points at hand.
  bool adds_ = false;                   ///< Some access there accumulates.
  TurnFaults result_;
};

}  // namespace

TurnFaults turn_faults(const Program& program, const Walk& walk, const Order& order,
                       const Footprints& footprints, const Expected& expected,
                       const Versions& versions, const std::vector<TurnPoints>& points,
                       OneSemaphore& semaphore) {
  return TurnChecker(program, walk, order, footprints, expected, versions, semaphore).run(points);
}

}  // namespace memverify
