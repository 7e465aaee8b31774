#include "tools/plan_report.h"

#include <algorithm>
#include <cstdio>

#include "plan/json_text.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMostTensorsInText = 12;

std::string number(std::int64_t value) { return std::to_string(value); }

double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

std::string percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100.0 * part);
  return text;
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// A plan that is not safe is no proof that so few bytes do.
bool is_optimal(const PlanReport& report, const PoolOutcome& outcome) {
  return outcome.is_optimal && report.verdict == name(Verdict::kSafe);
}

double gap_of(const PoolOutcome& outcome) { return ratio(outcome.peak, outcome.bound.bytes) - 1.0; }

std::string buffer_words(const PlanReport& report, BufferIndex b) {
  const GraphBuffer& buffer = report.planned->buffers[b];
  std::string words = quoted(report.graph->tensors[buffer.root].name);
  if (buffer.slot > 0) words += " (slot " + number(buffer.slot) + ")";
  return words + " [" + number(buffer.address) + ", " + number(buffer.address + buffer.bytes) + ")";
}

/// "`a`", "bytes [0, 16) of `a`" or "bytes [0, 16) that are placed already".
std::string member_words(const PlanReport& report, const BoundMember& member) {
  const std::string bytes =
      "bytes [" + number(member.bytes.begin) + ", " + number(member.bytes.end) + ")";
  if (member.buffer >= report.planned->buffers.size()) return bytes + " that are placed already";
  const GraphBuffer& buffer = report.planned->buffers[member.buffer];
  std::string words = quoted(report.graph->tensors[buffer.root].name);
  if (buffer.slot > 0) words += " (slot " + number(buffer.slot) + ")";
  const std::int64_t size = member.bytes.end - member.bytes.begin;
  return size == buffer.bytes ? words + " " + counted(size, "byte") : bytes + " of " + words;
}

std::string at_peak_text(const PlanReport& report, const PoolOutcome& outcome) {
  std::string out;
  for (std::size_t k = 0; k < outcome.at_peak.size(); ++k) {
    if (k == kMostTensorsInText) {
      return out + "    and " +
             counted(static_cast<std::int64_t>(outcome.at_peak.size() - k), "tensor") + " more\n";
    }
    out += "    " + buffer_words(report, outcome.at_peak[k]) + "\n";
  }
  return out;
}

/// What the members of the bound prove, and what the search did where that is more.
std::string bound_words(const PlanReport& report, const PoolOutcome& outcome) {
  const std::string bytes = counted(outcome.bound.bytes, "byte");
  const bool is_searched = is_optimal(report, outcome) && outcome.peak > outcome.bound.bytes;
  if (!is_searched) return "  no placement needs less than " + bytes;
  return "  no placement needs less than " + counted(outcome.peak, "byte") + ", by search; " +
         bytes + " are needed at least";
}

std::string pool_text(const PlanReport& report, const PoolOutcome& outcome) {
  std::string out = "pool " + quoted(report.graph->pools[outcome.pool].name) + ": peak " +
                    counted(outcome.peak, "byte");
  if (outcome.capacity) out += " of " + number(*outcome.capacity);
  if (outcome.peak < outcome.bound.bytes) {
    out += ", " + number(outcome.bound.bytes - outcome.peak) + " less than a safe plan needs";
  } else if (is_optimal(report, outcome)) {
    out += ", which is optimal";
  } else if (outcome.bound.bytes > 0) {
    out += ", " + percent(gap_of(outcome)) + " above the bound";
  }
  out += "\n  tensors of " + counted(outcome.total, "byte") + " together";
  if (outcome.fixed > 0) out += ", " + counted(outcome.fixed, "byte") + " placed before";
  // Below none where there are gaps, which alignment and fixed places make.
  const double reused = 1.0 - ratio(outcome.peak, outcome.total + outcome.fixed);
  out += ", reuse ratio " + percent(std::max(reused, 0.0)) + "\n";
  if (outcome.allocator) out += "  " + allocator_text(*outcome.allocator) + "\n";
  const PoolBound& bound = outcome.bound;
  if (bound.bytes == 0) return out + "  at the peak:\n" + at_peak_text(report, outcome);
  const bool is_largest = bound.largest_live_set == bound.live_set_at_most;
  out += std::string("  largest live set of a run ") + (is_largest ? "" : "at least ") +
         counted(bound.largest_live_set, "byte") + ", fragmentation " +
         (is_largest ? "" : "at most ") + counted(outcome.peak - bound.largest_live_set, "byte") +
         "\n";
  out += bound_words(report, outcome) + (bound.of_one_run
                                             ? ", for a run has all of these alive at once:\n"
                                             : ", for no two of these may share any:\n");
  for (std::size_t k = 0; k < bound.members.size(); ++k) {
    if (k == kMostTensorsInText) {
      return out + "    and " +
             counted(static_cast<std::int64_t>(bound.members.size() - k), "value") + " more\n";
    }
    out += "    " + member_words(report, bound.members[k]) + "\n";
  }
  return out;
}

void add_member(JsonText& json, const PlanReport& report, const BoundMember& member) {
  json.next();
  json.open('{');
  if (member.buffer < report.planned->buffers.size()) {
    const GraphBuffer& buffer = report.planned->buffers[member.buffer];
    json.field("tensor", report.graph->tensors[buffer.root].name);
    json.field("slot", std::int64_t{buffer.slot});
  }
  json.pair("bytes", member.bytes.begin, member.bytes.end);
  json.close('}');
}

