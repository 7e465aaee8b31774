// verify/symbol_merge.h -- the findings of many symbol values as one result ([S-51]).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "plan/finding.h"

namespace memverify {

/// Adds up results about one plan under different symbol values.
class MergedFindings {
 public:
  explicit MergedFindings(std::size_t limit) : limit_(limit) {}

  /// The result number `number`, counted from 0. Of equal findings the first stays, unless a later
  /// one clashes in a way of lower id.
  void add(EngineResult result, std::size_t number);
  /// MV201 in these words.
  void add_not_proven(std::string message, std::string help);
  bool full() const { return errors_ >= limit_; }
  void stop() { stopped_ = true; }

  struct Kept {
    Finding finding;
    std::vector<std::size_t> results;  ///< Those that have it, ascending.
  };
  /// What there is so far, for completing.
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (auto& [key, kept] : kept_) visit(kept);
  }

  EngineResult take();

 private:
  using Key = std::tuple<Rule, std::vector<OpId>, int, std::uint32_t, std::string>;
  static Key key_of(const Finding& finding);

  std::size_t limit_;
  std::size_t errors_ = 0;
  std::size_t results_ = 0;
  bool stopped_ = false;
  VerifyStats stats_;
  std::map<Key, Kept> kept_;
};

}  // namespace memverify
