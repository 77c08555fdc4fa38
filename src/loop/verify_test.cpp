// SPDX-License-Identifier: Apache-2.0
#include "loop/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/random_nest.h"
#include "loop/text.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Program parsed(const std::string& text) {
  Result<Program> program = parse(text);
  if (!program) {
    throw InternalError(program.error()[0].where + ": " + program.error()[0].what + "\n" + text);
  }
  return *std::move(program);
}

std::vector<std::string> unproved(const Program& program) {
  EXPECT_THAT(find_faults(program), IsEmpty());
  std::vector<std::string> all;
  for (const Unproved& u : unproved_accesses(program)) all.push_back(u.access + ": " + u.reason);
  return all;
}

// x int8[490], b uint8[490], w int32[8] = 0, 3, 6, .. 21, t int8[256], f float32[4] are read, y
// int8[490] is written.
Program kernel_with(const std::string& body) {
  return parsed(
      "program p\n"
      "buffer x int8[490] input align 1\n"
      "buffer b uint8[490] input align 1\n"
      "buffer f float32[4] input align 4\n"
      "buffer y int8[490] output align 4\n"
      "buffer w int32[10] constant align 4 data "
      "ff7f0000000000000300000006000000090000000c0000000f0000001200000015000000ff7f0000\n"
      "buffer t int8[256] constant align 1\n"
      "kernel k(x: int8[490] read align 1, b: uint8[490] read align 1, f: float32[4] read align 4, "
      "w: int32[8] constant align 4, t: int8[256] constant align 1, y: int8[490] update align 4) "
      "\"\" {\n" +
      body + "}\nrun {\n  call k(x, b, f, w + 1, t, y)\n}\n");
}

