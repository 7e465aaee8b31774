#include "verify/smt_bytes.h"

#include <algorithm>
#include <map>

namespace memverify::smt {

std::optional<Bytes> Bytes::make(const Program& program, std::size_t max_runs) {
  Bytes result(program);
  result.footprints_ = Footprints::make(program.listed, max_runs);
  if (!result.footprints_) return std::nullopt;
  result.list_events();
  result.cut();
  return result;
}

void Bytes::list_events() {
  const Plan& plan = *program_->listed.plan;
  allocated_.assign(plan.storages.size(), 0);
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::kAlloc) allocated_[index(op.storage)] = 1;
  }
  events_.resize(footprints_->slots());
  for (Cmd c = 0; c < program_->commands.size(); ++c) {
    const Op& op = program_->listed.op(c);
    if (op.kind != OpKind::kAlloc && op.kind != OpKind::kFree) continue;
    const std::uint32_t iteration = program_->listed.instances[c].iteration;
    events_[footprints_->slot_of_storage(op.storage, iteration)].push_back(c);
  }
}

/// Where inputs and constants lie, each in every slot.
std::vector<Region> Bytes::initial_regions() const {
  const Plan& plan = *program_->listed.plan;
  std::vector<Region> regions;
  for (const auto* list : {&plan.inputs, &plan.constants}) {
    for (const TensorId tensor : *list) {
      const std::size_t slots = plan.storages[plan.tensors[tensor].storage].slots.size();
      for (std::size_t slot = 0; slot < slots; ++slot) {
        regions.push_back(
            program_->listed.layout->tensor_region(plan, tensor, static_cast<std::int64_t>(slot)));
      }
    }
  }
  return regions;
}

/// Points of the pools that the same accesses and initial values cover become one cell.
void Bytes::cut() {
  const std::vector<Region> initial = initial_regions();
  std::vector<std::vector<Touch>> at(footprints_->points());
  std::vector<PoolId> pool(footprints_->points(), kNone<PoolId>);
  std::vector<Cmd> touch_all;
  for (Cmd c = 0; c < program_->commands.size(); ++c) {
    if (is_unknown(c) && program_->listed.op(c).accesses.empty()) touch_all.push_back(c);
  }
  for (const AccessInstance& a : footprints_->accesses()) {
    for (const memverify::Run& run : footprints_->runs(a)) {
      for (std::uint32_t p = run.begin; p < run.end; ++p) {
        at[p].push_back({footprints_->index_of(a), a.cmd});
        pool[p] = footprints_->pool(a);
      }
    }
  }
  std::map<std::vector<std::uint32_t>, std::size_t> known;
  for (std::uint32_t p = 0; p < at.size(); ++p) {
    if (at[p].empty()) continue;
    const ByteRange bytes{footprints_->address(p), footprints_->address(p + 1)};
    std::vector<std::uint32_t> key;
    for (const Touch& touch : at[p]) key.push_back(touch.access);
    for (std::uint32_t k = 0; k < initial.size(); ++k) {
      if (initial[k].pool() != pool[p]) continue;
      if (initial[k].overlaps(Region::contiguous(pool[p], bytes.begin, 1))) key.push_back(~k);
    }
    const auto [entry, fresh] = known.try_emplace(std::move(key), cells_.size());
    Cell* last = fresh ? nullptr : &cells_[entry->second];
    if (last != nullptr) {
      if (last->pool == pool[p] && last->bytes.end == bytes.begin) last->bytes.end = bytes.end;
      continue;
    }
    Cell cell{.pool = pool[p], .bytes = bytes, .touches = std::move(at[p])};
    for (Cmd c : touch_all) cell.touches.push_back({Touch::kAll, c});
    std::ranges::stable_sort(cell.touches, {}, [](const Touch& t) { return t.cmd; });
    cell.unknown =
        std::ranges::any_of(cell.touches, [&](const Touch& t) { return is_unknown(t.cmd); });
    cells_.push_back(std::move(cell));
  }
}

bool Bytes::reads(const Touch& touch) const {
  return is_unknown(touch.cmd) || access(touch).kind == AccessKind::kRead;
}
bool Bytes::writes(const Touch& touch) const {
  return is_unknown(touch.cmd) || access(touch).kind != AccessKind::kRead;
}
bool Bytes::overwrites(const Touch& touch) const {
  if (is_unknown(touch.cmd)) return true;
  const AccessKind kind = access(touch).kind;
  return kind == AccessKind::kWrite || kind == AccessKind::kClobber;
}

bool Bytes::commute(const Touch& a, const Touch& b) const {
  if (is_unknown(a.cmd) || is_unknown(b.cmd)) return false;
  const AccessInstance& x = access(a);
  const AccessInstance& y = access(b);
  return x.kind == AccessKind::kAccumulate && y.kind == x.kind && x.update == y.update;
}

bool Bytes::same_family(const Touch& a, const Touch& b) const {
  if (a.access == Touch::kAll || b.access == Touch::kAll) return false;
  const TensorId x = access(a).tensor;
  const TensorId y = access(b).tensor;
  const Plan& plan = *program_->listed.plan;
  return x != kNone<TensorId> && y != kNone<TensorId> &&
         plan.tensors[x].root == plan.tensors[y].root;
}

bool Bytes::same_instance(const Touch& a, const Touch& b) const {
  return same_family(a, b) && access(a).instance == access(b).instance;
}

