#include "verify/findings.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "plan/describe.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMaxWitnessSteps = 4'000'000;  // Over all findings.
constexpr std::size_t kMaxWholeRunSteps = 100'000;   // For findings that need the whole run.

/// The accesses by which a pair clashes in the way `bit`.
bool clashes(AccessKind earlier, AccessKind later, int bit) {
  const bool earlier_writes = earlier != AccessKind::kRead;
  const bool later_writes = later != AccessKind::kRead;
  switch (bit) {
    case 0:
      return !earlier_writes && later_writes;
    case 1:
      return earlier_writes && !later_writes;
    default:
      return earlier_writes && later_writes;
  }
}

/// Whose bytes the reader finds: the last access that its version does not hold, else the last one;
/// nullptr for the initial value.
const AccessInstance* found_writer(const CaseView& view, const Suspect& suspect) {
  const Versions& versions = view.versions;
  Version found = suspect.actual;
  for (Version v = found;; v = versions.before(v)) {
    const std::uint32_t access = versions.access(v);
    if (access != Versions::kNoAccess && !versions.contains(suspect.expected, access)) {
      found = v;
      break;
    }
    if (versions.before(v) == v) break;
  }
  const std::uint32_t access = versions.access(found);
  return access == Versions::kNoAccess ? nullptr : &view.footprints.accesses()[access];
}

}  // namespace

Finding* Findings::add(Key key, const CaseView* view) {
  if (kept_.contains(key)) return nullptr;
  std::size_t& count = counted_[static_cast<std::size_t>(info(std::get<0>(key)).severity)];
  if (count >= limit_) {
    stopped_ = true;
    return nullptr;
  }
  ++count;
  Finding& finding = kept_[key].finding;
  finding.rule = std::get<0>(key);
  if (view != nullptr) {
    finding.when = view->when;
    finding.symbols = view->symbols;
  }
  return &finding;
}

void Findings::add_tensor(Finding& finding, TensorId tensor) const {
  finding.tensors.push_back(tensor);
  const StorageId storage = plan_.tensors[tensor].storage;
  finding.storages.push_back(storage);
  if (finding.pool == kNone<PoolId>) finding.pool = plan_.storages[storage].pool;
}

/// Of the tensors, the first that is a view; else the first.
void Findings::set_chain(Finding& finding) const {
  if (finding.tensors.empty()) return;
  const auto is_view = [&](TensorId t) { return plan_.tensors[t].base != kNone<TensorId>; };
  const auto at = std::ranges::find_if(finding.tensors, is_view);
  TensorId tensor = at == finding.tensors.end() ? finding.tensors.front() : *at;
  finding.alias_chain.clear();
  for (; tensor != kNone<TensorId>; tensor = plan_.tensors[tensor].base) {
    finding.alias_chain.push_back(tensor);
  }
}

void Findings::set_witness(Finding& finding, std::vector<Step> steps) {
  if (witness_steps_ + steps.size() > kMaxWitnessSteps) return;
  witness_steps_ += steps.size();
  finding.witness = std::move(steps);
}

void Findings::add_static(std::vector<Finding> findings, const std::vector<SymbolValue>& symbols) {
  ++valuations_;
  for (Finding& f : findings) {
    std::uint32_t about = kNobody;
    std::uint32_t second = kNobody;
    const bool by_op = f.rule == Rule::kInPlace || f.rule == Rule::kIncoherent ||
                       f.rule == Rule::kOutOfBounds || f.rule == Rule::kNotProven;
    if (by_op && !f.ops.empty()) {
      about = index(f.ops.front());
    } else if (!f.tensors.empty()) {
      about = index(f.tensors.front());
      second = kStaticTensor;
    } else if (!f.storages.empty()) {
      about = index(f.storages.front());
      second = kStaticStorage;
    } else if (f.pool != kNone<PoolId>) {
      about = index(f.pool);
      second = kStaticPool;
    }
    const Key key{f.rule, about, second};
    Finding* kept = add(key, nullptr);
    if (is_unused_claim(key) && kept_.contains(key)) ++kept_[key].valuations;
    if (kept == nullptr) continue;
    f.symbols = symbols;
    *kept = std::move(f);
  }
}

