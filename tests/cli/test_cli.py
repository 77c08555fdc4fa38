#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program `ingot` against the contract of its command line: exit codes, files, JSON keys, messages.

    test_cli.py INGOT TFLITE_WRITE SOURCE_FOLDER [TEST...]
"""
import copy
import json
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import time
import unittest

from command_line import BUFFER_KEYS, Cli, INGOT, METADATA_KEYS, NETWORK, OPERATOR_KEYS, PLAN_KEYS, PORT_KEYS, SOURCE


class Compile(Cli):
    def test_files_and_summary(self):
        done = self.ingot("compile", self.model, "-o", self.path("out"))
        names = {"net.h", "net.c", "net_weights.c", "net.json", "net.loops"}
        self.assertEqual(set(os.listdir(self.path("out"))), names)
        self.assertIn("arena", done.stdout)
        self.assertLessEqual(len(done.stdout.splitlines()), 4)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.ingot("compile", self.model, "-o", self.path("o2"), "--quiet").stdout, "")

    def test_metadata_has_the_keys_of_the_contract(self):
        meta = json.loads(self.compiled("--name", "kws")["kws.json"])
        self.assertLessEqual(METADATA_KEYS, set(meta))
        self.assertEqual((meta["schema_version"], meta["name"], meta["target"]), (1, "kws", "c99"))
        self.assertIsNone(meta["stack_bytes"])
        for port in meta["inputs"] + meta["outputs"]:
            self.assertLessEqual(PORT_KEYS, set(port))
        source = meta["inputs"][0]
        self.assertEqual((source["name"], source["c_name"], source["dtype"]), ("x", "x", "int8"))
        self.assertEqual((source["shape"], source["bytes"], source["zero_point"]), ([1, 3], 3, -4))
        self.assertEqual(source["scale"], struct.unpack("<f", struct.pack("<f", 0.05))[0])
        self.assertIsNone(source["offset_bytes"])
        for operator in meta["operators"]:
            self.assertLessEqual(OPERATOR_KEYS, set(operator))
        self.assertEqual([o["kind"] for o in meta["operators"]], ["fully_connected", "fully_connected", "softmax"])
        self.assertEqual(sum(o["macs"] for o in meta["operators"]), 3 * 2 + 2 * 4)
        self.assertEqual(meta["macs"], 14)
        plan = meta["plan"]
        self.assertLessEqual(PLAN_KEYS, set(plan))
        for buffer in plan["buffers"]:
            self.assertLessEqual(BUFFER_KEYS, set(buffer))
            self.assertLessEqual(buffer["offset_bytes"] + buffer["size_bytes"], meta["arena_bytes"])
            self.assertLess(buffer["first"], buffer["last"])
        self.assertEqual(plan["within"], {"overlap": True, "streaming": False})
        self.assertTrue(plan["optimal"])

    def test_io_in_the_arena(self):
        files = self.compiled("--io", "arena", "--reuse-inputs")
        meta = json.loads(files["net.json"])
        for port in meta["inputs"] + meta["outputs"]:
            self.assertIsInstance(port["offset_bytes"], int)
        self.assertIn(b"int32_t net_run(void *arena);", files["net.h"])
        self.assertIn(b"NET_INPUT_X_OFFSET", files["net.h"])

    def test_tvms_forms(self):
        plain = self.compiled(folder="plain")
        for interface, argument in (("c", b"struct tvmgen_net_inputs *inputs"), ("packed", b"TVMValue *args")):
            files = self.compiled("--api", "tvm", "--tvm-interface", interface, folder=interface)
            self.assertEqual(set(files) - set(plain),
                             {"net_tvm.h", "net_tvm.c", "net_tvm_abi.h", "tvmgen_net.h"})
            self.assertIn(b"int32_t tvmgen_net_run(" + argument, files["net_tvm.h"])
            options = json.loads(files["net.json"])["options"]
            self.assertEqual((options["api"], options["tvm_interface"], options["tvm_workspace"]),
                             ("tvm", interface, "allocator"))
            # The core is the same but for the line that states the options.
            for name in ("net.h", "net.c", "net_weights.c"):
                lines = [[l for l in f[name].splitlines() if b"Options:" not in l] for f in (plain, files)]
                self.assertEqual(*lines)
        self.assertIn(b"workspace_pools", self.compiled("--api", "tvm", "--tvm-workspace", "caller")["net_tvm.h"])
        files = self.compiled("--api", "tvm", "--tvm-name", "default", folder="default")
        self.assertIn(b"int32_t tvmgen_default_run(", files["net_tvm.h"])
        self.assertIn(b'#include "net_tvm.h"', files["tvmgen_default.h"])
        self.ingot("validate", self.model, "--api", "tvm", "--random", "1")
        header = self.compiled("--api", "tvm", "--io", "arena", folder="arena")["net_tvm.h"]
        self.assertIn(b"struct tvmgen_net_inputs tvmgen_net_map_inputs(", header)
        self.assertIn(b"int32_t tvmgen_net_run(struct tvmgen_net_workspace_pools *workspace_pools);", header)

    def test_tvms_forms_exclude_what_they_cannot_be(self):
        done = self.ingot("compile", self.model, "-o", self.path("o"), "--api", "tvm", "--io", "arena",
                          "--tvm-interface", "packed", code=2)
        self.assertIn("exclude each other", done.stderr)
        done = self.ingot("compile", self.model, "-o", self.path("o"), "--tvm-interface", "packed", code=2)
        self.assertIn("add --api tvm", done.stderr)
        self.ingot("compile", self.model, "-o", self.path("o"), "--api", "tvm", "--tvm-name", "a b", code=2)
        self.assertFalse(os.path.exists(self.path("o")))

    def test_no_two_files_have_one_name(self):
        for name, tvm_name in (("tvmgen_k", "k"), ("tvmgen_k", "K")):
            for command in (["compile", self.model, "-o", self.path("o")], ["inspect", self.model]):
                done = self.ingot(*command, "--name", name, "--api", "tvm", "--tvm-name", tvm_name, code=2)
                self.assertIn("two files are called tvmgen_k.h", done.stderr)
        self.assertFalse(os.path.exists(self.path("o")))
        self.ingot("compile", self.model, "-o", self.path("o"), "--name", "tvmgen_k", "--api", "tvm")

    def test_two_compilations_are_equal(self):
        first = self.compiled()
        self.ingot("compile", "net.tflite", "-o", "again", cwd=self.folder.name,
                   env={"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"})
        second = {p.name: p.read_bytes() for p in pathlib.Path(self.path("again")).iterdir()}
        self.assertEqual(first, second)

    def test_the_c_builds_under_strict_flags_and_passes_its_self_check(self):
        self.compiled("--emit-test", "3", "--seed", "5")
        out = self.path("out")
        for compiler, flags in (("cc", ["-std=c99"]), ("c++", ["-x", "c++", "-std=c++11"])):
            program = self.path("check-" + compiler)
            sources = ["net.c", "net_weights.c", "test/net_test.c"]
            strict = "-pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -I .".split()
            subprocess.run([compiler, *flags, *strict, *sources, "-lm", "-o", program], cwd=out, check=True)
            done = subprocess.run([program], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout, "PASS net: 3 vectors\n")

    def test_no_target_makes_compilers_warn(self):
        strict = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror".split()
        arm, linux = "/usr/lib/arm-none-eabi/include", "/usr/aarch64-linux-gnu/include"
        systems = {"c99": [], "x86-64-v3": [], "x86-64-avx512vnni": [],
                   "cortex-m0plus": ["--target=arm-none-eabi", "-isystem", arm],
                   "cortex-m4": ["--target=arm-none-eabi", "-isystem", arm],
                   "cortex-m55": ["--target=arm-none-eabi", "-isystem", arm],
                   "aarch64": ["--target=aarch64-linux-gnu", "-isystem", linux]}
        if not shutil.which("clang") or platform.machine() != "x86_64":
            self.skipTest("clang is not installed, or this is another machine")
        for target, system in systems.items():
            if system and not os.path.exists(system[-1] + "/string.h"):
                continue
            for model in (self.model, os.path.join(SOURCE, "examples/digits/digits.tflite")):
                files = self.compiled("--target", target, "--name", "k", folder=target, model=model)
                flags = json.loads(files["k.json"])["compile_flags"]
                for language in (["-x", "c", "-std=c99"], ["-x", "c++", "-std=c++11"]):
                    with self.subTest(target=target, model=model, language=language):
                        done = subprocess.run(["clang", *system, *language, *flags, *strict, "-fsyntax-only", "k.c",
                                               "k_weights.c"], cwd=self.path(target), capture_output=True, text=True,
                                              check=False)
                        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_named_core_has_a_stack_bound(self):
        meta = json.loads(self.compiled("--target", "cortex-m4")["net.json"])
        self.assertGreater(meta["stack_bytes"], 0)
        self.assertIn("-mcpu=cortex-m4", meta["compile_flags"])

    # A12.
    def test_arena_limit(self):
        done = self.ingot("compile", self.model, "-o", self.path("out"), "--arena-limit", "3", code=3)
        self.assertIn("the arena needs", done.stderr)
        self.assertIn('"logits"', done.stderr)
        self.assertFalse(os.path.exists(self.path("out")))
        self.compiled("--arena-limit", "1000")

    def test_pools(self):
        meta = json.loads(self.compiled("--pool", "fast:1000", "--pool", "slow:8")["net.json"])
        self.assertEqual([(m["name"], m["kind"]) for m in meta["memory"]],
                         [("arena", "arena"), ("fast", "pool"), ("slow", "pool")])
        self.assertEqual((meta["arena_bytes"], meta["memory"][2]["bytes"]), (0, 0))
        self.assertGreater(meta["memory"][1]["bytes"], 0)
        self.assertNotIn("memory", json.loads(self.compiled()["net.json"]))

    def test_pools_are_refused_where_they_make_no_sense(self):
        for option, what in ((["--pool", "fast"], "is not NAME:BYTES"), (["--pool", "fast:-1"], "is not NAME:BYTES"),
                             (["--pool", "Fast:1"], "cannot be the name of a pool"),
                             (["--pool", "arena:1"], "cannot be the name of a pool"),
                             (["--pool", "int:1"], "cannot be the name of a pool"),
                             (["--pool", "a:1", "--pool", "a:2"], "is given twice"),
                             (["--place", "x=a"], "--place needs a --pool"),
                             (["--pool", "a:9", "--place", "x"], "is not TENSOR=POOL"),
                             (["--pool", "a:9", "--place", "x=a"], "which no inner buffer holds"),
                             (["--pool", "a:9", "--api", "tvm"], "--api tvm and --pool exclude each other")):
            done = self.ingot("compile", self.model, "-o", self.path("out"), *option, code=2)
            self.assertIn(what, done.stderr)
            self.assertFalse(os.path.exists(self.path("out")))

    def test_open_extents(self):
        meta = json.loads(self.compiled("--dim", "x:0=4")["net.json"])
        self.assertEqual(meta["inputs"][0]["shape"], [4, 3])
        self.assertEqual(meta["options"]["dims"], {"x:0": 4})
        self.ingot("compile", self.model, "-o", self.path("out"), "--dim", "nothing:0=4", code=2)
        self.ingot("compile", self.model, "-o", self.path("out"), "--dim", "x:0=zero", code=2)

    def test_print_after_and_time(self):
        done = self.ingot("compile", self.model, "-o", self.path("out"), "--print-after", "import",
                          "--print-after", "lower", "--time")
        self.assertIn('graph "net"', done.stdout)
        self.assertIn("program net", done.stdout)
        self.assertIn("# after lower", done.stdout)
        self.assertRegex(done.stderr, r"total +\d+\.\d\d ms")

    def test_nothing_is_left_of_a_failed_run(self):
        self.write("file", b"")
        done = self.ingot("compile", self.model, "-o", self.path("file/out"), code=1)
        self.assertIn("[file-unwritable]", done.stderr)


class Optimize(Cli):
    def test_size_has_the_plain_loops_and_flags_for_size(self):
        texts = {}
        for goal in ("speed", "size", "ram"):
            self.ingot("compile", self.model, "-o", self.path(goal), "--target", "cortex-m4", "--optimize", goal)
            with open(self.path(goal + "/net.json")) as file:
                facts = json.load(file)
            self.assertEqual(facts["options"]["optimize"], goal)
            self.assertEqual("-Os" in facts["compile_flags"], goal == "size")
            with open(self.path(goal + "/net.c")) as file:
                texts[goal] = file.read()
        self.assertLess(len(texts["size"]), len(texts["speed"]))


class Usage(Cli):
    def test_options_that_are_not_built_are_refused(self):
        for option in (["--package", "cmake"], ["--weights", "string"]):
            done = self.ingot("compile", self.model, "-o", self.path("out"), *option, code=2)
            self.assertIn("not available in this version", done.stderr)
            self.assertFalse(os.path.exists(self.path("out")))

    def test_wrong_usage(self):
        for arguments in ([], ["compyle"], ["compile"], ["compile", self.model], ["inspect", self.model, "--jsn"],
                          ["compile", self.model, "-o", "x", "--target", "z80"],
                          ["compile", self.model, "-o", "x", "--name", "1st"], ["explain", "nonsense"],
                          ["completion", "tcsh"], ["compile", self.model, "-o", "x", "--arena-limit", "-1"]):
            done = self.ingot(*arguments, code=2)
            self.assertTrue(done.stderr.startswith("error: "), done.stderr)

    def test_empty_and_repeated_names(self):
        out = ["-o", self.path("o")]
        self.assertIn('--name "" cannot be', self.ingot("compile", self.model, *out, "--name", "", code=2).stderr)
        done = self.ingot("compile", self.model, *out, "--api", "tvm", "--tvm-name", "", code=2)
        self.assertIn('--tvm-name "" cannot', done.stderr)
        done = self.ingot("compile", self.model, *out, "--name", "a", "--name", "b", code=2)
        self.assertIn("error: --name is given more than once [", done.stderr)

    def test_what_was_probably_meant(self):
        out = ["-o", self.path("o")]
        for arguments, meant in ((["compyle", self.model], "compile"),
                                 (["compile", self.model, *out, "--target", "cortx-m4"], "cortex-m4"),
                                 (["compile", self.model, *out, "--roundin=float"], "--rounding"),
                                 (["compile", self.model, *out, "--rounding", "flaot"], "float"),
                                 (["inspect", self.model, "--jsn"], "--json"), (["explain", "usge"], "usage")):
            self.assertIn(f'did you mean "{meant}"?', self.ingot(*arguments, code=2).stderr)
        self.assertNotIn("did you mean", self.ingot("compile", self.model, *out, "--zzzzzzz", code=2).stderr)

    def test_models_that_would_write_over_files_of_others(self):
        for name in ("net_weights", "net_tvm"):
            done = self.ingot("compile", self.model, "-o", self.path("out"), "--name", name, code=2)
            self.assertIn("as files of other models do", done.stderr)
        shutil.copy(self.model, self.path("net_weights.tflite"))
        self.ingot("compile", self.path("net_weights.tflite"), "-o", self.path("both"))
        self.ingot("compile", self.model, "-o", self.path("both"))
        self.assertEqual(len(os.listdir(self.path("both"))), 10)

    def test_what_is_lent_holds_inner_values(self):
        plain = json.loads(self.compiled(folder="plain")["net.json"])
        lent = self.compiled("--scratch-in-outputs", "--reuse-inputs", folder="lent")
        facts = json.loads(lent["net.json"])
        self.assertTrue(facts["options"]["scratch_in_outputs"])
        self.assertLessEqual(facts["arena_bytes"], plain["arena_bytes"])

    def test_names_that_are_words_of_c(self):
        for name in ("int", "class", "memory", "printf"):
            done = self.ingot("compile", self.model, "-o", self.path("out"), "--name", name, code=2)
            self.assertIn("no word that C", done.stderr)

    def test_models_that_are_not_acceptable(self):
        whole = pathlib.Path(self.model).read_bytes()
        for name, content in (("empty", b""), ("half", whole[:len(whole) // 2]), ("text", b"hello, world")):
            done = self.ingot("inspect", self.write(name + ".tflite", content), code=1)
            self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        self.ingot("inspect", self.path("absent.tflite"), code=1)
        self.ingot("inspect", self.folder.name, code=1)

    def test_everything_unsupported_is_said_at_once(self):
        network = copy.deepcopy(NETWORK)
        network["operators"][2]["op"] = {"custom": "Mystery"}
        network["operators"][2].pop("options")
        network["operators"][1]["op"] = "CUMSUM"
        model = self.write_model(network, "odd.tflite")
        done = self.ingot("compile", model, "-o", self.path("out"), code=1)
        self.assertIn("Mystery", done.stderr)
        self.assertIn("cumsum", done.stderr.lower())
        self.assertNotIn("\033", done.stderr)
        self.assertFalse(os.path.exists(self.path("out")))
        done = self.ingot("inspect", model, "--diagnostics", "json", code=1)
        diagnostics = json.loads(done.stderr)["diagnostics"]
        self.assertEqual(len(diagnostics), 2)
        for diagnostic in diagnostics:
            self.assertEqual(set(diagnostic), {"severity", "code", "where", "what", "notes", "hint"})
            self.assertEqual(diagnostic["code"], "operator-unsupported")

    def test_help_teaches_by_example(self):
        top = self.ingot("--help").stdout
        for command in ("compile", "inspect", "run", "validate", "bench", "plan", "ops", "targets", "explain",
                        "completion"):
            self.assertIn(command, top)
            text = self.ingot(command, "--help").stdout
            self.assertIn("Examples:\n  ingot " + command, text)
            self.assertLess(text.index("Examples:"), text.index("Options:"), command)

    def test_version(self):
        self.assertRegex(self.ingot("--version").stdout, r"^ingot \d+\.\d+\.\d+\n$")

    def test_output_that_cannot_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([INGOT, "ops"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)


class Inspect(Cli):
    def test_text(self):
        text = self.ingot("inspect", self.model).stdout
        block, table = text.split("\n\n")
        self.assertLessEqual(len(block.splitlines()), 12)
        for word in ("model", "format", "operators", "MACs", "weights", "arena", "inputs", "outputs"):
            self.assertRegex(block, rf"(?m)^{word} ")
        self.assertIn("fully_connected", table)
        self.assertIn("softmax", table)
        # An activation fused into its operator is none of its own.
        self.assertRegex(block, r"(?m)^operators +3, compiled into 3 steps")

    def test_json(self):
        facts = self.json_of("inspect", self.model, "--json")
        self.assertEqual((facts["schema_version"], facts["macs"]), (1, 14))
        kinds = [o["kind"] for o in facts["operators"]]
        self.assertEqual(kinds[0], "fully_connected")
        self.assertEqual(kinds[-1], "softmax")
        meta = json.loads(self.compiled()["net.json"])
        for key in ("arena_bytes", "weights_bytes", "macs", "inputs", "outputs", "model_sha256"):
            self.assertEqual(facts[key], meta[key], key)


    def test_plan_is_drawn(self):
        text = self.ingot("inspect", self.model, "--plan", "--io", "arena").stdout
        arena = self.json_of("inspect", self.model, "--io", "arena", "--json")["arena_bytes"]
        self.assertTrue(text.startswith(f"arena {arena} bytes, "))
        rows = re.findall(r"(?m)^ *(\d+) \|((?:  .)+)$", text)
        self.assertEqual([int(address) for address, _ in rows], list(range(arena - 1, -1, -1)))
        buffers = re.findall(r'(?m)^(\w) +(\d+) +(\d+) +(\d+)-(\d+) +(.*)$', text)
        self.assertEqual({name for *_, name in buffers}, {'"x"', '"hidden"', '"logits"', '"y"'})
        # The drawing is what the table says.
        for address, cells in rows:
            for step, cell in enumerate(cells[2::3]):
                here = [b[0] for b in buffers if int(b[1]) <= int(address) < int(b[1]) + int(b[2])
                        and int(b[3]) <= step <= int(b[4])]
                self.assertEqual(cell, "." if not here else here[0] if len(here) == 1 else "*")
        self.assertIn("alive together at step", text)
        self.assertRegex(text, rf"(?m)^ +{arena} bytes are left$")


class Plan(Cli):
    CSV = b"id,lower,upper,size\na,0,2,4\nb,1,3,4\nc,2,4,4\n"

    def test_exit_codes(self):
        problem = self.write("p.csv", self.CSV)
        result = self.json_of("plan", problem, "--json")
        self.assertLessEqual({"height", "lower_bound", "optimal", "seconds"}, set(result))
        self.assertEqual((result["height"], result["lower_bound"], result["optimal"]), (8, 8, True))
        self.ingot("plan", problem, "--capacity", "8")
        done = self.ingot("plan", problem, "--capacity", "7", code=3)
        self.assertIn("it is proved", done.stderr)
        self.ingot("plan", self.write("bad.csv", b"id,lower\n"), code=1)
        self.ingot("plan", self.path("absent.csv"), code=1)
        bad = self.write("bad.csv", b"id,lower,upper,size\na,2,0,4\nb,0,1,-1\n")
        done = self.ingot("plan", bad, code=1)
        self.assertIn(f'error: "{bad}", line 2: "a" dies before it is born [', done.stderr)
        self.assertIn(f'error: "{bad}", line 3: "b" has a negative size [', done.stderr)

    def test_solution(self):
        problem = self.write("p.csv", self.CSV)
        printed = self.ingot("plan", problem).stdout
        self.assertEqual(printed.splitlines()[0], "id,lower,upper,size,offset")
        self.ingot("plan", problem, "-o", self.path("s.csv"))
        self.assertEqual(pathlib.Path(self.path("s.csv")).read_text(), printed)
        rows = [line.split(",") for line in printed.splitlines()[1:]]
        placed = {r[0]: int(r[4]) for r in rows}
        self.assertEqual({placed["a"], placed["b"]}, {0, 4})
        self.assertEqual({placed["b"], placed["c"]}, {0, 4})

    def test_time_limit(self):
        """A problem that would take minutes ends in time, with a valid plan and what is proved of it."""
        rows = ["id,lower,upper,size"]
        state = 1
        for i in range(600):
            state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            begin, length, size = state >> 33 & 511, state >> 43 & 127, state >> 50 & 4095
            rows.append(f"{i},{begin},{begin + length + 1},{size + 1}")
        problem = self.write("p.csv", ("\n".join(rows) + "\n").encode())
        began = time.monotonic()
        result = self.json_of("plan", problem, "--json", "--time-limit", "0.5")
        self.assertLess(time.monotonic() - began, 10)
        self.assertGreaterEqual(result["height"], result["lower_bound"])
        self.assertEqual(result["optimal"], result["height"] == result["lower_bound"])
        self.ingot("plan", problem, "--time-limit", "-1", code=2)


class Lists(Cli):
    def test_operators(self):
        facts = self.json_of("ops", "--json")
        names = [o["name"] for o in facts["operators"]]
        for name in ("conv_2d", "max_pool_2d", "add", "softmax"):
            self.assertIn(name, names)
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("CONV_2D", facts["tflite"])
        types = {o["name"]: o["element_types"] for o in facts["operators"]}
        self.assertEqual(types["conv_2d"], ["int8", "float32 with int8 weights", "float32"])
        self.assertEqual(types["softmax"], ["int8", "float32"])
        self.assertIn("int8 -> float32", types["dequantize"])
        self.assertRegex(self.ingot("ops").stdout, r"(?m)^conv_2d +int8, float32 with int8 weights, float32$")

    def test_the_page_of_operators_is_current(self):
        page = pathlib.Path(SOURCE, "docs/supported_operators.md").read_text()
        self.assertEqual(self.ingot("ops", "--markdown").stdout, page,
                         "run: ingot ops --markdown > docs/supported_operators.md")

    def test_targets(self):
        names = [t["name"] for t in self.json_of("targets", "--json")["targets"]]
        self.assertEqual(names, ["c99", "cortex-m0plus", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55",
                                 "rv32imc", "aarch64", "x86-64-v3", "x86-64-avx512vnni"])
        self.assertEqual(len(self.ingot("targets").stdout.splitlines()), len(names))

    def test_every_code_is_explained(self):
        codes = self.ingot("explain").stdout.split()
        self.assertGreater(len(codes), 20)
        for code in codes:
            text = self.ingot("explain", code).stdout
            self.assertTrue(text.startswith(code + "\n\n"))
            self.assertTrue(all(len(line) <= 80 for line in text.splitlines()))

    def test_completion(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.ingot("completion", shell).stdout
            self.assertIn("validate", script)
            self.assertIn("emit-test", script)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script, text=True, check=True)
        if shutil.which("bash"):
            check = "source /dev/stdin; COMP_WORDS=(ingot compile --emi); COMP_CWORD=2; _ingot; echo $COMPREPLY"
            done = subprocess.run(["bash", "-c", check], input=self.ingot("completion", "bash").stdout, text=True,
                                  capture_output=True, check=True)
            self.assertEqual(done.stdout.strip(), "--emit-test")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
