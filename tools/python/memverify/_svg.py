"""A map of the pools of a plan: addresses upwards, ops from left to right."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _LINE = 720, 200, 90, 20  # Pixels: of a map, its margin, a line of text.
_ACCESSES = ("reads", "writes", "accumulates", "clobbers")

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MOST_NAMES = 4  # Of what is left out.


def _escape(text: str) -> str:
    """As XML, in which control characters have no place."""
    return html.escape(_NOT_XML.sub("\ufffd", text))


def _storage_of(plan: Mapping[str, Any]) -> dict[str, str]:
    """The storage of each placed tensor, through its views."""
    tensors = {tensor["id"]: tensor for tensor in plan.get("tensors", ())}
    result = {}
    for name, tensor in tensors.items():
        for _ in tensors:
            if "view_of" not in tensor:
                break
            tensor = tensors.get(tensor["view_of"], {})
        if "storage" in tensor:
            result[name] = tensor["storage"]
    return result


def _spans(plan: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """For each storage that is used, the indices of the first and the last op that touch it."""
    storage_of = _storage_of(plan)
    spans: dict[str, tuple[int, int]] = {}
    for index, op in enumerate(plan.get("ops", ())):
        for access in (entry for key in _ACCESSES for entry in op.get(key, ())):
            name = access if isinstance(access, str) else access.get("tensor", "")
            if name in storage_of:
                first = spans.get(storage_of[name], (index, index))[0]
                spans[storage_of[name]] = (first, index)
    return spans


def _pool_svg(storages: list[Any], spans: dict[str, tuple[int, int]], ops: int, top: int) -> str:
    if not storages:
        return ""
    end = max(s["offset"] + s["bytes"] for s in storages)
    peak, column = max(end, 1), (_WIDTH - _LEFT) / ops
    out = [f'<text x="4" y="{top + 12}">{end} B</text><text x="4" y="{top + _HEIGHT}">0</text>']
    for number, storage in enumerate(storages):
        first, last = spans[storage["id"]]
        x, width = _LEFT + first * column, (last - first + 1) * column
        height = storage["bytes"] / peak * _HEIGHT
        y = top + _HEIGHT - storage["offset"] / peak * _HEIGHT - height
        begin, end = storage["offset"], storage["offset"] + storage["bytes"]
        title = f"{_escape(storage['id'])}: [{begin}, {end}), ops {first} to {last}"
        out.append(
            f'<g><title>{title}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" fill="hsl({number * 137 % 360},60%,75%)" stroke="#444" '
            f'fill-opacity="0.7"/><text x="{x + 3:.1f}" y="{y + height / 2 + 4:.1f}">'
            f"{_escape(storage['id'])}</text></g>"
        )
    return "".join(out)


def _is_fixed(storage: Mapping[str, Any]) -> bool:
    return isinstance(storage.get("offset"), int) and isinstance(storage.get("bytes"), int)


def _left_out(storages: list[Any], why: str) -> list[str]:
    names = [storage["id"] for storage in storages[:_MOST_NAMES]]
    more = [f"and {len(storages) - len(names)} more"] if len(storages) > len(names) else []
    return [f"{', '.join([*names, *more])} ({why})"] if names else []


def arena_svg(plan: Mapping[str, Any]) -> str:
    """The map as an SVG image: a rectangle for each storage, over the ops in program order from the
    first that touches it to the last. `plan` is the JSON of a plan. Storages whose address or size
    depends on symbols or iterations are left out, and so are those that nothing touches; the name of
    the pool says so.

    >>> arena_svg({"pools": [{"id": "hbm"}], "ops": []}).count("<rect")
    0
    """
    spans, ops = _spans(plan), len(plan.get("ops", ()))
    body, top = [], 0
    for pool in plan.get("pools", ()):
        own = [storage for storage in plan.get("storages", ()) if storage["pool"] == pool["id"]]
        used = [storage for storage in own if storage["id"] in spans]
        fixed = [storage for storage in used if _is_fixed(storage)]
        words = [
            *_left_out([s for s in used if not _is_fixed(s)], "address or size not fixed"),
            *_left_out([s for s in own if s["id"] not in spans], "not used"),
        ]
        note = f" without {', '.join(words)}" if words else ""
        body.append(
            f'<text x="4" y="{top + 14}"><tspan font-weight="bold">{_escape(pool["id"])}</tspan>'
            f"{_escape(note)}</text>"
        )
        body.append(_pool_svg(fixed, spans, ops, top + _LINE))
        top += (_HEIGHT if fixed else 0) + 2 * _LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top}" '
        f'font-family="sans-serif" font-size="11">{"".join(body)}</svg>'
    )
