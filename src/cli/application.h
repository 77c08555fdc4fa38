// SPDX-License-Identifier: Apache-2.0
// The program `ingot`: its commands, their options and the exit codes. Each command lies in a file
// of its own; it declares its options, and what it does once they are understood.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "support/diagnostic.h"

namespace ingot::cli {

// What the process returns (docs/command_line.md).
enum ExitCode : int {
  kDone = 0,
  kNotAcceptable = 1,
  kWrongUsage = 2,
  kDoesNotFit = 3,
  kDifferent = 4,
  kMissingProgram = 5,
  kTimeLimit = 6,
  kBug = 70,
};

// What the chosen command does, set by its callback while the command line is read.
struct Session {
  std::function<int()> action;
  std::string diagnostics_format = "text";  // or "json"
};

// Each adds one or more commands to `app`. `session` outlives the parsing and the action.
void add_compile_command(CLI::App& app, Session& session);
void add_inspect_command(CLI::App& app, Session& session);
void add_run_command(CLI::App& app, Session& session);
void add_validate_command(CLI::App& app, Session& session);
void add_bench_command(CLI::App& app, Session& session);
void add_plan_command(CLI::App& app, Session& session);
void add_ops_command(CLI::App& app, Session& session);
void add_targets_command(CLI::App& app, Session& session);
void add_explain_command(CLI::App& app, Session& session);
void add_completion_command(CLI::App& app, Session& session);

// Prints `diagnostics` to standard error as the session wants them, and returns the exit code that
// they mean.
int report(const Session& session, const Diagnostics& diagnostics);
// Warnings of a run that went well; notes only where the command is there to tell all.
void report_warnings(const Session& session, const Diagnostics& warnings, bool with_notes = false);
// As `report`, for a fault of the command line.
int report_usage(const Session& session, const std::string& what, const std::string& hint = "");

// Reads the command line, does what it says and returns the exit code.
int run(int argc, char** argv);

}  // namespace ingot::cli
