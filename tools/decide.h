// tools/decide.h -- one verdict on a plan, for the command: what contradicts itself is kept.
#pragma once

#include "tools/ask_engines.h"

namespace memverify {

/// `ask_engines`. A plan on which two engines contradict each other, made as small as ten seconds
/// allow, is written to `memverify-disagreement.json` in the working directory.
void decide(Report& report, const EngineChoice& choice, const EngineOptions& options,
            const Layout* least = nullptr);

}  // namespace memverify
