#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds record_vectors.py against outputs that TFLite Micro's reference kernels gave for public models.

    check_recorder.py MODELS NAME...    MODELS/NAME has model.tflite, desc.json and K.in0.bin, K.out0.bin, ...

Reads .tflite files with a reader of its own, as far as these models need it. Exit 77 (skipped) where MODELS
is not there.
"""
import json
import pathlib
import struct
import sys

import record_vectors

SKIPPED = 77
DTYPES = {0: "float32", 2: "int32", 4: "int64", 9: "int8"}
ACTIVATIONS = ["NONE", "RELU", "RELU_N1_TO_1", "RELU6"]
# Operators by code, with the options' fields by their place in the schema.
WINDOW = {0: ("padding", "b"), 1: ("stride_w", "i"), 2: ("stride_h", "i")}
ACTIVATION = {0: ("fused_activation_function", "b")}
POOL = {**WINDOW, 3: ("filter_width", "i"), 4: ("filter_height", "i"), 5: ("fused_activation_function", "b")}
OPERATORS = {
    0: ("ADD", ACTIVATION), 1: ("AVERAGE_POOL_2D", POOL), 17: ("MAX_POOL_2D", POOL),
    3: ("CONV_2D", {**WINDOW, 3: ("fused_activation_function", "b"), 4: ("dilation_w_factor", "i"),
                    5: ("dilation_h_factor", "i")}),
    4: ("DEPTHWISE_CONV_2D", {**WINDOW, 4: ("fused_activation_function", "b"), 5: ("dilation_w_factor", "i"),
                              6: ("dilation_h_factor", "i")}),
    9: ("FULLY_CONNECTED", ACTIVATION), 22: ("RESHAPE", {}), 25: ("SOFTMAX", {0: ("beta", "f")}),
    114: ("QUANTIZE", {}), 6: ("DEQUANTIZE", {}),
}
DEFAULTS = {"padding": 0, "fused_activation_function": 0, "dilation_w_factor": 1, "dilation_h_factor": 1}


class Table:
    """A table of a flatbuffer."""

    def __init__(self, file, at):
        self.file, self.at = file, at

    def number(self, at, kind):
        return struct.unpack_from("<" + kind, self.file, at)[0]

    def place(self, field):
        """Where the field is stored; 0 if it is absent."""
        vtable = self.at - self.number(self.at, "i")
        slot = 4 + 2 * field
        offset = self.number(vtable + slot, "H") if slot < self.number(vtable, "H") else 0
        return self.at + offset if offset else 0

    def scalar(self, field, kind, default=0):
        at = self.place(field)
        return self.number(at, kind) if at else default

    def table(self, field):
        at = self.place(field)
        return Table(self.file, at + self.number(at, "I")) if at else None

    def numbers(self, field, kind):
        at = self.place(field)
        if not at:
            return []
        at += self.number(at, "I")
        return list(struct.unpack_from(f"<{self.number(at, 'I')}{kind}", self.file, at + 4))

    def tables(self, field):
        at = self.place(field)
        at += self.number(at, "I")
        starts = [at + 4 + 4 * i for i in range(self.number(at, "I"))]
        return [Table(self.file, start + self.number(start, "I")) for start in starts]


def tensor_description(name, tensor, buffers):
    dtype = DTYPES[tensor.scalar(1, "b")]
    description = {"name": name, "dtype": dtype, "shape": tensor.numbers(0, "i")}
    quantization = tensor.table(4)
    if quantization and quantization.numbers(2, "f"):
        description["scale"] = quantization.numbers(2, "f")
        description["zero_point"] = quantization.numbers(3, "q") or 0
    data = bytes(buffers[tensor.scalar(2, "I")].numbers(0, "B"))
    if data:
        kind = record_vectors.FORMATS[dtype]
        description["data"] = list(struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data))
    return description


def operator_description(operator, code):
    kind, fields = OPERATORS[code]
    table = operator.table(4)
    options = {}
    for field, (name, form) in fields.items():
        default = DEFAULTS.get(name, 0)
        options[name] = table.scalar(field, form, default) if table else default
    if "padding" in options:
        options["padding"] = ["SAME", "VALID"][options["padding"]]
    if "fused_activation_function" in options:
        options["fused_activation_function"] = ACTIVATIONS[options["fused_activation_function"]]
    if kind == "RESHAPE" and table:
        options["new_shape"] = table.numbers(0, "i")
    return {"op": kind, "inputs": [i if i < 0 else str(i) for i in operator.numbers(1, "i")],
            "outputs": [str(i) for i in operator.numbers(2, "i")], "options": options}


def description_of(file):
    """What tests/support/tflite_json.h describes, of a file; tensors are named by their index."""
    model = Table(file, struct.unpack_from("<I", file)[0])
    graph = model.tables(2)[0]
    buffers = model.tables(4)
    codes = [max(c.scalar(0, "b"), c.scalar(3, "i")) for c in model.tables(1)]
    return {"tensors": [tensor_description(str(i), t, buffers) for i, t in enumerate(graph.tables(0))],
            "operators": [operator_description(o, codes[o.scalar(0, "I")]) for o in graph.tables(3)],
            "inputs": [str(i) for i in graph.numbers(1, "i")], "outputs": [str(i) for i in graph.numbers(2, "i")]}


def check(folder):
    """The number of vectors on which recorder and recorded outputs agree, and of all."""
    model = description_of((folder / "model.tflite").read_bytes())
    tensors = record_vectors.tensors_of(model)
    vectors = json.loads((folder / "desc.json").read_text())["vectors"]
    right = 0
    for vector in vectors:
        inputs = [tensors[name].elements((folder / f"{vector}.in{i}.bin").read_bytes())
                  for i, name in enumerate(model["inputs"])]
        record_vectors.run(model, tensors, inputs)
        right += all(tensors[name].bytes() == (folder / f"{vector}.out{i}.bin").read_bytes()
                     for i, name in enumerate(model["outputs"]))
    return right, len(vectors)


def main():
    models = pathlib.Path(sys.argv[1])
    if not models.is_dir():
        print(f"skipped: {models} is not there")
        return SKIPPED
    failures = 0
    for name in sys.argv[2:]:
        right, count = check(models / name)
        failures += right != count
        print(f"{name}: {right} of {count} vectors are what TFLite Micro's reference kernels computed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
