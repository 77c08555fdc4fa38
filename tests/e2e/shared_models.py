#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exactness on public models, outside the project: the shared checker compiles each model, builds the
C alone, runs it between guard bytes and compares it with recorded vectors.

    shared_models.py INGOT SHARED [check|inner|insns]

check: natively, a matrix of compilers, levels, sanitizers and options; float networks within the
checker's tolerance. inner: variants in which every inner tensor is an output too, compared with the
reference executor, and its last tensors with the recorded ones. insns: one inference on emulated
Cortex-M cores, equal (floats: within the tolerance) and within the instruction budget.
Exit 77 (skipped) where SHARED is not there.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import tflite_variant

SKIPPED = 77
MODELS = ["kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8", "hello_world_int8",
          "micro_speech_quantized", "simple_add_model"]
FLOAT_MODELS = ["vww_96_float", "pretrainedResnet", "ad01_fp32", "hello_world_float", "ToyCar_quant_fullint"]
ARENA_LIMITS = {"kws_ref_model": 8448, "vww_96_int8": 36928, "pretrainedResnet_quant": 33360, "ad01_int8": 832}
# Instructions of one inference at -O2, per core.
BUDGETS = {
    "m4": {"kws_ref_model": 4.3e6, "vww_96_int8": 6.8e6, "pretrainedResnet_quant": 16.5e6, "ad01_int8": 0.42e6,
           "vww_96_float": 20e6, "pretrainedResnet": 25e6, "ad01_fp32": 0.68e6},
    "m55": {"kws_ref_model": 0.9e6, "vww_96_int8": 2.2e6, "pretrainedResnet_quant": 3.2e6, "ad01_int8": 0.08e6},
}
# On the M4 where flash for Winograd's weights is allowed.
WITH_FLASH = {"pretrainedResnet_quant": 12e6}
IN_ARENA = "--compile-flags=--io arena --reuse-inputs"
# The caller's buffers hold inner values too.
LENT = "--compile-flags=--scratch-in-outputs"
ALL_LENT = "--compile-flags=--scratch-in-outputs --reuse-inputs"
MATRIX = [["--cc", "gcc", "--cflags=-O0"], ["--cc", "gcc", "--cflags=-O2"], ["--cc", "clang", "--cflags=-O3"],
          ["--cc", "gcc", "--cflags=-O1", "--sanitize"], ["--cc", "clang", "--cflags=-O2", "--cxx"],
          ["--cc", "gcc", "--cflags=-O0", IN_ARENA], ["--cc", "gcc", "--cflags=-O2", IN_ARENA],
          ["--cc", "clang", "--cflags=-O3", IN_ARENA],
          ["--cc", "gcc", "--cflags=-O1", "--sanitize", IN_ARENA],
          ["--cc", "gcc", "--cflags=-O2", LENT], ["--cc", "gcc", "--cflags=-O1", "--sanitize", ALL_LENT],
          ["--cc", "clang", "--cflags=-O3", ALL_LENT]]
FLOAT_MATRIX = [["--cc", "gcc", "--cflags=-O2"], ["--cc", "clang", "--cflags=-O3"],
                ["--cc", "gcc", "--cflags=-O1", "--sanitize", IN_ARENA]]
INNER_MATRIX = [["--cc", "gcc", "--cflags=-O2"], ["--cc", "clang", "--cflags=-O1", "--sanitize"],
                ["--cc", "gcc", "--cflags=-O0", IN_ARENA], ["--cc", "gcc", "--cflags=-O2", LENT],
                ["--cc", "gcc", "--cflags=-O1", "--sanitize", ALL_LENT]]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def check(ingot, shared, model, options):
    folder = os.path.join(shared, "models", model)
    code, text = run([sys.executable, os.path.join(shared, "tools", "check_model.py"),
                      os.path.join(folder, "model.tflite"), folder, "--ingot", ingot] + options)
    if code == 0 and IN_ARENA in options and model in ARENA_LIMITS:
        arena = int(text.rsplit("arena ", 1)[1])
        if arena > ARENA_LIMITS[model]:
            return 1, f"{text}: more than {ARENA_LIMITS[model]}"
    return code, text


