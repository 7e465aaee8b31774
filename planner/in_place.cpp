#include "planner/in_place.h"

#include <algorithm>
#include <numeric>

namespace memverify {
namespace {

bool ranges_meet(const Clash& clash, std::int64_t first, std::int64_t second) {
  return first + clash.of_first.begin < second + clash.of_second.end &&
         second + clash.of_second.begin < first + clash.of_first.end;
}

class Grouper {
 public:
  Grouper(const GraphClashes& clashes, std::span<const std::int64_t> bytes,
          std::span<const std::int64_t> alignments)
      : clashes_(clashes),
        bytes_(bytes),
        alignments_(alignments),
        groups_(no_groups(bytes.size())) {
    members_.resize(bytes.size());
    for (BufferIndex b = 0; b < bytes.size(); ++b) members_[b] = {b};
    clashes_of_.resize(bytes.size());
    handoffs_of_.resize(bytes.size());
    for (std::uint32_t k = 0; k < clashes.clashes.size(); ++k) {
      enter(clashes_of_, clashes.clashes[k], k);
    }
    for (std::uint32_t k = 0; k < clashes.handoffs.size(); ++k) {
      enter(handoffs_of_, clashes.handoffs[k].clash, k);
    }
  }

  Groups run() {
    std::vector<std::uint32_t> order(clashes_.handoffs.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t k) {
      const Clash& clash = clashes_.handoffs[k].clash;
      return std::min(bytes_[clash.first], bytes_[clash.second]);
    });
    for (const std::uint32_t k : order) try_to_join(clashes_.handoffs[k]);
    for (const std::vector<BufferIndex>& group : members_) {
      std::int64_t least = 0;
      for (const BufferIndex b : group) least = std::min(least, groups_.offset_in[b]);
      for (const BufferIndex b : group) groups_.offset_in[b] -= least;
    }
    return std::move(groups_);
  }

 private:
  using Index = std::vector<std::vector<std::uint32_t>>;

  void enter(Index& index, const Clash& clash, std::uint32_t k) {
    if (clash.second >= bytes_.size()) return;
    index[clash.first].push_back(k);
    index[clash.second].push_back(k);
  }

  void try_to_join(const Handoff& handoff) {
    BufferIndex into = groups_.group_of[handoff.clash.first];
    BufferIndex from = groups_.group_of[handoff.clash.second];
    if (into == from) return;
    // What is added to the offsets of `from`.
    std::int64_t shift = groups_.offset_in[handoff.clash.first] + handoff.delta -
                         groups_.offset_in[handoff.clash.second];
    if (members_[into].size() < members_[from].size()) {
      std::swap(into, from);
      shift = -shift;
    }
    const bool fits = std::ranges::all_of(members_[from], [&](BufferIndex b) {
      return can_join(b, groups_.offset_in[b] + shift, into);
    });
    if (!fits) return;
    for (const BufferIndex b : members_[from]) {
      groups_.group_of[b] = into;
      groups_.offset_in[b] += shift;
      members_[into].push_back(b);
    }
    members_[from].clear();
  }

  bool can_join(BufferIndex b, std::int64_t offset, BufferIndex into) const {
    // Offsets are multiples of every alignment within, so that any start of the group fits.
    const std::int64_t alignment = alignments_[b];
    if (alignment == 0 || offset % alignment != 0) return false;
    const std::int64_t other = alignments_[into];
    if (other == 0 || offset % other != 0) return false;
    const auto at = [&](BufferIndex x) { return x == b ? offset : groups_.offset_in[x]; };
    const auto joined = [&](const Clash& clash) {
      return groups_.group_of[clash.first == b ? clash.second : clash.first] == into;
    };
    for (const std::uint32_t k : clashes_of_[b]) {
      const Clash& clash = clashes_.clashes[k];
      if (joined(clash) && ranges_meet(clash, at(clash.first), at(clash.second))) return false;
    }
    for (const std::uint32_t k : handoffs_of_[b]) {
      const auto& [clash, delta] = clashes_.handoffs[k];
      if (!joined(clash) || at(clash.first) + delta == at(clash.second)) continue;
      if (ranges_meet(clash, at(clash.first), at(clash.second))) return false;
    }
    return true;
  }

  const GraphClashes& clashes_;
  std::span<const std::int64_t> bytes_;
  std::span<const std::int64_t> alignments_;
  Groups groups_;
  std::vector<std::vector<BufferIndex>> members_;  ///< By group.
  Index clashes_of_, handoffs_of_;                 ///< By buffer.
};

}  // namespace

Groups no_groups(std::size_t buffers) {
  Groups groups;
  groups.group_of.resize(buffers);
  std::iota(groups.group_of.begin(), groups.group_of.end(), 0U);
  groups.offset_in.assign(buffers, 0);
  return groups;
}

Groups in_place_groups(const GraphClashes& clashes, std::span<const std::int64_t> bytes,
                       std::span<const std::int64_t> alignments) {
  return Grouper(clashes, bytes, alignments).run();
}

}  // namespace memverify
