"""Compare Region::overlaps with numpy.shares_memory on random pairs of strided views.

usage: region_numpy.py REGION_PAIRS_BINARY      exit status 77: numpy is missing, nothing was tested
"""
import random
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: python3 has no numpy")
    sys.exit(77)

PAIRS = 6000
BUFFER = np.zeros(1 << 18, dtype=np.uint8)


def random_view(rng):
    """A view made the way programs make them (slices, transposes, flips), or any strides at all."""
    dtype = np.dtype(rng.choice(["u1", "u2", "f4", "c16"]))
    if rng.random() < 0.5:
        shape = [rng.randint(1, 9) for _ in range(rng.randint(1, 4))]
        begin = rng.randrange(0, 512)
        size = int(np.prod(shape)) * dtype.itemsize
        view = BUFFER[begin:begin + size].view(dtype).reshape(shape)
        view = view[tuple(slice(*sorted(rng.choices(range(n + 1), k=2)), rng.choice([1, 1, 2, 3]))
                          for n in shape)]
        if rng.random() < 0.3:
            view = view[..., ::-1]
        return view.transpose(rng.sample(range(view.ndim), view.ndim))
    shape, strides = [], []
    for _ in range(rng.randint(0, 4)):
        shape.append(rng.randint(0, 12) if rng.random() < 0.1 else rng.randint(1, 12))
        strides.append(rng.choice([1, 1, dtype.itemsize]) * rng.randint(-64, 64))
    back = sum(-s * (n - 1) for n, s in zip(shape, strides) if s < 0 and n > 0)
    begin = back + rng.randrange(0, 2048)
    return np.ndarray(shape, dtype, BUFFER.data, begin, strides)


def describe(view):
    base = view.__array_interface__["data"][0] - BUFFER.__array_interface__["data"][0]
    if view.size == 0:  # numpy may point an empty view anywhere
        base = 0
    dims = " ".join(f"{n} {s}" for n, s in zip(view.shape, view.strides))
    return f"{base} {view.itemsize} {view.ndim} {dims}"


def main():
    rng = random.Random(20240611)
    pairs = [(random_view(rng), random_view(rng)) for _ in range(PAIRS)]
    lines = "".join(f"{describe(a)} {describe(b)}\n" for a, b in pairs)
    answers = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True,
                             check=True).stdout.split()
    assert len(answers) == PAIRS, f"{len(answers)} answers for {PAIRS} pairs"
    shared = 0
    for (a, b), answer in zip(pairs, answers):
        expected = np.shares_memory(a, b)
        shared += expected
        if expected != (answer == "1"):
            sys.exit(f"numpy says {expected}, Region says {answer}:\n {describe(a)}\n {describe(b)}")
    assert PAIRS / 20 < shared < PAIRS / 2, shared
    print(f"{PAIRS} pairs agree, {shared} of them share a byte")


main()
