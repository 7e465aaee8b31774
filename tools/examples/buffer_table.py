#!/usr/bin/env python3
"""From the buffer table of a toy compiler to a plan: the whole emitter is `plan_of`.

    tools/examples/buffer_table.py | memverify -
    tools/examples/buffer_table.py --by-live-ranges | memverify -

The compiler knows, for each value, its address and size, and for each kernel its stream, what it reads
and writes, and which kernels it waits for. With --by-live-ranges it gives `scores` the bytes of
`queries` as soon as the last kernel in the program that reads `queries` has been passed. But that one
runs on another stream.
"""

import argparse
import json

# name, dtype, shape, and for a view what it is a view of and where it starts, in bytes
VALUES = [
    ("queries", "f32", [64, 32], None),
    ("keys", "f32", [64, 32], None),
    ("heads", "f32", [4, 64, 8], ("queries", 0)),
    ("norms", "f32", [64], None),
    ("scores", "f32", [64, 32], None),
]
STRIDES = {"heads": [8, 32, 1]}

# name, stream, reads, writes, waits for
KERNELS = [
    ("project_q", "main", [], ["queries"], []),
    ("norm", "side", ["heads"], ["norms"], ["project_q"]),
    ("project_k", "main", [], ["keys"], []),
    ("score", "main", ["keys"], ["scores"], []),
    ("join", "main", ["scores", "norms"], [], ["norm"]),
]

APART = {"queries": 0, "keys": 8192, "norms": 16384, "scores": 16640}
BY_LIVE_RANGES = {"queries": 0, "keys": 8192, "norms": 16384, "scores": 0}


def plan_of(offsets, values, strides, kernels):
    """The plan, as docs/format.md has it."""
    storages, tensors = [], []
    for name, dtype, shape, view in values:
        tensor = {"id": name, "dtype": dtype, "shape": shape}
        if name in strides:
            tensor["strides"] = strides[name]
        if view:
            tensor |= {"view_of": view[0], "offset": view[1]}
        else:
            elements = 1
            for extent in shape:
                elements *= extent
            place = {"pool": "arena", "offset": offsets[name], "bytes": 4 * elements}
            storages.append({"id": name} | place)
            tensor["storage"] = name
        tensors.append(tensor)
    ops = [
        {"id": name, "queue": stream, "reads": reads, "writes": writes, "after": after}
        for name, stream, reads, writes, after in kernels
    ]
    streams = sorted({stream for _, stream, *_ in kernels})
    return {
        "memverify": 1,
        "name": "toy compiler",
        "pools": [{"id": "arena"}],
        "queues": [{"id": stream} for stream in streams],
        "storages": storages,
        "tensors": tensors,
        "ops": ops,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--by-live-ranges", action="store_true", help="the mistake")
    places = BY_LIVE_RANGES if parser.parse_args().by_live_ranges else APART
    print(json.dumps(plan_of(places, VALUES, STRIDES, KERNELS), indent=1))