// Every access is in bounds, for the reason that it takes a proof to see.
const char* const kProvable[] = {
    "for i = 0 to 490 { y[i] = x[489 - i] }",
    "for i = 0 to 490 reverse { y[i] = x[i] }",
    "for i = 3 to 490 step 7 reverse { y[i] = x[i + 3] }",
    // A convolution with borders as bounds.
    "for oy = 0 to 25 { for ox = 0 to 5 { for ky = max(0, 4 - oy * 2) to min(10, 53 - oy * 2) {"
    " for kx = max(0, 1 - ox * 2) to min(4, 11 - ox * 2) {"
    " y[oy] = x[(oy * 2 - 4 + ky) * 10 + (ox * 2 - 1 + kx)] } } } }",
    "for oy = 0 to 13 { for ox = 0 to 5 { for ky = max(0, 4 - oy * 2) to min(10, 28 - oy * 2) {"
    " for kx = max(0, 1 - ox * 2) to min(4, 6 - ox * 2) { for c = 0 to 4 {"
    " y[oy] = x[((oy * 2 - 4 + ky) * 5 + (ox * 2 - 1 + kx)) * 4 + c] } } } } }",
    // Unrolled with a remainder.
    "for i = 0 to 488 step 4 { y[i] = x[i] y[i + 1] = x[i + 1] y[i + 3] = x[i + 3] }"
    " for j = 488 to 490 { y[j] = x[j] }",
    "for i = 0 to 487 step 4 { y[i + 3] = x[i + 3] }",
    "for i = 0 to 480 step 16 { for j = i to i + 16 step 8 { y[j + 7] = x[j + 7] } }",
    "for n = 0 to 7 { for j = 0 to n * 8 step 8 { y[j + 7] = x[j + 7] } }",
    // Lookup tables.
    "for i = 0 to 490 { y[i] = t[int32(x[i]) + 128] }",
    "for i = 0 to 490 { y[i] = t[int32(b[i])] }",
    "for i = 0 to 490 { y[i] = t[int32(x[i]) & 255] }",
    "for i = 0 to 490 { y[i] = t[(int32(x[i]) ^ int32(x[0])) & 127 | 128] }",
    "for i = 0 to 490 { y[i] = t[int32(x[i]) * int32(x[i]) >> 7] }",
    "for i = 0 to 490 { y[i] = t[abs(int32(x[i]))] }",
    "for i = 0 to 490 { y[i] = t[select(x[i] < 0:int8, 255, int32(b[i]))] }",
    "for i = 0 to 4 { y[i] = t[int32(round(min(max(f[i], 0.0), 254.9)))] }",
    "for i = 0 to 4 { y[i] = t[int32(uint8(f[i]))] }",
    "let v: int32 = min(max(int32(x[0]) * 1000, -128), 127) y[0] = t[v + 128]",
    // Contents of constants.
    "for i = 0 to 8 { y[w[i]] = x[w[i] * 23] }",
    "for i = 0 to 7 { for j = w[i] to w[i] + 3 { y[j] = x[j] } }",
    // Blocks, rings, and what cancels.
    "for i = 0 to 490 { y[floordiv(i, 8) * 8 + floormod(i, 8)] = x[i] }",
    "for i = 0 to 490 { y[floormod(i * 3 - 100, 490)] = x[floordiv(i, 2) + 245] }",
    "for i = 0 to 10000 { y[floormod(floordiv(i, 10), 49) * 10 + floormod(i, 10)] = x[0] }",
    "for i = 0 to 490 { let q: int32 = div(i, 10) y[q] = x[i - q * 10] }",
    "for i = 0 to 61 { for j = i * 8 to min(i * 8 + 8, 490) { y[j] = x[j] } }",
    "for i = 0 to 62 { let n: int32 = min(8, 490 - i * 8) for j = 0 to n { y[i * 8 + j] = x[0] } }",
    "for i = 0 to 245 { y[i << 1] = x[i << 1 | 1] }",
    "for i = 0 to 10 { for j = 0 to i { y[i - j - 1] = x[0] } }",
    "for i = 0 to 1000 { y[min(i, 489)] = x[max(i - 510, 0)] }",
    // Conditions.
    "for i = 0 to 980 { if i < 490 { y[i] = 1:int8 } else { y[i - 490] = 1:int8 } }"
    " if false { y[-1] = 1:int8 }",
    "for i = 0 to 60 { for k = 0 to 10 { if (0 <= i * 2 + k - 5) & (i * 2 + k - 5 < 49) {"
    " y[(i * 2 + k - 5) * 10] = x[0] } } }",
    "for i = 0 to 1000 { if !(490 <= i) { y[i] = 1:int8 } }",
    "for i = 0 to 1000 { if (490 <= i) | (i < 3) { } else { y[i - 3] = 1:int8 } }",
    "for i = 0 to 1000 { if i == 5 { y[i + 484] = 1:int8 } if i != 5 { } else { y[i - 5] = x[0] } "
    "}",
    "for i = 0 to 1000 { let v: int8 = select(i < 490, x[i], 0:int8) y[0] = v }",
    "for i = 0 to 300 { if i * 3 < 490 { y[i * 3] = x[0] y[i + 326] = x[0] } }",
    "let a: int32 = int32(x[0]) if (0 <= a) & (a * 4 < 490) { y[a * 4] = x[0] }",
    // Loops that never run.
    "for i = 5 to 5 { y[i - 100] = 1:int8 } for j = 7 to 3 step 2 { y[-1] = 1:int8 }",
    // Assigned scalars.
    "let best: int32 = 0 for i = 1 to 490 { if x[best] < x[i] { best = i } } y[best] = 1:int8",
    "let n: int32 = 0 for i = 0 to 1000 { if n < 490 { y[n] = x[n] n = n + 1 } }",
    "let n: int32 = 489 for i = 0 to 1000 { y[n] = 1:int8 if n == 0 { n = 489 } else { n = max(n - "
    "1, 0) } }",
    "let a: int32 = 600 a = 3 y[a] = 1:int8",
    "let a: int32 = 600 if x[0] < 3:int8 { a = 3 y[a] = 1:int8 } else { a = 489 y[a] = 1:int8 }",
    // Vectors and local arrays.
    "for i = 0 to 480 step 16 { y[i]:int8x16 align 4 = x[i]:int8x16 align 1 }",
    "for i = 0 to 122 { y[i * 4]:int8p4 align 4 = x[i * 4 + 1]:int8p4 align 1 }",
    "for i = 0 to 15 { for j = i * 32 to i * 32 + 32 step 4 { y[j]:int8p4 align 4 = int8p4(x[i]) } "
    "}",
    "array a int8[4] for i = 0 to 4 { a[i] = x[i] } y[0] = a[int32(b[0]) & 3]",
};