void Findings::add_races(const CaseView& view, const RacingPairs& pairs) {
  for (const auto& [ops, pair] : pairs) {
    // One finding a pair of ops: the lowest way to clash over all cases names its rule.
    const Key key{Rule::kWar, index(ops.first), index(ops.second)};
    const auto at = kept_.find(key);
    if (at != kept_.end()) {
      Kept& kept = at->second;
      const Clashes before = kept.clashes;
      kept.clashes = static_cast<Clashes>(before | pair.clashes);
      if (std::countr_zero(pair.clashes) < std::countr_zero(before)) {
        Finding fresh;
        fresh.when = view.when;
        fresh.symbols = view.symbols;
        kept.finding = std::move(fresh);
        fill_race(view, pair, kept.finding);
      }
      continue;
    }
    Finding* finding = add(key, &view);
    if (finding == nullptr) return;
    kept_[key].clashes = pair.clashes;
    fill_race(view, pair, *finding);
  }
}

Finding* Findings::add_clash(OpId first, OpId second, Clashes clashes) {
  const Key key{Rule::kWar, index(first), index(second)};
  const auto at = kept_.find(key);
  if (at == kept_.end()) {
    Finding* finding = add(key, nullptr);
    if (finding != nullptr) kept_[key].clashes = clashes;
    return finding;
  }
  Kept& kept = at->second;
  const Clashes before = kept.clashes;
  kept.clashes = static_cast<Clashes>(before | clashes);
  if (std::countr_zero(clashes) >= std::countr_zero(before)) return nullptr;
  kept.finding = Finding{};
  return &kept.finding;
}

bool Findings::is_static_boundary(TensorId tensor, OpId op) const {
  const auto known = kept_.find({Rule::kBoundary, index(tensor), kStaticTensor});
  return known != kept_.end() && known->second.finding.ops == std::vector{op};
}

void Findings::fill_race(const CaseView& view, const RacingPair& pair, Finding& finding) {
  const int bit = std::countr_zero(pair.clashes);
  finding.rule = static_cast<Rule>(static_cast<int>(Rule::kWar) + bit);
  const Instance& first = view.program.instances[pair.first];
  const Instance& second = view.program.instances[pair.second];
  finding.ops = {first.op, second.op};
  finding.iteration = {first.iteration, second.iteration};
  const AccessInstance* chosen[2] = {nullptr, nullptr};
  for (const AccessInstance& x : view.footprints.of(pair.first)) {
    for (const AccessInstance& y : view.footprints.of(pair.second)) {
      if (!clashes(x.kind, y.kind, bit) || view.footprints.pool(x) != view.footprints.pool(y))
        continue;
      if (x.kind == AccessKind::kAccumulate && y.kind == x.kind && x.update == y.update) continue;
      const ByteRange bytes = view.footprints.first_overlap(x, y);
      if (bytes.empty() || (chosen[0] != nullptr && bytes.begin >= finding.bytes.begin)) continue;
      finding.bytes = bytes;
      chosen[0] = &x;
      chosen[1] = &y;
    }
  }
  finding.pool = view.footprints.pool(*chosen[0]);
  for (const AccessInstance* access : chosen) {
    if (access->tensor != kNone<TensorId>) add_tensor(finding, access->tensor);
  }
  set_chain(finding);
  set_witness(finding, view.witnesses.both_open(pair.first, pair.second));
}

