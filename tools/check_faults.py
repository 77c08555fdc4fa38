#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/faults.md: every test it names exists in the file it names, and that file has the entry's id;
nothing waits for an operator that is supported.

    check_faults.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

SECTIONS = ["B1", "B2", "B3", "B4", "B5", "B6", "B9", "B10", "B11", "B13", "B14", "C.2"]
ROW = re.compile(r"\| ([A-Z]\d\d) \| ([^|]+) \| ([^|]+) \|")
NAMED = re.compile(r"`([^`]+)`: `([^`]+)`")


def faults_of_row(source, entry, tests, supported):
    waiting = re.fullmatch(r"waits for `([^`]+)`", tests)
    if waiting:
        return [f"{entry} waits for {waiting[1]}, which is supported: it needs a test"] if waiting[1] in supported else []
    named = NAMED.findall(tests)
    if not named:
        return [f"{entry} names no test"]
    faults = []
    for path, test in named:
        file = source / path
        text = file.read_text() if file.is_file() else ""
        if test not in text:
            faults.append(f"{entry}: {path} has no {test}")
        elif not re.search(rf"(?i)(?<![a-z0-9]){entry}(?![0-9])", text):
            faults.append(f"{entry}: {path} does not name the entry")
    return faults


def main():
    source = pathlib.Path(sys.argv[1])
    operators = (source / "docs" / "supported_operators.md").read_text()
    supported = set(re.findall(r"^- `(\w+)`", operators, re.MULTILINE))
    if "Operators of .onnx files" in operators:
        supported.add(".onnx")
    table = (source / "docs" / "faults.md").read_text()
    rows = ROW.findall(table)
    faults = [f"there is no section {s}" for s in SECTIONS if f"| **{s}** |" not in table]
    if len(rows) != sum(line.startswith("| ") for line in table.splitlines()) - len(SECTIONS) - 1:
        faults.append("a row is not understood")
    entries = [entry for entry, _, _ in rows]
    faults += [f"{entry} is there twice" for entry in sorted(set(entries)) if entries.count(entry) > 1]
    for entry, _, tests in rows:
        faults += faults_of_row(source, entry, tests, supported)
    print("\n".join(faults) if faults else f"{len(rows)} entries")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
