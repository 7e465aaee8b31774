#include "verify/expected.h"

#include <algorithm>
#include <optional>

#include "verify/segment_map.h"

namespace memverify {

class ExpectedMaker {
 public:
  ExpectedMaker(Expected& result, const Footprints& footprints, const Program& program,
                Versions& versions)
      : result_(result),
        footprints_(footprints),
        program_(program),
        plan_(*program.plan),
        versions_(versions),
        state_(footprints.family_points(), kUnwrittenVersion),
        last_alloc_(footprints.slots(), kNoCmd) {}

  void make() {
    const std::size_t n = footprints_.accesses().size();
    result_.first_.resize(n);
    result_.written_.resize(n, kUnwrittenVersion);
    result_.pieces_.reserve(2 * n);  // Costs address space only.
    for (const auto& [begin, end] : footprints_.initial_points()) {
      state_.assign(begin, end, kInitialVersion);
    }
    for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
      if (program_.instances[cmd].gate) continue;
      const Op& op = program_.op(cmd);
      if (op.kind == OpKind::kAlloc) {
        last_alloc_[footprints_.slot_of_storage(op.storage, program_.instances[cmd].iteration)] =
            cmd;
      }
      for (const AccessInstance& a : footprints_.of(cmd)) {
        if (op.kind == OpKind::kOp) {
          step(a);
        } else if (a.tensor != kNone<TensorId>) {
          expect(a, footprints_.index_of(a));  // An unknown command may read all that it lists.
        }
      }
    }
    for (const AccessInstance& a : footprints_.at_end()) {
      if (!a.keeps_initial) step(a);
    }
  }

 private:
  void step(const AccessInstance& a) {
    const std::uint32_t id = footprints_.index_of(a);
    switch (a.kind) {
      case AccessKind::kRead:
        expect(a, id);
        break;
      case AccessKind::kWrite:
        enter(id);
        for (const Run& run : footprints_.runs(a)) {
          state_.assign(a.family_base + run.family_begin, a.family_base + run.family_end,
                        result_.written_[id]);
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
        enter(id);
        break;
    }
  }

  /// A write may have been entered before, by a read that names it ahead of program order.
  void enter(std::uint32_t access) {
    if (result_.written_[access] == kUnwrittenVersion)
      result_.written_[access] = versions_.written(access);
  }

  void expect(const AccessInstance& a, std::uint32_t id) {
    result_.first_[id].begin = static_cast<std::uint32_t>(result_.pieces_.size());
    const Source source = source_of(a);
    for (const Run& run : footprints_.runs(a)) {
      if (source.named) {
        expect_named(a, id, run, source);
      } else {
        expect_last(a, a.family_base + run.family_begin, a.family_base + run.family_end);
      }
    }
    result_.first_[id].end = static_cast<std::uint32_t>(result_.pieces_.size());
  }

  /// Expects of the family points `[begin, end)` what program order says.
  void expect_last(const AccessInstance& a, std::size_t begin, std::size_t end) {
    const Cmd alloc = last_alloc(a);
    state_.look(begin, end, [&](std::size_t from, std::size_t to, Version version) {
      piece(a, from, to, after_alloc(version, alloc));
    });
  }

  void piece(const AccessInstance& a, std::size_t begin, std::size_t end, Version version) {
    result_.pieces_.push_back({static_cast<std::uint32_t>(begin - a.family_base),
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
      initial_.emplace(footprints_.family_points(), kUnwrittenVersion);
      for (const auto& [begin, end] : footprints_.initial_points()) {
        initial_->assign(begin, end, kInitialVersion);
      }
    }
    return *initial_;
  }

  /// Expects of a run what `source` says, where its writer writes it.
  void expect_named(const AccessInstance& a, std::uint32_t id, const Run& run,
                    const Source& source) {
    SegmentMap<Version> named(run.family_end - run.family_begin, kUnwrittenVersion);
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
        enter(writer);
        clip(w, [&](std::uint32_t begin, std::uint32_t end) {
          named.assign(begin, end, result_.written_[writer]);
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

  Expected& result_;
  const Footprints& footprints_;
  const Program& program_;
  const Plan& plan_;
  Versions& versions_;
  SegmentMap<Version> state_;
  std::optional<SegmentMap<Version>> initial_;  ///< Made when a read asks for it.
  std::vector<Cmd> last_alloc_;                 ///< By slot.
};

Expected::Expected(const Footprints& footprints, const Program& program, Versions& versions) {
  ExpectedMaker(*this, footprints, program, versions).make();
}

}  // namespace memverify