void Findings::add_suspects(const CaseView& view, const std::vector<Suspect>& suspects,
                            const PointMarks& racy) {
  for (const Suspect& suspect : suspects) {
    // On bytes where some pair races the version is not asked; that nobody wrote them stands.
    const bool is_shown = !suspect.run.empty();
    if (is_shown || view.versions.base(suspect.expected) == kUnwrittenVersion) {
      add_suspect(view, suspect, suspect.bytes);
      continue;
    }
    const auto address = [&](std::size_t point) {
      return view.footprints.address(static_cast<std::uint32_t>(point));
    };
    for (std::size_t end = suspect.begin; end < suspect.end;) {
      const std::size_t begin = racy.first_not(end, suspect.end);
      end = racy.first(begin, suspect.end);
      const ByteRange bytes{std::max(suspect.bytes.begin, address(begin)),
                            std::min(suspect.bytes.end, address(end))};
      if (bytes.empty()) continue;
      add_suspect(view, suspect, bytes);
      break;
    }
  }
}

/// A run up to the reader.
void Findings::show_reader(const CaseView& view, const Suspect& suspect, Finding& finding) {
  const AccessInstance& read = view.footprints.accesses()[suspect.access];
  if (!suspect.run.empty()) {
    set_witness(finding, suspect.run);
  } else if (read.cmd != kEndOfRun) {
    set_witness(finding, view.witnesses.up_to(read.cmd));
  } else if (view.program.instances.size() * 2 <= kMaxWholeRunSteps) {
    set_witness(finding, view.witnesses.everything());
  }
}

/// True iff the plan's text has said already that `writer` overwrites what `read` keeps. If it
/// meant this very write, the run shows it.
bool Findings::is_static(const CaseView& view, const Suspect& suspect,
                         const AccessInstance& writer) {
  const AccessInstance& read = view.footprints.accesses()[suspect.access];
  const Instance& instance = view.program.instances[writer.cmd];
  const auto known = kept_.find({Rule::kBoundary, index(read.tensor), kStaticTensor});
  if (known == kept_.end()) return false;
  Finding& finding = known->second.finding;
  if (finding.ops != std::vector{instance.op}) return false;
  if (finding.witness.empty() && finding.symbols == view.symbols &&
      finding.iteration == std::vector{std::int64_t{instance.iteration}}) {
    finding.when = view.when;
    show_reader(view, suspect, finding);
  }
  return true;
}

void Findings::add_suspect(const CaseView& view, const Suspect& suspect, ByteRange bytes) {
  const AccessInstance& read = view.footprints.accesses()[suspect.access];
  const bool at_end = read.cmd == kEndOfRun;
  const bool unwritten =
      !read.keeps_initial && view.versions.base(suspect.expected) == kUnwrittenVersion;
  const AccessInstance* writer = found_writer(view, suspect);

  const auto op_of = [&](Cmd cmd) { return view.program.instances[cmd].op; };
  Rule rule = unwritten ? Rule::kUnwritten : at_end ? Rule::kBoundary : Rule::kWrongVersion;
  Key key{rule, at_end ? index(read.tensor) : index(op_of(read.cmd)), kNobody};
  if (unwritten && at_end) std::get<2>(key) = 0;  // A tensor, not an op.
  const bool names_writer = writer != nullptr && !unwritten;
  bool reader_first = true;
  if (rule == Rule::kWrongVersion && names_writer) {
    reader_first = read.cmd < writer->cmd;
    const std::uint32_t other = index(op_of(writer->cmd));
    key = reader_first ? Key{rule, std::get<1>(key), other} : Key{rule, other, std::get<1>(key)};
  }
  if (rule == Rule::kBoundary && names_writer && is_static(view, suspect, *writer)) return;
  Finding* finding = add(key, &view);
  if (finding == nullptr) return;
  finding->pool = view.footprints.pool(read);
  finding->bytes = bytes;
  const auto put = [&](const AccessInstance& a) {
    if (a.cmd != kEndOfRun) {
      finding->ops.push_back(op_of(a.cmd));
      finding->iteration.push_back(view.program.instances[a.cmd].iteration);
    }
    if (a.tensor != kNone<TensorId>) add_tensor(*finding, a.tensor);
  };
  if (names_writer && !reader_first) put(*writer);
  put(read);
  if (names_writer && reader_first) put(*writer);
  set_chain(*finding);
  finding->expected_initial = suspect.expected == kInitialVersion;
  if (const std::uint32_t wanted = view.versions.access(suspect.expected);
      wanted != Versions::kNoAccess) {
    const Cmd cmd = view.footprints.accesses()[wanted].cmd;
    finding->expected = op_of(cmd);
    finding->expected_iteration = view.program.instances[cmd].iteration;
  }
  show_reader(view, suspect, *finding);
}

