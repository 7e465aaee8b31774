"""tests/library/command_files.py FOLDER BINARY: the manual renders without a warning and names every
option; the shells that are installed take the completions, and bash and fish complete with them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER, BINARY = Path(sys.argv[1]), sys.argv[2]

BASH = """
source {folder}/memverify
compopt() {{ :; }}
COMP_WORDS=(memverify {words}) COMP_CWORD={at} COMPREPLY=()
_memverify
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def output(*command, **more):
    run = subprocess.run(command, capture_output=True, text=True, **more)
    assert run.returncode == 0 and not run.stderr, (command, run.stderr)
    return run.stdout


def options():
    for row in json.loads(output(BINARY, "--option-table"))["commands"]:
        command = row["command"]
        table = json.loads(output(BINARY, command, "--option-table"))
        assert table["command"] == f"memverify {command}" and table["help"]
        for option in table["options"]:
            assert option["help"], (command, option)
            yield command, option


def check_manual(rows):
    if not shutil.which("man"):
        return print("man is not installed: the manual was not rendered")
    environment = {**os.environ, "MANWIDTH": "1000", "LC_ALL": "C.UTF-8", "MANROFFOPT": "-ww"}
    text = output("man", "--warnings", "-l", FOLDER / "memverify.1", env=environment)
    for command, option in rows:
        for name in option.get("names", ()):
            assert name in text, (command, name)


def complete_in_bash(*words):
    script = BASH.format(folder=FOLDER, words=" ".join(words[:-1]) + f" '{words[-1]}'", at=len(words))
    return output("bash", "-c", script, cwd="/").split()


def complete_in_fish(line):
    text = output("fish", "--no-config", "-c", f"source {FOLDER}/memverify.fish; complete -C '{line}'", cwd="/")
    return [row.split("\t")[0] for row in text.splitlines()]


def main():
    rows = list(options())
    check_manual(rows)
    assert complete_in_bash("sim") == ["simulate"]
    assert "--engine" in complete_in_bash("plan.json", "--e")
    assert complete_in_bash("simulate", "--reduction", "cl") == ["classes"]
    assert complete_in_bash("plan", "--strat") == ["--strategy"]
    assert complete_in_bash("plan.json", "--engine", "s") == ["smt", "sim"]
    assert complete_in_bash("plan.json", "--format", "sa") == ["sarif"]
    assert "auto" in complete_in_bash("plan", "--strategy", "a")
    assert complete_in_bash("import", "tvm") == ["tvm-graph"]
    assert complete_in_bash("explain", "MV30") == ["MV301"]
    assert "usr/" in complete_in_bash("verify", "us") or "usr" in complete_in_bash("verify", "us")
    if shutil.which("zsh"):
        output("zsh", "-n", FOLDER / "_memverify")
    if shutil.which("fish"):
        assert complete_in_fish("memverify simu") == ["simulate"]
        assert complete_in_fish("memverify simulate --reduction cl") == ["classes"]
        assert complete_in_fish("memverify verify --format sa") == ["sarif"]
        assert "tvm-graph" in complete_in_fish("memverify import tvm")


main()
