// A compiler pass that builds its plan in memory, has it verified, and prints what it is told.
// `b` got the bytes of `a`, and nothing makes its writer wait for the reader of `a`.
#include <memverify/check.h>
#include <memverify/plan/builder.h>

#include <iostream>

int main() {
  memverify::PlanBuilder builder;
  builder.add_pool({.name = "hbm"});
  for (const char* queue : {"left", "right"}) builder.add_queue({.name = queue});
  for (const char* name : {"a", "b"}) {
    builder.add_storage({.name = name, .pool = "hbm", .slots = {0}, .bytes = 4096});
    builder.add_tensor({.name = name, .storage = name, .dtype = "f32", .shape = {{1024}}});
  }
  builder.add_op({.name = "make_a",
                  .queue = "left",
                  .writes = {{.tensor = "a"}},
                  .signals = {{.event = "a_ready"}}});
  builder.add_op({.name = "use_a", .queue = "left", .reads = {{.tensor = "a"}}});
  builder.add_op({.name = "make_b",
                  .queue = "right",
                  .writes = {{.tensor = "b"}},
                  .waits = {{.target = "a_ready"}}});
  const memverify::Result<memverify::Plan> plan = std::move(builder).build();
  if (!plan.ok()) {
    for (const memverify::Diagnostic& error : plan.errors()) std::cerr << to_string(error) << "\n";
    return 2;
  }
  const memverify::Result<memverify::Verification> result = memverify::verify(plan.value());
  if (!result.ok()) {
    for (const memverify::Diagnostic& error : result.errors())
      std::cerr << to_string(error) << "\n";
    return 2;
  }
  for (const memverify::Finding& finding : result.value().findings()) {
    std::cout << info(finding.rule).id << ": " << finding.message << "\n";
  }
  return result.value().exit_code();
}
