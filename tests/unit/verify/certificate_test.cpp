// Certificates: every safe plan of the corpus has one, no entry of it is idle, and it proves no
// other plan.
#include "verify/certificate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "support/random_plan.h"
#include "verify/certificate_cases.h"
#include "verify/certificate_check.h"
#include "verify/certificate_write.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using cert::Certificate;
using cert::CheckResult;
using Kind = CheckResult::Kind;

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> corpus(const std::string& part) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MEMVERIFY_CORPUS)) {
    const std::string name = entry.path().string();
    if (name.ends_with(".json") && name.find(part) != std::string::npos) files.push_back(name);
  }
  std::ranges::sort(files);
  return files;
}

/// Plans that engines decide and certificates do not cover (docs/certificate.md).
bool has_no_certificate(const Plan& plan) {
  return !cert::Cases(plan).refused().empty() ||
         std::ranges::any_of(plan.waits, [](const Wait& w) { return w.consume; }) ||
         std::ranges::any_of(plan.ops, [](const Op& op) { return op.kind == OpKind::kUnknown; });
}

/// A certificate with one thing changed.
struct Change {
  std::string what;
  Certificate certificate;
};

/// Of long lists some: the whole costs the square of the length.
std::size_t stride_of(std::size_t length) { return 1 + length / 40; }

/// Every change of one number, and every row and number left out.
void change_rows(const Certificate& original, const std::string& name,
                 const std::function<cert::Rows&(Certificate&)>& rows_of,
                 std::vector<Change>& changes) {
  Certificate copy = original;
  const cert::Rows rows = rows_of(copy);
  for (std::size_t k = 0; k < rows.numbers.size(); k += stride_of(rows.numbers.size())) {
    for (std::int64_t step : {-1, 1, 2}) {
      changes.push_back({name + " number " + std::to_string(k), original});
      rows_of(changes.back().certificate).numbers[k] += step;
    }
  }
  for (std::size_t k = 0; k < rows.size(); k += stride_of(rows.size())) {
    changes.push_back({name + " row " + std::to_string(k), original});
    cert::Rows& changed = rows_of(changes.back().certificate);
    changed = {};
    for (std::size_t other = 0; other < rows.size(); ++other) {
      if (other == k) continue;
      const auto row = rows.row(other);
      changed.numbers.insert(changed.numbers.end(), row.begin(), row.end());
      changed.ends.push_back(changed.numbers.size());
    }
    if (rows.row(k).empty()) continue;
    changes.push_back({name + " end of row " + std::to_string(k), original});
    cert::Rows& shorter = rows_of(changes.back().certificate);
    shorter.numbers.erase(shorter.numbers.begin() + static_cast<std::ptrdiff_t>(rows.ends[k]) - 1);
    for (std::size_t other = k; other < rows.size(); ++other) --shorter.ends[other];
  }
}

void change_list(const Certificate& original, const std::string& name,
                 const std::function<std::vector<std::int64_t>&(Certificate&)>& list_of,
                 std::vector<Change>& changes) {
  Certificate copy = original;
  for (std::size_t k = 0; k < list_of(copy).size(); ++k) {
    changes.push_back({name + " " + std::to_string(k), original});
    ++list_of(changes.back().certificate)[k];
  }
  changes.push_back({name + " longer", original});
  list_of(changes.back().certificate).push_back(0);
}

std::vector<Change> changes_of_case(const Certificate& original, std::size_t k) {
  std::vector<Change> changes;
  const auto rows = [&](const std::string& name, cert::Rows cert::Case::*member) {
    change_rows(
        original, name, [=](Certificate& c) -> cert::Rows& { return c.cases[k].*member; }, changes);
  };
  rows("orders", &cert::Case::orders);
  rows("postponed", &cert::Case::postponed);
  rows("writers", &cert::Case::writers);
  const auto list = [&](const std::string& name, std::vector<std::int64_t> cert::Case::*member) {
    change_list(
        original, name,
        [=](Certificate& c) -> std::vector<std::int64_t>& { return c.cases[k].*member; }, changes);
  };
  list("symbols", &cert::Case::symbols);
  list("conditions", &cert::Case::conditions);
  changes.push_back({"pairs", original});
  ++changes.back().certificate.cases[k].pairs;
  changes.push_back({"iterations", original});
  ++changes.back().certificate.cases[k].iterations;
  changes.push_back({"case left out", original});
  auto& cases = changes.back().certificate.cases;
  cases.erase(cases.begin() + static_cast<std::ptrdiff_t>(k));
  return changes;
}

