// tools/ask_device.h -- `verify --with-device`: the plan on host threads, besides the engines.
#pragma once

#include "tools/report.h"

namespace memverify {

/// Runs the plan of a report without errors some times on threads, and adds `device` to its
/// engines: unsafe where a run showed a mismatch, else unknown. A mismatch in a plan that is judged
/// safe is a bug of memverify: it becomes an internal error, and the plan and what was seen are
/// written to memverify-device-*.json in the current folder.
void ask_device(Report& report);

}  // namespace memverify
