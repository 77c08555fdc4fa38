#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is written appears whole or not at all: on a full disc, in folders that cannot be written, when killed at any
point, and with several runs into one folder.

    test_output_files.py INGOT TFLITE_WRITE SOURCE_FOLDER [TEST...]
"""
import copy
import ctypes
import fcntl
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import sys
import unittest

from command_line import INGOT, NETWORK, Cli

PTRACE_TRACEME, PTRACE_SYSCALL = 0, 24
LIBC = ctypes.CDLL(None, use_errno=True)


def visible(folder):
    """The files of a folder, and whether something hidden is left."""
    files = {str(p.relative_to(folder)): p.read_bytes() for p in pathlib.Path(folder).rglob("*")
             if p.is_file() and not any(part.startswith(".ingot-") for part in p.relative_to(folder).parts)}
    return files, any(name.startswith(".ingot-") for name in os.listdir(folder))


class OutputFiles(Cli):
    def setUp(self):
        super().setUp()
        other = copy.deepcopy(NETWORK)
        for tensor in other["tensors"]:
            if tensor["name"] == "w1":
                tensor["data"] = [[11, -21, 31], [127, -64, 2]]
        self.other = self.write_model(other, "other.tflite")
        big = copy.deepcopy(NETWORK)
        big["metadata"] = {"origin": "a large one"}
        big["tensors"] = [{"name": "x", "dtype": "int8", "shape": [1, 300], "scale": 0.5, "zero_point": 3},
                          {"name": "w", "dtype": "int8", "shape": [200, 300], "scale": 0.01, "zero_point": 0,
                           "data": {"random": 1, "low": -127, "high": 127}},
                          {"name": "y", "dtype": "int8", "shape": [1, 200], "scale": 0.5, "zero_point": 3}]
        big["operators"] = [{"op": "FULLY_CONNECTED", "version": 4, "inputs": ["x", "w", -1], "outputs": ["y"]}]
        big["inputs"], big["outputs"] = ["x"], ["y"]
        self.big = self.write_model(big, "big.tflite")

    def compile_into(self, folder, model, program=INGOT, **options):
        return subprocess.run([program, "compile", model, "-o", folder, "--name", "net"], capture_output=True, text=True,
                              check=False, **options)

    def set_of(self, model):
        """The files that a compilation of `model` gives, by name."""
        folder = self.path("set_" + os.path.basename(model))
        self.assertEqual(self.compile_into(folder, model).returncode, 0)
        files, hidden = visible(folder)
        self.assertFalse(hidden)
        return files

    def expect_one_error(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for word in (*words, "[file-unwritable]"):
            self.assertIn(word, done.stderr)

    def expect_failure_changes_nothing(self, folder, *words, **options):
        """With nothing in `folder`, and with the files of a smaller model."""
        before = visible(folder)
        self.expect_one_error(self.compile_into(folder, self.big, **options), *words)
        self.assertEqual(visible(folder), before)
        self.assertEqual(self.compile_into(folder, self.model).returncode, 0)
        before = visible(folder)
        self.assertEqual(before, (self.set_of(self.model), False))
        self.expect_one_error(self.compile_into(folder, self.big, **options), *words)
        self.assertEqual(visible(folder), before)

    def mount_tmpfs(self, folder):
        os.makedirs(folder)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", folder], capture_output=True,
                                 check=False)
        if mounted.returncode != 0:
            self.skipTest("a small file system cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", folder], check=True)

    def test_full_disc(self):
        self.mount_tmpfs(self.path("disc"))
        self.expect_failure_changes_nothing(self.path("disc"), "No space left on device")

    def test_a_move_that_fails_is_taken_back(self):
        folder = self.path("out")
        self.mount_tmpfs(os.path.join(folder, "test"))  # files cannot be moved there
        self.assertEqual(self.compile_into(folder, self.model).returncode, 0)
        before = visible(folder)
        done = self.ingot("compile", self.other, "-o", folder, "--name", "net", "--emit-test", "1", code=1)
        self.assertIn("net_test.c", done.stderr)
        self.assertEqual(visible(folder), before)

    def test_limit_of_file_size(self):
        folder = self.path("limited")
        os.mkdir(folder)
        self.expect_failure_changes_nothing(
            folder, "File too large", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000)))

    def test_failure_leaves_no_new_folder(self):
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))}
        self.expect_one_error(self.compile_into(self.path("a/b/c"), self.big, **limit), "File too large")
        self.assertFalse(os.path.exists(self.path("a")))

    def test_folders_that_cannot_be_written(self):
        self.write("file", b"in the way")
        os.mkdir(self.path("closed"), 0o555)
        options = {}
        if os.geteuid() == 0:
            # Nothing is closed to root; another user may not reach the program in root's home.
            os.chmod(self.folder.name, 0o755)
            options = {"user": 65534, "program": shutil.copy(INGOT, self.path("ingot"))}
        for folder, words in (("file", "a file is in its place"), ("file/sub", "file"), ("closed", "Permission"),
                              ("closed/sub", "Permission")):
            self.expect_one_error(self.compile_into(self.path(folder), self.model, **options), words)
        self.assertEqual(os.listdir(self.path("closed")), [])
        self.expect_one_error(self.compile_into("/proc/nothing", self.model), "/proc/nothing")
        self.expect_one_error(self.compile_into("/dev/full", self.model), "/dev/full")

    def test_a_folder_in_the_place_of_a_file(self):
        os.makedirs(self.path("out/net_weights.c"))
        self.write("out/net.h", b"mine")
        self.expect_one_error(self.compile_into(self.path("out"), self.model), "net_weights.c", "a folder")
        self.assertEqual(visible(self.path("out")), ({"net.h": b"mine"}, False))

    def test_devices_are_not_replaced(self):
        problem = self.write("problem.csv", b"id,lower,upper,size\na,0,1,4\n")
        os.mkfifo(self.path("fifo"))
        done = self.ingot("plan", problem, "-o", self.path("fifo"), code=1)
        self.assertIn("not a regular file", done.stderr)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("fifo")).st_mode))

    def test_standard_output_is_full(self):
        for arguments in (["ops"], ["ops", "--json"], ["inspect", self.model, "--json"],
                          ["compile", self.model, "-o", self.path("full")]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([INGOT, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("cannot write to standard output", done.stderr)

    def test_two_runs_into_one_folder(self):
        sets = [self.set_of(self.model), self.set_of(self.other)]
        self.assertTrue(all(sets[0][name] != sets[1][name] for name in sets[0]))
        for _ in range(8):
            runs = [subprocess.Popen([INGOT, "compile", model, "-o", self.path("shared"), "--name", "net", "--quiet"])
                    for model in (self.model, self.other) * 2]
            self.assertEqual([run.wait() for run in runs], [0] * len(runs))
            files, hidden = visible(self.path("shared"))
            self.assertIn(files, sets)
            self.assertFalse(hidden)

    def killed_after(self, folder, num_stops):
        """Compiles the other model, and kills the compiler at its Nth start or end of a system call. Returns how many
        there were if it came to its end before."""
        process = subprocess.Popen([INGOT, "compile", self.other, "-o", folder, "--name", "net", "--quiet"],
                                   preexec_fn=lambda: LIBC.ptrace(PTRACE_TRACEME, 0, None, None),
                                   env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))  # it cannot be traced
        _, status = os.waitpid(process.pid, 0)
        if not os.WIFSTOPPED(status):
            process.returncode = status
            self.skipTest("there is no ptrace here")
        for count in range(num_stops):
            if LIBC.ptrace(PTRACE_SYSCALL, process.pid, None, None) != 0:
                self.fail(os.strerror(ctypes.get_errno()))
            _, status = os.waitpid(process.pid, 0)
            if os.WIFEXITED(status):
                process.returncode = os.WEXITSTATUS(status)
                return count
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return None

    def test_killed_at_any_point(self):
        old, new = self.set_of(self.model), self.set_of(self.other)
        num_stops = self.killed_after(self.path("never"), 10**6)
        seen = set()
        # The last system calls, from reading the model on, one by one; before them nothing is touched.
        for stop in range(max(0, num_stops - 220), num_stops):
            has_old = stop % 2 == 0
            folder = self.path(f"killed_{stop}")
            if has_old:
                self.assertEqual(self.compile_into(folder, self.model).returncode, 0)
            self.killed_after(folder, stop)  # how many system calls there are varies by a few
            if not os.path.exists(folder):
                seen.add("no folder")
                continue
            # What was begun is completed by a process that holds a lock on the folder.
            fd = os.open(folder, os.O_RDONLY)
            fcntl.flock(fd, fcntl.LOCK_EX)
            os.close(fd)
            files, _ = visible(folder)
            self.assertIn(files, [old, new] if has_old else [{}, new], f"killed at {stop} of {num_stops}")
            seen.add("new" if files == new else "old" if files else "nothing")
            # And the next run finds nothing in its way.
            self.assertEqual(self.compile_into(folder, self.model).returncode, 0)
            self.assertEqual(visible(folder), (old, False))
        self.assertLessEqual({"old", "nothing", "new"}, seen)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