TEST(Certificate, EverySafePlanOfTheCorpusHasOneWithoutAnIdleEntry) {
  std::size_t plans = 0;
  std::size_t changed = 0;
  for (const auto& file : corpus(".safe.")) {
    const Result<Plan> plan = read_plan(text_of(file), file.string());
    if (!plan.ok()) continue;
    const EngineResult result = verify_happens_before(plan.value(), {});
    if (result.verdict != Verdict::kSafe || has_no_certificate(plan.value())) continue;
    const CertificateResult made = certify(plan.value(), result);
    ASSERT_EQ(made.refused, "") << file;
    const auto read = cert::read_certificate(cert::write_certificate(made.certificate), "c.json");
    ASSERT_TRUE(read.ok()) << file << to_string(read.errors().front());
    ASSERT_EQ(check_certificate(plan.value(), read.value()).message, "") << file;
    ++plans;
    for (std::size_t k = 0; k < std::min<std::size_t>(made.certificate.cases.size(), 2); ++k) {
      for (const Change& change : changes_of_case(made.certificate, k)) {
        const CheckResult checked = check_certificate(plan.value(), change.certificate);
        EXPECT_EQ(checked.kind, Kind::kRefused) << file << ": " << change.what;
        EXPECT_NE(checked.message, "") << file << ": " << change.what;
        ++changed;
      }
    }
  }
  EXPECT_GE(plans, 150U);
  EXPECT_GE(changed, 5000U);
}

std::vector<Change> changes_of_fault(const Certificate& original, std::size_t k) {
  std::vector<Change> changes;
  const auto change = [&](const std::string& what, auto&& edit) {
    changes.push_back({what, original});
    edit(changes.back().certificate.faults[k]);
  };
  for (auto member : {&cert::Fault::run, &cert::Fault::blocked}) {
    change_rows(
        original, "rows", [=](Certificate& c) -> cert::Rows& { return c.faults[k].*member; },
        changes);
  }
  for (auto member : {&cert::Fault::symbols, &cert::Fault::conditions, &cert::Fault::nodes}) {
    change_list(
        original, "list",
        [=](Certificate& c) -> std::vector<std::int64_t>& { return c.faults[k].*member; }, changes);
  }
  change("byte", [](cert::Fault& f) { ++f.byte; });
  change("pool", [](cert::Fault& f) { ++f.pool; });
  change("rule", [](cert::Fault& f) { f.rule = f.rule == "MV101" ? "MV102" : "MV101"; });
  change("case", [](cert::Fault& f) { ++f.number; });
  change("iterations", [](cert::Fault& f) { ++f.iterations; });
  return changes;
}

TEST(Certificate, RacesAndDeadlocksOfTheCorpusAreShownWithoutAnIdleEntry) {
  std::size_t races = 0;
  std::size_t deadlocks = 0;
  for (const auto& file : corpus(".unsafe.")) {
    const Result<Plan> plan = read_plan(text_of(file), file.string());
    if (!plan.ok()) continue;
    const EngineResult result = verify_happens_before(plan.value(), {});
    if (result.verdict != Verdict::kUnsafe) continue;
    const CertificateResult made = certify(plan.value(), result);
    if (!made.refused.empty()) continue;
    const auto read = cert::read_certificate(cert::write_certificate(made.certificate), "c.json");
    ASSERT_TRUE(read.ok()) << file << to_string(read.errors().front());
    ASSERT_EQ(check_certificate(plan.value(), read.value()).message, "") << file;
    for (std::size_t k = 0; k < std::min<std::size_t>(made.certificate.faults.size(), 3); ++k) {
      ++(made.certificate.faults[k].rule == "MV111" ? deadlocks : races);
      for (const Change& change : changes_of_fault(made.certificate, k)) {
        EXPECT_EQ(check_certificate(plan.value(), change.certificate).kind, Kind::kRefused)
            << file << ": " << change.what;
      }
    }
  }
  EXPECT_GE(races, 80U);
  EXPECT_GE(deadlocks, 1U);
}

