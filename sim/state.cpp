#include "sim/state.h"

#include <algorithm>

#include "plan/words.h"

namespace memverify::sim {

Execution::Execution(const Program& program)
    : program_(program),
      counts_(program.initial),
      prefix_(program.sequences.size(), 0),
      trees_(program.sequences.size()) {
  phases_.resize(program.commands.size(), Phase::kWaiting);
  for (std::uint32_t s = 0; s < program.counted.size(); ++s) {
    if (program.counted[s] == 0) continue;
    if (ranks_.empty()) ranks_.resize(program.commands.size());
    trees_[s].assign(program.sequences[s].size() + 1, 0);
    for (std::uint32_t rank = 0; rank < program.sequences[s].size(); ++rank) {
      ranks_[index(program.sequences[s][rank])].emplace_back(s, rank);
    }
  }
}

std::uint32_t Execution::completed_of(std::uint32_t sequence, std::uint32_t first) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = first; i > 0; i &= i - 1) sum += trees_[sequence][i];
  return sum;
}

bool Execution::met(const Need& need) {
  switch (need.kind) {
    case Need::Kind::kDone:
      return phases_[CommandId{need.at}] == Phase::kDone;
    case Need::Kind::kStarted:
      return phases_[CommandId{need.at}] != Phase::kWaiting;
    case Need::Kind::kPrefix: {
      std::uint32_t& prefix = prefix_[need.at];
      const std::vector<CommandId>& sequence = program_.sequences[need.at];
      while (prefix < need.first && phases_[sequence[prefix]] == Phase::kDone) ++prefix;
      return prefix >= need.first;
    }
    case Need::Kind::kCount:
      return completed_of(need.at, need.first) >= need.least;
  }
  return false;
}

std::optional<Need> Execution::unmet_need(CommandId c) {
  const auto needs = phases_[c] == Phase::kWaiting ? program_.to_start(c) : program_.to_finish(c);
  const auto unmet = std::ranges::find_if(needs, [this](const Need& need) { return !met(need); });
  if (unmet == needs.end()) return std::nullopt;
  return *unmet;
}

std::optional<SemaphoreNeed> Execution::unmet_semaphore(CommandId c) const {
  const auto needs = program_.semaphores_of(c);
  for (std::size_t i = 0; i < needs.size(); ++i) {
    std::int64_t wanted = needs[i].value;
    for (const SemaphoreNeed& before : needs.first(i)) {
      if (before.consume && before.semaphore == needs[i].semaphore) wanted += before.value;
    }
    if (counts_[needs[i].semaphore] < wanted) return needs[i];
  }
  return std::nullopt;
}

bool Execution::can_start(CommandId c) {
  return phases_[c] == Phase::kWaiting && !unmet_need(c) && !unmet_semaphore(c);
}

bool Execution::can_finish(CommandId c) { return phases_[c] == Phase::kOpen && !unmet_need(c); }

void Execution::start(CommandId c) {
  phases_[c] = Phase::kOpen;
  for (const SemaphoreNeed& need : program_.semaphores_of(c)) {
    if (need.consume) counts_[need.semaphore] -= need.value;
  }
}

void Execution::finish(CommandId c) {
  phases_[c] = Phase::kDone;
  ++done_;
  for (const SemaphoreSignal& signal : program_.signals_of(c)) {
    std::int64_t& count = counts_[signal.semaphore];
    count = program_.timeline[signal.semaphore] != 0 ? std::max(count, signal.value)
                                                     : count + signal.value;
  }
  if (ranks_.empty()) return;
  for (const auto& [sequence, rank] : ranks_[index(c)]) {
    std::vector<std::uint32_t>& tree = trees_[sequence];
    for (std::uint32_t i = rank + 1; i < tree.size(); i += i & (~i + 1)) ++tree[i];
  }
}

Memory::Memory(const ByteMap& map) : map_(map), cells_(map.cells.size()) {
  for (CellId cell = 0; cell < cells_.size(); ++cell) {
    if (!map.cells[cell].initial.empty()) cells_[cell].value.base = Value::Base::kInitial;
  }
}

void Memory::start(CommandId c) {
  for (const Effect& effect : map_.effects_of(c)) {
    CellState& cell = cells_[effect.cell];
    const bool alone = cell.open_writes + cell.open_updates == 0;
    if (alone) cell.mixed = false;
    switch (effect.kind) {
      case TouchKind::kRead:
        break;
      case TouchKind::kWrite:
      case TouchKind::kClobber:
        cell.mixed |= !alone;
        ++cell.open_writes;
        break;
      case TouchKind::kAccumulate:
        cell.mixed |= cell.open_writes > 0 || (!alone && cell.update != effect.update);
        cell.update = effect.update;
        ++cell.open_updates;
        break;
      case TouchKind::kOpaque:
        cell.opaque = true;
        break;
    }
  }
}

