// tools/isolated.h -- a piece of work in a process of its own, for a library that trusts its input.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace memverify {

/// What `work` returns in a copy of this process, which may use so many seconds of processor time
/// and, in builds without sanitizers, so many more bytes than this one has now. nullopt if it
/// crashed or went over. Nothing else that it does is seen here; its standard error is closed.
std::optional<std::string> isolated(const std::function<std::string()>& work, std::int64_t seconds,
                                    std::int64_t bytes);

}  // namespace memverify