TEST(Certificate, ProvesNoEditedPlanThatIsNotSafe) {
  std::size_t flipped = 0;
  for (std::uint64_t seed = 1; flipped < 1000 && seed < 20'000; ++seed) {
    testing::PlanJson original = testing::random_plan(seed);
    if (seed % 4 == 0 && original.contains("iterations")) original["iterations"] = "unbounded";
    const std::optional<Plan> plan = testing::plan_of(original);
    if (!plan || has_no_certificate(*plan)) continue;
    const EngineResult result = verify_happens_before(*plan, {});
    if (result.verdict != Verdict::kSafe) continue;
    const CertificateResult made = certify(*plan, result);
    ASSERT_EQ(made.refused, "") << original.dump();
    for (std::uint64_t edit = 0; edit < 4; ++edit) {
      testing::PlanJson changed = original;
      Draw draw(seed * 100 + edit);
      testing::mutate(changed, draw);
      const std::optional<Plan> other = testing::plan_of(changed);
      if (!other || verify_happens_before(*other, {}).verdict != Verdict::kUnsafe) continue;
      ++flipped;
      EXPECT_EQ(check_certificate(*other, made.certificate).kind, Kind::kOtherPlan)
          << original.dump() << "\n"
          << changed.dump();
      EXPECT_EQ(check_certificate(*other, made.certificate, {.any_plan = true}).kind,
                Kind::kRefused)
          << original.dump() << "\n"
          << changed.dump();
    }
  }
  EXPECT_GE(flipped, 1000U);
}

/// One op that writes to rotating storages of so many slots.
Plan rotating(const std::vector<std::size_t>& slots, const std::string& iterations) {
  testing::PlanJson plan = {{"memverify", 1}, {"iterations", testing::PlanJson::parse(iterations)}};
  plan["pools"].push_back({{"id", "p"}});
  plan["queues"].push_back({{"id", "q"}});
  testing::PlanJson op = {{"id", "o"}, {"queue", "q"}};
  std::size_t next = 0;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const std::string n = std::to_string(k);
    testing::PlanJson storage = {{"id", "s" + n}, {"pool", "p"}, {"bytes", 8}};
    for (std::size_t slot = 0; slot < slots[k]; ++slot) storage["offset"].push_back(8 * next++);
    plan["storages"].push_back(storage);
    plan["tensors"].push_back({{"id", "t" + n}, {"storage", "s" + n}, {"bytes", 8}});
    op["writes"].push_back("t" + n);
  }
  plan["ops"].push_back(op);
  return read_plan(plan.dump(), "p.json").value();
}

