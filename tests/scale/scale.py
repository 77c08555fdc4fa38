#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How time, memory and text of `ingot compile` grow with the model.

    scale.py BUILD_FOLDER [TEST...]                tests, with generous bounds
    scale.py BUILD_FOLDER --measure NETWORK SIZE   measures one: a chain or a various of SIZE operators
    scale.py BUILD_FOLDER --describe NETWORK SIZE  its description on standard output

Bounds compare runs with each other where they can, so that a slow machine passes too.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
IS_RELEASE = "CMAKE_BUILD_TYPE:STRING=Release" in (BUILD / "CMakeCache.txt").read_text()
MIB = 1 << 20


def dense_layers(layers, width):
    """`layers` dense layers of width x width weights."""
    tensors = [{"name": "t0", "dtype": "int8", "shape": [1, width], "scale": 0.05, "zero_point": 3}]
    operators = []
    for i in range(layers):
        tensors += [{"name": f"w{i}", "dtype": "int8", "shape": [width, width], "scale": 0.001,
                     "data": {"random": i}},
                    {"name": f"t{i + 1}", "dtype": "int8", "shape": [1, width], "scale": 0.05, "zero_point": 3}]
        operators.append({"op": "FULLY_CONNECTED", "inputs": [f"t{i}", f"w{i}"], "outputs": [f"t{i + 1}"]})
    return {"tensors": tensors, "operators": operators, "inputs": ["t0"], "outputs": [f"t{layers}"]}


def chain(operators):
    """A chain of different kinds, with residual additions over a few steps."""
    def tensor(i):
        return {"name": f"t{i}", "dtype": "int8", "shape": [1, 2, 2, 4], "scale": 0.05, "zero_point": 3}

    steps = []
    for i in range(operators):
        inputs, options = [i], {}
        kind = ["ADD", "RELU", "MAX_POOL_2D", "MUL", "LOGISTIC"][i % 5]
        if kind in ("ADD", "MUL"):
            inputs.append(max(0, i - 3))
        elif kind == "MAX_POOL_2D":
            options = {"padding": "SAME", "stride_h": 1, "stride_w": 1, "filter_height": 2, "filter_width": 2}
        steps.append({"op": kind, "inputs": inputs, "outputs": [i + 1], "options": options})
        if kind in ("RELU", "LOGISTIC"):
            del steps[-1]["options"]
    tensors = [tensor(i) for i in range(operators + 1)]
    for i in range(5, operators + 1, 5):  # what LOGISTIC writes
        tensors[i].update(scale=1 / 256, zero_point=-128)
    return {"tensors": tensors, "operators": steps, "inputs": [0], "outputs": [operators]}


def various(operators):
    """A chain in which no two layers have the same shapes, so that each has a kernel of its own."""
    def units(i):
        return 1 + i % 97 if i % 2 == 0 else 1 + i // 2 % 89

    def tensor(i):
        return {"name": f"t{i}", "dtype": "int8", "shape": [1, units(i)], "scale": 0.05, "zero_point": i % 100}

    weights = [{"name": f"w{i}", "dtype": "int8", "shape": [units(i + 1), units(i)], "scale": 0.01,
                "data": {"random": i}} for i in range(operators)]
    steps = [{"op": "FULLY_CONNECTED", "inputs": [i, operators + 1 + i], "outputs": [i + 1]} for i in range(operators)]
    return {"tensors": [tensor(i) for i in range(operators + 1)] + weights, "operators": steps, "inputs": [0],
            "outputs": [operators]}


def fan(operators):
    """All results are alive at once, and one operator reads them all."""
    def tensor(i, count=1):
        return {"name": f"t{i}", "dtype": "int8", "shape": [1, 3 * count], "scale": 0.05, "zero_point": i % 50}

    branches = [tensor(i + 1) for i in range(operators)]
    whole = {**tensor(operators + 1, operators), "zero_point": -7}
    steps = [{"op": "QUANTIZE", "inputs": [0], "outputs": [i + 1]} for i in range(operators)]
    steps.append({"op": "CONCATENATION", "inputs": list(range(1, operators + 1)), "outputs": [operators + 1],
                  "options": {"axis": 1}})
    return {"tensors": [tensor(0), *branches, whole], "operators": steps, "inputs": [0], "outputs": [operators + 1]}


