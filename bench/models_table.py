#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what the planner makes of all models in a folder: bytes of the arena with input and output,
inputs preserved and reused, their lower bounds, what is proved, and the time of planning (the least of five).

    bench/models_table.py FOLDER [INGOT, build/ingot if left out]
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def planned(ingot, model, options):
    """The plan, and the milliseconds that it took; nothing if the model does not compile."""
    with tempfile.TemporaryDirectory(prefix="ingot-bench-") as folder:
        done = subprocess.run([ingot, "compile", model, "-o", folder, "--name", "m", "--io", "arena", "--time", *options],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None
        report = json.loads(pathlib.Path(folder, "m.json").read_text())
    milliseconds = float(re.search(r"^storage +([\d.]+) ms", done.stdout + done.stderr, re.MULTILINE).group(1))
    return report, milliseconds


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    folder, ingot = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else ROOT / "build/ingot")
    print("| model | steps | preserved | bound | reused | bound | packing, order proved | planned in ms |")
    print("|---|---|---|---|---|---|---|---|")
    for model in sorted(folder.rglob("*.tflite")):
        runs = [planned(ingot, model, options) for options in ([], ["--reuse-inputs"])]
        if None in runs:
            continue
        (preserved, _), (reused, _) = runs
        milliseconds = min(planned(ingot, model, ["--reuse-inputs"])[1] for _ in range(5))
        cells = [model.relative_to(folder).with_suffix(""), len(reused["plan"]["order"])]
        for report in (preserved, reused):
            cells += [f"{report['arena_bytes']:,}", f"{report['plan']['lower_bound_bytes']:,}"]
        proved = ", ".join("yes" if reused["plan"][key] else "no" for key in ("packing_optimal", "order_optimal"))
        print(f"| {' | '.join(map(str, cells))} | {proved} | {milliseconds:.1f} |")


if __name__ == "__main__":
    main()
