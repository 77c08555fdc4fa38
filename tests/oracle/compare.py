#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds ingot's reference against TFLite's interpreter (tflite_wasm.js), operator by operator.

    compare.py INGOT [--rounding float] [--vectors 3] [--most-different 0] MODEL.tflite...

Every convolution, depthwise convolution and dense layer of an int8 model is run by `ingot run` on what
the interpreter gave that layer, for random inputs of the model, and must give what the interpreter
gave. Softmax layers, which the interpreter computes by a table of floats, are listed, not judged. Exit 1 if more than --most-different elements in a million differ, or one by
more than 1. The interpreter uses XNNPACK: --rounding float is its arithmetic, single the other.
Exit 77 (skipped) where node or the package @tensorflow/tfjs-tflite is not installed.
"""
import argparse
import base64
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tflite_variant  # noqa: E402

KINDS = {3: "conv_2d", 4: "depthwise_conv_2d", 9: "fully_connected", 25: "softmax"}
JUDGED = (3, 4, 9)
SKIPPED = 77


def is_installed():
    """Whether the interpreter is; says so if not."""
    probe = subprocess.run(["node", "-e", "require.resolve('@tensorflow/tfjs-tflite/package.json')"], cwd=HERE,
                           capture_output=True, check=False) if shutil.which("node") else None
    if probe and probe.returncode == 0:
        return True
    print("skipped: node or @tensorflow/tfjs-tflite is not installed (npm ci in tests/oracle)")
    return False


def interpret(model, requests):
    """The interpreter's answers, each a list of the outputs' bytes."""
    text = "".join(json.dumps([base64.b64encode(i).decode() for i in inputs]) + "\n" for inputs in requests)
    done = subprocess.run(["node", os.path.join(HERE, "tflite_wasm.js"), model], input=text,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{model}: {done.stderr.strip()}")
    return [[base64.b64decode(o["data"]) for o in json.loads(line)["outputs"]]
            for line in done.stdout.splitlines()]


def signed(data):
    return [b - 256 if b > 127 else b for b in data]


def run(ingot, model, data, rounding, folder):
    path = os.path.join(folder, "input.bin")
    with open(path, "wb") as file:
        file.write(data)
    done = subprocess.run([ingot, "run", model, "--input", path, "--rounding", rounding, "--json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["outputs"][0]["data"]


def input_sizes(ingot, model):
    done = subprocess.run([ingot, "inspect", model, "--json"], capture_output=True, text=True, check=True)
    return [i["bytes"] for i in json.loads(done.stdout)["inputs"]]


def compare(args, path, folder):
    """Lines that say how each layer compares, elements compared, elements that differ, the greatest difference."""
    with open(path, "rb") as file:
        model = file.read()
    whole = os.path.join(folder, "exposed.tflite")
    with open(whole, "wb") as file:
        file.write(tflite_variant.exposed(model))
    draw = random.Random(1)
    requests = [[draw.randbytes(size) for size in input_sizes(args.ingot, path)] for _ in range(args.vectors)]
    tensors = tflite_variant.outputs_of(tflite_variant.exposed(model))
    inputs = tflite_variant.indices(model, tflite_variant.field(
        model, tflite_variant.subgraph(model), tflite_variant.INPUTS))
    known = [{**dict(zip(inputs, request)), **dict(zip(tensors, answer))}
             for request, answer in zip(requests, interpret(whole, requests))]
    total = [0, 0, 0]
    for index, (code, read, written) in enumerate(tflite_variant.operators(model)):
        if code not in KINDS:
            continue
        single = os.path.join(folder, "single.tflite")
        with open(single, "wb") as file:
            file.write(tflite_variant.single(model, index))
        layer = [0, 0, 0]
        for values in known:
            ours = run(args.ingot, single, values[read[0]], args.rounding, folder)
            theirs = signed(values[written[0]])
            differences = [abs(a - b) for a, b in zip(ours, theirs, strict=True)]
            layer = [layer[0] + len(theirs), layer[1] + sum(d != 0 for d in differences),
                     max([layer[2]] + differences)]
        if layer[1]:
            print(f"  operator {index} ({KINDS[code]}): {layer[1]} of {layer[0]} differ, by {layer[2]} at most")
        if code not in JUDGED:
            continue
        total = [total[0] + layer[0], total[1] + layer[1], max(total[2], layer[2])]
    print(f"{os.path.basename(os.path.dirname(path))}/{os.path.basename(path)}: {args.vectors} inputs, "
          f"{total[0]} elements, {total[1]} differ, by {total[2]} at most", flush=True)
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingot")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounding", default="float")
    parser.add_argument("--vectors", type=int, default=3)
    parser.add_argument("--most-different", type=float, default=0, help="elements in a million")
    args = parser.parse_args()
    if not is_installed():
        return SKIPPED
    total = [0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for path in args.models:
            if not os.path.exists(path):
                print(f"skipped: {path} is not there")
                continue
            one = compare(args, path, folder)
            total = [total[0] + one[0], total[1] + one[1], max(total[2], one[2])]
    print(f"--rounding {args.rounding}: {total[0]} elements, {total[1]} differ, by {total[2]} at most")
    return 0 if total[0] and total[1] * 1e6 <= args.most_different * total[0] and total[2] <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
