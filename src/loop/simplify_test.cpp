// SPDX-License-Identifier: Apache-2.0
#include "loop/simplify.h"

#include <gtest/gtest.h>

#include <random>

#include "loop/interpret.h"
#include "loop/random_nest.h"
#include "loop/rules.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

Program parsed(const std::string& text) {
  Result<Program> program = parse(text);
  if (!program) {
    throw InternalError(program.error()[0].where + ": " + program.error()[0].what + "\n" + text);
  }
  return *std::move(program);
}

Program kernel_with(const std::string& body) {
  return parsed(
      "program p\nkernel k(x: int8[64] read align 1, y: int8[40] update align 1) \"\" {\n" + body +
      "}\nrun {\n}\n");
}

// y after a run; empty if there is a fault.
std::vector<uint8_t> run(const Program& program) {
  std::vector<uint8_t> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 7 % 11);
  std::vector<uint8_t> y(40);
  try {
    interpret(program, program.kernels[0], std::vector<std::span<uint8_t>>{x, y});
  } catch (const InternalError&) {
    return {};
  }
  return y;
}

std::string function_of(const char* name, std::string_view side) {
  for (const char* type : {"int32", "bool"}) {
    const std::string text = "function " + std::string(name) +
                             "(x: int32, y: int32, z: int32, c: bool, d: bool) -> " + type +
                             " \"\" { return " + std::string(side) + " }\n";
    if (parse("program p " + text + "run { }")) return text;
  }
  throw InternalError("no expression: " + std::string(side));
}

TEST(Rules, bothSidesAreEqual) {
  std::mt19937 random(7);
  const auto number = [&] { return static_cast<int64_t>(random() % 7) - 3; };
  const auto truth = [&] { return static_cast<int64_t>(random() % 2); };
  for (const Rule& rule : rules()) {
    const Program program = parsed("program p\n" + function_of("f", rule.pattern) +
                                   function_of("g", rule.replacement) + "run { }");
    const Expr& left = program.functions[0].result;
    const Expr& right = program.functions[1].result;
    ASSERT_EQ(print(left->type), print(right->type)) << rule.pattern;
    const Expr applied = apply_rules(left);
    ASSERT_NE(applied, nullptr) << rule.pattern;
    EXPECT_EQ(print(applied), print(right)) << rule.pattern << " is taken by an earlier rule";
    for (int round = 0; round < 300; ++round) {
      const std::vector<Expr> args = {lit(number()), lit(number()), lit(number()),
                                      lit(truth(), kBool), lit(truth(), kBool)};
      EXPECT_EQ(evaluate_int(program, call("f", left->type, args)),
                evaluate_int(program, call("g", right->type, args)))
          << rule.pattern;
    }
  }
}

struct Case {
  const char* before;
  const char* after;
};

TEST(Simplify, expressions) {
  const Case kCases[] = {
      {"x + 3 + y - 1", "x + y + 2"},
      {"x + y - x", "y"},
      {"x - x", "0"},
      {"x * 2 + x * 3", "x * 5"},
      {"(x + 1) * 4 - 4", "x * 4"},
      {"4 - x * 2 + x", "4 - x"},
      {"(x * 2 - 4 + y) * 10 + (y - 1)", "x * 20 + y * 11 - 41"},
      {"min(x + 1, 1 + x)", "x + 1"},
      {"max(x * 2 + y, x + y + x)", "x * 2 + y"},
      {"select(x < x, y, x)", "x"},
      {"floordiv(x + y - y, 4)", "floordiv(x, 4)"},
      {"-(-(x))", "x"},
      {"select(x < y, 1, 0)", "select(x < y, 1, 0)"},
      // Not of an order that a sum of values could depend on.
      {"f(x) + (y - f(y))", "f(x) + (y - f(y))"},
  };
  for (const Case& c : kCases) {
    const Program program = parsed(
        "program p function f(x: int32) -> int32 \"\" { return x }\n"
        "function g(x: int32, y: int32) -> int32 \"\" { return " +
        std::string(c.before) + " } run { }");
    const Expr before = program.functions[1].result;
    const Expr after = simplify(before);
    EXPECT_EQ(print(after), c.after);
    EXPECT_TRUE(equal(simplify(after), after)) << c.before;
  }
}

