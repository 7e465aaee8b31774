// tools/device_report.h -- what runs on a device showed, as text and as JSON.
#pragma once

#include <string>

#include "cuda_check/check.h"
#include "tools/device_options.h"

namespace memverify {

/// Findings, checksums, notes and the last line, `memverify: clean, 20 runs, 0 findings` or
/// `memverify: mismatch, 20 runs, 13 clean, 1 finding`.
std::string device_text(const Plan& plan, const DeviceArguments& arguments,
                        const device::CheckResult& result, const Style& style);

/// One object (docs/format.md, "Verdicts and exit codes").
std::string device_json(const Plan& plan, const DeviceArguments& arguments,
                        const device::CheckResult& result);

}  // namespace memverify
