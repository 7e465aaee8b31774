// tools/library/option_reader.h -- the options of a C call, from a JSON object.
#pragma once

#include <string_view>

#include "plan/result.h"
#include "sim/simulate.h"
#include "tools/library/check.h"

namespace memverify {

/// Options as include/memverify.h lists them for the function; nullptr: none. Errors: "option.json"
/// for what is no JSON object, "option.unknown", "option.value".
Result<VerifyOptions> read_verify_options(const char* json);
Result<SimOptions> read_simulate_options(const char* json);
Result<PlaceOptions> read_place_options(const char* json);

}  // namespace memverify
