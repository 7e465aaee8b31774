"""What an ONNX file holds, by a decoder of protobuf of its own: nodes, accesses, initialisers, names of extents."""
import re

BITS = {1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16,
        17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4}
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
CONTROL = {"If", "Loop", "Scan"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Field number to the values it has."""
    out, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(key & 7) or varint(data, at)
            value, at = data[at:at + size], at + size
        out.setdefault(key >> 3, []).append(value)
    return out


def texts(message, field):
    return [value.decode("utf-8", "replace") for value in message.get(field, [])]


def text(message, field):
    return "".join(texts(message, field)[-1:])


def numbers(message, field):
    """Of a list that may be packed."""
    out = []
    for value in message.get(field, []):
        at = 0
        while isinstance(value, bytes) and at < len(value):
            number, at = varint(value, at)
            out.append(number)
        if not isinstance(value, bytes):
            out.append(value)
    return out


def tensor_bytes(tensor):
    elements = 1
    for extent in numbers(tensor, 1):
        elements *= extent
    return (elements * BITS.get(tensor.get(2, [0])[-1], 0) + 7) // 8


class Graph:
    """The nodes of a graph that run, those of its inner graphs, and the bytes of all initialisers."""

    def __init__(self, data, constants=frozenset()):
        graph = fields(data)
        self.inputs, self.stored = {}, {}
        self.nodes = []  # (operator, name or operator_index, distinct inputs, outputs)
        self.inner = []
        constants = set(constants)
        for tensor in map(fields, graph.get(5, [])):
            self.stored[text(tensor, 8)] = tensor_bytes(tensor)
        constants |= self.stored.keys()
        for info in map(fields, graph.get(11, [])):
            if text(info, 1) not in self.stored:
                self.inputs[text(info, 1)] = info
        for index, node in enumerate(map(fields, graph.get(1, []))):
            operator, outputs = text(node, 4), [name for name in texts(node, 2) if name]
            inputs = {name for name in texts(node, 1) if name}
            attributes = list(map(fields, node.get(5, [])))
            graphs = [Graph(one, constants) for a in attributes for one in a.get(6, [])]
            if operator == "Constant":
                self.stored.update({outputs[0]: tensor_bytes(fields(one)) for a in attributes for one in a.get(5, [])})
                constants |= set(outputs)
            elif not graphs and inputs <= constants and operator not in RANDOM:
                constants |= set(outputs)
            else:
                self.nodes.append((operator, text(node, 3)[:200] or f"{operator}_{index}", inputs, outputs))
                self.inner += graphs

    def all_graphs(self):
        return [self] + [g for inner in self.inner for g in inner.all_graphs()]

    def names_of_extents(self):
        """Names of the inputs' extents, as --dim takes them."""
        out = []
        for name, info in self.inputs.items():
            types = [fields(t) for t in info.get(2, [])]
            shapes = [fields(s) for t in types for tensor in t.get(1, []) for s in fields(tensor).get(2, [])]
            for shape in shapes:
                for axis, dim in enumerate(map(fields, shape.get(1, []))):
                    named = text(dim, 2)
                    if named:
                        out += [w for w in re.findall(r"[A-Za-z_]\w*", named)] if re.search(r"[-+*/]", named) else [named]
                    elif 1 not in dim or dim[1][-1] >= 1 << 63:
                        out.append(f"{name}_{axis}")
        return list(dict.fromkeys(out))


def read(path):
    return Graph(fields(path.read_bytes())[7][-1])
