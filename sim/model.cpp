#include "sim/model.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/clash.h"

namespace memverify::sim {
namespace {

constexpr std::size_t kMaxChain = kMaxDigit / 2;

Digit open_digit(std::uint32_t position) { return static_cast<Digit>(2 * position + 1); }
Digit done_digit(std::uint32_t position) { return static_cast<Digit>(2 * position + 2); }

class Compiler {
 public:
  Compiler(const Material& material, std::uint64_t limit)
      : plan_(material.setting.plan),
        program_(material.setting.program),
        map_(material.map),
        lifetimes_(material.lifetimes),
        reads_(material.reads),
        limit_(limit) {}

  Result<Model> compile() {
    make_chains();
    for (Digit last : model_.last) {
      if (last == kMaxDigit) return too_large("commands in one queue");
    }
    make_semaphores();
    for (StepId step = 0; step < model_.steps(); ++step) {
      if (!add_needs(step)) return too_large("needs");
    }
    close(model_.threshold_begin, model_.thresholds.size());
    close(model_.quorum_begin, model_.quorums_of_steps.size());
    close(model_.count_begin, model_.counts.size());
    model_.consumes = program_.consumes && can_disable();
    suspect_races();
    suspect_lifetimes();
    suspect_reads();
    if (checks_.size() > limit_) return too_large("pairs of accesses that share bytes");
    spread_checks();
    return std::move(model_);
  }

 private:
  static Diagnostic too_large(std::string_view what) {
    return {.id = "model.size", .message = "the plan has too many " + std::string(what)};
  }
  static void close(std::vector<std::uint32_t>& begin, std::size_t size) {
    begin.push_back(static_cast<std::uint32_t>(size));
  }

  bool runs_one_by_one(QueueId queue) const {
    const QueueOrder order = plan_.queues[queue].order;
    return order == QueueOrder::kSerial || order == QueueOrder::kHost;
  }

  /// Number of the chain that `c` belongs to among queues, then threads; or one of its own.
  std::uint64_t chain_key(CommandId c) const {
    const Op& op = plan_.ops[program_.commands[c].op];
    if (op.queue != kNone<QueueId> && runs_one_by_one(op.queue)) return index(op.queue);
    if (op.kind == OpKind::kBarrier) {
      for (QueueId queue : plan_.queues_of(op)) {
        if (runs_one_by_one(queue)) return index(queue);
      }
    }
    if (op.kind == OpKind::kHostWait) return plan_.queues.size() + index(op.thread);
    return plan_.queues.size() + plan_.threads.size() + index(c);
  }

  void make_chains() {
    std::unordered_map<std::uint64_t, ChainId> known;
    std::vector<std::vector<CommandId>> members;
    place_.resize(program_.commands.size());
    for (CommandId c : ids(program_.commands)) {
      const auto [found, is_new] =
          known.try_emplace(chain_key(c), static_cast<ChainId>(members.size()));
      if (is_new) members.emplace_back();
      place_[c] = {found->second, static_cast<std::uint32_t>(members[found->second].size())};
      members[found->second].push_back(c);
    }
    model_.start_of.resize(program_.commands.size());
    for (ChainId chain = 0; chain < members.size(); ++chain) {
      model_.first_step.push_back(static_cast<StepId>(model_.steps()));
      model_.last.push_back(static_cast<Digit>(2 * std::min(members[chain].size(), kMaxChain)));
      for (CommandId c : members[chain]) {
        model_.start_of[c] = static_cast<StepId>(model_.steps());
        model_.command_of_step.insert(model_.command_of_step.end(), 2, c);
        model_.chain_of_step.insert(model_.chain_of_step.end(), 2, chain);
      }
    }
    model_.first_step.push_back(static_cast<StepId>(model_.steps()));
  }

