// SPDX-License-Identifier: Apache-2.0
#include "loop/interpret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "loop/text.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Program parsed(const std::string& text) {
  Result<Program> program = parse(text);
  if (!program) throw InternalError(program.error()[0].where + ": " + program.error()[0].what);
  return *std::move(program);
}

template <class T>
std::vector<uint8_t> bytes(const std::vector<T>& elements) {
  const Bytes all = Bytes::of(elements);
  return {all.view().begin(), all.view().end()};
}

constexpr const char* kFunctions = R"(
function twice(a: int32) -> int32 "" {
  let b: int32 = a * 2
  return b
}
function less_two(a: int32, b: int32) -> int32 "" {
  return twice(a) - twice(b)
}
function sum_to(n: int32) -> int32 "" {
  let s: int32 = 0
  for i = 1 to n + 1 {
    if floormod(i, 2) == 0 {
      s = s + i
    } else {
      s = s - i
    }
  }
  return s
}
function odd(a: int8p4) -> int16p2 "" {
  return int16p2(int16(lane(a, 1)), int16(lane(a, 3)))
}
function dot(a: int8p4, b: int8p4, c: int32) -> int32 "" {
  array x int8[4]
  array y int8[4]
  x[0]:int8p4 align 4 = a
  y[0]:int8p4 align 4 = b
  let s: int32 = c
  for i = 0 to 4 {
    s = s + int32(x[i]) * int32(y[i])
  }
  return s
}
function even(a: int8p4) -> int16p2 "" {
  array x int8[4]
  x[0]:int8p4 align 4 = a
  array y int16[2]
  y[0] = int16(x[0])
  y[1] = int16(x[2])
  return y[0]:int16p2 align 4
}
)";

// Runs statements over int32 x[8] = 0, 10, .. 70 (read), int8 b[8] = -4, -3, .. 3 (read) and int32
// y[8] = 0 (update), which is returned.
std::vector<int32_t> run(const std::string& body) {
  const Program program = parsed("program p\n" + std::string(kFunctions) +
                                 "kernel k(x: int32[8] read align 4, b: int8[8] read align 4, "
                                 "y: int32[8] update align 4) \"\" {\n" +
                                 body + "}\nrun {\n}\n");
  std::vector<uint8_t> x = bytes<int32_t>({0, 10, 20, 30, 40, 50, 60, 70});
  std::vector<uint8_t> b = bytes<int8_t>({-4, -3, -2, -1, 0, 1, 2, 3});
  std::vector<uint8_t> y(32);
  const std::vector<std::span<uint8_t>> memory = {x, b, y};
  interpret(program, program.kernels[0], memory);
  return Bytes(y).as<int32_t>();
}

struct Case {
  const char* body;
  std::vector<int32_t> y;  // the elements up to the last that is not 0
};

