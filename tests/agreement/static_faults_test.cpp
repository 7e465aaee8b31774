// plan/faults.h against the byte-by-byte reference, on random plans that are all geometry. Both
// take docs/semantics.md by the letter: MV108 of the command that leaves its tensor, storage or
// pool (beside the MV110 of a storage), in-place pairs of whole tensors, shared bytes that any
// family writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/builder.h"
#include "plan/faults.h"
#include "plan/writer.h"
#include "tests/support/reference_static.h"

namespace memverify::testing {
namespace {

using Keys = std::set<std::string>;

/// What a finding must name. MV106 of an own write names the input, other rules as [S-53] says.
std::string key(const Plan& plan, const Finding& finding) {
  std::string text(info(finding.rule).id);
  const bool by_op = finding.rule != Rule::kBoundary && finding.rule != Rule::kLifetime;
  if (by_op) {
    for (const OpId op : finding.ops) text.append(" ").append(plan.ops[op].name);
    if (!finding.ops.empty() && finding.rule != Rule::kOutOfBounds) return text;
  }
  std::vector<TensorId> tensors = finding.tensors;
  const bool own_write = finding.rule == Rule::kBoundary && !finding.ops.empty();
  if (own_write) tensors.resize(1);
  std::ranges::sort(tensors);
  for (const TensorId tensor : tensors) text.append(" ").append(plan.tensors[tensor].name);
  if (!tensors.empty() || !finding.ops.empty()) return text;
  for (const StorageId id : finding.storages) text.append(" ").append(plan.storages[id].name);
  if (finding.storages.empty()) text.append(" ").append(plan.pools[finding.pool].name);
  return text;
}

/// Plans small enough that every kind of meeting happens often.
class PlanDice {
 public:
  explicit PlanDice(std::uint32_t seed) : random_(seed) {}

  Result<Plan> roll() {
    PlanBuilder b;
    const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
    for (const std::string_view pool : {"pool", "other"}) {
      PoolSpec spec{.name = pool, .alignment = chance(20) ? 2 : 1};
      if (chance(50)) spec.bytes = pick(20, 60);
      b.add_pool(spec);
      if (chance(20)) b.set_peak_bytes(pool, pick(20, 60));
    }
    b.add_queue({.name = "q"});
    b.set_iterations(pick(1, 3));
    for (const std::string_view storage : kStorages) add_storage(b, storage);
    for (std::size_t i = 0; i < names.size(); ++i) add_tensor(b, names, i);
    const std::vector<std::string> ops{"o", "p", "r"};
    for (const std::string& op : ops) add_op(b, op, names);
    for (const std::string& name : names) {
      if (chance(25)) {
        b.add_input(name);
        if (chance(25)) b.add_donated(name);
      } else if (chance(15)) {
        b.add_constant(name);
      }
      if (chance(20)) b.add_output({.tensor = name});
    }
    return std::move(b).build();
  }

 private:
  static constexpr std::string_view kStorages[] = {"s0", "s1", "s2"};

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(0, 99) < percent; }

  void add_storage(PlanBuilder& b, std::string_view name) {
    std::vector<ExprSpec> slots;
    for (std::int64_t n = chance(70) ? 1 : pick(2, 3); n > 0; --n) slots.emplace_back(pick(0, 30));
    const bool several = slots.size() > 1;
    b.add_storage({.name = name,
                   .pool = chance(80) ? "pool" : "other",
                   .slots = std::move(slots),
                   .slots_are_array = several,
                   .bytes = pick(8, 30)});
  }

