#!/usr/bin/env python3
"""Faults that planners have had, planted one at a time into a copy of planner/: memverify fuzz finds each.

  planted_faults.py ROOT BUILD [CASES]

BUILD is a built tree. The copy is compiled once, with all faults in it and a switch; the generator of graphs
(tools/fuzz_*) knows none of them. Prints a table of the cases that were needed; exits with 1 if one is not found.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Name, file of planner/, what stands there once, what stands there instead. `@` is true where the fault is on.
FAULTS = [
    ("half-open interval: the reader's own op may reuse", "clashes.cpp",
     "return order.before(last, at); });", "return order.before(last, at) || (@ && last == at); });"),
    ("a queue's op is over when another queue begins", "clashes.cpp",
     "std::ranges::all_of(live.lasts(value), [&](Cmd last) {",
     "std::ranges::all_of(live.lasts(value), [&](Cmd last) { if (@ && order.chain(last) != order.chain(at)) return true;"),
    ("what is read last does not count", "live_values.cpp",
     "if (touch.cmd == kEndOfRun) continue;",
     "if (touch.cmd == kEndOfRun || (@ && k + 1 == end && end - begin > 2)) continue;"),
    ("only the first reader counts", "live_values.cpp",
     "lasts_.push_back(touch.cmd);", "if (!@ || lasts_.empty() || k <= begin + 1) lasts_.push_back(touch.cmd);"),
    ("outputs end with their last use", "live_values.cpp",
     "touch_all(footprints_.at_end(), kEndOfRun);", "if (!@) touch_all(footprints_.at_end(), kEndOfRun);"),
    ("inputs begin with their first use", "live_values.cpp",
     "at->initial = true;", "at->initial = !@;"),
    ("views of views are nobody's", "graph_clashes.cpp", None,
     "t.placement == TensorKind::kView && t.base != t.root"),
    ("what is written through a view is another tensor's", "graph_clashes.cpp", None,
     "t.placement == TensorKind::kView && a.kind == AccessKind::kWrite"),
    ("strided views are nobody's", "graph_clashes.cpp", None, "t.has_strides"),
    ("an accumulation is no use", "graph_clashes.cpp", None, "a.kind == AccessKind::kAccumulate"),
    ("an access to a part is no use", "graph_clashes.cpp", None, "a.part != Access::kWhole"),
    ("what the iteration before wrote is gone", "graph_clashes.cpp", None, "a.distance > 0"),
    ("the host reads nothing", "graph_clashes.cpp", None,
     "o.queue != kNone<QueueId> && p.queues[o.queue].order == QueueOrder::kHost && a.kind == AccessKind::kRead"),
    ("copy engines have completed what they started", "graph_clashes.cpp", None,
     "o.queue != kNone<QueueId> && p.queues[o.queue].order == QueueOrder::kIssue && a.kind == AccessKind::kRead"),
    ("in place with a second reader", "handoff.cpp",
     "if (!done) return std::nullopt;", "if (!@ && !done) return std::nullopt;"),
    ("in place with elements of another size", "handoff.cpp",
     "if (!same_elements(", "if (!@ && !same_elements("),
    ("in place though it is an output", "handoff.cpp",
     "if (first.to_end || live.firsts(second).size() != 1) return std::nullopt;",
     "if ((!@ && first.to_end) || live.firsts(second).size() != 1) return std::nullopt;"),
    ("in-place groups do not see each other's parts", "pool_problem.cpp",
     "const std::int64_t by = b < movable ? groups.offset_in[b] : 0;",
     "const std::int64_t by = b < movable && !@ ? groups.offset_in[b] : 0;"),
    ("a group may form though its members clash", "in_place.cpp",
     "if (joined(clash) && ranges_meet(clash, at(clash.first), at(clash.second))) return false;",
     "if (!@ && joined(clash) && ranges_meet(clash, at(clash.first), at(clash.second))) return false;"),
    ("sub-ranges: the last byte is left out", "pool_problem.cpp",
     "const ByteRange of_second = shifted(clash.second, clash.of_second);",
     "ByteRange of_second = shifted(clash.second, clash.of_second); if (@) of_second.end -= 1;"),
    ("what has a place is forgotten", "pool_problem.cpp",
     "if (fixed.pool != pool) continue;", "if (fixed.pool != pool || @) continue;"),
    ("sub-ranges: half of a tensor stands for all", "pool_problem.cpp",
     "const ByteRange of_first = shifted(clash.first, clash.of_first);",
     "ByteRange of_first = shifted(clash.first, clash.of_first); if (@) of_first.end -= (of_first.end - of_first.begin) / 2;"),
    ("the alignment of tensors is forgotten", "plan_graph.cpp",
     "return std::lcm(limits_.alignment[index(apart_.buffers[b].root)],",
     "return std::lcm(@ ? std::int64_t{1} : limits_.alignment[index(apart_.buffers[b].root)],"),
    ("the alignment of pools is in bits", "plan_graph.cpp",
     "graph_.pools[pool_of_[b]].alignment);",
     "@ ? std::max<std::int64_t>(graph_.pools[pool_of_[b]].alignment / 8, 1) : graph_.pools[pool_of_[b]].alignment);"),
    ("constants are not aligned", "plan_graph.cpp",
     "offset_of_[b] = aligned_up(next, alignment_of(b));",
     "offset_of_[b] = @ ? next : aligned_up(next, alignment_of(b));"),
    ("constants begin where the last tensor does", "plan_graph.cpp",
     "if (!is_kept) peak = std::max(peak, offset_of_[b] + apart_.buffers[b].bytes);",
     "if (!is_kept) peak = std::max(peak, offset_of_[b] + (@ ? 0 : apart_.buffers[b].bytes));"),
    ("all slots of a ring are one", "plan_graph.cpp",
     "places.back().slots.push_back(buffer.address);",
     "places.back().slots.push_back(@ && buffer.slot > 0 ? places.back().slots.front() : buffer.address);"),
    ("the claimed peak is a byte short", "plan_graph.cpp",
     "planned.plan.pools[outcome.pool].peak_bytes = outcome.peak;",
     "planned.plan.pools[outcome.pool].peak_bytes = @ && outcome.peak > 0 ? outcome.peak - 1 : outcome.peak;"),
    ("the next iteration is another program", "cases.cpp",
     "if (all == 1) return {};", "if (all == 1 || @) return {};"),
    ("only one branch is looked at", "cases.cpp",
     "k < std::uint64_t{1} << booleans; ++k)", "k < (@ ? 1 : std::uint64_t{1} << booleans); ++k)"),
    ("a gap may be one byte too small", "gap_finder.cpp",
     "if (candidate <= barrier.after) {", "if (candidate <= barrier.after + (@ ? 1 : 0)) {"),
    ("neighbours are looked at in no order", "gap_finder.cpp",
     "std::ranges::sort(barriers_, {}, &Barrier::after);",
     "if (!@) std::ranges::sort(barriers_, {}, &Barrier::after);"),
]

SWITCH = """
#include <cstdlib>
namespace memverify { inline int planted() { static const char* n = std::getenv("MEMVERIFY_PLANTED"); return n ? std::atoi(n) : -1; } }
"""

# Accesses for which the condition holds are taken out before anybody looks.
BLIND = """
namespace memverify { namespace {
inline bool is_unseen(const Plan& p, const Op& o, const Access& a) {
  static const Tensor none;
  const Tensor& t = a.tensor == kNone<TensorId> ? none : p.tensors[a.tensor];
  switch (planted()) { CASES default: return false; }
}
inline ApartPlan blinded(const ApartPlan& apart) {
  ApartPlan blind = apart;
  blind.plan.accesses.clear();
  for (const OpId id : ids(apart.plan.ops)) {
    const auto begin = static_cast<std::uint32_t>(blind.plan.accesses.size());
    for (const Access& a : apart.plan.accesses_of(apart.plan.ops[id])) {
      if (!is_unseen(apart.plan, apart.plan.ops[id], a)) blind.plan.accesses.push_back(a);
    }
    blind.plan.ops[id].accesses = {begin, static_cast<std::uint32_t>(blind.plan.accesses.size())};
  }
  return blind;
}
} }
"""


def plant(planner):
    """Puts all faults into the copy of planner/."""
    blind = ""
    for number, (name, file, old, new) in enumerate(FAULTS):
        if old is None:
            blind += f"case {number}: return {new};\n"
            continue
        path = planner / file
        text = path.read_text()
        places = [m.start() for m in re.finditer(re.escape(old), text)]
        if not places:
            sys.exit(f"{name}: planner/{file} no longer says `{old}`")
        path.write_text(text.replace(old, new.replace("@", f"(planted() == {number})"), 1))
    path = planner / "graph_clashes.cpp"
    text = path.read_text()
    call = "return ClashCollector(apart, visit).run();"
    if call not in text:
        sys.exit(f"planner/graph_clashes.cpp no longer says `{call}`")
    text = text.replace(call, "const ApartPlan seen = blinded(apart); return ClashCollector(seen, visit).run();")
    first = text.index("namespace memverify {")
    path.write_text(text[:first] + BLIND.replace("CASES", blind) + text[first:])


def build(root, tree, folder):
    """A memverify with the planted planner."""
    planner = folder / "planner"
    planner.mkdir()
    for file in sorted((root / "planner").iterdir()):
        (planner / file.name).write_text(file.read_text())
    plant(planner)
    (folder / "all.cpp").write_text(SWITCH + "".join(
        f'#include "planner/{file.name}"\n' for file in sorted(planner.glob("*.cpp"))))
    flags = ["-std=gnu++20", "-O1", "-w", f"-I{folder}", f"-I{root}"]
    compiler = os.environ.get("CXX", "g++")
    subprocess.run([compiler, *flags, "-c", "all.cpp", "-o", "all.o"], cwd=folder, check=True)
    subprocess.run([compiler, *flags, "-o", "memverify", root / "tools/main.cpp",
                    "-Wl,--start-group", tree / "libmemverify_tools.a", "all.o", tree / "libmemverify_verify.a",
                    tree / "libmemverify_sim.a", tree / "libmemverify_plan.a", "-Wl,--end-group",
                    "-lz3", "-lsqlite3", "-lz", "-lonnx_proto", "-lprotobuf", "-lpthread"], cwd=folder, check=True)
    return folder / "memverify"


def hunt(memverify, number, cases):
    """(cases needed, what was found), or None."""
    run = subprocess.run(
        [memverify, "fuzz", "--strategy", "by-size", "--engine", "hb", "--cases", str(cases), "--max-findings", "1",
         "--format", "json"],
        env={**os.environ, "MEMVERIFY_PLANTED": str(number)}, capture_output=True, text=True, check=False)
    if run.returncode < 0:
        return None, f"memverify itself ended by signal {-run.returncode}"
    findings = json.loads(run.stdout)["findings"]
    if not findings:
        return None, "nothing"
    return findings[0]["first_case"] + 1, f"{findings[0]['headline'].split(':')[0]}, {findings[0]['ops']} ops"


def main():
    root, tree = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    cases = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        memverify = build(root, tree, pathlib.Path(folder))
        if hunt(memverify, -1, 1000)[0] is not None:
            sys.exit("the planner without a fault is caught, too")
        print("| fault | cases | finding |\n| --- | ---: | --- |")
        for number, (name, *_) in enumerate(FAULTS):
            needed, what = hunt(memverify, number, cases)
            missed += needed is None
            print(f"| {name} | {needed or '-'} | {what} |", flush=True)
    print(f"{len(FAULTS) - missed} of {len(FAULTS)} faults found")
    sys.exit(1 if missed else 0)


main()
