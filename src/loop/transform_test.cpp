// SPDX-License-Identifier: Apache-2.0
#include "loop/transform.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/random_nest.h"
#include "loop/simplify.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

Program kernel_with(const std::string& body) {
  const std::string text =
      "program p\nkernel k(x: int8[640] read align 1, w: int8[640] read align 1, "
      "y: int8[640] update align 1) \"\" {\n" +
      body + "}\nrun {\n}\n";
  Result<Program> program = parse(text);
  if (!program) {
    throw InternalError(program.error()[0].where + ": " + program.error()[0].what + "\n" + text);
  }
  return *std::move(program);
}

// y after a run; empty if there is a fault.
std::vector<uint8_t> run(const Program& program) {
  std::vector<uint8_t> x(640);
  std::vector<uint8_t> w(640);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<uint8_t>(i * 7 % 11);
    w[i] = static_cast<uint8_t>(i * 5 % 13);
  }
  std::vector<uint8_t> y(640);
  try {
    interpret(program, program.kernels[0], std::vector<std::span<uint8_t>>{x, w, y});
  } catch (const InternalError&) {
    return {};
  }
  return y;
}

// The program with its kernel's body replaced, which stores the same and has no faults.
void expect_same(const Program& before, const std::optional<Block>& body, const std::string& what) {
  ASSERT_TRUE(body.has_value()) << what;
  Program after = before;
  after.kernels[0].body = *body;
  EXPECT_EQ(find_faults(after), std::vector<std::string>{}) << what << print(after);
  EXPECT_EQ(run(after), run(before)) << what << print(after);
  after.kernels[0].body = simplify(*body);
  EXPECT_EQ(find_faults(after), std::vector<std::string>{}) << what << print(after);
  EXPECT_EQ(run(after), run(before)) << what << print(after);
}

std::string matrix_product(int64_t rows, int64_t columns, int64_t depth, int64_t begin,
                           int64_t step, bool reverse) {
  return fmt::format(
      "for r = {} to {} step {}{} {{\n"
      "  for c = 0 to {} {{\n"
      "    let acc: int32 = 0\n"
      "    for k = 0 to {} {{\n"
      "      let p: int32 = int32(x[r * {} + k])\n"
      "      acc = acc + p * int32(w[c * {} + k])\n"
      "    }}\n"
      "    y[r * {} + c] = int8(min(max(acc >> 4, -128), 127))\n"
      "  }}\n"
      "}}\n",
      begin, rows, step, reverse ? " reverse" : "", columns, depth, depth, depth, columns);
}

TEST(UnrollAndJam, keepsMatrixProducts) {
  for (const int64_t rows : {1, 2, 3, 5, 8}) {
    for (const int64_t columns : {1, 2, 7}) {
      for (const int64_t factor : {1, 2, 3, 4, 16}) {
        for (const bool reverse : {false, true}) {
          const Program program =
              kernel_with(matrix_product(rows + 2, columns, 5, 2, reverse ? 2 : 1, reverse));
          const Block& body = program.kernels[0].body;
          const std::string what = fmt::format("{} {} by {}\n", rows, columns, factor);
          expect_same(program, unroll_and_jam(body, "r", factor), what);
          const std::optional<Block> inner = unroll_and_jam(body, "c", factor);
          expect_same(program, inner, what);
          if (columns % factor == 0) expect_same(program, unroll_and_jam(*inner, "r", 2), what);
          expect_same(program, unroll(body, "r"), what);
          expect_same(program, unroll(body, "c"), what);
          expect_same(program, unroll(body, "k"), what);
          expect_same(program, ingot::loop::reverse(body, "r"), what);
          expect_same(program, ingot::loop::reverse(body, "c"), what);
          expect_same(program, split(body, "r", factor, "r_outer"), what);
          expect_same(program, split(body, "k", factor, "k_outer"), what);
        }
      }
    }
  }
}

