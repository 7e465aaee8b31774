// tools/xla_plan.h -- the plan of an HLO module with a schedule and a buffer assignment.
//
// A value is a tree of buffers. An instruction writes those that the buffer assignment says it
// defines, and hands on others: tuples, bitcasts, results of calls. Computations that are called
// are unfolded; a loop runs not at all, once or twice, which shows whatever one iteration may do to
// the next. Where a loop or a conditional defines a buffer of its own for what comes from several
// sides, an op hands it over in place.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/hlo_module.h"
#include "tools/hlo_sharing.h"
#include "tools/importers.h"
#include "tools/plan_draft.h"

namespace memverify {

class XlaPlan {
 public:
  /// The module must outlive this.
  explicit XlaPlan(const HloModule& module, std::string_view file)
      : module_(module), file_(file), sharing_(module), left_(kStepsPerOp * module.file_bytes) {}

  /// Errors: "import.unsupported" (what is called is not scheduled, or unfolds to more than the
  /// file has bytes), "import.contradiction", and those of PlanBuilder. Call once.
  Result<Imported> make();

 private:
  static constexpr std::int64_t kStepsPerOp = 64;  ///< And an op a byte of the file at most.
  static constexpr std::size_t kNoBuffer = static_cast<std::size_t>(-1);
  static constexpr std::string_view kComputeQueue = "compute";
  static constexpr std::string_view kAsyncQueue = "async";

  /// The buffer of each node of a value, or kNoBuffer.
  using Tree = std::vector<std::size_t>;
  /// Which way control went: conditions and their values.
  using Path = std::vector<std::pair<std::string, bool>>;
  using Place = std::tuple<std::size_t, std::int64_t, std::int64_t>;
  using Places = std::map<Place, std::size_t>;

  const HloInstruction& at(std::size_t i) const { return module_.instructions[i]; }
  bool spend(std::size_t steps);
  void refuse(std::string_view id, std::string message);

  void name_buffers();
  AccessSpec access(std::size_t buffer) const { return {.tensor = names_[buffer]}; }
  AccessSpec use(std::size_t buffer);
  Place place_of(std::size_t i) const {
    const HloBuffer& buffer = module_.buffers[i];
    return {buffer.allocation, buffer.offset, buffer.bytes};
  }
  Places places_of(const Tree& written) const;
  std::string allocation_name(std::size_t allocation) const;

  // Values.
  Tree defined_by(const HloInstruction& one) const;
  Tree forget(std::size_t instruction) const;
  Tree part(const Tree& tree, std::size_t node, std::size_t instruction) const;
  Tree merged(const Tree& one, const Tree& other, std::size_t instruction) const;

  // Ops.
  void submit(const Path& path, OpSpec op);
  void signal(std::string_view kind, const std::string& event, const Path& path);
  std::size_t read_operands(const HloInstruction& one, std::vector<std::size_t>& reads);
  std::vector<std::size_t> inner_buffers(const HloInstruction& one);
  bool overlap(std::size_t a, std::size_t b) const;
  void add_scratch(const HloInstruction& one, std::vector<std::size_t> taken, OpSpec& op,
                   std::vector<AccessSpec>& unclear);
  std::vector<AccessSpec> share(const HloInstruction& one, const Tree& written, OpSpec& op);
  void add_op(std::size_t instruction, const Tree& written, const std::string& name,
              std::string_view queue, const Path& path);
  void read_only(const std::string& wanted, std::string_view label, std::size_t buffer,
                 const Path& path);
  void decide(const HloInstruction& one, std::size_t buffer, const Path& path);
  Tree hand_over(const Tree& from, std::size_t to, const std::string& wanted, const Path& path);
  Tree argument_of(std::size_t computation, const Tree& given);

  // Instructions: each returns its value; one of another size than the shape is not known.
  void run(std::size_t computation, const std::vector<Tree>& parameters, const Path& path);
  Tree run_called(std::size_t computation, std::vector<Tree> given, const std::string& by,
                  const Path& path);
  bool ready(const HloInstruction& one) const;
  Tree step(std::size_t instruction, const std::vector<Tree>& parameters, const Path& path);
  Tree parameter(std::size_t instruction, const std::vector<Tree>& parameters);
  Tree constant(std::size_t instruction);
  Tree element(std::size_t instruction, const Path& path);
  Tree tuple(std::size_t instruction, const Path& path);
  Tree loop(std::size_t instruction, const Path& path);
  Tree conditional(std::size_t instruction, const Path& path);
  Tree start_async(std::size_t instruction, const Path& path);
  Tree finish_async(std::size_t instruction, const Path& path);
  Tree compute(std::size_t instruction, const Path& path);
  Tree stated(std::size_t instruction, const Path& path);

  void list_accesses();
  void add_memory();
  void add_boundary(const Tree& result);
  void add_assumptions();

  const HloModule& module_;
  std::string_view file_;
  PlanDraft draft_;
  HloSharing sharing_;
  std::int64_t left_;  ///< Steps that may still be made.
  std::vector<Diagnostic> errors_;
  std::vector<std::string> names_;  ///< Of the tensors, by buffer.
  std::vector<bool> used_;          ///< By buffer.
  std::vector<std::size_t> inputs_;
  std::unordered_map<std::size_t, Tree> trees_;           ///< Values of instructions that ran.
  std::unordered_map<std::size_t, std::string> started_;  ///< Events of async ops.
  std::unordered_set<std::size_t> running_;               ///< Computations.
  std::unordered_map<std::size_t, std::vector<std::string>> turns_;  ///< Conditions of deep loops.
  int depth_ = 0;                                                    ///< Loops around.
  std::size_t unclear_ = 0;
  bool async_ = false;
  bool loops_ = false;
  bool deep_loops_ = false;
  bool handed_over_ = false;
};

}  // namespace memverify
