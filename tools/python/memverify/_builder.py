"""Building a plan: pools, queues, tensors and ops."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, SupportsIndex, TypeVar, Union, cast

from memverify._tensor import DTYPE_BITS, Tensor, dtype_name, row_major, whole


class ArrayLike(Protocol):
    """What NumPy's arrays have, and others that follow them."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...


@dataclass(frozen=True)
class Pool:
    id: str


@dataclass(frozen=True)
class Queue:
    id: str


@dataclass(frozen=True)
class Storage:
    id: str


@dataclass(frozen=True)
class Op:
    id: str


#: Bytes and the like: a whole number, or an expression of the format ("seq*128").
Number = Union[SupportsIndex, str]
#: Of an op: a tensor or its id, or what the format has for an access ({"tensor": …, "offset": …}).
Access = Union[Tensor, str, Mapping[str, Any]]
#: The id of an event, or what the format has for a wait or signal.
Sync = Union[str, Mapping[str, Any]]
Part = Union[Pool, Queue, Storage, Op]
_Entry = TypeVar("_Entry")


def plain(value: Any) -> Any:
    """For json.dumps: NumPy's numbers and arrays as Python's. TypeError for what JSON has not."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"JSON has nothing like {value!r}")


def _number(value: Number, what: str) -> int | str:
    return value if isinstance(value, str) else whole(value, what)


def _extents(given: Iterable[Number], what: str) -> tuple[int, ...]:
    """Those that depend on symbols stay strings, which `Tensor` looks after."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{what} is a tuple, not {given!r}")
    return cast("tuple[int, ...]", tuple(_number(value, f"an entry of {what}") for value in given))


def _places(offset: Number | Iterable[Number]) -> int | str | list[int | str]:
    """One offset, or one for each iteration in turn."""
    if isinstance(offset, Iterable) and not isinstance(offset, str):
        return [_number(place, "an offset") for place in offset]
    return _number(offset, "an offset")


def _entries(key: str, given: Iterable[_Entry]) -> list[_Entry]:
    """A list. Nothing that Python would take apart: text into letters, a tensor into rows."""
    if isinstance(given, (list, tuple)):
        return list(given)
    if isinstance(given, (str, Mapping, Tensor)) or not isinstance(given, Iterable):
        raise TypeError(f"`{key}` is a list, of one entry too, as in {key}=[…], not {given!r}")
    return list(given)


def _id(given: Part | str, kind: type[Part]) -> str:
    """Of a part of the plan, or of one that is given by its id."""
    if isinstance(given, str):
        return given
    if isinstance(given, kind):
        return given.id
    raise TypeError(f"{given!r} is not a {kind.__name__} of the plan, nor the id of one")


def _sync(key: str, sync: Sync) -> Mapping[str, Any]:
    if isinstance(sync, str):
        return {"event": sync}
    if isinstance(sync, Mapping):
        return sync
    raise TypeError(f"an entry of `{key}` is the id of an event or a mapping, not {sync!r}")


def _root(tensor: Tensor) -> Tensor:
    while tensor.base is not None:
        tensor = tensor.base
    return tensor


