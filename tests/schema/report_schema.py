#!/usr/bin/env python3
"""Reports on every plan of the corpus are valid SARIF 2.1.0 and valid JUnit XML.

usage: report_schema.py SOURCE_ROOT MEMVERIFY

The SARIF schema is that of $SARIF_SCHEMA, or is taken from the npm package that ships it. JUnit is checked by xmllint
against the XSD in $JUNIT_XSD (Jenkins: xunit-plugin, junit-10.xsd), if that is given.
Exit code 77, skipped: there is no schema.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import jsonschema

PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
MEMBER = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
SHA256 = "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8"  # Of the member.


def schema(folder: str) -> str | None:
    if path := os.environ.get("SARIF_SCHEMA"):
        return pathlib.Path(path).read_text()
    try:
        subprocess.run(["npm", "pack", "--silent", "--fetch-retries=0", "--fetch-timeout=10000", PACKAGE], cwd=folder,
                       check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    with tarfile.open(next(pathlib.Path(folder).glob("*.tgz"))) as package:
        text = package.extractfile(MEMBER).read()
    if hashlib.sha256(text).hexdigest() != SHA256:
        sys.exit(f"{PACKAGE} has another schema than it had")
    return text.decode()


def main(root: pathlib.Path, memverify: str) -> int:
    plans = sorted(str(p) for p in (root / "corpus").rglob("*.json") if "imports" not in p.parts)
    with tempfile.TemporaryDirectory() as folder:
        text = schema(folder)
        if text is None:
            print("no SARIF schema: skipped")
            return 77
        sarif, junit = f"{folder}/report.sarif", f"{folder}/report.xml"
        subprocess.run([memverify, "verify", *plans, "--output", f"sarif={sarif}", "--output", f"junit={junit}", "-q"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        report = json.loads(pathlib.Path(sarif).read_text())
        rules = json.loads(text)
        errors = list(jsonschema.validators.validator_for(rules)(rules).iter_errors(report))
        for error in errors[:10]:
            print(f"{error.json_path}: {error.message[:200]}")
        results = sum(len(run["results"]) for run in report["runs"])
        wrong = bool(errors) or results < 200
        if xsd := os.environ.get("JUNIT_XSD"):
            wrong |= subprocess.run(["xmllint", "--noout", "--schema", xsd, junit], check=False).returncode != 0
    print(f"{len(plans)} plans, {results} results, {len(errors)} errors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