def nested(operators):
    """Each whole is part of the next, all of one scale, so that all are one tied group."""
    def tensor(name, width):
        return {"name": name, "dtype": "int8", "shape": [1, width], "scale": 0.05, "zero_point": 3}

    tensors = [tensor("x", 3), tensor("whole0", 3), {"name": "axes", "dtype": "int32", "shape": [1], "data": [1]}]
    steps = [{"op": "RELU", "inputs": ["x"], "outputs": ["whole0"]}]
    for i in range(1, operators // 2):
        tensors += [tensor(f"part{i}", 1), tensor(f"whole{i}", 3 + i)]
        steps += [{"op": "MEAN", "inputs": ["x", "axes"], "outputs": [f"part{i}"], "options": {"keep_dims": True}},
                  {"op": "CONCATENATION", "inputs": [f"whole{i - 1}", f"part{i}"], "outputs": [f"whole{i}"],
                   "options": {"axis": 1}}]
    steps.append({"op": "RELU", "inputs": [tensors[-1]["name"]], "outputs": ["y"]})
    tensors.append(tensor("y", tensors[-1]["shape"][1]))
    return {"tensors": tensors, "operators": steps, "inputs": ["x"], "outputs": ["y"]}


def outputs(operators):
    """Every result is an output, and the input is read by all."""
    tensors = [{"name": f"t{i}", "dtype": "int8", "shape": [2, 3], "scale": 0.05, "zero_point": 3}
               for i in range(operators + 1)]
    steps = [{"op": "RELU", "inputs": [0], "outputs": [i + 1]} for i in range(operators)]
    return {"tensors": tensors, "operators": steps, "inputs": [0], "outputs": list(range(1, operators + 1))}


def alive(operators):
    """Results that wait long: added up in the reverse order of their making."""
    def tensor(name):
        return {"name": name, "dtype": "int8", "shape": [1, 5], "scale": 0.05, "zero_point": 3}

    half = operators // 2
    tensors = [tensor(f"t{i}") for i in range(half + 1)] + [tensor(f"s{i}") for i in range(half)]
    steps = [{"op": "RELU", "inputs": [f"t{i}"], "outputs": [f"t{i + 1}"]} for i in range(half)]
    for i in range(half):
        last = f"s{i - 1}" if i > 0 else f"t{half}"
        steps.append({"op": "ADD", "inputs": [last, f"t{half - 1 - i}"], "outputs": [f"s{i}"]})
    return {"tensors": tensors, "operators": steps, "inputs": ["t0"], "outputs": [f"s{half - 1}"]}


NETWORKS = {"dense": lambda size: dense_layers(size, 512), "chain": chain, "various": various, "fan": fan,
            "nested": nested, "outputs": outputs, "alive": alive}


class Run:
    """One compilation: exit code, seconds of the processor, peak of memory in MiB, what it wrote."""

    def __init__(self, folder, network, size):
        model, self.out, errors = folder / "model.tflite", folder / "out", folder / "stderr"
        # Processes of their own: the peak of a child is at least what its parent had when it began.
        describe = subprocess.Popen([sys.executable, __file__, BUILD, "--describe", network, str(size)],
                                    stdout=subprocess.PIPE)
        subprocess.run([BUILD / "tests" / "tflite_write", "-", model], stdin=describe.stdout, check=True)
        describe.stdout.close()
        describe.wait()
        self.model_bytes = model.stat().st_size
        start = time.monotonic()
        with open(errors, "wb") as stderr:
            child = subprocess.Popen([BUILD / "ingot", "compile", model, "-o", self.out, "--quiet"], stderr=stderr)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.code = child.returncode
        self.elapsed = time.monotonic() - start
        self.seconds = usage.ru_utime + usage.ru_stime
        self.mib = usage.ru_maxrss / 1024
        self.errors = errors.read_text()
        self.text = self.longest = 0
        for path in sorted(self.out.glob("*.[ch]")):
            with open(path, "rb") as lines:
                self.longest = max(self.longest, *map(len, lines))
            self.text += path.stat().st_size

    def __str__(self):
        return (f"{self.seconds:.2f} s ({self.elapsed:.2f} s elapsed), {self.mib:.0f} MiB at most, "
                f"{self.text / MIB:.1f} MiB of C")


def run(network, size):
    with tempfile.TemporaryDirectory(prefix="ingot-scale-") as folder:
        return Run(pathlib.Path(folder), network, size)


class Scale(unittest.TestCase):
    def compiled(self, network, size):
        result = run(network, size)
        self.assertEqual(result.code, 0, result.errors[:1000])
        print(f"{network} {size}: {result}")
        return result

    # X10: bytes of text per weight, lengths of lines. Here too: time and memory grow as the weights do.
    def test_x10_text_of_weights(self):
        layers = [1, 4, 16]
        runs = [self.compiled("dense", n) for n in layers]
        for n, result in zip(layers, runs):
            self.assertLess(result.text, 5 * n * 512 * 512 + 50000)
            self.assertLess(result.longest, 4096)
        # A model of the size of real ones (1 MiB) in less than 200 MB.
        self.assertLess(runs[1].mib, 190)
        # From 4 to 16 layers, at most 4 times what came from 1 to 4, and half of that again.
        self.assertLess(runs[2].mib - runs[1].mib, 1.5 * 4 * max(runs[1].mib - runs[0].mib, 10))
        self.assertLess(runs[2].seconds, 2 * 4 * max(runs[1].seconds, 0.05))

    def check_growth(self, network, small, large):
        first, second = self.compiled(network, small), self.compiled(network, large)
        self.assertLess(second.seconds, 2 * large / small * max(first.seconds, 0.1))
        self.assertLess(second.mib, 1.5 * large / small * max(first.mib, 40))
        if IS_RELEASE:
            self.assertLess(second.seconds, 10)

    def test_chains_of_operators(self):
        self.check_growth("chain", 2500, 10000)

    def test_results_that_are_alive_together(self):
        self.check_growth("alive", 1000, 4000)

    def test_outputs(self):
        self.check_growth("outputs", 1000, 4000)

    def test_operators_of_different_shapes(self):
        self.check_growth("various", 500, 2000)


def main():
    if sys.argv[2:3] == ["--describe"]:
        json.dump(NETWORKS[sys.argv[3]](int(sys.argv[4])), sys.stdout)
        return 0
    if sys.argv[2:3] == ["--measure"]:
        result = run(sys.argv[3], int(sys.argv[4]))
        print(f"a file of {result.model_bytes / MIB:.0f} MiB, exit {result.code}: {result}")
        print(result.errors[:2000], end="")
        return 0 if result.code in (0, 1, 3) else 1
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
