#include "verify/expected.h"

#include <algorithm>
#include <cassert>
#include <future>
#include <optional>

#include "verify/segment_map.h"

namespace memverify {

class ExpectedMaker {
 public:
  /// Of the families whose points lie in `[begin, end)`, or of all.
  ExpectedMaker(Expected& result, const Footprints& footprints, const Program& program,
                Versions& versions, std::size_t list, std::size_t begin, std::size_t end)
      : first_(result.first_),
        pieces_(result.pieces_[list]),
        first_piece_(list == 0 ? 0 : Expected::kSecond),
        begin_(begin),
        end_(end),
        footprints_(footprints),
        program_(program),
        plan_(*program.plan),
        versions_(versions),
        state_(begin, end, kUnwrittenVersion),
        last_alloc_(footprints.slots(), kNoCmd) {}

  void make() {
    pieces_.reserve(2 * footprints_.accesses().size());  // Costs address space only.
    for (const auto& [begin, end] : footprints_.initial_points()) {
      if (is_mine(begin)) state_.assign(begin, end, kInitialVersion);
    }
    for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
      if (program_.instances[cmd].gate || program_.instances[cmd].skipped) continue;
      const Op& op = program_.op(cmd);
      if (op.kind == OpKind::kAlloc) {
        last_alloc_[footprints_.slot_of_storage(op.storage, program_.instances[cmd].iteration)] =
            cmd;
      }
      for (const AccessInstance& a : footprints_.of(cmd)) {
        if (!is_mine(a.family_base)) continue;
        if (op.kind == OpKind::kOp) {
          step(a);
        } else if (a.tensor != kNone<TensorId>) {
          expect(a, footprints_.index_of(a));  // An unknown command may read all that it lists.
        }
      }
    }
    for (const AccessInstance& a : footprints_.at_end()) {
      if (!a.keeps_initial && is_mine(a.family_base)) step(a);
    }
  }

 private:
  /// Pool bytes, which have no family, are nobody's: only clobbers touch them.
  bool is_mine(std::size_t family_point) const {
    return begin_ <= family_point && family_point < end_;
  }

  void step(const AccessInstance& a) {
    const std::uint32_t id = footprints_.index_of(a);
    switch (a.kind) {
      case AccessKind::kRead:
        expect(a, id);
        break;
      case AccessKind::kWrite:
        for (const Run& run : footprints_.runs(a)) {
          state_.assign(a.family_base + run.family_begin, a.family_base + run.family_end,
                        Versions::written(id));
        }
        break;
      case AccessKind::kAccumulate:
        for (const Run& run : footprints_.runs(a)) {
          state_.visit(a.family_base + run.family_begin, a.family_base + run.family_end,
                       [&](std::size_t, std::size_t, Version& version) {
                         version = versions_.accumulated(version, id);
                       });
        }
        break;
      case AccessKind::kClobber:
        // Of no value to anyone: nobody expects it, so it does not replace what is expected.
        break;
    }
  }

  void expect(const AccessInstance& a, std::uint32_t id) {
    first_[id].begin = next_piece();
    const Source source = source_of(a);
    for (const Run& run : footprints_.runs(a)) {
      if (source.named) {
        expect_named(a, id, run, source);
      } else {
        expect_last(a, a.family_base + run.family_begin, a.family_base + run.family_end);
      }
    }
    first_[id].end = next_piece();
  }

  std::uint32_t next_piece() const {
    assert(pieces_.size() < Expected::kSecond);
    return first_piece_ + static_cast<std::uint32_t>(pieces_.size());
  }

  /// Expects of the family points `[begin, end)` what program order says.
  void expect_last(const AccessInstance& a, std::size_t begin, std::size_t end) {
    const Cmd alloc = last_alloc(a);
    state_.look(begin, end, [&](std::size_t from, std::size_t to, Version version) {
      piece(a, from, to, after_alloc(version, alloc));
    });
  }

  void piece(const AccessInstance& a, std::size_t begin, std::size_t end, Version version) {
    pieces_.push_back({static_cast<std::uint32_t>(begin - a.family_base),
                       static_cast<std::uint32_t>(end - a.family_base), version});
  }

  /// The last alloc of the slot that the tensor's instance lies in.
  Cmd last_alloc(const AccessInstance& a) const {
    return last_alloc_[footprints_.slot(a.tensor, a.instance)];
  }

  Version after_alloc(Version version, Cmd alloc) const {
    if (alloc == kNoCmd || version == kUnwrittenVersion) return version;
    const std::uint32_t writer = versions_.access(versions_.base(version));
    const bool later = writer != Versions::kNoAccess && footprints_.accesses()[writer].cmd > alloc;
    return later ? version : kUnwrittenVersion;
  }

  /// What `from` names: the initial value, or the writes of one command.
  struct Source {
    bool named = false;
    Cmd writer = kNoCmd;  ///< kNoCmd: the initial value.
  };

