// `memverify audit`: which syncs a *safe* rests on, and which could go.
#include <string>

#include "plan/json_text.h"
#include "plan/words.h"
#include "tools/command.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/verify_file.h"
#include "verify/audit.h"

namespace memverify {
namespace {

constexpr std::size_t kFindingsInText = 3;

struct AuditCounts {
  std::int64_t needed = 0, redundant = 0, can_go = 0, open = 0;
};

AuditCounts count(const Audit& audit) {
  AuditCounts counts;
  for (const AuditedSync& sync : audit.syncs) {
    switch (sync.use) {
      case AuditedSync::Use::kNeeded:
        ++counts.needed;
        break;
      case AuditedSync::Use::kRedundant:
        ++counts.redundant;
        break;
      case AuditedSync::Use::kNotDecided:
      case AuditedSync::Use::kNotAsked:
        ++counts.open;
        break;
    }
    if (sync.can_go) ++counts.can_go;
  }
  return counts;
}

std::string needed_text(const Plan& plan, const AuditedSync& sync) {
  std::string text = "needed: " + describe(plan, sync.sync) + "\n";
  for (std::size_t k = 0; k < sync.lost.size() && k < kFindingsInText; ++k) {
    const Finding& finding = sync.lost[k];
    text += "  else " + std::string(info(finding.rule).id) + ": " + finding.message + "\n";
  }
  if (sync.lost.size() > kFindingsInText) {
    text += "  and " +
            counted(static_cast<std::int64_t>(sync.lost.size() - kFindingsInText), "finding") +
            " more\n";
  }
  return text;
}

std::string audit_text(const Plan& plan, const Audit& audit, const AuditOptions& options) {
  std::string text;
  for (const AuditedSync& sync : audit.syncs) {
    if (sync.use == AuditedSync::Use::kNeeded) text += needed_text(plan, sync);
  }
  for (const AuditedSync& sync : audit.syncs) {
    if (sync.use == AuditedSync::Use::kNotDecided) {
      text += "not decided: " + describe(plan, sync.sync) + "\n";
    }
    if (sync.use != AuditedSync::Use::kRedundant) continue;
    text += "redundant: " + describe(plan, sync.sync) +
            (sync.can_go ? "" : " (alone; not with the other redundant ones)") + "\n";
  }
  if (!audit.complete) {
    text += "note: the budget of " +
            counted(static_cast<std::int64_t>(options.max_verifications), "verification") +
            " is spent: not every sync was taken out; --budget N raises it\n";
  }
  const AuditCounts counts = count(audit);
  text += "memverify: " + counted(static_cast<std::int64_t>(audit.syncs.size()), "sync") + ", " +
          std::to_string(counts.needed) + " needed, " + std::to_string(counts.redundant) +
          " redundant, " + std::to_string(counts.can_go) + " can go together";
  if (counts.open > 0) text += ", " + std::to_string(counts.open) + " open";
  return text + "\n";
}

std::string_view word(AuditedSync::Use use) {
  switch (use) {
    case AuditedSync::Use::kNeeded:
      return "needed";
    case AuditedSync::Use::kRedundant:
      return "redundant";
    case AuditedSync::Use::kNotDecided:
      return "not decided";
    case AuditedSync::Use::kNotAsked:
      return "not asked";
  }
  return "";
}

void add_reuse(JsonText& json, const Plan& plan, const Finding& finding) {
  json.next();
  json.open('{');
  json.field("rule", info(finding.rule).id);
  json.names("ops", plan.ops, finding.ops);
  json.names("tensors", plan.tensors, finding.tensors);
  if (!finding.bytes.empty()) {
    json.field("pool", plan.pools[finding.pool].name);
    json.pair("bytes", finding.bytes.begin, finding.bytes.end);
  }
  json.field("message", std::string_view(finding.message));
  json.close('}');
}

std::string audit_json(const Plan& plan, const Audit& audit) {
  JsonText json;
  json.open('{');
  json.field("memverify", std::int64_t{1});
  json.field("plan", plan.name);
  json.field("verdict", name(audit.verdict));
  json.flag("complete", audit.complete);
  json.key("syncs");
  json.open_lines();
  for (const AuditedSync& sync : audit.syncs) {
    json.next();
    json.open('{');
    json.field("kind", name(sync.sync.kind));
    if (sync.sync.kind == SyncKind::kDepth) {
      json.field("queue", plan.queues[sync.sync.queue].name);
    } else {
      json.field("op", plan.ops[sync.sync.op].name);
      json.field("entry", std::int64_t{sync.sync.entry});
    }
    json.field("use", word(sync.use));
    json.flag("can_go", sync.can_go);
    json.field("text", std::string_view(describe(plan, sync.sync)));
    json.key("reuses");
    json.open('[');
    for (const Finding& finding : sync.lost) add_reuse(json, plan, finding);
    json.close(']');
    json.close('}');
  }
  json.close_lines();
  json.close('}');
  return json.take() + "\n";
}

}  // namespace

ExitCode audit_command(const Arguments& arguments) {
  std::string file;
  bool json = false;
  AuditOptions options;
  ColorMode color = ColorMode::kAuto;
  CLI::App app("Says which syncs a safe plan needs and for what, and which could go.",
               "memverify audit");
  app.add_option("FILE", file, "Plan file; - is standard input")->required()->type_name("");
  add_format_option(app, json);
  app.add_option("--budget", options.max_verifications,
                 "How often the plan may be decided, once for each sync and once more for each "
                 "redundant one")
      ->check(whole_from(1))
      ->type_name("N")
      ->capture_default_str();
  add_color_option(app, color);
  app.footer(
      "Each wait, barrier, host wait, `after` and depth is taken out of a copy of the plan, which\n"
      "is then decided again. Those that \"can go together\" are a set from which no more can go.\n"
      "Exit code: 0 the plan is safe, 1 unsafe, 2 bad input or usage, 3 not proven.\n"
      "\n"
      "Example:\n"
      "  memverify audit plan.json");
  if (const auto code = parse(app, arguments)) return *code;
  const Loaded loaded = load_plan(file, cannot_be_verified);
  if (!loaded.plan) {
    write_error(text_errors(loaded.errors, Style::of(color, stderr)));
    return ExitCode::kBadInput;
  }
  const Audit result = audit(*loaded.plan, options);
  StandardOutput output;
  if (json) {
    output.write(audit_json(*loaded.plan, result));
  } else if (result.verdict == Verdict::kSafe) {
    output.write(audit_text(*loaded.plan, result, options));
  } else {
    output.write("memverify: " + std::string(name(result.verdict)) +
                 ": only the syncs of a safe plan can be audited; see memverify verify\n");
  }
  return output.finish(exit_code(result.verdict));
}

}  // namespace memverify
