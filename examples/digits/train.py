#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the network of this example and quantises it to int8: digits drawn by hand, 16 x 16 pixels.

    train.py build/tests/tflite_write build/ingot

Needs numpy (Debian: python3-numpy). Draws its own data: each digit is a few strokes, bent, shifted,
turned and thickened at random. Trains in float32 with Adam, then quantises after training: weights per
channel, activations by the ranges they take on samples. Writes digits.tflite beside this script, through
the project's own writer, draws sample.txt, and says how many fresh digits the float32 network and the
int8 network (by `ingot run`) get right. About three minutes. The seed is fixed; another numpy may round
differently and train other weights.
"""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = 16
# Strokes as polylines in the unit square, x to the right, y down.
ARC = [(np.cos(t), np.sin(t)) for t in np.linspace(0, 2 * np.pi, 13)]


def arc(cx, cy, rx, ry, begin, end):
    """Part of an ellipse; begin and end in twelfths of a turn, clockwise from the right."""
    return [(cx + rx * ARC[i % 12][0], cy + ry * ARC[i % 12][1]) for i in range(begin, end + 1)]


GLYPHS = [
    [arc(.5, .5, .28, .4, 0, 12)],
    [[(.35, .28), (.55, .1), (.55, .9)]],
    [arc(.5, .32, .27, .22, 6, 13) + [(.22, .9), (.8, .9)]],
    [arc(.48, .3, .26, .2, 7, 15), arc(.48, .7, .28, .21, 9, 17)],
    [[(.62, .9), (.62, .1), (.2, .65), (.82, .65)]],
    [[(.75, .1), (.3, .1), (.27, .45)] + arc(.48, .65, .27, .25, 8, 17)],
    [[(.65, .1), (.35, .4)] + arc(.5, .67, .25, .23, 6, 18)],
    [[(.2, .1), (.8, .1), (.42, .9)]],
    [arc(.5, .29, .22, .19, 0, 12), arc(.5, .69, .27, .21, 0, 12)],
    [arc(.52, .34, .24, .23, 0, 12), [(.76, .34), (.68, .9)]],
]


def draw(digit, random):
    """One picture, float32 in [0, 1]."""
    angle, shear = random.normal(0, .12), random.normal(0, .15)
    scale = random.uniform(.75, 1.05, 2)
    turn = np.array([[np.cos(angle), -np.sin(angle) + shear], [np.sin(angle), np.cos(angle)]]) * scale
    shift = random.uniform(-.08, .08, 2) + .5
    pixels = (np.stack(np.meshgrid(np.arange(SIZE), np.arange(SIZE)), -1).reshape(-1, 1, 2) + .5) / SIZE
    nearest = np.full(SIZE * SIZE, 9.)
    for stroke in GLYPHS[digit]:
        points = (np.array(stroke) - .5) + random.normal(0, .018, (len(stroke), 2))
        points = points @ turn.T + shift
        a, ab = points[:-1], np.diff(points, axis=0)
        along = np.clip(((pixels - a) * ab).sum(-1) / (ab * ab).sum(-1), 0, 1)
        nearest = np.minimum(nearest, np.linalg.norm(pixels - a - along[..., None] * ab, axis=-1).min(-1))
    ink = np.clip((random.uniform(.045, .085) - nearest) * SIZE + .5, 0, 1) * random.uniform(.75, 1)
    return np.clip(ink + random.normal(0, .03, ink.shape), 0, 1).reshape(SIZE, SIZE, 1).astype(np.float32)


def draw_many(count, random):
    labels = random.integers(0, 10, count)
    return np.stack([draw(d, random) for d in labels]), labels


# ---- the network: (kind, kernel, stride, output channels); each is followed by a ReLU
LAYERS = [("conv", 3, 2, 16), ("depthwise", 3, 1, 16), ("conv", 1, 1, 32), ("depthwise", 3, 2, 32), ("conv", 1, 1, 64),
          ("depthwise", 3, 1, 64), ("conv", 1, 1, 96)]


def patches(x, k, stride):
    """[n, h, w, c] -> [n, oh, ow, k * k, c], padded as TFLite's SAME does."""
    out = -(-x.shape[1] // stride)
    pad = max((out - 1) * stride + k - x.shape[1], 0)
    x = np.pad(x, ((0, 0), (pad // 2, pad - pad // 2), (pad // 2, pad - pad // 2), (0, 0)))
    cut = [x[:, i:i + stride * out:stride, j:j + stride * out:stride][:, :out, :out] for i in range(k) for j in range(k)]
    return np.stack(cut, 3)


def unpatch(g, shape, k, stride):
    """The gradient of `patches`."""
    out = g.shape[1]
    pad = max((out - 1) * stride + k - shape[1], 0)
    x = np.zeros((shape[0], shape[1] + pad + stride, shape[2] + pad + stride, shape[3]), np.float32)
    for i in range(k):
        for j in range(k):
            x[:, i:i + stride * out:stride, j:j + stride * out:stride] += g[:, :, :, i * k + j]
    return x[:, pad // 2:pad // 2 + shape[1], pad // 2:pad // 2 + shape[2]]


def initial(random):
    weights, channels = [], 1
    for kind, k, _, out in LAYERS:
        fan_in = k * k * (channels if kind == "conv" else 1)
        shape = (k * k, channels, out) if kind == "conv" else (k * k, out)
        weights += [random.normal(0, np.sqrt(2 / fan_in), shape), np.zeros(out)]
        channels = out
    weights += [random.normal(0, np.sqrt(1 / channels), (channels, 10)), np.zeros(10)]
    return [w.astype(np.float32) for w in weights]


def forward(weights, x):
    """The logits, and what each layer had in and gave out."""
    trace = []
    for (kind, k, stride, _), w, b in zip(LAYERS, weights[0::2], weights[1::2]):
        p = patches(x, k, stride)
        y = np.tensordot(p, w, 2) if kind == "conv" else (p * w).sum(3)
        y = np.maximum(y + b, 0)
        trace.append((x.shape, p, y))
        x = y
    mean = x.mean((1, 2))
    return mean @ weights[-2] + weights[-1], mean, trace


def gradients(weights, x, labels):
    logits, mean, trace = forward(weights, x)
    e = np.exp(logits - logits.max(1, keepdims=True))
    g = e / e.sum(1, keepdims=True)
    g[np.arange(len(labels)), labels] -= 1
    g = (g / len(labels)).astype(np.float32)
    grads = [g.sum(0), mean.T @ g]
    area = trace[-1][2].shape[1] * trace[-1][2].shape[2]
    g = np.broadcast_to((g @ weights[-2].T / area)[:, None, None], trace[-1][2].shape)
    for (kind, k, stride, _), w, (shape, p, y) in zip(LAYERS[::-1], weights[-4::-2], trace[::-1]):
        g = g * (y > 0)
        if kind == "conv":
            grads += [g.sum((0, 1, 2)), np.tensordot(p, g, ((0, 1, 2), (0, 1, 2)))]
            g = unpatch(np.tensordot(g, w, (3, 2)), shape, k, stride)
        else:
            grads += [g.sum((0, 1, 2)), (p * g[:, :, :, None]).sum((0, 1, 2))]
            g = unpatch(g[:, :, :, None] * w, shape, k, stride)
    return grads[::-1]


def train(random, epochs=16, count=6000, batch=50):
    weights = initial(random)
    first, second, step = [0] * len(weights), [0] * len(weights), 0
    for epoch in range(epochs):
        x, labels = draw_many(count, random)
        rate = .004 * (1 - epoch / epochs)
        for at in range(0, count, batch):
            step += 1
            for i, g in enumerate(gradients(weights, x[at:at + batch], labels[at:at + batch])):
                first[i] = .9 * first[i] + .1 * g
                second[i] = .999 * second[i] + .001 * g * g
                m, v = first[i] / (1 - .9 ** step), second[i] / (1 - .999 ** step)
                weights[i] = (weights[i] - rate * m / (np.sqrt(v) + 1e-8)).astype(np.float32)
        right = (forward(weights, x[:1000])[0].argmax(1) == labels[:1000]).mean()
        print(f"epoch {epoch + 1:2} of {epochs}: {100 * right:5.1f} % of the last digits drawn", flush=True)
    return weights


# ---- int8, after training
def activation(name, shape, low, high):
    low, high = min(low, 0.), max(high, 0.)
    scale = float(np.float32((high - low) / 255))
    return {"name": name, "dtype": "int8", "shape": [1] + shape, "scale": scale,
            "zero_point": int(round(-128 - low / scale))}


class Model:
    def __init__(self):
        self.tensors, self.operators = [], []

    def add(self, tensor):
        self.tensors.append(tensor)
        return tensor

    def constants(self, name, w, b, axis, source):
        """Weights as int8, per channel along `axis`, and their bias; the names of both."""
        most = np.abs(w).max(tuple(d for d in range(w.ndim) if d != axis))
        scales = np.float32(np.maximum(most, 1e-6) / 127)
        across = scales.reshape([-1 if d == axis else 1 for d in range(w.ndim)])
        q = np.clip(np.round(w / across), -127, 127).astype(int)
        bias_scales = np.float32(np.float32(source["scale"]) * scales)
        zeros = [0] * len(scales)
        self.add({"name": name + "_weights", "dtype": "int8", "shape": list(q.shape), "scale": scales.tolist(),
                  "zero_point": zeros, "axis": axis, "data": q.tolist()})
        self.add({"name": name + "_bias", "dtype": "int32", "shape": [len(scales)], "scale": bias_scales.tolist(),
                  "zero_point": zeros, "axis": 0, "data": np.round(b / bias_scales).astype(int).tolist()})
        return [name + "_weights", name + "_bias"]

    def operator(self, op, inputs, output, options):
        self.operators.append({"op": op, "inputs": inputs, "outputs": [output["name"]], "options": options})
        return self.add(output)


def quantise(weights, samples):
    logits, mean, trace = forward(weights, samples)
    model = Model()
    x = model.add({"name": "picture", "dtype": "int8", "shape": [1, SIZE, SIZE, 1], "scale": float(np.float32(1 / 255)),
                   "zero_point": -128})
    for i, (kind, k, stride, out) in enumerate(LAYERS):
        w, b, y = weights[2 * i], weights[2 * i + 1], trace[i][2]
        name = f"{kind}_{i}"
        options = {"padding": "SAME", "stride_w": stride, "stride_h": stride, "fused_activation_function": "RELU"}
        if kind == "conv":
            w = w.transpose(2, 0, 1).reshape(out, k, k, -1)
        else:
            w = w.reshape(1, k, k, out)
            options["depth_multiplier"] = 1
        parts = model.constants(name, w, b, 0 if kind == "conv" else 3, x)
        x = model.operator("CONV_2D" if kind == "conv" else "DEPTHWISE_CONV_2D", [x["name"]] + parts,
                           activation(name, list(y.shape[1:]), 0, float(np.quantile(y, .9999))), options)
    model.add({"name": "axes", "dtype": "int32", "shape": [2], "data": [1, 2]})
    x = model.operator("MEAN", [x["name"], "axes"], activation("mean", [mean.shape[1]], 0, float(mean.max())),
                       {"keep_dims": False})
    parts = model.constants("dense", weights[-2].T.copy(), weights[-1], 0, x)
    x = model.operator("FULLY_CONNECTED", [x["name"]] + parts,
                       activation("logits", [10], float(logits.min()), float(logits.max())), {})
    probability = {"name": "probability", "dtype": "int8", "shape": [1, 10], "scale": 1 / 256, "zero_point": -128}
    model.operator("SOFTMAX", [x["name"]], probability, {"beta": 1.0})
    return {"description": "digits drawn by hand, 16 x 16; trained and quantised by train.py",
            "tensors": model.tensors, "operators": model.operators, "inputs": ["picture"], "outputs": ["probability"]}


def right_answers(ingot, model, pictures, labels):
    """How many of `pictures` the int8 network gets right, by the reference executor."""
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture.bin")
        for picture, label in zip(pictures, labels):
            np.round(picture * 255 - 128).astype(np.int8).tofile(path)
            done = subprocess.run([ingot, "run", model, "--input", path, "--json"], capture_output=True, check=True)
            right += int(np.argmax(json.loads(done.stdout)["outputs"][0]["data"]) == label)
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("write", help="tflite_write, the program that makes a .tflite of JSON")
    parser.add_argument("ingot")
    args = parser.parse_args()
    random = np.random.default_rng(20)
    weights = train(random)
    model = os.path.join(HERE, "digits.tflite")
    text = json.dumps(quantise(weights, draw_many(1000, random)[0]))
    subprocess.run([args.write, "-", model], input=text.encode(), check=True)
    with open(os.path.join(HERE, "sample.txt"), "w", encoding="utf-8") as file:
        for row in draw(5, np.random.default_rng(3))[:, :, 0]:
            file.write("".join(" .:-=+*#%@"[int(v * 9.99)] for v in row).rstrip() + "\n")
    test, labels = draw_many(1000, np.random.default_rng(7))
    print(f"float32: {(forward(weights, test)[0].argmax(1) == labels).sum()} of 1000 fresh digits right")
    print(f"int8: {right_answers(args.ingot, model, test, labels)} of the same 1000")


if __name__ == "__main__":
    main()
