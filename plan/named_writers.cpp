#include "plan/named_writers.h"

#include <algorithm>

#include "plan/pointer.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::int64_t kMaxRuns = std::int64_t{1} << 20;
constexpr std::size_t kMostNamingErrors = 100;

/// The writes of `op` to the family of `root`, all in the same instance.
std::vector<Region> writes_of(const Plan& plan, const Layout& layout, const Op& op, TensorId root) {
  std::vector<Region> writes;
  for (const Access& access : plan.accesses_of(op)) {
    if (access.tensor == kNone<TensorId> || plan.tensors[access.tensor].root != root) continue;
    if (access.kind != AccessKind::kWrite && op.kind != OpKind::kUnknown) continue;
    writes.push_back(layout.access_region(plan, access, 0));
  }
  return writes;
}

/// The first bytes of `read` that lie in none of `writes`; of regions with more than kMaxRuns runs,
/// the hull. Empty when there are none.
ByteRange first_outside(const Region& read, const std::vector<Region>& writes) {
  for (const Region& write : writes) {
    if (write.same_bytes(read)) return {};
  }
  std::vector<ByteRange> written;
  for (const Region& write : writes) {
    if (write.count_runs(kMaxRuns) >= kMaxRuns) return read.hull();
    const std::vector<ByteRange> runs = write.runs();
    written.insert(written.end(), runs.begin(), runs.end());
  }
  if (read.count_runs(kMaxRuns) >= kMaxRuns) return read.hull();
  std::ranges::sort(written, {}, &ByteRange::begin);
  auto next = written.begin();
  std::int64_t covered = read.hull().begin;  // Bytes of the current run before this are written.
  for (const ByteRange& run : read.runs()) {
    covered = std::max(covered, run.begin);
    for (; next != written.end() && next->begin <= covered; ++next) {
      covered = std::max(covered, next->end);
    }
    if (covered >= run.end) continue;
    return {covered, next == written.end() ? run.end : std::min(run.end, next->begin)};
  }
  return {};
}

class Search {
 public:
  Search(const Plan& plan, const Layout& layout) : plan_(plan), layout_(layout) {}

  std::vector<Diagnostic> run() {
    for (const OpId id : ids(plan_.ops)) {
      const Range range = plan_.ops[id].accesses;
      for (std::uint32_t i = range.begin; i < range.end; ++i) {
        const Access& access = plan_.accesses[i];
        if (access.from == kNone<OpId>) continue;
        check(access.from, access.tensor, layout_.access_region(plan_, access, 0), [&] {
          return json_pointer({"ops", index(id), "reads", i - range.begin, "from"});
        });
      }
    }
    for (std::uint32_t i = 0; i < plan_.outputs.size(); ++i) {
      const Output& output = plan_.outputs[i];
      if (output.from == kNone<OpId>) continue;
      check(output.from, output.tensor, layout_.tensor_region(plan_, output.tensor, 0), [&] {
        return json_pointer({"outputs", i, "from"});
      });
    }
    return std::move(errors_);
  }

 private:
  template <typename Pointer>
  void check(OpId from, TensorId tensor, const Region& read, Pointer pointer) {
    const Op& op = plan_.ops[from];
    if (errors_.size() >= kMostNamingErrors || read.empty()) return;
    if (op.kind == OpKind::kUnknown && op.accesses.empty()) return;
    const ByteRange left =
        first_outside(read, writes_of(plan_, layout_, op, plan_.tensors[tensor].root));
    if (left.empty()) return;
    errors_.push_back({.id = "from.bytes",
                       .message = quoted(op.name) + " does not write bytes [" +
                                  std::to_string(left.begin) + ", " + std::to_string(left.end) +
                                  ") of pool " + quoted(plan_.pools[read.pool()].name) +
                                  ", which are read here",
                       .pointer = pointer()});
  }

  const Plan& plan_;
  const Layout& layout_;
  std::vector<Diagnostic> errors_;
};

}  // namespace

std::vector<Diagnostic> misnamed_writers(const Plan& plan, const Layout& layout) {
  const auto names_writer = [](const auto& item) { return item.from != kNone<OpId>; };
  if (std::ranges::none_of(plan.accesses, names_writer) &&
      std::ranges::none_of(plan.outputs, names_writer)) {
    return {};
  }
  return Search(plan, layout).run();
}

}  // namespace memverify
