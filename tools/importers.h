// tools/importers.h -- plans from the files of other tools.
//
// An importer is one function and one row in the table of importers.cpp. It reads bytes it cannot
// trust: whatever they are, it returns a plan, a graph (a plan with tensors that have no place yet)
// or says what is wrong with them. Its time and memory are bounded by the size of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

struct Imported {
  Plan plan;
  /// What the file does not say and the plan takes for granted, a sentence each. The plan carries
  /// them too, as `x-assumptions`.
  std::vector<std::string> assumptions;
};

/// `--dim NAME=N` or `--dim NAME=MIN..MAX`.
struct DimOption {
  std::string name;
  std::int64_t min = 0;
  std::int64_t max = 0;
};

/// What the user may say of a file beside its format. An importer takes the options of its row.
struct ImportOptions {
  std::optional<std::int64_t> kernel_depth;  ///< --kernel-depth: kernels in flight at most.
  bool ignore_kernel_waits = false;          ///< --ignore-waits kernel
  bool ignore_dma_waits = false;             ///< --ignore-waits dma
  std::vector<DimOption> dims;               ///< --dim
  std::int64_t queues = 1;                   ///< --queues
  std::int64_t dma = 0;                      ///< --dma: queues for loads.
  bool alias_concat = false;                 ///< --concat alias
};

struct Importer {
  std::string_view name;   ///< As typed: `memverify import NAME FILE`, `--from NAME`.
  std::string_view help;   ///< One line.
  std::string_view files;  ///< Which files it reads, for people: "*_c_info.json".
  bool json = false;       ///< What it reads is JSON: errors have a line and a column.
  /// True iff a file of that name that starts so is read by this importer when none is named.
  bool (*takes)(std::string_view file, std::string_view text);
  /// `file` is the name for diagnostics. Errors: "json.syntax", "import.*" with the path of what is
  /// at fault in the file, and what PlanBuilder reports, with a pointer into the plan.
  Result<Imported> (*read)(std::string_view text, std::string_view file, const ImportOptions&);
  std::span<const std::string_view> options = {};  ///< Those it takes: "--kernel-depth".
};

std::span<const Importer> importers();
/// nullptr when there is none.
const Importer* find_importer(std::string_view name);
/// The first that takes the file; nullptr when none does: then it is a plan.
const Importer* importer_of(std::string_view file, std::string_view text);

/// The report of ST Edge AI (STM32Cube.AI) on the C code it generates.
Result<Imported> import_st_edge_ai(std::string_view text, std::string_view file,
                                   const ImportOptions& options = {});
/// A TensorFlow Lite model.
Result<Imported> import_tflite(std::string_view text, std::string_view file,
                               const ImportOptions& options = {});
/// A TensorFlow Lite model with Ethos-U command streams, as Vela writes it.
Result<Imported> import_ethos_u(std::string_view text, std::string_view file,
                                const ImportOptions& options = {});
/// An ExecuTorch program: its first method.
Result<Imported> import_executorch(std::string_view text, std::string_view file,
                                   const ImportOptions& options = {});
/// XLA's HloProto with a schedule and a buffer assignment, or a text dump of one.
Result<Imported> import_xla(std::string_view text, std::string_view file,
                            const ImportOptions& options = {});
/// The JSON of TVM's graph executor.
Result<Imported> import_tvm_graph(std::string_view text, std::string_view file,
                                  const ImportOptions& options = {});
/// A Kineto trace: what was ordered, as far as it says.
Result<Imported> import_kineto(std::string_view text, std::string_view file,
                               const ImportOptions& options = {});
/// An ONNX model.
Result<Imported> import_onnx(std::string_view text, std::string_view file,
                             const ImportOptions& options = {});

}  // namespace memverify
