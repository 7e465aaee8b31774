"""tests/library/use_wheel.py SOURCE: what the installed package does, and its examples."""

import doctest
import json
import pathlib
import sys

import memverify
from memverify import _builder, _check, _svg

assert "site-packages" in memverify.__file__, memverify.__file__
for module in (memverify, _builder, _check, _svg):
    assert doctest.testmod(module).failed == 0
corpus = pathlib.Path(sys.argv[1]) / "corpus" / "readme"
safe, unsafe = (corpus / f"two_branches.{word}.json" for word in ("safe", "unsafe"))

report = memverify.verify(unsafe)
assert (report.verdict, report.findings[0].rule) == ("unsafe", "MV101")
assert report.findings[0].witness[-1] == "start make_b"
html = report._repr_html_()
assert html.count("<rect") == 6 and "error[MV101]" in html
memverify.assert_safe(safe)
memverify.assert_safe(json.loads(safe.read_text()))
memverify.assert_safe(safe.read_text(), engine="all")
try:
    memverify.assert_safe(unsafe)
except AssertionError as error:
    assert str(error).startswith("error[MV101]: `make_b` may write `b`")
else:
    assert False, "assert_safe let an unsafe plan pass"

counted = memverify.simulate(unsafe, count=True)
assert counted.verdict == "unsafe" and int(counted.data["stats"]["failing"]) > 0

graph = memverify.Plan("views")
hbm, q = graph.pool("hbm"), graph.queue("q")
x = graph.tensor("x", (8, 8), "float32", pool=hbm)
y = graph.tensor("y", (8, 8), "float32", pool=hbm)
graph.op("fill", q, writes=[x])
graph.op("use", q, reads=[x[::2, 1:].T], writes=[y[:4]])
graph.op("sum", q, reads=[x[::-1][0], y[:4]])
planned = memverify.plan(graph)
# x[:, 0] and y[4:] hold nothing that is read.
assert planned.verdict == "safe" and planned.peak_bytes == {"hbm": 380}, planned.text
assert memverify.verify(planned.plan).is_safe and planned._repr_html_().count("<rect") == 2
assert {t["id"] for t in graph.document()["tensors"]} >= {"x[::2, 1:]", "x[::2, 1:].T", "x[::-1][0]"}
small = memverify.plan(graph, capacity=100)
assert small.verdict == "unsafe" and "too small" in small.text

for bad, words in (({"pools": 1}, "pools"), (graph, "no storage")):
    try:
        memverify.verify(bad)
    except memverify.InputError as error:
        assert error.errors[0].line >= 1 and words in str(error), error
    else:
        assert False, bad
try:
    memverify.verify(safe, engine="nobody")
except memverify.InputError as error:
    assert error.errors[0].id == "option.engine"
else:
    assert False


def refuses(kind, what):
    try:
        what()
    except kind:
        return
    assert False, f"no {kind.__name__}"


class Array:
    shape, dtype = (2, 3), "float64"


other = memverify.Plan("other")
t = other.tensor_like("t", Array())
assert (t.shape, t.dtype, t.strides, t.nbytes) == ((2, 3), "f64", (3, 1), 48)
assert t[:, None].broadcast_to(2, 4, 3).strides == (3, 0, 1)
assert t.transpose(1, 0).shape == (3, 2) and t.reshape(-1).shape == (6,)
refuses(ValueError, lambda: t.T.reshape(6))
refuses(ValueError, lambda: t.reshape(4, 2))
refuses(ValueError, lambda: t.broadcast_to(3, 3))
refuses(ValueError, lambda: t.transpose(0, 0))
refuses(IndexError, lambda: t[2])
refuses(IndexError, lambda: t[0, 0, 0])
refuses(ValueError, lambda: other.tensor("u", (1,), "f31"))
refuses(ValueError, lambda: graph.op("foreign", q, reads=[t]))
refuses(ValueError, lambda: other.op("twins", reads=[t[0].named("v"), t[1].named("v")]))
half = other.tensor("half", (4,), "i4")
refuses(ValueError, lambda: other.use(half[1:]))