TEST(Interpret, statements) {
  const Case kCases[] = {
      {"y[0] = x[1] + x[2] * 3\n", {70}},
      {"for i = 0 to 3 { y[i] = x[i] - 1 }\n", {-1, 9, 19}},
      {"let n: int32 = 0 for i = 1 to 8 step 3 { y[n] = i n = n + 1 }\n", {1, 4, 7}},
      {"let n: int32 = 0 for i = 1 to 8 step 3 reverse { y[n] = i n = n + 1 }\n", {7, 4, 1}},
      {"let n: int32 = 3 for i = 0 to n { n = 0 y[i] = 1 }\n", {1, 1, 1}},
      {"for i = 5 to 2 { y[i] = 1 } for j = 2 to 2 reverse { y[j] = 1 }\n", {}},
      {"if x[1] < 10 { y[0] = 1 } else { y[0] = 2 }\n", {2}},
      {"let v: int32 = 1 if true { let v: int32 = 2 y[0] = v } y[1] = v\n", {2, 1}},
      {"y[0] = floordiv(-7, 2) y[1] = floormod(-7, 2) y[2] = div(-7, 2)\n", {-4, 1, -3}},
      {"y[0] = -5 >> 1 y[1] = 3 << 29 y[2] = -1 << 31\n", {-3, 1610612736, INT32_MIN}},
      {"y[0] = 6 & 3 y[1] = 6 | 3 y[2] = 6 ^ 3 y[3] = !6 y[4] = int32(!(1 < 2))\n", {2, 7, 5, -7}},
      {"y[0] = min(3, -3) y[1] = max(3, -3) y[2] = abs(-3) y[3] = -(3)\n", {-3, 3, 3, -3}},
      {"y[0] = int32(2 == 2) y[1] = int32(2 != 2) y[2] = int32(2 <= 2)\n", {1, 0, 1}},
      {"y[0] = select(x[1] < 11, 5, div(1, 0))\n", {5}},
      {"y[0] = int32(uint8(200)) y[1] = int32(5:uint64 * 3:uint64)\n", {200, 15}},
      {"y[0] = int32(2147483647:int64 * 4:int64 >> 2:int64)\n", {INT32_MAX}},
      {"y[0] = int32(!5:uint8)\n", {250}},
      // Functions: nested calls of one function keep their arguments apart.
      {"y[0] = less_two(less_two(5, 1), less_two(3, 1))\n", {8}},
      {"y[0] = sum_to(5) y[1] = sum_to(4)\n", {-3, 2}},
      {"y[0] = dot(b[0]:int8p4 align 4, b[4]:int8p4 align 4, 100)\n", {90}},
      {"y[0] = dot(int8p4(2:int8), b[4]:int8p4 align 4 + int8p4(b[0]), 0)\n", {-20}},
      {"let e: int16p2 = even(b[4]:int8p4 align 4)\narray t int16[2] t[0]:int16p2 align 4 = e + e "
       "y[0] = int32(t[0]) y[1] = int32(t[1])\n",
       {0, 4}},
      // Lanes one by one.
      {"let o: int16p2 = odd(b[4]:int8p4 align 4)\n y[0] = int32(lane(o, 0)) y[1] = int32(lane(o, "
       "1)) y[2] = int32(lane(b[4]:int8p4 align 4, 2)) y[3] = lane(int32x2(7, sum_to(5)), 1)\n",
       {1, 3, 2, -3}},
      // Vectors.
      {"y[1]:int32x4 align 4 = x[0]:int32x4 align 16 * int32x4(2) + int32x4(b[0]:int8x4 align 1)\n",
       {0, -4, 17, 38, 59}},
      {"let v: int32x4 = x[1]:int32x4 align 4\n v = v + v\n y[0]:int32x4 align 4 = select(v < "
       "int32x4(50), v, int32x4(sum_to(5)))\n",
       {20, 40, -3, -3}},
      {"y[0]:int32x2 align 4 = select(x[0] == 0, x[1]:int32x2 align 4, x[3]:int32x2 align 4)\n",
       {10, 20}},
      // All lanes are loaded before any is stored.
      {"for i = 0 to 4 { y[i] = i + 1 }\n y[1]:int32x4 align 4 = y[0]:int32x4 align 4\n",
       {1, 1, 2, 3, 4}},
      // Floats.
      {"y[0] = int32(7.9) y[1] = int32(-7.9) y[2] = int32(round(2.5)) y[3] = int32(floor(-0.5))\n",
       {7, -7, 3, -1}},
      {"y[0] = int32(16777216.0 + 1.0) y[1] = int32(16777216.0:float64 + 1.0:float64)\n",
       {16777216, 16777217}},
      {"y[0] = int32(2048.0:float16 + 1.0:float16) y[1] = int32(float16(2049))\n", {2048, 2048}},
      // To float32 in one rounding, not by way of a double.
      {"y[0] = int32(float32(36028799166447617:int64) == 36028801313931264.0)\n", {1}},
      {"y[0] = int32(min(nan:float32, 2.0) == 2.0) y[1] = int32(min(2.0, nan:float32))\n", {0, 2}},
      {"y[0] = int32(nan:float32 != nan:float32) y[1] = int32(-0.0 == 0.0)\n", {1, 1}},
      {"y[0] = int32(div(1.0:float64, max(-0.0:float64, 0.0:float64)) < 0.0:float64)\n", {1}},
  };
  for (const Case& c : kCases) {
    std::vector<int32_t> expected = c.y;
    expected.resize(8);
    EXPECT_EQ(run(c.body), expected) << c.body;
  }
}

struct Fault {
  const char* body;
  const char* message;
};