  void add_tensor(PlanBuilder& b, const std::vector<std::string>& names, std::size_t i) {
    TensorSpec spec{.name = names[i], .offset = pick(0, 6) * (chance(90) ? 1 : -1)};
    if (i >= 2 && chance(40)) {
      spec.view_of = names[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(i) - 1))];
    } else {
      spec.storage = kStorages[pick(0, 2)];
    }
    if (chance(15)) spec.alignment = 2;
    if (chance(30)) {
      spec.bytes = pick(0, 16);
    } else {
      const std::vector<std::string_view> types{"u8", "i8", "f16", "i16", "f32", "i4"};
      spec.dtype = types[static_cast<std::size_t>(pick(0, 5))];
      std::vector<ExprSpec> shape;
      std::vector<ExprSpec> strides;
      for (std::int64_t rank = pick(0, 2); rank > 0; --rank) {
        shape.emplace_back(chance(5) ? 0 : pick(1, 4));
        strides.emplace_back(pick(-2, 4));
      }
      spec.shape = std::move(shape);
      if (spec.dtype != "i4" && chance(50)) spec.strides = std::move(strides);
    }
    b.add_tensor(spec);
  }

  AccessSpec access(const std::string& tensor) {
    AccessSpec spec{.tensor = tensor};
    if (chance(15)) spec.distance = 1;
    if (!chance(25)) return spec;
    spec.offset = pick(0, 10);
    if (chance(70)) spec.bytes = pick(0, 10);
    return spec;
  }

  void add_op(PlanBuilder& b, const std::string& name, const std::vector<std::string>& tensors) {
    OpSpec op{.name = name, .queue = "q"};
    if (chance(15)) op.kind = "view";
    if (op.kind == "view") op.queue = {};
    if (op.kind.empty() && chance(10)) op.kind = "unknown";
    if (op.kind.empty() && chance(20)) op.runs = chance(50) ? "first" : "last";
    const bool view = op.kind == "view";
    const auto any = [&] { return tensors[static_cast<std::size_t>(pick(0, 5))]; };
    const std::string read = any();
    const std::string written = chance(30) ? read : any();
    if (view) {
      op.reads = {{.tensor = read}};
      op.writes = {{.tensor = written}};
      return b.add_op(op);
    }
    if (chance(80)) op.reads.push_back(access(read));
    op.writes.push_back(access(written));
    const std::string more = any();
    if (chance(20)) op.accumulates.push_back(access(more));
    if (chance(10)) op.accumulates.push_back({.tensor = written});
    if (chance(15)) op.clobbers.push_back(access(more));
    if (chance(5))
      op.clobbers.push_back({.pool = "pool", .offset = pick(0, 20), .bytes = pick(0, 40)});
    if (!op.reads.empty() && chance(40)) op.in_place.push_back({read, written, chance(20)});
    b.add_op(op);
    if (chance(5))
      b.add_op({.name = name + "_alloc", .kind = "alloc", .queue = "q", .storage = "s0"});
  }

  std::mt19937 random_;
};

void expect_agreement(const Plan& plan, Keys& seen) {
  const Valuation valuation;
  const Result<Layout> layout = Layout::make(plan, valuation);
  ASSERT_TRUE(layout.ok()) << to_string(layout.errors()[0]);
  Keys mine;
  for (const Finding& finding : static_faults(plan, layout.value(), 1000)) {
    const std::string text = key(plan, finding);
    EXPECT_TRUE(mine.insert(text).second) << text << " is reported twice";
    seen.insert(std::string(info(finding.rule).id));
  }
  const Sizes sizes{plan, valuation, 1 << 16};
  FindingSet findings;
  reference_static_faults(sizes, findings);
  Keys reference;
  for (const Finding& finding : findings.list()) {
    reference.insert(key(plan, finding));
  }
  EXPECT_EQ(mine, reference) << write_plan(plan);
}

TEST(StaticFaults, AgreeWithTheReferenceOnRandomGeometry) {
  Keys seen;
  int built = 0;
  for (std::uint32_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Result<Plan> plan = PlanDice(seed).roll();
    if (!plan.ok()) continue;
    ++built;
    expect_agreement(plan.value(), seen);
  }
  EXPECT_GT(built, 2000);
  EXPECT_EQ(seen, (Keys{"MV106", "MV107", "MV108", "MV109", "MV110", "MV112", "MV113", "MV301"}));
}

}  // namespace
}  // namespace memverify::testing
