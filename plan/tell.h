// plan/tell.h -- the fields of one finding as phrases, with defaults for what an engine left empty.
// Private to describe*.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

struct Words {
  std::string message;
  std::string help;
};

struct Tell {
  const Plan& plan;
  const Finding& finding;
  bool brief = false;  ///< Names alone: no operator, queue, alias chain, storage, bytes; and no
                       ///< iteration if there is only one.

  std::int64_t iteration(std::size_t i) const;
  TensorId tensor(std::size_t i) const;  ///< kNone when the finding names fewer.
  /// In a plan that repeats: all ops of the finding are of one iteration.
  bool one_iteration() const;
  bool is_lifetime_op(std::size_t i) const;
  bool accesses(OpId op, TensorId tensor, AccessKind kind) const;

  std::string name(std::size_t i) const;      ///< Of `finding.ops`, quoted.
  std::string op(std::size_t i) const;        ///< Of `finding.ops`, with operator and queue.
  std::string short_op(std::size_t i) const;  ///< Its name, with the iteration where needed.
  /// "make `b` wait for `a`: add "after": ["a"] to `b`", by their places in `finding.ops`.
  std::string make_wait(std::size_t later, std::size_t earlier) const;
  /// The tensor with its alias chain; the pool for a clobber that names no tensor.
  std::string thing(std::size_t i) const;
  std::string short_thing(std::size_t i) const;
  std::string storages() const;  ///< "storage `s`", "storages `s` and `t`", "".
  std::string place() const;     ///< "bytes [0, 64) of pool `hbm` (storage `s`)", "".
  std::string end() const;       ///< ": " and the place, if there is one, and a full stop.
  /// "write", "accumulate into" or "clobber", by how `finding.ops[i]` accesses its tensor.
  std::string_view write_verb(std::size_t i) const;
  /// "what `w` wrote" for the version that should be found; `otherwise` if it is not known.
  std::string expected(std::string_view otherwise) const;
  /// "input", "constant", "output" or "tensor".
  std::string role(TensorId tensor) const;
};

// Faults that a run shows, by rule.
Words describe_race(const Tell& tell);           ///< MV101-103
Words describe_wrong_version(const Tell& tell);  ///< MV104
Words describe_unwritten(const Tell& tell);      ///< MV105
Words describe_boundary(const Tell& tell);       ///< MV106
Words describe_deadlock(const Tell& tell);       ///< MV111
Words describe_lifetime(const Tell& tell);       ///< MV112

}  // namespace memverify
