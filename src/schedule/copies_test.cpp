// SPDX-License-Identifier: Apache-2.0
// Copies by words against copies by bytes, in the interpreter, in both directions.
#include "schedule/copies.h"

#include <gtest/gtest.h>

#include "schedule/schedule.h"
#include "schedule/test_convolutions.h"

namespace ingot {
namespace {

// Three rows of `count` bytes into rows of `count` + 2, the last two of which are set.
loop::Program rows_of(int64_t count) {
  const std::string text = fmt::format(
      "program p\n"
      "buffer in int8[{0}] input align 1 type int8[{0}] scale 1 zero_point 0\n"
      "buffer out int8[{1}] output align 1 type int8[{1}] scale 1 zero_point 0\n"
      "kernel copy(x: int8[{0}] read align 1, y: int8[{1}] write align 1) \"\" {{\n"
      "for r = 0 to 3 {{\n"
      "for i = 0 to {2} {{\ny[r * {3} + i] = int8(int32(x[r * {2} + i]))\n}}\n"
      "for j = 0 to 2 {{\ny[r * {3} + {2} + j] = -3:int8\n}}\n"
      "}}\n}}\nrun {{\ncall copy(in, out)\n}}\n",
      3 * count, 3 * (count + 2), count, count + 2);
  const Result<loop::Program> parsed = loop::parse(text);
  EXPECT_TRUE(parsed) << text;
  return *parsed;
}

bool has_loop_over(const loop::Kernel& kernel, const std::string& variable) {
  return loop::print(kernel).find("for " + variable + " ") != std::string::npos;
}

TEST(Copies, MoveTheSameBytes) {
  for (const int64_t count : {1, 3, 4, 7, 16, 21, 31, 32, 33, 67}) {
    loop::Program program = rows_of(count);
    const auto expected = run(program);
    const loop::Kernel plain = program.kernels[0];
    for (const bool has_vectors : {false, true}) {
      for (const loop::Kernel& kernel : {plain, *reverse(plain)}) {
        program.kernels[0] = kernel;
        program.kernels[0].body = with_words(kernel.body, has_vectors);
        for (const std::string& fault : loop::find_faults(program)) ADD_FAILURE() << fault;
        EXPECT_TRUE(loop::unproved_accesses(program).empty());
        EXPECT_EQ(run(program), expected) << loop::print(program.kernels[0]);
        // Runs of at least a word are no loop over bytes any more.
        EXPECT_EQ(has_loop_over(program.kernels[0], "i"), count < 4 || count >= 32);
      }
    }
  }
}

TEST(Copies, LeaveOtherLoopsAlone) {
  for (const char* statement :
       {"y[i] = int8(int32(x[i]) + 1)", "y[i * 2] = int8(int32(x[i]))", "y[i] = y[i + 8]"}) {
    const Result<loop::Program> program = loop::parse(
        fmt::format("program p\n"
                    "buffer in int8[16] input align 1 type int8[16] scale 1 zero_point 0\n"
                    "buffer out int8[16] output align 1 type int8[16] scale 1 zero_point 0\n"
                    "kernel k(x: int8[16] read align 1, y: int8[16] update align 1) \"\" {{\n"
                    "for i = 0 to 8 {{\n{}\n}}\n}}\nrun {{\ncall k(in, out)\n}}\n",
                    statement));
    ASSERT_TRUE(program) << statement;
    loop::Kernel kernel = program->kernels[0];
    kernel.body = with_words(kernel.body, false);
    EXPECT_EQ(loop::print(kernel), loop::print(program->kernels[0]));
  }
}

}  // namespace
}  // namespace ingot