  Source source_of(const AccessInstance& a) const {
    const bool at_end = a.cmd == kEndOfRun;
    const OpId from = at_end ? plan_.outputs[a.access].from : plan_.accesses[a.access].from;
    const bool initial =
        at_end ? plan_.outputs[a.access].from_initial : plan_.accesses[a.access].from_initial;
    if (initial) return {true, kNoCmd};
    if (from == kNone<OpId>) return {};
    // The instance of the writer that writes this instance of the tensor.
    for (const Access& access : plan_.accesses_of(plan_.ops[from])) {
      if (access.kind == AccessKind::kRead || access.tensor == kNone<TensorId>) continue;
      if (plan_.tensors[access.tensor].root != plan_.tensors[a.tensor].root) continue;
      std::int64_t iteration = std::int64_t{a.instance} + access.distance;
      if (footprints_.is_one_instance(a.tensor)) {
        iteration = at_end ? program_.iterations - 1 : program_.instances[a.cmd].iteration;
        if (plan_.ops[from].runs == Runs::kFirst) iteration = 0;
      }
      const Cmd writer = program_.find(from, iteration);
      return {writer != kNoCmd, writer};
    }
    return {};
  }

  /// The initial values alone.
  const SegmentMap<Version>& initial() {
    if (!initial_) {
      initial_.emplace(begin_, end_, kUnwrittenVersion);
      for (const auto& [begin, end] : footprints_.initial_points()) {
        if (is_mine(begin)) initial_->assign(begin, end, kInitialVersion);
      }
    }
    return *initial_;
  }

  /// Expects of a run what `source` says, where its writer writes it.
  void expect_named(const AccessInstance& a, std::uint32_t id, const Run& run,
                    const Source& source) {
    SegmentMap<Version> named(0, run.family_end - run.family_begin, kUnwrittenVersion);
    const auto clip = [&](const AccessInstance& other, auto&& use) {
      for (const Run& r : footprints_.runs(other)) {
        const std::uint32_t begin = std::max(r.family_begin, run.family_begin);
        const std::uint32_t end = std::min(r.family_end, run.family_end);
        if (begin < end) use(begin - run.family_begin, end - run.family_begin);
      }
    };
    std::uint32_t first = 0;
    if (source.writer == kNoCmd) {
      initial().look(a.family_base + run.family_begin, a.family_base + run.family_end,
                     [&](std::size_t begin, std::size_t end, Version version) {
                       const std::uint32_t offset = a.family_base + run.family_begin;
                       named.assign(begin - offset, end - offset, version);
                     });
    } else {
      for (const AccessInstance& w : footprints_.of(source.writer)) {
        if (w.kind != AccessKind::kWrite || w.family_base != a.family_base) continue;
        const std::uint32_t writer = footprints_.index_of(w);
        clip(w, [&](std::uint32_t begin, std::uint32_t end) {
          named.assign(begin, end, Versions::written(writer));
        });
        first = writer;
      }
    }
    const Cmd alloc = last_alloc(a);
    for (std::uint32_t k = first; k < id; ++k) {
      const AccessInstance& other = footprints_.accesses()[k];
      if (other.kind != AccessKind::kAccumulate || other.family_base != a.family_base) continue;
      if (other.cmd == a.cmd || (alloc != kNoCmd && other.cmd < alloc)) continue;
      clip(other, [&](std::uint32_t begin, std::uint32_t end) {
        named.visit(begin, end, [&](std::size_t, std::size_t, Version& version) {
          version = versions_.accumulated(version, k);
        });
      });
    }
    named.look(0, run.family_end - run.family_begin,
               [&](std::size_t begin, std::size_t end, Version version) {
                 const std::uint32_t offset = a.family_base + run.family_begin;
                 const bool unwritten = versions_.base(version) == kUnwrittenVersion;
                 if (unwritten && source.writer != kNoCmd) {
                   expect_last(a, begin + offset, end + offset);
                 } else {
                   piece(a, begin + offset, end + offset, version);
                 }
               });
  }

  std::vector<Items>& first_;
  std::vector<ExpectedPiece>& pieces_;
  const std::uint32_t first_piece_;
  const std::size_t begin_;
  const std::size_t end_;
  const Footprints& footprints_;
  const Program& program_;
  const Plan& plan_;
  Versions& versions_;
  SegmentMap<Version> state_;
  std::optional<SegmentMap<Version>> initial_;  ///< Made when a read asks for it.
  std::vector<Cmd> last_alloc_;                 ///< By slot.
};

Expected::Expected(const Footprints& footprints, const Program& program, Versions& versions,
                   bool halve)
    : first_(footprints.accesses().size()) {
  const auto make = [&](std::size_t list, std::size_t begin, std::size_t end) {
    ExpectedMaker(*this, footprints, program, versions, list, begin, end).make();
  };
  const std::size_t points = footprints.family_points();
  const std::size_t half =
      halve && !footprints.accumulates() ? footprints.family_halfway() : points;
  std::future<void> second;
  if (half != points) second = std::async(std::launch::async, [&] { make(1, half, points); });
  make(0, 0, half);
  if (second.valid()) second.get();
}

}  // namespace memverify
