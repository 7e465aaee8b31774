#!/usr/bin/env python3
"""A planner for `memverify fuzz` to try: first fit by op numbers, as planners for one queue do.

  memverify fuzz --planner 'tools/examples/planner.py' --persistent --cases 200

One line of JSON in, a graph; one line out, the plan, or {"refused": "why"}. Put your own planner in the
place of `place`. This one counts the readers of views, too, but knows nothing of queues, conditions and
iterations: memverify fuzz shows what comes of that. Single files: planner.py IN OUT.
"""
import json
import sys

ELEMENT_BITS = {"i4": 4, "u4": 4, "f4": 4, "i8": 8, "u8": 8, "bool": 8, "f8": 8, "i16": 16, "u16": 16,
                "f16": 16, "bf16": 16, "i32": 32, "u32": 32, "f32": 32, "i64": 64, "u64": 64, "f64": 64,
                "c64": 64, "c128": 128}
FOREVER = 1 << 40


def bytes_of(tensor):
    """Of a tensor without strides whose sizes are numbers."""
    if "bytes" in tensor:
        return tensor["bytes"]
    count = 1
    for size in tensor["shape"]:
        count *= size
    return (count * ELEMENT_BITS[tensor["dtype"]] + 7) // 8


def live_ranges(graph, root_of):
    """From the first to the last op that touches the root or a view of it, by their numbers."""
    ranges = {}

    def touch(entry, at):
        root = root_of[entry if isinstance(entry, str) else entry["tensor"]]
        first, last = ranges.get(root, (at, at))
        ranges[root] = (min(first, at), max(last, at))

    for number, op in enumerate(graph["ops"]):
        for key in ("reads", "writes", "accumulates", "clobbers"):
            for entry in op.get(key, []):
                if isinstance(entry, str) or "tensor" in entry:
                    touch(entry, number)
    for entry in graph.get("inputs", []) + graph.get("constants", []):
        touch(entry, -1)
        if entry not in graph.get("donated", []):
            touch(entry, FOREVER)
    for entry in graph.get("outputs", []):
        touch(entry, FOREVER)
    return ranges


def place(graph):
    """Gives every tensor without a place a storage, each slot the lowest bytes that are free."""
    tensors = {tensor["id"]: tensor for tensor in graph["tensors"]}
    root_of = {}
    for name in tensors:
        root = name
        while "view_of" in tensors[root]:
            root = tensors[root]["view_of"]
        root_of[name] = root
    ranges = live_ranges(graph, root_of)
    pools = {pool["id"]: pool for pool in graph["pools"]}
    taken = [(s["pool"], s["offset"], s["offset"] + s["bytes"], (-1, FOREVER))
             for s in graph.get("storages", [])]
    names = {storage["id"] for storage in graph.get("storages", [])}
    for tensor in graph["tensors"]:
        if "storage" in tensor or "view_of" in tensor:
            continue
        pool = tensor.pop("pool", graph["pools"][0]["id"])
        pool = pool if isinstance(pool, str) else pool[0]
        family = [t.get("alignment", 1) for t in graph["tensors"] if root_of[t["id"]] == tensor["id"]]
        alignment = max(family + [pools[pool].get("alignment", 1)])
        size, live = bytes_of(tensor), ranges.get(tensor["id"], (-1, -1))
        offsets = []
        for _ in range(tensor.pop("slots", 1)):
            offset, moved = 0, True
            while moved:
                moved = False
                for other, begin, end, alive in taken:
                    meets = alive[0] <= live[1] and live[0] <= alive[1]
                    if other == pool and meets and begin < offset + size and offset < end:
                        offset, moved = -(-end // alignment) * alignment, True
            offsets.append(offset)
            taken.append((pool, offset, offset + size, live if len(offsets) == 1 else (-1, FOREVER)))
        name = tensor["id"]
        while name in names:
            name += "'"
        names.add(name)
        graph.setdefault("storages", []).append(
            {"id": name, "pool": pool, "offset": offsets[0] if len(offsets) == 1 else offsets, "bytes": size})
        tensor["storage"] = name
    return graph


def answer(text):
    """The plan for a graph, as text; or why there is none."""
    try:
        return json.dumps(place(json.loads(text)))
    except (KeyError, TypeError, ValueError) as error:
        return json.dumps({"refused": f"{type(error).__name__}: {error}"})


def main():
    if len(sys.argv) == 3:
        with open(sys.argv[1]) as graph, open(sys.argv[2], "w") as plan:
            plan.write(answer(graph.read()))
        return
    for line in sys.stdin:
        print(answer(line), flush=True)


main()