TEST(Prove, whatIsInBounds) {
  for (const char* body : kProvable) {
    EXPECT_THAT(unproved(kernel_with(body)), IsEmpty()) << body;
  }
}

struct Wrong {
  const char* body;
  const char* message;
};

TEST(Prove, findsWhatIsNot) {
  const Wrong kCases[] = {
      {"y[490] = x[0]", "y[490]: index in [490, 490], the buffer has 490 elements"},
      {"y[0] = x[-1]", "x[-1]: index in [-1, -1], the buffer has 490 elements"},
      {"for i = 0 to 491 { y[i] = x[0] }", "y[i]: index in [0, 490], the buffer has 490 elements"},
      {"for i = 0 to 488 step 4 { y[i + 6] = x[0] }",
       "y[i + 6]: index in [6, 490], the buffer has 490 elements"},
      {"for i = 0 to 490 { y[i] = t[int32(x[i]) + 127] }",
       "t[int32(x[i]) + 127]: index in [-1, 254], the buffer has 256 elements"},
      {"for i = 0 to 8 { y[w[i] * 24] = x[0] }",
       "y[w[i] * 24]: index in [0, 504], the buffer has 490 elements"},
      {"for ky = max(0, 4 - w[1] * 2) to 10 { y[w[1] * 2 + ky - 4 - 7] = x[0] }",
       "y[w[1] * 2 + ky - 4 - 7]: index in [-7, 40], the buffer has 490 elements"},
      {"y[476]:int8x16 align 4 = int8x16(x[0])",
       "y[476]: index in [476, 476] of 16 lanes, the buffer has 490 elements"},
      {"for i = 0 to 100 { y[i]:int8p4 align 4 = int8p4(x[i]) }",
       "y[i]: index not known to be a multiple of 4"},
      {"for i = 2 to 100 step 4 { y[i]:int8p4 align 4 = int8p4(x[i]) }",
       "y[i]: index not known to be a multiple of 4"},
      {"array a int8[4] y[0] = a[4]", "a[4]: index in [4, 4], the buffer has 4 elements"},
      {"for i = 0 to 1000 { if i < 490 { } y[i] = x[0] }",
       "y[i]: index in [0, 999], the buffer has 490 elements"},
      {"let n: int32 = 0 for i = 0 to 1000 { y[n] = x[0] n = n + 1 }",
       "y[n]: index in [0, 2147483647], the buffer has 490 elements"},
      {"let a: int32 = 3 if x[0] < 3:int8 { a = 600 } y[a] = 1:int8",
       "y[a]: index in [3, 600], the buffer has 490 elements"},
      {"let a: int32 = 3 if x[0] < 3:int8 { if a < 5 { a = 600 y[a] = x[0] } }",
       "y[a]: index in [600, 600], the buffer has 490 elements"},
      // Two choices between the same values are not the same choice.
      {"let a: int32 = select(x[0] < 3:int8, 0, 5) let d: int32 = select(x[1] < 3:int8, 0, 5) y[a "
       "- d] = x[0]",
       "y[a - d]: index in [-5, 5], the buffer has 490 elements"},
      // What a branch says of an old value says nothing of the new one.
      {"let a: int32 = int32(b[0]) * 2 if a < 490 { a = a + 1 y[a] = x[0] }",
       "y[a]: index in [1, 490], the buffer has 490 elements"},
      {"let v: int8 = select(x[0] < 3:int8, x[500], 0:int8)",
       "x[500]: index in [500, 500], the buffer has 490 elements"},
  };
  for (const Wrong& wrong : kCases) {
    EXPECT_THAT(unproved(kernel_with(wrong.body)), ElementsAre(wrong.message)) << wrong.body;
  }
}

