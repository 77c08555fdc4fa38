#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures ingot on the public models of ../shared and prints the table of README.md.

    measure.py [--ingot build/ingot] [--shared ../shared] [--write README.md] [MODEL...]

For each model: the C is built and compared with recorded vectors on this host
(tools/check_model.py of ../shared), then run on the emulated Cortex-M4 and M55 at -O2, where its
instructions are counted exactly (tools/insns.py there). RAM is the arena on the M4, once with
inputs and outputs in buffers of the caller and once with them inside (--io arena --reuse-inputs).
Flash is code and constants of the generated files for the M4. A figure that could not be measured is
a dash, and the exit status is then 1. --write puts the table between the marks of that file.
"""
import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8",
          "micro_speech_quantized", "hello_world_int8", "simple_add_model"]
BEGIN, END = "<!-- measured: begin (tools/measure.py) -->", "<!-- measured: end -->"
HEAD = ["model", "multiply-accumulates", "equal to TFLM, to the bit", "RAM: arena",
        "RAM: arena with inputs and outputs", "flash", "instructions, M4", "instructions, M55"]
ON_M4 = ["--target", "cortex-m4"]


def output_of(command):
    """The program's standard output; what went wrong goes to ours."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{command[0]}: exit {done.returncode}: {(done.stdout + done.stderr).strip()[:300]}",
              file=sys.stderr)
    return done.stdout


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found[1]) if found else None


def report_of(ingot, model, *options):
    """NAME.json of the compiled model, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        output_of([ingot, "compile", model, "-o", folder, "--name", "m", *options])
        report = pathlib.Path(folder) / "m.json"
        return json.loads(report.read_text()) if report.exists() else {}


def measure(ingot, shared, name):
    folder = shared / "models" / name
    model = folder / "model.tflite"
    tools = shared / "tools"
    checked = output_of([sys.executable, tools / "check_model.py", model, folder, "--ingot", ingot])
    compared = number(r"compared (\d+)", checked)
    different = number(r"different (\d+)", checked)
    count = [sys.executable, tools / "insns.py", "--ingot", ingot, folder, "--opt=-O2"]
    counted = output_of(count)
    on_m55 = output_of([*count, "--core", "m55"])
    text, rodata = number(r"text=(\d+)", counted), number(r"rodata=(\d+)", counted)
    equal = None
    if compared and different is not None:
        on_core = " equal " in counted and " equal " in on_m55
        equal = "yes" if different == 0 and on_core else f"{different} of {compared} differ"
        if different == 0 and not on_core:
            equal = "host only"
    report = report_of(ingot, model, *ON_M4)
    return [name, report.get("macs"), equal, report.get("arena_bytes"),
            report_of(ingot, model, *ON_M4, "--io", "arena", "--reuse-inputs").get("arena_bytes"),
            None if text is None or rodata is None else text + rodata,
            number(r" m4 (\d+) ", counted), number(r" m55 (\d+) ", on_m55)]


def cell(value):
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else value


def table_of(rows):
    lines = ["| " + " | ".join(HEAD) + " |",
             "|---|---:|---|" + "---:|" * (len(HEAD) - 3)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def write_into(path, text):
    old = path.read_text()
    begin, end = old.index(BEGIN) + len(BEGIN), old.index(END)
    path.write_text(old[:begin] + "\n" + text + "\n" + old[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--ingot", type=pathlib.Path, default=ROOT / "build" / "ingot")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    if not (arguments.shared / "models").is_dir():
        sys.exit(f"{arguments.shared} does not hold the models; give --shared")
    rows = [measure(arguments.ingot.resolve(), arguments.shared.resolve(), name)
            for name in arguments.models or MODELS]
    now = datetime.date.today()
    text = (f"{table_of(rows)}\n\nMeasured in {now:%B %Y}: gcc-arm-none-eabi 12.2 at -O2, QEMU 7.2, "
            "bytes and instructions of one inference; RAM and flash on the Cortex-M4.")
    print(text)
    if arguments.write:
        write_into(arguments.write, text)
    return 1 if any(value is None for row in rows for value in row) else 0


if __name__ == "__main__":
    sys.exit(main())
