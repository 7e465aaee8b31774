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

def plan(waits):
    p = memverify.Plan("in a test")
    pool, one, two = p.pool("hbm"), p.queue("one"), p.queue("two")
    x = p.tensor("x", (4,), "u8", pool=pool, offset=0)
    p.op("write", one, writes=[x], signals=["written"])
    p.op("read", two, reads=[x], waits=waits)
    return p

def test_good():
    memverify.assert_safe(plan(["written"]))

def test_bad():
    memverify.assert_safe(plan([]))
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
    report = folder / "report.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--memverify-report={report}", "test_plan.py"]
    run = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True)
    assert run.returncode == 1 and "1 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert "error[MV102]: `read` may read `x`" in run.stdout, run.stdout
    assert "memverify: 1 safe, 1 unsafe; see" in run.stdout, run.stdout
    results = json.loads(report.read_text())["results"]
    assert [(r["test"], r["verdict"]) for r in results] == [
        ("test_plan.py::test_good", "safe"), ("test_plan.py::test_bad", "unsafe")]


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
        python = install(wheel, folder / "venv")
        site = next((folder / "venv" / "lib").glob("python*/site-packages"))
        subprocess.run([python, SOURCE / "tests/library/use_wheel.py", SOURCE], check=True, cwd=folder)
        check_pytest(folder, site)
    check_types()


main()
