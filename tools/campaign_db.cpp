#include "tools/campaign_db.h"

#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr const char* kCampaignSchema = R"(
  CREATE TABLE IF NOT EXISTS campaign (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS blocks (block INTEGER PRIMARY KEY, cases INTEGER, seconds REAL);
  CREATE TABLE IF NOT EXISTS outcomes (block INTEGER, outcome INTEGER, cases INTEGER);
  CREATE TABLE IF NOT EXISTS coverage (cell INTEGER, result INTEGER, cases INTEGER,
                                       PRIMARY KEY (cell, result)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS found (block INTEGER, number INTEGER, families TEXT, outcome INTEGER,
                                    rule INTEGER, times INTEGER, fingerprint TEXT, headline TEXT,
                                    ops INTEGER, graph TEXT, plan TEXT, report TEXT);
  CREATE TABLE IF NOT EXISTS mutants (block INTEGER, kind TEXT, fate TEXT, first TEXT, times INTEGER);
  CREATE TABLE IF NOT EXISTS errors (block INTEGER, text TEXT);
)";
constexpr const char* kFormat = "memverify fuzz 1";

using Key = std::map<std::string, std::string>;

Key key_of(const CampaignInfo& info, const Shard& shard) {
  return {{"format", kFormat},
          {"version", info.version},
          {"planner", info.planner},
          {"mode", info.mode},
          {"seed", std::to_string(info.seed)},
          {"cases", std::to_string(info.cases)},
          {"shard", std::to_string(shard.k) + "/" + std::to_string(shard.n)}};
}

}  // namespace

struct CampaignFile::Database {
  explicit Database(const std::string& file) : path(file) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { sqlite3_close(handle); }

