#include "cuda_check/work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "cuda_check/byte_ranges.h"
#include "cuda_check/expected.h"

namespace memverify::device {
namespace {

/// The bytes of one access of one command.
struct Bytes {
  const Access* access = nullptr;
  std::int64_t instance = 0;
  PoolId pool = kNone<PoolId>;
  Ranges ranges;
};

class WorkMaker {
 public:
  WorkMaker(const Plan& plan, const Layout& layout, const Settled& settled, const Calls& calls)
      : plan_(plan),
        layout_(layout),
        settled_(settled),
        calls_(calls),
        history_(plan, layout, calls) {
    find_single_instances();
    work_.commands.resize(calls.commands.size());
    work_.pools.resize(plan.pools.size(), {std::numeric_limits<std::int64_t>::max(),
                                           std::numeric_limits<std::int64_t>::min()});
  }

  Result<Work> make() {
    add_initial();
    for (const CommandId c : ids(calls_.commands)) add_writes(c);
    for (const CommandId c : ids(calls_.commands)) add_reads(c);
    add_end();
    if (work_.pieces.size() > kMaxPieces) {
      return Diagnostic{.id = "device.size",
                        .message = "the accesses consist of too many separate runs of bytes"};
    }
    for (ByteRange& pool : work_.pools) {
      if (pool.empty()) pool = {};
      constexpr std::int64_t kAlign = 16;
      pool.begin -= (pool.begin % kAlign + kAlign) % kAlign;
      pool.end += (kAlign - (pool.end % kAlign + kAlign) % kAlign) % kAlign;
    }
    return std::move(work_);
  }

 private:
  /// [S-30], by the text.
  void find_single_instances() {
    single_.resize(plan_.tensors.size(), 1);
    for (const Op& op : plan_.ops) {
      if (!is_counted(op.kind)) continue;
      for (const Access& access : plan_.accesses_of(op)) {
        if (access.tensor == kNone<TensorId> || op.runs == Runs::kFirst) continue;
        if (access.kind == AccessKind::kRead || access.kind == AccessKind::kAccumulate) continue;
        single_[plan_.tensors[access.tensor].root] = 0;
      }
    }
    for (const Tensor& tensor : plan_.tensors) {
      if (plan_.storages[tensor.storage].slots.size() > 1) single_[tensor.root] = 0;
    }
  }
  std::int64_t instance(TensorId tensor, std::int64_t iteration) const {
    return single_[plan_.tensors[tensor].root] != 0 ? 0 : iteration;
  }

  const Op& op_of(CommandId c) const { return plan_.ops[calls_.commands[c].op]; }

  /// The accesses of one kind, united within each.
  std::vector<Bytes> accesses(CommandId c, AccessKind kind) const {
    std::vector<Bytes> all;
    const Op& op = op_of(c);
    if (calls_.commands[c].passed || !is_counted(op.kind)) return all;
    for (const Access& access : plan_.accesses_of(op)) {
      if (access.kind != kind) continue;
      Bytes bytes{.access = &access};
      if (access.tensor != kNone<TensorId>) {
        bytes.instance =
            instance(access.tensor, calls_.commands[c].iteration - std::int64_t{access.distance});
      }
      const Region region = layout_.access_region(plan_, access, bytes.instance);
      if (region.empty()) continue;
      bytes.pool = region.pool();
      bytes.ranges = region.runs();
      all.push_back(std::move(bytes));
    }
    return all;
  }
  static void subtract(std::vector<Bytes>& from, const std::vector<Bytes>& what) {
    for (Bytes& bytes : from) {
      for (const Bytes& less : what) {
        if (less.pool == bytes.pool) bytes.ranges = without(bytes.ranges, less.ranges);
      }
    }
  }

  /// One that accumulates twice into the same bytes does it once.
  static void subtract_earlier(std::vector<Bytes>& all, std::size_t i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (all[k].pool == all[i].pool) all[i].ranges = without(all[i].ranges, all[k].ranges);
    }
  }

