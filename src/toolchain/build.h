// SPDX-License-Identifier: Apache-2.0
// From C texts to a program, on the host or for an emulated core. Everything happens in a
// temporary folder that lives as long as the Program.
#pragma once
#include <string>
#include <vector>

#include "support/embedded_file.h"
#include "support/file.h"
#include "support/result.h"
#include "toolchain/board.h"
#include "toolchain/process.h"
#include "toolchain/temporary_folder.h"

namespace ingot::toolchain {

// Two sets of files, each in its own folder. Every `.c` file that lies directly in one of them is
// compiled; the others are there to be included.
struct Sources {
  // The compiled model, compiled with BuildOptions::flags in its own folder (so that it finds its
  // headers and binary files).
  std::vector<OutputFile> model;
  // What calls it, main() included: C99 with the compiler's extensions, at -O2. It may include the
  // model's headers and "harness.h" (runtime/), whose functions are linked to it.
  std::vector<OutputFile> harness;
};

struct BuildOptions {
  std::string compiler;                      // empty: the board's
  std::vector<std::string> flags = {"-O2"};  // for the model's files; sanitizers also for linking
  std::vector<std::string> libraries = {"-lm"};
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  // of each compilation
};

struct Program {
  const Board* board;
  TemporaryFolder folder;
  std::filesystem::path executable;
};

// Compiles and links. kProgramMissing if the compiler is not installed; kProgramFailed, with what
// it printed, if it refuses the texts or the program does not fit the board's memory.
Result<Program> build(const Board& board, const Sources& sources, const BuildOptions& options = {});

// Our start-up code, linker scripts and the emulator's plugin (runtime/).
std::span<const EmbeddedFile> runtime_files();

}  // namespace ingot::toolchain
