// tools/tflite_plan.h -- the plan of a TensorFlow Lite model: what the importers of such files
// share.
//
// The model file is a pool of its own, in which every constant lies where its data are. All
// other tensors lie in the pool "arena": at their offsets, or unplaced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "plan/builder.h"
#include "tools/importers.h"
#include "tools/tflite_model.h"

namespace memverify {

class TflitePlan {
 public:
  /// Adds pools, the queue "cpu" of the given order, the tensors of the main subgraph and the
  /// boundary. The model must outlive this.
  TflitePlan(const TfliteModel& model, std::string_view cpu_order);

  /// Adds an operator of the main subgraph as an op of the queue "cpu"; an IF as the ops of both
  /// its subgraphs, each under its condition. Call in program order.
  void add_operator(std::size_t index);

  const TfliteGraph& graph() const { return model_.graphs[0]; }
  /// What a tensor of the main subgraph is called in the plan.
  const std::string& name(std::size_t tensor) const { return names_[tensor]; }
  PlanBuilder& builder() { return builder_; }
  void assume(std::string sentence);
  /// `name`, or one like it if that is taken by a tensor already.
  std::string unique(std::string name);

  /// The plan, or what is wrong with it. Call once, at the end.
  Result<Imported> finish();

 private:
  /// A subgraph at one place where it runs.
  struct Instance {
    const TfliteGraph& graph;
    const std::vector<std::string>& names;  ///< Of its tensors.
    std::string prefix;                     ///< Of the ids of its ops.
    std::vector<std::pair<std::string, bool>> when;
  };

  std::vector<std::string> add_tensors(const TfliteGraph& graph, const std::string& prefix);
  void add_tensor(const TfliteTensor& tensor, const std::string& name);
  void add_boundary();
  void add_op(const Instance& instance, std::size_t index);
  void add_branch(const Instance& outer, std::size_t index, const std::string& condition,
                  bool value);
  void submit(const Instance& instance, OpSpec op);

  const TfliteModel& model_;
  PlanBuilder builder_;
  std::vector<std::string> assumptions_;
  std::unordered_set<std::string> used_;
  std::vector<std::string> names_;
  std::vector<Diagnostic> errors_;
  std::size_t unfolded_ = 0;  ///< Size of subgraphs, each time they are used.
};

}  // namespace memverify
