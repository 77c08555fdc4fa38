# SPDX-License-Identifier: Apache-2.0
"""README.md shows C: it must be what Ingot writes today.

    test_readme.py INGOT ROOT
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ingot, root = sys.argv[1], pathlib.Path(sys.argv[2])
blocks = re.findall(r"(?s)```c\n(.*?)```", (root / "README.md").read_text())
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([ingot, "compile", root / "examples/digits/digits.tflite", "-o", folder], check=True,
                   stdout=subprocess.DEVNULL)
    written = [[line.strip() for line in (pathlib.Path(folder) / name).read_text().splitlines()]
               for name in ("digits.h", "digits.c")]


def stands_in(lines, text):
    return any(text[at:at + len(lines)] == lines for at in range(len(text)))


missing = []
for paragraph in (p for block in blocks for p in block.split("\n\n")):
    lines = [line.strip() for line in paragraph.strip().splitlines()]
    if not any(stands_in(lines, text) for text in written):
        missing.append(paragraph)
if not blocks:
    sys.exit("README.md shows no C")
if missing:
    sys.exit("README.md shows what is not written:\n" + "\n\n".join(missing))
print(f"{len(blocks)} pieces of C are as Ingot writes them")
