#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program assay as its users meet it: exit codes, and one line that says what is wrong.

    run.py ASSAY GOLDENS
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ASSAY, GOLDENS = sys.argv[1], pathlib.Path(sys.argv[2])


class Assay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ingot-assay-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "out"
        shutil.copytree(GOLDENS / "branches" / "expected", self.folder)

    def judged(self, argument, code):
        done = subprocess.run([ASSAY, argument], capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, said)
        self.assertEqual(said.count("\n"), 1, said)
        return said

    def change(self, suffix, pattern, replacement):
        path = self.folder / ("branches" + suffix)
        text, count = re.subn(pattern, replacement, path.read_text(), count=1)
        self.assertEqual(count, 1)
        path.write_text(text)

    def test_true_claims(self):
        for folder in sorted(GOLDENS.glob("*/expected")):
            self.assertIn("all claims hold", self.judged(folder, 0))
            self.assertIn("all claims hold", self.judged(folder / (folder.parent.name + ".json"), 0))

    def test_lies(self):
        for pattern, replacement, sentence in [
                (r'"last": \d+', '"last": 99', "another last of"),
                (r'"size_bytes": \d+', '"size_bytes": 99', "another size_bytes of"),
                (r'"lower_bound_bytes": \d+', '"lower_bound_bytes": 99999', "the lower bound is above the arena"),
                (r'"arena_bytes": \d+', '"arena_bytes": 1', "is outside the arena")]:
            with self.subTest(sentence):
                self.setUp()
                self.change(".json", pattern, replacement)
                said = self.judged(self.folder, 4)
                self.assertIn("wrong: ", said)
                self.assertIn(sentence, said)

    def test_truncated_files(self):
        json, loops = self.folder / "branches.json", self.folder / "branches.loops"
        loops.write_text(loops.read_text()[:-2])
        self.assertIn("of the loop program: ", self.judged(self.folder, 1))
        json.write_text(json.read_text()[:-2])
        self.assertIn("is no NAME.json", self.judged(self.folder, 1))

    def test_files_that_are_not_there(self):
        (self.folder / "branches.loops").unlink()
        self.assertIn("does not hold exactly one NAME.json", self.judged(self.folder, 1))
        self.assertIn("line 1 of the loop program: expected program", self.judged(self.folder / "branches.json", 1))
        self.judged(self.folder / "nothing", 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
