#!/usr/bin/env python3
"""Every [S-n] in the code and the docs stands in docs/semantics.md, and no number stands twice.

  citations.py ROOT
"""
import pathlib
import re
import sys

FOLDERS = ("plan", "verify", "sim", "planner", "cuda_check", "tools", "tests", "docs")


def main():
    root = pathlib.Path(sys.argv[1])
    semantics = (root / "docs/semantics.md").read_text()
    defined = re.findall(r"^- \*\*\[(S-\d+)\]", semantics, re.MULTILINE)
    problems = [f"{rule} is defined twice" for rule in set(defined) if defined.count(rule) > 1]
    files = [f for folder in FOLDERS for f in sorted((root / folder).rglob("*"))
             if f.suffix in (".h", ".cpp", ".cu", ".py", ".md") and f.resolve() != pathlib.Path(__file__).resolve()]
    cited = 0
    for file in files:
        for rule in re.findall(r"\[(S-(?!n\])[^\]\s]+)\]", file.read_text()):
            cited += 1
            if rule not in defined:
                problems.append(f"{file.relative_to(root)}: [{rule}] is not in docs/semantics.md")
    print("\n".join(problems) or f"{cited} citations of {len(defined)} rules")
    sys.exit(1 if problems or not cited else 0)


main()
