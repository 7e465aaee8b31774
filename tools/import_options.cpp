#include "tools/import_options.h"

#include <charconv>

#include "plan/words.h"
#include "tools/parse.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostQueues = 16;
constexpr std::int64_t kMostDmaQueues = 4;

/// "NAME=N" or "NAME=MIN..MAX", with 0 <= MIN <= MAX; nullopt for anything else.
std::optional<DimOption> dim_option(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  DimOption out{.name = std::string(text.substr(0, equals))};
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data() + equals + 1, end, out.min);
  if (first.ec != std::errc()) return std::nullopt;
  out.max = out.min;
  const char* at = first.ptr;
  if (std::string_view(at, end).starts_with("..")) {
    const auto second = std::from_chars(at + 2, end, out.max);
    if (second.ec != std::errc()) return std::nullopt;
    at = second.ptr;
  }
  constexpr std::int64_t kMostOfDim = std::int64_t{1} << 40U;
  const bool is_range = at == end && 0 <= out.min && out.min <= out.max && out.max <= kMostOfDim;
  return is_range ? std::optional(out) : std::nullopt;
}

void add_onnx_options(CLI::App& app, ImportOptions& options) {
  app.add_option_function<std::vector<std::string>>(
         "--dim",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             std::optional<DimOption> option = dim_option(text);
             if (!option) {
               throw CLI::ValidationError(
                   "--dim", memverify::quoted(text) +
                                " is not NAME=N or NAME=MIN..MAX with numbers from 0 on");
             }
             options.dims.push_back(std::move(*option));
           }
         },
         "onnx: how large an extent is that has a name, or between what; an extent that is not "
         "known is VALUE.AXIS")
      ->type_name("NAME=N|MIN..MAX")
      ->allow_extra_args(false);
  app.add_option("--queues", options.queues,
                 "onnx: spread the operators over so many queues (default: 1)")
      ->check(CLI::Range(std::int64_t{1}, kMostQueues))
      ->type_name("N");
  app.add_option("--dma", options.dma,
                 "onnx: load constants into the arena, by so many copy engines (default: 0)")
      ->check(CLI::Range(std::int64_t{0}, kMostDmaQueues))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--concat", [&options](const std::string& how) { options.alias_concat = how == "alias"; },
         "onnx: make the operands of a Concat in place, in their parts of the result, where that "
         "is possible (alias), or copy them (default: copy)")
      ->check(one_of({"alias", "copy"}))
      ->type_name("HOW");
}

}  // namespace

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
  add_onnx_options(app, request.options);
  app.add_flag("--assumptions", request.assumptions,
               "Print what an imported file does not say and the plan takes for granted");
}

std::vector<std::string_view> given(const ImportOptions& options) {
  std::vector<std::string_view> names;
  if (options.kernel_depth) names.emplace_back("--kernel-depth");
  if (options.ignore_kernel_waits || options.ignore_dma_waits) names.emplace_back("--ignore-waits");
  if (!options.dims.empty()) names.emplace_back("--dim");
  if (options.queues != 1) names.emplace_back("--queues");
  if (options.dma != 0) names.emplace_back("--dma");
  if (options.alias_concat) names.emplace_back("--concat");
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
