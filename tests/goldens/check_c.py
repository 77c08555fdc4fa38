#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stored texts as what they are for: C that any project can take in. Ids are those of docs/faults.md.

    check_c.py [TEST...]
"""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {path.parent.name: path.parent / "expected" for path in sorted(HERE.glob("*/model.json"))
          if path.parent.name != "cortex_m4"}  # that one is for another compiler
STRICT = ("-pedantic -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion -Wundef "
          "-Wcast-align -Wcast-qual -Werror").split()
DIALECTS = [("gcc", "c99"), ("gcc", "c11"), ("g++", "c++11"), ("g++", "c++20"), ("clang", "c99"),
            ("clang++", "c++11")]


class StoredC(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ingot-c-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, compiler, standard, source, *flags):
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        language = "c++" if standard.startswith("c++") else "c"
        target = self.folder / (source.name + ".o")
        done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-c", source, "-o", target, *flags],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{compiler} -std={standard} {source.name}\n{done.stderr}")
        return target

    def objects(self):
        return {name: [self.build("gcc", "c99", source, "-O1") for source in sorted(folder.glob("*.c"))]
                for name, folder in MODELS.items()}

    def test_x09_x11_dialects_without_warnings(self):
        for compiler, standard in DIALECTS:
            for folder in MODELS.values():
                for source in folder.glob("*.c"):
                    with self.subTest(compiler=compiler, standard=standard, source=source.name):
                        self.build(compiler, standard, source, *STRICT)

    def test_x16_headers_alone_and_x05_together(self):
        for name, folder in MODELS.items():
            alone = self.folder / f"alone_{name}.c"
            alone.write_text(f'#include "{name}.h"\nint unused_{name};\n')
            for compiler, standard in DIALECTS:
                with self.subTest(compiler=compiler, standard=standard, header=name):
                    self.build(compiler, standard, alone, "-I", str(folder), *STRICT)
        together = self.folder / "together.c"
        together.write_text("".join(f'#include "{name}.h"\n' for name in MODELS) + "int main(void) { return 0; }\n")
        includes = [word for folder in MODELS.values() for word in ("-I", str(folder))]
        program = self.build("gcc", "c99", together, *includes, *STRICT)
        everything = [str(o) for objects in self.objects().values() for o in objects]
        subprocess.run(["gcc", program, *everything, "-lm", "-o", self.folder / "together"], check=True)

    def test_x05_only_names_of_the_model_are_global(self):
        for name, objects in self.objects().items():
            listing = subprocess.run(["nm", "--extern-only", "--defined-only", *objects], capture_output=True,
                                     text=True, check=True).stdout
            names = [line.split()[2] for line in listing.splitlines() if len(line.split()) == 3]
            self.assertIn(f"{name}_run", names)
            self.assertEqual([n for n in names if not n.startswith(name + "_")], [])

    def test_a05_nothing_lies_in_ram(self):
        for objects in self.objects().values():
            sizes = subprocess.run(["size", *objects], capture_output=True, text=True, check=True).stdout
            for line in sizes.splitlines()[1:]:
                _, data, bss = line.split()[:3]
                self.assertEqual((data, bss), ("0", "0"), line)

    def test_x15_lines_end_the_same_on_every_host(self):
        for folder in HERE.glob("*/expected"):
            for path in folder.iterdir():
                content = path.read_bytes()
                self.assertNotIn(b"\r", content, path)
                self.assertTrue(content.endswith(b"\n"), path)
                content.decode("ascii")


if __name__ == "__main__":
    unittest.main()
