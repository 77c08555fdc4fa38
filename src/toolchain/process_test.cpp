// SPDX-License-Identifier: Apache-2.0
#include "toolchain/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "toolchain/temporary_folder.h"

namespace ingot::toolchain {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Lt;

Outcome run_shell(const std::string& script, const Command& rest = {}) {
  Command command = rest;
  command.arguments = {"sh", "-c", script};
  const Result<Outcome> outcome = run_process(command);
  EXPECT_TRUE(outcome.has_value());
  return outcome ? *outcome : Outcome{};
}

TEST(Process, CapturesBothStreamsAndTheExitCode) {
  const Outcome outcome = run_shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(outcome.output, "out\n");
  EXPECT_EQ(outcome.errors, "err\n");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_FALSE(outcome.succeeded());
}

TEST(Process, ArgumentsReachTheProgramUnchanged) {
  const Result<Outcome> outcome = run_process({{"printf", "%s|", "a b", "$HOME", "", "*"}, {}, {}});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->output, "a b|$HOME||*|");
}

TEST(Process, MuchOnBothStreamsDoesNotBlock) {
  const Outcome outcome =
      run_shell("head -c 1000000 /dev/zero & head -c 1000000 /dev/zero >&2; wait");
  EXPECT_EQ(outcome.output.size(), 1000000U);
  EXPECT_EQ(outcome.errors.size(), 1000000U);
  EXPECT_TRUE(outcome.succeeded());
}

TEST(Process, FolderAndEnvironmentAreGiven) {
  Command command;
  command.working_folder = "/";
  command.environment = {{"INGOT_TEST", "x=1"}, {"PATH", "/nowhere"}};
  EXPECT_EQ(run_shell("pwd; echo $INGOT_TEST $PATH $LC_ALL", command).output,
            "/\nx=1 /nowhere C\n");
}

TEST(Process, StandardInputIsEmpty) { EXPECT_EQ(run_shell("cat; echo end").output, "end\n"); }

TEST(Process, ASignalIsReported) {
  const Outcome outcome = run_shell("kill -SEGV $$");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_EQ(outcome.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(failed_program({{"sh"}, {}, {}}, outcome).what, HasSubstr("ended by signal 11"));
}

TEST(Process, TheTimeLimitKillsTheWholeGroup) {
  Command command;
  command.timeout = milliseconds(200);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run_shell("echo begun; sleep 60 & sleep 60; echo never", command);
  EXPECT_THAT(std::chrono::steady_clock::now() - begin, Lt(std::chrono::seconds(20)));
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.output, "begun\n");
  command.arguments = {"sh"};
  EXPECT_THAT(failed_program(command, outcome).what, HasSubstr("did not end in 200 ms"));
}

TEST(Process, AProgramThatClosesItsStreamsIsStillTimed) {
  Command command;
  command.timeout = milliseconds(200);
  EXPECT_TRUE(run_shell("exec >&- 2>&-; sleep 60", command).timed_out);
}

TEST(Process, WhatAProgramLeavesBehindIsNotAwaited) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run_shell("sleep 60 & echo done");
  EXPECT_THAT(std::chrono::steady_clock::now() - begin, Lt(std::chrono::seconds(20)));
  EXPECT_EQ(outcome.output, "done\n");
  EXPECT_TRUE(outcome.succeeded());
}

TEST(Process, AMissingProgramNamesItsDebianPackage) {
  const struct {
    std::string program, hint;
  } rows[] = {{"arm-none-eabi-gcc-of-nobody", "gcc-arm-none-eabi"},
              {"qemu-system-arm-of-nobody", "qemu-system-arm"},
              {"clang-of-nobody", "package clang"},
              {"./no/such/program", "PATH"}};
  for (const auto& row : rows) {
    const Result<Outcome> outcome = run_process({{row.program}, {}, {}});
    ASSERT_FALSE(outcome.has_value()) << row.program;
    EXPECT_EQ(outcome.error().front().code, Code::kProgramMissing);
    EXPECT_THAT(outcome.error().front().what, HasSubstr(row.program));
    EXPECT_THAT(outcome.error().front().hint, HasSubstr(row.hint));
  }
}

TEST(Process, AMissingFolderIsAnError) {
  const Result<Outcome> outcome = run_process({{"sh", "-c", ":"}, "/no/such/folder", {}});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().front().code, Code::kProgramFailed);
  EXPECT_THAT(outcome.error().front().what, HasSubstr("/no/such/folder"));
}

TEST(Process, AFailureQuotesWhatWasPrinted) {
  const Outcome outcome{.exit_code = 1, .output = "", .errors = "a\x1b[31mb\n\nsecond\n"};
  const Diagnostic diagnostic = failed_program({{"cc", "x.c"}, {}, {}}, outcome);
  EXPECT_EQ(diagnostic.what, "\"cc\" ended with exit code 1");
  EXPECT_THAT(diagnostic.notes, ElementsAre("a [31mb", "second"));
}

TEST(TemporaryFolder, IsRemovedWithItsContents) {
  std::filesystem::path path;
  {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.has_value());
    const TemporaryFolder moved = *std::move(folder);
    path = moved.path();
    std::filesystem::create_directories(path / "a/b");
    std::ofstream(path / "a/b/file") << "text";
    EXPECT_TRUE(std::filesystem::exists(path / "a/b/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// A child that makes a folder and is killed leaves nothing behind.
TEST(TemporaryFolder, IsRemovedWhenItsOwnerIsKilled) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const Result<TemporaryFolder> folder = TemporaryFolder::make();
    const std::string name = folder ? folder->path().string() : "";
    if (::write(ends[1], name.data(), name.size()) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  char buffer[4096] = {};
  ASSERT_GT(::read(ends[0], buffer, sizeof buffer - 1), 0);
  const std::filesystem::path path = buffer;
  EXPECT_TRUE(std::filesystem::exists(path));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  for (int tries = 0; tries < 1000 && std::filesystem::exists(path); ++tries) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace ingot::toolchain