  void make_semaphores() {
    const std::size_t digits = model_.steps() + model_.chains();
    for (SemaphoreId s : ids(program_.initial)) {
      model_.initial.push_back(program_.initial[s]);
      model_.timeline.push_back(program_.timeline[s]);
      model_.effects.emplace_back();
      model_.affecting.emplace_back();
    }
    for (CommandId c : ids(program_.commands)) {
      const std::size_t at = model_.first_digit(place_[c].chain);
      for (const SemaphoreSignal& signal : program_.signals_of(c)) {
        add_effect(index(signal.semaphore), digits, c, at + done_digit(place_[c].position),
                   signal.value);
      }
      for (const SemaphoreNeed& need : program_.semaphores_of(c)) {
        if (!need.consume) continue;
        add_effect(index(need.semaphore), digits, c, at + open_digit(place_[c].position),
                   -need.value);
      }
    }
    for (std::size_t s = 0; s < model_.effects.size(); ++s) accumulate(s);
  }

  void add_effect(std::size_t semaphore, std::size_t digits, CommandId c, std::size_t at,
                  std::int64_t value) {
    std::vector<std::int64_t>& effects = model_.effects[semaphore];
    if (effects.empty()) {
      const bool timeline = model_.timeline[semaphore] != 0;
      effects.resize(digits, timeline ? model_.initial[semaphore] : 0);
    }
    effects[at] =
        model_.timeline[semaphore] != 0 ? std::max(effects[at], value) : effects[at] + value;
    std::vector<ChainId>& affecting = model_.affecting[semaphore];
    if (std::ranges::find(affecting, place_[c].chain) == affecting.end()) {
      affecting.push_back(place_[c].chain);
    }
  }

  /// From what each digit adds to what all digits up to it have added.
  void accumulate(std::size_t semaphore) {
    std::vector<std::int64_t>& effects = model_.effects[semaphore];
    for (ChainId chain : model_.affecting[semaphore]) {
      const std::size_t at = model_.first_digit(chain);
      for (std::size_t d = 1; d <= model_.last[chain]; ++d) {
        effects[at + d] = model_.timeline[semaphore] != 0
                              ? std::max(effects[at + d], effects[at + d - 1])
                              : effects[at + d] + effects[at + d - 1];
      }
    }
  }

  /// True iff a step may disable one of another chain: it lowers a count that the other one needs.
  /// Where one chain does all that, its own digit says what it has taken, and needs are monotone.
  bool can_disable() const {
    const std::size_t semaphores = model_.initial.size();
    std::vector<std::uint8_t> is_lowered(semaphores, 0);
    std::vector<ChainId> user(semaphores, kNone<ChainId>);
    std::vector<std::uint8_t> has_two_users(semaphores, 0);
    const auto use = [&](std::size_t semaphore, ChainId chain) {
      if (user[semaphore] == kNone<ChainId>) user[semaphore] = chain;
      has_two_users[semaphore] |= static_cast<std::uint8_t>(user[semaphore] != chain);
    };
    for (StepId step = 0; step < model_.steps(); ++step) {
      const ChainId chain = model_.chain_of_step[step];
      for (const CountNeed& need : model_.counts_of(step)) use(need.semaphore, chain);
    }
    for (std::size_t s = 0; s < semaphores; ++s) {
      for (ChainId chain : model_.affecting[s]) {
        const std::size_t at = model_.first_digit(chain);
        for (std::size_t d = 1; d <= model_.last[chain]; ++d) {
          if (model_.effects[s][at + d] >= model_.effects[s][at + d - 1]) continue;
          is_lowered[s] = 1;
          use(s, chain);
        }
      }
      if (is_lowered[s] != 0 && has_two_users[s] != 0) return true;
    }
    return false;
  }

  Threshold done(CommandId c) const { return {place_[c].chain, done_digit(place_[c].position)}; }

