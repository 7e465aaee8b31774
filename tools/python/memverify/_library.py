"""The C functions of libmemverify (memverify.h), called by ctypes."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SONAME = "libmemverify.so.0"

SAFE, UNSAFE, BAD_INPUT, UNKNOWN, INTERNAL = range(5)


class _Error(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("id", "message", "file", "pointer")] + [
        (name, ctypes.c_size_t) for name in ("line", "column")
    ]


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "version": (ctypes.c_char_p, []),
    "is_compatible": (ctypes.c_int, [ctypes.c_int, ctypes.c_int]),
    "plan_read": (
        ctypes.c_void_p,
        [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)],
    ),
    "plan_free": (None, [ctypes.c_void_p]),
    "verify": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]),
    "simulate": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]),
    "place": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]),
    "result_status": (ctypes.c_int, [ctypes.c_void_p]),
    "result_text": (ctypes.c_char_p, [ctypes.c_void_p]),
    "result_json": (ctypes.c_char_p, [ctypes.c_void_p]),
    "result_plan": (ctypes.c_char_p, [ctypes.c_void_p]),
    "result_errors": (ctypes.c_size_t, [ctypes.c_void_p]),
    "result_error": (_Error, [ctypes.c_void_p, ctypes.c_size_t]),
    "result_free": (None, [ctypes.c_void_p]),
}


def _load() -> ctypes.CDLL:
    """The library of MEMVERIFY_LIBRARY, else that beside this file, else the system's."""
    here = Path(__file__).parent
    solver = here / "libz3.so.4"
    if solver.exists():  # Of a wheel that brings it.
        ctypes.CDLL(str(solver), ctypes.RTLD_GLOBAL)
    beside = here / SONAME
    name = os.environ.get("MEMVERIFY_LIBRARY") or (str(beside) if beside.exists() else SONAME)
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"memverify cannot load its library: {error}") from error
    for function, (result, arguments) in _SIGNATURES.items():
        entry = getattr(library, "memverify_" + function)
        entry.restype, entry.argtypes = result, arguments
    if not library.memverify_is_compatible(0, 1):
        raise ImportError(f"{name} is not a memverify library of version 0.1 or later")
    return library


_library = _load()


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def version() -> str:
    """The version of the library that runs, such as "0.1.0"."""
    return _text(_library.memverify_version())


@dataclass(frozen=True)
class Diagnostic:
    """Something wrong with the input."""

    id: str  #: Stable, such as "tensor.unknown".
    message: str
    file: str
    pointer: str  #: JSON pointer to the value at fault; "" for the whole.
    line: int  #: From 1; 0: not known.
    column: int  #: From 1, in bytes; 0: not known.


@dataclass(frozen=True)
class Outcome:
    """A result of the library, copied."""

    status: int
    text: str
    json: str
    plan: str
    errors: tuple[Diagnostic, ...]


def _take(handle: int | None) -> Outcome:
    """Copies a result and gives it back."""
    if handle is None:
        raise MemoryError("memverify ran out of memory")
    try:
        errors = []
        for index in range(_library.memverify_result_errors(handle)):
            error = _library.memverify_result_error(handle, index)
            errors.append(
                Diagnostic(
                    id=_text(error.id),
                    message=_text(error.message),
                    file=_text(error.file),
                    pointer=_text(error.pointer),
                    line=error.line,
                    column=error.column,
                )
            )
        return Outcome(
            status=_library.memverify_result_status(handle),
            text=_text(_library.memverify_result_text(handle)),
            json=_text(_library.memverify_result_json(handle)),
            plan=_text(_library.memverify_result_plan(handle)),
            errors=tuple(errors),
        )
    finally:
        _library.memverify_result_free(handle)


def call(function: str, text: bytes, file: str, options: Mapping[str, object]) -> Outcome:
    """Reads the plan and has `function` ("verify", "simulate" or "place") look at it. Other threads
    of Python run meanwhile."""
    wrong = ctypes.c_void_p()
    plan = _library.memverify_plan_read(text, len(text), file.encode(), ctypes.byref(wrong))
    if plan is None:
        return _take(wrong.value)
    try:
        given = {key: value for key, value in options.items() if value is not None}
        entry = getattr(_library, "memverify_" + function)
        return _take(entry(plan, json.dumps(given).encode()))
    finally:
        _library.memverify_plan_free(plan)
