// planner/state_network.h -- what each instant of a program needs: the states that runs can reach.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "verify/program.h"

namespace memverify {

/// The instants of a program as nodes of a graph: two for each instance, and some in between.
class StateNetwork {
 public:
  /// nullopt: some wait may be satisfied in several ways. `program` must outlive the result.
  static std::optional<StateNetwork> make(const Program& program);

  static std::uint32_t start(Cmd cmd) { return 2 * cmd; }
  static std::uint32_t completion(Cmd cmd) { return 2 * cmd + 1; }
  /// By node, whether it is in the set of instants of greatest `profit` that a run can have seen.
  /// `profit` by node, those of the instances alone.
  std::vector<std::uint8_t> best_state(std::span<const std::int64_t> profit) const;
  std::uint32_t nodes() const { return nodes_; }

 private:
  explicit StateNetwork(const Program& program);
  void need(std::uint32_t instant, std::uint32_t other) { needs_.emplace_back(instant, other); }
  void add_queue_order(Cmd cmd);
  void add_prefixes(Cmd cmd);
  std::uint32_t prefix_node(const Prefix& prefix);

  const Program& program_;
  std::uint32_t nodes_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> needs_;
  std::vector<std::vector<std::uint32_t>> prefix_nodes_;  ///< By queue: of commands, then of ops.
};

}  // namespace memverify
