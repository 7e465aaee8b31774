"""verify, simulate, plan, assert_safe."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Union

from memverify._builder import Plan, plain
from memverify._library import Outcome, call
from memverify._report import Planned, Report

#: A plan that was built here, the JSON of one, or the path of a file of JSON.
PlanLike = Union[Plan, Mapping[str, Any], str, "os.PathLike[str]"]

#: Called with the name of the C function and what came of it, bad input included, after each call of
#: `verify`, `simulate`, `plan` and `assert_safe`; for the pytest plugin.
listeners: list[Callable[[str, Outcome], None]] = []


def _source(plan: PlanLike) -> tuple[bytes, bytes]:
    """Text and name. A `str` is text if it is blank or begins like JSON, else a path. Text that is no
    UTF-8 is for the library to refuse."""
    if isinstance(plan, Plan):
        return plan.json().encode(), _utf8(plan.name)
    if isinstance(plan, Mapping):
        return json.dumps(plan, default=plain).encode(), _utf8(str(plan.get("name", "")))
    if isinstance(plan, str) and plan.lstrip("\ufeff \t\r\n")[:1] in ("", "{"):
        return _utf8(plan), b""
    if isinstance(plan, (str, os.PathLike)):
        return Path(plan).read_bytes(), os.fsencode(plan)
    raise TypeError(f"a plan is a Plan, a mapping, JSON text or a path, not {plan!r}")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _outcome(function: str, plan: PlanLike, options: Mapping[str, object]) -> tuple[Outcome, str]:
    """What came of the call, and the text of the plan."""
    text, name = _source(plan)
    given = {key: value for key, value in options.items() if value is not None}
    outcome = call(function, text, name, json.dumps(given, default=plain).encode())
    for listener in listeners:
        listener(function, outcome)
    return outcome, text.decode("utf-8", "replace")


def verify(
    plan: PlanLike,
    *,
    engine: str = "auto",
    max_findings: int | None = None,
    max_seconds: float | None = None,
) -> Report:
    """Decides whether `plan` is safe in every run. `engine`: "auto", "all", "hb", "smt" or "sim".
    `max_findings`: at least 1 (default 100). `max_seconds`: for each engine that searches (default 60;
    0: no limit).

    Raises InputError for a plan or an option that is wrong, OSError for a file that cannot be read,
    ImportError if the library cannot be loaded. On Ctrl-C, KeyboardInterrupt is raised at once; the
    search ends later by its limits, or with Python."""
    options = {"engine": engine, "max_findings": max_findings, "max_seconds": max_seconds}
    return Report(*_outcome("verify", plan, options))


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
    """Executes every order that `plan` allows; with `random_runs` above 0, so many by chance, drawn
    from `seed` (default 0). `reduction`: "none", "sleep" or "classes". `count`: how many interleavings
    there are, and how many fail. `max_findings`: at least 1 (default 100). The search ends as not proven
    after `max_states` (default 10^9), `max_seconds` (default 60; 0: no limit) or 4 GiB of states.
    `threads`: 0, the default, for all cores. Raises as `verify` does."""
    options = {
        "reduction": reduction,
        "count": count,
        "max_findings": max_findings,
        "max_states": max_states,
        "max_seconds": 60 if max_seconds is None else max_seconds,
        "threads": threads,
        "random_runs": random_runs,
        "seed": seed,
    }
    return Report(*_outcome("simulate", plan, options))


def plan(
    graph: PlanLike,
    *,
    strategy: str = "auto",
    max_seconds: float | None = None,
    max_nodes: int | None = None,
    capacity: int | None = None,
    slots: int | None = None,
) -> Planned:
    """Places every tensor of `graph` that has no address, and verifies the plan. `strategy`: a safe one
    of `memverify plan --help`. `max_seconds`: of searching, besides proofs; above 0 (default 10).
    `max_nodes`: of searches (default 0: no limit). `capacity`: bytes of every pool, if less than its
    own. `slots`: for tensors that ask for more than one. Raises as `verify` does.

    >>> graph = Plan("chain")
    >>> hbm, queue = graph.pool("hbm"), graph.queue("q")
    >>> a, b, c = (graph.tensor(name, (256,), "f32", pool=hbm) for name in "abc")
    >>> ops = [graph.op("1", queue, writes=[a]), graph.op("2", queue, reads=[a], writes=[b]),
    ...        graph.op("3", queue, reads=[b], writes=[c]), graph.op("4", queue, reads=[c])]
    >>> plan(graph).peak_bytes
    {'hbm': 2048}
    """
    options = {
        "strategy": strategy,
        "max_seconds": max_seconds,
        "max_nodes": max_nodes,
        "capacity": capacity,
        "slots": slots,
    }
    return Planned(*_outcome("place", graph, options))


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
