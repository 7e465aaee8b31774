#!/usr/bin/env python3
"""Follow the advice of every finding of the corpus, and see that it helps.

  advice.py BINARY SOURCE

For each finding of corpus/**/*.unsafe.json, each alternative of its help that can be followed by
machine is applied to a copy of the plan: the finding must be gone and no other error may be new.
Exit status 1 if an advice is false, or if fewer than LEAST could be followed.
"""
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

LEAST = 300
FAR = 1 << 40  # Where nothing of the corpus lies.
NAME = "`([^`]*)`"


def by_id(plan, kind, name):
    return next(entry for entry in plan[kind] if entry["id"] == name)


def place_of(plan, op):
    return next(k for k, entry in enumerate(plan["ops"]) if entry["id"] == op)


def root_of(plan, tensor):
    entry = by_id(plan, "tensors", tensor)
    while "view_of" in entry:
        entry = by_id(plan, "tensors", entry["view_of"])
    return entry


def free_place(plan, pool, bytes_each, slots):
    """Offsets beyond all else in the pool, which may be as large as it likes."""
    entry = by_id(plan, "pools", pool)
    entry.pop("bytes", None)
    plan.pop("peak_bytes", None)
    plan["x-far"] = plan.get("x-far", 0) + 1
    base = FAR * plan["x-far"]
    step = bytes_each if isinstance(bytes_each, int) else 1 << 30
    step = -(-step // 4096) * 4096
    offsets = [base + k * step for k in range(slots)]
    return offsets if slots > 1 else offsets[0]


def move_storage(plan, storage, slots=None):
    count = len(storage["offset"]) if isinstance(storage["offset"], list) else 1
    storage["offset"] = free_place(plan, storage["pool"], storage["bytes"], slots or count)


def give_bytes(plan, tensor):
    root = root_of(plan, tensor)
    storage = copy.deepcopy(by_id(plan, "storages", root["storage"]))
    storage["id"] += "_moved"
    move_storage(plan, storage)
    plan["storages"].append(storage)
    root["storage"] = storage["id"]


def wait_for_event(plan, op, event):
    entry = by_id(plan, "ops", op)
    if entry.get("kind", "op") == "op":
        entry.setdefault("waits", []).append({"event": event})
        return
    wait = {"id": f"wait_{event}_{op}", "kind": "wait", "event": event, "queue": entry["queue"]}
    if "thread" in entry:
        wait["thread"] = entry["thread"]
    plan["ops"].insert(place_of(plan, op), wait)


def record_and_wait(plan, first, queue, second):
    record = {"id": f"record_after_{first}", "kind": "record", "queue": queue, "event": "new_event"}
    if "thread" in by_id(plan, "ops", first):
        record["thread"] = by_id(plan, "ops", first)["thread"]
    plan["ops"].insert(place_of(plan, first) + 1, record)
    wait_for_event(plan, second, "new_event")


def reads_of(plan, finding, op):
    """The reads of the op that the finding is about, as objects in the plan."""
    at = finding["ops"].index(op)
    tensor = finding["tensors"][min(at, len(finding["tensors"]) - 1)]
    reads = by_id(plan, "ops", op)["reads"]
    for k, read in enumerate(reads):
        if read == tensor:
            reads[k] = {"tensor": tensor}
    return [read for read in reads if isinstance(read, dict) and read["tensor"] == tensor]


def output_of(plan, finding):
    outputs = [o if isinstance(o, dict) else {"tensor": o} for o in plan["outputs"]]
    plan["outputs"] = outputs
    return next(o for o in outputs if o["tensor"] == finding["tensors"][0])


def add_after(plan, finding, after, op):
    by_id(plan, "ops", op).setdefault("after", []).extend(json.loads(after))


def drop_after(plan, finding, after, op):
    entry = by_id(plan, "ops", op)
    entry["after"] = [one for one in entry["after"] if one not in json.loads(after)]


def list_beside(plan, finding, op, where, other):
    entry = plan["ops"].pop(place_of(plan, op))
    plan["ops"].insert(place_of(plan, other) + (where == "after"), entry)


def say_from(plan, finding, source, op):
    for read in reads_of(plan, finding, op):
        read["from"] = source


def leave_distance(plan, finding, op):
    for read in reads_of(plan, finding, op):
        read.pop("distance", None)


def as_input(plan, finding, tensor, donated):
    plan.setdefault("inputs", []).append(tensor)
    if donated:
        plan.setdefault("donated", []).append(tensor)


def enlarge(plan, finding, storage, size):
    entry = by_id(plan, "storages", storage)
    entry["bytes"] = int(size)
    move_storage(plan, entry)


def raise_pool(plan, finding, pool, size):
    by_id(plan, "pools", pool)["bytes"] = int(size)


def change_distance(plan, finding, first, second, old, new):
    for after in by_id(plan, "ops", second)["after"]:
        if isinstance(after, dict) and after["op"] == first and after["distance"] == int(old):
            after["distance"] = int(new)


# Each: a pattern that may stand anywhere in an alternative, and what to do with what it catches.
ACTIONS = [
    (r'(?<!drop )add "after": (\[.*?\]) to ' + NAME, add_after),
    (r'drop "after": (\[.*?\]) from ' + NAME, drop_after),
    (r"make " + NAME + " wait for event " + NAME, lambda p, f, op, e: wait_for_event(p, op, e)),
    (r"record a new event after " + NAME + " on queue " + NAME + " and wait for it in " + NAME,
     lambda p, f, a, q, b: record_and_wait(p, a, q, b)),
    (r"give " + NAME + " bytes that ", lambda p, f, t: give_bytes(p, t)),
    (r"give storage " + NAME + r" (\d+) slots",
     lambda p, f, s, n: move_storage(p, by_id(p, "storages", s), int(n))),
    (r"list " + NAME + " (before|after) " + NAME + ' in "ops"', list_beside),
    (r'(?:say|change) "from":? (?:to )?"([^"]*)" in the read of ' + NAME, say_from),
    (r'say "from": "([^"]*)" in the output', lambda p, f, op: output_of(p, f).update({"from": op})),
    (r'drop "from": "initial" from the output', lambda p, f: output_of(p, f).pop("from")),
    (r'leave "distance" out in the read of ' + NAME, leave_distance),
    (r"if the caller writes " + NAME + r', list it in "inputs"( and in "donated")?', as_input),
    (r"list " + NAME + r' in "donated"', lambda p, f, t: p.setdefault("donated", []).append(t)),
    (r'declare "in_place": (\[\[.*?\]\])',
     lambda p, f, pairs: by_id(p, "ops", f["ops"][0]).setdefault("in_place", []).extend(
         json.loads(pairs))),
    (r'remove "when" from ' + NAME, lambda p, f, op: by_id(p, "ops", op).pop("when")),
    (r"move storage " + NAME + r" up to byte (\d+)",
     lambda p, f, s, at: by_id(p, "storages", s).update({"offset": int(at)})),
    (r"write the offset of storage " + NAME + r' as "(.*?)"',
     lambda p, f, s, text: by_id(p, "storages", s).update({"offset": text})),
    (r"make storage " + NAME + r" at least (\d+) bytes? large", enlarge),
    (r"make pool " + NAME + r" at least (\d+) bytes? large", raise_pool),
    (r"change the distance of " + NAME + ' in the "after" of ' + NAME + r" from (\d+) to (\d+)",
     change_distance),
    (r'lower the "max" of ' + NAME + r" to (\d+)",
     lambda p, f, s, n: p["symbols"][s].update({"max": int(n)})),
]


def followed(plan, finding, advice):
    """The plan after the advice; None if none of it can be followed by machine."""
    changed = copy.deepcopy(plan)
    found = False
    for pattern, act in ACTIONS:
        for match in re.finditer(pattern, advice):
            act(changed, finding, *match.groups())
            found = True
    return changed if found else None


def key(finding):
    """What makes two findings the same fault: races of one pair are one."""
    race = finding["rule"] in ("MV101", "MV102", "MV103")
    about = finding["ops"] if finding["ops"] else finding["tensors"] + finding["storages"]
    return ("race" if race else finding["rule"], *about)


def errors_of(report):
    return {key(f): f for f in report.get("findings", []) if f["severity"] == "error"}


def verify(binary, files):
    run = subprocess.run([binary, "verify", "--format", "json", *map(str, files)],
                         capture_output=True, text=True, timeout=120)
    if len(files) == 1:
        return [json.loads(run.stdout)] if run.stdout.strip() else [{"errors": run.stderr}]
    return [json.loads(line) for line in run.stdout.splitlines()]


def main():
    binary, source = sys.argv[1], pathlib.Path(sys.argv[2])
    files = sorted((source / "corpus").rglob("*.unsafe.json"))
    tried, unread = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for file, report in zip(files, verify(binary, files)):
            plan = json.loads(file.read_text())
            for finding in report["findings"]:
                for advice in finding.get("help", "").split("; or "):
                    changed = followed(plan, finding, advice)
                    if changed is None:
                        unread.setdefault(re.sub("`[^`]*`", "X", advice), []).append(file.name)
                        continue
                    path = pathlib.Path(folder) / f"{len(tried)}.json"
                    path.write_text(json.dumps(changed))
                    tried.append((file, errors_of(report), finding, advice, path))
        results = verify(binary, [path for *_, path in tried])
    assert len(results) == len(tried), f"{len(results)} answers for {len(tried)} plans"
    wrong = 0
    for (file, before, finding, advice, _), report in zip(tried, results):
        after = errors_of(report)
        problem = ""
        if report.get("errors"):
            problem = f"bad input: {report['errors']}"
        elif finding["severity"] == "error" and key(finding) in after:
            problem = "the finding stays"
        elif new := [f["message"] for k, f in after.items() if k not in before]:
            problem = f"new: {new[0]}"
        if problem:
            wrong += 1
            print(f"{file.name}: {finding['rule']} {finding['ops']}: {advice}\n    {problem}")
    if "-v" in sys.argv:
        for advice, names in sorted(unread.items()):
            print(f"not followed: {advice} ({len(names)}: {names[0]})")
    print(f"{len(tried)} advices followed, {wrong} false; "
          f"{sum(map(len, unread.values()))} for people alone")
    return wrong > 0 or len(tried) < LEAST


if __name__ == "__main__":
    sys.exit(main())