TEST(Certificate, LoopsStandForOthersOnlyByWholeTurns) {
  const auto lengths = [](const Plan& plan) {
    std::vector<std::uint32_t> all;
    const cert::Cases cases(plan);
    for (std::uint64_t k = 0; k < cases.count(); ++k)
      all.push_back(cases.at(k).conditions.iterations);
    return all;
  };
  EXPECT_EQ(lengths(rotating({2}, "\"unbounded\"")),
            (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(lengths(rotating({2}, "1000001")), (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(lengths(rotating({2}, "8")), (std::vector<std::uint32_t>{8}));
  // A turn of 16,256 iterations: too many runs to stand for all.
  EXPECT_EQ(cert::Cases(rotating({128, 127}, "\"unbounded\"")).refused(),
            "there are too many iterations");
  // A turn of 197,376: of 197,380 none is left out.
  EXPECT_EQ(lengths(rotating({257, 256, 3}, "197380")), (std::vector<std::uint32_t>{197'380}));
  EXPECT_EQ(cert::Cases(rotating({257, 256, 3}, "\"unbounded\"")).refused(),
            "there are too many iterations");
}

TEST(Certificate, OfAnotherPlanIsToldFromOneThatIsWrong) {
  const auto files = corpus("two_branches.safe.");
  ASSERT_EQ(files.size(), 1U);
  std::string text = text_of(files.front());
  const Result<Plan> plan = read_plan(text, "plan.json");
  ASSERT_TRUE(plan.ok());
  const CertificateResult made = certify(plan.value(), verify_happens_before(plan.value(), {}));
  ASSERT_EQ(made.refused, "");
  Certificate other = made.certificate;
  other.plan[0] = other.plan[0] == '0' ? '1' : '0';
  EXPECT_EQ(check_certificate(plan.value(), other).kind, Kind::kOtherPlan);
}

TEST(Certificate, FingerprintIsOfWhatHasAMeaning) {
  int plans = 0;
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    const testing::PlanJson original = testing::random_plan(seed);
    const std::optional<Plan> plan = testing::plan_of(original);
    if (!plan || plan->ops.empty()) continue;
    ++plans;
    testing::PlanJson named = original;
    named["x-note"] = "none";
    for (auto& op : named["ops"]) {
      op["label"] = "step";
      op["duration"] = {5, 6};
    }
    EXPECT_EQ(cert::fingerprint(*testing::plan_of(named)), cert::fingerprint(*plan)) << seed;
    testing::PlanJson looped = original;
    looped["iterations"] = plan->iterations == 77 ? 78 : 77;
    EXPECT_NE(cert::fingerprint(*testing::plan_of(looped)), cert::fingerprint(*plan)) << seed;
  }
  EXPECT_GE(plans, 20);
}

TEST(Certificate, FingerprintDoesNotNameSymbols) {
  const auto of = [](const std::string& symbol, const std::string& bytes) {
    testing::PlanJson plan = {{"memverify", 1}};
    plan["symbols"] = {{"a", {{"max", 8}}}, {symbol, {{"max", 8}}}};
    plan["pools"].push_back({{"id", "p"}});
    plan["storages"].push_back({{"id", "s"}, {"pool", "p"}, {"offset", 0}, {"bytes", bytes}});
    plan["tensors"].push_back({{"id", "t"}, {"storage", "s"}, {"bytes", 1}});
    return cert::fingerprint(read_plan(plan.dump(), "p.json").value());
  };
  EXPECT_EQ(of("n", "4 * n"), of("m", "4 * m"));
  EXPECT_NE(of("n", "4 * n"), of("n", "4 * a"));
  EXPECT_NE(of("n", "4 * n"), of("n", "4 + n"));
  EXPECT_NE(of("n", "4 * n"), of("n", "5 * n"));
}

TEST(Certificate, TextThatIsNoneIsBadInput) {
  const std::string good = cert::write_certificate({.plan = "00", .verdict = "safe"});
  EXPECT_TRUE(cert::read_certificate(good, "c").ok());
  const auto id = [](const std::string& text) {
    const auto read = cert::read_certificate(text, "c");
    return read.ok() ? "" : read.errors().front().id;
  };
  EXPECT_EQ(id(""), "json.syntax");
  EXPECT_EQ(id("{}"), "certificate.format");
  EXPECT_EQ(id("[1]"), "certificate.format");
  EXPECT_EQ(id(R"({"memverify": 1})"), "certificate.format");
  for (std::size_t length = 0; length + 2 < good.size(); ++length) {
    EXPECT_NE(id(good.substr(0, length)), "") << length;
  }
  std::string other = good;
  other.replace(other.find(":1"), 2, ":2");
  EXPECT_EQ(id(other), "certificate.version");
}

TEST(Certificate, RowsAreReadAlikeHoweverTheyAreWritten) {
  cert::Case proof;
  for (std::int64_t k = 0; k < 20; ++k) proof.orders.push_back({k, -k, std::int64_t{1} << (3 * k)});
  proof.writers.push_back({0});
  proof.writers.push_back({});
  proof.writers.push_back({0, 10});
  const std::string plain =
      cert::write_certificate({.plan = "00", .verdict = "safe", .cases = {proof}});
  const auto rows = [](const std::string& text) {
    const auto read = cert::read_certificate(text, "c");
    if (!read.ok()) return std::pair(cert::Rows(), read.errors().front().id);
    return std::pair(read.value().cases[0].orders, std::string());
  };
  EXPECT_EQ(rows(plain).first.numbers, proof.orders.numbers);
  EXPECT_EQ(rows(plain).first.ends, proof.orders.ends);
  const auto with = [&](const std::string& wanted, const std::string& text) {
    std::string changed = plain;
    changed.replace(changed.find(wanted), wanted.size(), text);
    return changed;
  };
  for (const char* text : {"[5,-5 ,32768]", " [5,-5,32768]", "[5,-5,32768] ", "[ 5,-5,32768\n]"}) {
    EXPECT_EQ(rows(with("[5,-5,32768]", text)).first.numbers, proof.orders.numbers) << text;
  }
  EXPECT_EQ(rows(with("[5,-5,32768]", "[5,-0,32768]")).first.numbers[16], 0);
  for (const char* text : {"[05,-5,32768]", "[5,-,32768]", "[5,-5,]", "[5 -5]"}) {
    EXPECT_EQ(rows(with("[5,-5,32768]", text)).second, "json.syntax") << text;
  }
  for (const char* text : {"[5,1.0]", "[1e0]", "[99999999999999999999]", "[[5]]", "[\"5\"]", "5"}) {
    EXPECT_EQ(rows(with("[5,-5,32768]", text)).second, "certificate.format") << text;
  }
}

/// A matrix of which each column is written and read, by rows of 4 bytes.
TEST(Certificate, RowsThatTheSameAccessesTouchCountOnce) {
  testing::PlanJson plan = {{"memverify", 1}, {"iterations", 1}};
  plan["pools"].push_back({{"id", "p"}});
  plan["queues"].push_back({{"id", "q"}, {"order", "serial"}});
  plan["queues"].push_back({{"id", "r"}, {"order", "serial"}});
  plan["storages"].push_back({{"id", "s"}, {"pool", "p"}, {"offset", 0}, {"bytes", 512}});
  plan["tensors"].push_back({{"id", "t"}, {"storage", "s"}, {"bytes", 512}});
  for (int column = 0; column < 2; ++column) {
    const std::string c = std::to_string(column);
    plan["tensors"].push_back({{"id", "c" + c},
                               {"view_of", "t"},
                               {"offset", 4 * column},
                               {"dtype", "f32"},
                               {"shape", {64, 1}},
                               {"strides", {2, 1}}});
    plan["ops"].push_back({{"id", "w" + c}, {"queue", "q"}, {"writes", {"c" + c}}});
  }
  plan["ops"].push_back({{"id", "u"}, {"queue", "r"}, {"reads", {"t"}}, {"after", {"w1"}}});
  const Plan read = read_plan(plan.dump(), "p.json").value();
  const CertificateResult made = certify(read, verify_happens_before(read, {}));
  ASSERT_EQ(made.refused, "");
  EXPECT_EQ(made.certificate.cases[0].pairs, 2);
  EXPECT_EQ(made.certificate.cases[0].writers.numbers, (std::vector<std::int64_t>{2, 1}));
}

/// The checker must stay apart from what it checks.
TEST(Certificate, CheckerIncludesNothingOfTheEngines) {
  for (const auto& entry : std::filesystem::directory_iterator(MEMVERIFY_SOURCE "/verify")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("certificate") || name.starts_with("certificate_write")) continue;
    std::istringstream lines(text_of(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#include \"")) continue;
      const bool allowed = line.starts_with("#include \"plan/") ||
                           (line.starts_with("#include \"verify/certificate") &&
                            line.find("certificate_write") == std::string::npos);
      EXPECT_TRUE(allowed) << name << ": " << line;
    }
  }
}

}  // namespace
}  // namespace memverify
