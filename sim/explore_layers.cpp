// Exhaustive search, one layer of states at a time.
//
// Idea: every step adds one to one digit, so that all runs to a state have the same length: states
// form layers, a layer's successors lie in the next one, and no older state can come back. Two hash
// sets of packed states are all the memory. The first layer that shows something shows it in the
// fewest steps. Large layers are shared out: a state belongs to one core by its hash; each expands
// its own states, then each takes in what the others have found for it.
// Cost: states times chains. Tested by tests/unit/sim/explore_test.cpp.
#include <algorithm>
#include <atomic>
#include <bit>
#include <set>
#include <utility>

#include "sim/keyset.h"
#include "sim/lanes.h"
#include "sim/parallel.h"
#include "sim/search.h"

namespace memverify::sim {
namespace {

constexpr std::uint64_t kCheckClockEvery = 1 << 14;  ///< States.
constexpr std::size_t kWorthThreads = 1 << 12;       ///< States of a layer.

/// What all cores share.
template <unsigned Bits>
struct Problem {
  const Model& model;
  const VersionModel* versions;
  const Independence* independence;
  const Material& material;
  const Budget& budget;
  const PackedNeeds<Bits> needs;
  const std::size_t words;          ///< Of a key: digits, then versions.
  const std::size_t data;           ///< Of a key, behind it: the sleep set.
  const State end;                  ///< No step is followed from here; by chain.
  std::vector<std::uint8_t> found;  ///< By suspect: it showed in an earlier layer.
  std::set<std::pair<const Demand*, CommandId>> wrong;  ///< Likewise.
  std::atomic<bool> is_late = false;

  Problem(const Model& what, const LayerOptions& options, const Material& made_from,
          const Budget& limits)
      : model(what),
        versions(options.versions),
        independence(options.independence),
        material(made_from),
        budget(limits),
        needs(what),
        words(needs.words + (versions == nullptr ? 0 : versions->words)),
        data(independence == nullptr ? 0 : 1),
        end(options.tile == nullptr ? what.last : options.tile->end),
        found(what.suspects.size(), 0) {}
};

/// One core with its share of a layer and of the next one. `K` as of KeySet.
template <unsigned Bits, std::size_t K>
class LayerWorker {
 public:
  explicit LayerWorker(Problem<Bits>& problem)
      : layer(problem.words, problem.data),
        next(problem.words, problem.data),
        problem_(problem),
        model_(problem.model),
        versions_(problem.versions),
        hit_of_suspect_(model_.suspects.size(), 0),
        state_(model_.chains()),
        next_key_(problem.words + 1) {}

  KeySet<K> layer;
  KeySet<K> next;
  std::vector<std::vector<std::uint64_t>> outbox;  ///< Keys with data, by the core they are for.
  Search search;                                   ///< Of this worker in this layer.

  void visit_layer() {
    for (std::size_t place = 0; place < layer.capacity() && search.stopped.empty(); ++place) {
      if (const std::uint64_t* key = layer.at(place)) visit(key);
    }
  }

  void visit(const std::uint64_t* key) {
    if (!may_go_on()) return;
    ++search.states;
    if (problem_.independence != nullptr) return visit_reduced(key);
    if (problem_.needs.any_more) L::unpack(key, state_);
    std::uint32_t taken = 0;
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      const Digit digit = L::get(key, chain);
      if (digit == model_.last[chain]) continue;
      const StepId step = model_.first_step[chain] + digit;
      if (!enabled(key, step)) continue;
      ++taken;
      look(key, step);
      if (digit == problem_.end[chain]) continue;
      take(key, step);
      send();
    }
    search.transitions += taken;
    if (taken == 0) end_of_run(key);
  }

  /// Takes `key` with its data into the next layer.
  void receive(const std::uint64_t* key) {
    const auto place = next.insert(key);
    if (problem_.data == 0) return;
    std::uint64_t& asleep = place.key[problem_.words];
    asleep = (place.is_new ? ~ChainSet{0} : asleep) & key[problem_.words];
  }

 private:
  using L = Lanes<Bits>;

  bool may_go_on() {
    if (search.states % kCheckClockEvery == 0 && problem_.budget.is_late()) problem_.is_late = true;
    if (problem_.is_late.load(std::memory_order_relaxed)) search.stopped = "time";
    if (search.states == problem_.budget.states) search.stopped = "states";
    const std::size_t cores = std::max<std::size_t>(1, outbox.size());
    std::uint64_t bytes = layer.bytes() + next.bytes_if_grown();
    for (const auto& keys : outbox) bytes += keys.capacity() * sizeof(std::uint64_t);
    if (bytes > problem_.budget.bytes / cores) search.stopped = "memory";
    return search.stopped.empty();
  }

  bool enabled(const std::uint64_t* key, StepId step) const {
    const PackedNeeds<Bits>& needs = problem_.needs;
    const std::uint64_t* thresholds = &needs.thresholds[step * needs.words];
    for (std::size_t w = 0; w < (K == 1 ? 1 : needs.words); ++w) {
      if (!L::covers(key[w], thresholds[w])) return false;
    }
    return needs.has_more[step] == 0 || is_enabled(model_, state_, step);
  }