TEST(Interpret, faults) {
  const Fault kCases[] = {
      {"y[8] = 1\n", "element 8 of 8"},
      {"y[-1] = 1\n", "element -1 of 8"},
      {"y[0] = x[8]\n", "element 8 of 8"},
      {"y[5]:int32x4 align 4 = int32x4(1)\n", "element 5 of 8"},
      {"y[0]:int32x4 align 4 = x[5]:int32x4 align 4\n", "element 5 of 8"},
      {"y[0]:int32x4 align 4 = x[1]:int32x4 align 16\n", "not aligned to 16 bytes"},
      {"y[1]:int32x4 align 8 = int32x4(1)\n", "not aligned to 8 bytes"},
      {"x[0] = 1\n", "which is only read"},
      {"y[0] = 2147483647 + x[1]\n", "2147483657 is no value of int32"},
      {"y[0] = -2147483648 - x[1]\n", "is no value of int32"},
      {"y[0] = x[1] * 1000000000\n", "is no value of int32"},
      {"y[0] = -(-2147483648 + x[0])\n", "2147483648 is no value of int32"},
      {"y[0] = abs(-2147483648 + x[0])\n", "2147483648 is no value of int32"},
      {"y[0] = int32(9223372036854775807:int64 + int64(x[1]))\n", "an overflow"},
      {"y[0] = int32(int8(x[7] + x[6]))\n", "130 is no value of int8"},
      {"y[0] = int32(uint8(x[0] - 1))\n", "-1 is no value of uint8"},
      {"y[0] = int32(uint8(x[0]) - (1:uint8))\n", "-1 is no value of uint8"},
      {"y[0] = x[7] << 26\n", "is no value of int32"},
      {"y[0] = x[1] << 32\n", "a shift of int32 by 32 bits"},
      {"y[0] = x[1] >> x[0] - 1\n", "a shift of int32 by -1 bits"},
      {"y[0] = div(x[1], x[0])\n", "a division by zero"},
      {"y[0] = div(-2147483648 + x[0], -1)\n", "2147483648 is no value of int32"},
      {"y[0] = int32(3e9)\n", "3000000000 is no value of int32"},
      {"y[0] = int32(nan:float32)\n", "nan is no integer"},
      {"y[0] = int32(inf:float64)\n", "inf is no integer"},
      {"array t int32[2]\n t[0] = 1\n y[0] = t[1]\n", "element 1 has no value"},
      {"array t int32[4]\n t[0] = 1\n y[0]:int32x2 align 4 = t[0]:int32x2 align 4\n",
       "element 0 has no value"},
      {"for i = 0 to 2 { array t int32[1]\n if i == 0 { t[0] = 1 }\n y[i] = t[0] }\n",
       "element 0 has no value"},
  };
  for (const Fault& f : kCases) {
    try {
      run(f.body);
      ADD_FAILURE() << f.body << " has no fault";
    } catch (const InternalError& error) {
      EXPECT_THAT(error.what(), HasSubstr(f.message)) << f.body;
    }
  }
}

TEST(Interpret, floatsRoundLikeTheMachine) {
  const Program program = parsed(R"(program p
kernel k(x: float32[3] read align 4, y: float32[6] write align 4) "" {
  y[0] = x[0] * x[1] + x[2]
  y[1] = div(x[0], x[1])
  y[2] = sqrt(x[0])
  y[3] = exp(x[2]) - tanh(x[1])
  y[4] = log(x[0])
  y[5] = float32(float64(x[0]) * float64(x[1]))
}
run {
}
)");
  const std::vector<float> x = {1.2345678f, 0.000123456f, -3.3333333f};
  std::vector<uint8_t> in = bytes(x);
  std::vector<uint8_t> out(24);
  interpret(program, program.kernels[0], std::vector<std::span<uint8_t>>{in, out});
  const float product = x[0] * x[1];
  EXPECT_THAT(Bytes(out).as<float>(),
              ElementsAre(product + x[2], x[0] / x[1], std::sqrt(x[0]),
                          std::exp(x[2]) - std::tanh(x[1]), std::log(x[0]), product));
}

TEST(Interpret, accessesAreReportedInOrder) {
  const Program program = parsed(R"(program p
kernel k(x: int8[8] read align 1, y: int8[8] write align 1) "" {
  array t int8[1]
  t[0] = x[int32(x[0])]
  y[4]:int8x4 align 4 = x[4]:int8x4 align 4 + int8x4(x[3])
}
run {
}
)");
  std::vector<uint8_t> x = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<uint8_t> y(8);
  std::vector<std::string> seen;
  InterpretOptions options;
  options.on_access = [&](const MemoryAccess& a) {
    seen.push_back((a.is_store ? "store " : "load ") + std::to_string(a.param) + " " +
                   std::to_string(a.element) + " " + std::to_string(a.lanes));
  };
  interpret(program, program.kernels[0], std::vector<std::span<uint8_t>>{x, y}, options);
  EXPECT_THAT(seen,
              ElementsAre("load 0 0 1", "load 0 1 1", "load 0 4 4", "load 0 3 1", "store 1 4 4"));
}

TEST(Interpret, memoryThatOverlapsIsReadAsItIs) {
  const Program program = parsed(R"(program p
kernel k(x: int8[3] read align 1, y: int8[3] write align 1) "" {
  for i = 0 to 3 {
    y[i] = x[i]
  }
}
run {
}
)");
  std::vector<uint8_t> bytes_of = {1, 2, 3, 4};
  const std::span<uint8_t> all(bytes_of);
  const std::vector<std::span<uint8_t>> memory = {all.subspan(0, 3), all.subspan(1, 3)};
  interpret(program, program.kernels[0], memory);
  EXPECT_THAT(bytes_of, ElementsAre(1, 1, 1, 1));
}