TEST(Simplify, blocks) {
  const Case kCases[] = {
      {"for i = 0 to 1 { y[i * 3] = x[i] }", "y[0] = x[0]\n"},
      {"for i = 3 to 7 step 4 { y[i] = x[i + 1] }", "y[3] = x[4]\n"},
      {"for i = 3 to 3 { y[i] = x[0] }", ""},
      {"for i = 0 to 4 { for j = i to i + 2 step 2 { y[j] = x[j - i] } }",
       "for i = 0 to 4 {\n  y[i] = x[0]\n}\n"},
      {"for i = 0 to 4 { for j = max(0, i - 5) to min(4, i + 7) { y[j] = x[i] } }",
       "for i = 0 to 4 {\n  for j = 0 to 4 {\n    y[j] = x[i]\n  }\n}\n"},
      {"for i = 0 to 4 { if i < 4 { y[i] = x[0] } else { y[0] = x[i] } }",
       "for i = 0 to 4 {\n  y[i] = x[0]\n}\n"},
      {"for i = 0 to 4 { if i < 2 { if i < 3 { y[i] = x[0] } } }",
       "for i = 0 to 4 {\n  if i < 2 {\n    y[i] = x[0]\n  }\n}\n"},
      {"for i = 0 to 4 { y[floordiv(i, 4) + floormod(i, 8)] = x[0] }",
       "for i = 0 to 4 {\n  y[i] = x[0]\n}\n"},
      {"let a: int32 = 3 let b: int32 = a + 1 let c: int32 = 0 c = c + b y[0] = x[0]",
       "y[0] = x[0]\n"},
      {"let s: int32 = 0 for i = 0 to 4 { s = s + i }", ""},
      {"let s: int32 = 0 for i = 0 to 4 { s = s + i } y[s] = x[0]",
       "let s: int32 = 0\nfor i = 0 to 4 {\n  s = s + i\n}\ny[s] = x[0]\n"},
      // Names of what was a block stay apart.
      {"for i = 0 to 1 { let a: int32 = int32(x[i]) y[a] = x[a] } for j = 1 to 2 { let a: int32 = "
       "int32(x[j]) y[a] = x[a] }",
       "let a_1: int32 = int32(x[0])\ny[a_1] = x[a_1]\nlet a_2: int32 = int32(x[1])\ny[a_2] = "
       "x[a_2]\n"},
      {"let n: int32 = 1 for i = 0 to 3 { for j = n to n + 1 { n = n + 2 y[j] = x[0] } }",
       "let n: int32 = 1\nfor i = 0 to 3 {\n  for j = n to n + 1 {\n    n = n + 2\n    y[j] = "
       "x[0]\n  }\n}\n"},
      {"let n: int32 = 0 n = 5 if n < 3 { y[0] = x[0] }",
       "let n: int32 = 0\nn = 5\nif n < 3 {\n  y[0] = x[0]\n}\n"},
      {"array a int8[2] a[0] = x[0] for i = 0 to 1 { y[i] = a[i] }",
       "array a int8[2]\na[0] = x[0]\ny[0] = a[0]\n"},
  };
  for (const Case& c : kCases) {
    const Program program = kernel_with(c.before);
    const Block after = simplify(program.kernels[0].body);
    EXPECT_EQ(print(after), c.after) << c.before;
    EXPECT_TRUE(equal(simplify(after), after)) << c.before;
  }
}

TEST(Simplify, keepsWhatNestsDo) {
  int64_t compared = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::string body = RandomNest(seed).body(3);
    Program program = kernel_with(body);
    const std::vector<uint8_t> before = run(program);
    if (before.empty() || !find_faults(program).empty()) continue;
    program.kernels[0].body = simplify(program.kernels[0].body);
    ASSERT_EQ(find_faults(program), std::vector<std::string>{}) << body << print(program);
    ASSERT_EQ(run(program), before) << body << print(program);
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

TEST(Substitute, replacesReadings) {
  const Program program = kernel_with("for i = 0 to 3 { let b: int32 = i y[b] = x[i] }");
  const auto& loop = std::get<For>(program.kernels[0].body[0].kind);
  EXPECT_EQ(print(substitute(loop.body, {{"i", lit(2)}})), "let b: int32 = 2\ny[b] = x[2]\n");
  EXPECT_EQ(print(substitute(var("a") + var("b"), {{"a", lit(1)}, {"b", lit(2)}})), "3");
}

}  // namespace
}  // namespace ingot::loop