TEST(UnrollAndJam, textOfAnExample) {
  const Program program = kernel_with(matrix_product(5, 4, 8, 0, 1, false));
  EXPECT_EQ(print(simplify(*unroll_and_jam(program.kernels[0].body, "c", 2))),
            "for r = 0 to 5 {\n"
            "  for c = 0 to 4 step 2 {\n"
            "    let acc_0: int32 = 0\n"
            "    let acc_1: int32 = 0\n"
            "    for k = 0 to 8 {\n"
            "      let p_0: int32 = int32(x[r * 8 + k])\n"
            "      let p_1: int32 = int32(x[r * 8 + k])\n"
            "      acc_0 = acc_0 + p_0 * int32(w[c * 8 + k])\n"
            "      acc_1 = acc_1 + p_1 * int32(w[c * 8 + k + 8])\n"
            "    }\n"
            "    y[r * 4 + c] = int8(min(max(acc_0 >> 4, -128), 127))\n"
            "    y[r * 4 + c + 1] = int8(min(max(acc_1 >> 4, -128), 127))\n"
            "  }\n"
            "}\n");
}

// What all copies of a sum load alike is loaded once; what remains is a narrower block.
TEST(UnrollAndJam, sharesLoadsAndLeavesNarrowRests) {
  const Program program = kernel_with(
      "for o = 0 to 5 {\n  let acc: int32 = o\n  for i = 0 to 7 {\n"
      "    acc = acc + (int32(x[i]) + 3) * int32(w[o * 7 + i])\n  }\n"
      "  y[o] = int8(acc >> 8)\n}\n");
  const Block& body = program.kernels[0].body;
  EXPECT_EQ(print(*unroll_and_jam(body, "o", 2)),
            "for o = 0 to 4 step 2 {\n"
            "  let acc_0: int32 = o\n"
            "  let acc_1: int32 = o + 1\n"
            "  for i = 0 to 7 {\n"
            "    let x_value: int32 = int32(x[i]) + 3\n"
            "    acc_0 = acc_0 + x_value * int32(w[o * 7 + i])\n"
            "    acc_1 = acc_1 + x_value * int32(w[(o + 1) * 7 + i])\n"
            "  }\n"
            "  y[o] = int8(acc_0 >> 8)\n"
            "  y[o + 1] = int8(acc_1 >> 8)\n"
            "}\n"
            "let acc_0_1: int32 = 4\n"
            "for i = 0 to 7 {\n"
            "  acc_0_1 = acc_0_1 + (int32(x[i]) + 3) * int32(w[i + 28])\n"
            "}\n"
            "y[4] = int8(acc_0_1 >> 8)\n");
  for (int64_t factor = 1; factor <= 6; ++factor) {
    expect_same(program, unroll_and_jam(body, "o", factor), std::to_string(factor));
  }
}

struct Case {
  const char* body;
  bool independent;
};