  [[noreturn]] void fail() const {
    throw CampaignFileError(memverify::quoted(path) + ": " +
                            (handle == nullptr ? "out of memory" : sqlite3_errmsg(handle)));
  }
  void run(const char* sql) const {
    if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  std::string path;
  sqlite3* handle = nullptr;
};

namespace {

/// A prepared statement; values are bound from 1 on, columns read from 0 on.
template <typename Database>
class Statement {
 public:
  Statement(const Database& database, const char* sql) : database_(database) {
    if (sqlite3_prepare_v2(database.handle, sql, -1, &statement_, nullptr) != SQLITE_OK) {
      database.fail();
    }
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  template <typename... Values>
  void insert(const Values&... values) {
    int at = 0;
    (bind(++at, values), ...);
    if (sqlite3_step(statement_) != SQLITE_DONE) database_.fail();
    sqlite3_reset(statement_);
  }
  bool next() {
    const int state = sqlite3_step(statement_);
    if (state != SQLITE_ROW && state != SQLITE_DONE) database_.fail();
    return state == SQLITE_ROW;
  }
  std::uint64_t number(int column) {
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
  }
  double real(int column) { return sqlite3_column_double(statement_, column); }
  std::string text(int column) {
    const unsigned char* bytes = sqlite3_column_text(statement_, column);
    return bytes == nullptr ? std::string() : reinterpret_cast<const char*>(bytes);
  }

 private:
  void bind(int at, std::uint64_t value) {
    sqlite3_bind_int64(statement_, at, static_cast<std::int64_t>(value));
  }
  void bind(int at, double value) { sqlite3_bind_double(statement_, at, value); }
  void bind(int at, const std::string& value) {
    sqlite3_bind_text(statement_, at, value.data(), static_cast<int>(value.size()),
                      SQLITE_TRANSIENT);
  }

  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

template <typename Database>
Key read_key(const Database& database) {
  Key key;
  Statement<Database> rows(database, "SELECT key, value FROM campaign");
  while (rows.next()) key[rows.text(0)] = rows.text(1);
  return key;
}

}  // namespace

CampaignFile::CampaignFile(const std::string& path, Open how)
    : database_(std::make_unique<Database>(path)) {
  if (how == Open::kExisting && !std::filesystem::exists(path)) {
    throw CampaignFileError(memverify::quoted(path) + ": there is no such file");
  }
  if (sqlite3_open(path.c_str(), &database_->handle) != SQLITE_OK) database_->fail();
  sqlite3_busy_timeout(database_->handle, 10'000);
  if (how == Open::kCreate) {
    database_->run(kCampaignSchema);
  } else if (!read_key(*database_).contains("format")) {
    throw CampaignFileError(memverify::quoted(path) + " has no campaign in it");
  }
}
CampaignFile::CampaignFile(CampaignFile&&) noexcept = default;
CampaignFile& CampaignFile::operator=(CampaignFile&&) noexcept = default;
CampaignFile::~CampaignFile() = default;

void CampaignFile::begin(const CampaignInfo& info, const Shard& shard) {
  const Key wanted = key_of(info, shard);
  const Key has = read_key(*database_);
  for (const auto& [key, value] : has) {
    const auto same = wanted.find(key);
    if (same == wanted.end() || same->second != value) {
      throw CampaignFileError(memverify::quoted(database_->path) + " has another campaign: " + key +
                              " " + memverify::quoted(value) + ", not " +
                              memverify::quoted(same == wanted.end() ? "" : same->second));
    }
  }
  if (!has.empty()) return;
  database_->run("BEGIN");
  Statement<Database> rows(*database_, "INSERT INTO campaign VALUES (?, ?)");
  for (const auto& [key, value] : wanted) rows.insert(key, value);
  database_->run("COMMIT");
}

CampaignInfo CampaignFile::info() const {
  Key key = read_key(*database_);
  return {.version = key["version"],
          .planner = key["planner"],
          .mode = key["mode"],
          .seed = std::stoull(key["seed"]),
          .cases = std::stoull(key["cases"])};
}

Shard CampaignFile::shard() const {
  const std::string text = read_key(*database_)["shard"];
  const std::size_t slash = text.find('/');
  return {.k = std::stoull(text.substr(0, slash)), .n = std::stoull(text.substr(slash + 1))};
}

void CampaignFile::add(const BlockResult& block) {
  const Database& database = *database_;
  database.run("BEGIN IMMEDIATE");
  Statement<Database>(database, "INSERT INTO blocks VALUES (?, ?, ?)")
      .insert(block.block, block.cases, block.seconds);
  Statement<Database> outcomes(database, "INSERT INTO outcomes VALUES (?, ?, ?)");
  for (std::uint64_t k = 0; k < kOutcomes; ++k) {
    if (block.counts[k] > 0) outcomes.insert(block.block, k, block.counts[k]);
  }
  Statement<Database> coverage(database,
                               "INSERT INTO coverage VALUES (?, ?, ?) ON CONFLICT (cell, result) "
                               "DO UPDATE SET cases = cases + excluded.cases");
  for (std::uint64_t cell = 0; cell < kWishes; ++cell) {
    for (std::uint64_t k = 0; k < Coverage::kResults; ++k) {
      const std::uint64_t count = block.coverage.count(cell, k);
      if (count > 0) coverage.insert(cell, k, count);
    }
  }
  Statement<Database> found(database,
                            "INSERT INTO found VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const FoundCase& one : block.found) {
    found.insert(block.block, one.number, one.families,
                 static_cast<std::uint64_t>(one.result.outcome),
                 static_cast<std::uint64_t>(one.result.rule), one.times, one.minimal.fingerprint,
                 one.minimal.headline, static_cast<std::uint64_t>(one.minimal.ops),
                 one.minimal.graph, one.minimal.plan, one.minimal.expected);
  }
  Statement<Database> mutants(database, "INSERT INTO mutants VALUES (?, ?, ?, ?, ?)");
  for (const MutantCount& one : block.mutants) {
    mutants.insert(block.block, one.kind, one.fate, one.first, one.times);
  }
  Statement<Database> errors(database, "INSERT INTO errors VALUES (?, ?)");
  for (const std::string& error : block.internal_errors) errors.insert(block.block, error);
  database.run("COMMIT");
}

CampaignTotals CampaignFile::totals() const {
  const Database& database = *database_;
  CampaignTotals totals;
  Statement<Database> blocks(database, "SELECT block, cases, seconds FROM blocks");
  while (blocks.next()) {
    totals.blocks.insert(blocks.number(0));
    totals.cases += blocks.number(1);
    totals.seconds += blocks.real(2);
  }
  Statement<Database> outcomes(database,
                               "SELECT outcome, SUM(cases) FROM outcomes GROUP BY outcome");
  while (outcomes.next()) totals.counts.at(outcomes.number(0)) = outcomes.number(1);
  Statement<Database> coverage(database, "SELECT cell, result, cases FROM coverage");
  while (coverage.next()) {
    if (coverage.number(0) >= kWishes || coverage.number(1) >= Coverage::kResults) continue;
    totals.coverage.add(coverage.number(0), coverage.number(1), coverage.number(2));
  }
  Statement<Database> found(database,
                            "SELECT number, families, outcome, rule, times, fingerprint, headline, "
                            "ops, graph, plan, report FROM found ORDER BY number");
  while (found.next()) {
    totals.found.push_back({.number = found.number(0),
                            .families = found.text(1),
                            .result = {.outcome = static_cast<Outcome>(found.number(2)),
                                       .rule = static_cast<Rule>(found.number(3))},
                            .times = found.number(4),
                            .minimal = {.fingerprint = found.text(5),
                                        .graph = found.text(8),
                                        .plan = found.text(9),
                                        .expected = found.text(10),
                                        .headline = found.text(6),
                                        .ops = found.number(7)}});
  }
  Statement<Database> mutants(
      database, "SELECT kind, fate, first, times FROM mutants ORDER BY block, kind, fate");
  while (mutants.next()) {
    MutantCount& sum = totals.mutants[{mutants.text(0), mutants.text(1)}];
    if (sum.times == 0) {
      sum = {.kind = mutants.text(0), .fate = mutants.text(1), .first = mutants.text(2)};
    }
    sum.times += mutants.number(3);
  }
  Statement<Database> errors(database, "SELECT text FROM errors ORDER BY block");
  while (errors.next()) totals.internal_errors.push_back(errors.text(0));
  return totals;
}

void CampaignFile::merge(const std::vector<std::string>& inputs, const std::string& output) {
  if (std::filesystem::exists(output)) {
    throw CampaignFileError(memverify::quoted(output) + " exists already");
  }
  std::map<std::uint64_t, std::string> owners;
  std::optional<CampaignInfo> campaign;
  std::uint64_t shards = 1;
  for (const std::string& path : inputs) {
    const CampaignFile file(path, Open::kExisting);
    const CampaignInfo info = file.info();
    if (campaign && !(info == *campaign)) {
      const bool same_version = info.version == campaign->version;
      throw CampaignFileError(
          memverify::quoted(path) +
          (same_version ? " is of another campaign than " : " is of another version than ") +
          memverify::quoted(inputs.front()));
    }
    campaign = info;
    shards = file.shard().n;
    for (const std::uint64_t block : file.totals().blocks) {
      const auto [owner, is_new] = owners.emplace(block, path);
      if (is_new) continue;
      throw CampaignFileError("overlap: block " + std::to_string(block) + " is in " +
                              memverify::quoted(owner->second) + " and in " +
                              memverify::quoted(path));
    }
  }
  for (std::uint64_t block = 0; block < blocks_of(campaign->cases); ++block) {
    if (owners.contains(block)) continue;
    throw CampaignFileError("gap: block " + std::to_string(block) + ", of shard " +
                            std::to_string(block % shards + 1) + "/" + std::to_string(shards) +
                            ", is in none of the files");
  }
  CampaignFile merged(output, Open::kCreate);
  merged.begin(*campaign, {});
  for (const std::string& path : inputs) {
    Statement<Database>(*merged.database_, "ATTACH ? AS part").insert(path);
    merged.database_->run(
        "BEGIN;"
        "INSERT INTO blocks SELECT * FROM part.blocks;"
        "INSERT INTO outcomes SELECT * FROM part.outcomes;"
        "INSERT INTO found SELECT * FROM part.found;"
        "INSERT INTO mutants SELECT * FROM part.mutants;"
        "INSERT INTO errors SELECT * FROM part.errors;"
        "INSERT INTO coverage SELECT * FROM part.coverage WHERE TRUE ON CONFLICT (cell, result) "
        "DO UPDATE SET cases = cases + excluded.cases;"
        "COMMIT;"
        "DETACH part");
  }
}

std::string campaign_version(const std::string& version) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  std::ifstream executable("/proc/self/exe", std::ios::binary);
  std::vector<char> bytes(1 << 16);
  while (executable.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) ||
         executable.gcount() > 0) {
    for (std::streamsize k = 0; k < executable.gcount(); ++k) {
      hash =
          (hash ^ static_cast<unsigned char>(bytes[static_cast<std::size_t>(k)])) * 0x100000001B3U;
    }
  }
  return version + " " + std::to_string(hash);
}

}  // namespace memverify
