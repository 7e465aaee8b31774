"""What memverify found out, as Python objects."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from typing import Any

from memverify._library import Diagnostic, Outcome
from memverify._svg import arena_svg

VERDICTS = ("safe", "unsafe", "error", "unknown", "internal error")  #: By the status.


class InputError(ValueError):
    """The plan or an option is wrong. The message is what the command prints."""

    errors: tuple[Diagnostic, ...]

    def __init__(self, text: str, errors: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(text.rstrip())  # What pickle calls this with; then it sets `errors`.
        self.errors = errors


@dataclass(frozen=True)
class Finding:
    """One fault. `data` is the whole object of the JSON report (docs/format.md)."""

    rule: str  #: "MV101"
    severity: str  #: "error", "not proven" or "warning".
    message: str
    help: str
    ops: tuple[str, ...]
    tensors: tuple[str, ...]
    pool: str | None
    bytes: tuple[int, int] | None  #: The first clashing range, end exclusive.
    data: dict[str, Any] = field(repr=False, compare=False)

    @property
    def witness(self) -> tuple[str, ...]:
        """A minimal run that shows it, such as ("start load", "complete load"); may be empty."""
        return tuple(f"{step['at']} {step['op']}" for step in self.data["witness"])


def _finding(data: dict[str, Any]) -> Finding:
    span = data.get("bytes")
    return Finding(
        rule=data["rule"],
        severity=data["severity"],
        message=data["message"],
        help=data["help"],
        ops=tuple(data["ops"]),
        tensors=tuple(data["tensors"]),
        pool=data.get("pool"),
        bytes=(span[0], span[1]) if span else None,
        data=data,
    )


class _Outcome:
    """What reports on plans and on graphs share."""

    verdict: str  #: "safe", "unsafe", "unknown" or "internal error".
    text: str  #: For people.
    data: dict[str, Any]  #: The JSON report (docs/format.md).

    def __init__(self, outcome: Outcome, source: str) -> None:
        if outcome.errors:
            raise InputError(outcome.text, outcome.errors)
        self.verdict = VERDICTS[outcome.status]
        self.text = outcome.text
        self.data = json.loads(outcome.json)
        self._source = source.lstrip("\ufeff")

    @property
    def is_safe(self) -> bool:
        return self.verdict == "safe"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"{arena_svg(json.loads(self._source))}<pre>{html.escape(self.text)}</pre>"


class Report(_Outcome):
    """A verdict on a plan; in a notebook it shows the arena and the findings."""

    findings: tuple[Finding, ...]

    def __init__(self, outcome: Outcome, source: str) -> None:
        super().__init__(outcome, source)
        self.findings = tuple(_finding(data) for data in self.data.get("findings", ()))

    def __repr__(self) -> str:
        return f"<memverify.Report {self.verdict}, {len(self.findings)} findings>"


class Planned(_Outcome):
    """A graph with its tensors placed, or why it could not be; in a notebook it shows the arena."""

    json: str  #: The text of the plan; "" if there is none.

    def __init__(self, outcome: Outcome, source: str) -> None:
        super().__init__(outcome, outcome.plan or source)
        self.json = outcome.plan

    @property
    def plan(self) -> dict[str, Any]:
        """The plan as JSON. ValueError if there is none; `text` then says why."""
        if not self.json:
            raise ValueError(self.text)
        placed: dict[str, Any] = json.loads(self.json)
        return placed

    @property
    def peak_bytes(self) -> dict[str, int]:
        """By pool."""
        return {pool["pool"]: pool["peak_bytes"] for pool in self.data.get("pools", ())}

    def __repr__(self) -> str:
        return f"<memverify.Planned {self.verdict}, peak {self.peak_bytes}>"
