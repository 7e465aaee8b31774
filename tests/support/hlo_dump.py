#!/usr/bin/env python3
"""Prints what XLA's text dump of a buffer assignment says of an HloProto without loops and branches.

    tests/support/hlo_dump.py MODULE.hlo_proto.pb >MODULE-buffer-assignment.txt

The layout is that of XLA's printers (BufferAssignment, HloValue, HloLiveRange); the order of values,
their positions and uses are worked out here, from the computations alone. Of sources only what
matters is printed: shape, opcode, operands, fusion kind, target.
"""

import sys

TYPES = {1: ("pred", 1), 2: ("s8", 1), 3: ("s16", 2), 4: ("s32", 4), 5: ("s64", 8), 6: ("u8", 1),
         7: ("u16", 2), 8: ("u32", 4), 9: ("u64", 8), 10: ("f16", 2), 11: ("f32", 4), 12: ("f64", 8),
         16: ("bf16", 2), 17: ("token", 0)}
HANDS_ON = ("bitcast", "optimization-barrier", "domain", "add-dependency")
STARTS = ("copy-start", "all-reduce-start", "all-gather-start", "collective-permute-start")


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


class Message:
    def __init__(self, data=b""):
        self.fields = {}
        at = 0
        while at < len(data):
            key, at = varint(data, at)
            if key & 7 == 0:
                value, at = varint(data, at)
            elif key & 7 == 2:
                size, at = varint(data, at)
                value, at = data[at:at + size], at + size
            else:
                size = 8 if key & 7 == 1 else 4
                value, at = data[at:at + size], at + size
            self.fields.setdefault(key >> 3, []).append(value)

    def number(self, field):
        return self.fields.get(field, [0])[-1]

    def numbers(self, field):
        out = []
        for value in self.fields.get(field, []):
            if isinstance(value, int):
                out.append(value)
                continue
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                out.append(one)
        return out

    def text(self, field):
        return self.fields.get(field, [b""])[-1].decode()

    def message(self, field):
        return Message(self.fields.get(field, [b""])[-1])

    def messages(self, field):
        return [Message(value) for value in self.fields.get(field, [])]


def shape_text(shape):
    if shape.number(2) == 13:
        parts = []
        for k, element in enumerate(shape.messages(4)):
            parts.append(("/*index=%d*/" % k if k and k % 5 == 0 else "") + shape_text(element))
        return "(" + ", ".join(parts) + ")"
    extents = shape.numbers(3)
    layout = "{" + ",".join(map(str, reversed(range(len(extents))))) + "}" if extents else ""
    return TYPES[shape.number(2)][0] + "[" + ",".join(map(str, extents)) + "]" + layout


def leaves(shape, index=()):
    yield index
    if shape.number(2) == 13:
        for k, element in enumerate(shape.messages(4)):
            yield from leaves(element, index + (k,))


def index_text(index):
    return "{" + ",".join(map(str, index)) + "}"


class Instruction:
    def __init__(self, message, entry):
        self.message, self.entry = message, entry
        self.name, self.opcode = message.text(1), message.text(2)
        self.shape = message.message(3)
        self.is_tuple = self.shape.number(2) == 13
        self.id, self.operands = message.number(35), message.numbers(36)
        self.value = {}  # Index -> (definer, index).

    def at(self, index):
        return self.name + (" " + index_text(index) if self.is_tuple else "")


