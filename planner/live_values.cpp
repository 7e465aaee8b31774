#include "planner/live_values.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace memverify {

BufferIndex BufferMap::add(std::int64_t address) {
  assert(addresses_.empty() || addresses_.back() <= address);
  addresses_.push_back(address);
  return static_cast<BufferIndex>(addresses_.size() - 1);
}

BufferIndex BufferMap::find(PoolId pool, ByteRange& range) {
  if (pool == scratch_) {
    const auto after = std::ranges::upper_bound(addresses_, range.begin);
    const auto at = static_cast<BufferIndex>(after - addresses_.begin() - 1);
    range = {range.begin - addresses_[at], range.end - addresses_[at]};
    return at;
  }
  const auto next = static_cast<BufferIndex>(movable() + fixed_.size());
  const auto [at, is_new] =
      index_of_fixed_.try_emplace(std::tuple(pool, range.begin, range.end), next);
  if (is_new) fixed_.push_back({pool, range});
  range = {0, range.end - range.begin};
  return at->second;
}

namespace {

/// One access of one cell, the bytes between two neighbouring ends of accesses.
struct Touch {
  std::uint32_t cell = 0;  ///< Point of its first byte.
  Cmd cmd = kNoCmd;        ///< kEndOfRun at the end.
  bool begins = false;     ///< A write: what was there before is gone.
  bool for_ever = false;   ///< By a command that may go on to the end.
  bool operator==(const Touch&) const = default;
};

class LiveValueMaker {
 public:
  LiveValueMaker(const Program& program, const Walk& walk, const Order& order,
                 const Footprints& footprints, BufferMap& buffers,
                 const std::vector<std::uint8_t>& ignored)
      : program_(program),
        walk_(walk),
        order_(order),
        footprints_(footprints),
        buffers_(buffers),
        ignored_(ignored) {}

  LiveValues make() {
    for (const Cmd cmd : walk_.order) touch_all(footprints_.of(cmd), cmd);
    touch_all(footprints_.at_end(), kEndOfRun);
    std::ranges::stable_sort(touches_, {}, &Touch::cell);
    list_cells();
    mark_initial();
    for (std::size_t k = 0; k < cells_.size();) {
      std::size_t end = k + 1;
      while (end < cells_.size() && continues(cells_[end - 1], cells_[end])) ++end;
      add_segment(cells_[k], {cells_[k].bytes.begin, cells_[end - 1].bytes.end});
      k = end;
    }
    return std::move(result_);
  }

 private:
  struct Cell {
    PoolId pool = kNone<PoolId>;
    ByteRange bytes;
    std::size_t begin = 0, end = 0;  ///< In touches_.
    BufferIndex buffer = 0;          ///< In the scratch pool; others are fixed, and 0.
    bool fixed = false;
    bool initial = false;
  };

  void touch_all(std::span<const AccessInstance> accesses, Cmd cmd) {
    const bool for_ever = cmd != kEndOfRun && program_.op(cmd).kind == OpKind::kUnknown;
    for (const AccessInstance& a : accesses) {
      // An unknown command may read what it is said to write.
      const bool begins =
          (a.kind == AccessKind::kWrite || a.kind == AccessKind::kClobber) && !for_ever;
      for (const Run& run : footprints_.runs(a)) {
        for (std::uint32_t cell = run.begin; cell < run.end; ++cell) {
          touches_.push_back({cell, cmd, begins && cmd != kEndOfRun, for_ever});
          if (cell >= pools_.size()) pools_.resize(cell + 1, kNone<PoolId>);
          pools_[cell] = footprints_.pool(a);
        }
      }
    }
  }

  void list_cells() {
    for (std::size_t k = 0; k < touches_.size();) {
      const std::uint32_t at = touches_[k].cell;
      Cell cell{.pool = pools_[at],
                .bytes = {footprints_.address(at), footprints_.address(at + 1)},
                .begin = k};
      while (k < touches_.size() && touches_[k].cell == at) ++k;
      cell.end = k;
      ByteRange in_buffer = cell.bytes;
      cell.fixed = !is_scratch(cell.pool);
      if (!cell.fixed) {
        cell.buffer = buffers_.find(cell.pool, in_buffer);
        if (ignored_[cell.buffer] != 0) continue;
      }
      cells_.push_back(cell);
    }
  }

  /// The scratch pool is the last one.
  bool is_scratch(PoolId pool) const { return index(pool) + 1 == program_.plan->pools.size(); }