  /// The same, of a persistent set of chains that do not sleep. All ways to a state have come
  /// together when it is visited: what sleeps on every one of them sleeps.
  void visit_reduced(const std::uint64_t* key) {
    const Independence& independence = *problem_.independence;
    L::unpack(key, state_);
    ChainSet enabled_chains = 0;
    for (ChainId chain = 0; chain < model_.chains(); ++chain) {
      if (state_[chain] != model_.last[chain] &&
          enabled(key, model_.first_step[chain] + state_[chain])) {
        enabled_chains |= ChainSet{1} << chain;
      }
    }
    if (enabled_chains == 0) return end_of_run(key);
    const State state = state_;
    ChainSet asleep = key[problem_.words];
    ChainSet to_take = persistent_set(model_, independence, state, enabled_chains) & ~asleep;
    for (; to_take != 0; to_take &= to_take - 1) {
      const auto chain = static_cast<ChainId>(std::countr_zero(to_take));
      const StepId step = model_.first_step[chain] + state[chain];
      ++search.transitions;
      look(key, step);
      take(key, step);
      next_key_[problem_.words] = asleep & ~dependent_next(model_, independence, state, step);
      send();
      asleep |= ChainSet{1} << chain;
    }
  }

  /// next_key_ becomes the state after `step` of `key`.
  void take(const std::uint64_t* key, StepId step) {
    const ChainId chain = model_.chain_of_step[step];
    std::copy(key, key + problem_.words, next_key_.begin());
    next_key_[chain / L::kPerWord] += L::one(chain);
    if (versions_ != nullptr) {
      apply(*versions_, step, std::span(next_key_).subspan(problem_.needs.words));
    }
  }

  void send() {
    if (outbox.empty()) return receive(next_key_.data());
    std::vector<std::uint64_t>& keys = outbox[next.share(next_key_.data(), outbox.size())];
    keys.insert(keys.end(), next_key_.begin(),
                next_key_.begin() + static_cast<std::ptrdiff_t>(problem_.words + problem_.data));
  }

  /// What shows when `step` is taken.
  void look(const std::uint64_t* key, StepId step) {
    for (const Check& check : model_.checks_of(step)) {
      const Digit digit = L::get(key, check.chain);
      if (digit < check.from || digit > check.to || problem_.found[check.suspect] != 0) continue;
      L::unpack(key, state_);
      std::uint32_t& place = hit_of_suspect_[check.suspect];
      if (place >= search.hits.size() || search.hits[place].suspect != check.suspect) {
        place = static_cast<std::uint32_t>(search.hits.size());
        search.hits.push_back({check.suspect, state_, step});
      } else if (Hit hit{check.suspect, state_, step}; is_before(hit, search.hits[place])) {
        search.hits[place] = std::move(hit);
      }
    }
    if (versions_ == nullptr) return;
    for (const VersionCheck& check : versions_->checks_of(step)) compare(key, check, step);
  }

  void compare(const std::uint64_t* key, const VersionCheck& check, StepId step) {
    const std::span versions(key + problem_.needs.words, versions_->words);
    const auto found = wrong_author(problem_.material, *versions_, check, versions);
    if (!found || problem_.wrong.contains({check.demand, *found})) return;
    L::unpack(key, state_);
    search.add(WrongHit{{check.demand, *found}, state_, step, {versions.begin(), versions.end()}});
  }

  void end_of_run(const std::uint64_t* key) {
    L::unpack(key, state_);
    const CommandId blocked = first_incomplete(model_, state_);
    if (blocked != kNone<CommandId>) return search.add(Deadlock{state_, blocked});
    search.reaches_end = true;
    if (versions_ == nullptr) return;
    const auto no_step = static_cast<StepId>(model_.steps());
    for (const VersionCheck& check : versions_->end_checks) compare(key, check, no_step);
  }

  Problem<Bits>& problem_;
  const Model& model_;
  const VersionModel* versions_;
  std::vector<std::uint32_t> hit_of_suspect_;  ///< In search.hits, if it is there at all.
  State state_;  ///< Digits of the state at hand, when someone needs them.
  std::vector<std::uint64_t> next_key_;
};

template <unsigned Bits, std::size_t K>
class LayerSearch {
 public:
  LayerSearch(const Model& model, const LayerOptions& options, const Material& material,
              Budget& budget)
      : problem_(model, options, material, budget),
        shard_(options.shard),
        least_(options.part_states * options.shard.of),
        begin_(options.tile == nullptr ? State(model.chains(), 0) : options.tile->begin),
        budget_(budget) {
    workers_.emplace_back(problem_);
  }

