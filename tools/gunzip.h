// tools/gunzip.h -- gzip files (RFC 1952): traces usually come as such. The one owner of zlib.
#pragma once

#include <string>
#include <string_view>

#include "plan/result.h"

namespace memverify {

/// True iff `bytes` begins as a gzip file does.
bool is_gzip(std::string_view bytes);

/// What is in the file, all members one after another: at most 1,032 times its size, for deflate
/// cannot do better. Error "gzip.format": it is damaged or cut off.
Result<std::string> gunzip(std::string_view bytes);

}  // namespace memverify