  void mark_initial() {
    const Plan& plan = *program_.plan;
    for (const auto* boundary : {&plan.inputs, &plan.constants}) {
      for (const TensorId tensor : *boundary) {
        const StorageId storage = plan.tensors[tensor].storage;
        for (std::uint32_t slot = 0; slot < plan.storages[storage].slots.size(); ++slot) {
          const Region region = program_.layout->tensor_region(plan, tensor, slot);
          for (const ByteRange& run : region.runs()) mark_initial(region.pool(), run);
        }
      }
    }
  }

  void mark_initial(PoolId pool, ByteRange run) {
    auto at = std::partition_point(cells_.begin(), cells_.end(), [&](const Cell& cell) {
      return cell.pool < pool || (cell.pool == pool && cell.bytes.end <= run.begin);
    });
    for (; at != cells_.end() && at->pool == pool && at->bytes.begin < run.end; ++at) {
      at->initial = true;
    }
  }

  /// True iff two cells are one run of bytes with the same accesses.
  bool continues(const Cell& a, const Cell& b) const {
    return a.pool == b.pool && a.bytes.end == b.bytes.begin && a.buffer == b.buffer &&
           a.initial == b.initial && a.end - a.begin == b.end - b.begin &&
           std::equal(touches_.begin() + static_cast<std::ptrdiff_t>(a.begin),
                      touches_.begin() + static_cast<std::ptrdiff_t>(a.end),
                      touches_.begin() + static_cast<std::ptrdiff_t>(b.begin),
                      [](const Touch& x, const Touch& y) {
                        return x.cmd == y.cmd && x.begins == y.begins;
                      });
  }

  void add_segment(const Cell& cell, ByteRange bytes) {
    const BufferIndex buffer = buffers_.find(cell.pool, bytes);
    LiveValue value{.buffer = buffer, .bytes = bytes, .from_start = cell.initial};
    bool open = cell.initial;
    std::size_t begin = cell.begin;
    for (std::size_t k = cell.begin; k < cell.end; ++k) {
      if (touches_[k].begins && (open || k > begin)) {
        add_value(value, begin, k);
        value.from_start = false;
        begin = k;
      }
      open = true;
    }
    add_value(value, begin, cell.end);
  }

  /// A value with the touches `[begin, end)`.
  void add_value(LiveValue value, std::size_t begin, std::size_t end) {
    firsts_.clear();
    lasts_.clear();
    const bool starts_by_write = begin < end && touches_[begin].begins;
    for (std::size_t k = begin; k < end; ++k) {
      const Touch& touch = touches_[k];
      if (touch.cmd == kEndOfRun || touch.for_ever) value.to_end = true;
      if (touch.cmd == kEndOfRun) continue;
      const auto same_chain = [&](Cmd other) {
        return order_.chain(other) == order_.chain(touch.cmd);
      };
      const bool may_be_first = !value.from_start && (k == begin || !starts_by_write);
      if (may_be_first && std::ranges::none_of(firsts_, same_chain)) firsts_.push_back(touch.cmd);
      std::erase_if(
          lasts_, [&](Cmd other) { return same_chain(other) || order_.before(other, touch.cmd); });
      lasts_.push_back(touch.cmd);
    }
    value.firsts = keep(firsts_);
    value.lasts = keep(lasts_);
    result_.values.push_back(value);
  }

  Items keep(const std::vector<Cmd>& cmds) {
    const auto begin = static_cast<std::uint32_t>(result_.cmds.size());
    result_.cmds.insert(result_.cmds.end(), cmds.begin(), cmds.end());
    return {begin, static_cast<std::uint32_t>(result_.cmds.size())};
  }

  const Program& program_;
  const Walk& walk_;
  const Order& order_;
  const Footprints& footprints_;
  BufferMap& buffers_;
  const std::vector<std::uint8_t>& ignored_;
  std::vector<Touch> touches_;
  std::vector<PoolId> pools_;  ///< By cell.
  std::vector<Cell> cells_;
  std::vector<Cmd> firsts_, lasts_;  ///< Of the value at hand.
  LiveValues result_;
};

}  // namespace

LiveValues live_values(const Program& program, const Walk& walk, const Order& order,
                       const Footprints& footprints, BufferMap& buffers,
                       const std::vector<std::uint8_t>& ignored) {
  return LiveValueMaker(program, walk, order, footprints, buffers, ignored).make();
}

}  // namespace memverify
