// `memverify verify --certificate`, `check-certificate` and `audit` as a user meets them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

class CliCertificate : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("NO_COLOR");
    box_.write("safe.json", safe_plan());
    box_.write("unknown.json", unknown_plan());
    box_.write("unsafe.json", unsafe_plan());
    box_.write("bad.json", bad_plan());
  }
  Sandbox box_;
};

TEST_F(CliCertificate, OfASafePlanIsWrittenAndAccepted) {
  const Outcome made = box_.run({"verify", "safe.json", "--certificate", "proof.json"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.err, "");
  const Outcome checked = box_.run({"check-certificate", "safe.json", "proof.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_TRUE(checked.out.starts_with("memverify: certificate accepted: safe, 1 case, "))
      << checked.out;
  EXPECT_EQ(checked.err, "");
}

TEST_F(CliCertificate, OfAnotherPlanIsBadInput) {
  ASSERT_EQ(box_.run({"verify", "safe.json", "--certificate", "proof.json"}).exit_code, 0);
  const Outcome checked = box_.run({"check-certificate", "unsafe.json", "proof.json"});
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_TRUE(contains(checked.err, "of another plan")) << checked.err;
  EXPECT_EQ(checked.out, "");
}

TEST_F(CliCertificate, ThatIsDamagedIsRefusedOrBadInput) {
  ASSERT_EQ(box_.run({"verify", "safe.json", "--certificate", "proof.json"}).exit_code, 0);
  const std::string proof = read_text(box_.path("proof.json"));
  std::string damaged = proof;
  const std::size_t pairs = damaged.find("\"pairs\":") + 8;
  damaged.insert(pairs, "1");
  box_.write("damaged.json", damaged);
  const Outcome checked = box_.run({"check-certificate", "safe.json", "damaged.json"});
  EXPECT_EQ(checked.exit_code, 1) << checked.err;
  EXPECT_TRUE(contains(checked.out, "damaged.json: case 0: pairs")) << checked.out;
  EXPECT_TRUE(checked.out.ends_with("memverify: certificate refused\n")) << checked.out;
  box_.write("cut.json", proof.substr(0, proof.size() / 2));
  EXPECT_EQ(box_.run({"check-certificate", "safe.json", "cut.json"}).exit_code, 2);
  EXPECT_EQ(box_.run({"check-certificate", "safe.json", "none.json"}).exit_code, 2);
  EXPECT_EQ(box_.run({"check-certificate", "bad.json", "proof.json"}).exit_code, 2);
  EXPECT_EQ(box_.run({"check-certificate", "safe.json"}).exit_code, 2);
}

TEST_F(CliCertificate, WhereThereIsNoneTheVerdictStands) {
  const Outcome made = box_.run({"verify", "unknown.json", "--certificate", "proof.json"});
  EXPECT_EQ(made.exit_code, 3);
  EXPECT_TRUE(contains(made.err, "no certificate was written: ")) << made.err;
  EXPECT_EQ(box_.run({"check-certificate", "unknown.json", "proof.json"}).exit_code, 2);
  const Outcome two =
      box_.run({"verify", "safe.json", "unknown.json", "--certificate", "proof.json"});
  EXPECT_EQ(two.exit_code, 2);
  const Outcome lost = box_.run({"verify", "safe.json", "--certificate", "no/such/folder.json"});
  EXPECT_EQ(lost.exit_code, 2);
  EXPECT_TRUE(contains(lost.err, "no/such/folder.json")) << lost.err;
}

/// Two waits, one of them needed.
std::string audited_plan() {
  return R"({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "copy"}, {"id": "compute"}],
  "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}],
  "tensors": [{"id": "x", "storage": "s", "offset": 0, "bytes": 64}],
  "ops": [
    {"id": "load", "queue": "copy", "writes": ["x"], "signals": [{"event": "loaded"}]},
    {"id": "use", "queue": "compute", "reads": ["x"], "waits": [{"event": "loaded"}]},
    {"id": "use_again", "queue": "compute", "reads": ["x"], "after": ["load"]}
  ]
})";
}

TEST_F(CliCertificate, AuditNamesTheSyncsThatAreNeededAndThoseThatCanGo) {
  box_.write("plan.json", audited_plan());
  const Outcome run = box_.run({"audit", "plan.json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out,
            "needed: `use` waits for event `loaded`\n"
            "  else MV102: `use` (queue `compute`) may read `x` before `load` (queue `copy`) has "
            "completed its write of `x`: bytes [0, 64) of pool `hbm` (storage `s`). Nothing makes "
            "`use` wait for `load` to complete.\n"
            "redundant: `use_again` is after `load`\n"
            "memverify: 2 syncs, 1 needed, 1 redundant, 1 can go together\n");
}

TEST_F(CliCertificate, AuditAsJson) {
  box_.write("plan.json", audited_plan());
  const Outcome run = box_.run({"audit", "plan.json", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["verdict"], "safe");
  EXPECT_EQ(json["complete"], true);
  ASSERT_EQ(json["syncs"].size(), 2U);
  EXPECT_EQ(json["syncs"][0]["kind"], "wait");
  EXPECT_EQ(json["syncs"][0]["use"], "needed");
  EXPECT_EQ(json["syncs"][0]["reuses"][0]["rule"], "MV102");
  EXPECT_EQ(json["syncs"][0]["reuses"][0]["bytes"], (nlohmann::json{0, 64}));
  EXPECT_EQ(json["syncs"][1]["kind"], "after");
  EXPECT_EQ(json["syncs"][1]["can_go"], true);
}

TEST_F(CliCertificate, AuditOfAPlanThatIsNotSafeGivesItsVerdict) {
  const Outcome unsafe = box_.run({"audit", "unsafe.json"});
  EXPECT_EQ(unsafe.exit_code, 1);
  EXPECT_TRUE(contains(unsafe.out, "memverify: unsafe: only the syncs of a safe plan"));
  EXPECT_EQ(box_.run({"audit", "unknown.json"}).exit_code, 3);
  EXPECT_EQ(box_.run({"audit", "bad.json"}).exit_code, 2);
  const Outcome spent = box_.run({"audit", "safe.json", "--budget", "1"});
  EXPECT_EQ(spent.exit_code, 0);
  EXPECT_TRUE(contains(spent.out, "the budget of 1 verification is spent")) << spent.out;
}

}  // namespace
}  // namespace memverify::testing
