// tools/storage_report.h -- why bytes are held, as text and as a graph (verify/storage_view.h).
#pragma once

#include <span>
#include <string>

#include "tools/console.h"
#include "verify/storage_view.h"

namespace memverify {

/// The storage, its aliases as a tree of views, under each its uses with completion and who comes
/// next; then which use holds the bytes longest, why, and what would free them earlier.
/// `case_words`: of `symbols_text`, for the first line.
std::string storage_text(const PlanViews& views, const StorageView& view,
                         const std::string& case_words, const Style& style);

/// One Graphviz digraph: storages -> aliases -> uses -> who waits; what nobody waits for is red.
std::string storage_dot(const PlanViews& views, std::span<const StorageView> shown);

/// ", for `seq` = 1024": the symbol values that were looked at; "" without symbols.
std::string symbols_text(const PlanViews& views);

/// Which case of the plan was looked at else, where there are several: a line, or "".
std::string case_text(const PlanViews& views);

}  // namespace memverify
