#!/usr/bin/env python3
"""What README.md and some pages show is what the command prints, and README's example plan does what it says.

  readme.py BINARY ROOT [--update]

An output stands below `<!-- output of: ARGUMENTS -->`; --update writes the present outputs into the pages.
"""
import json
import pathlib
import re
import subprocess
import sys

PAGES = ("README.md", "docs/explain.md", "docs/repair.md")
BLOCK = re.compile(r"(<!-- output of: (.*?) -->\n```\n)(.*?)(```\n)", re.DOTALL)


def output(binary, root, arguments):
    return subprocess.run([binary, *arguments], cwd=root, text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def rules(binary, root, plan):
    run = subprocess.run([binary, "-", "--format", "json"], cwd=root, text=True, check=False,
                         input=json.dumps(plan), stdout=subprocess.PIPE)
    report = json.loads(run.stdout)
    return report["verdict"], [f["rule"] for f in report["findings"] if f["severity"] == "error"]


def main():
    binary, root = sys.argv[1], pathlib.Path(sys.argv[2])
    problems = []
    for page in PAGES:
        text = (root / page).read_text()
        if "--update" in sys.argv:
            text = BLOCK.sub(lambda m: m[1] + output(binary, root, m[2].split()) + m[4], text)
            (root / page).write_text(text)
        problems += [f"{page} shows another output of memverify {m[2]}" for m in BLOCK.finditer(text)
                     if m[3] != output(binary, root, m[2].split())]
        if len(BLOCK.findall(text)) < 2:
            problems.append(f"{page} has lost its examples")
    text = (root / "README.md").read_text()

    plan = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    unordered = json.loads(json.dumps(plan))
    del unordered["ops"][1]["waits"]
    again = json.loads(json.dumps(plan))
    again["ops"].append(json.loads(re.search(r'Add `(\{"id": "load2".*?\})`', text)[1]))
    for case, wanted in ((plan, ("safe", [])), (unordered, ("unsafe", ["MV102"])),
                         (again, ("unsafe", ["MV101"]))):
        if rules(binary, root, case) != wanted:
            problems.append(f"README.md promises {wanted}, not {rules(binary, root, case)}")
    print("\n".join(problems) or "README.md tells the truth")
    sys.exit(1 if problems else 0)


main()
