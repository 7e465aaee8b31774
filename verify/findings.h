// verify/findings.h -- from what the passes saw to findings, one per fault over all cases.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "plan/finding.h"
#include "verify/footprint.h"
#include "verify/lifetime.h"
#include "verify/program.h"
#include "verify/races.h"
#include "verify/sweep.h"
#include "verify/version.h"
#include "verify/walk.h"
#include "verify/witness.h"

namespace memverify {

/// One case of a plan with all that was computed about it.
struct CaseView {
  const Program& program;
  const Walk& walk;
  const Footprints& footprints;
  const Versions& versions;
  Witnesses& witnesses;
  std::vector<ConditionValue> when;
  std::vector<SymbolValue> symbols;
};

class Findings {
 public:
  Findings(const Plan& plan, std::size_t limit)
      : plan_(plan), limit_(std::max<std::size_t>(limit, 1)) {}

  void add_static(std::vector<Finding> findings, const std::vector<SymbolValue>& symbols);
  void add_races(const CaseView& view, const RacingPairs& pairs);
  void add_suspects(const CaseView& view, const std::vector<Suspect>& suspects,
                    const PointMarks& racy);
  void add_lifetimes(const CaseView& view, const std::vector<LifetimeFault>& faults);
  /// `steps`: a run that ends with them blocked.
  void add_deadlock(const CaseView& view, const std::vector<Blocked>& commands,
                    const std::vector<Step>& steps);
  /// Pairs as in SweepResult::unknowns.
  void add_unknowns(const CaseView& view, const std::map<Cmd, Cmd>& unknowns);
  /// MV201 for a feature or limit; `message` says which and what would lift it.
  void add_not_proven(std::string message, std::string help);
  /// Help for a record that nothing waits for: the race that a wait for it would settle; "" if
  /// none.
  std::string where_to_wait_for(OpId record) const;
  /// MV301 for a sync; `op` waits in vain or signals for nobody.
  void add_warning(OpId op, std::string message, std::string help);

  // For engines that have no CaseView. Each returns the finding to fill in, or nullptr when it is
  // known already or there are too many.

  /// A finding about two ops, or about a tensor or one op and kNobody.
  Finding* add_new(Rule rule, std::uint32_t about, std::uint32_t second) {
    return add({rule, about, second}, nullptr);
  }
  /// A race of two ops; not nullptr too when `clashes` holds a lower way than was known.
  Finding* add_clash(OpId first, OpId second, Clashes clashes);
  /// The text of the plan has said that `op` overwrites the boundary tensor.
  bool is_static_boundary(TensorId tensor, OpId op) const;
  void add_tensor(Finding& finding, TensorId tensor) const;
  void set_chain(Finding& finding) const;
  static constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

  /// Errors alone count: what is no error must not keep one from being found.
  bool full() const { return counted_[static_cast<std::size_t>(Severity::kError)] >= limit_; }
  void stop() { stopped_ = true; }
  bool has_errors() const { return counted_[static_cast<std::size_t>(Severity::kError)] != 0; }
  /// Takes what `copy`, an earlier state of this that has gone on by itself, found since.
  void merge(Findings copy);
  /// True iff all that `other` holds is in here too, be it found elsewhere.
  bool covers(const Findings& other) const;
  /// Sorted, errors first, in words; at most the limit.
  EngineResult take();

 private:
  /// Rule and what it is about: op ids, or the index of a tensor, storage or pool.
  using Key = std::tuple<Rule, std::uint32_t, std::uint32_t>;
  struct Kept {
    Finding finding;
    Clashes clashes = 0;
    std::uint64_t valuations = 0;  ///< Of an unused claim: the symbol values that leave it unused.
  };
  /// In the place of a second op, what a finding is about when the first number is no op.
  static constexpr std::uint32_t kStaticStorage = 0x80000000U;
  static constexpr std::uint32_t kStaticPool = 0x80000001U;
  static constexpr std::uint32_t kSync = 0x80000002U;
  static constexpr std::uint32_t kStaticTensor = 0x80000003U;

  /// MV301 of a pool: `peak_bytes` claims more than the plan needs.
  static bool is_unused_claim(const Key& key) {
    return std::get<0>(key) == Rule::kWarning && std::get<2>(key) == kStaticPool;
  }

  Finding* add(Key key, const CaseView* view);
  void fill_race(const CaseView& view, const RacingPair& pair, Finding& finding);
  void show_reader(const CaseView& view, const Suspect& suspect, Finding& finding);
  bool is_static(const CaseView& view, const Suspect& suspect, const AccessInstance& writer);
  void add_suspect(const CaseView& view, const Suspect& suspect, ByteRange bytes);
  void set_witness(Finding& finding, std::vector<Step> steps);

  const Plan& plan_;
  std::size_t limit_;
  std::array<std::size_t, 3> counted_ = {};  ///< By Severity: at most the limit of each.
  bool stopped_ = false;
  std::map<Key, Kept> kept_;
  std::uint64_t valuations_ = 0;  ///< So many times add_static() was called.
  std::size_t witness_steps_ = 0;
};

/// Sorts the findings, keeps `limit` of them, and fills the verdict. `stopped`: there may be more.
void finish(EngineResult& result, std::size_t limit, bool stopped);

}  // namespace memverify
