// SPDX-License-Identifier: Apache-2.0
// Starting other programs: an argument vector, never a shell; both output streams captured; a time
// limit after which the program and everything it started is killed. Programs run with LC_ALL=C,
// without standard input, and do not outlive Ingot.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.h"

namespace ingot::toolchain {

struct Command {
  std::vector<std::string> arguments;    // the program first; without a slash it is sought in PATH
  std::filesystem::path working_folder;  // empty: the caller's
  std::vector<std::pair<std::string, std::string>> environment;  // set beside the caller's own
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
};

// What became of a program that was started.
struct Outcome {
  int64_t exit_code = 0;  // 128 + the signal's number if a signal ended it
  int64_t signal = 0;     // 0 if it ended by itself
  bool timed_out = false;
  std::string output;  // standard output
  std::string errors;  // standard error

  bool succeeded() const { return exit_code == 0 && !timed_out; }
};

// The most that is kept of each output stream; what exceeds it is read and dropped.
constexpr int64_t kLargestOutputBytes = int64_t{64} << 20;

// Runs `command` to its end. Any end of the program is an Outcome; only a program that cannot be
// started is an error: kProgramMissing (naming its Debian package) or kProgramFailed.
Result<Outcome> run_process(const Command& command);

// Where `program` is, as execvp would find it.
std::optional<std::filesystem::path> find_program(std::string_view program);

// kProgramMissing for `program`, with its Debian package where we know it.
Diagnostic missing_program(std::string_view program);

// kProgramFailed: how `command` ended, with the first lines of what it printed as notes.
Diagnostic failed_program(const Command& command, const Outcome& outcome);

}  // namespace ingot::toolchain