void Findings::add_lifetimes(const CaseView& view, const std::vector<LifetimeFault>& faults) {
  for (const LifetimeFault& fault : faults) {
    // What needs an access of an unknown command is not proven.
    const auto is_unknown = [&](Cmd cmd) {
      return cmd != kNoCmd && view.program.op(cmd).kind == OpKind::kUnknown;
    };
    if (is_unknown(fault.first) || is_unknown(fault.second)) {
      const bool first = is_unknown(fault.first);
      add_unknowns(view,
                   {{first ? fault.first : fault.second, first ? fault.second : fault.first}});
      continue;
    }
    const auto op_of = [&](Cmd cmd) {
      return cmd == kNoCmd ? kNobody : index(view.program.instances[cmd].op);
    };
    const Key key =
        fault.at_end ? Key{Rule::kLifetime, index(fault.tensor) | 0x80000000U, op_of(fault.first)}
                     : Key{Rule::kLifetime, op_of(fault.first), op_of(fault.second)};
    Finding* finding = add(key, &view);
    if (finding == nullptr) continue;
    for (Cmd cmd : {fault.first, fault.second}) {
      if (cmd == kNoCmd) continue;
      finding->ops.push_back(view.program.instances[cmd].op);
      finding->iteration.push_back(view.program.instances[cmd].iteration);
    }
    if (fault.tensor != kNone<TensorId>) {
      add_tensor(*finding, fault.tensor);
      set_chain(*finding);
    } else {
      finding->storages.push_back(fault.storage);
      finding->pool = plan_.storages[fault.storage].pool;
    }
    if (fault.at_end) {
      if (view.program.instances.size() * 2 <= kMaxWholeRunSteps) {
        set_witness(*finding, view.witnesses.everything());
      }
    } else if (fault.second == kNoCmd) {
      set_witness(*finding, view.witnesses.up_to(fault.first));
    } else {
      set_witness(*finding, view.witnesses.meeting(fault.first, fault.second));
    }
  }
}

void Findings::add_deadlock(const CaseView& view, const std::vector<Blocked>& commands,
                            const std::vector<Step>& steps) {
  for (const Blocked& blocked : commands) {
    const Instance& instance = view.program.instances[blocked.cmd];
    Finding* finding = add({Rule::kDeadlock, index(instance.op), kNobody}, &view);
    if (finding == nullptr) continue;
    finding->ops = {instance.op};
    finding->iteration = {instance.iteration};
    finding->semaphore = blocked.semaphore;
    finding->queue = blocked.queue;
    if (blocked.on != kNoCmd && blocked.on != blocked.cmd) {
      finding->ops.push_back(view.program.instances[blocked.on].op);
      finding->iteration.push_back(view.program.instances[blocked.on].iteration);
    }
    if (view.program.instances.size() * 2 <= kMaxWholeRunSteps) set_witness(*finding, steps);
  }
}

void Findings::add_unknowns(const CaseView& view, const std::map<Cmd, Cmd>& unknowns) {
  for (const auto& [unknown, other] : unknowns) {
    const Instance& instance = view.program.instances[unknown];
    Finding* finding = add({Rule::kNotProven, index(instance.op), kNobody}, &view);
    if (finding == nullptr) continue;
    finding->ops = {instance.op};
    finding->iteration = {instance.iteration};
    if (other != kEndOfRun) {
      finding->ops.push_back(view.program.instances[other].op);
      finding->iteration.push_back(view.program.instances[other].iteration);
    }
  }
}