void add_allocator(JsonText& json, const AllocatorCounts& counts) {
  json.key("allocator");
  json.open('{');
  json.field("pool_hits", counts.pool_hits);
  json.field("system_allocations", counts.system_allocations);
  json.key("amortised_cost");
  json.raw(decimal(counts.amortised_cost()));
  json.close('}');
}

std::int64_t count_roots(const PlannedGraph& planned) {
  return std::ranges::count(planned.buffers, 0U, &GraphBuffer::slot);
}

}  // namespace

std::string allocator_text(const AllocatorCounts& counts) {
  return counted(counts.pool_hits, "pool hit") + ", " +
         counted(counts.system_allocations, "system allocation") + ", " +
         decimal(counts.amortised_cost()) + " for each request";
}

std::string plan_text(const PlanReport& report) {
  std::string out;
  for (const PoolOutcome& outcome : report.planned->pools) out += pool_text(report, outcome);
  if (report.branches != nullptr) out += branches_text(*report.graph, *report.branches);
  if (report.slots != nullptr) out += slot_gain_text(*report.graph, *report.slots);
  if (!report.planned->gap.empty()) {
    out += "note: no two tensors share bytes: " + report.planned->gap + "\n";
  }
  if (!report.note.empty()) out += "note: " + report.note + "\n";
  out += "memverify: " + counted(count_roots(*report.planned), "tensor") + " placed by " +
         std::string(report.strategy);
  if (!report.verdict.empty()) out += ", " + std::string(report.verdict);
  return out + "\n";
}

std::string plan_json(const PlanReport& report) {
  JsonText json;
  json.open('{');
  json.field("memverify", std::int64_t{1});
  json.field("plan", report.graph->name);
  json.field("strategy", report.strategy);
  if (!report.verdict.empty()) json.field("verdict", report.verdict);
  json.flag("fits", report.planned->fits());
  json.field("tensors", count_roots(*report.planned));
  if (!report.note.empty()) json.field("note", std::string_view(report.note));
  if (!report.planned->gap.empty()) json.field("gap", std::string_view(report.planned->gap));
  json.key("pools");
  json.open_lines();
  for (const PoolOutcome& outcome : report.planned->pools) {
    json.next();
    json.open('{');
    json.field("pool", report.graph->pools[outcome.pool].name);
    json.field("peak_bytes", outcome.peak);
    if (outcome.capacity) json.field("capacity", *outcome.capacity);
    if (!outcome.fits()) json.field("missing_bytes", outcome.peak - *outcome.capacity);
    if (outcome.bound.bytes > 0) {
      json.field("bound", outcome.bound.bytes);
      json.field("largest_live_set", outcome.bound.largest_live_set);
      json.field("live_set_at_most", outcome.bound.live_set_at_most);
      json.field("bound_by", std::string_view(outcome.bound.of_one_run ? "run" : "pairs"));
      json.key("bound_members");
      json.open('[');
      for (const BoundMember& member : outcome.bound.members) add_member(json, report, member);
      json.close(']');
    }
    json.flag("optimal", is_optimal(report, outcome));
    if (outcome.allocator) add_allocator(json, *outcome.allocator);
    json.field("total_bytes", outcome.total);
    if (outcome.fixed > 0) json.field("fixed_bytes", outcome.fixed);
    json.key("at_peak");
    json.open('[');
    for (const BufferIndex b : outcome.at_peak) {
      const GraphBuffer& buffer = report.planned->buffers[b];
      json.next();
      json.open('{');
      json.field("tensor", report.graph->tensors[buffer.root].name);
      json.field("slot", std::int64_t{buffer.slot});
      json.pair("bytes", buffer.address, buffer.address + buffer.bytes);
      json.close('}');
    }
    json.close(']');
    json.close('}');
  }
  json.close_lines();
  if (report.branches != nullptr) add_branches(json, *report.graph, *report.branches);
  if (report.slots != nullptr) add_slot_gain(json, *report.graph, *report.slots);
  if (report.advice != nullptr) add_advice(json, *report.graph, *report.advice);
  json.close('}');
  return json.take() + "\n";
}

std::string too_small_text(const PlanReport& report, const Style& style) {
  std::string out;
  for (const PoolOutcome& outcome : report.planned->pools) {
    if (outcome.fits()) continue;
    out += style.error("error") + ": pool " + quoted(report.graph->pools[outcome.pool].name) +
           " is too small: " + counted(outcome.peak, "byte") + " needed, " +
           number(*outcome.capacity) + " there, " + number(outcome.peak - *outcome.capacity) +
           " missing\n";
    if (outcome.bound.bytes > *outcome.capacity) {
      out += "  no placement needs less than " + number(outcome.bound.bytes) + "\n";
    }
    if (!outcome.at_peak.empty()) out += "  at the peak:\n" + at_peak_text(report, outcome);
    for (const BufferIndex b : outcome.at_peak) {
      const GraphBuffer& buffer = report.planned->buffers[b];
      if (buffer.slot == 0 && buffer.bytes > *outcome.capacity) {
        out += "  " + quoted(report.graph->tensors[buffer.root].name) + " alone has " +
               counted(buffer.bytes, "byte") + "\n";
      }
    }
  }
  if (report.advice != nullptr) out += advice_text(*report.graph, *report.advice);
  return out;
}

}  // namespace memverify
