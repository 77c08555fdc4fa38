#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layers of float activations and int8 weights against TFLite's interpreter (tflite_wasm.js).

    hybrid.py INGOT TFLITE_WRITE             against the answers recorded in hybrid.json
    hybrid.py INGOT TFLITE_WRITE --record    asks the interpreter and writes them
    hybrid.py INGOT [--target cortex-m4] [--keep FOLDER] --validate MODEL...
                                             whole models: NAME/model.tflite with NAME/K.in0.bin; the
                                             outputs are recorded (FOLDER/NAME gets model and vectors),
                                             and `ingot validate` compares with them

Layers and inputs are drawn from seeds; hybrid.json holds what the interpreter gave, as hexadecimal
bytes, so that a checkout alone proves it. The reference executor must give the same bits, and the generated C what
it gives (`ingot validate --random`). Layers that the interpreter of that package computes wrongly
(dense with a scale per channel: it takes the first for all) are not among them.
Exit 77 (skipped) where something needed is not installed or a model is not there.
"""
import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import compare

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "hybrid.json")
SKIPPED = 77


def real(draw, low, high):
    """A float32 as the JSON number that reads back exactly."""
    return struct.unpack("<f", struct.pack("<f", draw.uniform(low, high)))[0]


def scales(draw, count, axis):
    if not count:
        return {"scale": real(draw, 0.001, 0.02), "zero_point": 0}
    return {"scale": [real(draw, 0.001, 0.02) for _ in range(count)], "zero_point": [0] * count, "axis": axis}


def layer(draw, kind, x, weights, y, options, per_channel):
    """A model of one layer, as tflite_write reads it."""
    axis = 3 if kind == "DEPTHWISE_CONV_2D" else 0
    channels = weights[axis]
    size = 1
    for extent in weights:
        size *= extent
    tensors = [{"name": "x", "dtype": "float32", "shape": x},
               {"name": "w", "dtype": "int8", "shape": weights, "data": [draw.randint(-127, 127) for _ in range(size)],
                **scales(draw, channels if per_channel else 0, axis)},
               {"name": "b", "dtype": "float32", "shape": [channels], "data": [real(draw, -1, 1) for _ in range(channels)]},
               {"name": "y", "dtype": "float32", "shape": y}]
    return {"tensors": tensors, "inputs": ["x"], "outputs": ["y"],
            "operators": [{"op": kind, "version": 5, "inputs": ["x", "w", "b"], "outputs": ["y"], "options": options}]}


def layers():
    """(name, model) of each layer."""
    draw = random.Random(5)
    conv = {"padding": "SAME", "stride_w": 1, "stride_h": 1}
    narrow = {"padding": "VALID", "stride_w": 2, "stride_h": 1, "fused_activation_function": "RELU6"}
    each = dict(conv, depth_multiplier=1)
    twice = dict(narrow, depth_multiplier=2)
    asymmetric = {"asymmetric_quantize_inputs": True, "fused_activation_function": "RELU"}
    dense, image, depthwise = "FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D"
    rows = [
        ("dense", dense, [1, 40], [12, 40], [1, 12], {}, False),
        ("dense_batch", dense, [3, 33], [5, 33], [3, 5], {"fused_activation_function": "RELU"}, False),
        ("dense_asymmetric", dense, [1, 40], [12, 40], [1, 12], {"asymmetric_quantize_inputs": True}, False),
        ("dense_asymmetric_batch", dense, [3, 33], [5, 33], [3, 5], asymmetric, False),
        ("conv", image, [1, 6, 5, 3], [7, 3, 3, 3], [1, 6, 5, 7], conv, False),
        ("conv_batch", image, [2, 6, 5, 3], [7, 3, 2, 3], [2, 4, 2, 7], narrow, False),
        ("conv_per_channel", image, [1, 6, 5, 3], [7, 3, 3, 3], [1, 6, 5, 7], conv, True),
        ("conv_per_channel_batch", image, [2, 6, 5, 3], [7, 3, 2, 3], [2, 4, 2, 7], narrow, True),
        ("conv_groups", image, [1, 6, 5, 4], [6, 3, 3, 2], [1, 6, 5, 6], conv, True),
        ("depthwise", depthwise, [1, 6, 5, 3], [1, 3, 3, 3], [1, 6, 5, 3], each, True),
        ("depthwise_twice", depthwise, [2, 6, 5, 3], [1, 3, 2, 6], [2, 4, 2, 6], twice, True),
    ]
    return [(row[0], layer(draw, *row[1:])) for row in rows]


def inputs_of(name, model):
    """Two inputs of each layer: numbers around 0, and (for another scale) nearly all above it."""
    draw = random.Random(name)
    size = 1
    for extent in model["tensors"][0]["shape"]:
        size *= extent
    return [struct.pack(f"<{size}f", *[draw.uniform(low, high) for _ in range(size)])
            for low, high in ((-3, 3), (-0.02, 0.7))]


def write_model(writer, model, path):
    subprocess.run([writer, "-", path], input=json.dumps(model), text=True, check=True, stdout=subprocess.DEVNULL)


def record(args, folder):
    recorded = {}
    for name, model in layers():
        path = os.path.join(folder, name + ".tflite")
        write_model(args.writer, model, path)
        answers = compare.interpret(path, [[data] for data in inputs_of(name, model)])
        recorded[name] = [answer[0].hex() for answer in answers]
    with open(RECORDED, "w", encoding="utf-8") as file:
        json.dump(recorded, file, indent=1)
        file.write("\n")
    return 0


def run(ingot, model, data, rounding, folder):
    path = os.path.join(folder, "input.bin")
    with open(path, "wb") as file:
        file.write(data)
    subprocess.run([ingot, "run", model, "--input", path, "--rounding", rounding, "-o", folder],
                   check=True, capture_output=True)
    with open(os.path.join(folder, "y.npy"), "rb") as file:
        return file.read()[128:]


def check(args, folder):
    with open(RECORDED, encoding="utf-8") as file:
        recorded = json.load(file)
    faults = 0
    for name, model in layers():
        path = os.path.join(folder, name + ".tflite")
        write_model(args.writer, model, path)
        for data, expected in zip(inputs_of(name, model), recorded[name], strict=True):
            for rounding in ("double", "single", "float"):
                actual = run(args.ingot, path, data, rounding, folder).hex()
                if actual != expected:
                    faults += 1
                    print(f"{name}, --rounding {rounding}: {actual[:64]}... instead of {expected[:64]}...")
        done = subprocess.run([args.ingot, "validate", path, "--random", "3", "--seed", "1"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            faults += 1
            print(f"{name}: validate: {done.stdout}{done.stderr}")
    print(f"{len(recorded)} layers, {faults} faults")
    return 1 if faults else 0


def validate(args, folder):
    """Models that are there: outputs recorded for their inputs, then compared with the C's."""
    faults = checked = 0
    for path in args.models:
        if not os.path.exists(path):
            continue
        checked += 1
        name = os.path.basename(os.path.dirname(path))
        source = os.path.dirname(path)
        with open(os.path.join(source, "desc.json"), encoding="utf-8") as file:
            desc = json.load(file)
        vectors = os.path.join(args.keep or folder, name)
        os.makedirs(vectors, exist_ok=True)
        shutil.copy(path, vectors)
        requests = []
        for k in desc["vectors"]:
            with open(os.path.join(source, f"{k}.in0.bin"), "rb") as file:
                requests.append([file.read()])
        answers = compare.interpret(path, requests)
        for k, request, answer in zip(desc["vectors"], requests, answers):
            for kind, data in (("in0", request[0]), ("out0", answer[0])):
                with open(os.path.join(vectors, f"{k}.{kind}.bin"), "wb") as file:
                    file.write(data)
        shutil.copy(os.path.join(source, "desc.json"), vectors)
        done = subprocess.run([args.ingot, "validate", path, "--vectors", vectors, "--target", args.target],
                              capture_output=True, text=True, check=False)
        print(f"{name}, {args.target}: {(done.stdout + done.stderr).strip()}", flush=True)
        faults += done.returncode != 0
    if not checked:
        print("skipped: none of the models is there")
        return SKIPPED
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingot")
    parser.add_argument("writer", nargs="?")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--validate", dest="models", nargs="+", default=[])
    parser.add_argument("--target", default="c99")
    parser.add_argument("--keep", metavar="FOLDER")
    args = parser.parse_args()
    if (args.record or args.models) and not compare.is_installed():
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        if args.models:
            return validate(args, folder)
        return record(args, folder) if args.record else check(args, folder)


if __name__ == "__main__":
    sys.exit(main())
