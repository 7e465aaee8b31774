"""tests/library/examples.py LIBRARY BINARY SOURCE: the hooks of tools/examples that are written in
Python: each is safe as it is, and its planted mistake is found."""

import os
import subprocess
import sys
from pathlib import Path

LIBRARY, BINARY, SOURCE = sys.argv[1:]
EXAMPLES = Path(SOURCE) / "tools" / "examples"
ENVIRONMENT = {**os.environ, "MEMVERIFY_LIBRARY": LIBRARY, "PYTHONPATH": f"{SOURCE}/tools/python",
               "PYTHONDONTWRITEBYTECODE": "1"}


def run(command, code, words, **more):
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, **more)
    assert done.returncode == code and words in done.stdout, (command, done.stdout, done.stderr)
    return done.stdout


table = [EXAMPLES / "buffer_table.py"]
safe, unsafe = run(table, 0, "{"), run([*table, "--by-live-ranges"], 0, "{")
run([BINARY, "-"], 0, "memverify: safe", input=safe)
run([BINARY, "-"], 1, "`score` may write `scores` while `norm` still reads `heads`", input=unsafe)
run([*table, "--mistake"], 2, "")
lines = (EXAMPLES / "buffer_table.py").read_text().splitlines()
assert len(lines) - next(k for k, line in enumerate(lines) if line.startswith("def ")) <= 60

recorder = [EXAMPLES / "stream_recorder.py"]  # By its first line, as its text says.
run(recorder, 0, "memverify: safe")
run([*recorder, "--forget"], 1,
    "`next_forward` may write `next_forward.out` while `all_reduce` still reads `backward.out`")
