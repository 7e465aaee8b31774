"""pytest --memverify-report FILE: what memverify said in each test, as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from memverify import _check
from memverify._library import Outcome
from memverify._report import VERDICTS

_first = cast("Callable[[Any], Any]", pytest.hookimpl(tryfirst=True))


class Recorder:
    """Listens to what memverify says in a session. It travels with pytest's own reports of the tests,
    which pytest-xdist sends from its workers to the controller; that alone writes the file."""

    def __init__(self, path: Path, *, is_worker: bool) -> None:
        self.path = path
        self.results: list[dict[str, Any]] = []
        self._is_worker = is_worker
        self._test = ""
        self._new: list[dict[str, Any]] = []  #: Since the last report.

    def heard(self, function: str, outcome: Outcome) -> None:
        entry = {"test": self._test, "call": {"place": "plan"}.get(function, function)}
        verdict = {"verdict": VERDICTS[outcome.status], "report": json.loads(outcome.json)}
        self._new.append({**entry, **verdict})

    def pytest_sessionstart(self) -> None:
        _check.listeners.append(self.heard)

    def pytest_collectstart(self, collector: Any) -> None:
        self._test = collector.nodeid

    def pytest_collection_finish(self) -> None:
        if self._is_worker:  # All workers collect the same.
            self._new.clear()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._test = nodeid

    @_first  # Before a worker sends the report.
    def pytest_runtest_logreport(self, report: Any) -> None:
        if self._new:
            report.memverify = self._new
            self._new = []
        self.results += getattr(report, "memverify", [])

    def pytest_sessionfinish(self) -> None:
        _check.listeners.remove(self.heard)
        if self._is_worker:
            return
        self.results += self._new
        text = json.dumps({"memverify": 1, "results": self.results}, indent=1)
        self.path.parent.mkdir(parents=True, exist_ok=True)
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
        recorder = Recorder(Path(path).absolute(), is_worker=hasattr(config, "workerinput"))
        config.pluginmanager.register(recorder, "memverify-recorder")
