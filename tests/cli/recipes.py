#!/usr/bin/env python3
"""Runs the Python of docs/recipes.md on small inputs and verifies the plans.

  recipes.py BINARY ROOT
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

IREE = """
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  stream.cmd.execute await(%0) => with(%1 as %arg1: !stream.resource<external>{%c64}) {
    stream.cmd.dispatch @a::@first[%c0] {
      ro %arg1[%c0 for %c64] : !stream.resource<external>{%c64},
      wo %arg2[%c0 for %c64] : !stream.resource<transient>{%c128}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @b::@left {
        ro %arg2[%c0 for %c64] : !stream.resource<transient>{%c128},
        wo %arg3[%c0 for %c64] : !stream.resource<external>{%c64}
      }
      stream.cmd.dispatch @b::@right {
        ro %arg2[%c0 for %c64] : !stream.resource<transient>{%c128},
        wo %arg2[%c64 for %c64] : !stream.resource<transient>{%c128}
      }
    }
    stream.cmd.dispatch @c::@last {
      ro %arg2[%c64 for %c64] : !stream.resource<transient>{%c128},
      rw %arg3[%c0 for %c64] : !stream.resource<external>{%c64}
    }
  } => !stream.timepoint
"""
PACK = """
  %c640 = arith.constant 640 : index
  %c64 = arith.constant 64 : index
  %5:3 = stream.resource.pack slices({ [0, 3] = %c640, [1, 2] = %c64, [3, 5] = %c640 }) : index
"""
SESSION = ["value x kPreExisting - 64", "value w kAllocateStatically - 64", "value a kAllocate - 64",
           "value b kAllocate - 64", "value c kReuse a 64", "value y kAllocateOutput - 64",
           "node one 0 x,w a", "node two 0 a b", "node three 0 b c", "node four 0 c y"]
LAYERS = {"Layers": [
    {"Name": "one", "Inputs": [{"Name": "x", "Dimensions": [1, 16], "Format/Datatype": "Row major linear FP32"}],
     "Outputs": [{"Name": "a", "Dimensions": [1, 16], "Format/Datatype": "Row major linear FP16 format"}]},
    {"Name": "two", "Inputs": [{"Name": "a", "Dimensions": [1, 16], "Format/Datatype": "Row major linear FP16 format"}],
     "Outputs": [{"Name": "y", "Dimensions": [1, 16], "Format/Datatype": "Row major Int8 format"}]}],
    "Bindings": ["x", "y"]}


class Checker:
    def __init__(self, binary):
        self.binary, self.problems = binary, []

    def run(self, *arguments):
        return subprocess.run([self.binary, *arguments], text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    def expect(self, what, plan, wanted):
        pathlib.Path("plan.json").write_text(json.dumps(plan))
        found = {0: "safe", 1: "unsafe", 3: "unknown"}.get(self.run("plan.json").returncode, "bad input")
        if found != wanted:
            self.problems.append(f"{what}: {found}, not {wanted}\n" + self.run("plan.json").stdout)


def check(recipes, checker):
    home = {}
    exec(recipes["home-made"] + recipes["home-made use"], home)
    plan = json.loads(pathlib.Path("plan.json").read_text())
    checker.expect("home-made", plan, "safe")
    plan["ops"] = [op for op in plan["ops"] if op["id"] != "wait3"]
    checker.expect("home-made without a wait", plan, "unsafe")

    iree = {}
    exec(recipes["iree"], iree)
    plan = iree["plan_of"](IREE)
    checker.expect("iree", plan, "safe")
    checker.expect("iree, clashing", iree["plan_of"](IREE.replace("wo %arg3", "wo %arg2")), "unsafe")
    if [op["id"] for op in plan["ops"]] != ["a::@first#0", "b::@left#1", "b::@right#2", "c::@last#3"]:
        checker.problems.append(f"iree: {plan['ops']}")
    pack = {}
    exec(recipes["iree pack"] + recipes["tvm"], pack)
    pack["write_ranges"](pack["ranges_of"](PACK), "ranges.csv")
    made = checker.run("plan", "ranges.csv", "-o", "placed.csv")
    if "peak 1280 bytes" not in made.stdout:
        checker.problems.append("iree pack: " + made.stdout)

    session = {}
    exec(recipes["onnxruntime"], session)
    checker.expect("onnxruntime", session["plan_of"](SESSION), "safe")
    early = [line.replace("node three 0 b c", "node three 0 a,b c") for line in SESSION]
    checker.expect("onnxruntime, in place", session["plan_of"](early), "unsafe")

    engine = {}
    exec(recipes["tensorrt"], engine)
    pathlib.Path("layers.json").write_text(json.dumps(LAYERS))
    pathlib.Path("graph.json").write_text(json.dumps(engine["graph_of"]("layers.json")))
    made = checker.run("plan", "graph.json", "-o", "placed.json")
    if made.returncode or "no placement needs less than 112 bytes" not in made.stdout and "peak 112 bytes" not in made.stdout:
        checker.problems.append("tensorrt: " + made.stdout)


def main():
    text = (pathlib.Path(sys.argv[2]) / "docs/recipes.md").read_text()
    recipes = dict(re.findall(r"<!-- recipe: (.*?) -->\n```python\n(.*?)```", text, re.DOTALL))
    checker = Checker(os.path.abspath(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check(recipes, checker)
        os.chdir("/")
    print("\n".join(checker.problems) or f"{len(recipes)} recipes work")
    sys.exit(1 if checker.problems else 0)


main()
