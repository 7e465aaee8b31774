"""tests/library/use_wheel.py SOURCE: what the installed package does, and its examples."""

import copy
import doctest
import json
import os
import pathlib
import pickle
import signal
import sys
import tempfile
import threading
import time
import xml.dom.minidom

import memverify
from memverify import _check, _library, _svg, _tensor

assert "site-packages" in memverify.__file__, memverify.__file__
assert _library._library.cache_info().currsize == 0, "loaded before it was needed"
assert memverify.__version__ == memverify.version()
for module in (memverify, _tensor, _check, _svg):
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


def input_error(what, *more, **options):
    try:
        what(*more, **options)
    except memverify.InputError as error:
        return error
    assert False, (what, more, "raised no InputError")


error = input_error(memverify.verify, safe, engine="nobody")
assert error.errors[0].id == "option.engine"
for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
    assert (str(other), other.errors) == (str(error), error.errors)
for whole in (report, planned):
    other = pickle.loads(pickle.dumps(whole))
    assert vars(other) == vars(whole) and other._repr_html_() == whole._repr_html_()

# Text that is no UTF-8, in files, names and strings; and no text at all.
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "bad.json").write_bytes(b'{"memverify": 1, "name": "\xff"}')
    assert input_error(memverify.verify, folder / "bad.json").errors[0].id == "json.encoding"
    (folder / "bom.json").write_bytes(b"\xef\xbb\xbf" + unsafe.read_bytes())
    marked = memverify.verify(folder / "bom.json")
    assert marked.verdict == "unsafe" and marked._repr_html_().count("<rect") == 6
    odd = os.path.join(os.fsencode(name), b"\xff.json")
    pathlib.Path(os.fsdecode(odd)).write_bytes(safe.read_bytes())
    memverify.assert_safe(os.fsdecode(odd))
assert memverify.verify("\ufeff" + unsafe.read_text()).verdict == "unsafe"
for text in ("", " \n", '{"name": "\udc80"}', '{"name": "\ud800"}', {"name": "\ud800"}):
    input_error(memverify.verify, text)
input_error(memverify.verify, memverify.Plan("\ud800"))
for kind, wrong in ((OSError, "/nowhere/plan.json"), (TypeError, b"{}"), (TypeError, {"ops": {1}})):
    try:
        memverify.verify(wrong)
    except kind:
        pass
    else:
        assert False, wrong

# Control characters have no place in XML. What is not drawn is named.
odd = memverify.Plan("\x01")
pool, one = odd.pool("p\x02<"), odd.queue("q")
odd.op("w", one, writes=[odd.tensor("t\x1b", (4,), "u8", pool=pool, offset=0)])
odd.storage("spare", pool, 64, 64)
ring = odd.tensor("ring", (4,), "u8", storage=odd.storage("ring", pool, [128, 192], 64))
odd.op("r", one, writes=[ring])
drawn = xml.dom.minidom.parseString(odd._repr_svg_())
assert len(drawn.getElementsByTagName("rect")) == 1
assert "without ring (address or size not fixed), spare (not used)" in odd._repr_svg_()
assert " B<" not in _svg.arena_svg({"pools": [{"id": "p"}], "ops": []})

# Ctrl-C is heard while the library searches; other threads call it as they are.
many = memverify.Plan("many orders")
pool, queues = many.pool("p"), [many.queue(f"q{k}") for k in range(8)]
x = many.tensor("x", (4,), "u8", pool=pool, offset=0)
many.inputs(x)
for k in range(64):
    many.op(f"read {k}", queues[k % 8], reads=[x])
begin = time.monotonic()
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    memverify.simulate(many, max_seconds=20, threads=1)
except KeyboardInterrupt:
    assert time.monotonic() - begin < 10
else:
    assert False, "Ctrl-C was not heard"
verdicts = []
thread = threading.Thread(target=lambda: verdicts.append(memverify.verify(many).verdict))
thread.start()
thread.join()
assert verdicts == ["safe"]
assert memverify.simulate(many, max_states=1000, threads=1).verdict == "unknown"
