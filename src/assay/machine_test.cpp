// SPDX-License-Identifier: Apache-2.0
#include "assay/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/lexer.h"

namespace ingot::assay {
namespace {

using ::testing::HasSubstr;

struct Row {
  const char* title;
  const char* buffers;
  const char* kernel;  // k, with its body
  const char* calls;
  const char* lie;  // "": none
};

const char* const kTwo =
    "buffer x int8[4] input align 1\n"
    "buffer y int8[4] output align 1\n";
const char* const kCopy =
    "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
    "  for i = 0 to 4 { y[i] = x[i] }\n"
    "}\n";

const Row kRows[] = {
    {"a copy", kTwo, kCopy, "call k(x, y)", ""},
    {"an index below", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  for i = 0 to 4 { y[i] = x[i - 1] }\n}\n",
     "call k(x, y)", "k touches element -1 of x, which has 4"},
    {"an index above", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  for i = 0 to 5 step 2 { y[i] = x[0] }\n}\n",
     "call k(x, y)", "k touches element 4 of y"},
    {"not all written", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  for i = 0 to 3 { y[i] = x[i] }\n}\n",
     "call k(x, y)", "in the end byte 3 of y is not there"},
    {"a guard keeps what would be outside from being read", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  for i = 0 to 4 { y[i] = select(i < 3, x[i + 1], 0:int8) }\n}\n",
     "call k(x, y)", ""},
    {"both sides of a branch on data store", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  for i = 0 to 4 {\n"
     "    if x[i] < 0:int8 { y[i] = -x[i] } else { y[i] = x[i] }\n  }\n}\n",
     "call k(x, y)", ""},
    {"only one side does", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  for i = 0 to 4 {\n    if x[i] < 0:int8 { y[i] = x[i] }\n  }\n}\n",
     "call k(x, y)", "in the end byte 0 of y is not there"},
    {"a table's index by data, which fits",
     "buffer x int8[4] input align 1\nbuffer y int8[4] output align 1\n"
     "buffer t int8[256] constant align 1\n",
     "kernel k(x: int8[4] read align 1, t: int8[256] constant align 1, y: int8[4] write align 1)"
     " \"\" {\n  for i = 0 to 4 { y[i] = t[int32(x[i]) + 128] }\n}\n",
     "call k(x, t, y)", ""},
    {"and one that does not",
     "buffer x int8[4] input align 1\nbuffer y int8[4] output align 1\n"
     "buffer t int8[256] constant align 1\n",
     "kernel k(x: int8[4] read align 1, t: int8[256] constant align 1, y: int8[4] write align 1)"
     " \"\" {\n  for i = 0 to 4 { y[i] = t[int32(x[i]) + 129] }\n}\n",
     "call k(x, t, y)", "k touches element 256 of t"},
    {"an index in a constant is known",
     "buffer x int8[4] input align 1\nbuffer y int8[4] output align 1\n"
     "buffer t int8[4] constant align 1 data 03020100\n",
     "kernel k(x: int8[4] read align 1, t: int8[4] constant align 1, y: int8[4] write align 1)"
     " \"\" {\n  for i = 0 to 4 { y[int32(t[i])] = x[int32(t[i])] }\n}\n",
     "call k(x, t, y)", ""},
    {"what one store at some place leaves", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  y[int32(x[0]) & 3] = x[1]\n}\n",
     "call k(x, y)", "in the end byte 0 of y is not there"},
    {"a scalar that counts", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  let p: int32 = 0\n  for i = 0 to 4 {\n    y[p] = x[p]\n    p = p + 1\n  }\n}\n",
     "call k(x, y)", ""},
    {"a scalar of the call", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1; n: int32) \"\" {\n"
     "  for i = 0 to n { y[i] = x[i] }\n}\n",
     "call k(x, y; 5)", "k touches element 4 of x"},
    {"a value destroyed before it is read",
     "buffer x int8[4] input align 1 offset 0\nbuffer y int8[4] output align 1 offset 1\n", kCopy,
     "call k(x, y)", "k reads byte 1 of x, which is not there"},
    {"the other way it is read first",
     "buffer x int8[4] input align 1 offset 1\nbuffer y int8[4] output align 1 offset 0\n", kCopy,
     "call k(x, y)", ""},
    {"or in reverse",
     "buffer x int8[4] input align 1 offset 0\nbuffer y int8[4] output align 1 offset 1\n",
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  for i = 0 to 4 reverse { y[i] = x[i] }\n}\n",
     "call k(x, y)", ""},
    {"a store to what is only read", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] read align 1) \"\" {\n"
     "  for i = 0 to 4 { y[i] = x[i] }\n}\n",
     "call k(x, y)", "k stores to y, which it says it only reads"},
    {"a read of what is only written", kTwo,
     "kernel k(x: int8[4] write align 1, y: int8[4] write align 1) \"\" {\n"
     "  for i = 0 to 4 { y[i] = x[i] }\n}\n",
     "call k(x, y)", "k reads x, which it says it only writes"},
    {"a wide access at an odd place", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 2) \"\" {\n"
     "  y[1]:int8x2 align 2 = x[0]:int8x2 align 1\n}\n",
     "call k(x, y)", "k needs more alignment of y than y has"},
    {"a local array that is too small", kTwo,
     "kernel k(x: int8[4] read align 1, y: int8[4] write align 1) \"\" {\n"
     "  array a int8[3]\n"
     "  for i = 0 to 4 { a[i] = x[i] }\n  for i = 0 to 4 { y[i] = a[i] }\n}\n",
     "call k(x, y)", "k touches element 3 of a, which has 3"},
    {"a loop of the runner", "buffer x int8[4] input align 1\nbuffer y int8[4] output align 1\n",
     kCopy, "for i = 0 to 3 { call k(x, y) }", ""},
};