/// [S-46]: in the slot of the reader's instance.
bool Bytes::has_initial(const Cell& cell, const AccessInstance& reader) const {
  const Plan& plan = *program_->listed.plan;
  const Region byte = Region::contiguous(cell.pool, cell.bytes.begin, 1);
  for (const auto* list : {&plan.inputs, &plan.constants}) {
    for (const TensorId tensor : *list) {
      if (plan.tensors[tensor].root != plan.tensors[reader.tensor].root) continue;
      const Region region = program_->listed.layout->tensor_region(plan, tensor, reader.instance);
      if (region.pool() == cell.pool && region.overlaps(byte)) return true;
    }
  }
  return false;
}

/// No alloc of the reader's slot is executed after `from` (kNoCmd: from the beginning) and before
/// `to`.
Bool Bytes::no_alloc_between(Terms& terms, const AccessInstance& reader, Cmd from, Cmd to) const {
  std::vector<Bool> none;
  for (Cmd c : events_[footprints_->slot(reader.tensor, reader.instance)]) {
    if (c >= to || (from != kNoCmd && c <= from)) continue;
    if (program_->listed.op(c).kind != OpKind::kAlloc) continue;
    none.push_back(terms.no(program_->commands[c].touches));
  }
  return terms.all(std::move(none));
}

/// Fills in the updates: accumulates after `from` (kNoCmd: all) that no alloc follows.
Expectation Bytes::alternative(Terms& terms, const Cell& cell, std::size_t reader, Expectation what,
                               Cmd from) const {
  const Touch& r = cell.touches[reader];
  for (const Touch& t : cell.touches) {
    if (t.cmd >= r.cmd || t.access == Touch::kAll) continue;
    if (is_unknown(t.cmd) || access(t).kind != AccessKind::kAccumulate) continue;
    if (!same_instance(t, r)) continue;
    const Bool counts = from == kNoCmd || t.cmd > from
                            ? terms.both(program_->commands[t.cmd].touches,
                                         no_alloc_between(terms, access(r), t.cmd, r.cmd))
                            : terms.truth(false);
    what.updates.push_back({t.cmd, counts});
  }
  return what;
}

/// [S-42], [S-43].
std::vector<Expectation> Bytes::expected(Terms& terms, const Cell& cell, std::size_t reader) const {
  const Touch& r = cell.touches[reader];
  const AccessInstance& read = access(r);
  const Plan& plan = *program_->listed.plan;
  std::vector<Expectation> result;
  using Base = Expectation::Base;
  const bool at_end = r.cmd == kEndOfRun;
  if (read.keeps_initial) {
    result.push_back({.applies = terms.truth(true), .base = Base::kInitial});
    return result;
  }
  const bool initial =
      at_end ? plan.outputs[read.access].from_initial : plan.accesses[read.access].from_initial;
  if (initial) {
    const Base base = has_initial(cell, read) ? Base::kInitial : Base::kNothing;
    result.push_back(
        alternative(terms, cell, reader, {.applies = terms.truth(true), .base = base}, kNoCmd));
    return result;
  }
  const auto writes_it = [&](const Touch& t) {
    if (t.access == Touch::kAll || t.cmd == kEndOfRun || !same_instance(t, r)) return false;
    return is_unknown(t.cmd) || access(t).kind == AccessKind::kWrite;
  };
  Bool rest = terms.truth(true);
  const auto add = [&](Cmd writer, Bool applies) {
    const Bool here = terms.both(rest, applies);
    if (!terms.is_false(here)) {
      result.push_back(alternative(
          terms, cell, reader, {.applies = here, .base = Base::kWriter, .writer = writer}, writer));
    }
  };
  const OpId from = at_end ? plan.outputs[read.access].from : plan.accesses[read.access].from;
  if (from != kNone<OpId>) {
    // The last write of that op before the reader, else the first after it.
    std::vector<Cmd> named;
    std::vector<Cmd> later;
    for (const Touch& t : cell.touches) {
      if (!writes_it(t) || program_->listed.instances[t.cmd].op != from) continue;
      if (t.cmd < r.cmd) {
        named.insert(named.begin(), t.cmd);
      } else {
        later.push_back(t.cmd);
      }
    }
    named.insert(named.end(), later.begin(), later.end());
    for (Cmd c : named) {
      add(c, program_->commands[c].touches);
      rest = terms.both(rest, terms.no(program_->commands[c].touches));
    }
  }
  for (std::size_t k = cell.touches.size(); k-- > 0 && !terms.is_false(rest);) {
    const Touch& t = cell.touches[k];
    if (t.cmd >= r.cmd || !writes_it(t)) continue;
    const Bool executes = program_->commands[t.cmd].touches;
    add(t.cmd, terms.both(executes, no_alloc_between(terms, read, t.cmd, r.cmd)));
    rest = terms.both(rest,
                      terms.no(terms.both(executes, no_alloc_between(terms, read, t.cmd, r.cmd))));
  }
  if (terms.is_false(rest)) return result;
  const Bool never_allocated = no_alloc_between(terms, read, kNoCmd, r.cmd);
  if (has_initial(cell, read)) {
    const Bool kept = terms.both(rest, never_allocated);
    if (!terms.is_false(kept)) {
      result.push_back(
          alternative(terms, cell, reader, {.applies = kept, .base = Base::kInitial}, kNoCmd));
    }
    rest = terms.both(rest, terms.no(never_allocated));
  }
  if (!terms.is_false(rest)) result.push_back({.applies = rest, .base = Base::kNothing});
  return result;
}

}  // namespace memverify::smt
