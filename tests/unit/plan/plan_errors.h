// What a broken plan is told, in the shortest form a test can compare.
#pragma once

#include <functional>
#include <string>

#include "plan/builder.h"

namespace memverify {

// A small good plan, then what `change` adds to it; the errors as "id pointer" lines.
inline std::string errors_of(const std::function<void(PlanBuilder&)>& change) {
  PlanBuilder b;
  b.add_symbol({.name = "n", .max = 64});
  b.add_condition({.name = "training"});
  b.add_pool({.name = "hbm"});
  b.add_queue({.name = "q"});
  b.add_semaphore({.name = "count"});
  b.add_semaphore({.name = "time", .kind = "timeline"});
  b.add_storage({.name = "s", .pool = "hbm", .slots = {0}, .bytes = 64});
  b.add_tensor({.name = "x", .storage = "s", .bytes = 64});
  b.add_tensor({.name = "y", .storage = "s", .bytes = 64});
  b.add_op({.name = "w", .queue = "q", .writes = {{.tensor = "x"}}});
  change(b);
  const Result<Plan> result = std::move(b).build();
  if (result.ok()) return "";
  std::string text;
  for (const Diagnostic& error : result.errors()) text += error.id + " " + error.pointer + "\n";
  return text;
}

// The errors of one more op, which is the plan's second.
inline std::string op_errors(OpSpec spec) {
  if (spec.name.empty()) spec.name = "o";
  return errors_of([&](PlanBuilder& b) { b.add_op(spec); });
}

}  // namespace memverify
