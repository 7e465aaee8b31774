#!/usr/bin/env python3
"""fine_plan.py bytes|tiles ACCESSES > plan.json: a safe plan of many small or strided accesses.

bytes: ops that read and write one to seven bytes at odd offsets of 256 storages of 64 KiB.
tiles: C[i,j] = A[i,l] * A[l,j] on 32 matrices of 1024 x 1024 floats, cut into tiles of 64 x 64 (64 runs).
16 serial queues; a storage belongs to one of them.
"""
import random
import sys

QUEUES = 16


def listed(key, items):
    return f'"{key}":[' + ",\n".join(items) + "],\n"


def storages(count, size):
    return listed("storages", (f'{{"id":"s{k}","pool":"hbm","offset":{k * size},"bytes":{size}}}' for k in range(count)))


def op(number, queue, reads, write):
    return f'{{"id":"o{number}","queue":"q{queue}","reads":[{",".join(reads)}],"writes":[{write}]}}'


def fine_bytes(accesses):
    count, size = 256, 65536

    def part(storage):
        offset = random.randrange(size - 8) | 1
        return f'{{"tensor":"t{storage}","offset":{offset},"bytes":{random.choice((1, 1, 2, 3, 7))}}}'

    def ops():
        for number in range(accesses // 2):
            queue = random.randrange(QUEUES)
            read, written = random.sample(range(queue, count, QUEUES), 2)
            yield op(number, queue, [part(read)], part(written))

    tensors = (f'{{"id":"t{k}","storage":"s{k}","offset":0,"bytes":{size}}}' for k in range(count))
    return count, storages(count, size), tensors, ops()


def tiles(accesses):
    count, side, tile = 32, 1024, 64
    many = side // tile

    def matrices():
        for k in range(count):
            yield f'{{"id":"t{k}","storage":"s{k}","offset":0,"dtype":"f32","shape":[{side},{side}]}}'
            for row in range(many):
                for column in range(many):
                    yield (
                        f'{{"id":"t{k}_{row}_{column}","view_of":"t{k}","offset":{4 * tile * (row * side + column)},'
                        f'"dtype":"f32","shape":[{tile},{tile}],"strides":[{side},1]}}'
                    )

    def ops():
        for number in range(accesses // 3):
            queue = random.randrange(QUEUES)
            a, c = random.sample((queue, queue + QUEUES), 2)
            i, j, k = (random.randrange(many) for _ in range(3))
            reads = dict.fromkeys((f'"t{a}_{i}_{k}"', f'"t{a}_{k}_{j}"'))
            yield op(number, queue, reads, f'"t{c}_{i}_{j}"')

    return count, storages(count, 4 * side * side), matrices(), ops()


random.seed(7)
count, placed, tensors, ops = {"bytes": fine_bytes, "tiles": tiles}[sys.argv[1]](int(sys.argv[2]))
names = ",".join(f'"t{k}"' for k in range(count))
queues = (f'{{"id":"q{k}"}}' for k in range(QUEUES))
sys.stdout.write('{"memverify":1,"pools":[{"id":"hbm"}],\n' + listed("queues", queues) + placed)
sys.stdout.write(listed("tensors", tensors) + listed("ops", ops))
sys.stdout.write(f'"inputs":[{names}],"donated":[{names}],"outputs":[]}}\n')
