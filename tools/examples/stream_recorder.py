#!/usr/bin/env python3
"""From the calls of a program to a plan: streams, events, an allocator that caches, record_stream.

    export PYTHONPATH=tools/python MEMVERIFY_LIBRARY=build/release/libmemverify.so.0
    tools/examples/stream_recorder.py [--forget]

With the wheel installed the last line is enough. The program has the shape of those of PyTorch: a
tensor belongs to the stream it was made on, and its block goes back to that stream's cache when it is
dropped. What still runs on another stream is nothing the allocator knows of, unless record_stream
tells it. With --forget the program does not.
"""

from __future__ import annotations

import argparse
import sys

import memverify


class Recorder:
    """Stands in for the runtime, and writes down what it is asked for."""

    def __init__(self) -> None:
        self.plan = memverify.Plan("recorded")
        self.pool = self.plan.pool("cuda")
        self.end = 0  #: Of the memory that was taken so far.
        self.cached: list[Block] = []
        self.count = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def block(self, stream: Stream, nbytes: int) -> Block:
        """From the cache of the stream, if it has one that is large enough and not in use."""
        for block in self.cached:
            if block.stream is stream and block.nbytes >= nbytes:
                self.cached.remove(block)
                for event in block.pending:  # The allocator asks before it hands out: it has happened.
                    name = f"reuse {self.number()}"
                    self.plan.op(name, kind="host_wait", **{"for": {"event": event}})
                block.pending = []
                return block
        block = Block(stream, self.end, nbytes)
        self.end += nbytes
        return block


class Block:
    def __init__(self, stream: Stream, offset: int, nbytes: int) -> None:
        self.stream, self.offset, self.nbytes = stream, offset, nbytes
        self.pending: list[str] = []  #: Events to ask before it is handed out again.


class Event:
    def __init__(self, recorder: Recorder) -> None:
        self.id = f"event {recorder.number()}"


class Stream:
    def __init__(self, recorder: Recorder, name: str) -> None:
        self.recorder = recorder
        self.queue = recorder.plan.queue(name)

    def run(self, name: str, *reads: Tensor, out: tuple[int, ...] | None = None) -> Tensor:
        """A kernel that reads tensors and makes one."""
        made = Tensor(self, name, out or reads[0].view.shape)
        views = [tensor.view for tensor in reads]
        self.recorder.plan.op(name, self.queue, reads=views, writes=[made.view])
        return made

    def record(self, event: Event) -> None:
        self.recorder.plan.record(event.id, self.queue)

    def wait(self, event: Event) -> None:
        self.recorder.plan.wait(event.id, self.queue)


class Tensor:
    """Float32 numbers on a stream."""

    def __init__(self, stream: Stream, name: str, shape: tuple[int, ...]) -> None:
        self.stream, self.users = stream, set[Stream]()
        nbytes = 4
        for extent in shape:
            nbytes *= extent
        self.block = stream.recorder.block(stream, nbytes)
        place = {"pool": stream.recorder.pool, "offset": self.block.offset}
        self.view = stream.recorder.plan.tensor(f"{name}.out", shape, "f32", **place)

    def record_stream(self, stream: Stream) -> None:
        """Another stream uses it, too: its block is not free before that has come so far."""
        self.users.add(stream)

    def drop(self) -> None:
        """What `del` does: the block is for others of its stream now."""
        for user in self.users:
            event = Event(user.recorder)
            user.record(event)
            self.block.pending.append(event.id)
        self.stream.recorder.cached.append(self.block)


def program(recorder: Recorder, forget: bool) -> None:
    """A copy on a side stream overlaps with what comes next on the main stream."""
    main, side = Stream(recorder, "main"), Stream(recorder, "side")
    ready = Event(recorder)
    grads = main.run("backward", out=(256, 64))
    main.record(ready)
    side.wait(ready)
    side.run("all_reduce", grads)
    if not forget:
        grads.record_stream(side)
    grads.drop()
    main.run("next_forward", out=(256, 64))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--forget", action="store_true", help="the mistake")
    recorder = Recorder()
    program(recorder, forget=parser.parse_args().forget)
    report = memverify.verify(recorder.plan)
    print(report, end="")
    return 0 if report.is_safe else 1


if __name__ == "__main__":
    sys.exit(main())
