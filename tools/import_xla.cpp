// XLA's HloProto after scheduling and buffer assignment, or its text dump.
//
// Tested by tests/unit/tools/import_xla_test.cpp on corpus/imports/xla.
#include "tools/hlo_text.h"
#include "tools/importers.h"
#include "tools/xla_plan.h"

namespace memverify {

Result<Imported> import_xla(std::string_view text, std::string_view file,
                            const ImportOptions& /*options*/) {
  const Result<HloModule> module =
      is_hlo_text(text) ? read_hlo_text(text, file) : read_hlo(text, file);
  if (!module.ok()) return module.errors();
  return XlaPlan(module.value(), file).make();
}

}  // namespace memverify