TEST(Prove, functionsToo) {
  const Program program = parsed(R"(program p
function f(a: int8p4, n: int32) -> int32 "" {
  array t int8[4]
  t[0]:int8p4 align 4 = a
  let s: int32 = 0
  for i = 0 to 4 {
    s = s + int32(t[i])
  }
  s = s + int32(t[n])
  return s + int32(t[4])
}
run {
}
)");
  EXPECT_THAT(unproved(program),
              ElementsAre("t[n]: index in [-2147483648, 2147483647], the buffer has 4 elements",
                          "t[4]: index in [4, 4], the buffer has 4 elements"));
}

TEST(Prove, constantsOfEveryCallCount) {
  const auto program_with = [](const std::string& run) {
    return parsed(
        "program p buffer x int8[8] input align 1 buffer y int8[8] output align 1\n"
        "buffer c int8[2] constant align 1 data 0107 buffer d int8[2] constant align 1 data 0108\n"
        "buffer e int8[2] constant align 1\n"
        "kernel k(c: int8[2] read align 1, y: int8[8] write align 1) \"\" {\n"
        "for i = 0 to 2 { y[int32(c[i])] = 1:int8 } }\nrun {" +
        run + "}");
  };
  EXPECT_THAT(unproved(program_with("call k(c, y)")), IsEmpty());
  const auto fails_from = [&](const char* low, const char* high) {
    return ElementsAre(std::string("y[int32(c[i])]: index in [") + low + ", " + high +
                       "], the buffer has 8 elements");
  };
  EXPECT_THAT(unproved(program_with("call k(c, y) call k(d, y)")), fails_from("1", "8"));
  EXPECT_THAT(unproved(program_with("call k(c, y) call k(x, y)")), fails_from("-128", "127"));
  EXPECT_THAT(unproved(program_with("call k(e, y)")), fails_from("-128", "127"));
  EXPECT_THAT(unproved(program_with("")), fails_from("-128", "127"));
}

// What is proved runs without a fault, and most of what runs is proved.
TEST(Prove, isSoundAndSharp) {
  int64_t proved = 0;
  int64_t sound = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const std::string body = RandomNest(seed).body(3);
    const Program program =
        parsed("program p\nkernel k(y: int8[40] write align 1) \"\" {\n" + body + "}\nrun {\n}\n");
    if (!find_faults(program).empty()) continue;
    std::vector<uint8_t> y(40);
    bool runs = true;
    try {
      interpret(program, program.kernels[0], std::vector<std::span<uint8_t>>{y});
    } catch (const InternalError&) {
      runs = false;
    }
    const std::vector<Unproved> open = unproved_accesses(program);
    if (open.empty()) {
      ++proved;
      ASSERT_TRUE(runs) << body;
    }
    sound += runs ? 1 : 0;
  }
  EXPECT_GT(proved, 100);
  EXPECT_GT(proved * 10, sound * 7) << proved << " of " << sound;
}

constexpr const char* kHead =
    "program p\n"
    "buffer x int8[8] input align 1\n"
    "buffer y int8[8] output align 1\n"
    "buffer a int8[8] arena align 4\n"
    "buffer c int8[8] constant align 4 data 0000000000000000\n"
    "function f(n: int32) -> int32 \"\" { return n }\n"
    "kernel copy(p: int8[8] read align 1, q: int8[8] write align 1) \"\" { }\n"
    "kernel wide(p: int8[4] read align 4) \"\" { }\n"
    "kernel table(p: int8[8] constant align 1) \"\" { }\n";