void Findings::add_not_proven(std::string message, std::string help) {
  const auto number = static_cast<std::uint32_t>(kept_.size());
  Finding* finding = add({Rule::kNotProven, kNobody, number}, nullptr);
  if (finding == nullptr) return;
  finding->message = std::move(message);
  finding->help = std::move(help);
}

void Findings::add_warning(OpId op, std::string message, std::string help) {
  Finding* finding = add({Rule::kWarning, index(op), kSync}, nullptr);
  if (finding == nullptr) return;
  finding->ops = {op};
  finding->message = std::move(message);
  finding->help = std::move(help);
}

std::string Findings::where_to_wait_for(OpId record) const {
  const QueueId queue = plan_.ops[record].queue;
  for (const auto& [key, kept] : kept_) {
    const std::vector<OpId>& ops = kept.finding.ops;
    if (!is_race(kept.finding.rule) || ops.size() < 2) continue;
    const bool records_it = ops[0] < record && record < ops[1] &&
                            plan_.ops[ops[0]].queue == queue && plan_.ops[ops[1]].queue != queue;
    if (!records_it) continue;
    return "see " + std::string(info(kept.finding.rule).id) + " of " +
           quoted(plan_.ops[ops[1]].name) + ": wait for the event there";
  }
  return "";
}

void Findings::merge(Findings copy) {
  stopped_ = stopped_ || copy.stopped_;
  for (auto& [key, kept] : copy.kept_) {
    const auto known = kept_.find(key);
    if (std::get<0>(key) == Rule::kNotProven && std::get<1>(key) == kNobody) {
      if (known != kept_.end() && known->second.finding.message == kept.finding.message) continue;
      add_not_proven(std::move(kept.finding.message), std::move(kept.finding.help));
    } else if (known == kept_.end()) {
      if (add(key, nullptr) != nullptr) kept_[key] = std::move(kept);
    } else {
      Kept& here = known->second;
      if (std::countr_zero(kept.clashes) < std::countr_zero(here.clashes)) {
        here.finding = std::move(kept.finding);
      }
      here.clashes = static_cast<Clashes>(here.clashes | kept.clashes);
    }
  }
}

bool Findings::covers(const Findings& other) const {
  return std::ranges::all_of(other.kept_, [&](const auto& entry) {
    const auto at = kept_.find(entry.first);
    return at != kept_.end() && (at->second.clashes | entry.second.clashes) == at->second.clashes;
  });
}

void finish(EngineResult& result, std::size_t limit, bool stopped) {
  std::ranges::stable_sort(result.findings, [](const Finding& a, const Finding& b) {
    return std::pair(a.rule, a.ops) < std::pair(b.rule, b.ops);
  });
  result.verdict = verdict_of(result.findings);
  result.stopped_at_max_findings = stopped || result.findings.size() > limit;
  if (result.findings.size() > limit) result.findings.resize(limit);  // Errors come first.
}

EngineResult Findings::take() {
  EngineResult result;
  for (auto& [key, kept] : kept_) {
    Finding& finding = kept.finding;
    // A claim that some valuation uses to the last byte is right.
    if (is_unused_claim(key) && kept.valuations != valuations_) continue;
    const int lowest = std::countr_zero(kept.clashes);
    for (int bit = 0; bit < 3; ++bit) {
      if ((kept.clashes >> bit & 1) != 0 && bit != lowest) {
        finding.also.push_back(static_cast<Rule>(static_cast<int>(Rule::kWar) + bit));
      }
    }
    describe(plan_, finding);
    result.findings.push_back(std::move(finding));
  }
  finish(result, limit_, stopped_);
  return result;
}

}  // namespace memverify
