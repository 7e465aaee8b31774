#include "tools/storage_report.h"

#include <algorithm>
#include <set>
#include <vector>

#include "plan/words.h"

namespace memverify {
namespace {

std::string ticks(std::int64_t tick) { return "tick " + std::to_string(tick); }

std::string_view deed(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "reads";
    case AccessKind::kWrite:
      return "writes";
    case AccessKind::kAccumulate:
      return "accumulates into";
    case AccessKind::kClobber:
      return "clobbers";
  }
  return "";
}

/// " (through `r` and `w`)", " (by the order of their queue)".
std::string through_words(const Plan& plan, const UseView& use, const NextUse& next) {
  const QueueId queue = plan.ops[use.op].queue;
  if (next.through.empty() && queue != kNone<QueueId> && queue == plan.ops[next.op].queue) {
    return " (by the order of queue " + quoted(plan.queues[queue].name) + ")";
  }
  std::vector<std::string> names;
  for (const Step& step : next.through) names.push_back(op_name(plan, step.op, step.iteration));
  return names.empty() ? " (directly)" : " (through " + listed(names) + ")";
}

std::string next_words(const Plan& plan, const UseView& use, const NextUse& next,
                       const Style& style) {
  if (next.op == kNone<OpId>) return "held to the end of the plan";
  const std::string who = op_words(plan, next.op, next.iteration);
  std::string deed = "frees the storage";
  if (!next.frees) {
    deed = (next.clobbers ? "clobbers " : "writes ") +
           (next.tensor != kNone<TensorId> ? quoted(plan.tensors[next.tensor].name) + " at "
                                           : std::string()) +
           "[" + std::to_string(next.bytes.begin) + ", " + std::to_string(next.bytes.end) + ")";
  }
  if (next.is_earlier) {
    return "before: " + who + " " + deed + ": " + style.error("this use does not wait for it");
  }
  return "next: " + who + " " + deed + ": " +
         (next.waits ? "waits for it" + through_words(plan, use, next)
                     : style.error("does not wait for it"));
}

std::string when_words(const UseView& use, const Style& style) {
  if (!use.starts) return style.error("never: the plan deadlocks before");
  return ticks(use.start) +
         (use.completes ? " to " + std::to_string(use.complete) : ", and never completes");
}

void add_use_lines(std::string& out, const Plan& plan, const StorageView& view, std::uint32_t at,
                   const std::string& indent, const Style& style) {
  const UseView& use = view.uses[at];
  const std::int64_t size = use.bytes.end - use.bytes.begin;
  out += indent + op_words(plan, use.op, use.iteration) + " " + std::string(deed(use.kind)) + " " +
         counted(use.touched, "byte") + (use.touched == size ? "" : " of " + std::to_string(size)) +
         ", " + when_words(use, style) +
         (view.blocker == at ? style.warning("  <- holds the storage longest") : "") + "\n";
  for (const NextUse& next : use.next) {
    out += indent + "  " + next_words(plan, use, next, style) + "\n";
  }
  const bool is_last = use.starts && std::ranges::all_of(use.next, &NextUse::is_earlier);
  if (is_last) out += indent + "  next: nobody writes or frees these bytes again\n";
}

void add_alias_lines(std::string& out, const Plan& plan, const StorageView& view,
                     const AliasView& alias, const Style& style) {
  const std::string indent(2 * (alias.depth + 1), ' ');
  out += indent + style.strong(quoted(plan.tensors[alias.tensor].name)) +
         (alias.depth > 0 ? " (a view)" : "") + " [" + std::to_string(alias.bytes.begin) + ", " +
         std::to_string(alias.bytes.end) + ")\n";
  for (const std::uint32_t use : alias.uses) {
    add_use_lines(out, plan, view, use, indent + "  ", style);
  }
  for (const AliasView& other : view.aliases) {
    if (plan.tensors[other.tensor].base == alias.tensor) {
      add_alias_lines(out, plan, view, other, style);
    }
  }
}

/// The last completion of another command than the blocker.
std::int64_t others_done(const StorageView& view) {
  const UseView& last = view.uses[*view.blocker];
  std::int64_t done = view.held_from;
  for (const UseView& use : view.uses) {
    if (use.op != last.op || use.iteration != last.iteration) done = std::max(done, use.complete);
  }
  return done;
}

std::string cause_words(const Plan& plan, const StorageView& view, const HoldCause& cause) {
  const UseView& last = view.uses[*view.blocker];
  const std::string size = std::to_string(view.bytes.end - view.bytes.begin);
  switch (cause.kind) {
    case HoldCause::Kind::kViewChain: {
      std::string chain;
      for (const TensorId link : alias_chain(plan, last.tensor)) {
        chain += (chain.empty() ? "" : " -> ") + quoted(plan.tensors[link].name);
      }
      return "view chain: it reads through " + counted(cause.amount, "view") + ", " + chain +
             "; who counts direct users of " +
             quoted(plan.tensors[alias_chain(plan, last.tensor).back()].name) + " overlooks it";
    }
    case HoldCause::Kind::kOtherQueue:
      return "long tail on another queue: " + queue_words(plan, last.op) + " is done with it " +
             counted(cause.amount, "tick") + " after all others; at " + ticks(others_done(view)) +
             " it would be free without this use";
    case HoldCause::Kind::kSmallPiece:
      return "small live piece: from " + ticks(others_done(view)) + " on only " +
             counted(cause.amount, "byte") + " of " + size + " are needed; a copy of " +
             quoted(plan.tensors[last.tensor].name) + " would free the rest";
  }
  return "";
}

std::string held_words(const PlanViews& views, const StorageView& view) {
  const bool is_held =
      view.from_start || view.to_end ||
      std::ranges::any_of(view.uses, [](const UseView& use) { return use.starts; });
  if (!is_held && !view.uses.empty()) return "never held: the plan deadlocks before";
  std::string text = "held from ";
  text += view.from_start ? "the start" : ticks(view.held_from);
  text += view.to_end ? " to the end" : " to " + ticks(view.held_until);
  return text + " of " + std::to_string(views.makespan());
}

}  // namespace

