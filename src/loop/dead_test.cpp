// SPDX-License-Identifier: Apache-2.0
#include "loop/dead.h"

#include <gtest/gtest.h>

#include "loop/text.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

Program parsed(const std::string& body) {
  Result<Program> program =
      parse("program p\nkernel k(x: int8[8] read align 1, y: int8[8] write align 1) \"\" {\n" +
            body + "}\nrun {\n}\n");
  if (!program) throw InternalError(program.error()[0].what + body);
  return *std::move(program);
}

TEST(Dead, NothingUnreadIsLeft) {
  struct {
    const char* before;
    const char* after;
  } const rows[] = {
      {"  y[0] = x[0]\n", "  y[0] = x[0]\n"},
      {"  let sum: int32 = 0\n  for i = 0 to 8 {\n    sum = sum + int32(x[i])\n  }\n"
       "  y[0] = int8(min(max(sum, -5), -5) + 6)\n",
       "  y[0] = 1:int8\n"},
      {"  let sum: int32 = int32(x[1])\n  y[0] = int8(max(min(sum, 3), 3))\n", "  y[0] = 3:int8\n"},
      {"  let v: int32x4 = int32x4(x[0]:int8x4 align 1)\n"
       "  y[0]:int8x4 align 1 = int8x4(min(max(v, int32x4(0)), int32x4(0)))\n",
       "  y[0]:int8x4 align 1 = int8x4(int32x4(0))\n"},
      {"  let sum: int32 = int32(x[1])\n  y[0] = int8(min(max(sum, 3), 4))\n",
       "  let sum: int32 = int32(x[1])\n  y[0] = int8(min(max(sum, 3), 4))\n"},
      {"  array a int8[8]\n  for i = 0 to 8 {\n    a[i] = x[i]\n  }\n  y[0] = x[0]\n",
       "  y[0] = x[0]\n"},
      {"  array a int8[8]\n  a[0] = x[1]\n  y[0] = a[0]\n",
       "  array a int8[8]\n  a[0] = x[1]\n  y[0] = a[0]\n"},
      {"  if x[0] < x[1] {\n    let v: int8 = x[2]\n  }\n  y[0] = x[0]\n", "  y[0] = x[0]\n"},
  };
  for (const auto& row : rows) {
    Program program = parsed(row.before);
    program.kernels[0].body = without_dead_code(program.kernels[0].body);
    EXPECT_EQ(print(program), print(parsed(row.after)));
  }
}

}  // namespace
}  // namespace ingot::loop
