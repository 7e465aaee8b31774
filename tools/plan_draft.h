// tools/plan_draft.h -- what importers share: a plan in the making, with unique names and the list
// of what it takes for granted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plan/builder.h"
#include "tools/importers.h"

namespace memverify {

class PlanDraft {
 public:
  PlanBuilder& builder() { return builder_; }

  /// Adds a sentence for the user, once.
  void assume(std::string sentence);

  /// `name`, or one like it if that was given out already. Ids come from files: of other bytes than
  /// printable ASCII only the number is kept, and of a long name only the beginning.
  std::string unique(std::string_view name);

  /// The program wants to access these tensors in the op before, but the file does not say in which
  /// way: an op of unknown effect on `queue`, which leaves whatever depends on it not proven.
  void drop(std::string_view after, std::string_view queue, std::vector<AccessSpec> accesses);
  std::size_t dropped() const { return dropped_; }

  /// The plan, with what was assumed. Errors: those of PlanBuilder. Call once, at the end.
  Result<Imported> finish();

 private:
  PlanBuilder builder_;
  std::vector<std::string> assumptions_;
  std::unordered_map<std::string, std::size_t> used_;  ///< How often a name was asked for.
  std::size_t dropped_ = 0;
};

/// The text with other bytes than printable ASCII as '?', of at most 100 bytes.
std::string short_name(std::string_view name);

}  // namespace memverify
