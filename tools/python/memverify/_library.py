"""The C functions of libmemverify (memverify.h), called by ctypes."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SONAME = "libmemverify.so.0"

_LONGEST_NAP = 0.1  # Seconds until Ctrl-C is heard, at worst.


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


def _find() -> str:
    """The library of MEMVERIFY_LIBRARY, else that beside this file, else that of the prefix below which
    `cmake --install` put both, else the system's."""
    here = Path(__file__).resolve().parent
    prefix = here.parent.parent.parent.parent  # …/lib/python3/dist-packages/memverify
    places = [here, prefix / "lib", prefix / "lib64", *sorted(prefix.glob("lib/*-linux-*"))]
    beside = [str(place / SONAME) for place in places if (place / SONAME).exists()]
    return os.environ.get("MEMVERIFY_LIBRARY") or (beside[0] if beside else SONAME)


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    """Loaded when it is first needed, so that importing this package never fails."""
    solver = Path(__file__).parent / "libz3.so.4"
    name = _find()
    try:
        if solver.exists():  # Of a wheel that brings it.
            ctypes.CDLL(str(solver), ctypes.RTLD_GLOBAL)
        library = ctypes.CDLL(name)
        for function, (result, arguments) in _SIGNATURES.items():
            entry = getattr(library, "memverify_" + function)
            entry.restype, entry.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ImportError(
            f"memverify cannot load its library: {error}; MEMVERIFY_LIBRARY may name it"
        ) from error
    if not library.memverify_is_compatible(0, 1):
        raise ImportError(f"{name} is not a memverify library of version 0.1 or later")
    return library


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def version() -> str:
    """The version of the library that runs, such as "0.1.0". ImportError if it cannot be loaded."""
    return _text(_library().memverify_version())


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

    status: int  #: An exit code of the command.
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
        for index in range(_library().memverify_result_errors(handle)):
            error = _library().memverify_result_error(handle, index)
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
            status=_library().memverify_result_status(handle),
            text=_text(_library().memverify_result_text(handle)),
            json=_text(_library().memverify_result_json(handle)),
            plan=_text(_library().memverify_result_plan(handle)),
            errors=tuple(errors),
        )
    finally:
        _library().memverify_result_free(handle)


def call(function: str, text: bytes, file: bytes, options: bytes) -> Outcome:
    """Reads the plan and has `function` ("verify", "simulate" or "place") look at it; `options` are
    JSON. Other threads of Python run meanwhile, and Ctrl-C is heard."""
    entry = getattr(_library(), "memverify_" + function)

    def work() -> Outcome:
        wrong = ctypes.c_void_p()
        plan = _library().memverify_plan_read(text, len(text), file, ctypes.byref(wrong))
        if plan is None:
            return _take(wrong.value)
        try:
            return _take(entry(plan, options))
        finally:
            _library().memverify_plan_free(plan)

    return _interruptible(work)


def _interruptible(work: Callable[[], Outcome]) -> Outcome:
    """`work()` in a thread of its own, because Python raises KeyboardInterrupt in the main thread, and
    only between its own instructions, which a wait may sleep through. After that `work` goes on in vain
    until its limits end it, or Python ends."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    future: Future[Outcome] = Future()
    done = threading.Event()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)
        done.set()

    try:
        threading.Thread(target=run, name="memverify", daemon=True).start()
    except RuntimeError:  # Python is ending, or there may be no more threads.
        return work()
    while not done.wait(_LONGEST_NAP):
        pass
    return future.result()