TEST(Faults, ofCalls) {
  const Wrong kCases[] = {
      {"call copy(x, y)", ""},
      {"call copy(x)", "call of copy with 1 arguments instead of 2"},
      {"call nothing()", "no kernel nothing"},
      {"call copy(z, y)", "argument z for p: no such buffer"},
      {"call copy(x + 1, y)", "argument x for p: 8 elements from 1 on, where there are 8"},
      {"call copy(x + -1, y)", "argument x for p: 8 elements from -1 on, where there are 8"},
      {"call copy(x, c)", "argument c for q: a constant would be written"},
      {"call copy(a, x)", "argument x for q: an input would be written"},
      {"call wide(a + 4)", ""},
      {"call wide(a + 2)", "argument a for p: not aligned to 4 bytes"},
      {"call wide(x)", "argument x for p: not aligned to 4 bytes"},
      {"call table(c)", ""},
      {"call table(a)", "argument a for p: no constant"},
      {"for i = 0 to 3 { for i = 0 to 3 { } }", "i is defined where it is visible already"},
      {"for i = 0 to 3 { if i < 2 { call copy(x, y) } }", ""},
      {"let n: int32 = 5", "a statement that only kernels have"},
      {"call copy(x, y) note \"n\" copy macs 0 operators [] call copy(x, y)",
       "1 notes for 2 calls"},
  };
  for (const Wrong& wrong : kCases) {
    const std::vector<std::string> faults =
        find_faults(parsed(std::string(kHead) + "run {" + wrong.body + "}"));
    if (wrong.message[0] == '\0') {
      EXPECT_THAT(faults, IsEmpty()) << wrong.body;
    } else {
      EXPECT_THAT(faults, Contains(HasSubstr(wrong.message))) << wrong.body;
    }
  }
  const Program writes_input = parsed(std::string(kHead) + "run { call copy(a, x) }");
  EXPECT_THAT(find_faults(writes_input, /*inputs_writable=*/true), IsEmpty());
}

TEST(Faults, ofKernels) {
  const Wrong kCases[] = {
      {"(p: int8[8] read align 1) \"\" { p[0] = 1:int8 }", "p is written, but only to be read"},
      {"(p: int8[8] write align 1) \"\" { let a: int8 = p[0] }",
       "p is read, but only to be written"},
      {"(p: int8[8] update align 1) \"\" { p[0] = p[1] }", ""},
      {"(p: int8[8] update align 2) \"\" { p[0]:int8p4 align 4 = p[4]:int8p4 align 2 }",
       "p is aligned to 2 bytes and accessed as if to 4"},
      {"(p: int8[8] update align 3) \"\" { }", "an alignment that is no power of two"},
      {"(p: int8[8] constant write align 1) \"\" { }", "a constant that is written"},
      {"(p: int8[8] read align 1, p: int8[8] read align 1) \"\" { }", "p is defined where"},
      {"() \"\" { let a: int32 = 1 let a: int32 = 2 }", "a is defined where it is visible already"},
      {"() \"\" { let a: int32 = 1 for a = 0 to 3 { } }", "a is defined where"},
      {"() \"\" { for a = 0 to 3 { } for a = 0 to 3 { let b: int32 = a } let b: int32 = 1 }", ""},
      {"() \"\" { for a = 0 to 3 { a = 2 } }", "a is assigned to and is no scalar of its own"},
      {"() \"\" { b = 2 }", "b is assigned to and is no scalar of its own"},
      {"() \"\" { let b: int32 = 1 b = 2:int64 }", "b is assigned int64"},
      {"() \"\" { let b: int32 = 1 b = 2 }", ""},
      {"() \"\" { array a int32[60] array b int8[17] }", "more than 256 bytes of local arrays"},
      {"() \"\" { array a int32[60] array b int8[16] }", ""},
      {"() \"\" { let true: int32 = 1 }", "\"true\" is no name"},
  };
  for (const Wrong& wrong : kCases) {
    const Result<Program> program =
        parse("program p kernel k" + std::string(wrong.body) + "run { }");
    ASSERT_TRUE(program) << wrong.body;
    const std::vector<std::string> faults = find_faults(*program);
    if (wrong.message[0] == '\0') {
      EXPECT_THAT(faults, IsEmpty()) << wrong.body;
    } else {
      EXPECT_THAT(faults, Contains(HasSubstr(wrong.message))) << wrong.body;
    }
  }
}

