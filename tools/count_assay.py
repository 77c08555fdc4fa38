#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How large assay is: lines of code of its parts, without comments, empty lines and includes.

    count_assay.py
"""
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "src" / "assay"
PARTS = {
    "memory plan": ["judge", "layout", "distances", "load", "bound", "search", "order"],
    "run": ["calls", "machine", "code", "range"],
    "other claims": ["claims", "requantisation", "sums", "rounding"],
    "readers": ["json", "lexer", "loops", "body_reader"],
    "program": ["main"],
}
NO_CODE = re.compile(r"\s*(//.*)?$|#include|#pragma")


def lines_of_code(name):
    paths = [FOLDER / (name + ending) for ending in (".h", ".cpp")]
    return sum(not NO_CODE.match(line) for path in paths if path.exists() for line in path.read_text().splitlines())


def main():
    counted = {name for names in PARTS.values() for name in names}
    missing = {path.stem for path in FOLDER.glob("*.cpp") if not path.stem.endswith("_test")} - counted
    if missing:
        raise SystemExit(f"belongs to no part: {', '.join(sorted(missing))}")
    for part, names in PARTS.items():
        sizes = {name: lines_of_code(name) for name in names}
        print(f"{part:13}{sum(sizes.values()):6}  " + ", ".join(f"{name} {size}" for name, size in sizes.items()))


if __name__ == "__main__":
    main()
