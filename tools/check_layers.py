#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a folder of src/ includes what the table below does not allow, if an include is not
written from src/, or if a file or a function is longer than the house allows.

    check_layers.py [ROOT]      ROOT is the project's folder (default: the one above this script)
"""
import pathlib
import re
import sys

# A folder may include itself, what its row lists, and what those rows list in turn.
LAYERS = {
    "support": [],
    "tensor": ["support"],
    "plan": ["support"],
    "graph": ["tensor"],
    "loop": ["tensor"],
    "target": ["loop"],
    "import": ["graph"],
    "ops": ["graph", "loop"],
    "passes": ["graph", "ops"],
    "exec": ["ops", "plan"],
    "lower": ["ops", "loop"],
    "schedule": ["loop", "target"],
    "storage": ["loop", "plan"],
    "emit": ["loop", "target"],
    "toolchain": ["target"],
    "report": ["graph", "loop", "plan"],
    "driver": ["import", "passes", "exec", "lower", "schedule", "storage", "emit", "toolchain", "report"],
    "cli": ["driver"],
    "assay": ["support"],
}
MAX_FILE_LINES = 500


def closure(folder):
    seen, pending = set(), [folder]
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += LAYERS[name]
    return seen


def check_file(path, src, problems):
    folder = path.relative_to(src).parts[0]
    lines = path.read_text().splitlines()
    if folder not in LAYERS:
        problems.append(f"{path}: the folder {folder}/ is not in the table of {__file__}")
        return
    allowed = closure(folder)
    for number, line in enumerate(lines, 1):
        include = re.match(r'#include "([^"]+)"', line)
        if not include:
            continue
        target = include[1].split("/")[0]
        if include[1].endswith("_generated.h"):
            continue  # made by flatc into the build folder
        if "/" not in include[1] and path.name.endswith("_test.cpp"):
            continue  # C that the test holds as text
        if "/" not in include[1]:
            problems.append(f"{path}:{number}: write includes from src/: {include[1]}")
        elif target == "tests" and path.name.endswith("_test.cpp"):
            continue  # what tests share stands in tests/support
        elif target not in allowed:
            problems.append(f"{path}:{number}: {folder}/ must not include {target}/")
    if len(lines) > MAX_FILE_LINES:
        problems.append(f"{path}: {len(lines)} lines, at most {MAX_FILE_LINES} are allowed")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    src = root / "src"
    problems = []
    # What lies in a folder runtime/ is C that is embedded in the program, not compiled into it.
    files = sorted(p for p in src.rglob("*")
                   if p.suffix in (".h", ".cpp") and "runtime" not in p.parts)
    for path in files:
        check_file(path, src, problems)
    print("\n".join(problems) if problems else f"{len(files)} files: every include goes down")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
