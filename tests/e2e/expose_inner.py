#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A variant of a .tflite model in which every inner tensor is an output too.

    expose_inner.py MODEL.tflite OUT.tflite

The file is changed in place of one field: the subgraph's list of outputs points to a new one behind the
end of the file: the old outputs, then what else the operators write, in their order. Only the parts of
the FlatBuffers format that this takes are here (offsets, tables, vectors), by its public description.
"""
import struct
import sys

SUBGRAPHS, OUTPUTS, OPERATORS = 2, 2, 3  # fields of Model and SubGraph
OPERATOR_OUTPUTS = 2  # field of Operator


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def field(data, table, index):
    """The position of a table's field, None if it is absent."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, vtable)[0]
    at = 4 + 2 * index
    offset = struct.unpack_from("<H", data, vtable + at)[0] if at < size else 0
    return table + offset if offset else None


def follow(data, at):
    return at + u32(data, at)


def indices(data, at):
    """The int32 elements of the vector that the field at `at` points to."""
    vector = follow(data, at)
    return list(struct.unpack_from(f"<{u32(data, vector)}i", data, vector + 4))


def exposed(model):
    data = bytearray(model)
    graphs = follow(data, field(data, follow(data, 0), SUBGRAPHS))
    graph = follow(data, graphs + 4)
    outputs_at = field(data, graph, OUTPUTS)
    outputs = indices(data, outputs_at)
    operators = follow(data, field(data, graph, OPERATORS))
    for i in range(u32(data, operators)):
        operator = follow(data, operators + 4 + 4 * i)
        outputs += [t for t in indices(data, field(data, operator, OPERATOR_OUTPUTS)) if t not in outputs]
    data += b"\0" * (-len(data) % 4)
    struct.pack_into("<I", data, outputs_at, len(data) - outputs_at)
    return bytes(data + struct.pack(f"<I{len(outputs)}i", len(outputs), *outputs))


def main():
    with open(sys.argv[1], "rb") as file:
        variant = exposed(file.read())
    with open(sys.argv[2], "wb") as file:
        file.write(variant)


if __name__ == "__main__":
    main()
