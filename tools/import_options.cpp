#include "tools/import_options.h"

#include "tools/parse.h"

namespace memverify {

void add_from_option(CLI::App& app, ImportRequest& request) {
  std::vector<std::string> names = {"plan"};
  for (const Importer& importer : importers()) names.emplace_back(importer.name);
  app.add_option("--from", request.from,
                 "What the file is, where its name does not tell: plan, or a format of memverify "
                 "import")
      ->check(one_of(names))
      ->type_name("FORMAT");
}

void add_import_options(CLI::App& app, ImportRequest& request) {
  app.add_option("--kernel-depth", request.options.kernel_depth,
                 "ethos-u: how many kernels may be in flight (default: 2)")
      ->check(CLI::Range(1, 16))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--ignore-waits",
         [&request](const std::string& which) {
           (which == "kernel" ? request.options.ignore_kernel_waits
                              : request.options.ignore_dma_waits) = true;
         },
         "ethos-u: leave out the stream's waits for kernels (kernel) or DMA transfers (dma)")
      ->check(one_of({"kernel", "dma"}))
      ->type_name("WHICH");
  app.add_flag("--assumptions", request.assumptions,
               "Print what an imported file does not say and the plan takes for granted");
}

std::vector<std::string_view> given(const ImportOptions& options) {
  std::vector<std::string_view> names;
  if (options.kernel_depth) names.emplace_back("--kernel-depth");
  if (options.ignore_kernel_waits || options.ignore_dma_waits) names.emplace_back("--ignore-waits");
  return names;
}

std::string assumptions_text(const ImportRequest& request,
                             const std::vector<std::string>& assumptions) {
  if (!request.assumptions || assumptions.empty()) return "";
  std::string out = "What the file does not say, and the plan takes for granted:\n";
  for (const std::string& assumption : assumptions) out += "  - " + assumption + "\n";
  return out;
}

}  // namespace memverify
