// sim/findings.h -- what a search saw, in the words of plan/finding.h.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "plan/finding.h"
#include "sim/search.h"

namespace memverify::sim {

/// The findings of all cases, one for each rule and ops ([S-51]); the first to come is kept.
class Collector {
 public:
  /// `max_findings` bounds errors and not-proven findings; warnings do not count.
  explicit Collector(std::size_t max_findings) : max_findings_(max_findings) {}

  /// True iff a finding with the same rule and ops (and tensor, for the rules that name one) is not
  /// there yet and there is room: then, and only then, it is worth a witness.
  bool wants(const Finding& finding);
  void add(Finding finding);
  bool stopped() const { return stopped_; }
  /// Sorted by rule, then ops. Leaves the collector empty.
  std::vector<Finding> take();

 private:
  using Key = std::vector<std::uint32_t>;
  static Key key_of(const Finding& finding);

  std::size_t max_findings_;
  std::size_t counted_ = 0;
  bool stopped_ = false;
  std::set<Key> seen_;
  std::vector<Finding> findings_;
};

/// One case, as searched.
struct Searched {
  const Material& material;
  const Case& settled;
  const Model& model;
  const VersionModel* versions = nullptr;  ///< As given to the search.
  const Search& search;
};

/// Everything that the search of one case found, with witnesses. Wrong values are judged by the
/// search if it tracked them, else by wrong_values_of_any_run().
void report(const Searched& searched, Collector& collector);

}  // namespace memverify::sim
