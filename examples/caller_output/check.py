#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the example and asserts its outcome, and that docs/caller_output.md shows what it prints.

    check.py BUILD PAGE
"""
import pathlib
import subprocess
import sys
import tempfile


def main():
    build, page = sys.argv[1:]
    script = pathlib.Path(__file__).with_name("run.sh")
    with tempfile.TemporaryDirectory(prefix="ingot-caller-output-") as out:
        done = subprocess.run([script, build, out], capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr, sep="")
    problems = [] if done.returncode == 0 else [f"exit code {done.returncode}"]
    for text in ("36 bytes of the caller's behind the buffer are gone", "keywords_run ", "tvmgen_..._run ",
                 "|....................................................  0 guard bytes changed"):
        if text not in done.stdout:
            problems.append(f"missing: {text}")
    shown = pathlib.Path(page).read_text()
    # The maps are shown as they are printed, indented by two more.
    problems += [f"not in {page}: {line}" for line in done.stdout.splitlines()
                 if line.startswith("  ") and "  " + line not in shown]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
