// The library's functions: what they return, and that threads do not meet.
#include "tools/library/check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "plan/builder.h"
#include "tools/library/option_reader.h"

namespace memverify {
namespace {

/// `use` on one queue reads what `spoil` on another may write over, unless that waits for it.
Plan shared_bytes(bool waits, const std::string& name = "x") {
  PlanBuilder builder;
  builder.add_pool({.name = "hbm"});
  builder.add_queue({.name = "one"});
  builder.add_queue({.name = "two"});
  builder.add_storage({.name = "s", .pool = "hbm", .slots = {0}, .bytes = 64});
  builder.add_tensor({.name = name, .storage = "s", .bytes = 64});
  builder.add_tensor({.name = "y", .storage = "s", .bytes = 64});
  builder.add_op({.name = "fill", .queue = "one", .writes = {{.tensor = name}}});
  builder.add_op({.name = "use", .queue = "one", .reads = {{.tensor = name}}});
  builder.add_op({.name = "spoil",
                  .queue = "two",
                  .writes = {{.tensor = "y"}},
                  .after = {{.op = waits ? "use" : "fill"}}});
  Result<Plan> plan = std::move(builder).build();
  return std::move(plan).value();
}

/// Two tensors one after the other on one queue, or at once on two.
Plan graph_of_two(bool at_once) {
  PlanBuilder builder;
  builder.add_pool({.name = "hbm"});
  for (const char* queue : {"a", "b"}) builder.add_queue({.name = queue});
  for (const char* tensor : {"a", "b"}) builder.add_tensor({.name = tensor, .bytes = 64});
  for (const char* tensor : {"a", "b"}) {
    const std::string write = std::string("write ") + tensor;
    const std::string read = std::string("read ") + tensor;
    const char* queue = at_once ? tensor : "a";
    builder.add_op({.name = write, .queue = queue, .writes = {{.tensor = tensor}}});
    builder.add_op({.name = read, .queue = queue, .reads = {{.tensor = tensor}}});
  }
  Result<Plan> plan = std::move(builder).build();
  return std::move(plan).value();
}

std::string only_error(const auto& result) {
  if (result.ok() || result.errors().size() != 1) return "not one error";
  return result.errors().front().id;
}

TEST(Check, Verifies) {
  const auto safe = verify(shared_bytes(true), {.engine = "all"});
  ASSERT_TRUE(safe.ok());
  EXPECT_EQ(safe.value().verdict(), Verdict::kSafe);
  EXPECT_EQ(safe.value().exit_code(), 0);
  EXPECT_EQ(safe.value().engines().size(), 3U);
  EXPECT_TRUE(safe.value().internal_errors().empty());

  const auto unsafe = verify(shared_bytes(false), {.file = "mine"});
  ASSERT_TRUE(unsafe.ok());
  const Verification& result = unsafe.value();
  EXPECT_EQ(result.exit_code(), 1);
  EXPECT_EQ(result.decided_by(), "hb");
  ASSERT_EQ(result.findings().size(), 1U);
  const Finding& finding = result.findings().front();
  EXPECT_EQ(finding.rule, Rule::kWar);
  EXPECT_FALSE(finding.message.empty());
  EXPECT_EQ(result.plan().ops[finding.ops[1]].name, "spoil");
  EXPECT_TRUE(result.text().starts_with(result.text(finding)));
  const auto json = nlohmann::json::parse(result.json());
  EXPECT_EQ(json["file"], "mine");
  EXPECT_EQ(json["stats"]["witnesses_replayed"], 1);
}

TEST(Check, Simulates) {
  const auto result = simulate(shared_bytes(false), SimOptions{.count = true}, "mine");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().verdict(), Verdict::kUnsafe);
  const auto stats = nlohmann::json::parse(result.value().json())["stats"];
  EXPECT_EQ(stats["exhaustive"], true);
  EXPECT_GT(std::stoi(stats["failing"].get<std::string>()), 0);
}

TEST(Check, Places) {
  const auto placed = place(graph_of_two(false));
  ASSERT_TRUE(placed.ok() && placed.value().is_placed());
  EXPECT_EQ(placed.value().exit_code(), 0);
  EXPECT_EQ(placed.value().plan().storages.size(), 2U);
  const auto json = nlohmann::json::parse(placed.value().json());
  EXPECT_EQ(json["pools"][0]["peak_bytes"], 64);
  EXPECT_EQ(verify(placed.value().plan()).value().verdict(), Verdict::kSafe);

  const auto large = place(graph_of_two(true), {.capacity = 127});
  ASSERT_TRUE(large.ok());
  EXPECT_FALSE(large.value().is_placed());
  EXPECT_EQ(large.value().exit_code(), 1);
  EXPECT_NE(large.value().text().find("1 missing"), std::string::npos);
}

TEST(Check, RefusesBadInput) {
  EXPECT_EQ(only_error(verify(shared_bytes(true), {.engine = "h"})), "option.engine");
  EXPECT_EQ(verify(shared_bytes(true), {.engine = "smd"}).errors().front().message,
            "there is no engine `smd`, only `auto`, `all`, `hb`, `smt` and `sim`; did you mean "
            "`smt`?");
  EXPECT_EQ(only_error(verify(shared_bytes(true), {.max_findings = 0})), "option.max_findings");
  EXPECT_EQ(only_error(verify(shared_bytes(true), {.max_seconds = -1})), "option.max_seconds");
  EXPECT_EQ(only_error(place(shared_bytes(true))), "graph.placed");
  EXPECT_EQ(only_error(place(graph_of_two(true), {.strategy = "unsafe-direct-users"})),
            "option.strategy");
  EXPECT_EQ(only_error(place(graph_of_two(true), {.slots = 0})), "option.slots");
  EXPECT_EQ(only_error(verify(graph_of_two(true))), "tensor.unplaced");
  const auto simulated = [](const SimOptions& options) {
    return only_error(simulate(shared_bytes(true), options));
  };
  EXPECT_EQ(simulated({.reduction = Reduction{9}}), "option.reduction");
  EXPECT_EQ(simulated({.max_findings = 0}), "option.max_findings");
  EXPECT_EQ(simulated({.max_seconds = std::nan("")}), "option.max_seconds");
  EXPECT_EQ(simulated({.unbounded_iterations = -5}), "option.unbounded_iterations");
  EXPECT_EQ(simulated({.symbols = {{SymbolId{0}, 1}}}), "option.symbols");
  EXPECT_EQ(simulated({.when = {{ConditionId{0}, -1, true}}}), "option.when");
  EXPECT_EQ(simulate(graph_of_two(true), {}).errors().front().id, "tensor.unplaced");
}

TEST(Check, ReadsOptions) {
  const auto options = read_verify_options(R"({"engine": "sim", "max_findings": 7})");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options.value().engine, "sim");
  EXPECT_EQ(options.value().max_findings, 7U);
  EXPECT_EQ(read_simulate_options(R"({"reduction": "sleep"})").value().reduction,
            Reduction::kSleep);
  EXPECT_EQ(read_place_options(R"({"capacity": 0})").value().capacity, 0);
  EXPECT_EQ(only_error(read_place_options(R"({"capacity": -1})")), "option.value");
  EXPECT_EQ(only_error(read_simulate_options(R"({"redaction": "sleep"})")), "option.unknown");
  EXPECT_EQ(only_error(read_verify_options("nothing")), "option.json");
}

TEST(Check, DecidesInThreadsAsAlone) {
  const std::vector<std::string> names = {"left", "right"};
  std::vector<std::string> alone;
  for (const std::string& name : names) {
    alone.push_back(verify(shared_bytes(name == "left", name), {.engine = "all"}).value().json());
  }
  std::vector<std::string> together(names.size());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < names.size(); ++k) {
    threads.emplace_back([&, k] {
      for (int turn = 0; turn < 5; ++turn) {
        together[k] =
            verify(shared_bytes(names[k] == "left", names[k]), {.engine = "all"}).value().json();
        if (together[k] != alone[k]) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
}

}  // namespace
}  // namespace memverify
