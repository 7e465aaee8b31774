#include "verify/expected.h"

#include <algorithm>

namespace memverify {

ExpectedPass::ExpectedPass(const Footprints& footprints, const Program& program, Versions& versions)
    : footprints_(footprints),
      program_(program),
      plan_(*program.plan),
      versions_(versions),
      state_(footprints.family_points(), kUnwrittenVersion,
             [&](auto&& visit) { footprints.for_each_family_base(visit); }) {
  for (const auto& [begin, end] : footprints_.initial_points()) {
    state_.assign(begin, end, kInitialVersion);
  }
}

void ExpectedPass::alloc(Cmd cmd) {
  const Op& op = program_.op(cmd);
  last_alloc_.resize(footprints_.slots(), kNoCmd);
  last_alloc_[footprints_.slot_of_storage(op.storage, program_.instances[cmd].iteration)] = cmd;
}

std::span<const ExpectedPiece> ExpectedPass::expect(const AccessInstance& read) {
  pieces_.clear();
  const Source source = source_of(read);
  base_ = footprints_.family_base(read);
  for (const Run& run : footprints_.runs(read)) {
    if (source.named) {
      expect_named(read, run, source);
    } else {
      expect_last(read, base_ + run.family_begin, base_ + run.family_end);
    }
  }
  return pieces_;
}

void ExpectedPass::pass(const AccessInstance& access) {
  // Of no value to anyone: nobody expects it, so it does not replace what is expected.
  if (access.kind == AccessKind::kClobber) return;
  const std::uint32_t id = footprints_.index_of(access);
  const std::uint32_t base = footprints_.family_base(access);
  for (const Run& run : footprints_.runs(access)) {
    const std::size_t begin = base + run.family_begin;
    const std::size_t end = base + run.family_end;
    if (access.kind == AccessKind::kWrite) {
      state_.assign(begin, end, Versions::written(id));
    } else {
      state_.visit(begin, end, [&](std::size_t, std::size_t, Version& version) {
        version = versions_.accumulated(version, id);
      });
    }
  }
}

/// Expects of the family points `[begin, end)` what program order says.
void ExpectedPass::expect_last(const AccessInstance& read, std::size_t begin, std::size_t end) {
  const Cmd alloc = last_alloc(read);
  state_.look(begin, end, [&](std::size_t from, std::size_t to, Version version) {
    piece(from, to, after_alloc(version, alloc));
  });
}

void ExpectedPass::piece(std::size_t begin, std::size_t end, Version version) {
  pieces_.push_back({static_cast<std::uint32_t>(begin - base_),
                     static_cast<std::uint32_t>(end - base_), version});
}

/// The last alloc of the slot that the tensor's instance lies in.
Cmd ExpectedPass::last_alloc(const AccessInstance& read) const {
  if (last_alloc_.empty()) return kNoCmd;
  return last_alloc_[footprints_.slot(read.tensor, read.instance)];
}

Version ExpectedPass::after_alloc(Version version, Cmd alloc) const {
  if (alloc == kNoCmd || version == kUnwrittenVersion) return version;
  const std::uint32_t writer = versions_.access(versions_.base(version));
  const bool later = writer != Versions::kNoAccess && footprints_.accesses()[writer].cmd > alloc;
  return later ? version : kUnwrittenVersion;
}

ExpectedPass::Source ExpectedPass::source_of(const AccessInstance& read) const {
  if (!read.has_from) return {};
  const bool at_end = read.cmd == kEndOfRun;
  const OpId from = at_end ? plan_.outputs[read.access].from : plan_.accesses[read.access].from;
  const bool initial =
      at_end ? plan_.outputs[read.access].from_initial : plan_.accesses[read.access].from_initial;
  if (initial) return {true, kNoCmd};
  // The instance of the writer that writes this instance of the tensor.
  for (const Access& access : plan_.accesses_of(plan_.ops[from])) {
    if (access.kind == AccessKind::kRead || access.tensor == kNone<TensorId>) continue;
    if (plan_.tensors[access.tensor].root != plan_.tensors[read.tensor].root) continue;
    std::int64_t iteration = std::int64_t{read.instance} + access.distance;
    if (footprints_.is_one_instance(read.tensor)) {
      iteration = at_end ? program_.iterations - 1 : program_.instances[read.cmd].iteration;
      if (plan_.ops[from].runs == Runs::kFirst) iteration = 0;
    }
    const Cmd writer = program_.find(from, iteration);
    return {writer != kNoCmd, writer};
  }
  return {};
}

/// The initial values alone.
const SegmentMap<Version>& ExpectedPass::initial() {
  if (!initial_) {
    initial_.emplace(footprints_.family_points(), kUnwrittenVersion);
    for (const auto& [begin, end] : footprints_.initial_points()) {
      initial_->assign(begin, end, kInitialVersion);
    }
  }
  return *initial_;
}

/// Expects of a run what `source` says, where its writer writes it.
void ExpectedPass::expect_named(const AccessInstance& read, const Run& run, const Source& source) {
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
    initial().look(base_ + run.family_begin, base_ + run.family_end,
                   [&](std::size_t begin, std::size_t end, Version version) {
                     const std::uint32_t offset = base_ + run.family_begin;
                     named.assign(begin - offset, end - offset, version);
                   });
  } else {
    for (const AccessInstance& w : footprints_.of(source.writer)) {
      if (w.kind != AccessKind::kWrite || footprints_.family_base(w) != base_) continue;
      const std::uint32_t writer = footprints_.index_of(w);
      clip(w, [&](std::uint32_t begin, std::uint32_t end) {
        named.assign(begin, end, Versions::written(writer));
      });
      first = writer;
    }
  }
  const Cmd alloc = last_alloc(read);
  for (std::uint32_t k = first; k < footprints_.index_of(read); ++k) {
    const AccessInstance& other = footprints_.accesses()[k];
    if (other.kind != AccessKind::kAccumulate || footprints_.family_base(other) != base_) continue;
    if (other.cmd == read.cmd || (alloc != kNoCmd && other.cmd < alloc)) continue;
    clip(other, [&](std::uint32_t begin, std::uint32_t end) {
      named.visit(begin, end, [&](std::size_t, std::size_t, Version& version) {
        version = versions_.accumulated(version, k);
      });
    });
  }
  named.look(0, run.family_end - run.family_begin,
             [&](std::size_t begin, std::size_t end, Version version) {
               const std::uint32_t offset = base_ + run.family_begin;
               const bool unwritten = versions_.base(version) == kUnwrittenVersion;
               if (unwritten && source.writer != kNoCmd) {
                 expect_last(read, begin + offset, end + offset);
               } else {
                 piece(begin + offset, end + offset, version);
               }
             });
}

