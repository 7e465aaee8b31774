"""tests/library/api.py LIBRARY SOURCE [--update]: the names and signatures that others build on.

Lists what the public headers declare, what the shared library exports, and what the Python package
and its plugin for pytest have, and compares that with tests/library/api.txt. When it has changed on purpose, --update writes the
file anew under the next revision, which a line of CHANGELOG.md must name: "(API revision 2)".
"""

import difflib
import inspect
import os
import re
import subprocess
import sys
import types
from pathlib import Path

LIBRARY, SOURCE = sys.argv[1], Path(sys.argv[2])
STORED = SOURCE / "tests" / "library" / "api.txt"
os.environ["MEMVERIFY_LIBRARY"] = LIBRARY
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools" / "python"))
import memverify  # noqa: E402


def public_headers():
    text = (SOURCE / "tools/library/install.cmake").read_text()
    return re.search(r"MEMVERIFY_PUBLIC_HEADERS\s+(.*?)\)", text, re.S)[1].split()


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", " ", text)


def pieces(text):
    """(text, what ends it): statements, and the heads of blocks."""
    start = depth = 0  # Within parentheses, and the braces of a value.
    for at, sign in enumerate(text):
        inside = depth > 0
        opens = sign == "{" and (inside or re.search(r"\w = [\w:]*\s*$", text[start:at]))
        depth += (sign == "(" or bool(opens)) - (inside and sign in ")}")
        if not inside and depth == 0 and sign in ";{}":
            yield " ".join(text[start:at].split()), sign
            start = at + 1


def declarations(header):
    """A line for each declaration; no bodies of functions, nothing that is private."""
    text = without_comments((SOURCE / header).read_text())
    macros = re.findall(r"^#define (\w+(?:\([^)]*\))? .*)$", text, re.M)
    lines = [f"#define {' '.join(macro.split())}" for macro in macros]
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    scopes = []  # What each open brace belongs to: its name, whether to skip, whether it is an aggregate.

    def hidden():
        return any(scope["skip"] or scope["private"] for scope in scopes)

    for piece, end in pieces(text):
        for label in re.findall(r"^(public|private):", piece):
            scopes[-1]["private"] = label == "private"
        piece = re.sub(r"^(public|private): ?", "", piece)
        within = " ".join(scope["name"] for scope in scopes if scope["name"])
        if end == "{":
            kind = re.search(r"\b(namespace|struct|class|enum|union|extern)\b", piece)
            block = kind and not re.search(r"\)\s*(const|noexcept|\s)*$", piece)
            if piece and not hidden() and not piece.startswith(("namespace", "extern")):
                lines.append(f"{within} {piece}".strip())
            named = re.search(r"\b(?:struct|class|union|enum class|enum) (\w+)[^<>]*$", piece)
            name = "" if piece.startswith(("namespace", "extern")) or not named else named[1]
            scopes.append({"name": name, "skip": not block, "private": False})
            continue
        if piece and not hidden():
            lines.append(f"{within} {piece}".strip())
        if end == "}":
            scopes.pop()
    return lines


def c_functions():
    text = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True)
    return sorted(line.split()[2] for line in text.stdout.splitlines())


def python_names():
    lines = []
    for name in sorted(memverify.__all__):
        value = getattr(memverify, name)
        if not inspect.isclass(value):
            lines.append(f"def {name}{inspect.signature(value)}")
            continue
        lines.append(f"class {name}{inspect.signature(value)}")
        lines += [f"{name}.{field}: {kind}" for field, kind in attributes(value).items()]
        for member, entry in sorted(inspect.getmembers(value)):
            if member.startswith("_") and member not in ("__getitem__", "__len__", "__iter__", "_repr_svg_", "_repr_html_"):
                continue
            if inspect.isfunction(entry):
                lines.append(f"{name}.{member}{inspect.signature(entry)}")
            elif isinstance(entry, property):
                lines.append(f"{name}.{member} -> {inspect.signature(entry.fget).return_annotation}")
    return lines + pytest_options()


def attributes(kind):
    """The annotated ones, with those of the classes it is made from."""
    found = {}
    for part in reversed(kind.__mro__):
        found.update(vars(part).get("__annotations__", {}))
    return {name: kind for name, kind in found.items() if not name.startswith("_")}


def check_annotations():
    """Attributes that are only assigned would not be listed."""
    plan = memverify.Plan("one of each")
    tensor = plan.tensor("x", (4,), "u8", pool=plan.pool("p"))
    plan.op("w", plan.queue("q"), writes=[tensor])
    planned = memverify.plan(plan)
    try:
        memverify.verify(plan)
    except memverify.InputError as error:
        wrong = error
    for one in (plan, tensor, tensor[1:], planned, memverify.verify(planned.plan), wrong):
        there = {name for name in vars(one) if not name.startswith("_")}
        assert there == set(attributes(type(one))), (type(one), there)


def pytest_options():
    """Those of the plugin, which needs no more of pytest than this."""
    sys.modules.setdefault("pytest", types.SimpleNamespace(hookimpl=lambda **_: lambda function: function))
    from memverify import pytest_plugin

    lines = []

    class Parser:
        def getgroup(self, name):
            return self

        def addoption(self, name, metavar="", **_):
            lines.append(f"pytest {name} {metavar}".rstrip())

    pytest_plugin.pytest_addoption(Parser())
    return lines


def listing():
    lines = []
    for header in public_headers():
        lines += ["", f"[{header}]", *declarations(header)]
    lines += ["", "[exported by libmemverify.so]", *c_functions()]
    lines += ["", "[memverify for Python]", *python_names()]
    return "\n".join(lines) + "\n"


def main():
    check_annotations()
    now = listing()
    declared = set(re.findall(r"\bmemverify_\w+(?=\()", now.split("[tools/library/memverify.h]")[1].split("[")[0]))
    assert declared == set(c_functions()), declared ^ set(c_functions())
    head, stored = STORED.read_text().split("\n", 1) if STORED.exists() else ("API revision 0", "")
    revision = int(head.split()[-1])
    changelog = (SOURCE / "CHANGELOG.md").read_text()
    named = [int(number) for number in re.findall(r"\(API revision (\d+)\)", changelog)]
    if "--update" in sys.argv and now != stored:
        revision += revision in named or revision == 0
        STORED.write_text(f"API revision {revision}\n{now}")
        print(f"say in CHANGELOG.md what has changed: (API revision {revision})")
        return
    difference = difflib.unified_diff(stored.splitlines(), now.splitlines(), "api.txt", "now", lineterm="", n=0)
    assert now == stored, "\n".join(difference) + f"\nif that is meant: {' '.join(sys.argv)} --update"
    assert max(named, default=0) == revision, f"CHANGELOG.md has no line with (API revision {revision})"


main()
