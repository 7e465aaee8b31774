"""verify, simulate, plan, assert_safe."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Union

from memverify._builder import Plan
from memverify._library import call
from memverify._report import Planned, Report

#: A plan that was built here, the JSON of one, or the path of a file of JSON.
PlanLike = Union[Plan, Mapping[str, Any], str, "os.PathLike[str]"]

#: Called with the report of every `verify`, `simulate` and `assert_safe`; for the pytest plugin.
listeners: list[Callable[[Report], None]] = []


def _source(plan: PlanLike) -> tuple[str, str]:
    """Text and name. A `str` is text if it begins like JSON, else a path."""
    if isinstance(plan, Plan):
        return plan.json(), plan.name
    if isinstance(plan, Mapping):
        return json.dumps(plan), str(plan.get("name", ""))
    if isinstance(plan, str) and plan.lstrip().startswith("{"):
        return plan, ""
    return Path(plan).read_text(encoding="utf-8"), os.fspath(plan)


def _reported(function: str, plan: PlanLike, options: Mapping[str, object]) -> Report:
    text, name = _source(plan)
    report = Report(call(function, text.encode(), name, options), text)
    for listener in listeners:
        listener(report)
    return report


def verify(
    plan: PlanLike,
    *,
    engine: str = "auto",
    max_findings: int | None = None,
    max_seconds: float | None = None,
) -> Report:
    """Decides whether `plan` is safe in every run. `engine`: "auto", "all", "hb", "smt" or "sim";
    `max_seconds` is for each engine that searches (default 60; 0: no limit). Raises InputError for
    a plan or an option that is wrong, OSError for a file that cannot be read."""
    options = {"engine": engine, "max_findings": max_findings, "max_seconds": max_seconds}
    return _reported("verify", plan, options)


def simulate(
    plan: PlanLike,
    *,
    reduction: str = "none",
    count: bool = False,
    max_findings: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    random_runs: int | None = None,
    seed: int | None = None,
) -> Report:
    """Executes every order that `plan` allows; with `random_runs`, so many by chance. `count`: how
    many interleavings there are, and how many fail. Raises as `verify` does."""
    options = {
        "reduction": reduction,
        "count": count,
        "max_findings": max_findings,
        "max_states": max_states,
        "max_seconds": max_seconds,
        "threads": threads,
        "random_runs": random_runs,
        "seed": seed,
    }
    return _reported("simulate", plan, options)


def plan(
    graph: PlanLike,
    *,
    strategy: str = "auto",
    max_seconds: float | None = None,
    max_nodes: int | None = None,
    capacity: int | None = None,
    slots: int | None = None,
) -> Planned:
    """Places every tensor of `graph` that has no address, and verifies the plan. `capacity`: bytes
    of every pool, if less than its own. Raises as `verify` does.

    >>> graph = Plan("chain")
    >>> hbm, queue = graph.pool("hbm"), graph.queue("q")
    >>> a, b, c = (graph.tensor(name, (256,), "f32", pool=hbm) for name in "abc")
    >>> ops = [graph.op("1", queue, writes=[a]), graph.op("2", queue, reads=[a], writes=[b]),
    ...        graph.op("3", queue, reads=[b], writes=[c]), graph.op("4", queue, reads=[c])]
    >>> plan(graph).peak_bytes
    {'hbm': 2048}
    """
    text, name = _source(graph)
    options = {
        "strategy": strategy,
        "max_seconds": max_seconds,
        "max_nodes": max_nodes,
        "capacity": capacity,
        "slots": slots,
    }
    return Planned(call("place", text.encode(), name, options), text)


def assert_safe(
    plan: PlanLike,
    *,
    engine: str = "auto",
    max_findings: int | None = None,
    max_seconds: float | None = None,
) -> None:
    """Raises AssertionError, with the findings as its message, unless `plan` is safe: also where
    that is not proven. Otherwise as `verify`."""
    __tracebackhide__ = True  # pytest then points at the caller.
    report = verify(plan, engine=engine, max_findings=max_findings, max_seconds=max_seconds)
    if not report.is_safe:
        raise AssertionError(report.text.rstrip())
