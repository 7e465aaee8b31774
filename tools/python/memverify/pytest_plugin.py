"""pytest --memverify-report FILE: what memverify said in each test, as JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memverify import _check
from memverify._report import Report


class Recorder:
    """Listens to the reports of a session."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: list[dict[str, Any]] = []
        self._test = ""

    def heard(self, report: Report) -> None:
        entry = {"test": self._test, "verdict": report.verdict, "report": report.data}
        self.results.append(entry)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._test = nodeid

    def pytest_sessionstart(self) -> None:
        _check.listeners.append(self.heard)

    def pytest_sessionfinish(self) -> None:
        _check.listeners.remove(self.heard)
        text = json.dumps({"memverify": 1, "results": self.results}, indent=1)
        self.path.write_text(text + "\n", encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        counts = Counter(entry["verdict"] for entry in self.results)
        words = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        terminalreporter.write_line(f"memverify: {words or 'no plan'}; see {self.path}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("memverify").addoption(
        "--memverify-report",
        metavar="FILE",
        help="write what memverify said in each test to FILE, as JSON",
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--memverify-report")
    if path:
        config.pluginmanager.register(Recorder(Path(path)), "memverify-recorder")
