#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of `ingot` that compute: run, validate, bench.

    test_cli_runs.py INGOT TFLITE_WRITE SOURCE_FOLDER [TEST...]
"""
import array
import json
import os
import pathlib
import shutil
import sys
import unittest

from command_line import Cli, npy


class Run(Cli):
    def test_raw_and_npy_inputs_agree(self):
        raw = self.write("x.bin", bytes([1, 255, 7]))
        array_file = self.write("x.npy", npy("|i1", (1, 3), bytes([1, 255, 7])))
        first = self.json_of("run", self.model, "--input", raw, "--json")
        second = self.json_of("run", self.model, "--input", array_file, "--json")
        self.assertEqual(first, second)
        output = first["outputs"][0]
        self.assertEqual((output["name"], output["dtype"], output["shape"]), ("y", "int8", [1, 4]))
        self.assertEqual(len(output["data"]), 4)
        # A softmax: its probabilities, in units of 1/256, add up to about 1.
        self.assertAlmostEqual(sum(v + 128 for v in output["data"]) / 256, 1, delta=0.03)

    def test_outputs_as_npy(self):
        raw = self.write("x.bin", bytes([1, 255, 7]))
        data = self.json_of("run", self.model, "--input", raw, "--json")["outputs"][0]["data"]
        self.assertEqual(self.ingot("run", self.model, "-i", raw, "-o", self.path("out")).stdout, "")
        written = pathlib.Path(self.path("out/y.npy")).read_bytes()
        self.assertEqual(written, npy("|i1", (1, 4), array.array("b", data).tobytes()))

    def test_wrong_inputs(self):
        self.ingot("run", self.model, code=2)
        self.ingot("run", self.model, "-i", self.path("absent.npy"), code=1)
        self.ingot("run", self.model, "-i", self.write("short.bin", b"ab"), code=1)
        done = self.ingot("run", self.model, "-i", self.write("f.npy", npy("<f4", (1, 3), bytes(12))), code=1)
        self.assertIn("float32[1,3]", done.stderr)
        self.assertIn("int8[1,3]", done.stderr)


class Validate(Cli):
    KEYS = {"equal", "compared", "different", "max_difference", "vectors"}

    def vectors(self, change=0):
        inputs = bytes([1, 255, 7])
        raw = self.write("x.bin", inputs)
        data = self.json_of("run", self.model, "--input", raw, "--json")["outputs"][0]["data"]
        data[0] += change
        os.makedirs(self.path("vectors"), exist_ok=True)
        desc = {"inputs": [{"name": "x", "type": "int8", "shape": [1, 3]}],
                "outputs": [{"name": "y", "type": "int8", "shape": [1, 4]}], "vectors": [0]}
        self.write("vectors/desc.json", json.dumps(desc).encode())
        self.write("vectors/0.in0.bin", inputs)
        self.write("vectors/0.out0.bin", array.array("b", data).tobytes())
        return self.path("vectors")

    def test_random_vectors(self):
        result = self.json_of("validate", self.model, "--random", "5", "--seed", "1", "--json")
        self.assertLessEqual(self.KEYS, set(result))
        self.assertEqual((result["equal"], result["compared"], result["different"], result["vectors"]),
                         (True, 20, 0, 5))
        self.assertIn("equal on c99", self.ingot("validate", self.model).stdout)

    def test_layers(self):
        result = self.json_of("validate", self.model, "--layers", "--json")
        self.assertTrue(result["equal"])
        names = {t["name"] for t in result["tensors"]}
        self.assertLessEqual({"y", "hidden", "logits"}, names)

    def test_recorded_vectors(self):
        self.assertTrue(self.json_of("validate", self.model, "--vectors", self.vectors(), "--json")["equal"])
        result = self.json_of("validate", self.model, "--vectors", self.vectors(change=-1), "--json", code=4)
        self.assertEqual((result["equal"], result["different"], result["max_difference"]), (False, 1, 1))
        text = self.ingot("validate", self.model, "--vectors", self.vectors(change=-1), code=4).stdout
        self.assertIn('"y": 1 of 4 elements differ', text)

    def test_shadow(self):
        for options in ([], ["--layers"], ["--io", "arena", "--reuse-inputs"]):
            result = self.json_of("validate", self.model, "--shadow", "--json", *options)
            self.assertEqual((result["equal"], result["violations"]), (True, []))

    def test_damaged_vectors(self):
        folder = self.vectors()
        self.write("vectors/0.out0.bin", b"abc")
        self.ingot("validate", self.model, "--vectors", folder, code=1)
        self.write("vectors/desc.json", b"{")
        self.ingot("validate", self.model, "--vectors", folder, code=1)
        self.ingot("validate", self.model, "--vectors", self.path("nowhere"), code=1)

    def test_usage_and_missing_programs(self):
        self.ingot("validate", self.model, "--cc", "no-such-compiler", code=5)
        done = self.ingot("validate", self.model, "--target", "cortex-m4", code=5, env={"PATH": "/nonexistent"})
        self.assertIn("gcc-arm-none-eabi", done.stderr)

    def test_on_processors(self):
        runs_on = {t["name"]: t["runs_on"] for t in self.json_of("targets", "--json")["targets"]}
        for target in ("x86-64-v3", "x86-64-avx512vnni"):
            if runs_on[target] is None:
                done = self.ingot("validate", self.model, "--target", target, code=2)
                self.assertIn("this machine's processor", done.stderr)
            else:
                self.assertEqual(runs_on[target], "host")
                self.assertTrue(self.json_of("validate", self.model, "--target", target, "--json")["equal"])
        self.assertEqual(runs_on["aarch64"], "qemu-aarch64")
        done = self.ingot("bench", self.model, "--target", "aarch64", code=2)
        self.assertIn("neither its times nor counts", done.stderr)
        if not shutil.which("aarch64-linux-gnu-gcc") or not shutil.which("qemu-aarch64"):
            self.skipTest("aarch64-linux-gnu-gcc or qemu-aarch64 is not installed")
        self.assertTrue(self.json_of("validate", self.model, "--target", "aarch64", "--json")["equal"])

    def test_on_cores_the_stack_stays_below_its_bound(self):
        arm = ("arm-none-eabi-gcc", "qemu-system-arm")
        cores = {"cortex-m0plus": arm, "cortex-m4": arm, "cortex-m55": arm,
                 "rv32imc": ("riscv64-unknown-elf-gcc", "qemu-system-riscv32")}
        installed = [core for core, programs in cores.items() if all(map(shutil.which, programs))]
        if not installed:
            self.skipTest("neither compilers nor emulators of cores are installed")
        for target in installed:
            result = self.json_of("validate", self.model, "--target", target, "--random", "2", "--json")
            self.assertTrue(result["equal"], result)
            bound = json.loads(self.compiled("--target", target)["net.json"])["stack_bytes"]
            self.assertGreater(result["stack_bytes"], 0)
            if target == "rv32imc":
                self.assertIsNone(bound)  # stated for Cortex-M only
            else:
                self.assertLessEqual(result["stack_bytes"], bound)


class Bench(Cli):
    def test_on_the_host(self):
        result = self.json_of("bench", self.model, "--runs", "5", "--layers", "--json")
        self.assertEqual(result["target"], "c99")
        self.assertIsNone(result["instructions"])
        self.assertGreater(result["nanoseconds"], 0)
        self.assertEqual([layer["kind"] for layer in result["layers"]],
                         ["fully_connected", "fully_connected", "softmax"])

    def test_on_a_core_counts_are_exact(self):
        if not shutil.which("arm-none-eabi-gcc") or not shutil.which("qemu-system-arm"):
            self.skipTest("arm-none-eabi-gcc or qemu-system-arm is not installed")
        results = [self.json_of("bench", self.model, "--target", "cortex-m4", "--json") for _ in range(2)]
        self.assertEqual(results[0], results[1])
        self.assertGreater(results[0]["instructions"], 100)
        self.assertIsNone(results[0]["nanoseconds"])
        layers = self.json_of("bench", self.model, "--target", "cortex-m4", "--layers", "--json")["layers"]
        self.assertEqual(len(layers), 3)
        self.assertTrue(all(layer["instructions"] > 0 for layer in layers))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
