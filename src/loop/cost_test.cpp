// SPDX-License-Identifier: Apache-2.0
#include "loop/cost.h"

#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/text.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

Program kernel_with(const std::string& body) {
  const Result<Program> program = parse(
      "program p\n"
      "function f(a: int32) -> int32 \"\" { let b: int32 = a * a return b * 2 }\n"
      "function g(a: int32) -> int32 \"\" assembly \"g %0, %1\" { return a * a + 1 }\n"
      "kernel k(x: int8[490] read align 4, y: int8[490] write align 4) \"\" {\n" +
      body + "}\nrun {\n}\n");
  if (!program) throw InternalError(program.error()[0].where + ": " + program.error()[0].what);
  return *program;
}

struct Case {
  const char* body;
  Cost cost;  // multiplies, loads, stores, bytes loaded, bytes stored, calls, iterations,
              // operations, exact
};

TEST(Cost, countsExactly) {
  const Case kCases[] = {
      {"", {}},
      {"y[0] = x[0]", {0, 1, 1, 1, 1, 0, 0, 0, true}},
      {"for i = 0 to 10 step 3 { y[i * 7] = x[i * 5] * 3:int8 }", {4, 4, 4, 4, 4, 0, 4, 4, true}},
      {"for i = 0 to 1000000 { for j = 0 to 1000000 { y[0] = x[0] } }",
       {0, 1000000000000, 1000000000000, 1000000000000, 1000000000000, 0, 1000001000000, 0, true}},
      {"for i = 0 to 4 { for j = 0 to i { y[j] = x[j] } }", {0, 6, 6, 6, 6, 0, 10, 0, true}},
      {"for i = 0 to 4 { let n: int32 = min(i, 2) for j = 0 to n { y[j] = x[j] } }",
       {0, 5, 5, 5, 5, 0, 9, 4, true}},
      {"for i = 0 to 4 { if i < 3 { y[i] = x[i] } else { y[i] = x[0] * x[1] } }",
       {1, 5, 4, 5, 4, 0, 4, 5, true}},
      {"for i = 5 to 3 { y[0] = x[0] }", {}},
      {"y[0]:int8x4 align 4 = x[0]:int8x4 align 4 * x[4]:int8x4 align 4",
       {4, 2, 1, 8, 4, 0, 0, 1, true}},
      {"for i = 0 to 3 { y[i] = int8(f(int32(x[i]))) }", {6, 3, 3, 3, 3, 3, 3, 6, true}},
      {"y[0] = int8(g(int32(x[0])))", {1, 1, 1, 1, 1, 1, 0, 1, true}},
      {"if x[0] < 3:int8 { y[0] = 1:int8 } else { y[0] = x[1] y[1] = x[1] }",
       {0, 3, 2, 3, 2, 0, 0, 1, false}},
      {"for i = 0 to int32(x[0]) { y[i] = x[i] }", {0, 2, 1, 2, 1, 0, 1, 0, false}},
      {"let n: int32 = 3 n = 5 for i = 0 to n { y[i] = x[i] }", {0, 1, 1, 1, 1, 0, 1, 0, false}},
  };
  for (const Case& c : kCases) {
    const Program program = kernel_with(c.body);
    EXPECT_EQ(cost_of(program, program.kernels[0]), c.cost) << c.body;
  }
}

// The interpreter's accesses are the truth.
TEST(Cost, convolutionAgreesWithItsRun) {
  const Program program = kernel_with(
      "for oy = 0 to 25 { for ox = 0 to 5 {\n"
      "let acc: int32 = 0\n"
      "for ky = max(0, 4 - oy * 2) to min(10, 53 - oy * 2) {\n"
      "for kx = max(0, 1 - ox * 2) to min(4, 11 - ox * 2) {\n"
      "acc = acc + int32(x[(oy * 2 - 4 + ky) * 10 + (ox * 2 - 1 + kx)]) * 3 } }\n"
      "y[oy * 5 + ox] = int8(min(max(acc, -128), 127)) } }\n");
  std::vector<uint8_t> x(490);
  std::vector<uint8_t> y(490);
  int64_t loads = 0;
  InterpretOptions options;
  options.on_access = [&](const MemoryAccess& a) { loads += a.is_store ? 0 : 1; };
  interpret(program, program.kernels[0], std::vector<std::span<uint8_t>>{x, y}, options);
  const Cost cost = cost_of(program, program.kernels[0]);
  EXPECT_TRUE(cost.exact);
  EXPECT_EQ(cost.loads, loads);
  EXPECT_EQ(cost.multiplies, loads);
  EXPECT_EQ(cost.stores, 125);
  EXPECT_FALSE(cost_of(program, program.kernels[0], 10).exact);
}

}  // namespace
}  // namespace ingot::loop