TEST(Independence, ofTheLoopOverV) {
  const Case kCases[] = {
      {"for v = 0 to 9 { y[v] = x[v] }", true},
      {"for v = 0 to 9 { y[v] = y[v] }", false},
      {"for v = 0 to 9 { y[0] = x[v] }", false},
      {"for v = 0 to 9 { y[floordiv(v, 2)] = x[v] }", false},
      {"for v = 0 to 9 { y[20 - v * 2] = x[v] }", true},
      {"for v = 0 to 9 { y[v] = x[v] y[v + 1] = x[v] }", false},
      {"for v = 0 to 9 step 2 { y[v] = x[v] y[v + 1] = x[v] }", true},
      {"for v = 0 to 9 { y[v * 2] = x[v] y[v * 2 + 1] = x[v] }", true},
      {"for v = 0 to 9 { y[v * 2] = x[v] y[v] = x[v] }", false},
      {"for v = 0 to 9 { y[v]:int8x4 align 1 = int8x4(x[v]) }", false},
      {"for v = 0 to 9 { y[v * 4]:int8x4 align 1 = int8x4(x[v]) }", true},
      {"for v = 0 to 9 { for j = 0 to 5 { y[v * 5 + j] = x[v] } }", true},
      {"for v = 0 to 9 { for j = 0 to 6 { y[v * 5 + j] = x[v] } }", false},
      {"for v = 0 to 9 { for j = 0 to min(v, 5) { y[v * 5 + j] = x[v] } }", true},
      {"for v = 0 to 5 { for j = 0 to 9 { y[j * 5 + v] = x[v] } }", false},
      {"for u = 0 to 5 { for v = 0 to 9 { y[u * 9 + v] = x[v] } }", true},
      {"for u = 0 to 5 { for v = 0 to 9 { y[floormod(u, 3) * 9 + v] = x[v] } }", true},
      {"let n: int32 = 0 for v = 0 to 9 { n = n + 1 y[v] = x[v] }", false},
      {"let n: int32 = 0 n = 1 for v = 0 to 9 { y[n * 0 + v] = x[v] }", true},
      {"let n: int32 = 0 n = 1 for v = 0 to 9 { y[n + v] = x[v] }", false},
      {"let n: int32 = int32(x[0]) for v = 0 to 9 { y[n + v] = x[v] }", true},
      {"for v = 0 to 9 { let n: int32 = v n = n + 1 y[v] = int8(n) }", true},
      {"for v = 0 to 9 { array a int8[2] a[0] = x[v] y[v] = a[0] }", true},
      {"array a int8[2] for v = 0 to 9 { a[0] = x[v] y[v] = a[0] }", false},
      {"for v = 0 to 9 { y[int32(x[v])] = x[v] }", false},
      {"for v = 0 to 9 { if x[v] < 3:int8 { y[v] = x[v] } else { y[v] = 1:int8 } }", true},
  };
  for (const Case& c : kCases) {
    const Program program = kernel_with(c.body);
    const Block& body = program.kernels[0].body;
    EXPECT_EQ(is_independent(body, "v"), c.independent) << c.body;
    EXPECT_EQ(unroll_and_jam(body, "v", 2).has_value(), c.independent) << c.body;
    EXPECT_EQ(reverse(body, "v").has_value(), c.independent) << c.body;
    if (!c.independent) continue;
    for (const int64_t factor : {2, 3, 4, 9}) {
      expect_same(program, unroll_and_jam(body, "v", factor), c.body);
    }
    expect_same(program, reverse(body, "v"), c.body);
  }
}

TEST(Transform, refusesWhatItDoesNotKnow) {
  const auto body_of = [](const char* body) { return kernel_with(body).kernels[0].body; };
  const Block twice = body_of("for v = 0 to 3 { y[v] = x[v] } for v = 0 to 3 { y[v] = x[v] }");
  EXPECT_FALSE(unroll(twice, "v").has_value());
  EXPECT_FALSE(unroll(twice, "u").has_value());
  const Block open = body_of("for v = 0 to int32(x[0]) { y[v] = x[v] }");
  EXPECT_FALSE(unroll(open, "v").has_value());
  EXPECT_FALSE(unroll_and_jam(open, "v", 2).has_value());
  EXPECT_FALSE(split(open, "v", 4, "u").has_value());
  EXPECT_TRUE(reverse(open, "v").has_value());
  const Block plain = body_of("for v = 0 to 5000 { y[0] = x[0] }");
  EXPECT_FALSE(unroll(plain, "v").has_value());
  EXPECT_FALSE(unroll_and_jam(plain, "v", 0).has_value());
  EXPECT_FALSE(split(plain, "v", 0, "u").has_value());
  EXPECT_FALSE(split(plain, "v", 4, "x").has_value());
  const Block moving = body_of("let n: int32 = 0 for v = n to n + 3 { n = n + 5 y[v] = x[v] }");
  EXPECT_FALSE(unroll(moving, "v").has_value());
}

// Every loop of random nests, by every transformation that is not refused.
TEST(Transform, keepsWhatNestsDo) {
  int64_t transformed = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::string text = RandomNest(seed).body(3);
    const Program program = kernel_with(text);
    if (!find_faults(program).empty() || run(program).empty()) continue;
    for (int v = 0; v < 12; ++v) {
      const std::string name = "v" + std::to_string(v);
      const Block& body = program.kernels[0].body;
      const std::optional<Block> all[] = {unroll(body, name), reverse(body, name),
                                          split(body, name, 2, "outer"),
                                          unroll_and_jam(body, name, 2)};
      for (const std::optional<Block>& block : all) {
        if (block) expect_same(program, block, text);
        transformed += block ? 1 : 0;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(transformed, 50);
}

}  // namespace
}  // namespace ingot::loop