class Plan:
    """A plan, or with tensors that have no place a graph, built step by step.

    Names are ids of the plan and must be unique within their kind. Pools, queues, storages, tensors
    and ops may be given by their ids, too. TypeError for an argument of the wrong kind; all else is
    checked when `memverify.verify` reads the plan.
    """

    name: str

    def __init__(self, name: str = "", *, iterations: int | str | None = None, **keys: Any) -> None:
        """`iterations`: a number or "unbounded". `keys`: more of the document (docs/format.md)."""
        self.name = name
        self._document: dict[str, Any] = {"memverify": 1, "name": name, **keys}
        if iterations is not None:
            self._document["iterations"] = iterations
        self._document = self._plain(self._document)
        self._lists: dict[str, list[dict[str, Any]]] = {
            key: [] for key in ("pools", "queues", "semaphores", "storages", "tensors", "ops")
        }
        self._boundary: dict[str, list[Any]] = {
            key: [] for key in ("inputs", "constants", "donated", "outputs")
        }
        self._tensors: dict[str, Tensor] = {}

    def _add(self, kind: str, name: str, keys: Mapping[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a name is a str, not {name!r}")
        entry = {key: self._plain(value) for key, value in keys.items() if value is not None}
        self._lists[kind].append({"id": name, **entry})

    def pool(self, name: str, *, bytes: Number | None = None, **keys: Any) -> Pool:
        """An address space of `bytes`; None: without an end."""
        self._add("pools", name, {"bytes": bytes, **keys})
        return Pool(name)

    def queue(self, name: str, *, order: str | None = None, **keys: Any) -> Queue:
        """`order`: "serial" (default), "issue", "none" or "host"."""
        self._add("queues", name, {"order": order, **keys})
        return Queue(name)

    def semaphore(self, name: str, *, kind: str | None = None, **keys: Any) -> str:
        """`kind`: "counting" (default) or "timeline"."""
        self._add("semaphores", name, {"kind": kind, **keys})
        return name

    def storage(
        self, name: str, pool: Pool | str, offset: Number | Iterable[Number], bytes: Number
    ) -> Storage:
        """Bytes of a pool; several offsets rotate from iteration to iteration."""
        keys = {"pool": _id(pool, Pool), "offset": _places(offset), "bytes": _number(bytes, "a size")}
        self._add("storages", name, keys)
        return Storage(name)

    def tensor(
        self,
        name: str,
        shape: Iterable[Number],
        dtype: object,
        *,
        pool: Pool | str | None = None,
        offset: Number | Iterable[Number] | None = None,
        storage: Storage | str | None = None,
        strides: Iterable[Number] | None = None,
        **keys: Any,
    ) -> Tensor:
        """A tensor at `offset` in `storage`; or at `offset` of `pool`, in a storage of its own; or,
        without `offset`, one that `memverify.plan` places in `pool`. `shape` may have expressions of
        symbols, `strides` are in elements.
        ValueError for strides of another length than the shape, and where a storage of its own would
        have to begin before `offset`."""
        extents = _extents(shape, "a shape")
        steps = row_major(extents) if strides is None else _extents(strides, "`strides`")
        if len(extents) != len(steps):
            raise ValueError(f"`{name}` has {len(extents)} extents and {len(steps)} strides")
        tensor = Tensor(self, name, dtype_name(dtype), extents, steps)
        place: dict[str, object] = {
            "storage": None if storage is None else _id(storage, Storage),
            "pool": None if pool is None else _id(pool, Pool),
            "offset": None if offset is None else _places(offset),
        }
        if storage is None and pool is not None and offset is not None:
            place = {"storage": self.storage(name, pool, offset, _bytes_from_start(tensor)).id}
        layout = {
            "dtype": tensor.dtype,
            "shape": list(extents),
            "strides": None if strides is None else list(steps),
        }
        self._add("tensors", name, {**place, **layout, **keys})
        self._tensors[name] = tensor
        return tensor

    def tensor_like(self, name: str, array: ArrayLike, **keys: Any) -> Tensor:
        """A contiguous tensor of the shape and type of an array. As `tensor` otherwise."""
        return self.tensor(name, array.shape, array.dtype, **keys)

    def op(
        self,
        name: str,
        queue: Queue | str | None = None,
        *,
        reads: Iterable[Access] = (),
        writes: Iterable[Access] = (),
        accumulates: Iterable[Access] = (),
        clobbers: Iterable[Access] = (),
        in_place: Iterable[Sequence[Union[Tensor, str]]] = (),
        after: Iterable[Union[Op, str, Mapping[str, Any]]] = (),
        waits: Iterable[Sync] = (),
        signals: Iterable[Sync] = (),
        **keys: Any,
    ) -> Op:
        """A command. Each argument but the queue is a list, of one entry, too. `keys`: others of the
        format, such as kind="record", event="e"."""
        accesses = {"reads": reads, "writes": writes, "accumulates": accumulates, "clobbers": clobbers}
        lists: dict[str, list[Any]] = {
            key: [self._access(access) for access in _entries(key, given)]
            for key, given in accesses.items()
        }
        lists["in_place"] = [
            [self._access(part) for part in _entries("in_place", pair)]
            for pair in _entries("in_place", in_place)
        ]
        lists["after"] = [
            entry if isinstance(entry, Mapping) else _id(entry, Op) for entry in _entries("after", after)
        ]
        lists["waits"] = [_sync("waits", sync) for sync in _entries("waits", waits)]
        lists["signals"] = [_sync("signals", sync) for sync in _entries("signals", signals)]
        given = {key: entries or None for key, entries in lists.items()}
        where = None if queue is None else _id(queue, Queue)
        self._add("ops", name, {"queue": where, **keys, **given})
        return Op(name)

    def record(self, event: str, queue: Queue | str) -> Op:
        """`event` happens once all that `queue` got so far is complete."""
        return self.op(f"record {event} {len(self._lists['ops'])}", queue, kind="record", event=event)

    def wait(self, event: str, queue: Queue | str) -> Op:
        """What `queue` gets from now on starts after the latest record of `event`."""
        return self.op(f"wait {event} {len(self._lists['ops'])}", queue, kind="wait", event=event)

    def inputs(self, *tensors: Tensor | str, donated: bool = False) -> None:
        """These hold their values before the plan starts, and unless `donated` still at its end."""
        names = [self._access(tensor) for tensor in tensors]
        self._boundary["inputs"] += names
        self._boundary["donated"] += names if donated else []

    def constants(self, *tensors: Tensor | str) -> None:
        """These hold their values throughout."""
        self._boundary["constants"] += [self._access(tensor) for tensor in tensors]

    def outputs(self, *tensors: Access) -> None:
        """These hold their last values when everything has completed."""
        self._boundary["outputs"] += [self._access(tensor) for tensor in tensors]

    def use(self, tensor: Tensor) -> str:
        """The id of `tensor`, which with the tensors that it is a view of becomes part of the plan.
        ValueError if another tensor has that name, or if it is of another plan."""
        if tensor._plan is not self:
            raise ValueError(f"{tensor!r} belongs to another plan")
        known = self._tensors.get(tensor.id)
        if known is None:
            self._add_view(tensor)
        elif _bytes_of(known) != _bytes_of(tensor):
            both = " and ".join(f"{one!r} in `{_root(one).id}`" for one in (known, tensor))
            raise ValueError(f"two tensors have the name `{tensor.id}`, {both}: use `named`")
        return tensor.id

    def _add_view(self, tensor: Tensor) -> None:
        base, width = tensor.base, DTYPE_BITS[tensor.dtype]
        if base is None:
            raise ValueError(f"{tensor!r} was not made by `tensor`")
        if tensor.start * width % 8:
            raise ValueError(f"{tensor!r} does not start at a byte")
        if base.start * width % 8:  # As only 4-bit elements can; the root does.
            base = _root(base)
        keys = {
            "view_of": self.use(base),
            "offset": (tensor.start - base.start) * width // 8 or None,
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "strides": list(tensor.strides) if tensor.strides != row_major(tensor.shape) else None,
        }
        self._add("tensors", tensor.id, keys)
        self._tensors[tensor.id] = tensor

    def _access(self, access: Access) -> Any:
        if not isinstance(access, (str, Tensor, Mapping)):
            raise TypeError(f"{access!r} is not a tensor of the plan, nor the id of one")
        return self._plain(access)

    def _plain(self, value: Any) -> Any:
        """As JSON has it: parts of the plan by their ids, NumPy's numbers as Python's."""
        if isinstance(value, (str, int)):
            return value
        if isinstance(value, (list, tuple)):
            return [self._plain(entry) for entry in value]
        if isinstance(value, Tensor):
            return self.use(value)
        if isinstance(value, (Pool, Queue, Storage, Op)):
            return value.id
        if isinstance(value, Mapping):
            return {key: self._plain(entry) for key, entry in value.items()}
        return plain(value) if hasattr(value, "tolist") else value

    def document(self) -> dict[str, Any]:
        """The plan as the format has it."""
        lists = {**self._lists, **self._boundary}
        return {**self._document, **{key: entries for key, entries in lists.items() if entries}}

    def json(self) -> str:
        """The same as text, a line for each entry."""
        lines = []
        for key, value in self.document().items():
            if isinstance(value, list) and value:
                entries = ",\n  ".join(json.dumps(entry) for entry in value)
                lines.append(f"{json.dumps(key)}: [\n  {entries}]")
            else:
                lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
        return "{" + ",\n ".join(lines) + "}\n"

    def _repr_svg_(self) -> str:
        from memverify._svg import arena_svg

        return arena_svg(self.document())


def _bytes_of(tensor: Tensor) -> tuple[object, ...]:
    """What two tensors have in common that may have one name."""
    return (_root(tensor).id, tensor.dtype, tensor.shape, tensor.strides, tensor.start)


def _bytes_from_start(tensor: Tensor) -> int:
    """Bytes from element 0 of a root to the end of the last one."""
    reaches = [(extent - 1) * step for extent, step in zip(tensor._fixed(), tensor.strides)]
    if any(extent < 0 for extent in tensor.shape):
        raise ValueError(f"{tensor!r} has an extent below 0")
    if tensor.size and any(reach < 0 for reach in reaches):
        raise ValueError(f"{tensor!r} has bytes before its offset: reverse axes by a view, x[::-1]")
    return -(-(sum(reaches) + 1) * DTYPE_BITS[tensor.dtype] // 8) if tensor.size else 0
