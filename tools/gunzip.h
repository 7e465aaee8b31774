// tools/gunzip.h -- gzip files (RFC 1952): traces usually come as such. The one owner of zlib.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plan/result.h"

namespace memverify {

/// True iff `bytes` begins as a gzip file does.
bool is_gzip(std::string_view bytes);

inline constexpr std::size_t kGunzipAnyRatio = std::size_t{256} << 20;

/// What is in the file, all members one after another: at most 200 times its size, or `any_ratio`
/// bytes and a step of 1 MiB. Error "gzip.format": it is damaged, cut off, or holds more than that.
Result<std::string> gunzip(std::string_view bytes, std::size_t any_ratio = kGunzipAnyRatio);

}  // namespace memverify
