#include "tools/device_report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "plan/words.h"
#include "tools/report_json.h"
#include "tools/report_text.h"

namespace memverify {
namespace {

using Json = nlohmann::ordered_json;

std::string checksum_text(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string how_many(std::uint64_t count, std::string_view noun) {
  return counted(static_cast<std::int64_t>(count), noun);
}

std::string outcome(const device::CheckResult& result) {
  const std::string findings = how_many(result.shown.size(), "finding");
  if (result.shown.empty()) return "clean, " + how_many(result.runs, "run") + ", " + findings;
  return "mismatch, " + how_many(result.runs, "run") + ", " + std::to_string(result.clean) +
         " clean, " + findings;
}

/// What was run, in a line.
std::string headline_of(const DeviceArguments& arguments, const device::CheckResult& result) {
  std::string text = std::string(arguments.on_gpu ? "cuda" : "threads") + ": " +
                     how_many(result.commands, "command") + " on " +
                     how_many(result.streams, "stream") + ", " + counted(result.bytes, "byte");
  if (result.unscaled_bytes != result.bytes) {
    text += " (shrunk from " + std::to_string(result.unscaled_bytes) + ")";
  }
  text += ", " + how_many(result.runs, "run");
  if (arguments.witness.empty()) {
    text += " with " + std::string(device::name(arguments.options.delays)) + " delays, seed " +
            std::to_string(arguments.options.seed);
  } else {
    text += " along the witness, " + how_many(result.steps, "step");
  }
  return text + "\n";
}

std::string case_lines(const Plan& plan, const device::CheckResult& result) {
  std::string text;
  for (const SymbolId symbol : ids(plan.symbols)) {
    text += (text.empty() ? "symbols: " : ", ") + quoted(plan.symbols[symbol].name) + " = " +
            std::to_string(result.settled.symbols.symbols[index(symbol)]);
  }
  if (!text.empty()) text += "\n";
  const std::int64_t run = result.settled.unrolled;
  if (!plan.iterations) {
    text += "iterations: " + std::to_string(run) + " of an unbounded number\n";
  } else if (run != *plan.iterations) {
    text += "iterations: " + std::to_string(run) + " of " + std::to_string(*plan.iterations) + "\n";
  }
  return text;
}

std::string notes(const device::CheckResult& result) {
  std::string text;
  for (const std::string& wait : result.waiting) text += "stuck: " + wait + "\n";
  if (result.unchecked_reads > 0) {
    text += "note: " + how_many(result.unchecked_reads, "read") +
            " of what unknown commands may write: not checked\n";
  }
  if (result.shown.empty()) {
    text += "note: clean runs are evidence and not proof: another order may fail\n";
  }
  return text;
}

}  // namespace

std::string device_text(const Plan& plan, const DeviceArguments& arguments,
                        const device::CheckResult& result, const Style& style) {
  const std::string last = "memverify: " + outcome(result) + "\n";
  if (arguments.quiet) return last;
  std::string text = headline_of(arguments, result) + case_lines(plan, result) + "\n";
  for (const device::Shown& shown : result.shown) {
    text += text_finding(plan, shown.finding, style);
    text += "   = seen:     " + shown.seen + "\n";
    text += "   = in:       " + std::to_string(shown.runs) + " of " + how_many(result.runs, "run") +
            ", first in run " + std::to_string(shown.run) + " of seed " +
            std::to_string(arguments.options.seed) + "\n\n";
  }
  for (const device::Checksum& sum : result.checksums) {
    text += "checksum of " + quoted(plan.tensors[sum.tensor].name) + ": " +
            checksum_text(sum.value) + "\n";
  }
  return text + notes(result) + last;
}

std::string device_json(const Plan& plan, const DeviceArguments& arguments,
                        const device::CheckResult& result) {
  const std::string_view verdict = result.shown.empty() ? "unknown" : "unsafe";
  Json out;
  out["memverify"] = 1;
  out["plan"] = plan.name.empty() ? std::string_view(arguments.file) : plan.name;
  out["file"] = arguments.file;
  out["verdict"] = verdict;
  out["engines"] = {{"device", verdict}};
  out["decided_by"] = "device";
  out["findings"] = Json::array();
  for (const device::Shown& shown : result.shown) {
    Json finding = Json::parse(json_finding(plan, shown.finding));
    finding["seen"] = shown.seen;
    finding["run"] = shown.run;
    finding["runs"] = shown.runs;
    out["findings"].push_back(std::move(finding));
  }
  Json& device = out["device"];
  device["kind"] = arguments.on_gpu ? "cuda" : "threads";
  device["runs"] = result.runs;
  device["clean"] = result.clean;
  device["seed"] = arguments.options.seed;
  if (arguments.witness.empty()) {
    device["delays"] = device::name(arguments.options.delays);
  } else {
    device["steps"] = result.steps;
    device["steps_done"] = result.steps_done;
  }
  device["commands"] = result.commands;
  device["streams"] = result.streams;
  device["bytes"] = result.bytes;
  device["iterations"] = result.settled.unrolled;
  device["unchecked_reads"] = result.unchecked_reads;
  device["waiting"] = result.waiting;
  device["checksums"] = Json::object();
  for (const device::Checksum& sum : result.checksums) {
    device["checksums"][std::string(plan.tensors[sum.tensor].name)] = checksum_text(sum.value);
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memverify