  std::uint32_t at() const { return static_cast<std::uint32_t>(work_.pieces.size()); }
  void add_piece(PoolId pool, ByteRange bytes, std::uint64_t value, TensorId tensor,
                 std::int64_t of_instance, std::uint32_t expected = 0) {
    const std::uint32_t slot = tensor == kNone<TensorId>
                                   ? 0
                                   : layout_.slot_index(plan_.tensors[tensor].storage, of_instance);
    work_.pieces.push_back({pool, bytes, value, expected, tensor, slot});
    ByteRange& all = work_.pools[pool];
    all = {std::min(all.begin, bytes.begin), std::max(all.end, bytes.end)};
  }
  void add_pieces(const Bytes& bytes, Author author) {
    for (const ByteRange& range : bytes.ranges) {
      add_piece(bytes.pool, range, code_of(author), bytes.access->tensor, bytes.instance);
    }
  }

  void add_writes(CommandId c) {
    const Op& op = op_of(c);
    if (op.kind == OpKind::kAlloc) {
      history_.add_alloc(c, op.storage,
                         layout_.slot_index(op.storage, calls_.commands[c].iteration));
    }
    std::vector<Bytes> writes = accesses(c, AccessKind::kWrite);
    std::vector<Bytes> updates = accesses(c, AccessKind::kAccumulate);
    std::vector<Bytes> clobbers = accesses(c, AccessKind::kClobber);
    subtract(updates, writes);
    for (std::size_t i = 1; i < updates.size(); ++i) subtract_earlier(updates, i);
    for (const Bytes& bytes : writes) {
      history_.add(c, bytes.access->tensor, bytes.instance, false, bytes.ranges);
    }
    for (const Bytes& bytes : updates) {
      history_.add(c, bytes.access->tensor, bytes.instance, true, bytes.ranges);
    }
    if (op.kind == OpKind::kUnknown) return;
    subtract(writes, clobbers);
    subtract(updates, clobbers);
    CommandWork& work = work_.commands[c];
    work.writes.begin = at();
    for (const Bytes& bytes : writes) add_pieces(bytes, author(c, Mark::kValue));
    for (const Bytes& bytes : clobbers) add_pieces(bytes, author(c, Mark::kClobbered));
    work.writes.end = at();
    for (const Bytes& bytes : updates) {
      Update update{.pieces = {at(), at()}, .kind = kind_of(*bytes.access)};
      add_pieces(bytes, author(c, Mark::kValue));
      update.pieces.end = at();
      work.updates.push_back(update);
    }
  }

  std::uint32_t kind_of(const Access& access) {
    const auto next = static_cast<std::uint32_t>(kinds_.size());
    return kinds_.try_emplace({access.update, plan_.tensors[access.tensor].dtype}, next)
        .first->second;
  }

  void add_reads(CommandId c) {
    if (op_of(c).kind == OpKind::kUnknown) return;
    std::vector<Bytes> reads = accesses(c, AccessKind::kRead);
    CommandWork& work = work_.commands[c];
    work.reads = add_checks(c, reads, /*count=*/true);
    for (const AccessKind kind :
         {AccessKind::kWrite, AccessKind::kAccumulate, AccessKind::kClobber}) {
      subtract(reads, accesses(c, kind));
    }
    work.steady_reads = add_checks(c, reads, /*count=*/false);
  }

  Range add_checks(CommandId c, const std::vector<Bytes>& reads, bool count) {
    Range range{at(), at()};
    for (const Bytes& bytes : reads) {
      const Access& access = *bytes.access;
      add_check({access.tensor, bytes.instance, c, access.from, access.from_initial}, bytes.pool,
                bytes.ranges, count);
    }
    range.end = at();
    return range;
  }

  void add_check(const Reader& reader, PoolId pool, const Ranges& ranges, bool count) {
    for (ExpectedPart& part : history_.expected(reader, ranges)) {
      if (part.is_opaque) {
        work_.unchecked_reads += count ? 1 : 0;
        continue;
      }
      std::uint64_t value = code_of(part.base);
      for (const CommandId update : part.updates)
        value ^= whole_amount(update, reader, pool, part.bytes);
      add_piece(pool, part.bytes, value, reader.tensor, reader.instance,
                static_cast<std::uint32_t>(work_.expectations.size()));
      work_.expectations.push_back({part.base, std::move(part.updates)});
    }
  }

