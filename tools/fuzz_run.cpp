#include "tools/fuzz_run.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "plan/version.h"
#include "plan/words.h"
#include "tools/campaign_db.h"
#include "tools/child_process.h"
#include "tools/console.h"
#include "tools/fuzz_sources.h"
#include "tools/parse.h"

namespace memverify {
namespace {

using Clock = std::chrono::steady_clock;

/// One line on standard error that is written over again, while a terminal shows it.
class CampaignProgress {
 public:
  explicit CampaignProgress(std::uint64_t cases)
      : is_terminal_(isatty(STDERR_FILENO) != 0), cases_(cases) {}

  void after_case(const CampaignTotals& before) {
    ++done_;
    if (!is_terminal_) return;
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(500)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    write_error("\r\033[K" + std::to_string(before.cases) + " of " + std::to_string(cases_) +
                " cases, " +
                std::to_string(static_cast<long>(static_cast<double>(done_) / seconds)) +
                " a second, " + std::to_string(before.findings()) + " with findings, " +
                std::to_string(before.coverage.cells_seen()) + " of " + std::to_string(kWishes) +
                " combinations");
  }
  void clear() const {
    if (is_terminal_) write_error("\r\033[K");
  }

 private:
  bool is_terminal_;
  std::uint64_t cases_;
  std::uint64_t done_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
};

CampaignInfo info_of(const FuzzOptions& options) {
  CampaignInfo info{.version = MEMVERIFY_VERSION, .seed = options.seed, .cases = options.cases};
  if (!options.db.empty()) info.version = campaign_version(info.version);
  info.planner = options.process.command.empty() ? "strategy " + options.strategy
                                                 : "command " + options.process.command;
  if (!options.planner_version.empty()) info.planner += ", version " + options.planner_version;
  info.mode = options.mutate.empty() ? "plans, engine " + options.engine : "mutants of plans";
  for (const std::string& path : options.corpus) info.mode += ", from " + path;
  if (!options.shrinks) info.mode += ", not made small";
  return info;
}

ExitCode exit_code_of(const CampaignTotals& totals) {
  if (!totals.internal_errors.empty()) return ExitCode::kInternal;
  if (totals.findings() > 0) return ExitCode::kUnsafe;
  const std::uint64_t open = totals.counts[static_cast<std::size_t>(Outcome::kUnknown)];
  return open > 0 ? ExitCode::kUnknown : ExitCode::kSafe;
}

ExitCode print_campaign(const CampaignInfo& info, const CampaignTotals& totals,
                        const std::string& save, bool json, bool with_coverage) {
  if (!save.empty()) {
    if (const std::string problem = save_cases(info, totals, save); !problem.empty()) {
      write_error("memverify fuzz: " + problem + "\n");
      return ExitCode::kBadInput;
    }
  }
  StandardOutput output;
  output.write(json ? campaign_json(info, totals) : campaign_text(info, totals, with_coverage));
  return output.finish(exit_code_of(totals));
}

ExitCode run_campaign(const FuzzOptions& options, const FuzzSources& sources) {
  const CampaignInfo info = info_of(options);
  std::optional<CampaignFile> file;
  CampaignTotals totals;
  if (!options.db.empty()) {
    file.emplace(options.db, CampaignFile::Open::kCreate);
    file->begin(info, options.shard);
    totals = file->totals();
  }
  const std::unique_ptr<FuzzTarget> target = options.process.command.empty()
                                                 ? strategy_target(*find_strategy(options.strategy))
                                                 : process_target(options.process);
  const EngineChoice engines = select_engines(options.engine);
  BlockOptions how{.seed = options.seed,
                   .cases = options.cases,
                   .mutates_plans = !options.mutate.empty(),
                   .shrinks = options.shrinks,
                   .sources = &sources.graphs,
                   .source_names = &sources.names};
  CampaignProgress progress(options.cases);
  for (std::uint64_t block = 0; block < blocks_of(options.cases); ++block) {
    if (!options.shard.has(block) || totals.blocks.contains(block)) continue;
    if (options.max_findings > 0) {
      if (totals.findings() >= options.max_findings) break;
      how.max_findings = options.max_findings - totals.findings();
    }
    const BlockResult result =
        run_block(block, how, *target, engines, [&] { progress.after_case(totals); });
    totals.add(result);
    if (file) file->add(result);
  }
  progress.clear();
  return print_campaign(info, totals, options.save, options.json, options.coverage);
}

/// The first word of a shell command where that is a plain word that the shell cannot find; "".
std::string missing_program(const std::string& command) {
  const std::size_t begin = command.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  const std::string word = command.substr(begin, command.find(' ', begin) - begin);
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' ||
           c == '-' || c == '+';
  };
  if (!std::ranges::all_of(word, is_plain)) return "";
  ChildProcess shell("command -v -- " + word + " > /dev/null 2>&1");
  shell.close_input();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string how;
  return shell.wait(how, deadline) == ChildProcess::State::kDone && !how.empty() ? word : "";
}

}  // namespace

ExitCode run_fuzz(const FuzzOptions& options) {
  if (const std::string program = missing_program(options.process.command); !program.empty()) {
    return usage_error(
        "fuzz", "the planner cannot be started: there is no program " + memverify::quoted(program));
  }
  FuzzSources sources;
  if (!options.corpus.empty()) {
    if (const std::string problem = load_sources(options.corpus, sources); !problem.empty()) {
      return usage_error("fuzz", problem);
    }
  }
  try {
    return run_campaign(options, sources);
  } catch (const CampaignFileError& error) {
    write_error("memverify fuzz: " + std::string(error.what()) + "\n");
    return ExitCode::kBadInput;
  }
}

ExitCode report_campaign(const std::string& db, const std::string& save, bool json) {
  try {
    const CampaignFile file(db, CampaignFile::Open::kExisting);
    return print_campaign(file.info(), file.totals(), save, json, true);
  } catch (const CampaignFileError& error) {
    write_error("memverify fuzz report: " + std::string(error.what()) + "\n");
    return ExitCode::kBadInput;
  }
}

ExitCode merge_campaigns(const std::vector<std::string>& inputs, const std::string& output) {
  try {
    CampaignFile::merge(inputs, output);
    StandardOutput out;
    const CampaignFile merged(output, CampaignFile::Open::kExisting);
    out.write("memverify fuzz: " + campaign_line(merged.totals()) + "\n");
    return out.finish(ExitCode::kSafe);
  } catch (const CampaignFileError& error) {
    write_error("memverify fuzz merge: " + std::string(error.what()) + "\n");
    return ExitCode::kBadInput;
  }
}

}  // namespace memverify
