#!/usr/bin/env python3
"""Every key, word and form of the plan format occurs in a safe and in an unsafe plan of the corpus, and
every rule is expected by one plan and kept by its twin.

  corpus_coverage.py ROOT

The keys come from docs/plan.schema.json, the rules from plan/rules.cpp, the verdicts from `x-expect`.
"""
import json
import pathlib
import re
import sys

from jsonschema import Draft202012Validator

# Input for a planner: a plan that has them is refused, so it has no verdict.
WITHOUT_VERDICT = ("$defs/tensor/properties/pool", "$defs/tensor/properties/slots")
# Where a rule of this severity shows, by `x-expect`.
VERDICT = {"kError": "unsafe", "kNotProven": "unknown", "kWarning": "safe"}


class Format:
    """The schema as a set of features, and the features that an instance uses."""

    def __init__(self, schema):
        self.schema = schema
        self.features = set()
        self._list(schema, "")

    def _list(self, node, path):
        for key in node.get("properties", {}):
            self.features.add(f"{path}properties/{key}")
            self._list(node["properties"][key], f"{path}properties/{key}/")
        for value in node.get("enum", []):
            self.features.add(f"{path}enum/{value}")
        for i, branch in enumerate(node.get("anyOf", [])):
            self.features.add(f"{path}anyOf/{i}")
            self._list(branch, f"{path}anyOf/{i}/")
        for i, branch in enumerate(node.get("prefixItems", [])):
            self.features.add(f"{path}prefixItems/{i}")
        for key in ("items", "additionalProperties"):
            if isinstance(node.get(key), dict):
                self._list(node[key], f"{path}{key}/")
        for key, branch in node.get("$defs", {}).items():
            self._list(branch, f"$defs/{key}/")

    def used(self, plan):
        found = set()
        self._walk(self.schema, "", plan, found)
        return found

    def _walk(self, node, path, value, found):
        if "$ref" in node:
            name = node["$ref"].removeprefix("#/$defs/")
            self._walk(self.schema["$defs"][name], f"$defs/{name}/", value, found)
        if value in node.get("enum", []):
            found.add(f"{path}enum/{value}")
        for i, branch in enumerate(node.get("anyOf", [])):
            resolver_root = {**branch, "$defs": self.schema["$defs"]}
            if Draft202012Validator(resolver_root).is_valid(value):
                found.add(f"{path}anyOf/{i}")
                self._walk(branch, f"{path}anyOf/{i}/", value, found)
        if isinstance(value, dict):
            for key, member in value.items():
                if key in node.get("properties", {}):
                    found.add(f"{path}properties/{key}")
                    self._walk(node["properties"][key], f"{path}properties/{key}/", member, found)
                elif isinstance(node.get("additionalProperties"), dict):
                    self._walk(node["additionalProperties"], f"{path}additionalProperties/", member, found)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                if i < len(node.get("prefixItems", [])):
                    found.add(f"{path}prefixItems/{i}")
                elif isinstance(node.get("items"), dict):
                    self._walk(node["items"], f"{path}items/", item, found)


def labelled_plans(corpus):
    """(path, plan) of every X.<verdict>.json, whose name must agree with its x-expect."""
    for path in sorted(corpus.rglob("*.json")):
        verdict = path.suffixes[-2] if len(path.suffixes) > 1 else ""
        if verdict in (".safe", ".unsafe", ".unknown"):
            plan = json.loads(path.read_text())
            assert "." + plan["x-expect"]["verdict"] == verdict, f"{path}: name and x-expect disagree"
            yield path, plan


def missing_rules(rules, plans):
    for rule, severity in rules:
        verdict = VERDICT[severity]
        having = [path for path, plan in plans if plan["x-expect"]["verdict"] == verdict
                  and any(f[0] == rule for f in plan["x-expect"]["findings"])]
        if not having:
            yield f"{rule}: no {verdict} plan expects it"
        elif verdict == "unsafe" and not any(
                path.with_name(path.name.replace(".unsafe.", ".safe.")).exists() for path in having):
            yield f"{rule}: no unsafe plan that expects it has a safe twin"


def main():
    root = pathlib.Path(sys.argv[1])
    fmt = Format(json.loads((root / "docs/plan.schema.json").read_text()))
    rules = re.findall(r'"(MV\d{3})".*?Severity::(k\w+)', (root / "plan/rules.cpp").read_text(), re.DOTALL)
    plans = list(labelled_plans(root / "corpus"))
    problems = list(missing_rules(rules, plans))
    for verdict in ("safe", "unsafe"):
        used = set().union(*(fmt.used(p) for _, p in plans if p["x-expect"]["verdict"] == verdict))
        problems += [f"no {verdict} plan uses {feature}"
                     for feature in sorted(fmt.features - used) if not feature.startswith(WITHOUT_VERDICT)]
    print("\n".join(problems) or f"{len(plans)} plans, {len(fmt.features)} features, {len(rules)} rules")
    sys.exit(1 if problems or not plans or len(rules) < 15 else 0)


main()
