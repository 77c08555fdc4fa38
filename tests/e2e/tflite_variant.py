#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Variants of a .tflite model, made by changing a few fields of its bytes.

    tflite_variant.py MODEL.tflite OUT.tflite       every inner tensor is an output too

Lists of tensors are replaced by new ones behind the end of the file, since offsets only point forward.
Only the parts of the FlatBuffers format that this takes are here (offsets, tables, vectors), by its
public description.
"""
import struct
import sys

OPERATOR_CODES, SUBGRAPHS = 1, 2  # fields of Model
INPUTS, OUTPUTS, OPERATORS = 1, 2, 3  # of SubGraph
OPCODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS = 0, 1, 2  # of Operator
DEPRECATED_CODE, CODE = 0, 3  # of OperatorCode


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


def subgraph(data):
    return follow(data, follow(data, field(data, follow(data, 0), SUBGRAPHS)) + 4)


def elements(data, vector):
    """The tables that a vector of tables points to."""
    return [follow(data, vector + 4 + 4 * i) for i in range(u32(data, vector))]


def operators(data):
    """Of each operator: its builtin code, inputs and outputs."""
    codes = elements(data, follow(data, field(data, follow(data, 0), OPERATOR_CODES)))
    found = []
    for table in elements(data, follow(data, field(data, subgraph(data), OPERATORS))):
        at = field(data, table, OPCODE)
        code = codes[u32(data, at) if at else 0]
        old, new = field(data, code, DEPRECATED_CODE), field(data, code, CODE)
        found.append((max(data[old] if old else 0, u32(data, new) if new else 0),
                      indices(data, field(data, table, OPERATOR_INPUTS)),
                      indices(data, field(data, table, OPERATOR_OUTPUTS))))
    return found


def set_list(data, at, tensors):
    """Points the field at `at` to a new vector of int32."""
    data += b"\0" * (-len(data) % 4)
    struct.pack_into("<I", data, at, len(data) - at)
    data += struct.pack(f"<I{len(tensors)}i", len(tensors), *tensors)


def outputs_of(model):
    return indices(model, field(model, subgraph(model), OUTPUTS))


def exposed(model):
    """Every tensor that an operator writes is an output: the old ones, then the others."""
    data = bytearray(model)
    outputs = outputs_of(data)
    for _, _, written in operators(data):
        outputs += [t for t in written if t not in outputs]
    set_list(data, field(data, subgraph(data), OUTPUTS), outputs)
    return bytes(data)


def single(model, index):
    """Only operator `index`, from its first input to its outputs; the others are constants."""
    data = bytearray(model)
    _, inputs, outputs = operators(data)[index]
    vector = follow(data, field(data, subgraph(data), OPERATORS))
    struct.pack_into("<I", data, vector + 4, elements(data, vector)[index] - (vector + 4))
    struct.pack_into("<I", data, vector, 1)
    set_list(data, field(data, subgraph(data), INPUTS), inputs[:1])
    set_list(data, field(data, subgraph(data), OUTPUTS), outputs)
    return bytes(data)


def main():
    with open(sys.argv[1], "rb") as file:
        variant = exposed(file.read())
    with open(sys.argv[2], "wb") as file:
        file.write(variant)


if __name__ == "__main__":
    main()
