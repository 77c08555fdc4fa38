#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what small int8 networks compute, independently of the compiler: input and output bytes that
`ingot run` and the generated C are held against (tests/vectors/run.py).

    record_vectors.py FOLDER...            writes FOLDER/vectors.json from FOLDER/model.json
    record_vectors.py --check FOLDER...    exit 1 if what is stored is not what recording again gives

The operators are written here a second time, after the public definition of TFLite Micro's reference
kernels in double rounding (docs/vectors.md), with exact integers of any size and only Python's standard library:
no code and no library is shared with the compiler. It reads the JSON that tests/support/tflite_json.h
describes, of one graph, and checks the shapes stated there.
"""
import itertools
import json
import math
import pathlib
import struct
import sys

from fixed_point import (div_trunc, exp_on_negative, f32, high_mul, logistic, quantize_multiplier, radius,
                         reciprocal, rescale, round_away, saturate, shift_left, shift_right, tanh)

NUM_VECTORS = 5
FORMATS = {"int8": "b", "int32": "i", "int64": "q", "float32": "f"}


# ---- tensors -----------------------------------------------------------------------------------------------


class Pcg:
    """PCG-XSH-RR 64/32, for the weights that a model asks for by seed and for inputs."""

    def __init__(self, seed):
        self.state = 0
        self.next()
        self.state = (self.state + seed) % 2**64
        self.next()

    def next(self):
        old = self.state
        self.state = (old * 6364136223846793005 + 1442695040888963407) % 2**64
        mixed = (((old >> 18) ^ old) >> 27) % 2**32
        rotation = old >> 59
        return (mixed >> rotation | mixed << (32 - rotation)) % 2**32

    def integer(self, low, high):
        return low + ((self.next() * (high - low + 1)) >> 32)


def flat(data):
    if not isinstance(data, list):
        return [data]
    return [number for part in data for number in flat(part)]


class Tensor:
    def __init__(self, description):
        self.name = description["name"]
        self.dtype = description["dtype"]
        self.shape = description["shape"]
        scale = description.get("scale", 1.0)
        self.scales = [f32(s) for s in (scale if isinstance(scale, list) else [scale])]
        zero_point = description.get("zero_point", 0)
        self.zero_point = zero_point[0] if isinstance(zero_point, list) else zero_point
        self.data = None
        if "data" in description:
            self.data = self.constant(description["data"])
            assert len(self.data) == self.size(), self.name

    def constant(self, data):
        if not isinstance(data, dict):
            return flat(data)
        random = Pcg(data["random"])
        return [random.integer(data.get("low", -127), data.get("high", 127)) for _ in range(self.size())]

    def size(self):
        return math.prod(self.shape)

    def scale(self, channel=0):
        return self.scales[channel if len(self.scales) > 1 else 0]

    def at(self, *index):
        flat_index = 0
        for i, extent in zip(index, self.shape):
            flat_index = flat_index * extent + i
        return self.data[flat_index]

    def bytes(self):
        return struct.pack(f"<{self.size()}{FORMATS[self.dtype]}", *self.data)

    def elements(self, raw):
        return list(struct.unpack(f"<{self.size()}{FORMATS[self.dtype]}", raw))

    def indices(self):
        return itertools.product(*map(range, self.shape))


class Operator:
    """Operands and attributes of one operator; `set` states the output's shape and elements."""

    def __init__(self, description, tensors):
        self.kind = description["op"]
        self.options = description.get("options", {})
        self.inputs = [None if name == -1 else tensors[name] for name in description["inputs"]]
        self.output = tensors[description["outputs"][0]]

    def set(self, shape, elements):
        y = self.output
        assert list(shape) == y.shape, f"{y.name}: {shape} is inferred, {y.shape} is stated"
        y.data = list(elements)
        assert len(y.data) == y.size(), y.name

    def activate(self, x):
        """The fused activation in quantised units, and int8's range."""
        y = self.output
        low, high = -128, 127
        ends = {"RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}
        activation = self.options.get("fused_activation_function", "NONE")
        if self.kind in ends:
            activation = self.kind
        if activation != "NONE":
            bottom, top = ends[activation]
            low = max(low, y.zero_point + round_away(f32(bottom / y.scale())))
            if top is not None:
                high = min(high, y.zero_point + round_away(f32(top / y.scale())))
        return saturate(x, low, high)

    def window(self, axis, image, kernel, dilation=1):
        """(number of positions, stride, cells of padding before) along "h" or "w"."""
        stride = self.options["stride_" + axis]
        reach = (kernel - 1) * dilation + 1
        if self.options["padding"] == "VALID":
            return (image - reach) // stride + 1, stride, 0
        positions = -(-image // stride)
        return positions, stride, max(0, (positions - 1) * stride + reach - image) // 2


# ---- operators ---------------------------------------------------------------------------------------------


def weighted_windows(op, of_channel):
    """What CONV_2D and DEPTHWISE_CONV_2D share. of_channel(o): pairs of (input channel, filter index)."""
    x, w, bias = (op.inputs + [None])[:3]
    batch, height, width, _ = x.shape
    channels = w.shape[0] if op.kind == "CONV_2D" else w.shape[3]
    dilation_h, dilation_w = op.options.get("dilation_h_factor", 1), op.options.get("dilation_w_factor", 1)
    rows, stride_h, top = op.window("h", height, w.shape[1], dilation_h)
    columns, stride_w, left = op.window("w", width, w.shape[2], dilation_w)
    multipliers = [quantize_multiplier(x.scale() * w.scale(o) / op.output.scale()) for o in range(channels)]
    result = []
    for n, row, column, o in itertools.product(*map(range, (batch, rows, columns, channels))):
        total = bias.data[o] if bias else 0
        for ky, kx in itertools.product(range(w.shape[1]), range(w.shape[2])):
            iy = row * stride_h + ky * dilation_h - top
            ix = column * stride_w + kx * dilation_w - left
            if 0 <= iy < height and 0 <= ix < width:
                for c, at in of_channel(o):
                    total += (x.at(n, iy, ix, c) - x.zero_point) * w.at(at[0], ky, kx, at[1])
        result.append(op.activate(rescale(total, multipliers[o]) + op.output.zero_point))
    op.set([batch, rows, columns, channels], result)


def conv_2d(op):
    outputs, _, _, depth = op.inputs[1].shape
    groups = op.inputs[0].shape[3] // depth
    weighted_windows(op, lambda o: [(o // (outputs // groups) * depth + c, (o, c)) for c in range(depth)])


def depthwise_conv_2d(op):
    multiplier = op.inputs[1].shape[3] // op.inputs[0].shape[3]
    weighted_windows(op, lambda o: [(o // multiplier, (0, o))])


def fully_connected(op):
    x, w, bias = (op.inputs + [None])[:3]
    outputs, depth = w.shape
    result = []
    for row, o in itertools.product(range(x.size() // depth), range(outputs)):
        total = bias.data[o] if bias else 0
        total += sum((x.data[row * depth + i] - x.zero_point) * w.at(o, i) for i in range(depth))
        multiplier = quantize_multiplier(x.scale() * w.scale(o) / op.output.scale())
        result.append(op.activate(rescale(total, multiplier) + op.output.zero_point))
    leading = x.shape[:-1] if op.options.get("keep_num_dims") else [x.size() // depth]
    op.set(leading + [outputs], result)


def pool_2d(op):
    x = op.inputs[0]
    batch, height, width, channels = x.shape
    kernel_h, kernel_w = op.options["filter_height"], op.options["filter_width"]
    rows, stride_h, top = op.window("h", height, kernel_h)
    columns, stride_w, left = op.window("w", width, kernel_w)
    result = []
    for n, row, column, c in itertools.product(*map(range, (batch, rows, columns, channels))):
        ys = range(max(0, row * stride_h - top), min(height, row * stride_h - top + kernel_h))
        xs = range(max(0, column * stride_w - left), min(width, column * stride_w - left + kernel_w))
        cells = [x.at(n, y, z, c) for y in ys for z in xs]
        if op.kind == "MAX_POOL_2D":
            result.append(op.activate(max(cells)))
        else:
            total, half = sum(cells), len(cells) // 2
            result.append(op.activate(div_trunc(total + half if total > 0 else total - half, len(cells))))
    op.set([batch, rows, columns, channels], result)


def broadcast_pairs(op):
    """The output's shape and, per element, the centred elements of both operands."""
    a, b = op.inputs
    rank = max(len(a.shape), len(b.shape))
    shapes = [[1] * (rank - len(t.shape)) + t.shape for t in (a, b)]
    shape = [x if y == 1 else y for x, y in zip(*shapes)]

    def element(tensor, extents, index):
        own = [0 if extent == 1 else i for extent, i in zip(extents, index)]
        return tensor.at(*own[rank - len(tensor.shape):]) - tensor.zero_point

    return shape, [(element(a, shapes[0], i), element(b, shapes[1], i))
                   for i in itertools.product(*map(range, shape))]


def add_or_sub(op):
    a, b, y = op.inputs[0].scale(), op.inputs[1].scale(), op.output.scale()
    twice = 2 * max(a, b)
    factors = [a / twice, b / twice, twice / (2**20 * y)]
    if op.kind == "SUB":
        factors = [f32(a / twice), f32(b / twice), f32(twice / f32(2**20 * y))]
    scale_a, scale_b, scale_y = map(quantize_multiplier, factors)
    sign = 1 if op.kind == "ADD" else -1
    shape, pairs = broadcast_pairs(op)
    op.set(shape, [op.activate(rescale(rescale(p << 20, scale_a) + sign * rescale(q << 20, scale_b), scale_y) +
                               op.output.zero_point) for p, q in pairs])


def mul(op):
    factor = quantize_multiplier(op.inputs[0].scale() * op.inputs[1].scale() / op.output.scale())
    shape, pairs = broadcast_pairs(op)
    op.set(shape, [op.activate(rescale(p * q, factor) + op.output.zero_point) for p, q in pairs])


def pad(op):
    x = op.inputs[0]
    amounts = op.inputs[1].data
    before, after = amounts[0::2], amounts[1::2]
    value = op.inputs[2].data[0] if op.kind == "PADV2" else op.output.zero_point
    shape = [b + extent + a for b, extent, a in zip(before, x.shape, after)]
    result = []
    for index in itertools.product(*map(range, shape)):
        inner = [i - b for i, b in zip(index, before)]
        inside = all(0 <= i < extent for i, extent in zip(inner, x.shape))
        result.append(x.at(*inner) if inside else value)
    op.set(shape, result)


def mean(op):
    x = op.inputs[0]
    axes = {axis % len(x.shape) for axis in op.inputs[1].data}
    count = math.prod(x.shape[axis] for axis in axes)
    multiplier, shift = quantize_multiplier(x.scale() / op.output.scale())
    bits = min(count.bit_length() - 1, 32, 31 + shift)
    folded = (multiplier << bits) // count, shift - bits
    sums = {}
    for index, element in zip(x.indices(), x.data):
        kept = tuple(0 if axis in axes else i for axis, i in enumerate(index))
        sums[kept] = sums.get(kept, 0) + element - x.zero_point
    keep = op.options.get("keep_dims", False)
    shape = [1 if axis in axes else extent for axis, extent in enumerate(x.shape) if keep or axis not in axes]
    op.set(shape, [op.activate(rescale(sums[k], folded) + op.output.zero_point) for k in sorted(sums)])


def move(op):
    """RESHAPE, SQUEEZE, EXPAND_DIMS: the elements stay in order."""
    x = op.inputs[0]
    shape = list(x.shape)
    if op.kind == "EXPAND_DIMS":
        axis = op.inputs[1].data[0]
        shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
    elif op.kind == "SQUEEZE":
        dropped = {d % len(shape) for d in op.options.get("squeeze_dims", [])}
        shape = [e for d, e in enumerate(shape) if (d not in dropped if dropped else e != 1)]
    else:
        shape = list(op.inputs[1].data if len(op.inputs) > 1 else op.options["new_shape"])
        known = math.prod(e for e in shape if e != -1)
        shape = [x.size() // known if e == -1 else e for e in shape]
    op.set(shape, x.data)


def requantised(x, y, element, factor):
    return saturate(rescale(element - x.zero_point, quantize_multiplier(factor)) + y.zero_point, -128, 127)


def concatenation(op):
    """An input on another scale than the output is rescaled."""
    y = op.output
    axis = op.options["axis"] % len(y.shape)
    shape = list(op.inputs[0].shape)
    shape[axis] = sum(x.shape[axis] for x in op.inputs)
    result = []
    for index in itertools.product(*map(range, shape)):
        along = index[axis]
        for x in op.inputs:
            if along < x.shape[axis]:
                break
            along -= x.shape[axis]
        element = x.at(*index[:axis], along, *index[axis + 1:])
        result.append(requantised(x, y, element, x.scale() / y.scale()))
    op.set(shape, result)


def softmax(op):
    x = op.inputs[0]
    factor = min(f32(op.options["beta"]) * x.scale() * 2.0**26, 2.0**31 - 1)
    multiplier, left = quantize_multiplier(factor)
    depth = x.shape[-1]
    result = []
    for begin in range(0, x.size(), depth):
        row = x.data[begin:begin + depth]
        # A difference beyond the radius counts as nothing.
        exps = [exp_on_negative(rescale(d, (multiplier, left)), 5) if -d <= radius(5, left) else 0
                for d in (element - max(row) for element in row)]
        total = saturate(sum(shift_right(e, 12) for e in exps))
        headroom = 32 - total.bit_length()
        scale = shift_left(reciprocal((total << headroom) - 2**31), 1)
        exponent = 12 - headroom + 31 - 8
        result += [saturate(shift_right(high_mul(scale, e), exponent) - 128, -128, 127) for e in exps]
    op.set(x.shape, result)


def table(op):
    """LOGISTIC and TANH."""
    x = op.inputs[0]
    multiplier = quantize_multiplier(x.scale() * 2.0**27)
    limit = radius(4, multiplier[1])

    def of(element):
        centred = element - x.zero_point
        if abs(centred) >= limit:  # with a radius of 0 even the zero point is far out, below
            return -128 if centred <= 0 else 127
        a = rescale(centred, multiplier)
        y = shift_right(logistic(a), 23) - 128 if op.kind == "LOGISTIC" else shift_right(tanh(a), 24)
        return saturate(y, -128, 127)

    op.set(x.shape, map(of, x.data))


def lone_activation(op):
    """RELU, RELU6, RELU_N1_TO_1; the ratio of the scales is taken in float."""
    x, y = op.inputs[0], op.output
    factor = f32(x.scale() / y.scale())
    op.set(x.shape, [op.activate(requantised(x, y, element, factor)) for element in x.data])


def quantize(op):
    x, y = op.inputs[0], op.output
    if x.dtype == "float32":
        rounded = [round_away(f32(element / y.scale())) for element in x.data]
        op.set(x.shape, [saturate(r + y.zero_point, -128, 127) for r in rounded])
    else:
        op.set(x.shape, [requantised(x, y, element, x.scale() / y.scale()) for element in x.data])


def dequantize(op):
    x = op.inputs[0]
    op.set(x.shape, [f32(x.scale() * (element - x.zero_point)) for element in x.data])


OPERATORS = {
    "CONV_2D": conv_2d, "DEPTHWISE_CONV_2D": depthwise_conv_2d, "FULLY_CONNECTED": fully_connected,
    "AVERAGE_POOL_2D": pool_2d, "MAX_POOL_2D": pool_2d, "ADD": add_or_sub, "SUB": add_or_sub, "MUL": mul,
    "PAD": pad, "PADV2": pad, "MEAN": mean, "RESHAPE": move, "SQUEEZE": move, "EXPAND_DIMS": move,
    "CONCATENATION": concatenation, "SOFTMAX": softmax, "LOGISTIC": table, "TANH": table,
    "RELU": lone_activation, "RELU6": lone_activation, "RELU_N1_TO_1": lone_activation,
    "QUANTIZE": quantize, "DEQUANTIZE": dequantize,
}


# ---- recording ---------------------------------------------------------------------------------------------


def input_elements(tensor, vector):
    """Vectors 0 and 1: each element its own; 2: the extremes, mixed; 3: all lowest; 4: all highest."""
    low, high = (-1000, 1000) if tensor.dtype == "float32" else (-128, 127)
    random = Pcg(1000 * vector + len(tensor.name) + tensor.size())
    if vector >= 3:
        numbers = [low if vector == 3 else high] * tensor.size()
    else:
        numbers = [random.integer(low, high) for _ in range(tensor.size())]
        if vector == 2:
            numbers = [low if n < 0 else high for n in numbers]
    return [n / 64 for n in numbers] if tensor.dtype == "float32" else numbers


def run(model, tensors, inputs):
    """Computes every tensor of the model from the elements of its inputs."""
    for name, elements in zip(model["inputs"], inputs):
        tensors[name].data = elements
    for description in model["operators"]:
        op = Operator(description, tensors)
        OPERATORS[op.kind](op)


def tensors_of(model):
    return {description["name"]: Tensor(description) for description in model["tensors"]}


def record(model):
    tensors = tensors_of(model)
    vectors = []
    for vector in range(NUM_VECTORS):
        run(model, tensors, [input_elements(tensors[name], vector) for name in model["inputs"]])
        stated = {"inputs": [tensors[name].bytes().hex() for name in model["inputs"]],
                  "outputs": [tensors[name].bytes().hex() for name in model["outputs"]]}
        if vector == 0:  # what lies between, once
            made = [name for description in model["operators"] for name in description["outputs"]]
            stated["inner"] = {n: tensors[n].bytes().hex() for n in made if n not in model["outputs"]}
        vectors.append(stated)
    return json.dumps({"vectors": vectors}, indent=1) + "\n"


def main():
    arguments = sys.argv[1:]
    check = arguments[:1] == ["--check"]
    folders = [pathlib.Path(folder) for folder in arguments[check:]]
    if not folders:
        print(__doc__, file=sys.stderr)
        return 2
    differing = []
    for folder in folders:
        text = record(json.loads((folder / "model.json").read_text()))
        stored = folder / "vectors.json"
        if not check:
            stored.write_text(text)
        elif not stored.exists() or stored.read_text() != text:
            differing.append(folder.name)
    for name in differing:
        print(f"{name}: recording again gives other vectors than are stored")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
