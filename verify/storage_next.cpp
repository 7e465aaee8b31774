#include "verify/storage_next.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "verify/sync_path.h"

namespace memverify {
namespace {

constexpr std::size_t kMostRaces = 8;  ///< Of a use, each way.

using PointRun = std::pair<std::uint32_t, std::uint32_t>;

/// Takes the points of `runs` out of `left`; true if there were some.
bool take_out(std::vector<PointRun>& left, std::span<const Run> runs) {
  bool found = false;
  for (const Run& run : runs) {
    std::vector<PointRun> rest;
    for (const auto& [begin, end] : left) {
      if (run.end <= begin || end <= run.begin) {
        rest.emplace_back(begin, end);
        continue;
      }
      found = true;
      if (begin < run.begin) rest.emplace_back(begin, run.begin);
      if (run.end < end) rest.emplace_back(run.end, end);
    }
    left = std::move(rest);
  }
  return found;
}

bool commute(const AccessInstance& a, const AccessInstance& b) {
  return a.kind == AccessKind::kAccumulate && b.kind == AccessKind::kAccumulate &&
         a.update == b.update;
}

}  // namespace

NextUses::NextUses(const Program& program, const Walk& walked, const Order& order,
                   const Footprints& footprints)
    : program_(program), walked_(walked), order_(order), footprints_(footprints) {
  for (const AccessInstance& access : footprints_.accesses()) {
    const std::span<const Run> runs = footprints_.runs(access);
    if (access.cmd == kEndOfRun || access.kind == AccessKind::kRead || runs.empty()) continue;
    writers_.push_back({.begin = runs.front().begin,
                        .end = runs.back().end,
                        .access = footprints_.index_of(access)});
  }
  std::ranges::sort(writers_, {}, &Writer::begin);
  std::uint32_t furthest = 0;
  for (Writer& writer : writers_) {
    furthest = std::max(furthest, writer.end);
    writer.furthest = furthest;
  }
  frees_.resize(program_.plan->storages.size());
  for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
    const Instance& instance = program_.instances[cmd];
    const Op& op = program_.plan->ops[instance.op];
    const bool frees = op.kind == OpKind::kFree && !instance.gate && !instance.skipped;
    if (frees) frees_[op.storage].push_back(cmd);
  }
}

std::vector<std::uint32_t> NextUses::writers_of(const AccessInstance& use) const {
  std::vector<std::uint32_t> found;
  const std::span<const Run> runs = footprints_.runs(use);
  if (runs.empty()) return found;
  auto at = std::ranges::lower_bound(writers_, runs.back().end, {}, &Writer::begin);
  while (at != writers_.begin() && std::prev(at)->furthest > runs.front().begin) {
    --at;
    if (at->end <= runs.front().begin) continue;
    const AccessInstance& other = footprints_.accesses()[at->access];
    if (other.cmd == use.cmd || commute(use, other)) continue;
    if (!footprints_.first_overlap(use, other).empty()) found.push_back(at->access);
  }
  std::ranges::sort(found);
  return found;
}

NextUse NextUses::next_by(const AccessInstance& use, Cmd cmd) const {
  NextUse next{.op = program_.instances[cmd].op, .iteration = program_.instances[cmd].iteration};
  next.waits = !meet(use.cmd, cmd) || order_.before(use.cmd, cmd);
  if (!next.waits || !meet(use.cmd, cmd)) return next;
  for (const Cmd step : sync_path(program_, walked_, order_, use.cmd, cmd)) {
    next.through.push_back(
        {true, program_.instances[step].op, std::int64_t{program_.instances[step].iteration}});
  }
  return next;
}

NextUse NextUses::write_by(const AccessInstance& use, const AccessInstance& other) const {
  NextUse next = next_by(use, other.cmd);
  next.tensor = other.tensor;
  next.clobbers = other.kind == AccessKind::kClobber;
  next.bytes = footprints_.first_overlap(use, other);
  return next;
}

Cmd NextUses::next_free(const AccessInstance& use, StorageId storage) const {
  const std::uint32_t slot = footprints_.slot_of_storage(storage, use.instance);
  for (auto at = std::ranges::upper_bound(frees_[storage], use.cmd); at != frees_[storage].end();
       ++at) {
    if (footprints_.slot_of_storage(storage, program_.instances[*at].iteration) == slot) return *at;
  }
  return kNoCmd;
}

std::vector<NextUse> NextUses::of(const AccessInstance& use, StorageId storage) const {
  std::vector<NextUse> found;
  std::set<OpId> racing;
  const auto is_new = [&](const AccessInstance& other) {
    return racing.size() < kMostRaces && racing.insert(program_.instances[other.cmd].op).second;
  };
  const std::vector<std::uint32_t> writers = writers_of(use);
  const auto later = std::ranges::partition_point(
      writers, [&](std::uint32_t k) { return footprints_.accesses()[k].cmd < use.cmd; });
  for (auto at = later; at != writers.begin();) {
    const AccessInstance& other = footprints_.accesses()[*--at];
    if (!meet(other.cmd, use.cmd) || order_.before(other.cmd, use.cmd)) continue;
    if (!is_new(other)) continue;
    found.push_back(write_by(use, other));
    found.back().is_earlier = true;
    found.back().waits = false;
    found.back().through.clear();
  }
  racing.clear();
  std::vector<PointRun> left;
  for (const Run& run : footprints_.runs(use)) left.emplace_back(run.begin, run.end);
  Cmd free = next_free(use, storage);
  const auto pass_free = [&] {
    found.push_back(next_by(use, free));
    found.back().frees = true;
    if (found.back().waits) left.clear();
    free = kNoCmd;
  };
  Cmd last = use.cmd;  // One line for each command, of its first access.
  for (auto at = later; at != writers.end(); ++at) {
    const AccessInstance& other = footprints_.accesses()[*at];
    if (free < other.cmd) pass_free();
    const bool waits = !meet(use.cmd, other.cmd) || order_.before(use.cmd, other.cmd);
    const bool is_news = waits ? take_out(left, footprints_.runs(other)) : is_new(other);
    if (!is_news || other.cmd == last) continue;
    found.push_back(write_by(use, other));
    last = other.cmd;
  }
  if (free != kNoCmd) pass_free();
  if (left.empty()) return found;
  for (const AccessInstance& end : footprints_.at_end()) {
    if (!take_out(left, footprints_.runs(end))) continue;
    NextUse& next = found.emplace_back();
    next.tensor = end.tensor;
    next.bytes = footprints_.first_overlap(use, end);
    next.waits = true;
    break;
  }
  return found;
}

}  // namespace memverify