std::string program(const Row& row) {
  return std::string("program p\n") + row.buffers + row.kernel + "run {\n" + row.calls + "\n}\n";
}

TEST(Machine, Accesses) {
  for (const Row& row : kRows) {
    std::string lie;
    try {
      const Loops loops = read_loops(program(row));
      Machine(loops, true, {}).run();
    } catch (const Lie& found) {
      lie = found.what();
    }
    if (*row.lie == '\0') {
      EXPECT_EQ(lie, "") << row.title;
    } else {
      EXPECT_THAT(lie, HasSubstr(row.lie)) << row.title;
    }
  }
}

TEST(Machine, FindsDistances) {
  // Of three neighbours: forward, the output may begin one byte behind the input's first.
  const Loops loops = read_loops(
      "program p\nbuffer x int8[6] input align 1 offset 0\n"
      "buffer y int8[4] output align 1 offset 8\n"
      "kernel k(x: int8[6] read align 1, y: int8[4] write align 1) \"\" {\n"
      "  for i = 0 to 4 { y[i] = int8(int32(x[i]) + int32(x[i + 1]) + int32(x[i + 2])) }\n}\n"
      "run { call k(x, y) }\n");
  Machine machine(loops, false, {{"y", "x", 0}});
  machine.run();
  // From the start of each: written last minus read first, where the read comes later; read last
  // minus written first.
  EXPECT_EQ(machine.distances()[0].forward, 0 - 1);
  EXPECT_EQ(machine.distances()[0].reverse, 5 - 0);
}

TEST(Machine, StopsWhereItIsTooMuch) {
  const Loops large = read_loops("program p\nbuffer x int8[1099511627776] input align 1\nrun {}\n");
  EXPECT_THROW(Machine(large, false, {}), TooLarge);
  const Loops long_run = read_loops(
      "program p\nbuffer y int8[1] output align 1\n"
      "kernel k(y: int8[1] write align 1) \"\" {\n"
      "  for i = 0 to 2147483647 { for j = 0 to 2147483647 { y[0] = 0:int8 } }\n}\n"
      "run { call k(y) }\n");
  EXPECT_THROW(Machine(long_run, false, {}).run(100'000), TooLarge);
}

TEST(ReadLoops, SaysWhereTextIsDamaged) {
  struct {
    const char* text;
    const char* what;
  } const rows[] = {
      {"", "line 1 of the loop program: expected program"},
      {"program p\nbuffer x int9[4] input align 1\nrun {}\n", "line 2 of the loop program"},
      {"program p\nbuffer x int8[4] input align 3\nrun {}\n", "an impossible alignment"},
      {"program p\nbuffer x int8[2] constant align 1 data 0\nrun {}\n", "hex digits"},
      {"program p\nbuffer x int8[2] constant align 1 data 000000\nrun {}\n", "another size"},
      {"program p\nkernel k() \"\" { let a: int32 = b }\nrun {}\n", "b is not defined"},
      {"program p\nkernel k() \"\" { let a: int32 = 1:int8 }\nrun {}\n", "another type"},
      {"program p\nkernel k() \"\" { let a: int32 = 1 + 1:int8 }\nrun {}\n", "two types"},
      {"program p\nkernel k() \"\" {\nrun {}\n", "expected a statement"},
      {"program p\nkernel k() \"\" {}\nkernel k() \"\" {}\nrun {}\n", "two kernels of a name"},
      {"program p\nrun {} x", "expected the end"},
  };
  for (const auto& row : rows) {
    try {
      read_loops(row.text);
      ADD_FAILURE() << row.text;
    } catch (const Damage& damage) {
      EXPECT_THAT(damage.what(), HasSubstr(row.what)) << row.text;
    }
  }
  const std::string deep =
      "program p\nkernel k() \"\" { let a: int32 = " + std::string(100'000, '(') + "1" +
      std::string(100'000, ')') + " }\nrun {}\n";
  EXPECT_THROW(read_loops(deep), Damage);
}

}  // namespace
}  // namespace ingot::assay