def record(ingot, model, source, vectors):
    """Vectors of a variant: the inputs of `source`, what the reference executor makes of them."""
    with open(os.path.join(source, "desc.json"), encoding="utf-8") as file:
        desc = json.load(file)
    recorded_outputs = len(desc["outputs"])
    for k in desc["vectors"]:
        inputs = [os.path.join(source, f"{k}.in{i}.bin") for i in range(len(desc["inputs"]))]
        done = subprocess.run([ingot, "run", model, "--json"] + [f"--input={i}" for i in inputs],
                              capture_output=True, text=True, check=True)
        desc["outputs"] = json.loads(done.stdout)["outputs"]
        for path in inputs:
            shutil.copy(path, vectors)
        for i, output in enumerate(desc["outputs"]):
            values = output.pop("data")
            output["type"] = output["dtype"]
            code = {"int8": "b", "int32": "i", "float32": "f"}[output["dtype"]]
            data = struct.pack(f"<{len(values)}{code}", *values)
            with open(os.path.join(vectors, f"{k}.out{i}.bin"), "wb") as file:
                file.write(data)
            if i < recorded_outputs:
                with open(os.path.join(source, f"{k}.out{i}.bin"), "rb") as file:
                    if file.read() != data:
                        return f"{model}: vector {k}: the reference executor differs in output {i}"
    with open(os.path.join(vectors, "desc.json"), "w", encoding="utf-8") as file:
        json.dump(desc, file)
    return ""


def inner(ingot, shared, model, options):
    source = os.path.join(shared, "models", model)
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, model)
        os.mkdir(folder)
        variant = os.path.join(folder, model + ".tflite")
        with open(os.path.join(source, "model.tflite"), "rb") as file:
            data = tflite_variant.exposed(file.read())
        with open(variant, "wb") as file:
            file.write(data)
        difference = record(ingot, variant, source, folder)
        if difference:
            return 1, difference
        return run([sys.executable, os.path.join(shared, "tools", "check_model.py"), variant, folder,
                    "--ingot", ingot] + options)


def insns(ingot, shared, model, core, compile_flags=""):
    code, text = run([sys.executable, os.path.join(shared, "tools", "insns.py"), "--ingot", ingot,
                      os.path.join(shared, "models", model), "--core", core, "--opt=-O2",
                      f"--compile-flags={compile_flags}"])
    budget = WITH_FLASH[model] if compile_flags else BUDGETS[core].get(model)
    if code == 0 and budget and int(text.split()[2]) > budget:
        return 1, f"{text}: more than {budget:.0f} instructions"
    return code, text


def main():
    ingot, shared, what = sys.argv[1], sys.argv[2], sys.argv[3]
    if not os.path.isdir(os.path.join(shared, "models")):
        print(f"skipped: {shared} is not there; tests/vectors proves exactness on networks of our own")
        return SKIPPED
    needed = ["arm-none-eabi-gcc", "qemu-system-arm"] if what == "insns" else ["gcc", "clang"]
    missing = [p for p in needed if not shutil.which(p)]
    if missing:
        print(f"skipped: {', '.join(missing)} not found")
        return SKIPPED
    if what == "insns":
        jobs = [(insns, (ingot, shared, m, "m4")) for m in MODELS + FLOAT_MODELS]
        jobs += [(insns, (ingot, shared, m, "m55")) for m in BUDGETS["m55"]]
        jobs += [(insns, (ingot, shared, m, "m4", "--flash-limit 400000")) for m in WITH_FLASH]
    elif what == "inner":
        jobs = [(inner, (ingot, shared, m, o)) for m in MODELS for o in INNER_MATRIX]
    else:
        jobs = [(check, (ingot, shared, m, o)) for m in MODELS for o in MATRIX]
        jobs += [(check, (ingot, shared, m, o)) for m in FLOAT_MODELS for o in FLOAT_MATRIX]
    failures = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: job[0](*job[1]), jobs))
    for (_, arguments), (code, text) in zip(jobs, results):
        failures += code != 0
        options = " ".join(arguments[3]) if isinstance(arguments[3], list) else ""
        print(f"{'ok    ' if code == 0 else 'FAILED'} {text.splitlines()[-1] if text else ''} {options}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
