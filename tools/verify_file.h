// tools/verify_file.h -- from the name of a plan file to a confirmed report on it.
#pragma once

#include <string>

#include "tools/confirm.h"
#include "tools/engines.h"
#include "tools/import_options.h"
#include "tools/report.h"
#include "tools/verifiable.h"

namespace memverify {

/// Reads, checks, decides, and replays every run found. "-" is standard input. Never prints.
Report verify_file(const std::string& path, const EngineChoice& engines,
                   const EngineOptions& options, const ImportRequest& request = {});

}  // namespace memverify