  Search run() {
    std::vector<std::uint64_t> initial(problem_.words + 1, 0);
    for (ChainId chain = 0; chain < begin_.size(); ++chain) {
      initial[chain / Lanes<Bits>::kPerWord] += begin_[chain] * Lanes<Bits>::one(chain);
    }
    workers_[0].visit(initial.data());  // All zeros are no key.
    for (collect(); search_.stopped.empty() && size_ > 0; collect()) {
      if (shard_.of > 1 && size_ >= least_) cut();
      const bool is_plenty = budget_.states > size_;
      if (size_ >= kWorthThreads && is_plenty && workers_.size() < budget_.threads) share_out();
      for (LayerWorker<Bits, K>& worker : workers_) {
        std::swap(worker.layer, worker.next);
        worker.next.clear();
      }
      // With less left than the layer holds, one core after the other stops at the very state.
      const std::size_t cores = size_ >= kWorthThreads && is_plenty ? workers_.size() : 1;
      each_worker(cores, [&](LayerWorker<Bits, K>& worker) {
        worker.visit_layer();
        if (cores == 1) take(worker);
      });
      each_worker(cores, [this](LayerWorker<Bits, K>& worker) { gather(worker); });
    }
    if (shard_.of > 1) note_common();
    return std::move(search_);
  }

 private:
  template <typename Work>
  void each_worker(std::size_t cores, const Work& work) {
    in_parallel(cores, [&](std::size_t core) {
      for (std::size_t k = core; k < workers_.size(); k += cores) work(workers_[k]);
    });
  }

  /// Takes in what the others have found for `worker`.
  void gather(LayerWorker<Bits, K>& worker) {
    if (workers_.size() == 1) return;
    const auto own = static_cast<std::size_t>(&worker - workers_.data());
    for (LayerWorker<Bits, K>& other : workers_) {
      const std::vector<std::uint64_t>& keys = other.outbox[own];
      for (std::size_t at = 0; at < keys.size(); at += problem_.words + problem_.data) {
        worker.receive(&keys[at]);
      }
    }
  }

  /// What the workers saw in the layer that has just been visited.
  void collect() {
    size_ = 0;
    for (LayerWorker<Bits, K>& worker : workers_) {
      take(worker);
      for (auto& keys : worker.outbox) keys.clear();
      size_ += worker.next.size();
    }
    for (const Hit& hit : search_.hits) problem_.found[hit.suspect] = 1;
    for (const WrongHit& hit : search_.wrong) {
      problem_.wrong.emplace(hit.wrong.demand, hit.wrong.found);
    }
    if (budget_.tick) budget_.tick(search_.states);
  }

  void take(LayerWorker<Bits, K>& worker) {
    budget_.states -= worker.search.states;
    search_.take(std::exchange(worker.search, {}));
  }

  /// From one worker to as many as there are cores; of what is in `next`.
  void share_out() {
    KeySet<K> all = std::move(workers_[0].next);
    workers_.clear();
    while (workers_.size() < budget_.threads) workers_.emplace_back(problem_);
    for (LayerWorker<Bits, K>& worker : workers_) worker.outbox.resize(workers_.size());
    for (std::size_t place = 0; place < all.capacity(); ++place) {
      if (const std::uint64_t* key = all.at(place)) {
        workers_[all.share(key, workers_.size())].receive(key);
      }
    }
  }

  void note_common() {
    search_.common_states = search_.states;
    search_.common_transitions = search_.transitions;
  }

  /// Keeps this part's share of the next layer; once.
  void cut() {
    note_common();
    size_ = 0;
    for (LayerWorker<Bits, K>& worker : workers_) {
      const KeySet<K> all = std::exchange(worker.next, KeySet<K>(problem_.words, problem_.data));
      for (std::size_t place = 0; place < all.capacity(); ++place) {
        const std::uint64_t* key = all.at(place);
        if (key != nullptr && all.share(key, shard_.of) + 1 == shard_.number) worker.receive(key);
      }
      size_ += worker.next.size();
    }
    shard_ = {};
  }

  Problem<Bits> problem_;
  SimShard shard_;       ///< {} once it is cut.
  std::uint64_t least_;  ///< States of the layer to cut.
  State begin_;
  Budget& budget_;
  std::vector<LayerWorker<Bits, K>> workers_;
  std::size_t size_ = 0;  ///< States in the next layer.
  Search search_;
};

template <unsigned Bits>
Search explore(const Model& model, const LayerOptions& options, const Material& material,
               Budget& budget) {
  const bool is_one_word = Lanes<Bits>::words(model.chains()) == 1 && options.versions == nullptr &&
                           options.independence == nullptr;
  return is_one_word ? LayerSearch<Bits, 1>(model, options, material, budget).run()
                     : LayerSearch<Bits, 0>(model, options, material, budget).run();
}

}  // namespace

Search explore_layers(const Model& model, const LayerOptions& options, const Material& material,
                      Budget& budget) {
  const bool is_small =
      std::ranges::all_of(model.last, [](Digit last) { return last <= Lanes<8>::kMaxDigit; });
  return is_small ? explore<8>(model, options, material, budget)
                  : explore<16>(model, options, material, budget);
}

}  // namespace memverify::sim
