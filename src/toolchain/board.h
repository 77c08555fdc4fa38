// SPDX-License-Identifier: Apache-2.0
// Where a compiled model can be built and run: one value per target. A core is run on one of the
// boards that QEMU 7.2 emulates; processors that run processes are this machine's own, or emulated
// in user mode.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::toolchain {

struct Board {
  std::string_view target;               // as of `--target`
  std::string_view compiler;             // a C compiler that takes GCC's options
  std::vector<std::string> cpu_flags;    // for compiling and linking
  std::string_view machine;              // QEMU's name; empty: programs are processes
  std::string_view linker_script;        // in runtime/; empty on the host
  std::vector<std::string> definitions;  // of start-up code
  std::string_view emulator = {};        // QEMU's program; empty: this machine's processor
  std::string_view startup = {};         // in runtime/: from reset to main()
  std::string_view library = {};         // the Debian package of the C library

  // Programs are processes of this machine's system, which have files and time, if not the time of
  // the target where they are emulated.
  bool is_host() const { return machine.empty(); }
};

// The host first, then the cores.
std::span<const Board> boards();
const Board& host_board();
// nullptr if programs for `target` cannot be run.
const Board* find_board(std::string_view target);

// What this machine's processor lacks to run programs for `board`; empty if nothing.
std::string missing_feature(const Board& board);

// The programs that building for `board` and running there need and that are not installed: the
// board's compiler, or `compiler` in its place, the emulator and the host's compiler for its
// plugin.
std::vector<std::string> missing_programs(const Board& board, std::string_view compiler = "");

}  // namespace ingot::toolchain