  /// What `update` adds to `bytes`, which lie in one of its pieces.
  std::uint64_t whole_amount(CommandId update, const Reader& reader, PoolId pool,
                             ByteRange bytes) const {
    for (const Update& one : work_.commands[update].updates) {
      for (const Piece& piece : work_.slice(one.pieces)) {
        const bool holds = piece.pool == pool && piece.bytes.begin <= bytes.begin &&
                           bytes.end <= piece.bytes.end &&
                           plan_.tensors[piece.tensor].root == plan_.tensors[reader.tensor].root;
        if (holds) return amount_of(update, one.kind).whole;
      }
    }
    return 0;  // An unknown command's: it adds nothing.
  }

  std::uint32_t slots_of(TensorId tensor) const {
    return plan_.storages[plan_.tensors[tensor].storage].slots.size();
  }

  /// Inputs and constants, in every slot ([S-46]).
  void add_initial() {
    work_.initial.begin = at();
    for (const auto* list : {&plan_.constants, &plan_.inputs}) {
      for (const TensorId tensor : *list) {
        for (std::uint32_t slot = 0; slot < slots_of(tensor); ++slot) {
          const Region region = layout_.tensor_region(plan_, tensor, slot);
          if (region.empty()) continue;
          const Ranges ranges = region.runs();
          history_.add_initial(tensor, slot, ranges);
          for (const ByteRange& range : ranges) {
            add_piece(region.pool(), range, code_of(Author::kInitial), tensor, slot);
          }
        }
      }
    }
    work_.initial.end = at();
  }

  /// [S-46], [S-47].
  void add_end() {
    const CommandId end = calls_.commands.next_id();
    work_.end.begin = at();
    const auto is_in = [](const auto& list, TensorId tensor) {
      return std::ranges::find(list, tensor) != list.end();
    };
    for (const auto* list : {&plan_.constants, &plan_.inputs}) {
      for (const TensorId tensor : *list) {
        const bool is_output =
            std::ranges::find(plan_.outputs, tensor, &Output::tensor) != plan_.outputs.end();
        const bool may_change = is_output || is_in(plan_.donated, tensor);
        if (may_change && list == &plan_.inputs) continue;
        for (std::uint32_t slot = 0; slot < slots_of(tensor); ++slot) add_survivor(tensor, slot);
      }
    }
    for (const Output& output : plan_.outputs) {
      if (settled_.unrolled != settled_.iterations) break;
      const std::int64_t last = instance(output.tensor, settled_.iterations - 1);
      const Region region = layout_.tensor_region(plan_, output.tensor, last);
      if (region.empty()) continue;
      add_check({output.tensor, last, end, output.from, output.from_initial}, region.pool(),
                region.runs(), /*count=*/true);
    }
    work_.end.end = at();
  }

  void add_survivor(TensorId tensor, std::uint32_t slot) {
    const Region region = layout_.tensor_region(plan_, tensor, slot);
    if (region.empty()) return;
    for (const ByteRange& range : region.runs()) {
      add_piece(region.pool(), range, code_of(Author::kInitial), tensor, slot,
                static_cast<std::uint32_t>(work_.expectations.size()));
    }
    work_.expectations.push_back({Author::kInitial, {}});
  }

  const Plan& plan_;
  const Layout& layout_;
  const Settled& settled_;
  const Calls& calls_;
  History history_;
  Table<TensorId, char> single_;  ///< By root.
  std::map<std::pair<UpdateId, DType>, std::uint32_t> kinds_;
  Work work_;
};

}  // namespace

Result<Work> make_work(const Plan& plan, const Layout& layout, const Settled& settled,
                       const Calls& calls) {
  return WorkMaker(plan, layout, settled, calls).make();
}

std::int64_t pool_bytes(const Work& work) {
  std::int64_t sum = 0;
  for (const ByteRange& pool : work.pools) sum += pool.end - pool.begin;
  return sum;
}

}  // namespace memverify::device
