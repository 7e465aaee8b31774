"""tests/library/use_builder.py: plans that the installed package builds: views as NumPy has them, and
what is refused. With NumPy, views of all kinds are compared with its own."""

import json
import random

import memverify


def refuses(kind, words, what):
    try:
        what()
    except kind as error:
        assert words in str(error), error
        return
    assert False, f"no {kind.__name__}: {words}"


class Index:
    """A whole number, as those of NumPy are: no int."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def tolist(self):
        return self.value


class Array:
    shape, dtype = (2, 3), "float64"


def check_views():
    plan = memverify.Plan("views")
    t = plan.tensor_like("t", Array())
    assert (t.shape, t.dtype, t.strides, t.nbytes) == ((2, 3), "f64", (3, 1), 48)
    assert t[:, None].broadcast_to(2, 4, 3).strides == t[:, None].broadcast_to((2, 4, 3)).strides == (3, 0, 1)
    assert t.transpose(1, 0).shape == t.transpose((-1, 0)).shape == t.swapaxes(0, -1).shape == (3, 2)
    assert t.reshape(-1).shape == t.reshape([6]).shape == t.ravel().shape == t.flatten().shape == (6,)
    assert t[None, :, :1].squeeze().shape == (2,) and t[None, :, :1].squeeze(-1).shape == (1, 2)
    assert t[Index(1)].id == "t[1]" and t[Index(-1) :].shape == (1, 3)
    assert len(t) == 2 and [row.id for row in t] == ["t[0]", "t[1]"] and not list(t[2:]) and t[2:]
    for words, what in (
        ("would be a copy", lambda: t.T.reshape(6)),
        ("would be a copy", lambda: t.T.ravel()),
        ("has not the elements", lambda: t.reshape(4, 2)),
        ("has not the elements", lambda: t.reshape(-1, -1)),
        ("cannot be broadcast", lambda: t.broadcast_to(3, 3)),
        ("is no order", lambda: t.transpose(0, 0)),
        ("has no axis 3", lambda: t.transpose(3, 0)),
        ("has no axis -3", lambda: t.swapaxes(0, -3)),
        ("more than one element along [1]", lambda: t.squeeze(1)),
    ):
        refuses(ValueError, words, what)
    refuses(IndexError, "is no index", lambda: t[2])
    refuses(IndexError, "too many", lambda: t[0, 0, 0])
    for key in (True, [0, 1], 1.0, "0"):
        refuses(TypeError, "a whole number, a slice, ... or None", lambda key=key: t[key])
    refuses(TypeError, "an extent is a whole number", lambda: t.reshape("6"))
    refuses(TypeError, "an extent is a whole number", lambda: t.reshape(True, 6))
    refuses(TypeError, "no length", lambda: len(t[0, 0]))
    refuses(TypeError, "no length", lambda: list(t[0, 0]))


def check_names():
    plan, other = memverify.Plan("names"), memverify.Plan("other")
    pool = plan.pool("p")
    a = plan.tensor("a", (4, 6), "f32", pool=pool, offset=0)
    b = plan.tensor("b", (4, 6), "f32", pool=pool, offset=96)
    c = plan.tensor("c", (4, 6), "i32", pool=pool, offset=192)
    ring = plan.tensor("ring", (4,), "u8", pool=pool, offset=(288, Index(292)))
    plan.op("w", reads=[a[1].named("row"), a[1:][0].named("row"), a.named("a"), ring])
    for twin in (a[2].named("row"), b[1].named("row"), c[1].named("row"), a.named("b")):
        refuses(ValueError, f"two tensors have the name `{twin.id}`", lambda twin=twin: plan.op("x", reads=[twin]))
    refuses(ValueError, "belongs to another plan", lambda: other.op("x", reads=[a]))
    refuses(ValueError, "there is no dtype", lambda: plan.tensor("u", (1,), "f31"))
    assert [op["id"] for op in plan.document()["ops"]] == ["w"]
    assert plan.document()["storages"][-1] == {"id": "ring", "pool": "p", "offset": [288, 292], "bytes": 4}


def check_arguments():
    """Lists are lists; parts may be given by their ids; numbers need not be Python's."""
    plan = memverify.Plan("arguments", iterations=Index(2))
    pool, queue = plan.pool("p", bytes=Index(4096)), plan.queue("q")
    storage = plan.storage("s", "p", Index(0), Index(64))
    a = plan.tensor("a", (Index(4), 4), "f32", storage=storage, offset=Index(0), alignment=Index(4))
    plan.tensor("b", [16], "f32", pool="p", offset=64)
    made = plan.op("make", "q", writes=[a, "b"], signals=["ready"], duration=(1, Index(2)))
    plan.op("use", queue, reads=["a", {"tensor": a, "offset": 0, "bytes": 4}], waits=["ready"], after=["make", made])
    plan.op("fence", kind="barrier", queues=[queue], after=[{"op": made, "distance": 1}])
    plan.outputs("b", {"tensor": a, "from": made})
    assert json.loads(plan.json()) == plan.document()
    assert memverify.verify(plan, max_findings=Index(3)).is_safe
    for key in ("reads", "writes", "accumulates", "clobbers", "in_place", "after", "waits", "signals"):
        for one in ("ready", a, made, {"event": "ready"}, None):
            refuses(TypeError, f"`{key}` is a list", lambda: plan.op("x", queue, **{key: one}))
    refuses(TypeError, "`in_place` is a list", lambda: plan.op("x", queue, in_place=(a, a)))
    for words, what in (
        ("is not a Queue", lambda: plan.op("x", pool)),
        ("is not a Pool", lambda: plan.storage("x", queue, 0, 4)),
        ("is not a Storage", lambda: plan.tensor("x", (4,), "u8", storage=pool)),
        ("is not a tensor", lambda: plan.op("x", queue, reads=[made])),
        ("is not a tensor", lambda: plan.outputs([a])),
        ("is not a Op", lambda: plan.op("x", queue, after=[3])),
        ("an entry of `waits`", lambda: plan.op("x", queue, waits=[made])),
        ("a shape is a tuple", lambda: plan.tensor("x", 4, "u8")),
        ("a shape is a tuple", lambda: plan.tensor("x", "seq", "u8")),
        ("an entry of a shape is a whole number", lambda: plan.tensor("x", (4.5,), "u8")),
        ("an offset is a whole number", lambda: plan.storage("x", pool, 1.5, 4)),
        ("a name is a str", lambda: plan.queue(3)),
        ("depends on symbols", lambda: plan.tensor("x", ("n", 4), "u8", storage=storage)[0]),
        ("depends on symbols", lambda: plan.tensor("x", ("n", 4), "u8", pool=pool, offset=0)),
    ):
        refuses(TypeError, words, what)
    for words, what in (
        ("<Tensor x: f32[3] strides [-1]> has bytes before",
         lambda: plan.tensor("x", (3,), "f32", pool=pool, offset=0, strides=(-1,))),
        ("an extent below 0", lambda: plan.tensor("x", (-3,), "f32", pool=pool, offset=0)),
        ("`x` has 2 extents and 1 strides", lambda: plan.tensor("x", (2, 3), "f32", strides=(1,))),
    ):
        refuses(ValueError, words, what)