def dump(data, out):
    root = Message(data)
    module, assignment = root.message(1), root.message(3)
    entry_id = module.number(6)
    all_of, entry = {}, None
    for computation in module.messages(3):
        for message in computation.messages(2):
            one = Instruction(message, computation.number(5) == entry_id)
            all_of[one.id] = one
        if computation.number(5) == entry_id:
            entry = computation
    schedule = next(s.message(2).numbers(1) for s in module.message(7).messages(1)
                    if s.number(1) == entry_id)
    order = [all_of[i] for i in schedule]
    if any(one.opcode in ("while", "conditional", "call") for one in order):
        sys.exit("loops and branches are not printed")

    # Values, by where they are defined.
    for one in [i for i in all_of.values() if not i.entry] + order:
        operands = [all_of[k] for k in one.operands]
        if one.opcode in HANDS_ON:
            one.value = dict(operands[0].value)
        elif one.opcode == "get-tuple-element":
            k = one.message.number(13)
            one.value = {i[1:]: v for i, v in operands[0].value.items() if i[:1] == (k,)}
        elif one.opcode == "tuple":
            one.value = {(): (one.id, ())}
            for k, operand in enumerate(operands):
                one.value.update({(k,) + i: v for i, v in operand.value.items()})
        elif one.opcode == "copy-done":
            one.value = {(): operands[0].value[(0,)]}
        elif one.opcode.endswith("-done"):
            sys.exit(one.opcode + " is not printed")
        else:
            one.value = {i: (one.id, i) for i in leaves(one.shape)}
    uses, positions = {}, {}
    for one in all_of.values():
        for index, value in one.value.items():
            positions.setdefault(value, []).append((one, index))
        for k, operand in enumerate(all_of[i] for i in one.operands):
            if one.opcode == "tuple":
                continue
            for index, value in operand.value.items():
                if one.opcode not in ("get-tuple-element", "copy") or index == ():
                    uses.setdefault(value, []).append((one, k, operand, index))

    where = {}
    for buffer in assignment.messages(1):
        place = buffer.message(3)
        where[buffer.number(1)] = (place.number(4), tuple(place.numbers(3)))
    values = {}

    def short(number):
        definer = all_of[where[number][0]]
        index = index_text(where[number][1]) if definer.is_tuple else ""
        return "<%d %s%s @0>" % (number, definer.name, index)

    out.write("BufferAssignment:\n")
    total = 0
    live_out = set(all_of[entry.number(6)].value.values())
    for allocation in assignment.messages(3):
        out.write("allocation %d: size %d" % (allocation.number(1), allocation.number(2)))
        total += allocation.number(2)
        if allocation.number(5):
            out.write(", parameter %d, shape |?| at ShapeIndex {}" % allocation.number(6))
        for field, word in ((12, "constant"), (3, "thread-local"), (7, "maybe-live-out")):
            out.write(", " + word if allocation.number(field) else "")
        kinds = [allocation.number(field) for field in (3, 5, 7, 12)]
        out.write(":\n" if any(kinds) else ", preallocated-temp:\n")
        for one in sorted(allocation.messages(9), key=lambda a: a.number(1)):
            values[one.number(1)] = one
            out.write(" value: %s (size=%d,offset=%d): ?\n" % (short(one.number(1)), one.number(3),
                                                              one.number(2)))
    out.write("\nTotal bytes used: %d (?)\n\nUsed values:\n" % total)
    for number in sorted(values):
        definer = all_of[where[number][0]]
        out.write(short(number) + "\n positions:\n")
        for one, index in sorted(positions[where[number]], key=lambda p: p[0] is not definer):
            out.write("  " + one.at(index) + "\n")
        out.write(" uses:\n")
        for one, k, operand, index in uses.get(where[number], []):
            tail = " " + index_text(index) if operand.is_tuple else ""
            out.write("  %s, operand %d%s\n" % (one.name, k, tail))
        message = definer.message
        inside = ", ".join(shape_text(all_of[i].shape) + " %" + all_of[i].name
                           for i in definer.operands)
        if definer.opcode == "parameter":
            inside = str(message.number(9))
        if definer.opcode == "constant":
            inside = "{...}"
        tail = ", kind=" + message.text(11) + ", calls=%?" if definer.opcode == "fusion" else ""
        if definer.opcode == "custom-call":
            tail = ', custom_call_target="%s"' % message.text(28)
        out.write(" from instruction: %%%s = %s %s(%s)%s\n" % (
            definer.name, shape_text(definer.shape), definer.opcode, inside, tail))
    out.write("\n\nHloLiveRange (max %d):\n  InstructionSequence:\n" % len(order))
    for k, one in enumerate(order):
        out.write("    %d:%s\n" % (k, one.name))
    out.write("  BufferLiveRange:\n")
    time = {one.id: k for k, one in enumerate(order)}
    for number in sorted(values):
        value = where[number]
        if value[0] not in time:
            continue
        end = max([time[value[0]]] + [time[use[0].id] for use in uses.get(value, [])])
        if value in live_out or all_of[value[0]].opcode == "parameter":
            end = len(order)
        out.write("    %s%s:%d-%d\n" % (all_of[value[0]].name, index_text(value[1]),
                                       time[value[0]], end))
    out.write("  Live ranges at 0 (peak):\n")


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        dump(file.read(), sys.stdout)
