#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""assay accepts what `ingot compile` writes and rejects the same with one claim changed.

    test_assay.py BUILD_FOLDER
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
TESTS = pathlib.Path(__file__).resolve().parent.parent
NETWORKS = sorted(TESTS.glob("vectors/*/model.json")) + sorted(TESTS.glob("goldens/*/model.json"))
OPTIONS = [[], ["--io", "arena"], ["--io", "arena", "--reuse-inputs"]]


def places(plan):
    """First byte and size of each buffer, by name."""
    return {b["name"]: (b["offset_bytes"], b["size_bytes"]) for b in plan["buffers"]}


def shares_bytes(plan, distance):
    (output, output_size), (source, source_size) = (places(plan)[distance[key]] for key in ("output", "input"))
    return output < source + source_size and source < output + output_size


def changed(report, number):
    """Wrong variants: what is said of the overlap with this number, one word at a time."""
    def variant(change):
        plan = copy.deepcopy(report)
        change(plan["plan"])
        return plan

    distance = report["plan"]["distances"][number]
    output, source = (places(report["plan"])[distance[key]][0] for key in ("output", "input"))
    runs, other = ("forward", "reverse") if distance["runs"] == "forward" else ("reverse", "forward")
    kept = {"forward": source - output, "reverse": output - source}

    def put(key, value):
        return variant(lambda plan: plan["distances"][number].update({key: value}))

    yield "farther apart", put(runs, kept[runs] + 1)
    yield "not at all", put(runs, None)
    yield "in no direction", put("runs", "sideways")
    if distance[other] is None or kept[other] < distance[other]:
        yield "in the other direction", put("runs", other)
    yield "in the next step", put("step", distance["step"] + 1)
    yield "of another output", put("output", distance["input"])
    yield "of another input", put("input", distance["output"])
    yield "not stated", variant(lambda plan: plan["distances"].pop(number))
    yield "not allowed", variant(lambda plan: plan["within"].update(overlap=False))


class Assay(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="ingot-assay-")
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def compile(self, network, options):
        model, out = self.folder / "m.tflite", self.folder / "out"
        subprocess.run([BUILD / "tests" / "tflite_write", network, model], check=True)
        subprocess.run([BUILD / "ingot", "compile", model, "-o", out, "--name", "m", "--quiet", *options], check=True)
        return json.loads((out / "m.json").read_text())

    def judge(self):
        done = subprocess.run([BUILD / "assay", self.folder / "out"], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_accepts_what_is_true(self):
        for network in NETWORKS:
            for options in OPTIONS:
                self.compile(network, options)
                code, text = self.judge()
                self.assertEqual(code, 0, f"{network} {options}: {text}")

    def test_rejects_wrong_overlaps(self):
        wrong = 0
        for network in NETWORKS:
            report = self.compile(network, OPTIONS[-1])
            for number, distance in enumerate(report["plan"]["distances"]):
                if not shares_bytes(report["plan"], distance):
                    continue
                for what, variant in changed(report, number):
                    (self.folder / "out" / "m.json").write_text(json.dumps(variant))
                    code, text = self.judge()
                    self.assertEqual(code, 4, f"{network}, overlap {number} {what}: {text}")
                    self.assertIn("wrong:", text)
                    wrong += 1
        self.assertGreater(wrong, 100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
