#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ingot compile` writes for a handful of tiny networks, byte for byte as it is stored beside this file.

    goldens.py [--update] [BUILD_FOLDER]    BUILD_FOLDER: build

NAME/model.json is the network, NAME/options (if there) the options, NAME/expected/ what must come out. --update
rewrites it: for a change of the text that is meant, whose diff is then part of the commit.
"""
import difflib
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MOST_LINES = 40  # of a difference that are shown


def compiled(build, folder, scratch):
    """The files for the network in `folder`, by name."""
    model, out = scratch / (folder.name + ".tflite"), scratch / folder.name
    subprocess.run([build / "tests" / "tflite_write", folder / "model.json", model], check=True)
    options = folder / "options"
    words = options.read_text().split() if options.exists() else []
    subprocess.run([build / "ingot", "compile", model, "-o", out, "--quiet", *words], check=True)
    return {path.name: path.read_bytes() for path in out.iterdir()}


def differences(name, expected, actual):
    lines = []
    for file in sorted(expected.keys() | actual.keys()):
        old, new = expected.get(file, b""), actual.get(file, b"")
        if old != new:
            lines += difflib.unified_diff(old.decode().splitlines(), new.decode().splitlines(),
                                          f"stored/{name}/{file}", f"compiled/{name}/{file}", lineterm="")
    return lines


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    if update:
        arguments.remove("--update")
    build = pathlib.Path(arguments[0] if arguments else "build").resolve()
    lines = []
    with tempfile.TemporaryDirectory(prefix="ingot-goldens-") as scratch:
        for folder in sorted(path.parent for path in HERE.glob("*/model.json")):
            stored = folder / "expected"
            actual = compiled(build, folder, pathlib.Path(scratch))
            if update:
                shutil.rmtree(stored, ignore_errors=True)
                stored.mkdir()
                for name, content in actual.items():
                    (stored / name).write_bytes(content)
            expected = {path.name: path.read_bytes() for path in stored.iterdir()} if stored.is_dir() else {}
            lines += differences(folder.name, expected, actual)
    if not lines:
        return 0
    print("\n".join(lines[:MOST_LINES]))
    if len(lines) > MOST_LINES:
        print(f"... and {len(lines) - MOST_LINES} lines more")
    print("If the change is meant: tests/goldens/goldens.py --update BUILD_FOLDER")
    return 1


if __name__ == "__main__":
    sys.exit(main())
