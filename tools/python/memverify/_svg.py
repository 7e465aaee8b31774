"""A map of the pools of a plan: addresses upwards, ops from left to right."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _LINE = 720, 200, 90, 20  # Pixels: of a map, its margin, a line of text.
_ACCESSES = ("reads", "writes", "accumulates", "clobbers")


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
    peak = max((s["offset"] + s["bytes"] for s in storages), default=0) or 1
    column = (_WIDTH - _LEFT) / max(ops, 1)
    out = [f'<text x="4" y="{top + 12}">{peak} B</text><text x="4" y="{top + _HEIGHT}">0</text>']
    for number, storage in enumerate(storages):
        first, last = spans[storage["id"]]
        x, width = _LEFT + first * column, (last - first + 1) * column
        height = storage["bytes"] / peak * _HEIGHT
        y = top + _HEIGHT - storage["offset"] / peak * _HEIGHT - height
        begin, end = storage["offset"], storage["offset"] + storage["bytes"]
        title = f"{escape(storage['id'])}: [{begin}, {end}), ops {first} to {last}"
        out.append(
            f'<g><title>{title}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" fill="hsl({number * 137 % 360},60%,75%)" stroke="#444" '
            f'fill-opacity="0.7"/><text x="{x + 3:.1f}" y="{y + height / 2 + 4:.1f}">'
            f"{escape(storage['id'])}</text></g>"
        )
    return "".join(out)


def arena_svg(plan: Mapping[str, Any]) -> str:
    """The map as an SVG image: a rectangle for each storage, over the ops in program order from the
    first that touches it to the last. `plan` is the JSON of a plan. Storages whose address or size
    depends on symbols or iterations are left out, and so are those that nothing touches.

    >>> arena_svg({"pools": [{"id": "hbm"}], "ops": []}).count("<rect")
    0
    """
    spans, ops = _spans(plan), len(plan.get("ops", ()))
    body, top = [], 0
    for pool in plan.get("pools", ()):
        storages = [
            storage
            for storage in plan.get("storages", ())
            if storage["pool"] == pool["id"]
            and storage["id"] in spans
            and isinstance(storage.get("offset"), int)
            and isinstance(storage.get("bytes"), int)
        ]
        body.append(f'<text x="4" y="{top + 14}" font-weight="bold">{escape(pool["id"])}</text>')
        body.append(_pool_svg(storages, spans, ops, top + _LINE))
        top += _HEIGHT + 2 * _LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top}" '
        f'font-family="sans-serif" font-size="11">{"".join(body)}</svg>'
    )