void Memory::finish(CommandId c) {
  for (const Effect& effect : map_.effects_of(c)) {
    CellState& cell = cells_[effect.cell];
    switch (effect.kind) {
      case TouchKind::kRead:
      case TouchKind::kOpaque:
        break;
      case TouchKind::kWrite:
      case TouchKind::kClobber:
        --cell.open_writes;
        cell.value = {.base = cell.mixed ? Value::Base::kTorn : Value::Base::kCommand,
                      .command = c,
                      .clobbered = effect.kind == TouchKind::kClobber};
        break;
      case TouchKind::kAccumulate: {
        --cell.open_updates;
        if (cell.mixed) cell.value.base = Value::Base::kTorn;
        std::vector<CommandId>& updates = cell.value.updates;
        updates.insert(std::ranges::upper_bound(updates, c), c);
        break;
      }
    }
  }
}

Value Memory::value(CellId id) const {
  const CellState& cell = cells_[id];
  Value value = cell.value;
  if (cell.open_writes + cell.open_updates > 0) value.base = Value::Base::kTorn;
  if (cell.opaque) value.base = Value::Base::kOpaque;
  return value;
}

bool matches(const Value& found, const Expected& expected) {
  switch (expected.base) {
    case Expected::Base::kNothing:
    case Expected::Base::kOpaque:
      return false;
    case Expected::Base::kInitial:
      if (found.base != Value::Base::kInitial) return false;
      break;
    case Expected::Base::kCommand:
      if (found.base != Value::Base::kCommand || found.command != expected.command ||
          found.clobbered) {
        return false;
      }
      break;
  }
  return found.updates == expected.updates;
}

CommandId culprit(const Value& found, const Expected& expected) {
  for (auto update = found.updates.rbegin(); update != found.updates.rend(); ++update) {
    if (!std::ranges::binary_search(expected.updates, *update)) return *update;
  }
  return found.base == Value::Base::kCommand ? found.command : kNone<CommandId>;
}

namespace {

std::string command_words(const Plan& plan, const Program& program, CommandId c) {
  const Command& command = program.commands[c];
  return op_name(plan, command.op, command.iteration);
}

std::string sequence_words(const Plan& plan, const Program& program, const Need& need) {
  if (need.at + 1 == program.sequences.size()) return "every earlier command";
  const bool ops_only = need.at % 2 == 1;
  return std::string(ops_only ? "ops" : "commands") + " of queue " +
         quoted(plan.queues[QueueId{need.at / 2}].name);
}

std::string_view reason_words(Need::Reason reason) {
  switch (reason) {
    case Need::Reason::kQueue:
      return " before it on its queue";
    case Need::Reason::kFence:
      return " before it on its queue";
    case Need::Reason::kBarrier:
      return " before the barrier";
    case Need::Reason::kRecord:
      return " before the record";
    case Need::Reason::kThread:
      return " before it on its thread";
    case Need::Reason::kDepth:
      return " (queue depth)";
    case Need::Reason::kAfter:
      return " (`after`)";
    case Need::Reason::kEvent:
      return " (event)";
    case Need::Reason::kPending:
      return " (pending)";
    case Need::Reason::kOutstanding:
      return " (outstanding)";
    case Need::Reason::kHostWait:
      return " (host wait)";
  }
  return "";
}

}  // namespace

std::string need_words(const Plan& plan, const Program& program, const Need& need) {
  const std::string reason(reason_words(need.reason));
  switch (need.kind) {
    case Need::Kind::kDone:
      return command_words(plan, program, CommandId{need.at}) + reason + " to complete";
    case Need::Kind::kStarted:
      return command_words(plan, program, CommandId{need.at}) + reason + " to start";
    case Need::Kind::kPrefix:
      return "the first " + std::to_string(need.first) + " " + sequence_words(plan, program, need) +
             reason + " to complete";
    case Need::Kind::kCount:
      return std::to_string(need.least) + " of the first " + std::to_string(need.first) + " " +
             sequence_words(plan, program, need) + reason + " to complete";
  }
  return "";
}

std::string need_words(const Plan& plan, const SemaphoreNeed& need) {
  return "semaphore " + quoted(plan.semaphores[need.semaphore].name) + " to reach " +
         std::to_string(need.value);
}

}  // namespace memverify::sim