TEST(Faults, ofPrograms) {
  const Wrong kCases[] = {
      {"buffer a int8[1] arena align 1 buffer a int8[1] arena align 1",
       "buffer a is defined twice"},
      {"buffer a int8[1] arena align 1 buffer b int8[1] input align 1",
       "not in the order of inputs"},
      {"buffer a int32[1] arena align 2", "buffer a: aligned to less than an element"},
      {"buffer a int32[1] input align 1", ""},
      {"buffer a int32[1] arena align 12", "buffer a: an alignment of 12"},
      {"buffer a int32[1] arena align 0 offset 4", "buffer a: an alignment of 0"},
      {"buffer a int32[1] arena align 4 offset 6", "buffer a: an offset that is misaligned"},
      {"buffer a int32[1] arena align 4 offset -4", "buffer a: a negative offset"},
      {"buffer a int32[1] arena align 4 data 00000000", "buffer a: data of what is no constant"},
      {"buffer a int8[2] input align 1 type int8[1]", "buffer a: a tensor of another type"},
      {"function min(a: int32) -> int32 \"\" { return a }", "function min: the name has a meaning"},
      {"function f(a: int32) -> int32 \"\" { return f(a) }", "no function"},
      {"function f(a: int32) -> int32 \"\" { return a } function f() -> int32 \"\" { return 1 }",
       "function f is defined twice"},
      {"function f(a: int32) -> int32 \"\" { return a }\n"
       "function g() -> int32 \"\" { return f(1, 2) }",
       "a call of f against its signature"},
      {"kernel k() \"\" { } kernel k() \"\" { }", "kernel k is defined twice"},
  };
  for (const Wrong& wrong : kCases) {
    const std::string text = "program p " + std::string(wrong.body) + " run { }";
    const Result<Program> program = parse(text);
    // A call of what is not defined is refused by the parser already.
    const std::vector<std::string> faults =
        program ? find_faults(*program) : std::vector<std::string>{program.error()[0].what};
    if (wrong.message[0] == '\0') {
      EXPECT_THAT(faults, IsEmpty()) << wrong.body;
    } else {
      EXPECT_THAT(faults, Contains(HasSubstr(wrong.message))) << wrong.body;
    }
  }
}

// What only the builders' callers can get wrong: trees that do not parse.
TEST(Faults, ofTrees) {
  const auto faults_of = [](Block body) {
    return find_faults(Program{"p", {}, {}, {{"k", {}, std::move(body), ""}}, {}, {}});
  };
  const auto node = [](Type type, auto kind) {
    return std::make_shared<const ExprNode>(ExprNode{type, kind});
  };
  EXPECT_THAT(faults_of({Let{"a", nullptr}}), Contains(HasSubstr("an expression is missing")));
  EXPECT_THAT(faults_of({Let{"a", node(kInt32, UnaryExpr{UnaryOp::kNeg, nullptr})}}),
              Contains(HasSubstr("an operand is missing")));
  EXPECT_THAT(faults_of({Let{"a", node(kInt32, IntLit{int64_t{1} << 40})}}),
              Contains(HasSubstr("is no value of int32")));
  EXPECT_THAT(faults_of({Let{"a", var("b")}}), Contains(HasSubstr("b is not defined")));
  EXPECT_THAT(faults_of({Let{"a", load("b", lit(0), kInt8)}}),
              Contains(HasSubstr("b is no buffer")));
  EXPECT_THAT(faults_of({Let{"a", lit(1)}, Let{"b", var("a", kInt64)}}),
              Contains(HasSubstr("a is int32, not int64")));
  EXPECT_THAT(faults_of({Let{"a b", lit(1)}}), Contains(HasSubstr("\"a b\" is no name")));
  EXPECT_THAT(faults_of({CallKernel{"k", {}}}), Contains(HasSubstr("called outside the runner")));
  Expr deep = var("x");
  for (int i = 0; i < 2000; ++i) deep = node(kInt32, UnaryExpr{UnaryOp::kNeg, deep});
  EXPECT_THAT(faults_of({Let{"a", deep}}), Contains(HasSubstr("nested too deeply")));
}

}  // namespace
}  // namespace ingot::loop
