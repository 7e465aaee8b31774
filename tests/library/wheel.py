"""tests/library/wheel.py LIBRARY SOURCE: builds the wheel, installs it where nothing else is, and
uses it: examples in the documentation, a plan of each verdict, bad input, pytest, mypy."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

LIBRARY, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PACKAGE = SOURCE / "tools" / "python" / "memverify"

TEST = """
import memverify
import pytest

def plan(waits):
    p = memverify.Plan("in a test")
    pool, one, two = p.pool("hbm"), p.queue("one"), p.queue("two")
    x = p.tensor("x", (4,), "u8", pool=pool, offset=0)
    p.op("write", one, writes=[x], signals=["written"])
    p.op("read", two, reads=[x], waits=waits)
    return p

memverify.verify(plan(["written"]))

def test_good():
    memverify.assert_safe(plan(["written"]))

def test_bad():
    memverify.assert_safe(plan([]))

def test_wrong():
    with pytest.raises(memverify.InputError):
        memverify.simulate("{}")

def test_planned():
    p = memverify.Plan("graph")
    p.op("w", p.queue("q"), writes=[p.tensor("x", (4,), "u8", pool=p.pool("p"))])
    memverify.plan(p)
"""
# What pytest-xdist does with reports: a worker sends them, the controller, which runs no test, gets them.
CONFTEST = """
import json, os, pathlib

SENT = pathlib.Path("sent.json")
if os.environ["ROLE"] == "worker":
    sent = []

    def pytest_configure(config):
        config.workerinput = {"workerid": "gw0"}

    def pytest_runtest_logreport(report):
        sent.append(report._to_json())

    def pytest_unconfigure():
        SENT.write_text(json.dumps(sent))

if os.environ["ROLE"] == "controller":
    from _pytest.reports import TestReport

    def pytest_collection(session):
        session.items = []
        return []

    def pytest_runtestloop(session):
        for data in json.loads(SENT.read_text()):
            session.config.hook.pytest_runtest_logreport(report=TestReport._from_json(data))
        return True
"""


def install(wheel: Path, folder: Path) -> Path:
    """What pip does for such a wheel, for machines that have no pip. The Python to run."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    where = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", "-q", wheel]
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode == 0:
        subprocess.run(pip, check=True)
    else:
        zipfile.ZipFile(wheel).extractall(where)
    return python


def check_pytest(folder: Path, site: Path) -> None:
    """The plugin, by the system's pytest if there is one."""
    if subprocess.run([sys.executable, "-c", "import pytest"]).returncode != 0:
        print("pytest is not installed: the plugin was not tried")
        return
    (folder / "test_plan.py").write_text(TEST)
    (folder / "conftest.py").write_text(CONFTEST)

    def pytest(role: str, *options: str, code: int = 1, **variables: object) -> tuple[str, list[tuple[str, ...]]]:
        """The output, and what is in the report, if there is one."""
        report = folder / "new" / f"{role}.json"
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": site, "ROLE": role, **variables}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *options]
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert run.returncode == code, run.stdout + run.stderr
        results = json.loads(report.read_text())["results"] if report.exists() else []
        for entry in results:
            assert entry["report"]["verdict"] == entry["verdict"], entry
        return run.stdout, [(entry["test"], entry["call"], entry["verdict"]) for entry in results]

    expected = [
        ("test_plan.py::test_good", "verify", "safe"), ("test_plan.py::test_bad", "verify", "unsafe"),
        ("test_plan.py::test_wrong", "simulate", "error"), ("test_plan.py::test_planned", "plan", "safe")]
    out, said = pytest("alone", "--memverify-report=new/alone.json", "test_plan.py")
    assert "1 failed, 3 passed" in out and "error[MV102]: `read` may read `x`" in out, out
    assert "memverify: 1 error, 3 safe, 1 unsafe; see" in out, out
    assert said == [("test_plan.py", "verify", "safe"), *expected], said
    pytest("worker", "--memverify-report=new/worker.json", "test_plan.py")
    assert not (folder / "new" / "worker.json").exists()
    said = pytest("controller", "--memverify-report=new/controller.json")[1]
    assert said == expected, said
    # Without the wheel there is no entry point; with it the option for that does no harm. The library
    # is not loaded before a plan needs it.
    (folder / "test_other.py").write_text("def test(): pass")
    elsewhere = {"PYTHONPATH": PACKAGE.parent, "MEMVERIFY_LIBRARY": "/nowhere/libmemverify.so"}
    pytest("none", "-p", "memverify.pytest_plugin", "--memverify-report=new/none.json", "test_other.py", code=0, **elsewhere)
    assert (folder / "new" / "none.json").exists()
    pytest("none", "-p", "memverify.pytest_plugin", "test_other.py", code=0)


def check_types() -> None:
    if not shutil.which("mypy"):
        print("mypy is not installed: the types were not checked")
        return
    command = ["mypy", "--strict", "--cache-dir", os.devnull, "memverify"]
    run = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, SOURCE / "tools/python/build_wheel", LIBRARY, "-o", folder]
        wheel = Path(subprocess.run(build, check=True, capture_output=True, text=True).stdout.strip())
        build[2] = SOURCE / "README.md"
        if shutil.which("strip"):  # What is no library makes no wheel, and leaves the one that was there.
            before = wheel.read_bytes()
            refused = subprocess.run(build, capture_output=True, text=True)
            assert refused.returncode == 1 and "Traceback" not in refused.stderr, refused.stderr
            assert os.listdir(folder) == [wheel.name] and wheel.read_bytes() == before
        python = install(wheel, folder / "venv")
        site = next((folder / "venv" / "lib").glob("python*/site-packages"))
        subprocess.run([python, SOURCE / "tests/library/use_wheel.py", SOURCE], check=True, cwd=folder)
        packages = {**os.environ, "PYTHONPATH": str(site)}  # And NumPy, if it is there.
        subprocess.run([sys.executable, SOURCE / "tests/library/use_builder.py"], check=True, cwd=folder, env=packages)
        check_pytest(folder, site)
    check_types()


main()