std::string runner_with(const std::string& offset_of_s, const std::string& offset_of_t) {
  return R"(program p
buffer x int8[4] input align 1
buffer y int8[4] output align 1
buffer s int8[4] arena align 1)" +
         offset_of_s + "\nbuffer t int8[6] arena align 1" + offset_of_t + R"(
buffer c int8[2] constant align 1 data 0aff
kernel add(a: int8[4] read align 1, c: int8[1] constant align 1, b: int8[4] write align 1) "" {
  for i = 0 to 4 {
    b[i] = a[i] + c[0]
  }
}
run {
  call add(x, c, s)
  for i = 0 to 2 {
    if i == 1 {
      call add(s, c + 1, t + 2)
    } else {
      call add(s, c, t + 2)
    }
  }
  call add(t + 2, c, y)
}
)";
}

TEST(Interpret, runner) {
  const std::vector<std::vector<uint8_t>> inputs = {{1, 2, 3, 4}};
  const auto run_with = [&](const std::string& s, const std::string& t, int64_t arena = -1) {
    return interpret(parsed(runner_with(s, t)), inputs, arena).at(0);
  };
  EXPECT_THAT(run_with("", ""), ElementsAre(20, 21, 22, 23));
  EXPECT_THAT(run_with(" offset 0", " offset 4"), ElementsAre(20, 21, 22, 23));
  EXPECT_THAT(run_with(" offset 0", " offset 4", 100), ElementsAre(20, 21, 22, 23));
  // One buffer without an offset: each in memory of its own.
  EXPECT_THAT(run_with(" offset 0", ""), ElementsAre(20, 21, 22, 23));
  // A wrong plan shows: t lies over s, and is written before s is read for the last time.
  EXPECT_THAT(run_with(" offset 2", " offset 1"), testing::Not(ElementsAre(20, 21, 22, 23)));
  EXPECT_THROW(run_with(" offset 0", " offset 4", 9), InternalError);
  EXPECT_THROW(run_with(" offset -1", " offset 4"), InternalError);
}

TEST(Interpret, memoryIsNoiseBeforeItIsWritten) {
  const Program program = parsed(R"(program p
buffer y int8[16] output align 1
buffer s int8[16] arena align 1 offset 0
kernel copy(a: int8[16] read align 1, b: int8[16] write align 1) "" {
  for i = 0 to 16 {
    b[i] = a[i]
  }
}
run {
  call copy(s, y)
}
)");
  const std::vector<uint8_t> y = interpret(program, {}).at(0);
  EXPECT_THAT(y, testing::Not(testing::Each(y[0])));
  EXPECT_EQ(y, interpret(program, {}).at(0));
}

TEST(Interpret, programsThatDoNotFitTogether) {
  const char* const kPrograms[] = {
      "kernel k() \"\" { } run { call k(y) }",
      "kernel k(a: int8[5] write align 1) \"\" { } run { call k(y) }",
      "kernel k(a: int8[4] write align 1) \"\" { } run { call k(y + 1) }",
      "kernel k(a: int8[4] write align 1) \"\" { } run { call k(y + -1) }",
      "kernel k(a: int16[2] write align 1) \"\" { } run { call k(y) }",
      "kernel k(a: int8[4] write align 1) \"\" { } run { call k(c) }",
      "kernel k(a: int8[4] read align 1) \"\" { } run { call k(q) }",
      "run { call k() }",
      "run { let a: int32 = 1 }",
  };
  for (const char* rest : kPrograms) {
    const Program program = parsed(
        "program p buffer y int8[4] output align 1\n"
        "buffer c int8[4] constant align 1 data 00000000\n" +
        std::string(rest));
    EXPECT_THROW(interpret(program, {}), InternalError) << rest;
  }
}

TEST(Interpret, evaluatesExpressions) {
  const Program program = parsed("program p\n" + std::string(kFunctions) + "run {\n}\n");
  EXPECT_EQ(evaluate_int(program, call("less_two", kInt32, {lit(5), lit(2)}) * lit(7)), 42);
  EXPECT_THROW(evaluate_int(program, var("x")), InternalError);
  EXPECT_THROW(evaluate_int(program, call("nothing", kInt32, {})), InternalError);
  EXPECT_THROW(evaluate_int(program, call("twice", kInt32, {})), InternalError);
  EXPECT_THROW(evaluate_int(program, call("twice", kInt64, {lit(1)})), InternalError);
}

}  // namespace
}  // namespace ingot::loop
