# SPDX-License-Identifier: Apache-2.0
"""The option --flash-limit of the program `ingot`; called as command_line.py says."""
import json
import os
import shutil
import sys
import unittest

from command_line import Cli

WINDOW = {
    "tensors": [
        {"name": "x", "dtype": "int8", "shape": [1, 8, 12, 8], "scale": 0.05, "zero_point": -128},
        {"name": "w", "dtype": "int8", "shape": [8, 3, 3, 8], "scale": 0.01, "zero_point": 0, "data": {"random": 1}},
        {"name": "y", "dtype": "int8", "shape": [1, 8, 12, 8], "scale": 0.2, "zero_point": -128}],
    "operators": [
        {"op": "CONV_2D", "version": 3, "inputs": ["x", "w", -1], "outputs": ["y"],
         "options": {"padding": "SAME", "stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1,
                     "fused_activation_function": "RELU"}}],
    "inputs": ["x"], "outputs": ["y"]}


class FlashLimit(Cli):
    def setUp(self):
        super().setUp()
        self.window = self.write_model(WINDOW, "window.tflite")

    def facts(self, *options):
        files = self.compiled("--target", "cortex-m4", "--name", "k", *options, model=self.window)
        return json.loads(files["k.json"]), files

    def test_what_is_left_goes_into_speed(self):
        plain, plain_files = self.facts()
        self.assertNotIn("flash_limit", plain["options"])
        self.assertNotIn("expansion", plain["operators"][0])
        self.assertNotIn("expansions", self.json_of("inspect", self.window, "--target", "cortex-m4", "--json"))
        same, _ = self.facts("--flash-limit", plain["weights_bytes"])
        self.assertNotIn("expansion", same["operators"][0])
        larger, files = self.facts("--flash-limit", "5000")
        expansion = larger["operators"][0]["expansion"]
        self.assertEqual((expansion["algorithm"], expansion["weights_bytes"], expansion["scratch_bytes"]),
                         ("Winograd F(2x2, 3x3)", 16 * 8 * 8 * 2, 8 * 64 + 512))
        self.assertEqual(larger["weights_bytes"] - plain["weights_bytes"],
                         expansion["weights_bytes"] - expansion["weights_bytes_otherwise"])
        self.assertLess(expansion["estimated_instructions"], expansion["estimated_instructions_otherwise"])
        self.assertEqual(larger["options"]["flash_limit"], 5000)
        self.assertIn(b"--flash-limit 5000", files["k.c"])
        scratch = [b for b in larger["plan"]["buffers"] if b["name"] in ("s_patch", "s_sums")]
        self.assertEqual(sum(b["size_bytes"] for b in scratch), expansion["scratch_bytes"])
        self.assertNotIn(b"smlad(sum_", plain_files["k.c"])
        self.assertIn(b"smlad(sum_", files["k.c"])

    def test_the_summary_and_inspect_say_what_it_takes(self):
        options = ("--target", "cortex-m4", "--flash-limit", "5000")
        what = r"Winograd F\(2x2, 3x3\): weights 2,?048 bytes instead of \d+, scratch 1,?024 bytes"
        self.assertRegex(self.ingot("compile", self.window, "-o", self.path("out"), *options).stdout, what)
        self.assertRegex(self.ingot("inspect", self.window, *options).stdout, what)
        self.assertEqual(len(self.json_of("inspect", self.window, "--json", *options)["expansions"]), 1)

    def test_constants_beyond_the_limit(self):
        done = self.ingot("compile", self.window, "-o", self.path("out"), "--flash-limit", "100", code=3)
        self.assertIn("[flash-limit]", done.stderr)
        self.assertIn("the limit is 100", done.stderr)
        self.assertFalse(os.path.exists(self.path("out")))
        self.assertIn("[flash-limit]", self.ingot("inspect", self.window, "--flash-limit", "100", code=3).stderr)
        self.ingot("explain", "flash-limit")
        self.ingot("compile", self.window, "-o", self.path("out"), "--flash-limit", "-1", code=2)

    def test_the_arena_limit_holds_first(self):
        plain, _ = self.facts()
        larger, _ = self.facts("--flash-limit", "5000")
        self.assertGreater(larger["arena_bytes"], plain["arena_bytes"])
        limited, _ = self.facts("--flash-limit", "5000", "--arena-limit", plain["arena_bytes"])
        self.assertEqual(limited["arena_bytes"], plain["arena_bytes"])
        self.assertNotIn("expansion", limited["operators"][0])

    def test_the_outputs_are_the_same(self):
        if not shutil.which("arm-none-eabi-gcc") or not shutil.which("qemu-system-arm"):
            self.skipTest("the emulated core is not installed")
        result = self.json_of("validate", self.window, "--target", "cortex-m4", "--flash-limit", "5000", "--random", "3",
                              "--json")
        self.assertTrue(result["equal"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