Expected::Expected(const Footprints& footprints, const Program& program, Versions& versions)
    : first_(footprints.accesses().size()) {
  pieces_.reserve(2 * footprints.accesses().size());  // Costs address space only.
  ExpectedPass pass(footprints, program, versions);
  for (Cmd cmd = 0; cmd < program.instances.size(); ++cmd) {
    const OpKind kind = footprints.kind(cmd);
    if (kind == OpKind::kAlloc) pass.alloc(cmd);
    const bool is_known = kind == OpKind::kOp;
    for (const AccessInstance& a : footprints.of(cmd)) {
      // An unknown command may read all that it lists.
      const bool reads = is_known ? a.kind == AccessKind::kRead : a.tensor != kNone<TensorId>;
      if (reads) {
        add(footprints.index_of(a), pass.expect(a));
      } else if (is_known) {
        pass.pass(a);
      }
    }
  }
  for (const AccessInstance& a : footprints.at_end()) {
    if (!a.keeps_initial) add(footprints.index_of(a), pass.expect(a));
  }
}

void Expected::add(std::uint32_t access, std::span<const ExpectedPiece> pieces) {
  first_[access].begin = static_cast<std::uint32_t>(pieces_.size());
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  first_[access].end = static_cast<std::uint32_t>(pieces_.size());
}

}  // namespace memverify
