"""memverify for Python: is a memory plan safe in every run it allows?

>>> import memverify
>>> plan = memverify.Plan("two queues")
>>> hbm, left, right = plan.pool("hbm"), plan.queue("left"), plan.queue("right")
>>> a = plan.tensor("a", (64, 16), "f32", pool=hbm, offset=0)
>>> b = plan.tensor("b", (64, 16), "f32", pool=hbm, offset=0)
>>> make_a = plan.op("make_a", left, writes=[a], signals=["a_ready"])
>>> use_a = plan.op("use_a", left, reads=[a[:, 4:8].T])
>>> make_b = plan.op("make_b", right, writes=[b], waits=["a_ready"])
>>> report = memverify.verify(plan)
>>> report.verdict, [finding.rule for finding in report.findings]
('unsafe', ['MV101'])
>>> print(report.text.splitlines()[0])
error[MV101]: `make_b` may write `b` while `use_a` still reads `a[:, 4:8].T`

The work is done by libmemverify, which comes with the wheel; nothing else is needed.
"""

from typing import TYPE_CHECKING

from memverify._builder import Op, Plan, Pool, Queue, Storage
from memverify._check import assert_safe, plan, simulate, verify
from memverify._library import Diagnostic, version
from memverify._report import Finding, InputError, Planned, Report
from memverify._svg import arena_svg
from memverify._tensor import Tensor

__version__: str  #: Of the library, which is loaded when it is first needed.

if not TYPE_CHECKING:  # To type checkers this would mean that there is any attribute.

    def __getattr__(name):
        if name == "__version__":
            return version()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Diagnostic",
    "Finding",
    "InputError",
    "Op",
    "Plan",
    "Planned",
    "Pool",
    "Queue",
    "Report",
    "Storage",
    "Tensor",
    "arena_svg",
    "assert_safe",
    "plan",
    "simulate",
    "verify",
    "version",
]