  bool add_needs(StepId step) {
    close(model_.threshold_begin, model_.thresholds.size());
    close(model_.quorum_begin, model_.quorums_of_steps.size());
    close(model_.count_begin, model_.counts.size());
    const CommandId c = model_.command_of_step[step];
    const bool start = model_.is_start(step);
    ++stamp_;
    least_.resize(model_.chains());
    wanted_.clear();
    for (const Need& need : start ? program_.to_start(c) : program_.to_finish(c)) {
      switch (need.kind) {
        case Need::Kind::kDone:
          want(done(CommandId{need.at}));
          break;
        case Need::Kind::kStarted: {
          const Place& place = place_[CommandId{need.at}];
          want({place.chain, open_digit(place.position)});
          break;
        }
        case Need::Kind::kPrefix:
          want_prefix(need);
          break;
        case Need::Kind::kCount:
          if (!add_quorum(need)) return false;
          break;
      }
    }
    for (ChainId chain : wanted_) {
      const Digit digit = least_[chain].digit;
      if (chain == model_.chain_of_step[step] && digit <= model_.digit_of_step(step)) continue;
      model_.thresholds.push_back({chain, digit});
    }
    if (start) add_counts(c);
    return model_.thresholds.size() <= limit_;
  }

  void want(Threshold threshold) {
    Least& least = least_[threshold.chain];
    if (least.stamp != stamp_) {
      least = {stamp_, 0};
      wanted_.push_back(threshold.chain);
    }
    least.digit = std::max(least.digit, threshold.digit);
  }

  /// Only the last command of each chain counts: stops when all chains of the prefix were seen.
  void want_prefix(const Need& need) {
    const std::vector<CommandId>& sequence = program_.sequences[need.at];
    if (chains_in_prefix_.empty()) chains_in_prefix_.resize(program_.sequences.size());
    std::vector<std::uint32_t>& distinct = chains_in_prefix_[need.at];
    if (distinct.empty()) {
      std::unordered_set<ChainId> seen;
      for (CommandId c : sequence) {
        distinct.push_back(static_cast<std::uint32_t>(seen.size()));
        seen.insert(place_[c].chain);
      }
      distinct.push_back(static_cast<std::uint32_t>(seen.size()));
    }
    std::unordered_set<ChainId> seen;
    for (std::uint32_t k = need.first; k > 0 && seen.size() < distinct[need.first]; --k) {
      const CommandId c = sequence[k - 1];
      if (seen.insert(place_[c].chain).second) want(done(c));
    }
  }

  bool add_quorum(const Need& need) {
    Quorum quorum{.of = {}, .least = need.least};
    for (std::uint32_t k = 0; k < need.first; ++k) {
      quorum.of.push_back(done(program_.sequences[need.at][k]));
    }
    quorum_size_ += quorum.of.size();
    model_.quorums_of_steps.push_back(static_cast<std::uint32_t>(model_.quorums.size()));
    model_.quorums.push_back(std::move(quorum));
    return quorum_size_ <= limit_;
  }

  /// Several waits of one command apply in turn, in the same instant: what the earlier ones take is
  /// gone for the later ones.
  void add_counts(CommandId c) {
    const std::size_t own = model_.counts.size();
    const auto needs = program_.semaphores_of(c);
    for (std::size_t i = 0; i < needs.size(); ++i) {
      const std::uint32_t semaphore = index(needs[i].semaphore);
      std::int64_t wanted = needs[i].value;
      for (const SemaphoreNeed& before : needs.first(i)) {
        if (before.consume && before.semaphore == needs[i].semaphore) wanted += before.value;
      }
      const auto begin = model_.counts.begin() + static_cast<std::ptrdiff_t>(own);
      const auto known = std::find_if(begin, model_.counts.end(), [&](const CountNeed& need) {
        return need.semaphore == semaphore;
      });
      if (known == model_.counts.end()) {
        model_.counts.push_back({semaphore, wanted});
      } else {
        known->value = std::max(known->value, wanted);
      }
    }
  }

  struct Use {
    CommandId command;
    const Touch* touch;
  };

