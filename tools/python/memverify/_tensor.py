"""Tensors: typed layouts over bytes, with the views that NumPy's arrays have."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, Union, cast

if TYPE_CHECKING:
    from memverify._builder import Plan

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

Index = Union[SupportsIndex, slice, "ellipsis", None]
#: Extents or axes: `f(2, 3)` or `f((2, 3))`.
Numbers = Union[SupportsIndex, Iterable[SupportsIndex]]


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


def whole(value: object, what: str, wanted: str = "a whole number") -> int:
    """A whole number, NumPy's too, as Python's. TypeError for others, and for a bool."""
    try:
        if not isinstance(value, bool):
            return operator.index(cast(SupportsIndex, value))
    except TypeError:
        pass
    raise TypeError(f"{what} is {wanted}, not {value!r}")


def _spread(given: tuple[Numbers, ...], what: str) -> tuple[int, ...]:
    """The numbers of `f(2, 3)` or of `f((2, 3))`."""
    first = given[0] if len(given) == 1 else given
    return tuple(whole(n, what) for n in (first if isinstance(first, Iterable) else given))


class Tensor:
    """A typed layout over bytes. Indexing, `T`, `reshape` and so on give views, as those of NumPy's
    arrays do: nothing is copied, and a view becomes part of the plan when an op uses it. Extents and
    axes are given one by one or as a tuple. TypeError for a view or the size of a tensor whose
    extents depend on symbols."""

    id: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]  #: In elements.
    base: Tensor | None  #: The tensor that it is a view of.
    start: int  #: Element 0, in elements after that of the root.

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
        self.strides = strides
        self.base = base
        self.start = start
        self._plan = plan

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements."""
        return math.prod(self._fixed())

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, those that share a byte counted each."""
        return -(-self.size * DTYPE_BITS[self.dtype] // 8)

    def __repr__(self) -> str:
        return f"<Tensor {self.id}: {self.dtype}{list(self.shape)} strides {list(self.strides)}>"

    def __len__(self) -> int:
        """The first extent. TypeError without an axis."""
        if not self.shape:
            raise TypeError(f"{self!r} has no axis, and so no length")
        return self._fixed()[0]

    def __bool__(self) -> bool:
        return True  # There, however many elements it has.

    def __iter__(self) -> Iterator[Tensor]:
        """The views along the first axis. TypeError without an axis."""
        return map(self.__getitem__, range(len(self)))

    def _fixed(self) -> tuple[int, ...]:
        """The shape, if it is of numbers."""
        if any(isinstance(number, str) for number in (*self.shape, *self.strides)):
            raise TypeError(
                f"{self!r} depends on symbols: give its storage, and its views by "
                "`tensor(…, view_of=…)`"
            )
        return self.shape

    def _axis(self, axis: object) -> int:
        number = whole(axis, "an axis")
        if not -self.ndim <= number < self.ndim:
            raise ValueError(f"{self!r} has no axis {number}")
        return number % self.ndim

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
        view = self._view("", self._fixed(), self.strides)
        view.id = name
        return view

    def __getitem__(self, key: Index | tuple[Index, ...]) -> Tensor:
        """Integers, slices, `...` and None (numpy.newaxis), as in NumPy. IndexError beyond an end.

        >>> from memverify import Plan
        >>> x = Plan("p").tensor("x", (4, 6), "f32")
        >>> x[1:, ::2], x[-1, ..., None]
        (<Tensor x[1:, ::2]: f32[3, 3] strides [6, 2]>, <Tensor x[-1, ..., None]: f32[6, 1] strides [1, 0]>)
        """
        keys = tuple(map(_checked, key if isinstance(key, tuple) else (key,)))
        used = sum(1 for k in keys if k is not None and k is not Ellipsis)
        if used > len(self._fixed()) or keys.count(Ellipsis) > 1:
            raise IndexError(f"too many indices for {self!r}")
        full: list[int | slice | ellipsis | None] = []
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
        return self._view(".T", reversed(self._fixed()), reversed(self.strides))

    def transpose(self, *axes: Numbers) -> Tensor:
        """The axes in another order, all of them; without any, as `T`."""
        if not axes:
            return self.T
        order = [self._axis(axis) for axis in _spread(axes, "an axis")]
        if sorted(order) != list(range(len(self._fixed()))):
            raise ValueError(f"{order} is no order of the axes of {self!r}")
        words = f".transpose({', '.join(map(str, order))})"
        return self._view(words, (self.shape[a] for a in order), (self.strides[a] for a in order))

    def swapaxes(self, one: SupportsIndex, other: SupportsIndex) -> Tensor:
        """These two axes in each other's place."""
        order, a, b = list(range(self.ndim)), self._axis(one), self._axis(other)
        order[a], order[b] = b, a
        return self.transpose(order)

    def squeeze(self, axis: Numbers | None = None) -> Tensor:
        """Without its axes of extent 1, or without these of them."""
        ones = [a for a, extent in enumerate(self._fixed()) if extent == 1]
        gone = ones if axis is None else [self._axis(a) for a in _spread((axis,), "an axis")]
        if not set(gone) <= set(ones):
            raise ValueError(f"{self!r} has more than one element along {gone}")
        kept = [a for a in range(self.ndim) if a not in gone]
        words = f".squeeze({', '.join(map(str, gone))})"
        return self._view(words, (self.shape[a] for a in kept), (self.strides[a] for a in kept))

    def reshape(self, *shape: Numbers) -> Tensor:
        """The same elements in the same order; one extent may be -1. ValueError where that would be a
        copy.

        >>> from memverify import Plan
        >>> x = Plan("p").tensor("x", (4, 6), "f32")
        >>> x.reshape(2, -1, 6).shape, x[:, :3].reshape((2, 2, 3)).strides
        ((2, 2, 6), (12, 6, 1))
        """
        extents = _spread(shape, "an extent")
        known = math.prod(extent for extent in extents if extent != -1)
        if extents.count(-1) == 1 and known and self.size % known == 0:
            extents = tuple(self.size // known if extent == -1 else extent for extent in extents)
        if math.prod(extents) != self.size or min(extents, default=0) < 0:
            raise ValueError(f"{self!r} has not the elements of {extents}")
        strides = _reshaped(self.shape, self.strides, extents)
        if strides is None:
            raise ValueError(f"{self!r} in the shape {extents} would be a copy, not a view")
        return self._view(f".reshape({', '.join(map(str, extents))})", extents, strides)

    def ravel(self) -> Tensor:
        """As `reshape(-1)`: one axis, and ValueError where that would be a copy."""
        return self.reshape(-1)

    def flatten(self) -> Tensor:
        """As `ravel`: unlike NumPy's it is never a copy."""
        return self.reshape(-1)

    def broadcast_to(self, *shape: Numbers) -> Tensor:
        """Extents of 1, and axes put in front, repeated: several elements are then the same bytes."""
        extents = _spread(shape, "an extent")
        own = (1,) * (len(extents) - self.ndim) + self._fixed()
        fits = len(extents) >= self.ndim and min(extents, default=0) >= 0
        if not fits or any(a not in (1, b) for a, b in zip(own, extents)):
            raise ValueError(f"{self!r} cannot be broadcast to {extents}")
        strides = (0,) * (len(extents) - self.ndim) + self.strides
        words = f".broadcast_to({', '.join(map(str, extents))})"
        steps = (s if a == b else 0 for a, b, s in zip(own, extents, strides))
        return self._view(words, extents, steps)


def _checked(key: Index) -> int | slice | ellipsis | None:
    if key is None or key is Ellipsis or isinstance(key, slice):
        return key
    return whole(key, "an index", "a whole number, a slice, ... or None")


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
