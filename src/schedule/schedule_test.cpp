// SPDX-License-Identifier: Apache-2.0
// Unroll and jam: as text once, and by values on many shapes, where the interpreter is the judge.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/text.h"
#include "schedule/names.h"
#include "schedule/unroll_and_jam.h"

namespace ingot {
namespace {

loop::Program parse(const std::string& text) {
  Result<loop::Program> program = loop::parse(text);
  if (!program) throw std::runtime_error(program.error()[0].what);
  return *std::move(program);
}

std::string dense(int64_t rows, int64_t columns) {
  return fmt::format(
      "program net\n"
      "buffer x int8[{1}] input align 1 tensor \"x\" type int8[{1}]\n"
      "buffer y int32[{0}] output align 4 tensor \"y\" type int32[{0}]\n"
      "buffer w int8[{2}] arena align 1\n"
      "kernel dense_0(x: int8[{1}] read align 1, w: int8[{2}] read align 1, "
      "y: int32[{0}] write align 4) \"\" {{\n"
      "  for oc = 0 to {0} {{\n"
      "    let acc: int32 = oc\n"
      "    for ic = 0 to {1} {{\n"
      "      acc = acc + (int32(x[ic]) + 3) * int32(w[oc * {1} + ic])\n"
      "    }}\n"
      "    y[oc] = acc\n"
      "  }}\n"
      "}}\n"
      "run {{\n"
      "  call dense_0(x, w, y) note \"dense\" dense macs 0 operators []\n"
      "}}\n",
      rows, columns, rows * columns);
}

// The kernel's result on bytes that count up.
std::vector<uint8_t> result_of(const loop::Program& program, const loop::Kernel& kernel) {
  std::vector<std::vector<uint8_t>> memory;
  std::vector<std::span<uint8_t>> spans;
  uint8_t next = 1;
  for (const loop::Param& p : kernel.params) {
    memory.emplace_back(static_cast<size_t>(p.num_elements * size_in_bytes(p.dtype)));
    for (uint8_t& byte : memory.back()) byte = next = static_cast<uint8_t>(next * 5 + 3);
  }
  for (std::vector<uint8_t>& m : memory) spans.emplace_back(m);
  loop::interpret(program, kernel, spans);
  return memory.back();
}

TEST(UnrollAndJam, LoadsOnceWhatFourSumsShare) {
  const loop::Program program = parse(dense(8, 5));
  const std::optional<loop::Kernel> jammed = unroll_and_jam(program.kernels[0], "oc", 2);
  ASSERT_TRUE(jammed);
  EXPECT_EQ(loop::print(jammed->body),
            "for oc = 0 to 8 step 2 {\n"
            "  let acc0: int32 = oc\n"
            "  let acc1: int32 = oc + 1\n"
            "  for ic = 0 to 5 {\n"
            "    let x_value: int32 = int32(x[ic]) + 3\n"
            "    acc0 = acc0 + x_value * int32(w[oc * 5 + ic])\n"
            "    acc1 = acc1 + x_value * int32(w[(oc + 1) * 5 + ic])\n"
            "  }\n"
            "  y[oc] = acc0\n"
            "  y[oc + 1] = acc1\n"
            "}\n");
}

TEST(UnrollAndJam, KeepsTheValues) {
  for (int64_t rows = 1; rows <= 9; ++rows) {
    for (int64_t columns = 1; columns <= 3; ++columns) {
      const loop::Program program = parse(dense(rows, columns));
      const loop::Kernel& kernel = program.kernels[0];
      for (int64_t factor = 1; factor <= 5; ++factor) {
        const std::optional<loop::Kernel> jammed = unroll_and_jam(kernel, "oc", factor);
        ASSERT_TRUE(jammed) << rows << " " << factor;
        EXPECT_EQ(result_of(program, *jammed), result_of(program, kernel))
            << rows << "x" << columns << " by " << factor << "\n"
            << loop::print(jammed->body);
      }
    }
  }
}

TEST(UnrollAndJam, RefusesWhatWouldChangeTheMeaning) {
  const std::string head =
      "program net\n"
      "kernel k(x: int8[9] read align 1, y: int8[9] update align 1) \"\" {\n";
  const std::string tail = "}\nrun {\n}\n";
  const char* bodies[] = {
      // reads what another iteration writes
      "  for oc = 0 to 8 {\n    y[oc + 1] = y[oc]\n  }\n",
      // assigns a local of outside
      "  let sum: int32 = 0\n  for oc = 0 to 8 {\n    sum = sum + int32(x[oc])\n  }\n",
      // inner loops differ between iterations
      "  for oc = 0 to 8 {\n    for i = 0 to oc {\n      y[i] = x[oc]\n    }\n  }\n",
      // bounds that are not constant
      "  for n = 0 to 8 {\n    for oc = 0 to n {\n      y[oc] = x[oc]\n    }\n  }\n",
      // no such loop
      "  for n = 0 to 8 {\n    y[n] = x[n]\n  }\n"};
  for (const char* body : bodies) {
    const loop::Program program = parse(head + body + tail);
    EXPECT_FALSE(unroll_and_jam(program.kernels[0], "oc", 2)) << body;
  }
}

}  // namespace
}  // namespace ingot