std::string symbols_text(const PlanViews& views) {
  const Plan& plan = views.plan();
  std::vector<std::string> parts;
  for (const SymbolValue& value : views.symbols()) {
    const Symbol& symbol = plan.symbols[value.symbol];
    parts.push_back(quoted(symbol.name) + " = " + std::to_string(value.value) +
                    (symbol.max ? "" : " (which has no \"max\")"));
  }
  return parts.empty() ? "" : ", for " + listed(parts);
}

std::string case_text(const PlanViews& views) {
  const Plan& plan = views.plan();
  std::vector<std::string> parts;
  if (!views.when().empty()) parts.emplace_back("all conditions true");
  const std::int64_t walked = views.iterations();
  if (plan.iterations.value_or(walked + 1) > walked) {
    parts.push_back("the first " + counted(walked, "iteration") + " of " +
                    (plan.iterations ? std::to_string(*plan.iterations) : "any number"));
  }
  if (!views.all_complete()) parts.emplace_back("what is reached before the plan deadlocks");
  return parts.empty() ? "" : "note: this is for " + listed(parts) + "\n";
}

std::string storage_text(const PlanViews& views, const StorageView& view,
                         const std::string& case_words, const Style& style) {
  const Plan& plan = views.plan();
  std::string out = style.strong("storage " + quoted(plan.storages[view.storage].name)) + " at [" +
                    std::to_string(view.bytes.begin) + ", " + std::to_string(view.bytes.end) +
                    ") of pool " + quoted(plan.pools[view.pool].name) + case_words +
                    (repeats(plan) ? ", iteration " + std::to_string(view.iteration) : "") + ", " +
                    held_words(views, view) + "\n";
  for (const AliasView& alias : view.aliases) {
    if (alias.depth == 0) add_alias_lines(out, plan, view, alias, style);
  }
  if (!view.blocker) {
    return out + (view.uses.empty() ? "  no runtime command uses it\n"
                                    : "  no use of it completes: the plan deadlocks before\n");
  }
  const UseView& last = view.uses[*view.blocker];
  if (view.to_end) {
    return out + style.strong("last to let go") + ": the end of the plan, which needs it\n";
  }
  out += style.strong("last to let go") + ": " + op_words(plan, last.op, last.iteration) + " at " +
         ticks(last.complete) + "\n";
  for (const HoldCause& cause : view.causes) {
    out += "  " + cause_words(plan, view, cause) + "\n";
  }
  if (view.causes.empty()) out += "  it is merely the last of its uses\n";
  return out;
}

}  // namespace memverify
