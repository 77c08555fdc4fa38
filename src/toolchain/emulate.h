// SPDX-License-Identifier: Apache-2.0
// Running what was built (build.h): natively, or in QEMU with our plugin, which counts instructions
// exactly. A run has a temporary folder of its own as its working folder.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/file.h"
#include "support/result.h"
#include "toolchain/build.h"

namespace ingot::toolchain {

struct RunOptions {
  std::vector<OutputFile> input_files;    // put into the working folder
  std::vector<std::string> result_files;  // read from it afterwards
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

struct Execution {
  int64_t exit_code = 0;  // what main() returned; 99 after a fault on a core; 128 + signal natively
  bool timed_out = false;
  std::string console;
  // A line that says what went wrong if the program ended by a fault or a signal; else empty.
  std::string fault;
  // Of the regions that MARK_START and MARK_STOP enclose, in the order of execution: instructions
  // on a core, nanoseconds on the host.
  std::vector<int64_t> regions;
  // The numbers that harness_report printed, in order.
  std::vector<std::pair<std::string, int64_t>> reports;
  // RunOptions::result_files, as far as they exist.
  std::map<std::string, std::vector<uint8_t>> files;

  // The greatest number reported under `key`.
  std::optional<int64_t> greatest(std::string_view key) const;
};

constexpr int64_t kExitCodeOfFaults = 99;

// Runs `program`. However it ends, that is an Execution; an error says that it could not be run at
// all: a missing emulator, a plugin that does not build, a folder that cannot be written.
Result<Execution> execute(const Program& program, const RunOptions& options = {});

// Builds and runs.
Result<Execution> build_and_run(const Board& board, const Sources& sources,
                                const BuildOptions& build_options = {},
                                const RunOptions& run_options = {});

}  // namespace ingot::toolchain