def check_half_bytes():
    plan = memverify.Plan("half bytes")
    half = plan.tensor("half", (8,), "i4", pool=plan.pool("p"), offset=0)
    plan.op("r", reads=[half[1:][1:]])
    views = [t for t in plan.document()["tensors"] if "view_of" in t]
    assert views == [
        {"id": "half[1:][1:]", "view_of": "half", "offset": 1, "dtype": "i4", "shape": [6]}], views
    refuses(ValueError, "half[1:][2:]: i4[5] strides [1]> does not start", lambda: plan.use(half[1:][2:]))


def random_view(draw):
    """What to do to a view, as a function."""
    kind = draw.choice(("index", "transpose", "reshape", "broadcast", "swap", "squeeze"))
    numbers = [draw.choice((None, *range(-6, 7))) for _ in range(4)]
    step = draw.choice((None, 1, 2, -1, -2))
    keys = [slice(numbers[0], numbers[1], step), numbers[2], slice(None), Ellipsis, numbers[3]]
    key = tuple(draw.sample(keys, draw.randint(1, 3)))
    shape = tuple(draw.choice((1, 2, 3, 4, 6, -1)) for _ in range(draw.randint(1, 3)))
    axes = tuple(draw.sample(range(3), draw.randint(1, 3)))
    return {
        "index": lambda x, _: x[key],
        "transpose": lambda x, _: x.transpose(axes),
        "reshape": lambda x, _: x.reshape(shape),
        "broadcast": lambda x, to: to(x, shape),
        "swap": lambda x, _: x.swapaxes(axes[0], -1),
        "squeeze": lambda x, _: x.squeeze(),
    }[kind]


def check_numpy(count=1500):
    try:
        import numpy
    except ImportError:
        print("NumPy is not installed: views were not compared with its own")
        return
    draw, same = random.Random(7), 0
    for _ in range(count):
        shape = tuple(draw.choice((1, 2, 3, 4)) for _ in range(draw.randint(1, 3)))
        whole = numpy.zeros(shape, numpy.float32)
        array, tensor = whole, memverify.Plan("p").tensor("x", numpy.array(shape), whole.dtype)
        for _ in range(draw.randint(1, 4)):
            view = random_view(draw)
            try:
                wanted = view(array, numpy.broadcast_to)
                if not isinstance(wanted, numpy.ndarray):  # NumPy gives the number itself.
                    break
                if wanted.size and not numpy.shares_memory(wanted, whole):
                    raise ValueError("a copy")
            except (ValueError, IndexError):
                try:
                    view(tensor, memverify.Tensor.broadcast_to)
                except (ValueError, IndexError):
                    continue
                assert False, (tensor, array.shape)
            array, tensor = wanted, view(tensor, memverify.Tensor.broadcast_to)
            assert array.shape == tensor.shape, (array.shape, tensor)
            if array.size:
                start = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
                steps = [(s, 4 * t) for s, t, e in zip(array.strides, tensor.strides, array.shape) if e > 1]
                assert start == 4 * tensor.start and all(s == t for s, t in steps), (array.strides, tensor)
                same += 1
    assert same > count, same


for check in (check_views, check_names, check_arguments, check_half_bytes, check_numpy):
    check()
