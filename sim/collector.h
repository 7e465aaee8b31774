// sim/collector.h -- one finding for each fault, however many cases and iterations show it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "plan/finding.h"

namespace memverify::sim {

/// The findings of all cases, one for each rule and ops ([S-51]); the first to come is kept. A race
/// is one for its ops: the lowest rule that some occurrence shows names it, and brings its run.
class Collector {
 public:
  /// `max_findings` bounds errors and not-proven findings; warnings do not count.
  explicit Collector(std::size_t max_findings)
      : max_findings_(std::max<std::size_t>(max_findings, 1)) {}

  /// True iff `add` would keep it, as a new one or in place of one that it lowers the rule of:
  /// then, and only then, it is worth a message and a witness.
  bool wants(const Finding& finding);
  /// Of one that is known, only its rules.
  void add(Finding finding);
  bool stopped() const { return stopped_; }
  /// Sorted by rule, then ops. Leaves the collector empty.
  std::vector<Finding> take();

 private:
  using Key = std::vector<std::uint32_t>;
  static Key key_of(const Finding& finding);
  static void add_rules(const Finding& from, Finding& to);

  std::size_t max_findings_;
  std::size_t counted_ = 0;
  bool stopped_ = false;
  std::map<Key, std::size_t> known_;  ///< Place in findings_.
  std::vector<Finding> findings_;
};

}  // namespace memverify::sim
