# SPDX-License-Identifier: Apache-2.0
"""What tests of the program `ingot` have in common: they are called as

    test_X.py INGOT TFLITE_WRITE SOURCE_FOLDER [TEST...]
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

INGOT, TFLITE_WRITE, SOURCE = (os.path.abspath(a) for a in sys.argv[1:4])
NETWORK = json.loads(pathlib.Path(SOURCE, "tests/support/tflite_write_example.json").read_text())

METADATA_KEYS = {"schema_version", "ingot_version", "name", "model_sha256", "options", "target",
                 "compile_flags", "arena_bytes", "arena_alignment", "stack_bytes", "weights_bytes", "macs",
                 "macs_removed", "inputs", "outputs", "operators", "plan"}
PORT_KEYS = {"name", "c_name", "dtype", "shape", "bytes", "scale", "zero_point", "offset_bytes"}
OPERATOR_KEYS = {"name", "kind", "macs", "function"}
PLAN_KEYS = {"order", "buffers", "distances", "lower_bound_bytes", "optimal", "packing_optimal",
             "order_optimal", "within", "witness"}
BUFFER_KEYS = {"name", "size_bytes", "alignment", "first", "last", "offset_bytes"}


def npy(dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ingot-cli-")
        self.addCleanup(self.folder.cleanup)
        self.model = self.write_model(NETWORK, "net.tflite")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        pathlib.Path(self.path(name)).write_bytes(content)
        return self.path(name)

    def write_model(self, network, name):
        subprocess.run([TFLITE_WRITE, "-", self.path(name)], input=json.dumps(network), text=True, check=True)
        return self.path(name)

    def ingot(self, *arguments, code=0, cwd=None, env=None):
        done = subprocess.run([INGOT, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd,
                              env=dict(os.environ, **(env or {})))
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def json_of(self, *arguments, code=0):
        return json.loads(self.ingot(*arguments, code=code).stdout)

    def compiled(self, *options, folder="out", model=None):
        self.ingot("compile", model or self.model, "-o", self.path(folder), *options)
        return {p.name: p.read_bytes() for p in pathlib.Path(self.path(folder)).rglob("*") if p.is_file()}