  void suspect_races() {
    std::vector<std::vector<Use>> uses(map_.cells.size());
    for (CommandId c : ids(program_.commands)) {
      for (const Touch& touch : map_.touches_of(c)) {
        for (CellId cell : map_.footprints[touch.footprint]) {
          uses[cell].push_back({c, &touch});
        }
      }
    }
    for (const std::vector<Use>& cell : uses) {
      for (std::size_t j = 0; j < cell.size(); ++j) {
        for (std::size_t i = 0; i < j; ++i) {
          if (cell[i].command != cell[j].command && conflict(*cell[i].touch, *cell[j].touch)) {
            suspect_pair(cell[i], cell[j]);
          }
        }
        if (checks_.size() > limit_) return;
      }
    }
  }

  /// `a` is before `b` in program order.
  void suspect_pair(const Use& a, const Use& b) {
    const bool a_opaque = a.touch->kind == TouchKind::kOpaque;
    const bool b_opaque = b.touch->kind == TouchKind::kOpaque;
    if (!a_opaque && !b_opaque && place_[a.command].chain == place_[b.command].chain) return;
    const std::uint64_t key = (std::uint64_t{index(a.command)} << 32) | index(b.command);
    if (!pairs_.insert(key).second) return;
    const auto suspect = static_cast<std::uint32_t>(model_.suspects.size());
    if (!a_opaque && !b_opaque) {
      model_.suspects.push_back({Suspect::Kind::kRace, a.command, b.command, 0});
    } else {
      model_.suspects.push_back({Suspect::Kind::kNotProven, a_opaque ? a.command : b.command,
                                 a_opaque ? b.command : a.command, 0});
    }
    add_check(a.command, b.command, Phase::kOpen, b_opaque ? Phase::kDone : Phase::kOpen, suspect);
    add_check(b.command, a.command, Phase::kOpen, a_opaque ? Phase::kDone : Phase::kOpen, suspect);
  }

  void add_check(CommandId at, CommandId other, Phase from, Phase to, std::uint32_t suspect) {
    const Place& place = place_[other];
    Check check{
        .chain = place.chain, .from = 0, .to = model_.last[place.chain], .suspect = suspect};
    if (from == Phase::kOpen) check.from = open_digit(place.position);
    if (from == Phase::kDone) check.from = done_digit(place.position);
    if (to == Phase::kWaiting) check.to = static_cast<Digit>(2 * place.position);
    if (to == Phase::kOpen) check.to = open_digit(place.position);
    const StepId step = model_.start_of[at];
    const bool is_own = place.chain == model_.chain_of_step[step];
    const Digit own = model_.digit_of_step(step);
    if (is_own && (own < check.from || own > check.to)) return;  // It can never fire.
    checks_.emplace_back(step, check);
  }

  bool is_unknown(CommandId c) const {
    return plan_.ops[program_.commands[c].op].kind == OpKind::kUnknown;
  }

  void suspect_lifetimes() {
    for (std::uint32_t i = 0; i < lifetimes_.checks.size(); ++i) {
      const LifetimeCheck& check = lifetimes_.checks[i];
      const auto suspect = static_cast<std::uint32_t>(model_.suspects.size());
      if (is_unknown(check.at)) {
        model_.suspects.push_back({Suspect::Kind::kNotProven, check.at, check.at, i});
      } else if (is_unknown(check.other)) {
        model_.suspects.push_back({Suspect::Kind::kNotProven, check.other, check.other, i});
      } else {
        model_.suspects.push_back({Suspect::Kind::kLifetime, check.at, check.blame, i});
      }
      const bool always = check.other == check.at;
      add_check(check.at, check.other, always ? Phase::kWaiting : check.from,
                always ? Phase::kDone : check.to, suspect);
    }
  }

  void suspect_whenever(CommandId c, Suspect suspect) {
    add_check(c, c, Phase::kWaiting, Phase::kDone,
              static_cast<std::uint32_t>(model_.suspects.size()));
    model_.suspects.push_back(suspect);
  }

