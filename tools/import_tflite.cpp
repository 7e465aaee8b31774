// TensorFlow Lite models: a graph to place, or a plan to verify where the file has an
// OfflineMemoryAllocation. Operators run on one queue, as the interpreter runs them.
//
// Tested by tests/unit/tools/import_tflite_test.cpp on corpus/imports/tflite.
#include "tools/importers.h"
#include "tools/tflite_plan.h"

namespace memverify {

Result<Imported> import_tflite(std::string_view text, std::string_view file,
                               const ImportOptions& /*options*/) {
  const Result<TfliteModel> model = read_tflite(text, file);
  if (!model.ok()) return model.errors();
  TflitePlan plan(model.value(), "serial");
  const std::vector<TfliteOperator>& operators = plan.graph().operators;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].is_ethos_u()) {
      return Diagnostic{.id = "import.format",
                        .message = "operator " + std::to_string(i) +
                                   " is an Ethos-U command stream: read the file as ethos-u",
                        .pointer = "/subgraphs/0/operators/" + std::to_string(i),
                        .file = std::string(file)};
    }
    plan.add_operator(i);
  }
  return plan.finish();
}

}  // namespace memverify
