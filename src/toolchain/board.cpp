// SPDX-License-Identifier: Apache-2.0
#include "toolchain/board.h"

#include <algorithm>
#include <array>

#include "support/check.h"
#include "toolchain/process.h"

namespace ingot::toolchain {
namespace {

constexpr std::string_view kArmCompiler = "arm-none-eabi-gcc";

Board core(std::string_view target, std::vector<std::string> cpu_flags, std::string_view machine,
           std::string_view linker_script) {
  cpu_flags.insert(cpu_flags.begin(), "-mthumb");
  return {target,
          kArmCompiler,
          std::move(cpu_flags),
          machine,
          linker_script,
          {},
          "qemu-system-arm",
          "startup.c",
          "libnewlib-arm-none-eabi"};
}

// QEMU 7.2 has no board with a Cortex-M0+ that can be counted and has memory enough: its code is a
// subset of what a Cortex-M3 executes, but for unaligned accesses, which the M3 is told to refuse.
Board cortex_m0plus() {
  Board board = core("cortex-m0plus", {"-mcpu=cortex-m0plus", "-mfloat-abi=soft"}, "mps2-an385",
                     "mps2-an385.ld");
  board.definitions = {"-DHARNESS_TRAP_UNALIGNED"};
  return board;
}

Board rv32imc() {
  return {"rv32imc",
          "riscv64-unknown-elf-gcc",
          {"-march=rv32imc", "-mabi=ilp32", "--specs=picolibc.specs"},
          "virt",
          "qemu-virt32.ld",
          {},
          "qemu-system-riscv32",
          "startup_riscv.c",
          "picolibc-riscv64-unknown-elf"};
}

// Programs are linked without shared libraries, which would be searched for in the host's folders.
Board aarch64() {
  Board board{"aarch64", "aarch64-linux-gnu-gcc", {"-march=armv8.2-a+dotprod", "-static"}, "", "",
              {}};
  board.emulator = "qemu-aarch64";
  board.library = "libc6-dev-arm64-cross";
  return board;
}

bool has_processor(std::string_view target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                  __builtin_cpu_supports("bmi2") != 0;
  if (target == "x86-64-v3") return v3;
  if (target == "x86-64-avx512vnni") {
    return v3 && __builtin_cpu_supports("avx512vnni") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0;
  }
#endif
  return !target.starts_with("x86-64");
}

}  // namespace

std::span<const Board> boards() {
  static const std::array<Board, 10> kBoards = {
      Board{"c99", "cc", {}, "", "", {}},
      cortex_m0plus(),
      core("cortex-m4", {"-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"}, "mps2-an386",
           "mps2-an385.ld"),
      core("cortex-m7", {"-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16"}, "mps2-an500",
           "mps2-an500.ld"),
      core("cortex-m33", {"-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"},
           "mps2-an505", "mps2-an505.ld"),
      core("cortex-m55", {"-mcpu=cortex-m55", "-mfloat-abi=hard"}, "mps3-an547", "mps3-an547.ld"),
      rv32imc(),
      aarch64(),
      Board{"x86-64-v3", "cc", {"-march=x86-64-v3"}, "", "", {}},
      Board{"x86-64-avx512vnni", "cc", {"-march=x86-64-v4", "-mavx512vnni"}, "", "", {}},
  };
  return kBoards;
}

const Board& host_board() { return boards().front(); }

const Board* find_board(std::string_view target) {
  const auto board = std::ranges::find(boards(), target, &Board::target);
  return board == boards().end() ? nullptr : &*board;
}

std::string missing_feature(const Board& board) {
  return has_processor(board.target)
             ? ""
             : "this machine's processor is no " + std::string(board.target);
}

std::vector<std::string> missing_programs(const Board& board, std::string_view compiler) {
  std::vector<std::string> needed = {std::string(compiler.empty() ? board.compiler : compiler)};
  if (!board.emulator.empty()) needed.emplace_back(board.emulator);
  if (!board.is_host()) needed.emplace_back("cc");  // for the emulator's plugin
  std::erase_if(needed, [](const std::string& program) { return find_program(program); });
  return needed;
}

}  // namespace ingot::toolchain