  /// What is wrong with a read whatever the bytes hold, and commands that may do anything.
  void suspect_reads() {
    for (std::uint32_t i = 0; i < reads_.during.size(); ++i) {
      const Demand& demand = reads_.during[i];
      const CommandId reader = demand.reader;
      if (demand.expected.base == Expected::Base::kOpaque) {
        suspect_whenever(reader, {Suspect::Kind::kNotProven, demand.expected.command, reader, i});
      } else if (demand.expected.base == Expected::Base::kNothing) {
        const CommandId unknown = is_unknown(reader) || !demand.is_open
                                      ? reader
                                      : map_.cells[demand.cell].unknowns.front();
        suspect_whenever(reader,
                         {demand.is_open ? Suspect::Kind::kNotProven : Suspect::Kind::kUnwritten,
                          unknown, reader, i});
      }
    }
    for (CommandId c : ids(program_.commands)) {
      const Command& command = program_.commands[c];
      if (is_unknown(c) && !command.passed && plan_.ops[command.op].accesses.empty()) {
        suspect_whenever(c, {Suspect::Kind::kNotProven, c, c, 0});
      }
    }
  }

  void spread_checks() {
    std::ranges::stable_sort(checks_, {}, &std::pair<StepId, Check>::first);
    std::size_t at = 0;
    for (StepId step = 0; step < model_.steps(); ++step) {
      close(model_.check_begin, at);
      for (; at < checks_.size() && checks_[at].first == step; ++at) {
        model_.checks.push_back(checks_[at].second);
      }
    }
    close(model_.check_begin, at);
  }

  struct Place {
    ChainId chain = 0;
    std::uint32_t position = 0;
  };
  struct Least {
    std::uint32_t stamp = 0;
    Digit digit = 0;
  };

  const Plan& plan_;
  const Program& program_;
  const ByteMap& map_;
  const Lifetimes& lifetimes_;
  const Reads& reads_;
  const std::uint64_t limit_;
  Model model_;
  Table<CommandId, Place> place_;
  std::vector<Least> least_;  ///< By chain: what the step at hand wants of it, if its stamp is now.
  std::vector<ChainId> wanted_;
  std::uint32_t stamp_ = 0;
  std::vector<std::vector<std::uint32_t>> chains_in_prefix_;  ///< By sequence, by length.
  std::uint64_t quorum_size_ = 0;
  std::vector<std::pair<StepId, Check>> checks_;
  std::unordered_set<std::uint64_t> pairs_;
};

}  // namespace

Result<Model> make_model(const Material& material, std::uint64_t limit) {
  return Compiler(material, limit).compile();
}

std::int64_t count_of(const Model& model, std::span<const Digit> state, std::uint32_t semaphore) {
  std::int64_t count = model.initial[semaphore];
  for (ChainId chain : model.affecting[semaphore]) {
    const std::int64_t effect = model.effects[semaphore][model.first_digit(chain) + state[chain]];
    count = model.timeline[semaphore] != 0 ? std::max(count, effect) : count + effect;
  }
  return count;
}

bool is_enabled(const Model& model, std::span<const Digit> state, StepId step) {
  for (const Threshold& threshold : model.thresholds_of(step)) {
    if (state[threshold.chain] < threshold.digit) return false;
  }
  for (std::uint32_t q : model.quorums_of(step)) {
    const Quorum& quorum = model.quorums[q];
    std::uint32_t held = 0;
    for (const Threshold& threshold : quorum.of) {
      held += state[threshold.chain] >= threshold.digit ? 1 : 0;
    }
    if (held < quorum.least) return false;
  }
  for (const CountNeed& need : model.counts_of(step)) {
    if (count_of(model, state, need.semaphore) < need.value) return false;
  }
  return true;
}

}  // namespace memverify::sim
