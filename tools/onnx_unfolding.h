// tools/onnx_unfolding.h -- the walk that makes an OnnxProgram. Private to onnx_program.cpp (nodes)
// and onnx_control.cpp (branches and bodies).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/onnx_program.h"

namespace memverify {

/// One place where a graph runs.
struct OnnxScope {
  std::size_t graph = 0;
  std::string prefix = {};  ///< Of the ids of its ops and tensors.
  std::string path = {};
  std::vector<std::pair<std::string, bool>> when = {};
  std::size_t decided_by = kNoIndex;
  std::size_t first_tensor = 0;  ///< What it makes comes from there on.
};

class OnnxUnfolding {
 public:
  OnnxUnfolding(const OnnxModel& model, std::string_view file, bool alias_concat)
      : model_(model),
        file_(file),
        alias_concat_(alias_concat),
        tensor_of_(model.values.size(), kNoIndex) {}

  Result<OnnxProgram> run();

 private:
  void fail(std::string_view id, std::string message, const std::string& path);
  /// False, with an error, once the unfolded graphs are larger than the file.
  bool spend(std::size_t count, const std::string& path);
  static std::string unique(const std::string& wanted, std::unordered_set<std::string>& used);
  std::string new_id(const OnnxScope& scope, const OnnxNode& node);

  bool has_place(std::size_t value, const std::string& path);
  std::string unknown_size(const OnnxValue& value) const;
  std::size_t add_tensor(const std::string& wanted, const OnnxType& type);
  /// A tensor for a value from now on; kNoIndex, with an error, where it can have none.
  std::size_t make_tensor(std::size_t value, const OnnxScope& scope, const std::string& path);
  /// The tensor that a value is in now. Constants come into being when they are first used.
  std::size_t use(std::size_t value, const OnnxScope& scope, const std::string& path);
  std::vector<OnnxAccess> accesses(const std::vector<std::size_t>& values, const OnnxScope& scope,
                                   const std::string& path);
  /// A root that `scope` made: it may still be put elsewhere.
  bool may_move(std::size_t tensor, const OnnxScope& scope) const;

  OnnxOp new_op(const OnnxScope& scope, std::string id, const std::string& label) const;
  void unfold(const OnnxScope& scope);
  void unfold_node(const OnnxScope& scope, const OnnxNode& node);
  bool unfold_view(const OnnxScope& scope, const OnnxNode& node, OnnxOp& op,
                   const std::string& path);
  bool unfold_concat(const OnnxScope& scope, const OnnxNode& node, OnnxOp& op,
                     const std::string& path);
  void allow_in_place(const OnnxNode& node, OnnxOp& op) const;

  void unfold_if(const OnnxScope& scope, const OnnxNode& node, const std::string& id,
                 const std::string& path);
  /// The results of a branch become those of the If.
  void take_results(const OnnxScope& branch, const OnnxNode& node, const std::string& id,
                    const std::string& path);
  void unfold_loop(const OnnxScope& scope, const OnnxNode& node, const std::string& id,
                   const std::string& path);
  void unfold_scan(const OnnxScope& scope, const OnnxNode& node, const std::string& id,
                   const std::string& path);
  OnnxScope iteration(const OnnxScope& outer, std::size_t body, const std::string& id,
                      const std::string& path, std::int64_t index) const;
  /// The tensor of one index along an axis of another.
  std::size_t slice(std::size_t of, std::size_t axis, std::int64_t index, OnnxType type,
                    const std::string& id, const std::string& path);
  /// What an iteration made, put into its slice of a result of all iterations.
  void put_slice(const OnnxScope& scope, std::size_t made, std::size_t into, std::size_t axis,
                 std::int64_t index, const std::string& path);

  const OnnxModel& model_;
  std::string_view file_;
  bool alias_concat_;
  OnnxProgram program_;
  std::vector<std::size_t> tensor_of_;  ///< By value: where it is now.
  std::unordered_set<std::string> tensor_ids_;
  std::unordered_set<std::string> op_ids_;
  std::unordered_map<std::size_t, std::string> condition_of_;  ///< By tensor.
  std::unordered_set<std::size_t> counters_;  ///< Values that are constants of an iteration.
  std::unordered_set<std::size_t> refused_;   ///< Values.
  std::string objection_;                     ///< What the library has against the node at hand.
  bool is_consequence_ = false;               ///< The node at hand has operands that were refused.
  bool leaves_out_ = false;                   ///< Results.
  std::size_t spent_ = 0;
  std::size_t left_out_ = 0;  ///< Errors.
  std::vector<Diagnostic> errors_;
};

}  // namespace memverify
