"""Building a plan: pools, queues, tensors that are sliced like NumPy's, and ops."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Union

#: Bits of an element, by the names of the format (docs/format.md).
DTYPE_BITS = (
    dict.fromkeys(("i4", "u4", "f4"), 4)
    | dict.fromkeys(("i8", "u8", "bool", "f8"), 8)
    | dict.fromkeys(("i16", "u16", "f16", "bf16"), 16)
    | dict.fromkeys(("i32", "u32", "f32"), 32)
    | dict.fromkeys(("i64", "u64", "f64", "c64"), 64)
    | {"c128": 128}
)
_NUMPY_KINDS = {"int": "i", "uint": "u", "float": "f", "bfloat": "bf", "complex": "c"}

Index = Union[int, slice, "ellipsis", None]


class ArrayLike(Protocol):
    """What NumPy's arrays have, and others that follow them."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...


def dtype_name(dtype: object) -> str:
    """The name in the format of "f32", "float32", numpy.float32 or numpy.dtype("float32").

    >>> dtype_name("float32"), dtype_name("bool"), dtype_name("bf16")
    ('f32', 'bool', 'bf16')
    """
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    name = name.removeprefix("torch.").removesuffix("_")
    kind = name.rstrip("0123456789")
    name = _NUMPY_KINDS.get(kind, kind) + name[len(kind) :]
    if name not in DTYPE_BITS:
        raise ValueError(f"there is no dtype {dtype!r}; there are {', '.join(DTYPE_BITS)}")
    return name


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a contiguous tensor.

    >>> row_major((2, 3, 4))
    (12, 4, 1)
    """
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


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


class Tensor:
    """A typed layout over bytes. Indexing, `T`, `transpose`, `reshape` and so on give views, as
    those of NumPy do: nothing is copied, and a view becomes part of the plan when an op uses it."""

    def __init__(
        self,
        plan: Plan,
        name: str,
        dtype: str,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        base: Tensor | None = None,
        start: int = 0,
    ) -> None:
        self.id = name
        self.dtype = dtype
        self.shape = shape
        self.strides = strides  #: In elements.
        self.base = base  #: The tensor that it is a view of.
        self.start = start  #: Element 0, in elements after that of the root.
        self._plan = plan

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, those that share a byte counted each."""
        return -(-self.size * DTYPE_BITS[self.dtype] // 8)

    def __repr__(self) -> str:
        return f"<Tensor {self.id}: {self.dtype}{list(self.shape)} strides {list(self.strides)}>"

    def _view(
        self, suffix: str, shape: Iterable[int], strides: Iterable[int], start: int = 0
    ) -> Tensor:
        return Tensor(
            self._plan,
            self.id + suffix,
            self.dtype,
            tuple(shape),
            tuple(strides),
            base=self,
            start=self.start + start,
        )

    def named(self, name: str) -> Tensor:
        """The same bytes under a name of their own."""
        view = self._view("", self.shape, self.strides)
        view.id = name
        return view

    def __getitem__(self, key: Index | tuple[Index, ...]) -> Tensor:
        """Integers, slices, `...` and None, as in NumPy. IndexError beyond an end.

        >>> x = Plan("p").tensor("x", (4, 6), "f32")
        >>> x[1:, ::2], x[-1, ..., None]
        (<Tensor x[1:, ::2]: f32[3, 3] strides [6, 2]>, <Tensor x[-1, ..., None]: f32[6, 1] strides [1, 0]>)
        """
        keys = key if isinstance(key, tuple) else (key,)
        used = sum(1 for k in keys if k is not None and k is not Ellipsis)
        if used > self.ndim or keys.count(Ellipsis) > 1:
            raise IndexError(f"too many indices for {self!r}")
        full: list[Index] = []
        for k in keys if Ellipsis in keys else (*keys, Ellipsis):
            full += [slice(None)] * (self.ndim - used) if k is Ellipsis else [k]
        shape, strides, start, axis = [], [], 0, 0
        for k in full:
            if k is None:
                shape.append(1)
                strides.append(0)
                continue
            extent, stride = self.shape[axis], self.strides[axis]
            axis += 1
            if isinstance(k, slice):
                begin, _, step = k.indices(extent)
                shape.append(len(range(*k.indices(extent))))
                strides.append(stride * step)
                start += begin * stride if shape[-1] else 0
            elif isinstance(k, int) and -extent <= k < extent:
                start += k % extent * stride
            else:
                raise IndexError(f"{k!r} is no index of an axis of {extent} in {self!r}")
        return self._view(f"[{', '.join(map(_index_words, keys))}]", shape, strides, start)

    @property
    def T(self) -> Tensor:
        """The axes in reverse."""
        return self._view(".T", reversed(self.shape), reversed(self.strides))

    def transpose(self, *axes: int) -> Tensor:
        """The axes in another order, all of them; without any, as `T`."""
        if not axes:
            return self.T
        if sorted(axis % self.ndim for axis in axes) != list(range(self.ndim)):
            raise ValueError(f"{axes} is no order of the axes of {self!r}")
        words = f".transpose({', '.join(map(str, axes))})"
        return self._view(words, (self.shape[a] for a in axes), (self.strides[a] for a in axes))

    def reshape(self, *shape: int) -> Tensor:
        """The same elements in the same order; one extent may be -1. ValueError where that would be a
        copy.

        >>> x = Plan("p").tensor("x", (4, 6), "f32")
        >>> x.reshape(2, -1, 6).shape, x[:, :3].reshape(2, 2, 3).strides
        ((2, 2, 6), (12, 6, 1))
        """
        known = math.prod(extent for extent in shape if extent != -1)
        if shape.count(-1) == 1 and known and self.size % known == 0:
            shape = tuple(self.size // known if extent == -1 else extent for extent in shape)
        if math.prod(shape) != self.size or min(shape, default=0) < 0:
            raise ValueError(f"{self!r} has not the elements of {shape}")
        strides = _reshaped(self.shape, self.strides, shape)
        if strides is None:
            raise ValueError(f"{self!r} in the shape {shape} would be a copy, not a view")
        return self._view(f".reshape({', '.join(map(str, shape))})", shape, strides)

    def broadcast_to(self, *shape: int) -> Tensor:
        """Extents of 1, and axes put in front, repeated: several elements are then the same bytes."""
        own = (1,) * (len(shape) - self.ndim) + self.shape
        if len(shape) < self.ndim or any(a not in (1, b) for a, b in zip(own, shape)):
            raise ValueError(f"{self!r} cannot be broadcast to {shape}")
        strides = (0,) * (len(shape) - self.ndim) + self.strides
        words = f".broadcast_to({', '.join(map(str, shape))})"
        return self._view(words, shape, (s if a == b else 0 for a, b, s in zip(own, shape, strides)))


def _index_words(key: Index) -> str:
    if key is Ellipsis:
        return "..."
    if not isinstance(key, slice):
        return str(key)
    start, stop, step = ("" if k is None else str(k) for k in (key.start, key.stop, key.step))
    return f"{start}:{stop}" + (f":{step}" if step else "")


def _reshaped(
    shape: Sequence[int], strides: Sequence[int], wanted: Sequence[int]
) -> tuple[int, ...] | None:
    """Strides of `wanted` over the same elements, or None. Axes that follow each other in memory are
    joined; each of `wanted` must lie in one such run."""
    if 0 in wanted:
        return row_major(wanted)
    runs: list[list[int]] = []  # [elements, stride of the innermost]
    for extent, stride in zip(shape, strides):
        if extent == 1:
            continue
        if runs and runs[-1][1] == extent * stride:
            runs[-1] = [runs[-1][0] * extent, stride]
        else:
            runs.append([extent, stride])
    result: list[int] = []
    left, stride = 1, 1
    for extent in reversed(wanted):
        if extent > 1 and left == 1:
            left, stride = runs.pop()
        if left % extent:
            return None
        result.append(stride)
        left //= extent
        stride *= extent
    return tuple(reversed(result))


#: Of an op: a tensor, or what the format has for an access ({"tensor": …, "offset": …}).
Access = Union[Tensor, Mapping[str, Any]]
#: The id of an event, or what the format has for a wait or signal.
Sync = Union[str, Mapping[str, Any]]


class Plan:
    """A plan, or with tensors that have no place a graph, built step by step.

    Names are ids of the plan and must be unique within their kind. Nothing is checked before
    `memverify.verify` reads the plan.
    """

    def __init__(self, name: str = "", *, iterations: int | str | None = None, **keys: Any) -> None:
        """`iterations`: a number or "unbounded". `keys`: more of the document (docs/format.md)."""
        self.name = name
        self._document: dict[str, Any] = {"memverify": 1, "name": name, **keys}
        if iterations is not None:
            self._document["iterations"] = iterations
        self._lists: dict[str, list[dict[str, Any]]] = {
            key: [] for key in ("pools", "queues", "semaphores", "storages", "tensors", "ops")
        }
        self._boundary: dict[str, list[Any]] = {
            key: [] for key in ("inputs", "constants", "donated", "outputs")
        }
        self._tensors: dict[str, Tensor] = {}

    def _add(self, kind: str, name: str, keys: Mapping[str, Any]) -> None:
        entry = {key: value for key, value in keys.items() if value is not None}
        self._lists[kind].append({"id": name, **entry})

    def pool(self, name: str, *, bytes: int | str | None = None, **keys: Any) -> Pool:
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
        self, name: str, pool: Pool, offset: int | str | Sequence[int | str], bytes: int | str
    ) -> Storage:
        """Bytes of a pool; several offsets rotate from iteration to iteration."""
        places = offset if isinstance(offset, (int, str)) else list(offset)
        self._add("storages", name, {"pool": pool.id, "offset": places, "bytes": bytes})
        return Storage(name)

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        dtype: object,
        *,
        pool: Pool | None = None,
        offset: int | None = None,
        storage: Storage | None = None,
        strides: Sequence[int] | None = None,
        **keys: Any,
    ) -> Tensor:
        """A tensor at `offset` in `storage`; or at `offset` of `pool`, in a storage of its own; or,
        without `offset`, one that `memverify.plan` places in `pool`. `strides` are in elements."""
        extents = tuple(shape)
        steps = row_major(extents) if strides is None else tuple(strides)
        tensor = Tensor(self, name, dtype_name(dtype), extents, steps)
        if pool is not None and offset is not None and storage is None:
            reach = sum((e - 1) * s for e, s in zip(extents, steps)) + 1 if tensor.size else 0
            storage = self.storage(name, pool, offset, -(-reach * DTYPE_BITS[tensor.dtype] // 8))
            pool = offset = None
        place = {"storage": storage and storage.id, "pool": pool and pool.id, "offset": offset}
        layout = {"dtype": tensor.dtype, "shape": list(extents), "strides": strides and list(steps)}
        self._add("tensors", name, {**place, **layout, **keys})
        self._tensors[name] = tensor
        return tensor

    def tensor_like(self, name: str, array: ArrayLike, **keys: Any) -> Tensor:
        """A contiguous tensor of the shape and type of an array. As `tensor` otherwise."""
        return self.tensor(name, array.shape, array.dtype, **keys)

    def op(
        self,
        name: str,
        queue: Queue | None = None,
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
        """A command. `keys`: others of the format, such as kind="record", event="e"."""
        lists = {
            "reads": [self._access(access) for access in reads],
            "writes": [self._access(access) for access in writes],
            "accumulates": [self._access(access) for access in accumulates],
            "clobbers": [self._access(access) for access in clobbers],
            "in_place": [
                [self.use(part) if isinstance(part, Tensor) else part for part in pair]
                for pair in in_place
            ],
            "after": [entry.id if isinstance(entry, Op) else entry for entry in after],
            "waits": [{"event": sync} if isinstance(sync, str) else sync for sync in waits],
            "signals": [{"event": sync} if isinstance(sync, str) else sync for sync in signals],
        }
        given = {key: entries or None for key, entries in lists.items()}
        self._add("ops", name, {"queue": queue and queue.id, **keys, **given})
        return Op(name)

    def record(self, event: str, queue: Queue) -> Op:
        """`event` happens once all that `queue` got so far is complete."""
        return self.op(f"record {event} {len(self._lists['ops'])}", queue, kind="record", event=event)

    def wait(self, event: str, queue: Queue) -> Op:
        """What `queue` gets from now on starts after the latest record of `event`."""
        return self.op(f"wait {event} {len(self._lists['ops'])}", queue, kind="wait", event=event)

    def inputs(self, *tensors: Tensor, donated: bool = False) -> None:
        """These hold their values before the plan starts, and unless `donated` still at its end."""
        for tensor in tensors:
            self._boundary["inputs"].append(self.use(tensor))
            if donated:
                self._boundary["donated"].append(self.use(tensor))

    def constants(self, *tensors: Tensor) -> None:
        """These hold their values throughout."""
        self._boundary["constants"] += map(self.use, tensors)

    def outputs(self, *tensors: Tensor) -> None:
        """These hold their last values when everything has completed."""
        self._boundary["outputs"] += map(self.use, tensors)

    def use(self, tensor: Tensor) -> str:
        """The id of `tensor`, which with the tensors that it is a view of becomes part of the plan.
        ValueError if another tensor has that name, or if it is of another plan."""
        if tensor._plan is not self:
            raise ValueError(f"{tensor!r} belongs to another plan")
        known = self._tensors.get(tensor.id)
        if known is None:
            assert tensor.base is not None
            self._add_view(tensor, tensor.base)
        elif (known.shape, known.strides, known.start) != (
            tensor.shape,
            tensor.strides,
            tensor.start,
        ):
            raise ValueError(f"{known!r} and {tensor!r} have one name: use `named`")
        return tensor.id

    def _add_view(self, tensor: Tensor, base: Tensor) -> None:
        bits = (tensor.start - base.start) * DTYPE_BITS[tensor.dtype]
        if bits % 8:
            raise ValueError(f"{tensor!r} does not start at a byte")
        keys = {
            "view_of": self.use(base),
            "offset": bits // 8 or None,
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "strides": list(tensor.strides) if tensor.strides != row_major(tensor.shape) else None,
        }
        self._add("tensors", tensor.id, keys)
        self._tensors[tensor.id] = tensor

    def _access(self, access: Access) -> Any:
        if isinstance(access, Tensor):
            return self.use(access)
        return {k: self.use(v) if isinstance(v, Tensor) else v for k, v in access.items()}

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
